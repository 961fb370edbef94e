// Each transaction is examined once for each isolation; those of a program, until the verifier
// accepts a schedule.
//
// To find which isolation each program needs, all begin at ssi, where nothing can go wrong. One
// after another gets the weakest isolation at which none of its transactions can be cut, nor any of
// the transactions that are still at ssi. The result does not depend on the order in which they are
// taken (Vandevoort, Ketsman and Neven, PODS 2023), unless reads lock rows: then ssi may be worse
// than something weaker, and read committed for all is tried first.
//
//   deposit: w(savings)   withdraw: r(savings) r(checking) w(checking)   report: r(savings)
//                                                                        r(checking)
//   If withdraw is cut, report sees deposit's money without withdraw's. So withdraw needs ssi; and
//   so do the others, since what ssi refuses is a structure of transactions that are all at ssi.
//
// Cost: that of the splits (predict/split.h), for each isolation; for the allocation, for each
// program twice.

#include "predict/prediction.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "certify/robustness_verifier.h"
#include "certify/schedule_verifier.h"
#include "predict/gaps.h"
#include "predict/split.h"
#include "predict/txn_meta.h"

namespace assay::internal::predict {
namespace {

// Gathers why transactions cannot be cut.
class Gathered {
 public:
  void add(TxnId t, std::vector<Uncut> uncut) { txns_[std::move(uncut)].push_back(t); }
  certify::Robustness take(std::vector<certify::Robustness::Program> programs) {
    certify::Robustness all{std::move(programs), {}};
    while (!txns_.empty()) {
      auto same = txns_.extract(txns_.begin());
      all.transactions.push_back({std::move(same.mapped()), std::move(same.key())});
    }
    return all;
  }

 private:
  std::map<std::vector<Uncut>, std::vector<TxnId>> txns_;
};

class Predictor {
 public:
  Predictor(const History& history, Budget& budget) : h_(history), budget_(budget) {}

  // Reads the programs, and what their transactions do.
  Status read() {
    const uint32_t count = h_.txn_count();
    std::map<std::string, std::vector<TxnId>> programs;
    std::vector<std::string> names(count);
    std::unordered_map<std::string_view, TxnId> known;  // programs by meta
    for (TxnId t = 0; t < count; ++t) {
      const auto [found, is_new] = known.try_emplace(h_.meta(t), t);
      metas_.push_back(is_new ? meta_of(h_.meta(t)) : metas_[found->second]);
      names[t] = metas_[t].program;
      sessions_.push_back(h_.session(t));
    }
    // Transactions without a program are the load, and the last look at all keys.
    const bool named = std::ranges::any_of(names, [](const std::string& n) { return !n.empty(); });
    std::vector<bool> committed(count), attempted(count);
    bool all_committed = true;
    for (TxnId t = 0; t < count; ++t) {
      attempted[t] = (h_.first_op(t) != h_.end_op(t) || !metas_[t].is_whole()) &&
                     !(named && names[t].empty()) && !metas_[t].defines;
      committed[t] = attempted[t] && h_.status(t) == TxnStatus::committed;
      if (committed[t]) programs[names[t]].push_back(t);
      if (attempted[t]) txns_[names[t]].push_back(t);
      all_committed = all_committed && committed[t] == attempted[t];
    }
    for (auto& [name, txns] : programs) programs_.push_back({name, std::move(txns), {}});
    const Gaps gaps(h_, metas_);
    auto steps = Steps::of(h_, committed, Gaps(), budget_);
    if (!steps.ok()) return steps.error();
    committed_ = std::move(*steps);
    if (all_committed && gaps.empty()) return Ok{};
    // A transaction that was recorded only in part may conflict because of what is missing,
    // whatever its program.
    for (TxnId t = 0; t < count; ++t)
      attempted[t] = attempted[t] || (!metas_[t].is_whole() && !metas_[t].defines);
    auto all = Steps::of(h_, attempted, gaps, budget_);
    if (!all.ok()) return all.error();
    possible_ = std::move(*all);
    return Ok{};
  }

