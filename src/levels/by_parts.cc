// A history that has independent parts (infer/decomposition.cc): each is decided by itself, and the verdicts are
// combined.
//
//   violated    A proof for one part is a proof for the whole, once its keys have their original numbers again. If several
//               parts are violated the first one is reported, whichever thread finished first.
//   satisfied   The orders of the parts, session order and real time, taken together, have no cycle; so some order of
//               all events contains them, and it is the certificate. Where real time joins parts after all, and their
//               orders contradict it, the history is decided as a whole.
//   unknown     if some part is, and none is violated.
//
//   part {x}: w(x,1) r(x,1)    part {y}: w(y,1) r(y,1)    s1: { w(x,1) } { w(y,1) }    one after the other
//
// Threads take the parts in ascending order, and skip those after a violated one. Each has a budget of its own, a copy:
// the clock and the memory are the same for all. Cost: what the parts cost, and an order of the whole graph.

#include "levels/by_parts.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/parallel.h"
#include "infer/event_graph.h"
#include "infer/stated_orders.h"

namespace assay::internal {
namespace {

class PartwiseDecision {
 public:
  PartwiseDecision(const StrongInput& in, const LevelInfo& level, const std::vector<Part>& parts,
                   const Decide& decide)
      : in_(in),
        level_(level),
        parts_(parts),
        decide_(decide),
        stated_(stated_orders(in.history, in.rf)),
        verdicts_(parts.size()),
        efforts_(parts.size()) {}

  LevelVerdict run(unsigned threads, Budget& budget) {
    share_jobs(parts_.size(), threads, [&](const auto& next) { work(next, budget); });
    for (size_t i = 0; i < parts_.size(); ++i) {
      budget.spend(efforts_[i]);
      if (verdicts_[i].outcome == Outcome::violated) return rename_keys(i);
    }
    for (LevelVerdict& v : verdicts_) {
      if (v.outcome == Outcome::unknown) return std::move(v);
    }
    return join_orders(budget);
  }

 private:
  template <class Next>
  void work(const Next& next, const Budget& shared) {
    Projector projector(in_.rf, in_.hint, stated_);
    Stages stages;
    for (size_t i = next(); i < parts_.size() && i < first_violated_; i = next()) {
      Budget budget = shared;
      if (!budget.has_room(projection_bytes(parts_[i].nodes.size()))) {
        verdicts_[i].reason = budget.reason();
        continue;
      }
      const Projection part = projector.project(in_.history, parts_[i]);
      const StrongInput input{in_.history,  part.rf, part.hint,
                              in_.switches, stages,  in_.count_constraints};
      verdicts_[i] = decide_(input, level_, budget);
      efforts_[i] = budget.spent() - shared.spent();
      if (verdicts_[i].outcome != Outcome::violated) continue;
      for (size_t first = first_violated_; i < first;) {
        if (first_violated_.compare_exchange_weak(first, i)) break;
      }
    }
    const std::lock_guard lock(mutex_);
    in_.stages.take(stages);
  }

  // A part holds of every reads-from entry as much as of its nodes.
  uint64_t projection_bytes(size_t nodes) const {
    constexpr uint64_t kBytesARead = 16, kBytesAWrite = 24, kBytesANode = 40;
    const uint64_t whole = kBytesARead * in_.rf.reads.items.size() +
                           kBytesAWrite * in_.rf.writes() + kBytesANode * in_.rf.nodes();
    return in_.rf.nodes() == 0 ? 0 : whole * nodes / in_.rf.nodes();
  }

  LevelVerdict rename_keys(size_t part) {
    LevelVerdict verdict = std::move(verdicts_[part]);
    const std::vector<KeyId>& keys = parts_[part].keys;
    const auto rename = [&](Edge& edge) {
      if (edge.key != kNone) edge.key = keys[edge.key];
    };
    for (ProofStep& step : verdict.proof.steps) {
      for (Edge& edge : step.cycle) {
        rename(edge);
        std::for_each(edge.path.begin(), edge.path.end(), rename);
      }
    }
    return verdict;
  }

  LevelVerdict join_orders(Budget& budget) {
    LevelVerdict verdict;
    size_t count = 0;
    for (const LevelVerdict& v : verdicts_) count += v.order.events.size();
    const uint64_t events_in_all = (level_.events == EventModel::split ? 2 : 1) * in_.rf.nodes();
    if (!budget.has_room(EventGraph::bytes(in_.history, in_.rf, level_) + 32 * count +
                         5 * sizeof(uint32_t) * events_in_all)) {
      verdict.reason = budget.reason();
      return verdict;
    }
    EventGraph events(in_.history, in_.rf, level_);
    Digraph& graph = events.graph();
    for (const LevelVerdict& v : verdicts_) {
      const std::vector<uint32_t>& order = v.order.events;
      for (size_t i = 1; i < order.size(); ++i) {
        graph.add({vertex(order[i - 1]), vertex(order[i])});
      }
    }
    const std::vector<Vertex> joined = topological_order(graph);
    if (joined.size() != graph.vertices()) return decide_(in_, level_, budget);
    verdict.outcome = Outcome::satisfied;
    verdict.order = to_order(in_.rf, events.split(), joined);
    return verdict;
  }

  Vertex vertex(uint32_t event) const {
    const bool split = level_.events == EventModel::split;
    return split ? 2 * in_.rf.node[event / 2] + event % 2 : in_.rf.node[event];
  }

  const StrongInput& in_;
  const LevelInfo& level_;
  const std::vector<Part>& parts_;
  const Decide& decide_;
  const std::vector<StatedOrder> stated_;
  std::vector<LevelVerdict> verdicts_;  // per part
  std::vector<uint64_t> efforts_;       // per part
  std::atomic<size_t> first_violated_{SIZE_MAX};
  std::mutex mutex_;  // of in_.stages
};

}  // namespace

LevelVerdict decide_by_parts(const StrongInput& in, const LevelInfo& level,
                             const std::vector<Part>& parts, unsigned threads, Budget& budget,
                             const Decide& decide) {
  return PartwiseDecision(in, level, parts, decide).run(threads, budget);
}

}  // namespace assay::internal
