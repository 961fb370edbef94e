// The problem of a history with what its reads leave open. See open_problem.cc.
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

// Reads of a transaction see one state of a key. Adya's levels judge each read by itself.
inline bool sees_one_state(const LevelInfo& level) {
  return level.repeatable && level.events != EventModel::adya;
}

class OpenProblem {
 public:
  // The open part of the reads. each: of each read separately. one_state: of all that a transaction
  // saw of a key. aggregates: one_state, with the aggregates that some order did not explain. late:
  // aggregates, without the skipped rows that no order has contradicted yet.
  enum class Listing : uint8_t { each, one_state, aggregates, late };

  // All have to stay; `matched` may be made later.
  OpenProblem(const History& history, const Problem& matched, const CheckOptions& options,
              Stages& stages, Budget& budget);

  // For the levels that an order decides.
  Listing for_orders() const {
    return late_rows_            ? Listing::late
           : aggregates_.empty() ? Listing::one_state
                                 : Listing::aggregates;
  }
  static Listing listing_of(const LevelInfo& level) {
    return sees_one_state(level) ? Listing::one_state : Listing::each;
  }
  const OpenReads& reads(Listing listing);
  // The listings that were asked for; others are null.
  std::span<const std::shared_ptr<OpenReads>> listed() const { return open_; }

  // Whether reads have several possible sources, and no more than that is open about them.
  bool has_sources();
  // With all that is open, for engines that decide this as well.
  const Problem& for_search() { return has_sources() ? *with_sources_ : matched_; }
  // Whether the order also explains the reads that several writers could have explained.
  bool is_explained_by(const Order& order);

  // The result of `decide`. If it finds an order that contradicts skipped rows, or aggregates,
  // these become part of the problem, and `decide` is called again. Nothing once `refuted` says
  // that the level is refuted.
  template <class Decide, class Refuted>
  Judgement decide_with_orders(const Decide& decide, const Refuted& refuted) {
    for (;;) {
      const Problem& problem = for_search();
      if (budget_.exhausted_now())
        return Judgement::unknown(budget_.reason());  // matching anew, perhaps in the middle of it
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
  // For that: by the engine asked for.
  Judgement search(const Problem& problem, const LevelInfo& level);

 private:
  // After this many orders that contradict skipped rows, all rows are added.
  static constexpr uint32_t kMostRoundsThatAddRows = 12;

  // Each adds its kind of contradiction to the problem, and returns whether there was any: rows and
  // aggregates that the order contradicts, or rows that the search came across.
  bool add_contradicted(const Order& order) {
    const bool rows = add_contradicted_rows(order);
    return add_contradicted_aggregates(order) || rows;
  }
  bool add_contradicted_rows(const Order& order);
  bool add_contradicted_aggregates(const Order& order);
  bool take_over_rows_of_the_search();
  void add_late_rows(std::span<const SkippedRow> rows);
  void match_with_open_reads();
  // The next order that is looked for is to differ little from this one.
  void start_from(const Order& order);

  const History& history_;
  const Problem& matched_;
  const CheckOptions& options_;
  Stages& stages_;
  Budget& budget_;
  // By Listing; null until asked for.
  std::shared_ptr<OpenReads> open_[4];
  bool cut_short_[4] = {};  // of these: a share of the budget ran out, and the next may do
  const bool has_aggregates_;
  // Whether, at levels that an order decides, skipped rows are omitted until some order contradicts
  // them.
  bool late_rows_;
  std::vector<OpId> aggregates_;            // that some order did not explain, ascending
  std::vector<SkippedRow> rows_;            // ascending
  std::vector<SkippedRow> rows_of_search_;  // these and more, if there are any
  uint32_t rounds_that_added_rows_ = 0;
  std::optional<Order> last_order_;  // that explained all but a few rows or aggregates
  // With the sources that are the only possible ones, and with transactions of unknown outcome that
  // may take effect.
  std::optional<Problem> with_sources_;
};

}  // namespace assay::internal
