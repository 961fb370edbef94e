// There is no cycle to show: every order was tried. What can be shown is where they all end, the
// operation whose response nothing explains, and what ran at the same time or shortly before it.
#include "explain/no_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/names.h"

namespace assay::internal {
namespace {

// So many of the operations that were answered last before the one in question.
constexpr size_t kMostBefore = 6;

}  // namespace

void explain_exhausted(const History& history, const Exhausted& exhausted, Explanation& e) {
  e.anomaly = Anomaly::real_time_violation;
  const auto response = [&](TxnId t) {
    const bool known = history.status(t) == TxnStatus::committed;
    return known ? history.end_time(t).response : Interval::kUnknown;
  };
  const int64_t end = response(exhausted.until);
  size_t operations = 0;
  std::vector<TxnId> before;
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    if (history.status(t) == TxnStatus::aborted || history.first_op(t) == history.end_op(t) ||
        history.op(history.first_op(t)).key != exhausted.key || history.begin_time(t).request > end)
      continue;
    ++operations;
    if (t != exhausted.until && response(t) != Interval::kUnknown) before.push_back(t);
  }
  std::sort(before.begin(), before.end(),
            [&](TxnId a, TxnId b) { return response(a) > response(b); });
  before.resize(std::min(before.size(), kMostBefore));
  e.transactions = before;
  e.transactions.push_back(exhausted.until);
  for (const TxnId t : e.transactions) e.operations.push_back(history.first_op(t));
  e.sentences.push_back(fmt::format(
      "The answer of {}, {}, fits no order of the {} operations on {} that had been asked for by "
      "then and that respects the clock; all the answers before it do.",
      display_txn(history, exhausted.until), display_op(history, history.first_op(exhausted.until)),
      operations, key_in_words(history, exhausted.key)));
}

}  // namespace assay::internal
