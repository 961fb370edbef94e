// A history that has independent parts (infer/decomposition.cc): each is decided by itself, and the
// verdicts are combined.
//
//   violated    A proof for one part is a proof for the whole, with the keys of the whole
//               (Problem::in_whole). If several parts are violated the first one is reported,
//               whichever thread finished first.
//   satisfied   The orders of the parts, session order and real time, taken together, have no
//               cycle; so some order of all events contains them, and it is the certificate. If
//               real time joins parts after all, and their orders contradict it, the history is
//               decided as a whole.
//   unknown     if some part is, and none is violated.
//
//   part {x}: w(x,1) r(x,1)    part {y}: w(y,1) r(y,1)    s1: { w(x,1) } { w(y,1) }    one after
//                                                         the other
//
// Threads take the parts in ascending order, and skip those after a violated one. Each has a copy
// of the budget: the clock and the memory are the same for all. Cost: what the parts cost, and an
// order of the whole graph.

#include "levels/by_parts.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/parallel.h"
#include "infer/event_graph.h"

namespace assay::internal {
namespace {

class PartwiseDecision {
 public:
  PartwiseDecision(const Problem& problem, const LevelInfo& level, const std::vector<Part>& parts,
                   const CheckOptions& options, Stages& stages, const Decide& decide)
      : problem_(problem),
        level_(level),
        parts_(parts),
        options_(options),
        stages_(stages),
        decide_(decide),
        judgements_(parts.size()),
        efforts_(parts.size()) {}

  Judgement run(unsigned threads, Budget& budget) {
    share_jobs(parts_.size(), threads, [&](const auto& next) { work(next, budget); });
    for (size_t i = 0; i < parts_.size(); ++i) {
      budget.spend(efforts_[i]);
      if (judgements_[i].outcome() == Outcome::violated) return std::move(judgements_[i]);
    }
    for (Judgement& v : judgements_) {
      if (v.outcome() == Outcome::unknown) return std::move(v);
    }
    return join_orders(budget);
  }

 private:
  template <class Next>
  void work(const Next& next, const Budget& shared) {
    Projector projector(problem_);
    Stages stages;
    for (size_t i = next(); i < parts_.size() && i < first_violated_; i = next()) {
      Budget budget = shared;
      if (!budget.has_room(projection_bytes(parts_[i].nodes.size()))) {
        judgements_[i] = Judgement::unknown(budget.reason());
        continue;
      }
      const Problem part = projector.project(parts_[i]);
      judgements_[i] = decide_(part, level_, options_, stages, budget);
      efforts_[i] = budget.spent() - shared.spent();
      if (judgements_[i].outcome() != Outcome::violated) continue;
      Proof& proof = judgements_[i].certificate.proof;
      proof = part.in_whole(std::move(proof));
      for (size_t first = first_violated_; i < first;) {
        if (first_violated_.compare_exchange_weak(first, i)) break;
      }
    }
    const std::lock_guard lock(mutex_);
    stages_.take(stages);
  }

  // Estimated as if the part's share of the reads and writes were the same as its share of the
  // nodes.
  uint64_t projection_bytes(size_t nodes) const {
    constexpr uint64_t kBytesARead = 16, kBytesAWrite = 24, kBytesANode = 40;
    const uint64_t whole = kBytesARead * problem_.reads.items.size() +
                           kBytesAWrite * problem_.writes.size() + kBytesANode * problem_.nodes();
    return problem_.nodes() == 0 ? 0 : whole * nodes / problem_.nodes();
  }

  Judgement join_orders(Budget& budget) {
    size_t count = 0;
    for (const Judgement& v : judgements_) count += v.certificate.order.events.size();
    const uint64_t events_in_all = (level_.events == EventModel::split ? 2 : 1) * problem_.nodes();
    if (!budget.has_room(EventGraph::bytes(problem_, level_) + 32 * count +
                         5 * sizeof(uint32_t) * events_in_all))
      return Judgement::unknown(budget.reason());
    EventGraph events(problem_, level_);
    Digraph& graph = events.graph();
    for (const Judgement& v : judgements_) {
      const std::vector<uint32_t>& order = v.certificate.order.events;
      for (size_t i = 1; i < order.size(); ++i) {
        graph.add({vertex(order[i - 1]), vertex(order[i])});
      }
    }
    const std::vector<Vertex> joined = topological_order(graph);
    if (joined.size() != graph.vertices())
      return decide_(problem_, level_, options_, stages_, budget);
    return Judgement::satisfied(to_order(problem_, events.split(), joined));
  }

  Vertex vertex(uint32_t event) const {
    const bool split = level_.events == EventModel::split;
    return split ? 2 * problem_.node_of(event / 2) + event % 2 : problem_.node_of(event);
  }

  const Problem& problem_;
  const LevelInfo& level_;
  const std::vector<Part>& parts_;
  const CheckOptions& options_;
  Stages& stages_;
  const Decide& decide_;
  std::vector<Judgement> judgements_;  // indexed by part
  std::vector<uint64_t> efforts_;      // indexed by part
  std::atomic<size_t> first_violated_{SIZE_MAX};
  std::mutex mutex_;  // guards the stages
};

}  // namespace

Judgement decide_by_parts(const Problem& problem, const LevelInfo& level,
                          const std::vector<Part>& parts, unsigned threads,
                          const CheckOptions& options, Stages& stages, Budget& budget,
                          const Decide& decide) {
  return PartwiseDecision(problem, level, parts, options, stages, decide).run(threads, budget);
}

}  // namespace assay::internal
