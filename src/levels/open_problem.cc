// Reads with several possible sources, rows that queries skipped, and aggregates become choices of
// the problem when an order is searched.
//
//   s1: { w(x,1) }   s2: { w(x,1) w(y,1) }   s3: { r(x,1) }     s3 read from s1 or s2
//
// Few skipped rows matter, so they are added lazily: find an order without them, add the ones that
// it contradicts, and repeat, starting from that order, as a fresh one would contradict as many
// others. After some rounds all are added. Aggregates are added lazily, too: once an order fails to
// explain one, the state that it saw of each key becomes a choice.
//
// Cost: listing the open operations, linear in their number times their possible sources; for each
// round, an order.

#include "levels/open_problem.h"

#include <algorithm>
#include <utility>

#include "history/aggregate.h"
#include "infer/aggregates.h"
#include "infer/hint.h"
#include "levels/engine.h"

namespace assay::internal {
namespace {

constexpr uint32_t kLastReachInSearch = 6;  // a search may take any number of rounds

void add_rows(std::vector<SkippedRow>& all, std::span<const SkippedRow> more) {
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

// How far from its place, in events, a query is examined: rows that an order nearly contradicts are
// added, too, since repairing it moves the sessions against each other.
uint32_t reach_of_round(uint32_t round) { return round == 0 ? 0 : uint32_t{16} << round; }

}  // namespace

OpenProblem::OpenProblem(const History& history, const Problem& matched,
                         const CheckOptions& options, Stages& stages, Budget& budget)
    : history_(history),
      matched_(matched),
      options_(options),
      stages_(stages),
      budget_(budget),
      has_aggregates_(has_open_aggregates(history)),
      late_rows_(options.speed_ups.has(SpeedUp::late_rows) && history.has_predicates()) {}

const OpenReads& OpenProblem::reads(Listing listing) {
  std::shared_ptr<OpenReads>& open = open_[static_cast<size_t>(listing)];
  bool& cut_short = cut_short_[static_cast<size_t>(listing)];
  if (!open || (cut_short && !budget_.exhausted_now())) {
    const auto timer = stages_.time("match");
    open = std::make_shared<OpenReads>(
        history_, listing != Listing::each, listing == Listing::late ? &rows_ : nullptr,
        listing >= Listing::aggregates ? std::span(aggregates_) : std::span<OpId>());
    open->add(matched_, budget_);
    open->add_possible(matched_, budget_);
    cut_short = budget_.exhausted_now();
  }
  return *open;
}

bool OpenProblem::has_sources() {
  if ((matched_.unresolved.empty() && aggregates_.empty()) || budget_.exhausted_now()) return false;
  if (!reads(for_orders()).obstacle().empty()) return false;
  if (!with_sources_) match_with_open_reads();
  return with_sources_.has_value();
}

// Matches anew, unless the budget runs out: reads with one possible source are facts, and
// transactions of unknown outcome that may have been seen may take effect.
void OpenProblem::match_with_open_reads() {
  const auto timer = stages_.time("match");
  const std::shared_ptr<OpenReads>& open = open_[static_cast<size_t>(for_orders())];
  std::vector<Seen> assumed;
  uint64_t left_open = 0;
  for (const OpenRead& r : open->all()) {
    const bool only = matched_.node_of(r.reader) != kNone && r.sources.size() == 1 &&
                      (r.sources[0] == kNone || matched_.node_of(r.sources[0]) != kNone);
    if (!only) ++left_open;
    for (const OpId op : only ? r.ops : std::vector<OpId>())
      if (open->aggregates().observes(op, r.key)) assumed.push_back({op, r.key, r.sources[0]});
  }
  std::sort(assumed.begin(), assumed.end());
  Problem problem = make_problem(history_, assumed, budget_,
                                 {.possible = open->possible(), .threads = options_.threads});
  stages_.count("open reads", left_open);
  if (budget_.exhausted_now()) return;
  problem.open = open;
  if (last_order_) problem.hint = hint_of_order(problem, *last_order_);
  with_sources_ = std::move(problem);
}

void OpenProblem::start_from(const Order& order) {
  last_order_ = order;
  if (with_sources_) with_sources_->hint = hint_of_order(*with_sources_, order);
}

bool OpenProblem::is_explained_by(const Order& order) {
  if (matched_.unresolved.empty()) return true;
  const OpenReads& open = reads(for_orders());
  return open.obstacle().empty() && order_explains(history_, open, order);
}

// Adds the skipped rows that an order contradicts. False if there are none: the order explains
// every query.
bool OpenProblem::add_contradicted_rows(const Order& order) {
  if (!late_rows_) return false;
  std::vector<SkippedRow> more;
  {
    const auto timer = stages_.time("rows passed over");
    more = contradicted(history_, order, reach_of_round(rounds_that_added_rows_));
  }
  if (more.empty()) return false;
  stages_.count("rows passed over", more.size());
  add_rows(rows_, more);
  add_late_rows(more);
  if (++rounds_that_added_rows_ > kMostRoundsThatAddRows)
    late_rows_ = false;  // there are too many to add them bit by bit
  return true;
}

// Adds the aggregates that an order does not explain. False if there are no new ones that the
// states of their keys decide: an engine either explains the others or does not know them.
bool OpenProblem::add_contradicted_aggregates(const Order& order) {
  if (!has_aggregates_) return false;
  std::vector<OpId> more;
  for (const AggregateTerms& one :
       decidable_aggregates(history_, unexplained_aggregates(history_, order)))
    if (!std::ranges::binary_search(aggregates_, one.op())) more.push_back(one.op());
  if (more.empty()) return false;
  stages_.count("aggregates as choices", more.size());
  aggregates_.insert(aggregates_.end(), more.begin(), more.end());
  std::sort(aggregates_.begin(), aggregates_.end());
  open_[static_cast<size_t>(Listing::aggregates)].reset();
  open_[static_cast<size_t>(Listing::late)].reset();
  with_sources_.reset();
  return true;
}

// Adds the rows to the open reads, or has these listed anew.
void OpenProblem::add_late_rows(std::span<const SkippedRow> rows) {
  const std::shared_ptr<OpenReads>& open = open_[static_cast<size_t>(Listing::late)];
  if (options_.speed_ups.has(SpeedUp::rows_in_search) && open && with_sources_ &&
      rounds_that_added_rows_ < kMostRoundsThatAddRows && open->add_rows(rows, *with_sources_))
    return;
  open_[static_cast<size_t>(Listing::late)].reset();
  with_sources_.reset();
}

// Skipped rows are added at two points: here while an order is searched, and the search continues
// with them; or, if the search cannot use them, after it has ended.
Judgement OpenProblem::search(const Problem& problem, const LevelInfo& level) {
  std::vector<SkippedRow> all = rows_;
  uint32_t round = rounds_that_added_rows_;
  const uint32_t last = std::max(round, kLastReachInSearch);
  const FindContradicted find = [&](const Order& order) {
    const auto timer = stages_.time("rows passed over");
    const uint32_t reach = reach_of_round(std::min(round++, last));
    std::vector<SkippedRow> more = contradicted(history_, order, reach);
    add_rows(all, more);
    stages_.count("rows passed over", all.size());
    return more;
  };
  const bool late =
      late_rows_ && options_.speed_ups.has(SpeedUp::rows_in_search) && problem.open != nullptr;
  Judgement found = decide(options_, problem, level, stages_, budget_, late ? &find : nullptr);
  if (all.size() > rows_.size()) rows_of_search_ = std::move(all);
  return found;
}

// Returns false if the search had found no such rows.
bool OpenProblem::take_over_rows_of_the_search() {
  if (rows_of_search_.empty()) return false;
  rows_ = std::move(rows_of_search_);
  rows_of_search_.clear();
  add_late_rows(rows_);
  return true;
}

}  // namespace assay::internal
