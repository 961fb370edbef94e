// Names follow from the shape, as in the literature: what lies on the way from the write that was
// missed to the reader that missed it, and how anti-dependencies sit on the cycle.
//
//   one anti-dependency, then   a read of the same writer   fractured-read; non-monotonic-read at
//                                                           read committed, where that read came
//                                                           before the other; phantom, where two
//                                                           queries differ in whether they found
//                                                           one row
//                               session order               session-guarantee-violation
//                               reads and sessions          causality-violation
//                               a write of the same key     lost-update
//                               anything else               g-single
//   two, apart                                              long-fork
//   two, adjacent                                           write-skew
//   more                                                    g-nonadjacent, g2-item
//   two or more, all of ranges that found a key absent      g2
//   none                                                    g0, g1c
//   any with the clock in it                                real-time-violation
//
// If a step was derived because its other direction contradicts the level, the level says more than
// the shape: then a violation of prefix is a long-fork, one of serializability g2-item.
#include "explain/classify.h"

#include <algorithm>
#include <span>

#include "history/accesses.h"

namespace assay::internal {

namespace {

struct Shape {
  size_t anti = 0, order = 0, session = 0, read = 0, time = 0;
  bool adjacent = false;  // two anti-dependencies follow each other
};

Shape shape_of(const Cycle& cycle) {
  Shape s;
  for (size_t i = 0; i < cycle.size(); ++i) {
    const EdgeKind next = cycle[(i + 1) % cycle.size()].edge.kind;
    switch (cycle[i].edge.kind) {
      case EdgeKind::read_dependency:
        ++s.read;
        break;
      case EdgeKind::session:
        ++s.session;
        break;
      case EdgeKind::real_time:
        ++s.time;
        break;
      case EdgeKind::write_dependency:
        ++s.order;
        break;
      case EdgeKind::anti_dependency:
        ++s.anti;
        if (next == EdgeKind::anti_dependency) s.adjacent = true;
        break;
      case EdgeKind::forced:
        break;
    }
  }
  return s;
}

// Whether A read x, B overwrote x, and A in turn overwrote what B wrote.
bool overwrites_unseen(const Cycle& cycle) {
  if (cycle.size() != 2) return false;
  const bool first = cycle[0].edge.kind == EdgeKind::anti_dependency;
  const Edge& anti = cycle[first ? 0 : 1].edge;
  const Edge& other = cycle[first ? 1 : 0].edge;
  if (other.kind == EdgeKind::write_dependency) return other.key == anti.key;
  return other.kind == EdgeKind::anti_dependency && other.key == anti.key && other.via == anti.via;
}

// Whether the order of versions cannot be seen in the history itself; then the levels that only
// look at reads and sessions are satisfied.
bool needs_proof(const Cycle& cycle) {
  return std::any_of(cycle.begin(), cycle.end(), [](const Step& s) {
    return s.because == Step::Because::proof || s.because == Step::Because::stated ||
           s.because == Step::Because::assumed;
  });
}

// Whether the cycle has a derived step, whose other direction, or another source of whose read,
// closes a cycle at the violated level. A weaker level may still allow that, so the shape of the
// remaining cycle says less than the level does.
bool is_derived(const Cycle& cycle) {
  return std::any_of(cycle.begin(), cycle.end(), [](const Step& s) {
    return s.because == Step::Because::proof || s.because == Step::Because::assumed;
  });
}

// The name if one transaction read from a writer and afterwards something older. Everything is
// newer than the initial state, so a reader that finds the initial state after part of another
// transaction has seen only part of that transaction. Read committed allows two reads of one key to
// differ, but not the second to go back.
Anomaly back_in_time(const Cycle& cycle) {
  const bool first = cycle[0].edge.kind == EdgeKind::anti_dependency;
  const Edge& missed = cycle[first ? 0 : 1].edge;
  const Edge& saw = cycle[first ? 1 : 0].edge;
  if (saw.key == missed.key) return Anomaly::non_monotonic_read;
  return missed.via == kNone ? Anomaly::fractured_read : Anomaly::non_monotonic_read;
}

// Whether two queries of one transaction both looked for a key, and only one of them found it.
bool is_phantom(const Cycle& cycle, const History& h) {
  if (cycle.size() != 2) return false;
  const bool first = cycle[0].edge.kind == EdgeKind::anti_dependency;
  const Edge& missed = cycle[first ? 0 : 1].edge;
  const Edge& saw = cycle[first ? 1 : 0].edge;
  if (saw.kind != EdgeKind::read_dependency || saw.key != missed.key) return false;
  if (missed.op == kNone || saw.op == kNone || missed.op == saw.op) return false;
  if (!is_range(h.op(missed.op)) || !is_range(h.op(saw.op))) return false;
  return returned(h, missed.op, missed.key) != returned(h, saw.op, saw.key);
}

// Whether the level has snapshots of a prefix of the commits, and no condition on writers: beyond
// the levels below, such a level forbids a long fork.
bool is_prefix(const LevelInfo& level) {
  return level.events == EventModel::split && !level.write_conflict;
}

Anomaly one_miss(const Cycle& cycle, const Shape& s, const LevelInfo& weakest, const History& h) {
  if (overwrites_unseen(cycle)) return Anomaly::lost_update;
  if (s.order > 0 || needs_proof(cycle))
    return is_prefix(weakest) ? Anomaly::long_fork : Anomaly::g_single;
  if (weakest.seen.earlier_reads) return back_in_time(cycle);
  if (is_phantom(cycle, h)) return Anomaly::phantom;
  if (cycle.size() > 2) return Anomaly::causality_violation;
  return s.session > 0 ? Anomaly::session_guarantee_violation : Anomaly::fractured_read;
}

// Whether an operation of the transaction names the key, or returned it.
bool reads_by_name(const History& h, TxnId t, KeyId key) {
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Observation seen = observation_of(h, i);
    if (seen.accepts == Accepts::any) continue;
    if (seen.key == key) return true;
    if (seen.accepts != Accepts::rows) continue;
    if (returned(h, i, key)) return true;
  }
  return false;
}

// Whether the overwritten versions are absent keys, which only predicates had read.
bool of_predicates(const Cycle& cycle, const History& h) {
  return std::none_of(cycle.begin(), cycle.end(), [&](const Step& s) {
    return s.edge.kind == EdgeKind::anti_dependency && reads_by_name(h, s.edge.from, s.edge.key);
  });
}

}  // namespace

