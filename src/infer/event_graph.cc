// Builds the known event graph of a level.
//
//   r(T) → w(T)            split models only
//   w(S) → r(T)            T reads from S; S precedes T in a session (where the level has session
//                          order)
//   r(T) → w(S)            T reads the initial value of a key that S writes
//   w(S) → r(T) and others by the clocks (LevelInfo::real_time)
//
//   s1: { w(x,1) }  s2: { r(x,null) } { r(x,1) }      r(T2) → w(T1) → r(T3), and w(T2) → r(T3)
//
// All-pairs edges would be quadratic, so two kinds run through helper vertices. The readers of a
// key's initial value point to one helper that points to all its writers. Real time is a chain of
// helpers in time order: an event that is over points to the helper of its time, a helper points to
// the next one and to the events that start after it; so S reaches T through helpers exactly if S
// was over before T started. Sessions are chains of consecutive transactions; a transaction of
// unknown outcome follows its predecessors and leads nowhere.
//
// Cost: linear in the reads and writes, and a sort by time.

#include "infer/event_graph.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "history/mixed_levels.h"
#include "infer/reads_from.h"

namespace assay::internal {
namespace {

constexpr size_t kDirectPairs = 4;  // up to here, edges are cheaper than a helper

struct TimedEvent {
  int64_t time;
  bool over;  // true: the event is over at `time`; false: it starts then
  Vertex vertex;
};

}  // namespace

Interval event_time(const History& history, TxnId t, bool write_event) {
  if (!write_event) return history.begin_time(t);
  if (history.status(t) == TxnStatus::committed) return history.end_time(t);
  const Interval begin = history.begin_time(t);
  if (!begin.known()) return {};
  return {begin.request, std::numeric_limits<int64_t>::max()};
}

int64_t last_overlap(const History& history, int64_t response) {
  const int64_t more = std::max<int64_t>(history.clock_drift(), 1) - 1;
  return response > Interval::kOpen - more ? Interval::kOpen : response + more;
}

EventGraph::Size EventGraph::size(const Problem& problem, const LevelInfo& level) {
  const bool mixed = level.events == EventModel::mixed;
  const bool split = level.events == EventModel::split || mixed;
  const size_t nodes = problem.nodes();
  Size size{(split ? 2 : 1) * nodes, (split ? nodes : 0) + problem.reads.items.size()};
  if (level.session_order) size.arcs += nodes;
  for (KeyId key = 0; key < problem.initial_readers.rows(); ++key) {
    const size_t readers = problem.initial_readers[key].size(),
                 writers = problem.key_writers(key).size();
    if (readers == 0 || writers == 0) continue;
    ++size.vertices;
    // The arcs of the helper, and the arcs that replace it for two updaters.
    size.arcs += readers + (split && !mixed ? 1 : 3) * writers;
  }
  // For each chain an arc per event, and a helper with its arc for each event that was over.
  if (level.real_time == RealTime::none) return size;
  const size_t chains = level.real_time == RealTime::all_but_begins ? 2 : 1;
  const size_t over = level.real_time == RealTime::into_commits ? 2 : 1;
  const size_t drifting = problem.history->clock_drift() == 0 ? 1 : 2;
  size.vertices += drifting * chains * over * nodes;
  size.arcs += drifting * chains * (2 * over + (chains == 2 ? 2 : 1)) * nodes;
  return size;
}

uint64_t EventGraph::bytes(const Problem& problem, const LevelInfo& level) {
  const Size most = size(problem, level);
  return sizeof(Arc) * most.arcs + Digraph::bytes(most.vertices, most.arcs);
}

EventGraph::EventGraph(const Problem& problem, const LevelInfo& level)
    : history_(*problem.history),
      problem_(problem),
      level_(level),
      split_(level.events == EventModel::split || level.events == EventModel::mixed),
      any_holds_(split_ && level.write_conflict) {
  if (level.events == EventModel::mixed) take_declared_levels();
  std::vector<Arc> arcs;
  arcs.reserve(size(problem, level).arcs);
  for (Node n = 0; n < problem_.nodes(); ++n)
    if (read_event(n) != write_event(n)) arcs.push_back({read_event(n), write_event(n)});
  if (level_.session_order) add_sessions(arcs);
  add_reads_from(arcs);
  add_initial_reads(arcs);
  if (level_.real_time != RealTime::none) add_real_time(arcs);
  graph_ = Digraph(events() + helper_key_.size(), arcs);
}

// The sources of transactions at the levels of commit orders are constrained only by what these
// transactions saw (levels/mixed.cc).
void EventGraph::take_declared_levels() {
  rules_.reserve(problem_.nodes());
  for (const TxnId t : problem_.txn) {
    const auto level = held_to(history_, t);
    assert(level && "asked before");
    const LevelInfo& info = level_info(*level);
    const bool holds = info.events == EventModel::split && info.write_conflict;
    any_holds_ = any_holds_ || holds;
    rules_.push_back({info.events != EventModel::split, info.events == EventModel::weak, holds});
  }
}

Vertex EventGraph::new_helper(KeyId key) {
  helper_key_.push_back(key);
  return static_cast<Vertex>(events() + helper_key_.size() - 1);
}

void EventGraph::add_sessions(std::vector<Arc>& arcs) const {
  each_session_step(problem_, [&](Node before, Node n) {
    arcs.push_back({write_event(before), read_event(n)});
  });
}

void EventGraph::add_reads_from(std::vector<Arc>& arcs) const {
  std::vector<Node> last_reader(problem_.nodes(), kNone);  // per writer: drops parallel edges
  const auto add = [&](Node n, std::span<const ExternalRead> reads) {
    for (const ExternalRead& read : reads) {
      if (read.write == kNone) continue;
      const Node writer = problem_.writes.node[read.write];
      if (last_reader[writer] == n) continue;
      last_reader[writer] = n;
      arcs.push_back({write_event(writer), read_event(n)});
    }
  };
  for (Node n = 0; n < problem_.nodes(); ++n) add(n, problem_.reads[n]);
  if (rules_.empty()) return;
  std::vector<ExternalRead> all;
  for (const Node n : problem_.repeating) {  // for a key that it may have read from several writers
    external_reads(problem_, n, all);
    add(n, all);
  }
}

void EventGraph::add_initial_reads(std::vector<Arc>& arcs) {
  for (KeyId key = 0; key < problem_.initial_readers.rows(); ++key) {
    if (!problem_.initial_readers[key].empty() && !problem_.key_writers(key).empty()) {
      add_initial_reads_of(key, arcs);
    }
  }
}

void EventGraph::add_initial_reads_of(KeyId key, std::vector<Arc>& arcs) {
  const std::span<const Node> readers = problem_.initial_readers[key];
  const std::span<const WriteId> writers = problem_.key_writers(key);
  const auto connect = [&](Node reader, WriteId write) {
    const Node writer = problem_.writes.node[write];
    if (writer != reader) arcs.push_back({read_event(reader), write_event(writer)});
  };
  // A reader that also writes the key must not wait for itself: in single models such a reader gets
  // separate edges. Two such readers already close a cycle between them, so no more than two are
  // needed.
  std::vector<Node> through_helper;
  size_t updaters = 0;
  for (Node reader : readers) {
    if (read_event(reader) != write_event(reader) || problem_.write_of(reader, key) == kNone) {
      through_helper.push_back(reader);
    } else if (++updaters <= 2) {
      for (WriteId write : writers) connect(reader, write);
    }
  }
  if (through_helper.size() * writers.size() <= kDirectPairs) {
    for (Node reader : through_helper) {
      for (WriteId write : writers) connect(reader, write);
    }
    return;
  }
  const Vertex helper = new_helper(key);
  for (Node reader : through_helper) arcs.push_back({read_event(reader), helper});
  for (WriteId write : writers) arcs.push_back({helper, write_event(problem_.writes.node[write])});
}

// Clocks of different sessions may drift apart. The clock of a session is exact for its own events,
// which therefore get a separate chain if a drift hides some of their order.
void EventGraph::add_real_time(std::vector<Arc>& arcs) {
  std::vector<Node> all(problem_.nodes());
  std::iota(all.begin(), all.end(), Node{0});
  add_real_time(all, false, arcs);
  if (history_.clock_drift() == 0) return;
  for (const std::vector<Node>& session : problem_.sessions) add_real_time(session, true, arcs);
}

void EventGraph::add_real_time(std::span<const Node> nodes, bool one_session,
                               std::vector<Arc>& arcs) {
  const auto over = [&](const Interval& event) {
    return one_session ? event.response : last_overlap(history_, event.response);
  };
  // There is one chain per class of sources: {commits} → begins and commits, {begins} → commits, as
  // the level requires.
  struct Chain {
    bool from_commits, from_begins, into_begins, into_commits;
  };
  std::vector<Chain> chains;
  switch (level_.real_time) {
    case RealTime::none:
      return;
    case RealTime::transactions:
      chains = {{true, false, true, false}};
      break;
    case RealTime::into_commits:
      chains = {{true, true, false, true}};
      break;
    case RealTime::all_but_begins:
      chains = {{true, false, true, true}, {false, true, false, true}};
      break;
  }
  for (const Chain& chain : chains) {
    std::vector<TimedEvent> timed;
    timed.reserve(3 * nodes.size());
    for (const Node n : nodes) {
      const TxnId t = problem_.txn[n];
      const Interval begin = event_time(history_, t, false);
      const Interval commit = event_time(history_, t, true);
      // A transaction that may not have taken effect does not delay anything.
      if (begin.known() && chain.from_begins && !problem_.is_possible(n))
        timed.push_back({over(begin), true, read_event(n)});
      if (begin.known() && chain.into_begins)
        timed.push_back({begin.request, false, read_event(n)});
      if (commit.known() && chain.into_commits) {
        timed.push_back({commit.request, false, write_event(n)});
      }
      if (commit.known() && chain.from_commits && committed(n)) {
        timed.push_back({over(commit), true, write_event(n)});
      }
    }
    std::sort(timed.begin(), timed.end(), [](const TimedEvent& a, const TimedEvent& b) {
      if (a.time != b.time) return a.time < b.time;
      return a.over != b.over ? !a.over : a.vertex < b.vertex;  // strict: starts come before ends
    });
    Vertex current = 0xFFFFFFFF;
    bool open = false;  // only ends have come since the current helper was made: they may share it
    for (const TimedEvent& event : timed) {
      if (!event.over) {
        if (current != 0xFFFFFFFF) arcs.push_back({current, event.vertex});
        open = false;
        continue;
      }
      if (!open) {
        const Vertex helper = new_helper(kNone);
        if (current != 0xFFFFFFFF) arcs.push_back({current, helper});
        current = helper;
        open = true;
      }
      arcs.push_back({event.vertex, current});
    }
  }
}

Edge EventGraph::reason(Vertex from, std::span<const Vertex> helpers, Vertex to) const {
  const Node a = node_of(from);
  const Node b = node_of(to);
  Edge edge;
  edge.from = problem_.txn[a];
  edge.to = problem_.txn[b];
  if (!helpers.empty() && helper_key_[helpers[0] - events()] == kNone) {
    edge.kind = EdgeKind::real_time;
    edge.from_write = level_.real_time == RealTime::transactions || is_write_event(from);
    edge.to_write = level_.real_time != RealTime::transactions && is_write_event(to);
    return edge;
  }
  if (helpers.empty() && is_write_event(from)) {
    std::vector<ExternalRead> all;
    if (!rules_.empty()) external_reads(problem_, b, all);
    for (const ExternalRead& read : rules_.empty() ? problem_.reads[b] : all) {
      if (read.write == kNone || problem_.writes.node[read.write] != a) continue;
      edge.kind = EdgeKind::read_dependency;
      edge.key = read.key;
      edge.op = read.op;
      return edge;
    }
    const bool same_session = history_.session(edge.from) == history_.session(edge.to) &&
                              history_.position(edge.from) < history_.position(edge.to);
    if (level_.session_order && same_session && committed(a)) {
      edge.kind = EdgeKind::session;
      return edge;
    }
  }
  edge.kind = EdgeKind::anti_dependency;
  edge.key = helpers.empty() ? kNone : helper_key_[helpers[0] - events()];
  for (const ExternalRead& read : problem_.reads[a]) {
    if (edge.key != kNone) break;
    if (read.write == kNone && problem_.write_of(b, read.key) != kNone) edge.key = read.key;
  }
  return edge;
}

}  // namespace assay::internal
