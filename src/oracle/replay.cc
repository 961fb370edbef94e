#include "oracle/replay.h"

#include <bit>

#include "oracle/state_set.h"

namespace assay::internal::oracle {
namespace {

using EventSet = uint32_t;

constexpr uint64_t kMaxSituations = 300'000;

class Replay {
 public:
  Replay(const History& h, const Footprints& small, const OrderRule& rule, TxnSet effective)
      : h_(h), small_(small), rule_(rule), effective_(effective), states_(small.keys.size(), 0) {}

  Outcome run();

 private:
  int reads(int t) const { return rule_.split ? 2 * t : t; }
  int writes(int t) const { return rule_.split ? 2 * t + 1 : t; }
  int txn(int event) const { return rule_.split ? event / 2 : event; }
  bool is_reads(int event) const { return !rule_.split || event % 2 == 0; }
  bool is_writes(int event) const { return !rule_.split || event % 2 == 1; }

  bool prepare();
  void order_events();
  bool enforces(bool a_commit, bool b_commit) const;
  bool may_come(int event) const;
  bool changes_nothing(int event) const;
  void execute(int event);
  bool dead_end() const;
  bool search(EventSet done);
  std::array<uint64_t, 2> situation() const;

  const History& h_;
  const Footprints& small_;
  const OrderRule rule_;
  const TxnSet effective_;
  std::vector<EventSet> before_;           // per event: the events that must come before
  std::vector<TxnSet> rivals_;             // per transaction: others that write one of its keys
  std::vector<uint32_t> tracked_;          // keys that are both read and written
  std::vector<uint32_t> open_;             // tracked keys with several writers: the events done do
                                           // not tell their state
  std::vector<TxnSet> readers_, writers_;  // per key
  EventSet all_ = 0;
  EventSet done_ = 0;
  std::vector<State> states_;
  StateSet failed_;
  bool exhausted_ = false;
};

bool Replay::enforces(bool a_commit, bool b_commit) const {
  switch (rule_.real_time) {
    case RealTime::none:
      return false;
    case RealTime::into_commits:
      return b_commit;
    case RealTime::all_but_begins:
      return a_commit || b_commit;
    case RealTime::transactions:
      return a_commit && !b_commit;
  }
  return false;
}

void Replay::order_events() {
  const int n = static_cast<int>(small_.txns.size());
  before_.assign(static_cast<size_t>(rule_.split ? 2 * n : n), 0);
  const auto add = [&](int a, int b) {
    if (a != b) before_[b] |= EventSet{1} << a;
  };
  for (int a = 0; a < n; ++a) {
    if (!contains(effective_, a)) continue;
    const Footprint& from = small_.txns[a];
    if (rule_.split) add(reads(a), writes(a));
    for (int b = 0; b < n; ++b) {
      if (a == b || !contains(effective_, b)) continue;
      const Footprint& to = small_.txns[b];
      if (rule_.session_order && session_before(h_, from, to)) add(writes(a), reads(b));
      for (const bool a_commit : {false, true}) {
        for (const bool b_commit : {false, true}) {
          if (!enforces(a_commit, b_commit) || !time_before(h_, from, a_commit, to, b_commit))
            continue;
          add(a_commit ? writes(a) : reads(a), b_commit ? writes(b) : reads(b));
        }
      }
    }
  }
  for (const auto& [a, b] : small_.known_order) {
    if (contains(effective_, a) && contains(effective_, b)) add(writes(a), writes(b));
  }
}

// Returns false if some transaction contradicts itself.
bool Replay::prepare() {
  const int n = static_cast<int>(small_.txns.size());
  readers_.assign(small_.keys.size(), 0);
  writers_.assign(small_.keys.size(), 0);
  for (int t = 0; t < n; ++t) {
    if (!contains(effective_, t)) continue;
    const Footprint& f = small_.txns[t];
    if (!f.contradiction.empty()) return false;
    all_ |= EventSet{1} << reads(t) | EventSet{1} << writes(t);
    for (const Need& need : f.needs) readers_[need.key] |= TxnSet{1} << t;
    for (const Install& put : f.installs) writers_[put.key] |= TxnSet{1} << t;
  }
  rivals_.assign(static_cast<size_t>(n), 0);
  for (uint32_t k = 0; k < small_.keys.size(); ++k) {
    if (readers_[k] != 0 && writers_[k] != 0) {
      tracked_.push_back(k);
      if (std::popcount(writers_[k]) > 1) open_.push_back(k);
    }
    for (int t = 0; t < n; ++t) {
      if (contains(writers_[k], t)) rivals_[t] |= writers_[k] & ~(TxnSet{1} << t);
    }
  }
  order_events();
  return true;
}

bool Replay::may_come(int event) const {
  if ((done_ >> event & 1u) || (before_[event] & ~done_) != 0) return false;
  if (!is_reads(event)) return true;
  const Footprint& f = small_.txns[txn(event)];
  if (rule_.split && rule_.write_conflict) {
    for (TxnSet left = rivals_[txn(event)]; left != 0; left &= left - 1) {
      const int rival = std::countr_zero(left);
      if ((done_ >> reads(rival) & 1u) && !(done_ >> writes(rival) & 1u)) return false;
    }
  }
  for (const Need& need : f.needs) {
    if (!(need.accept & only(states_[need.key]))) return false;
  }
  return true;
}

// Whether an event only frees others, so it may as well be executed now.
bool Replay::changes_nothing(int event) const {
  const bool writer = !small_.txns[txn(event)].installs.empty();
  if (!writer) return true;
  return rule_.split && is_reads(event) && !rule_.write_conflict;
}

void Replay::execute(int event) {
  done_ |= EventSet{1} << event;
  if (!is_writes(event)) return;
  for (const Install& put : small_.txns[txn(event)].installs) {
    states_[put.key] = put.next[states_[put.key]];
  }
}

// Whether a key that is still to be read is in a state that neither fits the read nor can become
// one that does.
bool Replay::dead_end() const {
  for (const uint32_t k : tracked_) {
    for (TxnSet left = readers_[k]; left != 0; left &= left - 1) {
      const int t = std::countr_zero(left);
      if (done_ >> reads(t) & 1u) continue;
      const States accept = small_.txns[t].need(k)->accept;
      if (accept & only(states_[k])) continue;
      if (small_.keys[k].is_list) {
        if (!(accept & small_.keys[k].extensions[states_[k]])) return true;
        continue;
      }
      States possible = 0;
      for (TxnSet w = writers_[k]; w != 0; w &= w - 1) {
        const int writer = std::countr_zero(w);
        if (writer == t || (done_ >> writes(writer) & 1u)) continue;
        possible |= only(small_.txns[writer].install(k)->next[0]);
      }
      if (!(accept & possible)) return true;
    }
  }
  return false;
}

// Returns the executed events, and the states of the open keys that still matter, six bits each.
std::array<uint64_t, 2> Replay::situation() const {
  std::array<uint64_t, 2> packed = {done_, 0};
  int at = 32;
  for (const uint32_t k : open_) {
    bool matters = false;
    for (TxnSet left = readers_[k]; left != 0; left &= left - 1) {
      matters |= !(done_ >> reads(std::countr_zero(left)) & 1u);
    }
    const uint64_t state = matters ? states_[k] : 0;
    if (at + 6 <= 64) {
      packed[0] |= state << at;
    } else {
      packed[1] |= state << (at - 62);
    }
    at += 6;
  }
  return packed;
}

// The recursion is as deep as there are events, at most 32.
bool Replay::search(EventSet done) {
  done_ = done;
  const std::vector<State> states = states_;
  for (bool again = true; again;) {
    again = false;
    for (int e = 0; e < static_cast<int>(before_.size()); ++e) {
      if (!(all_ >> e & 1u) || !changes_nothing(e) || !may_come(e)) continue;
      execute(e);
      again = true;
    }
  }
  if (done_ == all_) return true;
  if (!dead_end() && failed_.insert(situation())) {
    if (failed_.size() > kMaxSituations) exhausted_ = true;
    const EventSet here = done_;
    for (int e = 0; e < static_cast<int>(before_.size()) && !exhausted_; ++e) {
      if (!(all_ >> e & 1u) || !may_come(e)) continue;
      execute(e);
      if (search(done_)) return true;
      done_ = here;
      states_ = states;
    }
  }
  states_ = states;
  return false;
}

Outcome Replay::run() {
  if (!prepare()) return Outcome::violated;
  if (open_.size() > kMaxKeys) return Outcome::unknown;
  for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t) {
    if (!contains(effective_, t)) continue;
    for (const Need& need : small_.txns[t].needs) {
      if (writers_[need.key] == 0 && !(need.accept & only(0))) return Outcome::violated;
    }
  }
  if (search(0)) return Outcome::satisfied;
  return exhausted_ ? Outcome::unknown : Outcome::violated;
}

}  // namespace

Outcome replayable(const History& h, const Footprints& small, const OrderRule& rule,
                   TxnSet effective) {
  return Replay(h, small, rule, effective).run();
}

}  // namespace assay::internal::oracle
