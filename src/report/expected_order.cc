#include "report/expected_order.h"

#include <fmt/format.h>

#include "explain/names.h"
#include "history/accesses.h"

namespace assay::internal {
namespace {

// Returns what `t` left in the key, in words.
std::string left_by(const History& h, TxnId t, KeyId key) {
  if (t == kNone) return fmt::format("the initial state of {}", key_in_words(h, key));
  OpId last = kNone;
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
    if (installs_version(h.op(i)) && h.op(i).key == key) last = i;
  return fmt::format("what {} left by {}", display_txn(h, t), display_op(h, last));
}

std::string fault(const History& h, const OrderReplay& r) {
  switch (r.fault) {
    case OrderReplay::Fault::none:
      break;
    case OrderReplay::Fault::operation:
      return fmt::format(
          "the first operation that does not fit is {} of {}: it should have seen {}",
          display_op(h, r.op), display_txn(h, r.txn), left_by(h, r.other, r.key));
    case OrderReplay::Fault::overlap:
      return fmt::format("{} and {} both wrote {}, and overlapped", display_txn(h, r.other),
                         display_txn(h, r.txn), key_in_words(h, r.key));
    case OrderReplay::Fault::session:
      return fmt::format("{} started before {}, which comes first in their session, had committed",
                         display_txn(h, r.txn), display_txn(h, r.other));
    case OrderReplay::Fault::real_time:
      return fmt::format("{} began after {} had ended, but started before the latter committed",
                         display_txn(h, r.txn), display_txn(h, r.other));
  }
  return {};
}

}  // namespace

std::string_view order_fault_name(OrderReplay::Fault fault) {
  switch (fault) {
    case OrderReplay::Fault::none:
      break;
    case OrderReplay::Fault::operation:
      return "operation";
    case OrderReplay::Fault::overlap:
      return "overlap";
    case OrderReplay::Fault::session:
      return "session";
    case OrderReplay::Fault::real_time:
      return "real-time";
  }
  return "";
}

std::vector<std::string> expected_order_sentences(const History& h, const CheckResult& result) {
  if (!result.expected_order) return {};
  const ExpectedOrderResult& expected = *result.expected_order;
  const std::string title = "The expected order (" + display(expected.title, 200) + ")";
  if (!expected.obstacle.empty())
    return {fmt::format("{} cannot be replayed: {}.", title, display(expected.obstacle, 300))};
  std::vector<std::string> sentences;
  for (const OrderReplay& r : expected.replays) {
    const std::string_view level = level_info(r.level).name;
    sentences.push_back(r.fault == OrderReplay::Fault::none
                            ? fmt::format("{} explains the history at {}.", title, level)
                            : fmt::format("{} does not explain the history at {}: {}. That is a "
                                          "fault in the order, and says nothing about the level.",
                                          title, level, fault(h, r)));
  }
  return sentences;
}

}  // namespace assay::internal
