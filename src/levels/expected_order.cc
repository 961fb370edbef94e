// A database may say in which order its transactions took effect: by commit timestamps, by its log,
// or by what an engineer believes. Replaying that order decides in one pass whether it explains
// what the clients saw.
//
//   commit_ts:  A 1   B 2   C 3          A { w(x,1) }   B { w(y,2) }   C { r(x,1) r(y,null) }
//
//   C should have seen B's 2. The order does not explain the history, though it is serializable: A,
//   C, B. So rejection says nothing about a level; it says that the database's own account of what
//   it did is wrong. An order that does explain the history is a certificate.
//
// One total order is replayed at serializable. Start and commit timestamps together are replayed at
// snapshot isolation: a transaction reads what had been committed at its start, writers of the same
// key do not overlap, and a session's transactions do not either. Of events with the same
// timestamp, commits come before starts. At strong-si, moreover, no transaction that began after
// another one had ended starts before the commit of that one: the latest begin of the transactions
// that have started is known at each commit.
//
// Cost: sorting, and one pass over the operations. Clark and others, "Validating Database System
// Isolation Level Implementations with Version Certificate Recovery", EuroSys 2024 (Enne); Li and
// others, "Online Timestamp-based Transactional Isolation Checking of Database Systems", ICDE 2025
// (Chronos).

#include "levels/expected_order.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <unordered_map>

#include "history/aggregate.h"
#include "history/logged.h"
#include "infer/replay.h"
#include "infer/stated_sources.h"
#include "infer/touched_keys.h"

namespace assay::internal {
namespace {

// A place in an order. Of several places at one time, commits come first, then transactions that
// write nothing or start.
struct Place {
  int64_t time = std::numeric_limits<int64_t>::min();
  enum class Rank : uint8_t { commit, instant, start } rank = Rank::commit;
  auto operator<=>(const Place&) const = default;
};

struct PlacedEvent {
  Place place;
  TxnId txn;
  bool write;
  auto operator<=>(const PlacedEvent&) const = default;
};

std::string describe(const History& h, TxnId t) { return "transaction " + h.name(t); }

// The transactions in the order, and the place of each transaction.
class Places {
 public:
  Places(const Problem& problem, const ExpectedOrder& expected)
      : h_(*problem.history), problem_(problem), by_(expected.by), place_(h_.txn_count()) {
    installs_.assign(h_.txn_count(), 0);
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t) && !installs_[t]; ++i)
        installs_[t] = installs_version(h_.op(i));
    if (by_ == ExpectedOrder::By::log) {
      const std::vector<std::string> logged = logged_transactions(h_);
      if (logged.empty())
        fail("the history does not state the places of its transactions in a log");
      take_names(logged);
    } else if (is_list()) {
      take_names(expected.names);
    } else {
      for (TxnId t = 0; t < h_.txn_count(); ++t) place_by_time(t);
    }
    place_the_others();
  }

  const std::string& obstacle() const { return obstacle_; }

  // One event per transaction.
  std::vector<PlacedEvent> single_events() const {
    std::vector<PlacedEvent> events;
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (place_[t]) events.push_back({*place_[t], t, true});
    std::sort(events.begin(), events.end());
    return events;
  }

