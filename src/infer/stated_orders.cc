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
// become neighbours. Which versions a known order names: known_orders.h. Linear in the orders, the lists and the writes.

#include "infer/stated_orders.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal {
namespace {

class Statements {
 public:
  Statements(const History& history, const ReadsFrom& rf) : history_(history), rf_(rf) {
    if (!rf.has_lists) return;
    writer_.assign(history.version_count(), kNone);
    for (const TxnId t : rf.txn) {  // of several elements that one transaction appended, all count
      for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
        const Install install = install_of(history, i);
        if (install.appends) writer_[install.version] = rf.node[t];
      }
    }
  }

  void from_known_orders() {
    for (uint32_t i = 0; i < rf_.known.named.size(); ++i) {
      nodes_.clear();
      for (const TxnId t : rf_.known.named[i])
        if (t != kNone && rf_.node[t] != kNone) nodes_.push_back(rf_.node[t]);
      neighbours(history_.known_orders()[i].key, i, false);
    }
  }

  void from_lists() {
    std::vector<OpId> longest(rf_.writers.rows(), kNone);
    std::vector<size_t> length(longest.size());
    each_list([&](OpId op, KeyId key) {
      const std::span<const uint32_t> list = outside_list(history_, op).elements;
      const auto stood = static_cast<size_t>(std::count_if(
          list.begin(), list.end(), [this](VersionId v) { return writer_[v] != kNone; }));
      if (longest[key] != kNone && stood <= length[key]) return;
      longest[key] = op;
      length[key] = stood;
    });
    std::vector<OpId> contradiction(longest.size(), kNone);
    each_list([&](OpId op, KeyId key) {
      const bool prefix = is_prefix(outside_list(history_, op).elements,
                                    outside_list(history_, longest[key]).elements);
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
    std::vector<ExternalRead> reads;
    for (Node n = 0; n < rf_.nodes(); ++n) {
      external_reads(history_, rf_, n, reads);
      for (const ExternalRead& read : reads) {
        if (is_list_operation(history_.op(read.op))) take(read.op, read.key);
      }
    }
  }

  // Elements whose transactions do not count are passed over.
  bool is_prefix(std::span<const uint32_t> list, std::span<const uint32_t> whole) const {
    const auto counts = [this](VersionId v) { return writer_[v] != kNone; };
    auto at = whole.begin();
    for (const VersionId v : list) {
      if (!counts(v)) continue;
      at = std::find_if(at, whole.end(), counts);
      if (at == whole.end() || *at != v) return false;
      ++at;
    }
    return true;
  }

  // Each of nodes_ wrote the key before the next one did.
  void neighbours(KeyId key, uint32_t source, bool is_op) {
    Node before = kNone;
    for (const Node n : nodes_) {
      if (n == before) continue;
      if (before != kNone) pairs_.push_back({before, n, key, source, is_op});
      before = n;
    }
  }

  void state_list(OpId op, KeyId key) {
    nodes_.clear();
    for (VersionId version : outside_list(history_, op).elements)
      if (writer_[version] != kNone) nodes_.push_back(writer_[version]);
    neighbours(key, op, true);
    if (nodes_.empty()) return;
    const Node last = nodes_.back();
    std::vector<Node>& listed = nodes_;
    std::sort(listed.begin(), listed.end());
    for (WriteId w : rf_.key_writers(key)) {
      const Node n = rf_.write_node[w];
      if (std::binary_search(listed.begin(), listed.end(), n)) continue;
      pairs_.push_back({last, n, key, op, true});
    }
  }

  const History& history_;
  const ReadsFrom& rf_;
  std::vector<Node> writer_;  // per version; for lists
  std::vector<Node> nodes_;   // scratch: who wrote what a source lists
  std::vector<StatedOrder> pairs_;
};

}  // namespace

// Each version has at most two neighbours, and lists have a table of versions.
uint64_t stated_orders_bytes(const History& history, const ReadsFrom& rf) {
  if (rf.stated) return sizeof(StatedOrder) * rf.stated->size();
  if (history.known_orders().empty() && !rf.has_lists) return 0;
  return 2 * sizeof(StatedOrder) * rf.writes() + sizeof(Node) * history.version_count();
}

std::vector<StatedOrder> stated_orders(const History& history, const ReadsFrom& rf) {
  if (rf.stated) return *rf.stated;
  if (history.known_orders().empty() && !rf.has_lists) return {};
  Statements statements(history, rf);
  statements.from_known_orders();
  if (rf.has_lists) statements.from_lists();
  return statements.take();
}

}  // namespace assay::internal
