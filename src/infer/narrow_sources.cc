// Sources that known edges rule out.
//
//   s1: A { w(x,1) w(y,1) }   s2: B { r(y,1) w(x,2) w(z,1) }   s3: C { w(x,1) }   s4: D { r(z,1)
//                                                              r(x,1) }
//   B read y from A, so A's x came before B's, and D saw B by z: D's x = 1 is not A's any more. It
//   is C's.
//
// A source S of what R saw of x is impossible if R comes before S, or if another writer W of x
// comes after S and before R. Sessions are chains, so of each session only the last writer of x
// before R matters, and clocks (session_clocks.cc) tell both in one look-up each. A read with one
// source left is a fact: the relation is matched with it, which gives new edges, and the next round
// goes on from there. On hot keys hundreds of transactions wrote the value that was read, and this
// leaves a few of them; the search for an order then has a fraction of the choices.
//
// A round uses the known edges; only if that rules out little, it derives the orders of writers
// that they force, which costs ten times as much. It ends when that rules out little, too, or
// hardly anything is left.
//
// Sources are ruled out here without a proof. So an order that is found with the remaining sources
// is valid, but if there is none the search starts anew with all sources.
//
// Cost: (edges + sources + open reads) × sessions a round, and with orders derived (reads + writes)
// × sessions.

#include "infer/narrow_sources.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "infer/event_graph.h"
#include "infer/hint.h"
#include "infer/known_edges.h"
#include "infer/open_reads.h"
#include "infer/reads_from.h"
#include "infer/updates.h"

namespace assay::internal {
namespace {

constexpr size_t kWorthwhile = 8;  // a round must resolve at least one in this many of the open
                                   // reads
constexpr size_t kFew = 50;        // one in this many of all open reads may be left to the search

class Narrowing {
 public:
  Narrowing(const Problem& problem, const LevelInfo& level, const SaturationRules& rules,
            Budget& budget)
      : h_(*problem.history),
        level_(level),
        rules_(rules),
        budget_(budget),
        problem_(problem),
        hint_(problem.hint),
        open_(*problem.open) {}

  std::optional<Problem> run(uint32_t reach) {
    bool any = leave_out_far(reach);
    for (bool derive = false;;) {
      size_t left = 0;
      const std::optional<std::vector<Seen>> resolved = narrow(derive, any, left);
      if (!resolved) return std::nullopt;
      if (!resolved->empty() && !match(*resolved)) return std::nullopt;
      if (left * kFew <= open_.all().size()) break;
      const bool worthwhile = resolved->size() * kWorthwhile > left;
      if (!worthwhile && derive) break;
      derive = !worthwhile;
    }
    if (!any) return std::nullopt;
    problem_.hint = hint_.by_order ? std::move(hint_) : make_hint(problem_);
    problem_.open = std::make_shared<const OpenReads>(std::move(open_));
    return std::move(problem_);
  }

 private:
  // Assumes that the hint's order is right about transactions more than `reach` apart in it.
  bool leave_out_far(uint32_t reach) {
    if (reach >= problem_.nodes()) return false;
    const std::vector<int64_t> rank = ranks();
    std::vector<std::vector<int64_t>> written(problem_.keys());  // indexed by key; filled for keys
                                                                 // with open reads
    bool any = false;
    std::vector<TxnId> near;
    for (uint32_t i = 0; i < open_.all().size(); ++i) {
      if (ran_out(i)) return false;
      const OpenRead& read = open_.all()[i];
      std::vector<int64_t>& writers = written[read.key];
      if (writers.empty()) {
        for (const WriteId w : problem_.key_writers(read.key))
          writers.push_back(rank[problem_.writes.node[w]]);
        std::sort(writers.begin(), writers.end());
      }
      const std::pair<int64_t, int64_t> where =
          near_by(writers, rank[problem_.node_of(read.reader)], reach);
      near.clear();
      std::copy_if(read.sources.begin(), read.sources.end(), std::back_inserter(near),
                   [&](TxnId source) {
                     const int64_t at = source == kNone ? -1 : rank[problem_.node_of(source)];
                     return at >= where.first && at <= where.second;
                   });
      if (near.empty() || near.size() == read.sources.size()) continue;
      any = true;
      open_.restrict_to(i, near);
    }
    return any;
  }

  // The range of places in which the source of a reader at this place is looked for, given the
  // places of all writers of the key.
  static std::pair<int64_t, int64_t> near_by(const std::vector<int64_t>& writers, int64_t reader,
                                             int64_t reach) {
    constexpr auto kFewWriters = 8;
    const auto begin = std::lower_bound(writers.begin(), writers.end(), reader - reach);
    const auto end = std::lower_bound(begin, writers.end(), reader);
    int64_t first = reader - reach;
    if (end - begin < kFewWriters) first = begin == writers.begin() ? -1 : begin[-1] - reach;
    return {first, reader + reach};
  }

  // Reads may have thousands of sources each, so the clock is read after every few of them.
  bool ran_out(uint32_t read) { return read % 256 == 0 && budget_.exhausted_now(); }

