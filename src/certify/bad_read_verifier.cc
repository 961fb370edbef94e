#include "certify/bad_read_verifier.h"

#include <algorithm>

#include "certify/aggregates.h"
#include "certify/operations.h"
#include "certify/reads.h"
#include "certify/refusal.h"
#include "certify/sources.h"
#include "history/mixed_levels.h"
#include "history/statements.h"

namespace assay::internal::certify {
namespace {

class Claim {
 public:
  Claim(const BadRead& claim, const Lookups& lookups)
      : claim_(claim),
        lookups_(lookups),
        writes_(lookups.writes()),
        history_(lookups.history()),
        sources_(writes_),
        reader_(history_.txn_of(claim.read)) {}

  Status check();
  // Used at pl-1: checks that no other transaction ever wrote the version that was read.
  Status check_dirty();

 private:
  bool in_reader(OpId i) const { return history_.txn_of(i) == reader_; }
  // Whether the operation returns the version that it saw, and does nothing else.
  bool is_read(OpId i) const {
    const Access a = access_of(history_, i);
    return a.accepts == Accepts::equals && !a.writes();
  }
  bool is_list(OpId i) const { return access_of(history_, i).accepts == Accepts::list; }
  bool before_read(OpId i) const { return in_reader(i) && i < claim_.read; }
  bool writes(OpId i) const { return access_of(history_, i).writes(); }
  bool writes_version(OpId i, VersionId v) const {
    const Access a = access_of(history_, i);
    return a.writes() && a.version == v;
  }
  bool wrote_before_read(VersionId v) const;

  bool explained(const Observation& seen) const;
  bool shown_by(const Observation& seen) const;
  bool puts(OpId write, const Observation& seen) const;
  bool nothing_shows(const Observation& seen) const;
  bool bad_element(VersionId element) const;
  bool bad_list() const;
  bool out_of_place(std::span<const VersionId> elements, size_t i) const;
  bool dirty_state() const;
  bool non_repeatable(const std::vector<Observation>& all, const Observation& seen) const;
  bool one_state_shows_both(const Observation& a, const Observation& b) const;
  bool is_tombstone(VersionId v) const;