Anomaly classify(const Cycle& cycle, const LevelInfo& weakest, const History& history) {
  const Shape s = shape_of(cycle);
  if (s.time > 0) return Anomaly::real_time_violation;
  if (s.anti > 0 && weakest.on_request()) {
    if (weakest.group == LevelGroup::session_guarantees && s.session > 0)
      return Anomaly::session_guarantee_violation;
    // A level that allows a key to be read twice with different results forbids an anti-dependency
    // only where an update is lost.
    if (weakest.events == EventModel::adya && !weakest.repeatable) return Anomaly::lost_update;
  }
  if (s.anti > 1 && of_predicates(cycle, history)) return Anomaly::g2;
  if (is_derived(cycle) && weakest.events == EventModel::mixed) return Anomaly::g2_item;
  if (is_derived(cycle) && is_prefix(weakest)) return Anomaly::long_fork;
  // For a lost update it does not matter what shows the order of the two writes.
  if (is_derived(cycle) && weakest.events == EventModel::single && !s.adjacent &&
      !overwrites_unseen(cycle))
    return Anomaly::g2_item;
  if (s.anti == 0) return s.order == cycle.size() ? Anomaly::g0 : Anomaly::g1c;
  if (s.anti == 1) return one_miss(cycle, s, weakest, history);
  if (s.adjacent) {
    if (overwrites_unseen(cycle)) return Anomaly::lost_update;
    return cycle.size() == 2 ? Anomaly::write_skew : Anomaly::g2_item;
  }
  if (is_prefix(weakest) || (s.anti == 2 && s.order == 0)) return Anomaly::long_fork;
  return Anomaly::g_nonadjacent;
}

}  // namespace assay::internal
