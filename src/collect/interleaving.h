// Transactions in an exact interleaving, played on a real database, each on a separate connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "collect/step.h"

namespace assay::internal::collect {

class Driver;

struct PlayedTxn {
  uint32_t session = 0;
  uint64_t number = 0;    // position in the session, counting those of the interleaving
  uint32_t endpoint = 0;  // modulo their number
};

struct PlayedStep {
  enum class What : uint8_t { begin, operation, commit, abort };
  uint32_t txn = 0;  // index into Interleaving::txns
  What what = What::begin;
  Request request = {};
};

struct Interleaving {
  std::vector<PlayedTxn> txns;
  std::vector<PlayedStep>
      before;  // of the first transaction, which must commit before the others begin; may be empty
  std::vector<PlayedStep> steps;
  // Makes what the statements need in the database; none: nothing.
  std::function<Status(Driver&)> set_up = {};
};

struct PlayOptions {
  std::vector<std::string> databases;  // endpoints of one database
  std::string isolation;
  std::chrono::milliseconds timeout{2000};  // of one statement, and so of a wait for a lock
  uint64_t seed = 1;
};

struct Played {
  History history;
  uint32_t aborted = 0;       // transactions the database refused
  std::string first_refusal;  // its message
};

// An error if the first transaction cannot commit. A step that does not answer is left waiting
// while the others go on.
Result<Played> play(const Interleaving& interleaving, const PlayOptions& options);

}  // namespace assay::internal::collect
