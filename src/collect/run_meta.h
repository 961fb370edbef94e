// What the header of a history says about its run: when, with what, against what and how. Without
// passwords.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collect/client.h"
#include "collect/run.h"
#include "collect/run_id.h"

namespace assay::internal::collect {

// A time in ISO 8601, UTC. `begin` and `end` of a transaction are nanoseconds since the `started`
// of its run.
std::string iso_8601(std::chrono::system_clock::time_point time);

// The meta as a JSON object. `database`: Driver::describe() of the first endpoint. `other`: an
// unfinished run that had prepared the database before; the mark of no run if there was none.
std::string run_meta(const RunOptions& options, uint64_t run, const RunClock& clock,
                     const std::string& database, const RunMark& other);

}  // namespace assay::internal::collect