  std::vector<int64_t> ranks() const {
    const std::vector<Node> by_time = by_write_time(hint_);
    std::vector<int64_t> rank(problem_.nodes());
    for (uint32_t i = 0; i < by_time.size(); ++i) rank[by_time[i]] = i;
    return rank;
  }

  // Rules sources out by known edges. Returns the reads that now have one source; `left` becomes
  // the number of reads that still have several. nullopt if the known edges contradict each other,
  // or cannot be found.
  std::optional<std::vector<Seen>> narrow(bool derive, bool& any, size_t& left) {
    EventGraph events(problem_, level_);
    KnownEdges known;
    for (const StatedOrder& order : problem_.stated)
      events.graph().add({events.write_event(order.before), events.overwrite_event(order.after)});
    known.edges.resize(events.graph().added());  // keeps the stated edges, whose reasons are not
                                                 // needed
    if (!add_updates(events, known, budget_)) return std::nullopt;
    const std::vector<Vertex> first =
        topological_order(events.graph(), std::vector<uint32_t>(events.graph().vertices()));
    if (first.size() < events.graph().vertices()) return std::nullopt;
    IncrementalOrder order(events.graph(), first);
    Saturation saturation(events, order, known,
                          derive ? rules_ : SaturationRules{false, false, false, false, 0});
    const SessionClocks* clocks = saturation.clocks();
    if (clocks == nullptr || saturation.run(budget_) != Saturation::Result::fixpoint)
      return std::nullopt;
    std::vector<Seen> resolved;
    for (uint32_t i = 0; i < open_.all().size(); ++i) {
      if (ran_out(i)) return std::nullopt;
      const OpenRead& read = open_.all()[i];
      if (read.sources.size() < 2 || is_possible(read.reader)) continue;
      std::vector<TxnId> possible = possible_sources(read, events, *clocks);
      if (possible.empty()) return std::nullopt;
      if (possible.size() == read.sources.size()) {
        ++left;
        continue;
      }
      any = true;
      open_.restrict_to(i, possible);
      if (read.sources.size() > 1 || (read.sources[0] != kNone && is_possible(read.sources[0]))) {
        ++left;
      } else {
        for (const OpId op : read.ops) resolved.push_back({op, read.key, read.sources[0]});
      }
    }
    return resolved;
  }

  std::vector<TxnId> possible_sources(const OpenRead& read, const EventGraph& events,
                                      const SessionClocks& clocks) {
    const Node reader = problem_.node_of(read.reader);
    clocks.last_writers_before(reader, read.key, before_);
    std::vector<TxnId> possible;
    for (const TxnId source : read.sources) {
      if (source == kNone) {
        if (before_.empty()) possible.push_back(source);
        continue;
      }
      const Node s = problem_.node_of(source);
      const bool later = clocks.reaches(events.read_event(reader), events.write_event(s));
      const auto overwrites = [&](Node w) {
        return w != s && clocks.reaches(events.write_event(s), events.write_event(w));
      };
      const bool overwritten =
          clocks.on_chain(s) && std::any_of(before_.begin(), before_.end(), overwrites);
      if (!later && !overwritten) possible.push_back(source);
    }
    return possible;
  }

  bool match(const std::vector<Seen>& resolved) {
    std::vector<Seen> assumed = problem_.assumed;
    assumed.insert(assumed.end(), resolved.begin(), resolved.end());
    std::sort(assumed.begin(), assumed.end());
    problem_ = match_reads(h_, assumed, budget_, {.possible = open_.possible()});
    return !budget_.exhausted_now();
  }

  bool is_possible(TxnId t) const {
    return h_.status(t) == TxnStatus::unknown && problem_.is_possible(problem_.node_of(t));
  }

  const History& h_;
  const LevelInfo& level_;
  const SaturationRules rules_;
  Budget& budget_;
  Problem problem_;           // the problem with what is known by now
  Hint hint_;                 // hint of the original problem
  OpenReads open_;            // the reads of the problem, with fewer sources
  std::vector<Node> before_;  // scratch
};

}  // namespace

std::optional<Problem> narrow_sources(const Problem& problem, const LevelInfo& level,
                                      uint32_t reach, const SaturationRules& rules,
                                      Budget& budget) {
  if (!level.session_order) return std::nullopt;
  uint64_t copied = 0;
  for (const OpenRead& read : problem.open->all())
    copied += sizeof(OpenRead) + read.sources.size() * sizeof(TxnId);
  if (!budget.has_room(copied + EventGraph::bytes(problem, level))) return std::nullopt;
  return Narrowing(problem, level, rules, budget).run(reach);
}

uint32_t usual_reach(const Problem& problem) {
  constexpr double kWalk = 4;
  return static_cast<uint32_t>(kWalk * std::sqrt(static_cast<double>(problem.nodes()) *
                                                 static_cast<double>(problem.sessions.size())));
}

}  // namespace assay::internal
