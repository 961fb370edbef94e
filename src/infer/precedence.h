// What an event of a replay depends on: straight from the history, or from the known graph.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "infer/event_graph.h"
#include "infer/scheduler.h"

namespace assay::internal {

// Real time as a gate: an event may happen when all events that were over before it started have
// happened. Within a session the session's clock is exact; across sessions the drift of the clocks
// has to be allowed for.
class RealTimeGate {
 public:
  RealTimeGate(const Problem& problem, const Events& events, std::span<const Node> nodes,
               bool one_session, bool from_begins, bool from_commits) {
    const History& history = *problem.history;
    const auto over = [&](const Interval& event) {
      return one_session ? event.response : last_overlap(history, event.response);
    };
    for (const Node n : nodes) {
      const TxnId t = problem.txn[n];
      if (const Interval begin = event_time(history, t, false); from_begins && begin.known()) {
        over_.push_back({over(begin), events.read_event(n)});
      }
      const bool committed = history.status(t) == TxnStatus::committed;
      if (const Interval end = event_time(history, t, true);
          from_commits && committed && end.known()) {
        over_.push_back({over(end), events.write_event(n)});
      }
    }
    std::sort(over_.begin(), over_.end());
  }

  // An event that was over strictly before `start` and has not happened; kNothing if there is none.
  Vertex missing(int64_t start, const std::vector<uint8_t>& happened) {
    while (passed_ < over_.size() && happened[over_[passed_].second]) ++passed_;
    return passed_ < over_.size() && over_[passed_].first < start ? over_[passed_].second
                                                                  : kNothing;
  }

 private:
  std::vector<std::pair<int64_t, Vertex>> over_;
  size_t passed_ = 0;
};

// What an event depends on, straight from the history.
class HistoryPrecedence {
 public:
  HistoryPrecedence(const Problem& problem, const LevelInfo& level)
      : history_(*problem.history), problem_(problem), events_(level), real_time_(level.real_time) {
    if (level.session_order) index_sessions();
    if (real_time_ == RealTime::none) return;
    std::vector<Node> all(problem.nodes());
    std::iota(all.begin(), all.end(), Node{0});
    add_gates(all, false);
    if (history_.clock_drift() == 0) return;
    own_gates_.resize(problem.nodes());
    for (const std::vector<Node>& session : problem.sessions) {
      for (const Node n : session) own_gates_[n] = static_cast<uint32_t>(gates_.size());
      add_gates(session, true);
    }
  }

  bool is_event(Vertex) const { return true; }
  void note_blocked(Vertex) {}
  void note_happened(Vertex) {}

  Vertex missing(Vertex v, const std::vector<uint8_t>& happened) {
    const Vertex before = missing_in_session(v, happened);
    if (before != kNothing) return before;
    if (const Vertex source = missing_source(v, happened); source != kNothing) return source;
    return gates_.empty() ? kNothing : missing_in_time(v, happened);
  }
  // The same without the sources of reads.
  Vertex missing_but_sources(Vertex v, const std::vector<uint8_t>& happened) {
    const Vertex before = missing_in_session(v, happened);
    return before != kNothing || gates_.empty() ? before : missing_in_time(v, happened);
  }

 private:
  // Gates before commits (and begins); for all_but_begins a second one for begins alone.
  using Gates = std::vector<RealTimeGate>;

  void add_gates(std::span<const Node> nodes, bool one_session) {
    Gates& gates = gates_.emplace_back();
    const bool with_begins = real_time_ == RealTime::into_commits;
    gates.emplace_back(problem_, events_, nodes, one_session, with_begins, true);
    if (real_time_ == RealTime::all_but_begins)
      gates.emplace_back(problem_, events_, nodes, one_session, true, false);
  }

  void index_sessions() {
    previous_.assign(problem_.nodes(), kNone);
    each_session_step(problem_, [this](Node before, Node n) { previous_[n] = before; });
  }