  // Two events per transaction. nullopt if the times of some transactions are not known.
  std::vector<PlacedEvent> split_events() const {
    std::vector<PlacedEvent> events;
    if (is_list()) return events;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (!place_[t]) continue;
      const int64_t start = h_.start_ts(t), commit = installs_[t] ? h_.commit_ts(t) : start;
      if (start == Interval::kUnknown || commit == Interval::kUnknown) return {};
      const bool instant = start == commit;
      events.push_back({{start, instant ? Place::Rank::instant : Place::Rank::start}, t, false});
      events.push_back({{commit, instant ? Place::Rank::instant : Place::Rank::commit}, t, true});
    }
    std::sort(events.begin(), events.end());
    return events;
  }

 private:
  bool is_list() const { return by_ == ExpectedOrder::By::log || by_ == ExpectedOrder::By::listed; }

  void fail(std::string why) {
    if (obstacle_.empty()) obstacle_ = std::move(why);
  }

  void take_names(const std::vector<std::string>& names) {
    std::unordered_map<std::string, TxnId> by_name;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (!by_name.emplace(h_.name(t), t).second)
        fail("two transactions have the name " + h_.name(t));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const auto it = by_name.find(names[i]);
      if (it == by_name.end()) {
        fail("it names " + names[i] + ", and the history has no transaction of that name");
      } else if (h_.status(it->second) == TxnStatus::aborted) {
        fail("it names " + names[i] + ", which aborted");
      } else if (place_[it->second]) {
        fail("it names " + names[i] + " twice");
      } else {
        place_[it->second] = Place{static_cast<int64_t>(i), Place::Rank::commit};
      }
    }
  }

  void place_by_time(TxnId t) {
    if (h_.status(t) == TxnStatus::aborted) return;
    const int64_t start = h_.start_ts(t), commit = h_.commit_ts(t);
    const bool known = start != Interval::kUnknown && commit != Interval::kUnknown;
    if (known && commit < start) fail(describe(h_, t) + " has a commit_ts before its start_ts");
    int64_t time = by_ == ExpectedOrder::By::start_ts ? start : commit;
    if (time == Interval::kUnknown && !installs_[t]) time = start;
    if (time == Interval::kUnknown) return;
    place_[t] = Place{time, installs_[t] ? Place::Rank::commit : Place::Rank::instant};
  }

  // A transaction that wrote nothing may be anywhere after the transactions that it read from, and
  // the earliest such place is as good as any.
  void place_the_others() {
    for (Node n = 0; n < problem_.nodes(); ++n) {
      const TxnId t = problem_.txn[n];
      if (place_[t]) continue;
      if (installs_[t]) return fail(describe(h_, t) + " has no place in it");
      const auto open =
          std::lower_bound(problem_.unresolved.begin(), problem_.unresolved.end(), h_.first_op(t));
      if (open != problem_.unresolved.end() && *open < h_.end_op(t))
        return fail(describe(h_, t) +
                    " has no place in it, and its read has several possible sources");
      Place last;
      for (const ExternalRead& read : problem_.reads[n]) {
        const TxnId source =
            read.write == kNone ? kNone : problem_.txn[problem_.writes.node[read.write]];
        if (source != kNone && place_[source]) last = std::max(last, *place_[source]);
      }
      last.rank = std::max(last.rank, Place::Rank::instant);
      place_[t] = last;
    }
  }

  const History& h_;
  const Problem& problem_;
  ExpectedOrder::By by_;
  std::vector<uint8_t> installs_;            // indexed by transaction
  std::vector<std::optional<Place>> place_;  // indexed by transaction; nullopt if it does not take
                                             // effect
  std::string obstacle_;
};

// Stops at the first fault.
class FindsFault : public ReplayVisitor {
 public:
  FindsFault(const History& history, const std::optional<TouchedKeys>& keys, const LevelInfo& level,
             Budget& budget)
      : h_(history),
        keys_(keys ? &*keys : nullptr),
        level_(level),
        budget_(budget),
        split_(level.events == EventModel::split),
        writing_(split_ ? history.key_count() : 0, kNone),
        started_(split_ && level.session_order ? history.session_count() : 0) {
    found_.level = level.id;
  }

  const OrderReplay& found() const { return found_; }

  bool reads(TxnId t, const KeysHeld& held) {
    if (budget_.exhausted()) return false;
    const auto fail = [&](OpId op, KeyId key, TxnId writer) {
      found_.op = op;
      found_.key = key;
      return fault(OrderReplay::Fault::operation, t, writer);
    };
    const bool explained = each_read(
        h_, t, held, keys_,
        [&](const Observation& seen, const Held& meets) {
          if (fits(h_, seen, meets.state) && !is_from_another(seen, meets.writer)) return true;
          return fail(seen.op, seen.key, meets.writer);
        },
        [&](OpId op, std::span<const VersionId> others, std::span<const VersionId> own) {
          const std::span<const VersionId> read = elements_of(h_, op);
          const bool same = read.size() == others.size() + own.size() &&
                            std::equal(others.begin(), others.end(), read.begin()) &&
                            std::equal(own.rbegin(), own.rend(), read.rbegin());
          const KeyId key = h_.op(op).key;
          return same || fail(op, key, own.empty() ? held[key].writer : t);
        });
    return explained && (!split_ || start(t));
  }

  bool installs(TxnId t, const KeysHeld&) {
    if (!keeps_real_time(t)) return false;
    if (!split_) return true;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (installs_version(h_.op(i))) writing_[h_.op(i).key] = kNone;
    if (started_.empty()) return true;
    if (TxnId& open = started_[h_.session(t)].open; open == t) open = kNone;
    return true;
  }

 private:
  // Whether the history states another source of the read. For rows it states nothing.
  bool is_from_another(const Observation& seen, TxnId writer) const {
    if (is_range(h_.op(seen.op)) || h_.stated_source(seen.op) == kNone) return false;
    const TxnId stated = stated_source(h_, seen.op);
    return stated != kNone && stated != (writer == kNone ? kInitialTxn : writer);
  }

