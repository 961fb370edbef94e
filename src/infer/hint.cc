// A first guess at the order of events.
//
// The guess is client times if the history has them: reads when the transaction began, writes when
// it ended; if both are only known to lie within the same interval, reads at its begin and writes
// at its end. Without times it is the order of the file if sessions alternate there, as in a log
// written during the run; if the file goes session by session, all sessions run at an even pace.
//
//   s1: T1 T2 T3 T4        file: T1 T2 T3 T4 T5 T6, session by session
//   s2: T5 T6              guess: T1 T5 (at 0), T2 (at 1/4), T3 T6 (at 1/2), T4 (at 3/4)
//
// An even pace says little about short sessions, and nothing about sessions of one transaction.
// There the reads say more: a version of a key lives for about as long as there are transactions to
// one writer of the key, so a reader comes about that much after the writer. Each transaction is
// placed between the writers that it read from, less the transactions in between, and its readers,
// the closer ones counting for more: the least squares of all these distances, found by relaxation.
// It starts from the longest path of reads to each transaction.
//
//   w(x,1) … r(x,1) w(y,1) … r(y,1)    a chain of reads is spaced evenly; a transaction on two
//                                      chains ties them
//
// Where the history states version orders and no times, the writer and the readers of a version
// precede the transaction that overwrote it: a topological order of transactions, or if that has
// cycles, of their reads and their writes.
//
// An order that explains all but a few operations is a better guess than any of these.
//
// The guess decides only where the search starts, never the verdict: a wrong one costs time.
// O(transactions), or reads times a fixed number of rounds.

#include "infer/hint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sort_by.h"
#include "graph/digraph.h"

namespace assay::internal {
namespace {

// Whether the file lists one session after the other.
bool session_by_session(const Problem& problem) {
  const History& history = *problem.history;
  size_t switches = 0;
  for (Node n = 1; n < problem.nodes(); ++n) {
    switches += history.session(problem.txn[n]) != history.session(problem.txn[n - 1]);
  }
  return switches < 2 * problem.sessions.size();
}

// Places transactions by the sources of their reads.
class PlacesByReads {
 public:
  explicit PlacesByReads(const Problem& problem) : problem_(problem), place_(problem.nodes()) {
    for (KeyId key = 0; key < problem.keys(); ++key)
      distance_.push_back(static_cast<double>(problem.nodes()) /
                          static_cast<double>(problem.key_writers(key).size() + 1));
    session_step_ = static_cast<double>(problem.sessions.size());
    before_.assign(problem.nodes(), kNone);
    after_.assign(problem.nodes(), kNone);
    for (const std::vector<Node>& session : problem.sessions) {
      for (size_t i = 1; i < session.size(); ++i) {
        before_[session[i]] = session[i - 1];
        after_[session[i - 1]] = session[i];
      }
    }
  }

  std::vector<int64_t> run() {
    start();
    for (uint32_t round = 0; round < kRounds; ++round) {
      for (const Node n : order_) relax(n);
      for (size_t i = order_.size(); i-- > 0;) relax(order_[i]);
    }
    std::vector<int64_t> time(problem_.nodes());
    for (Node n = 0; n < problem_.nodes(); ++n) time[n] = static_cast<int64_t>(kUnits * place_[n]);
    return time;
  }

 private:
  static constexpr uint32_t kRounds = 6;
  static constexpr double kUnits = 1 << 10;  // units per transaction

  // The transactions that directly follow `n`, in its session or by reading from it.
  template <class Take>
  void each_next(Node n, Take take) const {
    if (after_[n] != kNone) take(after_[n]);
    for (const WriteId w : problem_.writes.of(n))
      for (const Node reader : problem_.readers[w]) take(reader);
  }

  // Starts from the longest path to each node, scaled until all paths together are as long as the
  // history. Nodes on a cycle come last.
  void start() {
    std::vector<uint32_t> waits(problem_.nodes()), depth(problem_.nodes());
    for (Node n = 0; n < problem_.nodes(); ++n) each_next(n, [&](Node next) { ++waits[next]; });
    order_.reserve(problem_.nodes());
    for (Node n = 0; n < problem_.nodes(); ++n)
      if (waits[n] == 0) order_.push_back(n);
    uint32_t deepest = 1;
    for (size_t i = 0; i < order_.size(); ++i) {
      const Node n = order_[i];
      deepest = std::max(deepest, depth[n]);
      each_next(n, [&](Node next) {
        depth[next] = std::max(depth[next], depth[n] + 1);
        if (--waits[next] == 0) order_.push_back(next);
      });
    }
    for (Node n = 0; n < problem_.nodes(); ++n)
      if (waits[n] > 0) order_.push_back(n);
    const double step = static_cast<double>(problem_.nodes()) / deepest;
    for (Node n = 0; n < problem_.nodes(); ++n) place_[n] = step * depth[n];
  }