  void predict(Isolation isolation, size_t most_schedules) {
    const std::vector<Isolation> same = all_at(isolation);
    Splits splits(committed_, same);
    std::optional<Splits> possible;
    if (possible_) possible.emplace(*possible_, same);
    for (Program& program : programs_) {
      Prediction& p = program.predictions.emplace_back();
      p.isolation = isolation;
      Gathered gathered;
      break_committed(program, splits, same, most_schedules, p, gathered);
      if (p.answer == Prediction::Answer::holds && possible)
        break_possible(program, *possible, p, gathered);
      if (p.answer == Prediction::Answer::holds && !budget_.exhausted())
        prove(p, gathered.take(programs_at(same, &program.name)));
      if (budget_.exhausted() && p.answer != Prediction::Answer::breaks) {
        p.answer = Prediction::Answer::unknown;
        p.reason = budget_.reason().detail;
      }
    }
  }

  void allocate() {
    if (programs_.empty()) return;
    const Steps& steps = possible_ ? *possible_ : committed_;
    // If rows are locked for reading, this isolation may be enough for all, although going program
    // by program does not get there.
    std::vector<Isolation> at = all_at(Isolation::read_committed);
    Splits splits(steps, at);
    const bool will_do = !any_splits(splits, programs_.front(), at);
    if (!will_do) at = all_at(Isolation::ssi);
    for (Program& program : programs_)
      if (will_do)
        program.needs = Isolation::read_committed;
      else
        weaken(program, splits, at);
    Gathered gathered;
    bool held = true;
    for (const auto& [name, txns] : txns_) held = held && !split_of(txns, splits, gathered);
    if (held && !budget_.exhausted()) {
      allocation_ = gathered.take(programs_at(at, nullptr));
      if (verified(*allocation_).ok()) return;
    }
    allocation_.reset();
    for (Program& program : programs_) program.needs.reset();
  }

  Predicted take() { return {std::move(programs_), std::move(allocation_)}; }

 private:
  // Looks for splits that a client could cause first, then for any.
  void break_committed(const Program& program, Splits& splits, const std::vector<Isolation>& at,
                       size_t most, Prediction& p, Gathered& gathered) {
    p.answer = Prediction::Answer::holds;
    std::set<TxnId> cut;
    for (const Splits::Terms& terms :
         {Splits::Terms{&sessions_, true}, Splits::Terms{nullptr, true}, Splits::Terms{}})
      for (const TxnId t : program.txns) {
        if (p.schedules.size() == most) return;
        if (cut.contains(t)) continue;
        std::vector<Uncut> uncut;
        const auto split = splits.find(t, budget_, terms, &uncut);
        if (!split) {
          if (!terms.keeps_inserts) gathered.add(t, std::move(uncut));
          continue;
        }
        certify::Schedule schedule = schedule_of(*split, committed_, at);
        const Status s = certify::verify_schedule(schedule, h_);
        if (s.ok()) {
          cut.insert(t);
          p.answer = Prediction::Answer::breaks;
          p.schedules.push_back(std::move(schedule));
        } else if (p.answer != Prediction::Answer::breaks) {
          p.answer = Prediction::Answer::unknown;
          p.reason = "a candidate schedule cannot run: " + s.error().message;
        }
      }
  }

  // Looks for splits with attempts that did not commit, and with unrecorded operations.
  void break_possible(const Program& program, Splits& splits, Prediction& p, Gathered& gathered) {
    gathered = {};
    const auto split = split_of(txns_.at(program.name), splits, gathered);
    if (!split) return;
    p.answer = Prediction::Answer::unknown;
    p.reason = missing_for(*split);
  }

  void prove(Prediction& p, certify::Robustness proof) {
    const Status s = verified(proof);
    if (s.ok()) {
      p.proof = std::move(proof);
      return;
    }
    p.answer = Prediction::Answer::unknown;
    p.reason = "the verifier refuses that it holds: " + s.error().message;
  }

