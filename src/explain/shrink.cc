// Delta debugging (Zeller and Hildebrandt 2002): leave out half of the parts, then each quarter,
// each eighth, …; whenever the rest still shows the fault, go on from there. First the parts are
// transactions, then single operations:
//
//   10,000 transactions → the 3 of a lost update → their 5 operations on one key
//
// A suspicion saves most of the work: if the transactions that an explanation names show the fault
// on their own, with the transactions they read from, shrinking starts from those. It takes O(p log
// p) to O(p²) checks for p parts, each of the remaining parts only, so most are cheap.
#include "explain/shrink.h"

#include <algorithm>
#include <string>
#include <utility>

#include "assay/verify.h"
#include "explain/explain.h"
#include "explain/witness.h"
#include "history/projection.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

// A range of operations that is left out or stays as a whole.
struct Part {
  OpId begin, end;
};

class Shrinker {
 public:
  Shrinker(const History& h, const Shows& shows, const ShrinkOptions& options)
      : h_(h), shows_(shows), options_(options), budget_(options.budget) {}

  Result<Shrunk> run() {
    best_keep_.assign(h_.op_count(), true);
    if (!adopt(best_keep_))
      return usage_error("the history does not have the violation to be shrunk");
    try_suspects();
    // Leaving out an operation may make a transaction superfluous, and the other way round.
    for (bool progress = true; progress && !out_of_budget();) {
      const size_t before = left();
      reduce(transactions());
      if (!options_.whole_transactions) reduce(operations());
      progress = left() < before;
    }
    Shrunk result;
    result.history = std::move(best_);
    result.origins = std::move(origins_);
    result.tries = tries_;
    result.complete = !out_of_budget();
    return result;
  }

 private:
  bool out_of_budget() { return tries_ >= options_.most_tries || budget_.exhausted_now(); }

  size_t left() const {
    return static_cast<size_t>(std::count(best_keep_.begin(), best_keep_.end(), true));
  }

  // Makes `keep` the best result so far if it shows the fault.
  bool adopt(const std::vector<bool>& keep) {
    ++tries_;
    std::vector<OpId> origins;
    Result<History> part = project(h_, keep, &origins);
    if (!part.ok() || !shows_(*part)) return false;
    best_keep_ = keep;
    best_ = std::move(*part);
    origins_ = std::move(origins);
    if (options_.progress) options_.progress(best_.txn_count(), best_.op_count());
    return true;
  }

  void try_suspects() {
    if (options_.suspects.empty()) return;
    // Tries the suspects alone, then with the writers of what they read.
    std::vector<TxnId> txns = options_.suspects;
    for (int round = 0; round < 2; ++round) {
      std::vector<bool> keep(h_.op_count(), false);
      for (const TxnId t : txns)
        for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) keep[i] = true;
      if (adopt(keep)) return;
      const std::vector<TxnId> sources = possible_sources(h_, options_.suspects);
      txns.insert(txns.end(), sources.begin(), sources.end());
    }
  }

  std::vector<Part> transactions() const {
    std::vector<Part> parts;
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (best_keep_[i]) {
          parts.push_back({h_.first_op(t), h_.end_op(t)});
          break;
        }
    return parts;
  }

  std::vector<Part> operations() const {
    std::vector<Part> parts;
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (best_keep_[i]) parts.push_back({i, i + 1});
    return parts;
  }

  void reduce(std::vector<Part> parts) {
    for (size_t chunk = (parts.size() + 1) / 2; chunk > 0;
         chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
      for (size_t at = 0; at < parts.size();) {
        if (out_of_budget()) return;
        const size_t end = std::min(parts.size(), at + chunk);
        if (end - at == parts.size()) break;  // nothing would be left
        std::vector<bool> keep = best_keep_;
        for (size_t i = at; i < end; ++i)
          std::fill(keep.begin() + parts[i].begin, keep.begin() + parts[i].end, false);
        if (adopt(keep)) {
          parts.erase(parts.begin() + static_cast<ptrdiff_t>(at),
                      parts.begin() + static_cast<ptrdiff_t>(end));
        } else {
          at = end;
        }
      }
    }
  }

  const History& h_;
  const Shows& shows_;
  const ShrinkOptions& options_;
  Budget budget_;
  std::vector<bool> best_keep_;
  History best_;
  std::vector<OpId> origins_;  // for best_
  uint64_t tries_ = 0;
};

// A part with more transactions is not explained: that may take longer than checking it.
constexpr uint32_t kSmall = 60;

// Whether two operations show the anomaly: by its place among the anomalies, or as an aggregate
// that no rows give.
bool is_of_two_operations(Anomaly anomaly) {
  return anomaly <= Anomaly::non_repeatable_read || anomaly == Anomaly::result_set_mismatch;
}

class SameFault {
 public:
  SameFault(LevelId level, Anomaly anomaly, CheckOptions checking)
      : level_(level), anomaly_(anomaly), checking_(std::move(checking)) {
    checking_.levels = {level};
    checking_.progress = nullptr;
  }

  // Allows other names for cycles, for what cannot be made small with the same name.
  void allow_other_names() { exact_ = false; }

  bool operator()(const History& h) const {
    const CheckResult result = decide_levels(h, checking_);
    const Verdict* verdict = result.find(level_);
    if (verdict == nullptr || verdict->outcome != Outcome::violated) return false;
    const Certificate& reason = result.certificates[verdict->certificate];
    if (!verify(reason, h).ok()) return false;
    const bool two_operations = is_of_two_operations(anomaly_);
    // A violation by two operations is named at the weakest level, where it may have another name.
    const bool by_two_operations = reason.kind == Certificate::Kind::bad_read;
    if (!by_two_operations && !two_operations && h.txn_count() > kSmall) return true;
    const std::vector<Explanation> explained = explain(h, result);
    const Explanation* found = find_explanation(explained, level_);
    if (found == nullptr) return false;
    if (by_two_operations || two_operations || exact_) return found->anomaly == anomaly_;
    return !is_of_two_operations(found->anomaly);
  }

 private:
  const LevelId level_;
  const Anomaly anomaly_;
  CheckOptions checking_;
  bool exact_ = true;
};

}  // namespace

Result<Shrunk> shrink(const History& history, const Shows& shows, const ShrinkOptions& options) {
  return Shrinker(history, shows, options).run();
}

Result<Shrunk> shrink_violation(const History& history, LevelId level, Anomaly anomaly,
                                CheckOptions checking, const ShrinkOptions& options) {
  SameFault same(level, anomaly, std::move(checking));
  Result<Shrunk> small = shrink(history, same, options);
  if (small.ok() && small->history.txn_count() <= kSmall) return small;
  same.allow_other_names();
  if (!small.ok()) return shrink(history, same, options);
  ShrinkOptions rest = options;
  rest.suspects.clear();
  Result<Shrunk> smaller = shrink(small->history, same, rest);
  if (!smaller.ok()) return small;
  smaller->tries += small->tries;
  return smaller;
}

}  // namespace assay::internal
