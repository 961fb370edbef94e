// Transactions that did not commit, as a database's log shows:
// {"event":"settled","at":9,"aborted":["3-18"]}.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

// The transactions that the event names; empty if it is of another kind or names none. std::nullopt
// if the names are not an array of strings and integers.
std::optional<std::vector<std::string>> settled_names(std::string_view json);

// The memory needed to parse the events that may be of this kind.
uint64_t settled_bytes(std::span<const Event> events);

// The transactions of unknown outcome that the events name, ascending. Fails if the history says
// that one of them took effect, or if several transactions have the name. `order_lines`: the lines
// of the stated orders.
Result<std::vector<TxnId>> settled_transactions(const History& h,
                                                std::span<const uint32_t> order_lines);

}  // namespace assay::internal
