// What transactions saw and did, in words: lists are shown as lists, deletions as deletions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"
#include "explain/reads_and_writes.h"

namespace assay::internal {

// Whether an operation observes a key.
bool looks_at(const History& h, OpId op, KeyId key);

// Says what an operation observed of `key`: "read x = 1", "read l = [1,2]", "found x absent".
std::string saw_in_words(const History& h, OpId op, KeyId key);
// Whether saw_in_words states a value: then a clause may continue with it, "…, which T1 wrote".
bool saw_a_value(const History& h, OpId op, KeyId key);

// "l = [1,2]", the list that an operation read.
std::string list_in_words(const Place& read_list);
// "1", "1 and 2", "1, 2 and 3"
std::string listed(const std::vector<std::string>& parts);
// Says what the transaction of `append` appended to its list: "1 and 2", "1, 2 and 3".
std::string appended_with(const History& h, OpId append);

// Why a query contradicts itself: it returned a row that does not satisfy its condition, or passed
// one over that does. Empty if neither is so.
std::vector<std::string> against_its_condition(const History& h, OpId range);
// A sentence about two queries of one transaction, in their order, of which one returned the row:
// "T3 asked twice for rows with value < 5: first it found no y with value < 5, and then it read y =
// 2."
std::string asked_twice(const History& h, OpId first, OpId second, KeyId key);

// The value that `t` wrote to a key last.
std::string value_written(const History& h, TxnId t, KeyId key);

// The words for a write, by its kind. `unknown`: for a transaction that did nothing to the key.
struct WriteWords {
  std::string_view plain, removes, appends, unknown;
};
// "wrote x = 1", "appended 1 and 2 to l", "deleted x"
inline constexpr WriteWords kDid = {"wrote {key} = {value}", "deleted {key}",
                                    "appended {elements} to {key}", "changed {key}"};
// The same as something that can be seen or missed.
inline constexpr WriteWords kEffect = {"{key} = {value}", "deletion of {key}",
                                       "append of {elements} to {key}", "change of {key}"};
// The same, about a value that was just said to have been read.
inline constexpr WriteWords kReplaced = {
    "which {who} overwrote with {value}", "which {who} deleted",
    "to which {who} appended {elements}", "which {who} changed"};
std::string in_words(const WriteWords& words, const History& h, OpId write);
// The words for the last write of `t` to a key.
std::string in_words(const WriteWords& words, const History& h, TxnId t, KeyId key);

}  // namespace assay::internal
