// Is there an order of all events in which every read returns the current version?
//
// The method of dbcop (Biswas and Enea, OOPSLA 2019): extend a prefix of the execution event by
// event, and remember the prefixes that could not be completed. Sessions are chains, so a prefix is
// one number per session, and what can follow depends only on these numbers. Serializability has
// one event per transaction; prefix consistency and snapshot isolation split it into its reads and
// its writes (frontier.cc).
//
//   s1: { w(x,1) } { w(x,2) }   s2: { r(x,1) r(y,0) }   s3: { w(y,3) r(x,1) }
//   from (0,0,0): T1, then (1,0,0): T2 may not overwrite x with two readers to come; T3 reads the
//   right x but may not overwrite y; T4, which only reads, is free; then T3, then T2
//
// It shares with the other engine only the problem (infer/problem.h): no graph, no version orders,
// no solver. So each checks the other. Cost: transactions^sessions prefixes at worst, each costing
// as much as the events tried there; it suits few sessions, or short histories. It works depth
// first, with an explicit stack; the event that comes first in the hint is tried first. Memory: a
// word for each session and prefix that cannot be completed.
//
// Three additions to dbcop keep it from failing on easy histories: orders of writers that the reads
// force (forced_orders.cc); a look ahead that sees when the next events wait for each other
// (Frontier::is_stuck); and restarts. Because one bad choice near the beginning can cost all the
// available time, the search begins again after many failures and then tries later what led
// nowhere. Known dead ends stay known, and each run may fail more often than the one before, so the
// search stays complete.

#include "prefix_search/prefix_search.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "prefix_search/frontier.h"
#include "prefix_search/frontier_set.h"

namespace assay::internal {
namespace {

class PrefixSearch {
 public:
  PrefixSearch(const Problem& problem, const LevelInfo& level, Budget& budget)
      : budget_(budget),
        frontier_(problem, level),
        dead_(frontier_.chains()),
        delay_(problem.nodes(), 0) {
    place_events(problem.hint);
  }

  // Returns true if a whole execution was found; the frontier then holds it.
  bool run() {
    take_free_events();
    while (!frontier_.complete() && !budget_.exhausted()) {
      if (!dead_.contains(frontier_.positions())) {
        if (frontier_.is_stuck(why_)) {
          fail();
        } else {
          open_choice();
        }
      }
      while (!choices_.empty() && choices_.back().next == candidates_.size()) close_choice();
      if (choices_.empty()) return false;
      if (fails_ >= most_fails_) begin_again();
      frontier_.rewind(choices_.back().length);
      frontier_.happen(candidates_[choices_.back().next++]);
      take_free_events();
    }
    return frontier_.complete();
  }

  const Frontier& frontier() const { return frontier_; }
  uint64_t prefixes() const { return opened_; }

 private:
  // A prefix at which there is a choice. Its candidates are the last ones; those from `next` on are
  // untried.
  struct Choice {
    size_t length;
    size_t first, next;
  };

  // Converts the times of the hint to places, which stay small whatever is added to them.
  void place_events(const Hint& hint) {
    std::vector<int64_t> times = hint.read_time;
    times.insert(times.end(), hint.write_time.begin(), hint.write_time.end());
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const auto place_of = [&](int64_t time) {
      return std::lower_bound(times.begin(), times.end(), time) - times.begin();
    };
    std::transform(hint.read_time.begin(), hint.read_time.end(), std::back_inserter(read_place_),
                   place_of);
    std::transform(hint.write_time.begin(), hint.write_time.end(), std::back_inserter(write_place_),
                   place_of);
  }

  void take_free_events() {
    const uint32_t chains = frontier_.chains();
    for (uint32_t idle = 0, chain = 0; idle < chains; chain = chain + 1 == chains ? 0 : chain + 1) {
      ++idle;
      while (!frontier_.finished(chain) && frontier_.may_happen(chain) &&
             frontier_.is_free(chain)) {
        frontier_.happen(chain);
        idle = 0;
        if (budget_.exhausted()) return;
      }
    }
  }

  void open_choice() {
    const size_t first = candidates_.size();
    for (uint32_t chain = 0; chain < frontier_.chains(); ++chain) {
      if (!frontier_.finished(chain) && frontier_.may_happen(chain)) candidates_.push_back(chain);
    }
    std::sort(candidates_.begin() + static_cast<ptrdiff_t>(first), candidates_.end(),
              [&](uint32_t a, uint32_t b) {
                const int64_t pa = place_of_next(a), pb = place_of_next(b);
                return pa != pb ? pa < pb : a < b;
              });
    choices_.push_back({frontier_.length(), first, first});
    ++opened_;
  }

  // Called when no event can follow. One of the events that happened too early is not tried as
  // early again.
  void fail() {
    dead_.insert(frontier_.positions());
    ++fails_;
    const auto least = std::min_element(
        why_.begin(), why_.end(),
        [&](const auto& a, const auto& b) { return delay_[a.happened] < delay_[b.happened]; });
    if (least == why_.end()) return;
    const int64_t behind = write_place_[least->waiting] + delay_[least->waiting] + kDelay;
    const int64_t now = write_place_[least->happened] + delay_[least->happened];
    delay_[least->happened] += std::max(kDelay, behind - now);
  }

  void begin_again() {
    choices_.resize(1);
    frontier_.rewind(choices_[0].length);
    candidates_.clear();
    choices_.clear();
    open_choice();
    fails_ = 0;
    most_fails_ += most_fails_ / 2;
  }

  // Called when no event that can follow leads to an end.
  void close_choice() {
    frontier_.rewind(choices_.back().length);
    dead_.insert(frontier_.positions());
    candidates_.resize(choices_.back().first);
    choices_.pop_back();
  }

  int64_t place_of_next(uint32_t chain) const {
    const Node n = frontier_.next_node(chain);
    return (frontier_.next_writes(chain) ? write_place_[n] : read_place_[n]) + delay_[n];
  }

  Budget& budget_;
  Frontier frontier_;
  FrontierSet dead_;
  std::vector<Choice> choices_;
  std::vector<uint32_t> candidates_;  // chains; those of the last choice are at the end
  uint64_t opened_ = 0;               // choices

  std::vector<int64_t> read_place_, write_place_;  // per node: its places in the order of the hint
  static constexpr int64_t kDelay = 4;             // places
  std::vector<int64_t> delay_;                     // per node, added to its place
  std::vector<Frontier::TooEarly> why_;            // of the last failure
  uint64_t fails_ = 0, most_fails_ = 200;          // since the last restart; before the next
};

}  // namespace

Judgement search_prefixes(const Problem& problem, const LevelInfo& level, Stages& stages,
                          Budget& budget) {
  const auto timer = stages.time("prefixes");
  PrefixSearch search(problem, level, budget);
  const bool found = search.run();
  stages.count("prefixes", search.prefixes());
  if (found)
    return Judgement::satisfied({level.events == EventModel::split, search.frontier().events()});
  if (budget.exhausted()) return Judgement::unknown(budget.reason());
  return Judgement::violated(Proof());
}

}  // namespace assay::internal