  void relax(Node n) {
    double weights = 0, sum = 0;
    const auto pull = [&](double where, double distance) {
      const double weight = 1 / (distance * distance);
      weights += weight;
      sum += weight * where;
    };
    for (const ExternalRead& read : problem_.reads[n]) {
      const double d = distance_[read.key];
      pull((read.write == kNone ? 0 : place_[problem_.writes.node[read.write]]) + d, d);
    }
    for (const WriteId w : problem_.writes.of(n)) {
      const double d = distance_[problem_.writes.key[w]];
      for (const Node reader : problem_.readers[w]) pull(place_[reader] - d, d);
    }
    if (before_[n] != kNone) pull(place_[before_[n]] + session_step_, session_step_);
    if (after_[n] != kNone) pull(place_[after_[n]] - session_step_, session_step_);
    if (weights > 0) place_[n] = sum / weights;
  }

  const Problem& problem_;
  std::vector<double> place_;
  std::vector<double> distance_;      // indexed by key: transactions from one writer to the next
  double session_step_ = 1;           // transactions from one of a session to the next of the same
                                      // session
  std::vector<Node> before_, after_;  // neighbours in the session
  std::vector<Node> order_;           // an order that follows the reads
};

// Whether reads place a transaction better than an even pace of the sessions does. The pace is off
// by about the square root of the number of a session's transactions, a read by the number of the
// key's writers.
bool reads_say_more(const Problem& problem) {
  if (problem.nodes() == 0 || problem.writes.size() == 0) return false;
  const double sessions = static_cast<double>(problem.sessions.size());
  const double length = static_cast<double>(problem.nodes()) / sessions;
  const double distance = static_cast<double>(problem.nodes()) *
                          static_cast<double>(problem.keys()) /
                          static_cast<double>(problem.writes.size());
  return sessions * std::sqrt(length) > distance;
}

Hint untimed(const Problem& problem) {
  Hint hint;
  std::vector<int64_t>& time = hint.write_time;
  time.resize(problem.nodes());
  if (!session_by_session(problem)) {
    std::iota(time.begin(), time.end(), 0);
  } else if (reads_say_more(problem)) {
    time = PlacesByReads(problem).run();
    hint.by_reads = true;
  } else {
    constexpr int64_t kSpan = int64_t{1} << 40;
    for (const std::vector<Node>& session : problem.sessions)
      for (size_t i = 0; i < session.size(); ++i)
        time[session[i]] = static_cast<int64_t>(i) * kSpan / static_cast<int64_t>(session.size());
  }
  hint.read_time = time;
  return hint;
}

// Puts a hint into the order of the stated version orders, where they determine one.
class OrderByStatements {
 public:
  explicit OrderByStatements(const Problem& problem) : problem_(problem) {}

  void apply(Hint& hint) const {
    for (const bool split : {false, true}) {
      const std::vector<Arc> arcs = arcs_of(split);
      const size_t events = (split ? 2 : 1) * problem_.nodes();
      const std::vector<Vertex> order =
          topological_order(Digraph(events, arcs), ranks(hint, split));
      if (order.size() < events) continue;
      for (uint32_t i = 0; i < order.size(); ++i) {
        const Node n = split ? order[i] / 2 : order[i];
        if (!split || order[i] % 2 == 0) hint.read_time[n] = i;
        if (!split || order[i] % 2 == 1) hint.write_time[n] = i;
      }
      return;
    }
  }

 private:
  std::vector<uint32_t> ranks(const Hint& hint, bool split) const {
    const std::vector<Node> by_time = by_write_time(hint);
    std::vector<uint32_t> rank((split ? 2 : 1) * problem_.nodes());
    for (uint32_t i = 0; i < by_time.size(); ++i) {
      if (split) rank[2 * by_time[i]] = 2 * i;
      rank[split ? 2 * by_time[i] + 1 : by_time[i]] = split ? 2 * i + 1 : i;
    }
    return rank;
  }