  const BadRead& claim_;
  const Lookups& lookups_;
  const Writes& writes_;
  const History& history_;
  const Sources sources_;
  const TxnId reader_;
};

bool Claim::wrote_before_read(VersionId v) const {
  for (const Access& a : accesses_before(history_, claim_.read))
    if (a.writes() && a.version == v) return true;
  return false;
}

// Whether something that may have happened explains the observation.
bool Claim::explained(const Observation& seen) const {
  if (seen.external()) return seen.initial || may_be_left(writes_, seen, reader_);
  return puts(seen.own_write, seen);
}

// Whether the write leaves, at least for a while, the state that was read.
bool Claim::puts(OpId write, const Observation& seen) const {
  const Access a = access_of(history_, write);
  return a.writes() && a.key == seen.key && seen.version != kNone &&
         shows(history_, state_after(history_.txn_of(write), a), seen.version);
}

// Whether no write explains the read, not even an aborted or an overwritten one: only the reader
// itself, later, leaves the key absent.
bool Claim::nothing_shows(const Observation& seen) const {
  return seen.external() && is_read(seen.op) && !sources_.explained_by_any(seen.op, seen.key);
}

// Whether `other` is the operation that the name of the anomaly requires, for an observation that
// is not explained.
bool Claim::shown_by(const Observation& seen) const {
  const OpId other = claim_.other;
  const bool others_write = other != kNone && !in_reader(other) && puts(other, seen) &&
                            (seen.stated == kNone || seen.stated == history_.txn_of(other));
  const bool own_write_before = other != kNone && before_read(other) && writes(other) &&
                                access_of(history_, other).key == seen.key && !seen.external();
  switch (claim_.anomaly) {
    case Anomaly::thin_air_read:
      return other == kNone && !seen.initial &&
             (writes_.showing(seen.key, seen.version, Which::all).empty() || nothing_shows(seen));
    case Anomaly::aborted_read:
      return others_write && history_.status(history_.txn_of(other)) == TxnStatus::aborted;
    case Anomaly::intermediate_read:
      return others_write && is_overwritten(history_, other);
    case Anomaly::future_read:
      // A compare-and-set reads before it writes, so it may itself be the later write.
      return other != kNone && in_reader(other) && other >= claim_.read &&
             writes_version(other, seen.version);
    case Anomaly::not_my_last_write:
      return own_write_before && wrote_before_read(seen.version);
    case Anomaly::not_my_own_write:
      return own_write_before && !wrote_before_read(seen.version);
    default:
      return false;
  }
}

// Whether an element anywhere in a list was appended by no transaction that may count.
bool Claim::bad_element(VersionId element) const {
  if (!writes_.of_version(element, Which::counting).empty()) return false;
  if (claim_.anomaly == Anomaly::thin_air_read)
    return claim_.other == kNone && writes_.of_version(element, Which::all).empty();
  return claim_.anomaly == Anomaly::aborted_read && claim_.other != kNone &&
         writes_version(claim_.other, element) &&
         history_.status(history_.txn_of(claim_.other)) == TxnStatus::aborted;
}

// Whether a list lacks the transaction's own elements at its end, has one that the transaction
// appends later, or one that is not adjacent to the rest of its transaction's appends.
bool Claim::bad_list() const {
  if (claim_.other == kNone) return false;
  const Access other = access_of(history_, claim_.other);
  if (!other.appends() || other.key != access_of(history_, claim_.read).key) return false;
  const ListSeen seen = list_seen(history_, claim_.read);
  if (claim_.anomaly == Anomaly::not_my_own_write)
    return !seen.own_at_end && before_read(claim_.other);
  const VersionId element = other.version;
  if (writes_.only_author(element) != history_.txn_of(claim_.other)) return false;
  for (size_t i = 0; i < seen.others.size(); ++i) {
    if (seen.others[i] != element) continue;
    if (claim_.anomaly == Anomaly::future_read)
      return in_reader(claim_.other) && !before_read(claim_.other) && !wrote_before_read(element);
    return claim_.anomaly == Anomaly::intermediate_read && !in_reader(claim_.other) &&
           out_of_place(seen.others, i);
  }
  return false;
}

// Whether `other` appended the i-th element, and the element next to that is not the one that its
// transaction appended before or after it.
bool Claim::out_of_place(std::span<const VersionId> elements, size_t i) const {
  const TxnId t = history_.txn_of(claim_.other);
  VersionId before = kNone, after = kNone;
  const KeyId list = access_of(history_, claim_.other).key;
  for (const Access& own : accesses(history_, t)) {
    if (own.op == claim_.other || !own.appends() || own.key != list) continue;
    if (own.version == elements[i]) return false;  // appended twice: it may be the other one
    if (own.op < claim_.other) before = own.version;
    if (own.op > claim_.other && after == kNone) after = own.version;
  }
  const bool first = i == 0, last = i + 1 == elements.size();
  return (before != kNone && (first || elements[i - 1] != before)) ||
         (after != kNone && (last || elements[i + 1] != after));
}

// Whether an operation that returns no version by itself, or several keys at once, saw the state in
// which an aborted or an overwritten write had left a key, and no other write explains it.
bool Claim::dirty_state() const {
  if (is_read(claim_.read) || is_list(claim_.read) || claim_.other == kNone ||
      in_reader(claim_.other) || !writes(claim_.other))
    return false;
  const bool aborted = history_.status(history_.txn_of(claim_.other)) == TxnStatus::aborted;
  const bool named =
      (claim_.anomaly == Anomaly::aborted_read && aborted) ||
      (claim_.anomaly == Anomaly::intermediate_read && is_overwritten(history_, claim_.other));
  const KeyId key = access_of(history_, claim_.other).key;
  return named && sources_.has_no_source(claim_.read, key) &&
         sources_.explained_by(claim_.other, claim_.read, key);
}

// Whether one state may explain both reads. A state of a key can look like different versions: a
// removed key reads as null and as its tombstone, a fresh one as the initial value and as an empty
// list. Reads that are stated to be from different transactions saw different states.
bool Claim::one_state_shows_both(const Observation& a, const Observation& b) const {
  if (a.stated != kNone && b.stated != kNone && a.stated != b.stated) return false;
  if (is_list(a.op) != is_list(b.op)) return true;
  if (is_list(a.op)) {
    const auto x = list_seen(history_, a.op).others, y = list_seen(history_, b.op).others;
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
  if (a.version == b.version) return true;
  const bool a_null = history_.version_value(a.version).is_null();
  const bool b_null = history_.version_value(b.version).is_null();
  return (a_null && is_tombstone(b.version)) || (b_null && is_tombstone(a.version));
}

bool Claim::is_tombstone(VersionId v) const {
  return std::ranges::any_of(writes_.of_version(v, Which::all), [&](const Write& write) {
    return access_of(history_, write.op).removes();
  });
}

bool Claim::non_repeatable(const std::vector<Observation>& all, const Observation& seen) const {
  if (claim_.other == kNone || !before_read(claim_.other) || !seen.external()) return false;
  return std::any_of(all.begin(), all.end(), [&](const Observation& earlier) {
    return earlier.op == claim_.other && earlier.key == seen.key &&
           (is_list(earlier.op) || earlier.version != kNone) && earlier.external() &&
           !one_state_shows_both(earlier, seen);
  });
}

Status Claim::check() {
  if (!Counting(lookups_).counts(reader_))
    return refuse("transaction {}, which made the read, need not have taken effect",
                  history_.name(reader_));
  const std::vector<Observation> all = observations(history_, reader_);
  // An insert that took effect saw no version; a list may be empty apart from its reader's own
  // elements.
  const bool list = is_list(claim_.read);
  for (const Observation& seen : all) {
    if (seen.op != claim_.read || (seen.version == kNone && !list)) continue;
    if (claim_.anomaly == Anomaly::non_repeatable_read ? non_repeatable(all, seen)
                                                       : !explained(seen) && shown_by(seen))
      return Ok{};
  }
  if (list) {
    if (bad_list()) return Ok{};
    for (VersionId element : history_.operands(claim_.read))
      if (bad_element(element)) return Ok{};
  }
  if (dirty_state()) return Ok{};
  return refuse("{} is no {}", show_operation(history_, claim_.read),
                anomaly_info(claim_.anomaly).name);
}

Status Claim::check_dirty() {
  if (!Counting(lookups_, ReadRule::dirty).counts(reader_))
    return refuse("transaction {}, which made the read, need not have taken effect",
                  history_.name(reader_));
  if (claim_.anomaly == Anomaly::future_read && is_list(claim_.read))
    return refuse("the level does not depend on which element of a list was read last");
  if (claim_.anomaly != Anomaly::future_read) return Ok{};
  for (const Access& a : all_accesses(history_))
    if (!in_reader(a.op) && writes_version(a.op, access_of(history_, claim_.other).version))
      return refuse("transaction {} also wrote that version", history_.name(history_.txn_of(a.op)));
  return Ok{};
}

// Whether the transaction saw the version before it wrote the key, and then wrote the key.
bool overwrites(const History& h, TxnId t, KeyId key, VersionId version) {
  bool saw = false;
  for (const Access& a : accesses(h, t)) {
    if (a.key != key) continue;
    if (a.accepts == Accepts::equals) saw = a.seen == version;
    if (a.writes()) return saw;
  }
  return false;
}

// Checks that a value was overwritten more often than it was there. If no update is lost, a
// committed transaction that read a value and then wrote the key needs a write of that value, or
// the initial one, for itself.
Status check_overdrawn(const Writes& writes, OpId read) {
  const History& history = writes.history();
  const Access looked = access_of(history, read);
  if (looked.accepts != Accepts::equals) return refuse("operation {} saw no value", read);
  if (history.version_value(looked.seen).is_null())
    return refuse("every removal leaves null, so it is not counted");
  const uint64_t there = writes.of_version(looked.seen, Which::staying).size() +
                         (history.is_initial(looked.seen) ? 1 : 0);
  uint64_t overwritten = 0;
  for (TxnId t = 0; t < history.txn_count(); ++t)
    if (history.status(t) == TxnStatus::committed &&
        overwrites(history, t, looked.key, looked.seen))
      ++overwritten;
  if (overwritten > there) return Ok{};
  return refuse("{} was there {} times and overwritten by {} transactions that had read it",
                show_version(history, looked.seen), there, overwritten);
}

}  // namespace

Status BadReadVerifier::supports(LevelId level) {
  if (const Status& s = checked_.get([&] { return check(); }); !s.ok()) return s;
  const LevelInfo& info = history_.level(level);
  if (info.events == EventModel::mixed) {
    const auto own = held_to(history_, history_.txn_of(claim_.read));
    if (own && claim_.anomaly != Anomaly::lost_update) return supports(*own);
    if (own) return refuse("a lost update involves several transactions, each at its own level");
    return refuse("the transaction of the read declares no level that can be mixed");
  }
  if (claim_.anomaly == Anomaly::non_repeatable_read && !info.repeatable &&
      !(info.events == EventModel::statements && see_one_state()))
    return refuse("{} allows non-repeatable reads", info.name);
  if (claim_.anomaly == Anomaly::result_set_mismatch) {
    if (claim_.other == kNone || one_state(info)) return Ok{};
    return refuse("at {} a transaction may see several states", info.name);
  }
  const bool dirty =
      claim_.anomaly == Anomaly::aborted_read || claim_.anomaly == Anomaly::intermediate_read;
  if (read_rule(info) == ReadRule::dirty) {
    if (dirty) return refuse("{} allows reads of aborted or overwritten writes", info.name);
    if (Status s = Claim(claim_, lookups_).check_dirty(); !s.ok()) return s;
  }
  const bool loses_none = info.events == EventModel::single ||
                          (info.events == EventModel::split && info.write_conflict);
  if (claim_.anomaly == Anomaly::lost_update && !loses_none)
    return refuse("{} allows lost updates", info.name);
  return Ok{};
}

// Both operations must belong to one statement, or be on a key that their transaction had locked by
// the first of them.
bool BadReadVerifier::see_one_state() const {
  const TxnId t = history_.txn_of(claim_.read);
  const auto [first, last] = std::minmax(claim_.read, claim_.other);
  OpId end = history_.first_op(t);
  while (end <= first) end = end_of_statement(history_, t, end);
  return last < end ||
         last_write(history_, history_.first_op(t), end, access_of(history_, first).key) != kNone;
}

Status BadReadVerifier::check() const {
  if (claim_.read >= history_.op_count())
    return refuse("the read {} is not an operation of the history", claim_.read);
  if (claim_.other != kNone && claim_.other >= history_.op_count())
    return refuse("the other operation {} is not in the history", claim_.other);
  switch (claim_.anomaly) {
    case Anomaly::thin_air_read:
    case Anomaly::aborted_read:
    case Anomaly::future_read:
    case Anomaly::not_my_last_write:
    case Anomaly::not_my_own_write:
    case Anomaly::intermediate_read:
    case Anomaly::non_repeatable_read:
      return Claim(claim_, lookups_).check();
    case Anomaly::lost_update:
      return check_overdrawn(lookups_.writes(), claim_.read);
    case Anomaly::result_set_mismatch:
      return check_aggregate(history_, claim_);
    default:
      return refuse("two operations cannot show this anomaly");
  }
}

}  // namespace assay::internal::certify