  bool start(TxnId t) {
    if (level_.session_order && !follow_session(t)) return false;
    const int64_t begin = h_.begin_time(t).request;
    if (latest_ == kNone || h_.begin_time(latest_).request < begin) latest_ = t;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (!installs_version(h_.op(i))) continue;
      const KeyId key = h_.op(i).key;
      if (writing_[key] != kNone && writing_[key] != t) {
        found_.key = key;
        return fault(OrderReplay::Fault::overlap, t, writing_[key]);
      }
      writing_[key] = t;
    }
    return true;
  }

  // Checks the session's order. What follows a transaction of unknown outcome in its session need
  // not wait for it.
  bool follow_session(TxnId t) {
    Started& started = started_[h_.session(t)];
    const bool committed = h_.status(t) == TxnStatus::committed;
    const auto comes_before = [this](TxnId a, TxnId b) { return h_.position(a) < h_.position(b); };
    if (committed && started.last != kNone && comes_before(t, started.last))
      return fault(OrderReplay::Fault::session, started.last, t);
    if (started.open != kNone && comes_before(started.open, t))
      return fault(OrderReplay::Fault::session, t, started.open);
    if (started.last == kNone || comes_before(started.last, t)) started.last = t;
    if (committed) started.open = t;
    return true;
  }

  // Fails if a transaction has started that began after this one had ended. A transaction of
  // unknown outcome has no end.
  bool keeps_real_time(TxnId t) {
    if (level_.real_time != RealTime::all_but_begins || h_.status(t) != TxnStatus::committed)
      return true;
    if (latest_ == kNone || h_.begin_time(latest_).request <= h_.end_time(t).response) return true;
    return fault(OrderReplay::Fault::real_time, latest_, t);
  }

  // Notes the fault; always false.
  bool fault(OrderReplay::Fault fault, TxnId t, TxnId other) {
    found_.fault = fault;
    found_.txn = t;
    found_.other = other;
    return false;
  }

  // For a session: the last transaction in its order that has started, and the one that has started
  // and not committed. There is at most one, apart from those of unknown outcome.
  struct Started {
    TxnId last = kNone, open = kNone;
  };

  const History& h_;
  const TouchedKeys* keys_;  // null: there are no ranges
  const LevelInfo& level_;
  Budget& budget_;
  bool split_;
  std::vector<TxnId>
      writing_;  // split, indexed by key: the transaction that has started and will write it
  std::vector<Started> started_;  // split, indexed by session
  TxnId latest_ = kNone;          // the last to begin of the transactions that have started
  OrderReplay found_;
};

Order order_of(const std::vector<PlacedEvent>& events, bool split) {
  Order order;
  order.split = split;
  order.events.reserve(events.size());
  for (const PlacedEvent& event : events)
    order.events.push_back(split ? 2 * event.txn + (event.write ? 1 : 0) : event.txn);
  return order;
}

// Why some operation cannot be replayed.
std::string obstacle_in(const Problem& problem, const std::optional<TouchedKeys>& keys) {
  const History& h = *problem.history;
  if (problem.found.mixed != kNone)
    return "key " + h.key(problem.found.mixed).to_string() + " is used as a list and as a register";
  if (!keys) return {};
  for (const TxnId t : problem.txn) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!is_range(h.op(i))) continue;
      if (is_open(h, i)) return describe(h, t) + " has an aggregate, which is not replayed";
      for (const KeyId key : keys->covered(i))
        if (keys->is_list(key)) return describe(h, t) + " reads a range with lists in it";
    }
  }
  return {};
}

}  // namespace

ExpectedReplays replay_expected_order(const Problem& problem, const ExpectedOrder& expected,
                                      ReplayModels models, Budget& budget) {
  const History& history = *problem.history;
  ExpectedReplays all;
  std::optional<TouchedKeys> keys;
  for (OpId i = 0; i < history.op_count() && !keys; ++i)
    if (is_range(history.op(i))) keys.emplace(history);
  const Places places(problem, expected);
  all.obstacle = places.obstacle();
  if (all.obstacle.empty()) all.obstacle = obstacle_in(problem, keys);
  if (!all.obstacle.empty()) return all;
  const auto replay = [&](LevelId level, const std::vector<PlacedEvent>& events) {
    FindsFault visitor(history, keys, level_info(level), budget);
    Order order = order_of(events, level_info(level).events == EventModel::split);
    internal::replay(history, order, visitor);
    const OrderReplay& result = visitor.found();
    const bool explains = result.fault == OrderReplay::Fault::none;
    all.replays.push_back({result, explains ? std::move(order) : Order{}});
    return result.fault;
  };
  const std::vector<PlacedEvent> events =
      models.split ? places.split_events() : std::vector<PlacedEvent>();
  if (models.single || events.empty()) replay(LevelId::serializable, places.single_events());
  using Fault = OrderReplay::Fault;
  if (!events.empty()) {
    const Fault fault = replay(LevelId::session_si, events);
    if (fault == Fault::session) replay(LevelId::adya_si, events);
    if (fault == Fault::none && models.strong) replay(LevelId::strong_si, events);
  }
  if (budget.exhausted_now()) all = {{}, budget.reason().detail};
  return all;
}

}  // namespace assay::internal
