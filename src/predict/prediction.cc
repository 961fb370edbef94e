// A transaction is looked at once for each isolation; of a program, until the verifier accepts a schedule.
//
// Which isolation each program needs: all begin at ssi, where nothing can go wrong. One after the other is put at the weakest that leaves
// none of its transactions to be cut, and none of those that are still at ssi. The result does not depend on the order in which they are
// taken (Vandevoort, Ketsman and Neven, PODS 2023).
//
//   deposit: w(savings)   withdraw: r(savings) r(checking) w(checking)   report: r(savings) r(checking)
//   Cut withdraw, and report sees deposit's money without withdraw's. So withdraw needs ssi; and the others too, for what ssi
//   refuses is a structure of transactions that are all at ssi.
//
// Cost: that of the splits (predict/split.h), for each isolation; for the allocation, for each program twice.

#include "predict/prediction.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "certify/schedule_verifier.h"
#include "predict/gaps.h"
#include "predict/split.h"
#include "predict/told.h"

namespace assay::internal::predict {
namespace {

class Predictor {
 public:
  Predictor(const History& history, Budget& budget) : h_(history), budget_(budget) {}

  // The programs, and what their transactions do.
  Status read() {
    const uint32_t count = h_.txn_count();
    std::map<std::string, std::vector<TxnId>> programs;
    std::vector<std::string> names(count);
    std::unordered_map<std::string_view, TxnId> known;  // by meta
    for (TxnId t = 0; t < count; ++t) {
      const auto [found, is_new] = known.try_emplace(h_.meta(t), t);
      told_.push_back(is_new ? told_of(h_.meta(t)) : told_[found->second]);
      names[t] = told_[t].program;
      sessions_.push_back(h_.session(t));
    }
    // What nobody's program did is the load, and the last look at all keys.
    const bool named = std::ranges::any_of(names, [](const std::string& n) { return !n.empty(); });
    std::vector<bool> committed(count), attempted(count);
    for (TxnId t = 0; t < count; ++t) {
      attempted[t] = (h_.first_op(t) != h_.end_op(t) || !told_[t].is_whole()) &&
                     !(named && names[t].empty()) && !told_[t].defines;
      committed[t] = attempted[t] && h_.status(t) == TxnStatus::committed;
      if (committed[t]) programs[names[t]].push_back(t);
      if (attempted[t] && !committed[t]) attempts_[names[t]].push_back(t);
    }
    for (auto& [name, txns] : programs) programs_.push_back({name, std::move(txns), {}});
    const Gaps gaps(h_, told_);
    auto steps = Steps::of(h_, committed, Gaps(), budget_);
    if (!steps.ok()) return steps.error();
    committed_ = std::move(*steps);
    if (attempts_.empty() && gaps.empty()) return Ok{};
    // Somebody else's, of whom only some is known, may run in a gap.
    for (TxnId t = 0; t < count; ++t)
      attempted[t] = attempted[t] || (!told_[t].is_whole() && !told_[t].defines);
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
      break_committed(program, splits, same, most_schedules, p);
      if (p.answer == Prediction::Answer::holds && possible) break_possible(program, *possible, p);
      if (budget_.exhausted() && p.answer != Prediction::Answer::breaks) {
        p.answer = Prediction::Answer::unknown;
        p.reason = budget_.reason().detail;
      }
    }
  }

  void allocate() {
    const Steps& steps = possible_ ? *possible_ : committed_;
    std::vector<Isolation> at = all_at(Isolation::ssi);
    Splits splits(steps, at);
    for (Program& program : programs_) {
      program.needs = Isolation::ssi;
      for (const Isolation isolation : {Isolation::read_committed, Isolation::snapshot}) {
        put(program, isolation, at);
        if (!somebody_splits(splits, program, at)) {
          program.needs = isolation;
          break;
        }
        put(program, Isolation::ssi, at);
      }
    }
    if (budget_.exhausted())
      for (Program& program : programs_) program.needs.reset();
  }

