// A known order lists versions of one key as they were installed, perhaps with others in between:
//
//   order x: 1 5 2       writers T1, T9, T4: T1 before T9, T9 before T4
//
// A list that was read states more: its elements are all there was, in this order. So neighbours follow each other,
// and a writer of the key that is not in the list comes after the last of those that are. One list per key is enough,
// the longest: the others are its prefixes, or the first one that is not contradicts it and is stated too.
//
//   r(l,[1,5]) and r(l,[1])        T1 before T5; a T9 that appended 9 comes after T5
//   r(l,[1,5]) and r(l,[5])        T5 before T1 as well: no order of versions explains both
//
// Versions of transactions that do not count (aborted ones, say) are passed over, their neighbours
// become neighbours. Linear in the orders, the lists and the writes.

#include "infer/stated_orders.h"

#include <algorithm>

namespace assay {
namespace {

class Statements {
 public:
  Statements(const History& history, const ReadsFrom& rf) : history_(history), rf_(rf) {
    writer_.assign(history.version_count(), kNone);
    for (WriteId w = 0; w < rf.writes(); ++w) writer_[rf.write_version[w]] = rf.write_node[w];
    if (!rf.has_lists) return;
    for (const TxnId t : rf.txn) {  // of several elements that one transaction appended, all count
      for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
        if (history.op(i).kind == OpKind::append) writer_[history.op(i).version] = rf.node[t];
      }
    }
  }

  void from_known_orders() {
    const std::span<const KnownOrder> orders = history_.known_orders();
    for (uint32_t i = 0; i < orders.size(); ++i) {
      neighbours(orders[i].versions, orders[i].key, i, false);
    }
  }

  void from_lists() {
    std::vector<OpId> longest(rf_.writers.rows(), kNone);
    each_list([&](OpId op, KeyId key) {
      const bool longer =
          longest[key] == kNone || elements(op).size() > elements(longest[key]).size();
      if (longer) longest[key] = op;
    });
    std::vector<OpId> contradiction(longest.size(), kNone);
    each_list([&](OpId op, KeyId key) {
      const std::span<const uint32_t> list = elements(op);
      const bool prefix = std::equal(list.begin(), list.end(), elements(longest[key]).begin());
      if (!prefix && contradiction[key] == kNone) contradiction[key] = op;
    });
    for (KeyId key = 0; key < longest.size(); ++key) {
      for (const OpId op : {longest[key], contradiction[key]}) {
        if (op != kNone) state_list(op, key);
      }
    }
  }

  std::vector<StatedOrder> take() { return std::move(pairs_); }

 private:
  template <class Take>
  void each_list(Take take) const {
    for (Node n = 0; n < rf_.nodes(); ++n) {
      for (const ExternalRead& read : rf_.reads[n]) {
        if (history_.op(read.op).kind == OpKind::read_list) take(read.op, read.key);
      }
    }
  }

  // What others had appended when the list was read; the reader's own elements so far stand at its end.
  std::span<const uint32_t> elements(OpId op) const {
    std::span<const uint32_t> list = history_.operands(op);
    const KeyId key = history_.op(op).key;
    for (OpId i = history_.first_op(history_.txn_of(op)); i < op; ++i) {
      const Operation own = history_.op(i);
      if (own.kind == OpKind::append && own.key == key) list = list.first(list.size() - 1);
    }
    return list;
  }

  void neighbours(std::span<const uint32_t> versions, KeyId key, uint32_t source, bool is_op) {
    Node before = kNone;
    for (VersionId version : versions) {
      const Node n = writer_[version];
      if (n == kNone || n == before) continue;
      if (before != kNone) pairs_.push_back({before, n, key, source, is_op});
      before = n;
    }
  }

  void state_list(OpId op, KeyId key) {
    const std::span<const uint32_t> list = elements(op);
    neighbours(list, key, op, true);
    if (list.empty() || writer_[list.back()] == kNone) return;
    const Node last = writer_[list.back()];
    std::vector<Node> listed;
    for (VersionId version : list) listed.push_back(writer_[version]);
    std::sort(listed.begin(), listed.end());
    for (WriteId w : rf_.key_writers(key)) {
      const Node n = rf_.write_node[w];
      if (std::binary_search(listed.begin(), listed.end(), n)) continue;
      pairs_.push_back({last, n, key, op, true});
    }
  }

  const History& history_;
  const ReadsFrom& rf_;
  std::vector<Node> writer_;  // per version
  std::vector<StatedOrder> pairs_;
};

}  // namespace

std::vector<StatedOrder> stated_orders(const History& history, const ReadsFrom& rf) {
  if (history.known_orders().empty() && !rf.has_lists) return {};
  Statements statements(history, rf);
  statements.from_known_orders();
  if (rf.has_lists) statements.from_lists();
  return statements.take();
}

}  // namespace assay
