// A history under construction: plain data that generators fill in, and that can be cut down and
// printed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

using DraftValue = std::optional<int64_t>;  // nullopt is null

// Keys are numbers from 0 to 4095, printed as x, y, z, k3, k4, …
struct DraftOp {
  OpKind kind = OpKind::read;
  int key = 0;                                        // range: the lower bound
  int hi = 0;                                         // range: the upper bound
  DraftValue value = {};                              // read, written, appended; the tombstone
  DraftValue expected = {};                           // cas
  bool effect = true;                                 // cas, insert
  std::vector<int64_t> list = {};                     // read_list
  std::vector<std::pair<int, DraftValue>> rows = {};  // range
  // range: a condition, if it has one; rows seen that do not satisfy it; keys of other rows that do
  // not. effect: complete
  std::string where = {};
  std::vector<std::pair<int, DraftValue>> passed = {};
  std::vector<int> matched = {};
  // range: an aggregate of `value`s, which it returned instead of rows.
  std::optional<AggregateFunction> aggregate = {};
  // read: the index of the transaction that it is stated to be from
  static constexpr int kNotStated = -2, kInitialState = -1;
  int source = kNotStated;
  bool joins = false;  // it belongs to the same statement as the operation before it; not in text()
};

struct DraftTxn {
  int session = 0;
  TxnStatus status = TxnStatus::committed;
  Interval begin = {}, end = {};
  int64_t start_ts = Interval::kUnknown, commit_ts = Interval::kUnknown;  // not in text()
  std::optional<LevelId> level = {};
  std::vector<DraftOp> ops = {};
};

// Values that were written to a key, in order.
struct DraftOrder {
  int key = 0;
  std::vector<int64_t> values = {};
  std::vector<int> txns = {};  // empty, or per value the index of its transaction; -1: not stated
};

struct Draft {
  DraftValue initial = {};
  std::map<int, DraftValue> initials = {};  // initial values of keys that have their own
  bool texts = false;                       // values are texts, as spelled() gives them
  std::vector<DraftTxn> txns = {};          // in file order, which is the order within each session
  std::vector<DraftOrder> orders = {};
  int64_t complete_to = Interval::kUnknown;  // the orders are complete up to then
  int64_t clock_drift = 0;
  std::string meta = {};  // JSON of the history, if there is any

  // Returns "<session>-<position>".
  std::string name(int txn) const;
  Result<History> history() const;
  // Returns the draft as a .hist file: one session per line.
  std::string text() const;
  // Returns what a key holds before anything is written.
  DraftValue initial_of(int key) const {
    const auto own = initials.find(key);
    return own == initials.end() ? initial : own->second;
  }
};

// Spells a non-negative number in letters, each as a different text: 0 is "", and then a, b, c, aa,
// ab, …
std::string spelled(int64_t number);

// Returns the smallest draft reachable by removing transactions, operations and times, one at a
// time, for which `keeps` still returns true. It must return true for `draft`.
Draft shrink(Draft draft, const std::function<bool(const Draft&)>& keeps);

}  // namespace assay::internal