  std::vector<Program> take() { return std::move(programs_); }

 private:
  // Looks for what a client could do first, then for anything.
  void break_committed(const Program& program, Splits& splits, const std::vector<Isolation>& at,
                       size_t most, Prediction& p) {
    p.answer = Prediction::Answer::holds;
    std::set<TxnId> cut;
    for (const Splits::Terms& terms :
         {Splits::Terms{&sessions_, true}, Splits::Terms{nullptr, true}, Splits::Terms{}})
      for (const TxnId t : program.txns) {
        if (p.schedules.size() == most) return;
        if (cut.contains(t)) continue;
        const auto split = splits.find(t, budget_, terms);
        if (!split) continue;
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

  // By attempts that did not commit, and by what was not recorded.
  void break_possible(const Program& program, Splits& splits, Prediction& p) {
    std::vector<TxnId> txns = program.txns;
    if (const auto others = attempts_.find(program.name); others != attempts_.end())
      txns.insert(txns.end(), others->second.begin(), others->second.end());
    for (const TxnId t : txns) {
      const auto split = splits.find(t, budget_, {});
      if (!split) continue;
      p.answer = Prediction::Answer::unknown;
      p.reason = missing_for(*split);
      return;
    }
  }

  // Why nobody can tell whether this split is possible.
  std::string missing_for(const Split& split) const {
    std::vector<TxnId> members = {split.txn};
    members.insert(members.end(), split.between.begin(), split.between.end());
    for (const TxnId t : members)
      if (const Told& told = told_[t]; !told.is_whole())
        return "not all of " + h_.name(t) + " was recorded" +
               (told.why.empty() ? "" : ", as " + told.why.front());
    return "only a schedule with an attempt that did not commit goes wrong";
  }

  // Of those that are no program's nobody knows at which they run: at one that keeps nobody out.
  std::vector<Isolation> all_at(Isolation isolation) const {
    std::vector<Isolation> at(h_.txn_count(), Isolation::read_committed);
    for (const Program& program : programs_) put(program, isolation, at);
    for (const auto& [name, txns] : attempts_)
      for (const TxnId t : txns) at[t] = isolation;
    return at;
  }

  void put(const Program& program, Isolation isolation, std::vector<Isolation>& at) const {
    for (const TxnId t : program.txns) at[t] = isolation;
    if (const auto others = attempts_.find(program.name); others != attempts_.end())
      for (const TxnId t : others->second) at[t] = isolation;
  }

  // One of the program's transactions, or one that is at ssi.
  bool somebody_splits(Splits& splits, const Program& program, const std::vector<Isolation>& at) {
    const Isolation own = at[program.txns.front()];
    const auto splits_any = [&](const std::vector<TxnId>& txns) {
      return std::ranges::any_of(txns, [&](TxnId t) {
        return (at[t] == own || at[t] == Isolation::ssi) && splits.find(t, budget_, {});
      });
    };
    return std::ranges::any_of(programs_, [&](const Program& p) { return splits_any(p.txns); }) ||
           std::ranges::any_of(attempts_, [&](const auto& of) { return splits_any(of.second); }) ||
           budget_.exhausted();
  }

  const History& h_;
  Budget& budget_;
  std::vector<Program> programs_;
  std::map<std::string, std::vector<TxnId>> attempts_;  // of programs, that did not commit
  std::vector<SessionId> sessions_;                     // per transaction
  std::vector<Told> told_;                              // per transaction
  Steps committed_;
  std::optional<Steps> possible_;  // with attempts, and with what was not recorded, if there is any
};

}  // namespace

Result<std::vector<Program>> predict(const History& history, const Asked& asked, Budget& budget) {
  Predictor predictor(history, budget);
  if (Status s = predictor.read(); !s.ok()) return s.error();
  for (const Isolation isolation : asked.isolations)
    predictor.predict(isolation, asked.most_schedules);
  if (asked.allocates) predictor.allocate();
  return predictor.take();
}

}  // namespace assay::internal::predict
