// The problem of a history together with what its reads leave open. See open_problem.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/check.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "infer/skipped_rows.h"
#include "infer/stages.h"
#include "levels/strong.h"

namespace assay::internal {

// Whether the reads of a transaction see one state of a key. Adya's levels judge each read by
// itself.
inline bool sees_one_state(const LevelInfo& level) {
  return level.repeatable && level.events != EventModel::adya;
}

class OpenProblem {
 public:
  // Which reads are listed as open. each: each read separately. one_state: all that a transaction
  // saw of a key together. aggregates: one_state, and the aggregates that some order did not
  // explain. late: aggregates, without the skipped rows that no order has contradicted yet.
  enum class Listing : uint8_t { each, one_state, aggregates, late };

  // All arguments must outlive it; `matched` may be made later.
  OpenProblem(const History& history, const Problem& matched, const CheckOptions& options,
              Stages& stages, Budget& budget);

  // The listing for levels that an order decides.
  Listing for_orders() const {
    return late_rows_            ? Listing::late
           : aggregates_.empty() ? Listing::one_state
                                 : Listing::aggregates;
  }
  static Listing listing_of(const LevelInfo& level) {
    return sees_one_state(level) ? Listing::one_state : Listing::each;
  }
  const OpenReads& reads(Listing listing);
  // The listings that were asked for; the others are null.
  std::span<const std::shared_ptr<OpenReads>> listed() const { return open_; }

  // Whether reads have several possible sources, and nothing else is open about them.
  bool has_sources();
  // The problem with all that is open, for engines that decide this, too.
  const Problem& for_search() { return has_sources() ? *with_sources_ : matched_; }
  // Whether the order also explains the reads that several writers could have explained.
  bool is_explained_by(const Order& order);

  // Returns the result of `decide`. If it is an order that contradicts skipped rows or aggregates,
  // these become part of the problem, and `decide` is called again. nullopt once `refuted` says
  // that the level is refuted.
  template <class Decide, class Refuted>
  Judgement decide_with_orders(const Decide& decide, const Refuted& refuted) {
    for (;;) {
      const Problem& problem = for_search();
      if (budget_.exhausted_now())
        return Judgement::unknown(budget_.reason());  // matching anew ran out of budget, perhaps
                                                      // midway
      Judgement found = decide(problem);
      const bool search_added = take_over_rows_of_the_search();
      if (found.outcome() != Outcome::satisfied) return found;
      const Order& order = found.certificate.order;
      const bool again = is_explained_by(order) ? add_contradicted(order) : search_added;
      if (!again) return found;
      start_from(order);
      if (search_added && ++rounds_that_added_rows_ > kMostRoundsThatAddRows) late_rows_ = false;
      if (refuted()) return {};
    }
  }
  // The search of the engine that was asked for; `decide` calls it.
  Judgement search(const Problem& problem, const LevelInfo& level);

 private:
  // After this many orders that contradict skipped rows, all rows are added.
  static constexpr uint32_t kMostRoundsThatAddRows = 12;

  // Each of these adds its kind of contradiction to the problem, and returns whether there was any:
  // rows and aggregates that the order contradicts, or rows that the search came across.
  bool add_contradicted(const Order& order) {
    const bool rows = add_contradicted_rows(order);
    return add_contradicted_aggregates(order) || rows;
  }
  bool add_contradicted_rows(const Order& order);
  bool add_contradicted_aggregates(const Order& order);
  bool take_over_rows_of_the_search();
  void add_late_rows(std::span<const SkippedRow> rows);
  void match_with_open_reads();
  // Makes the search for the next order start from this one.
  void start_from(const Order& order);

  const History& history_;
  const Problem& matched_;
  const CheckOptions& options_;
  Stages& stages_;
  Budget& budget_;
  // Indexed by Listing; null until asked for.
  std::shared_ptr<OpenReads> open_[4];
  bool cut_short_[4] = {};  // for these: whether a share of the budget ran out; with the next share
                            // the listing may succeed
  const bool has_aggregates_;
  // Whether, at levels that an order decides, skipped rows are omitted until some order contradicts
  // them.
  bool late_rows_;
  std::vector<OpId> aggregates_;            // those that some order did not explain, ascending
  std::vector<SkippedRow> rows_;            // ascending
  std::vector<SkippedRow> rows_of_search_;  // these and more, if the search added any
  uint32_t rounds_that_added_rows_ = 0;
  std::optional<Order> last_order_;  // an order that explained all but a few rows or aggregates
  // The problem in which reads with one possible source are facts, with transactions of unknown
  // outcome that may take effect.
  std::optional<Problem> with_sources_;
};

}  // namespace assay::internal
