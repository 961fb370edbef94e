#include "oracle/statements.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "history/statements.h"

namespace assay::internal::oracle {
namespace {

constexpr size_t kMostStatementSituations = 300'000;

struct Statement {
  std::vector<Need> needs;
  std::vector<uint32_t> locks;  // keys that the transaction had not written before
};

class StatementReplay {
 public:
  StatementReplay(const History& h, const Footprints& small, TxnSet effective)
      : h_(h), small_(small), effective_(effective) {}

  Outcome run() {
    const size_t txns = small_.txns.size();
    for (size_t t = 0; t < txns; ++t) {
      statements_.push_back(statements_of(small_.txns[t]));
      if (takes_effect(t) && !small_.txns[t].contradiction.empty()) return Outcome::violated;
    }
    now_ = {std::vector<uint8_t>(txns, 0), std::vector<State>(small_.keys.size(), 0)};
    if (search()) return Outcome::satisfied;
    return exhausted_ ? Outcome::unknown : Outcome::violated;
  }

 private:
  // Per transaction the number of its executed events, and what each key holds.
  using Situation = std::pair<std::vector<uint8_t>, std::vector<State>>;

  bool takes_effect(size_t t) const { return contains(effective_, static_cast<int>(t)); }
  bool over(size_t t) const { return now_.first[t] > statements_[t].size(); }

  std::vector<Statement> statements_of(const Footprint& txn) const {
    std::vector<Statement> all;
    std::vector<KeyId> written;
    const OpId first = h_.first_op(txn.txn);
    for (OpId at = first; at < h_.end_op(txn.txn);) {
      Statement& one = all.emplace_back();
      const OpId end = end_of_statement(h_, txn.txn, at);
      for (const Observation& o : txn.observations)
        if (first + o.step >= at && first + o.step < end) one.needs.push_back(o.need);
      for (; at < end; ++at) {
        if (!installs_version(h_.op(at)) || std::ranges::count(written, h_.op(at).key)) continue;
        written.push_back(h_.op(at).key);
        for (uint32_t k = 0; k < small_.keys.size(); ++k)
          if (small_.keys[k].outside == h_.op(at).key && txn.install(k) != nullptr)
            one.locks.push_back(k);
      }
    }
    return all;
  }

  bool holds(size_t t, uint32_t key) const {
    if (over(t)) return false;
    for (size_t s = 0; s < now_.first[t]; ++s)
      if (std::ranges::count(statements_[t][s].locks, key)) return true;
    return false;
  }

  bool may_begin(size_t t) const {
    for (size_t other = 0; other < small_.txns.size(); ++other)
      if (takes_effect(other) && !over(other) &&
          session_before(h_, small_.txns[other], small_.txns[t]))
        return false;
    return true;
  }
  bool may_run(size_t t, const Statement& statement) const {
    for (const Need& need : statement.needs)
      if (!(need.accept & only(now_.second[need.key]))) return false;
    for (const uint32_t key : statement.locks)
      for (size_t other = 0; other < small_.txns.size(); ++other)
        if (other != t && takes_effect(other) && holds(other, key)) return false;
    return true;
  }
  bool may_commit(size_t t) const {
    return std::ranges::none_of(small_.known_order, [&](const std::pair<int, int>& order) {
      return order.second == static_cast<int>(t) && takes_effect(order.first) &&
             !over(static_cast<size_t>(order.first));
    });
  }

  bool may_come(size_t t) const {
    const size_t done = now_.first[t];
    if (done == 0 && !may_begin(t)) return false;
    return done < statements_[t].size() ? may_run(t, statements_[t][done]) : may_commit(t);
  }
  void execute(size_t t) {
    if (now_.first[t]++ < statements_[t].size()) return;
    for (const Install& put : small_.txns[t].installs)
      now_.second[put.key] = put.next[now_.second[put.key]];
  }

  // Executes statements that lock nothing: such a statement only frees others, so it may as well be
  // executed now.
  void read_what_can_be_read() {
    for (bool again = true; again;) {
      again = false;
      for (size_t t = 0; t < small_.txns.size(); ++t) {
        const size_t done = now_.first[t];
        if (!takes_effect(t) || done >= statements_[t].size() || !may_come(t)) continue;
        if (!statements_[t][done].locks.empty()) continue;
        execute(t);
        again = true;
      }
    }
  }

  // The recursion is as deep as there are events.
  bool search() {
    read_what_can_be_read();
    bool all_over = true;
    for (size_t t = 0; t < small_.txns.size(); ++t) all_over &= !takes_effect(t) || over(t);
    if (all_over) return true;
    if (!failed_.insert(now_).second) return false;
    if (failed_.size() > kMostStatementSituations) exhausted_ = true;
    for (size_t t = 0; t < small_.txns.size() && !exhausted_; ++t) {
      if (!takes_effect(t) || over(t) || !may_come(t)) continue;
      const Situation here = now_;
      execute(t);
      if (search()) return true;
      now_ = here;
    }
    return false;
  }

  const History& h_;
  const Footprints& small_;
  const TxnSet effective_;
  std::vector<std::vector<Statement>> statements_;  // per transaction
  Situation now_;
  std::set<Situation> failed_;
  bool exhausted_ = false;
};

}  // namespace

Outcome statements_replayable(const History& h, const Footprints& small, TxnSet effective) {
  return StatementReplay(h, small, effective).run();
}

}  // namespace assay::internal::oracle
