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
#include <string_view>
#include <unordered_map>

#include "base/json.h"
#include "certify/schedule_verifier.h"
#include "predict/split.h"

namespace assay::internal::predict {
namespace {

// "leave (on-call.sql:7)" is the program leave.
std::string program_of(std::string_view meta_text) {
  if (meta_text.empty()) return {};
  const auto meta = Json::parse(meta_text);
  if (!meta.is_object() || !meta.contains("ran") || !meta["ran"].is_string()) return {};
  const std::string ran(meta["ran"].text());
  return ran.substr(0, ran.find(" ("));
}

class Predictor {
 public:
  Predictor(const History& history, Budget& budget) : h_(history), budget_(budget) {}

  // The programs, and what their transactions do.
  Status read() {
    const uint32_t count = h_.txn_count();
    std::map<std::string, std::vector<TxnId>> programs;
    std::vector<std::string> names(count);
    std::unordered_map<std::string_view, std::string> known;  // by meta
    for (TxnId t = 0; t < count; ++t) {
      const auto [found, is_new] = known.try_emplace(h_.meta(t));
      if (is_new) found->second = program_of(h_.meta(t));
      names[t] = found->second;
    }
    for (TxnId t = 0; t < count; ++t) sessions_.push_back(h_.session(t));
    // What nobody's program did is the load, and the last look at all keys.
    const bool named = std::ranges::any_of(names, [](const std::string& n) { return !n.empty(); });
    std::vector<bool> committed(count), attempted(count);
    for (TxnId t = 0; t < count; ++t) {
      attempted[t] = h_.first_op(t) != h_.end_op(t) && !(named && names[t].empty());
      committed[t] = attempted[t] && h_.status(t) == TxnStatus::committed;
      if (committed[t]) programs[names[t]].push_back(t);
      if (attempted[t] && !committed[t]) attempts_[names[t]].push_back(t);
    }
    for (auto& [name, txns] : programs) programs_.push_back({name, std::move(txns), {}});
    auto steps = Steps::of(h_, committed, budget_);
    if (!steps.ok()) return steps.error();
    committed_ = std::move(*steps);
    if (attempts_.empty()) return Ok{};
    auto all = Steps::of(h_, attempted, budget_);
    if (!all.ok()) return all.error();
    attempted_ = std::move(*all);
    return Ok{};
  }

  void predict(Isolation isolation) {
    const std::vector<Isolation> same(h_.txn_count(), isolation);
    Splits splits(committed_, same);
    std::optional<Splits> with_attempts;
    if (!attempts_.empty()) with_attempts.emplace(attempted_, same);
    for (Program& program : programs_) {
      Prediction& p = program.predictions.emplace_back();
      p.isolation = isolation;
      break_committed(program, splits, same, p);
      if (p.answer == Prediction::Answer::holds && with_attempts)
        break_attempts(program, *with_attempts, p);
      if (budget_.exhausted() && p.answer != Prediction::Answer::breaks) {
        p.answer = Prediction::Answer::unknown;
        p.reason = budget_.reason().detail;
      }
    }
  }

  void allocate() {
    const Steps& steps = attempts_.empty() ? committed_ : attempted_;
    std::vector<Isolation> at(h_.txn_count(), Isolation::ssi);
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
                       Prediction& p) {
    p.answer = Prediction::Answer::holds;
    for (const Splits::Terms& terms :
         {Splits::Terms{&sessions_, true}, Splits::Terms{nullptr, true}, Splits::Terms{}})
      for (const TxnId t : program.txns) {
        const auto split = splits.find(t, budget_, terms);
        if (!split) continue;
        certify::Schedule schedule = schedule_of(*split, committed_, at);
        const Status s = certify::verify_schedule(schedule, h_);
        if (s.ok()) {
          p.answer = Prediction::Answer::breaks;
          p.schedule = std::move(schedule);
          return;
        }
        p.answer = Prediction::Answer::unknown;
        p.reason = "a candidate schedule cannot run: " + s.error().message;
      }
  }

  void break_attempts(const Program& program, Splits& splits, Prediction& p) {
    std::vector<TxnId> txns = program.txns;
    if (const auto others = attempts_.find(program.name); others != attempts_.end())
      txns.insert(txns.end(), others->second.begin(), others->second.end());
    if (std::ranges::none_of(txns,
                             [&](TxnId t) { return splits.find(t, budget_, {}).has_value(); }))
      return;
    p.answer = Prediction::Answer::unknown;
    p.reason = "only a schedule with an attempt that did not commit goes wrong";
  }

  void put(const Program& program, Isolation isolation, std::vector<Isolation>& at) const {
    for (const TxnId t : program.txns) at[t] = isolation;
    if (const auto others = attempts_.find(program.name); others != attempts_.end())
      for (const TxnId t : others->second) at[t] = isolation;
  }

  // One of the program's transactions, or one that is at ssi.
  bool somebody_splits(Splits& splits, const Program& program, const std::vector<Isolation>& at) {
    const Isolation own = at[program.txns.front()];
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if ((at[t] == own || at[t] == Isolation::ssi) && splits.find(t, budget_, {})) return true;
    return budget_.exhausted();
  }

  const History& h_;
  Budget& budget_;
  std::vector<Program> programs_;
  std::map<std::string, std::vector<TxnId>> attempts_;  // of programs, that did not commit
  std::vector<SessionId> sessions_;                     // per transaction
  Steps committed_, attempted_;                         // attempted_: with these
};

}  // namespace

Result<std::vector<Program>> predict(const History& history,
                                     const std::vector<Isolation>& isolations, bool allocates,
                                     Budget& budget) {
  Predictor predictor(history, budget);
  if (Status s = predictor.read(); !s.ok()) return s.error();
  for (const Isolation isolation : isolations) predictor.predict(isolation);
  if (allocates) predictor.allocate();
  return predictor.take();
}

}  // namespace assay::internal::predict