  // The first split, if one of the transactions can be cut; otherwise gathers why they cannot.
  std::optional<Split> split_of(const std::vector<TxnId>& txns, Splits& splits,
                                Gathered& gathered) {
    for (const TxnId t : txns) {
      std::vector<Uncut> uncut;
      if (auto split = splits.find(t, budget_, {}, &uncut)) return split;
      gathered.add(t, std::move(uncut));
    }
    return std::nullopt;
  }

  Status verified(const certify::Robustness& proof) {
    if (!verifier_) {
      auto made = certify::RobustnessVerifier::of(h_);
      if (!made.ok()) return made.error();
      verifier_ = std::move(*made);
    }
    return verifier_->verify(proof);
  }

  // `holds`: whether each program holds; null: all do.
  std::vector<certify::Robustness::Program> programs_at(const std::vector<Isolation>& at,
                                                        const std::string* holds) const {
    std::vector<certify::Robustness::Program> all;
    for (const auto& [name, txns] : txns_)
      all.push_back({name, at[txns.front()], holds == nullptr || name == *holds});
    return all;
  }

  // Why it is unknown whether this split is possible.
  std::string missing_for(const Split& split) const {
    std::vector<TxnId> members = {split.txn};
    members.insert(members.end(), split.between.begin(), split.between.end());
    for (const TxnId t : members)
      if (const TxnMeta& meta = metas_[t]; !meta.is_whole())
        return "not all of " + h_.name(t) + " was recorded" +
               (meta.why.empty() ? "" : ", as " + meta.why.front());
    return "only a schedule that includes an attempt that did not commit goes wrong";
  }

  // The isolation of a transaction without a program is unknown: one is assumed that excludes no
  // other.
  std::vector<Isolation> all_at(Isolation isolation) const {
    std::vector<Isolation> at(h_.txn_count(), Isolation::read_committed);
    for (const auto& [name, txns] : txns_)
      for (const TxnId t : txns) at[t] = isolation;
    return at;
  }

  void put(const Program& program, Isolation isolation, std::vector<Isolation>& at) const {
    for (const TxnId t : txns_.at(program.name)) at[t] = isolation;
  }

  void weaken(Program& program, Splits& splits, std::vector<Isolation>& at) {
    program.needs = Isolation::ssi;
    for (const Isolation isolation : {Isolation::read_committed, Isolation::snapshot}) {
      put(program, isolation, at);
      if (!any_splits(splits, program, at)) {
        program.needs = isolation;
        return;
      }
      put(program, Isolation::ssi, at);
    }
  }

  // Whether one of the program's transactions, or one that is at ssi, can be cut.
  bool any_splits(Splits& splits, const Program& program, const std::vector<Isolation>& at) {
    const Isolation own = at[program.txns.front()];
    return std::ranges::any_of(txns_,
                               [&](const auto& of) {
                                 return std::ranges::any_of(of.second, [&](TxnId t) {
                                   return (at[t] == own || at[t] == Isolation::ssi) &&
                                          splits.find(t, budget_, {});
                                 });
                               }) ||
           budget_.exhausted();
  }

  const History& h_;
  Budget& budget_;
  std::vector<Program> programs_;
  std::map<std::string, std::vector<TxnId>>
      txns_;                         // of programs, including attempts that did not commit
  std::vector<SessionId> sessions_;  // indexed by transaction
  std::vector<TxnMeta> metas_;       // indexed by transaction
  Steps committed_;
  std::optional<certify::RobustnessVerifier> verifier_;
  std::optional<certify::Robustness> allocation_;
  std::optional<Steps> possible_;  // with attempts and unrecorded operations, if there are any
};

}  // namespace

Result<Predicted> predict(const History& history, const Asked& asked, Budget& budget) {
  Predictor predictor(history, budget);
  if (Status s = predictor.read(); !s.ok()) return s.error();
  for (const Isolation isolation : asked.isolations)
    predictor.predict(isolation, asked.most_schedules);
  if (asked.allocates) predictor.allocate();
  return predictor.take();
}

}  // namespace assay::internal::predict
