#include "certify/order_verifier.h"

#include "base/parallel.h"
#include "certify/adya_order_verifier.h"
#include "certify/mixed_order_verifier.h"
#include "certify/operations.h"
#include "certify/refusal.h"
#include "certify/replay.h"
#include "certify/statement_order_verifier.h"
#include "certify/weak_order_verifier.h"
#include "history/aggregate.h"

namespace assay::internal::certify {
Status OrderVerifier::supports(LevelId level) {
  if (const Status& s = well_formed(); !s.ok()) return s;
  if (const Status& s = follows_known_orders(); !s.ok()) return s;
  const LevelInfo& info = history_.level(level);
  if (info.events == EventModel::statements) return serves_statements();
  if (moved_ != kNone)
    return refuse("the order has an event of transaction {} twice", history_.name(moved_));
  if (info.events == EventModel::mixed) return serves_mixed();
  if (info.events == EventModel::adya) return serves_adya(info);
  return info.events == EventModel::weak ? serves_weak(info) : serves_strong(info);
}

// At a level with dirty reads the order may also be checked as at a level with clean reads: then
// updates make orders of versions known.
Status OrderVerifier::serves_adya(const LevelInfo& level) {
  if (order_.split) return refuse("an order for Adya's levels has one event per transaction");
  constexpr ForbiddenCycle kWithReads[] = {{"wr"}};
  Status s = serves_adya_where_known(level.forbidden, read_rule(level));
  return s.ok() || read_rule(level) == ReadRule::clean
             ? s
             : serves_adya_where_known(kWithReads, ReadRule::clean);
}

Status OrderVerifier::serves_adya_where_known(std::span<const ForbiddenCycle> forbidden,
                                              ReadRule rule) {
  // Replayed as whole transactions, with its versions in this order, too, every dependency points
  // forward.
  Status replayed = replays();
  if (replayed.ok()) replayed = known_as_replayed(rule);
  if (replayed.ok() || has_open_aggregates(history_)) return replayed;
  // Otherwise the given sources say that other versions were seen.
  const Result<CommitOrder>& order = adya_commit_order();
  if (!order.ok() && replays().ok()) return replayed;
  if (order.ok()) {
    if (Status s = leaves_no_cycle(forbidden, history_, *order); !s.ok()) return s;
    return rule == ReadRule::dirty ? known_as_replayed(rule) : known_as_read();
  }
  if (rule == ReadRule::clean) return order.error();
  if (Status s = dirty_order_serves(lookups_.writes(), order_.events); !s.ok()) return s;
  return known_as_replayed(rule);
}

Status OrderVerifier::serves_weak(const LevelInfo& level) {
  if (level.session_order)
    if (const Status& s = follows_sessions(); !s.ok()) return s;
  if (const Status& s = replays(); s.ok() || order_.split || has_open_aggregates(history_))
    return s;
  // What a transaction sees at a weak level it also sees at a stronger one.
  if (weak_ && implies(*weak_, level.id)) return Ok{};
  const Result<CommitOrder>& order = commit_order();
  if (!order.ok()) return order.error();
  Status s = commit_order_serves(level, history_, *order);
  if (s.ok()) weak_ = level.id;
  return s;
}

Status OrderVerifier::serves_mixed() {
  if (const Status& s = follows_sessions(); !s.ok()) return s;
  if (has_open_aggregates(history_))
    return refuse("aggregates have no meaning for mixed levels yet");
  return mixed_order_serves(lookups_.writes(), order_);
}

Status OrderVerifier::serves_strong(const LevelInfo& level) {
  Status in_time = Ok{};
  // The results are remembered, and examined in order below.
  call_all(
      threads_, [&] { replays(); },
      [&] {
        if (level.session_order) follows_sessions();
        if (level.write_conflict) writers_exclude_each_other();
        in_time = check_time(level.real_time);
      });
  if (const Status& s = replays(); !s.ok()) return s;
  if (level.events == EventModel::single)
    if (Status s = check_one_event(); !s.ok()) return s;
  if (level.session_order)
    if (const Status& s = follows_sessions(); !s.ok()) return s;
  if (level.write_conflict)
    if (const Status& s = writers_exclude_each_other(); !s.ok()) return s;
  if (level.single_operations)
    if (Status s = check_one_operation(); !s.ok()) return s;
  return in_time;
}

Status OrderVerifier::serves_statements() {
  if (const Status& s = follows_sessions(); !s.ok()) return s;
  return statement_order_serves(history_, order_);
}

const Result<CommitOrder>& OrderVerifier::commit_order() {
  return commit_order_.get(
      [&] { return CommitOrder::build(lookups_.writes(), order_.events, order_.sources); });
}

const KnownVersions& OrderVerifier::versions() {
  return versions_.get([&] { return KnownVersions(lookups_, order_.events); });
}
const Status& OrderVerifier::known_as_replayed(ReadRule rule) {
  Once<Status>& known = rule == ReadRule::dirty ? known_dirty_ : known_replayed_;
  return known.get([&] { return KnownVersions(versions()).as_replayed(rule); });
}
const Status& OrderVerifier::known_as_read() {
  return known_read_.get([&] { return KnownVersions(versions()).as_read(*adya_commit_order()); });
}

const Result<CommitOrder>& OrderVerifier::adya_commit_order() {
  return adya_commit_order_.get([&] {
    return CommitOrder::build(lookups_.writes(), order_.events, order_.sources,
                              NotReturned::anywhere);
  });
}

const Status& OrderVerifier::well_formed() {
  return well_formed_.get([&]() -> Status {
    read_place_.assign(history_.txn_count(), kNone);
    write_place_.assign(history_.txn_count(), kNone);
    if (order_.events.size() > 2 * uint64_t{history_.txn_count()} + history_.op_count())
      return refuse(
          "the order has {} events, but the history has only {} transactions and {} operations",
          order_.events.size(), history_.txn_count(), history_.op_count());
    for (size_t i = 0; i < order_.events.size(); ++i)
      if (Status s = place(order_.events[i], static_cast<uint32_t>(2 * i)); !s.ok()) return s;
    for (TxnId t = 0; t < history_.txn_count(); ++t) {
      if ((read_place_[t] == kNone) != (write_place_[t] == kNone))
        return refuse("the order has only one of the two events of transaction {}",
                      history_.name(t));
      if (!present(t) && history_.status(t) == TxnStatus::committed)
        return refuse("committed transaction {} is missing from the order", history_.name(t));
    }
    return Ok{};
  });
}

// Records one event. A transaction with one event has r at `at` and w right after it.
Status OrderVerifier::place(uint32_t event, uint32_t at) {
  const TxnId t = txn(event);
  if (t >= history_.txn_count())
    return refuse("event {} of the order belongs to no transaction", event);
  if (history_.status(t) == TxnStatus::aborted)
    return refuse("the order has transaction {}, which aborted", history_.name(t));
  const bool reads = !order_.split || event % 2 == 0;
  const bool writes = !order_.split || event % 2 == 1;
  if (write_place_[t] != kNone)
    return refuse("the order has an event of transaction {} twice", history_.name(t));
  if (!reads && read_place_[t] == kNone)
    return refuse("the order installs the writes of transaction {} before its reads",
                  history_.name(t));
  if (reads && read_place_[t] != kNone) moved_ = t;
  if (reads) read_place_[t] = std::min(read_place_[t], at);
  if (writes) write_place_[t] = at + 1;
  return Ok{};
}

const Status& OrderVerifier::replays() {
  return replays_.get([&]() -> Status {
    Replay replay(history_);
    for (uint32_t event : order_.events) {
      const TxnId t = txn(event);
      if (!order_.split || event % 2 == 0)
        if (Status s = replay.read(t); !s.ok()) return s;
      if (!order_.split || event % 2 == 1)
        if (Status s = replay.install(t); !s.ok()) return s;
    }
    return Ok{};
  });
}

// Checks that w of each committed transaction comes before r of everything later in its session.
const Status& OrderVerifier::follows_sessions() {
  return sessions_.get([&]() -> Status {
    for (SessionId s = 0; s < history_.session_count(); ++s) {
      TxnId last = kNone;
      for (TxnId t : history_.session_txns(s)) {
        if (!present(t)) continue;
        if (last != kNone && write_place_[last] > read_place_[t])
          return refuse(
              "the order puts transaction {} before transaction {}, which is earlier in its "
              "session",
              history_.name(t), history_.name(last));
        if (history_.status(t) == TxnStatus::committed) last = t;
      }
    }
    return Ok{};
  });
}

const Status& OrderVerifier::follows_known_orders() {
  return known_orders_.get([&]() -> Status {
    const StatedOrders& stated = lookups_.stated();
    if (!stated.contradiction().empty()) return refuse("{}", stated.contradiction());
    if (const std::string why = source_contradiction(history_); !why.empty())
      return refuse("{}", why);
    for (size_t line = 0; line < stated.lines(); ++line) {
      TxnId last = kNone;
      for (const TxnId t : stated.named(line)) {
        if (t == kNone) continue;
        if (!present(t))
          return refuse("the order lacks transaction {}, which a stated order of versions names",
                        history_.name(t));
        if (last != kNone && write_place_[last] > write_place_[t])
          return refuse(
              "the order installs the versions of transaction {} before those of transaction {}, "
              "against the order "
              "of versions that the history states",
              history_.name(t), history_.name(last));
        last = t;
      }
    }
    return Ok{};
  });
}

// Checks that, between r and w of a transaction, no other holds the keys that it writes.
const Status& OrderVerifier::writers_exclude_each_other() {
  return exclusion_.get([&]() -> Status {
    if (!order_.split) return Ok{};
    std::vector<TxnId> holder(history_.key_count(), kNone);
    for (uint32_t event : order_.events) {
      const TxnId t = txn(event);
      const bool begins = event % 2 == 0;
      for (const Access& a : accesses(history_, t)) {
        if (!a.writes()) continue;
        if (begins && holder[a.key] != kNone && holder[a.key] != t)
          return refuse("transactions {} and {} overlap in the order and both write {}",
                        history_.name(holder[a.key]), history_.name(t),
                        history_.key(a.key).to_string());
        holder[a.key] = begins ? t : kNone;
      }
    }
    return Ok{};
  });
}

Status OrderVerifier::check_one_event() const {
  if (!order_.split) return Ok{};
  for (size_t i = 0; i + 1 < order_.events.size(); i += 2)
    if (txn(order_.events[i]) != txn(order_.events[i + 1]))
      return refuse("the order separates the reads of transaction {} from its writes",
                    history_.name(txn(order_.events[i])));
  return Ok{};
}

Status OrderVerifier::check_one_operation() const {
  for (TxnId t = 0; t < history_.txn_count(); ++t) {
    if (present(t) && !is_one_operation(history_, t))
      return refuse(
          "linearizability needs one operation on one key per transaction; transaction {} has more",
          history_.name(t));
  }
  return Ok{};
}

Status OrderVerifier::check_time(RealTime rule) {
  if (rule == RealTime::none) return Ok{};
  if (!history_.fully_timed())
    return refuse("the level needs the begin and end time of every committed transaction");
  if (!sweep_) sweep_.emplace(history_, read_place_, write_place_);
  return sweep_->respects(rule);
}

}  // namespace assay::internal::certify