  std::vector<Arc> arcs_of(bool split) const {
    const auto read = [split](Node n) { return split ? 2 * n : n; };
    const auto write = [split](Node n) { return split ? 2 * n + 1 : n; };
    std::vector<Arc> arcs;
    arcs.reserve(3 * problem_.nodes() + 2 * problem_.reads.items.size() + problem_.stated.size());
    for (Node n = 0; split && n < problem_.nodes(); ++n) arcs.push_back({read(n), write(n)});
    for (const std::vector<Node>& session : problem_.sessions)
      for (size_t i = 1; i < session.size(); ++i)
        arcs.push_back({write(session[i - 1]), read(session[i])});
    for (WriteId w = 0; w < problem_.writes.size(); ++w)
      for (const Node reader : problem_.readers[w])
        arcs.push_back({write(problem_.writes.node[w]), read(reader)});
    std::vector<bool> followed(problem_.writes.size()), preceded(problem_.writes.size());
    for (const StatedOrder& order : problem_.stated) {
      arcs.push_back({write(order.before), write(order.after)});
      preceded[problem_.write_of(order.after, order.key)] = true;
      const WriteId w = problem_.write_of(order.before, order.key);
      if (followed[w]) continue;  // by a write that others follow
      followed[w] = true;
      overwrites(problem_.readers[w], order.after, arcs, read, write);
    }
    for (KeyId key = 0; key < problem_.keys(); ++key) {
      const auto first =
          std::find_if(problem_.key_writers(key).begin(), problem_.key_writers(key).end(),
                       [&](WriteId w) { return !preceded[w]; });
      if (first == problem_.key_writers(key).end()) continue;
      overwrites(problem_.initial_readers[key], problem_.writes.node[*first], arcs, read, write);
    }
    return arcs;
  }

  template <class Read, class Write>
  static void overwrites(std::span<const Node> readers, Node writer, std::vector<Arc>& arcs,
                         const Read& read, const Write& write) {
    for (const Node reader : readers)
      if (reader != writer) arcs.push_back({read(reader), write(writer)});
  }

  const Problem& problem_;
};

}  // namespace

std::vector<Node> by_write_time(const Hint& hint) {
  std::vector<Node> nodes(hint.write_time.size());
  std::iota(nodes.begin(), nodes.end(), 0u);
  stable_sort_by(nodes, [&](Node n) { return hint.write_time[n]; });
  return nodes;
}

Hint make_hint(const Problem& problem) {
  const History& history = *problem.history;
  Hint hint;
  const bool timed = std::all_of(problem.txn.begin(), problem.txn.end(),
                                 [&](TxnId t) { return history.begin_time(t).known(); });
  if (!timed) {
    hint = untimed(problem);
    if (!problem.stated.empty()) OrderByStatements(problem).apply(hint);
    return hint;
  }
  hint.read_time.resize(problem.nodes());
  hint.write_time.resize(problem.nodes());
  for (Node n = 0; n < problem.nodes(); ++n) {
    const Interval begin = history.begin_time(problem.txn[n]);
    const Interval end = history.end_time(problem.txn[n]);
    if (end.known() && begin.response > end.request) {  // known only to lie somewhere in the whole
                                                        // transaction
      hint.read_time[n] = begin.request;
      hint.write_time[n] = end.response;
      continue;
    }
    hint.read_time[n] = begin.response == Interval::kOpen ? begin.request : begin.response;
    hint.write_time[n] = end.known() ? end.request : hint.read_time[n];
  }
  return hint;
}

Hint hint_of_order(const Problem& problem, const Order& order) {
  constexpr int64_t kLeftOut = -1;
  Hint hint;
  hint.by_order = true;
  hint.read_time.assign(problem.nodes(), kLeftOut);
  hint.write_time.assign(problem.nodes(), kLeftOut);
  int64_t place = 0;
  for (const uint32_t event : order.events) {
    const Node n = problem.node_of(order.split ? event / 2 : event);
    if (n == kNone) continue;
    if (!order.split || event % 2 == 0) hint.read_time[n] = place;
    if (!order.split || event % 2 == 1) hint.write_time[n] = place;
    ++place;
  }
  // A transaction that the order leaves out gets the place of the one before it in its session.
  for (const auto& session : problem.sessions) {
    int64_t last = 0;
    for (const Node n : session) {
      if (hint.write_time[n] == kLeftOut) hint.read_time[n] = hint.write_time[n] = last;
      last = hint.write_time[n];
    }
  }
  return hint;
}

}  // namespace assay::internal
