// A transaction that reads a version and overwrites it, an *update*, is the immediate successor in
// version order. So every other reader of that version read it before the update took effect, and
// of two updates of one version each must have seen the other:
//
//   s1: { r(x,0) w(x,1) }   T1
//   s2: { r(x,0) w(x,2) }   T2      T1 read what T2 overwrote, T2 what T1 did: a lost update
//
// With single events these two edges are a cycle. With two events per transaction, T2 read before
// T1 committed, so, if writers of a key may not overlap, T2 as a whole comes before T1; but T1
// read before T2 committed: a cycle again.
//
// None of this needs clocks or a search, so it is checked before either. MTC (PVLDB 2025) decides
// mini-transactions by it, as DIVERGENCE and the inferred orders. Cost: linear. Two updates of a
// version are enough for all levels that forbid them; more would be readers × updates where they
// are allowed.

#include "infer/updates.h"

#include <vector>

namespace assay::internal {
namespace {

class Updates {
 public:
  Updates(EventGraph& events, KnownEdges& known)
      : events_(events), problem_(events.problem()), known_(known) {}

  bool add(Budget& budget) {
    const uint64_t scratch = 2 * sizeof(Node) * problem_.writes.size();
    if (!budget.has_room(scratch)) return false;
    size_t forced = 0, edges = 0;
    each_update([&](const ExternalRead& read, Node, Node first) {
      forced += first == kNone ? 1 : 2;
      edges += problem_.readers[read.write].size() - (first == kNone ? 1 : 0);
    });
    if (!budget.has_room(scratch + sizeof(ForcedOrder) * forced + sizeof(DerivedEdge) * edges +
                         events_.graph().bytes_to_add(edges)))
      return false;
    known_.forced.reserve(known_.forced.size() + forced);
    known_.edges.reserve(known_.edges.size() + edges);
    if (edges > 0) events_.graph().reserve_to_add(edges);
    each_update([&](const ExternalRead& read, Node n, Node first) {
      readers_precede(read, n);
      if (first != kNone && precedes_rivals(n)) precedes(n, first, read.key);
    });
    return true;
  }

 private:
  // Calls take(read, node, first) for the first two updates of each write that others read as well;
  // for the second of them `first` is the first, for the first it is kNone.
  template <class Take>
  void each_update(Take take) const {
    std::vector<Node> first(problem_.writes.size(), kNone);  // per write: the first update
    std::vector<bool> second(problem_.writes.size());
    for (Node n = 0; n < problem_.nodes(); ++n) {
      for (const ExternalRead& read : problem_.reads[n]) {
        if (read.write == kNone || problem_.readers[read.write].size() < 2 ||
            problem_.write_of(n, read.key) == kNone)
          continue;
        if (first[read.write] == kNone) {
          first[read.write] = n;
          take(read, n, kNone);
        } else if (!second[read.write] && first[read.write] != n) {
          second[read.write] = true;
          take(read, n, first[read.write]);
        }
      }
    }
  }

  // Whether the reads of `n` bind it, and all of `n` has to precede the transactions that overwrite
  // the versions it read. With single events the anti-dependencies of two such updates already form
  // a cycle.
  bool precedes_rivals(Node n) const {
    return events_.split() && events_.sees_one_state(n) &&
           events_.overwrite_event(n) == events_.read_event(n);
  }

  ForcedOrder& force(Node before, Node after, KeyId key) {
    ForcedOrder& forced = known_.forced.emplace_back();
    forced.before = before;
    forced.after = after;
    forced.key = key;
    forced.edges_known = static_cast<uint32_t>(known_.edges.size());
    return forced;
  }

  void insert(Arc arc, EdgeKind kind, KeyId key, Node reader) {
    DerivedEdge edge;
    edge.arc = arc;
    edge.kind = kind;
    edge.key = key;
    edge.reader = reader;
    edge.forced = static_cast<uint32_t>(known_.forced.size()) - 1;
    known_.edges.push_back(edge);
    events_.graph().add(arc);
  }

  // Lets the other readers of the version that `update` read and overwrote precede it.
  void readers_precede(const ExternalRead& read, Node update) {
    force(problem_.writes.node[read.write], update, read.key);
    for (Node reader : problem_.readers[read.write]) {
      if (reader == update) continue;
      insert({events_.read_event(reader), events_.write_event(update)}, EdgeKind::anti_dependency,
             read.key, reader);
    }
  }

  void precedes(Node before, Node after, KeyId key) {
    force(before, after, key);
    insert({events_.write_event(before), events_.overwrite_event(after)},
           EdgeKind::write_dependency, key, kNone);
  }

  EventGraph& events_;
  const Problem& problem_;
  KnownEdges& known_;
};

}  // namespace

bool add_updates(EventGraph& events, KnownEdges& known, Budget& budget) {
  return Updates(events, known).add(budget);
}

}  // namespace assay::internal
