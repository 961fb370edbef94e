// A known order lists versions of one key as they were installed, perhaps with others in between:
//
//   order x: 1 5 2       writers T1, T9, T4: T1 before T9, T9 before T4
//
// A list that was read states more: its elements are all appends so far, in this order. So
// neighbours follow each other, and a writer of the key that is not in the list comes after the
// last writer that is. One list per key is enough, the longest: the others are prefixes of it; the
// first one that is not contradicts it, and is used as well.
//
//   r(l,[1,5]) and r(l,[1])        T1 before T5; a T9 that appended 9 comes after T5
//   r(l,[1,5]) and r(l,[5])        T5 before T1 as well: no order of versions explains both
//
// Versions of transactions that do not count (aborted ones, say) are skipped, and the versions next
// to them become neighbours. known_orders.h says which versions a known order names. Linear in the
// orders, the lists and the writes.

#include "infer/stated_orders.h"

#include <algorithm>
#include <utility>

#include "history/accesses.h"
#include "infer/reads_from.h"

namespace assay::internal {
namespace {

class Statements {
 public:
  explicit Statements(const Problem& problem) : history_(*problem.history), problem_(problem) {
    if (!problem.has_lists) return;
    writer_.assign(history_.version_count(), kNone);
    for (const TxnId t :
         problem.txn) {  // if one transaction appended several elements, all of them count
      for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i) {
        const Install install = install_of(history_, i);
        if (install.appends) writer_[install.version] = problem.node_of(t);
      }
    }
  }

  void from_known_orders() {
    for (uint32_t i = 0; i < problem_.found.known.named.size(); ++i) {
      nodes_.clear();
      for (const TxnId t : problem_.found.known.named[i])
        if (t != kNone && problem_.node_of(t) != kNone) nodes_.push_back(problem_.node_of(t));
      neighbours(history_.known_orders()[i].key, i, false);
    }
  }

  void from_lists() {
    std::vector<OpId> longest(problem_.keys(), kNone);
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
    each_external_read(problem_, [&](Node, const ExternalRead& read) {
      if (is_list_operation(history_.op(read.op))) take(read.op, read.key);
    });
  }

  // Elements whose transactions do not count are skipped.
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
    if (!assumed_blocks(op))
      for (VersionId version : outside_list(history_, op).elements)
        if (writer_[version] != kNone) nodes_.push_back(writer_[version]);
    neighbours(key, op, true);
    if (nodes_.empty()) return;
    const Node last = nodes_.back();
    std::vector<Node>& listed = nodes_;
    std::sort(listed.begin(), listed.end());
    for (WriteId w : problem_.key_writers(key)) {
      const Node n = problem_.writes.node[w];
      if (std::binary_search(listed.begin(), listed.end(), n)) continue;
      pairs_.push_back({last, n, key, op, true});
    }
  }

  // Fills nodes_ with the transactions whose blocks the list is assumed to consist of. False if
  // nothing is assumed about it.
  bool assumed_blocks(OpId op) {
    std::vector<std::pair<uint32_t, Node>> blocks;
    for (const Seen& seen : assumed_of(problem_.assumed, op, op + 1))
      blocks.emplace_back(seen.element, problem_.node_of(seen.source));
    std::sort(blocks.begin(), blocks.end());
    for (const auto& [element, node] : blocks) nodes_.push_back(node);
    return !blocks.empty();
  }

  const History& history_;
  const Problem& problem_;
  std::vector<Node> writer_;  // indexed by version; for lists
  std::vector<Node> nodes_;   // scratch: the writers of one statement's entries
  std::vector<StatedOrder> pairs_;
};

}  // namespace

// A bound: each version has at most two neighbours, and lists need the writer of each version.
uint64_t stated_orders_bytes(const Problem& problem) {
  if (problem.found.known.named.empty() && !problem.has_lists) return 0;
  return 2 * sizeof(StatedOrder) * problem.writes.size() +
         sizeof(Node) * problem.history->version_count();
}

std::vector<Node> stated_before(const Problem& problem, unsigned threads) {
  std::vector<Node> before(problem.writes.size(), kNone);
  each_stated(problem, threads,
              [&](const StatedOrder& order, WriteId after) { before[after] = order.before; });
  return before;
}

std::vector<StatedOrder> stated_orders(const Problem& problem) {
  if (problem.found.known.named.empty() && !problem.has_lists) return {};
  Statements statements(problem);
  statements.from_known_orders();
  if (problem.has_lists) statements.from_lists();
  return statements.take();
}

}  // namespace assay::internal