  // The missing event of the same transaction or of the one before it.
  Vertex missing_in_session(Vertex v, const std::vector<uint8_t>& happened) const {
    const Node n = events_.node_of(v);
    if (events_.split && events_.writes(v))
      return happened[events_.read_event(n)] ? kNothing : events_.read_event(n);
    if (previous_.empty() || previous_[n] == kNone) return kNothing;
    const Vertex before = events_.write_event(previous_[n]);
    return happened[before] ? kNothing : before;
  }

  Vertex missing_source(Vertex v, const std::vector<uint8_t>& happened) const {
    if (!events_.reads(v)) return kNothing;
    for (const ExternalRead& read : problem_.reads[events_.node_of(v)]) {
      if (read.write == kNone) continue;
      const Vertex source = events_.write_event(problem_.writes.node[read.write]);
      if (!happened[source]) return source;
    }
    return kNothing;
  }

  Vertex missing_in_time(Vertex v, const std::vector<uint8_t>& happened) {
    const Node n = events_.node_of(v);
    const bool as_begin = real_time_ == RealTime::transactions || events_.reads(v);
    if (as_begin && real_time_ == RealTime::into_commits) return kNothing;
    const Interval time = event_time(history_, problem_.txn[n], !as_begin);
    if (!time.known()) return kNothing;
    const Vertex elsewhere = missing_in(gates_[0], time.request, as_begin, happened);
    if (elsewhere != kNothing || gates_.size() == 1) return elsewhere;
    return missing_in(gates_[own_gates_[n]], time.request, as_begin, happened);
  }

  static Vertex missing_in(Gates& gates, int64_t start, bool as_begin,
                           const std::vector<uint8_t>& happened) {
    const Vertex commit = gates[0].missing(start, happened);
    if (commit != kNothing || gates.size() == 1 || as_begin) return commit;
    return gates[1].missing(start, happened);
  }

  const History& history_;
  const Problem& problem_;
  const Events events_;
  const RealTime real_time_;
  std::vector<Node> previous_;
  std::vector<Gates> gates_;         // gates of all sessions together; if there is a drift, also of
                                     // each session
  std::vector<uint32_t> own_gates_;  // indexed by node, if there is a drift: the gates of its
                                     // session
};

// What an event depends on, from the known graph; helper vertices happen like events.
class GraphPrecedence {
 public:
  GraphPrecedence(const EventGraph& graph, std::span<const uint32_t> rank)
      : graph_(graph), rank_(rank), waiting_(graph.graph().vertices(), 0) {
    for (Vertex u = 0; u < graph.graph().vertices(); ++u) {
      graph.graph().each_out(u, [&](Vertex v) {
        ++waiting_[v];
        return true;
      });
    }
    for (Vertex v = 0; v < waiting_.size(); ++v) {
      if (waiting_[v] == 0) free_.push({rank_[v], v});
    }
  }

  bool is_event(Vertex v) const { return graph_.is_event(v); }
  Vertex missing(Vertex, const std::vector<uint8_t>&) const { return kNothing; }
  void note_blocked(Vertex v) { blocked_.push({rank_[v], v}); }
  void note_happened(Vertex v) {
    graph_.graph().each_out(v, [&](Vertex next) {
      if (--waiting_[next] == 0) free_.push({rank_[next], next});
      return true;
    });
  }

  // The next vertex all of whose predecessors have happened; kNothing if all such vertices are
  // blocked.
  Vertex next_free() { return pop(free_); }
  Vertex next_blocked() { return pop(blocked_); }

 private:
  using Queue = std::priority_queue<std::pair<uint32_t, Vertex>,
                                    std::vector<std::pair<uint32_t, Vertex>>, std::greater<>>;
  static Vertex pop(Queue& queue) {
    if (queue.empty()) return kNothing;
    const Vertex v = queue.top().second;
    queue.pop();
    return v;
  }

  const EventGraph& graph_;
  std::span<const uint32_t> rank_;
  std::vector<uint32_t> waiting_;
  Queue free_, blocked_;
};

}  // namespace assay::internal
