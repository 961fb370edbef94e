// A transaction T is cut after some of its steps, and others run in the gap. The reads and writes
// of T decide which transactions may run there, begin the gap and end it; they are written down as
// the roles of keys, and each other transaction is checked against them.
//
//   A: r(x) r(y) w(x)    B: r(y) w(y)    at snapshot isolation
//   A after its first step: x and y begin the gap, of these x is kept, since A changes it; x closes
//   B begins the gap, since it changes y. No transaction but A reads x: none closes it
//
//   isolation       cut behind            begins: changes       kept: what T            closes:
//                                                               reads
//                                         what T                                        what T
//                                         changes,
//                                                                                       or changes
//                                                                                       what
//   read-committed  each step that reads  has read so far       has locked so far       it uses
//                                                               later
//   innodb-…        the first plain step  reads in plain steps  likewise, or has read   it changes
//                   or
//                                                               in steps that lock      locks later
//   prefix          the first step        reads                 has changed so far      it changes
//                                                               later
//   snapshot, ssi   the first step        reads                 locks                   –
//
// T locks the rows that it changes and, but not at prefix, the rows that it reads FOR UPDATE or FOR
// SHARE. No transaction in the gap may certainly change a kept key. Nor may one certainly lock a
// key that T has changed or read FOR UPDATE so far (at InnoDB's repeatable read also by reading it
// in a step that locks), nor lock FOR UPDATE a key that T has read FOR SHARE so far. A cut after a
// step that reads nothing may be omitted: it has more kept keys and fewer transactions that close
// it than the cut after the last step that reads. A snapshot is taken before a statement waits for
// a lock: so at snapshot and ssi T is cut before its first step, if that locks a row that another
// transaction certainly locks without changing it.
//
// If T is at ssi, a transaction at ssi that begins the gap has not certainly read a key that T
// certainly changes, one at ssi that ends it has not certainly changed a key that T has certainly
// read, at most one of the two is at ssi, and no transaction between them certainly conflicts with
// T.
//
// That these cuts are all that matter is a theorem for read committed, snapshot isolation and ssi
// (Vandevoort, Ketsman and Neven, "Allocating Isolation Levels to Transactions", PODS 2023); for
// the other two it was tested against all executions of small sets.
//
// Cost: for each cut the transactions that touch its keys; for `apart` the ones that touch the keys
// of the listed ones, each key once.

#include "certify/robustness_verifier.h"

#include <algorithm>
#include <utility>

#include "certify/refusal.h"

namespace assay::internal::certify {
namespace {

// What a key means for a cut.
enum Role : uint8_t {
  kBegins = 1,
  kKept = 2,
  kLocked = 4,  // T has locked it
  kClosesIfRead = 8,
  kClosesIfChanged = 16,
  kHasRead = 32,     // T certainly reads it
  kHasChanged = 64,  // T certainly changes it
  kShared = 128      // T has locked it, shared
};

class ClaimVerifier {
 public:
  ClaimVerifier(const Robustness& claim, const History& history, const Footprints& footprints)
      : claim_(claim),
        h_(history),
        f_(footprints),
        roles_(footprints.key_count()),
        entered_(footprints.key_count()),
        reached_in_(history.txn_count()) {}

  Status verify() {
    if (Status s = take_programs(); !s.ok()) return s;
    for (const auto& [txns, cuts] : claim_.transactions)
      for (const TxnId t : txns) {
        if (t >= h_.txn_count()) return refuse("the history has no transaction {}", t);
        if (is_covered_[t]) return refuse("transaction {} appears twice", h_.name(t));
        is_covered_[t] = true;
        if (Status s = verify_txn(t, cuts); !s.ok()) return s;
      }
    for (const auto& [name, program] : f_.programs())
      for (const TxnId t : f_.txns_of(program))
        if (holds_[program] && !is_covered_[t])
          return refuse("transaction {} is missing, though its program is said to hold",
                        h_.name(t));
    return Ok{};
  }

 private:
  Status take_programs() {
    is_covered_.resize(h_.txn_count());
    at_.assign(f_.programs().size(), Isolation::read_committed);
    holds_.resize(at_.size());
    std::vector<bool> named(at_.size());
    bool any = false;
    for (const Robustness::Program& program : claim_.programs) {
      const auto found = f_.programs().find(program.name);
      if (found == f_.programs().end())
        return refuse("no transaction belongs to the program \"{}\"", program.name);
      if (named[found->second]) return refuse("the program \"{}\" appears twice", program.name);
      named[found->second] = true;
      at_[found->second] = program.isolation;
      holds_[found->second] = program.holds;
      any = any || program.holds;
    }
    for (const auto& [name, program] : f_.programs())
      if (!named[program]) return refuse("the isolation of the program \"{}\" is missing", name);
    return any ? Status(Ok{}) : refuse("no program is said to hold");
  }

  // The isolation of a transaction without a program is unknown: one is assumed that excludes no
  // other.
  Isolation isolation(TxnId t) const {
    return f_.program(t) == kNone ? Isolation::read_committed : at_[f_.program(t)];
  }

  // Checks that every cut is there, in order, and right.
  Status verify_txn(TxnId t, const std::vector<Uncut>& cuts) {
    txn_ = t;
    isolation_ = isolation(t);
    size_t next = 0;
    for (uint32_t after = 0; after <= f_.step_count(t); ++after) {
      const Asked asked = asked_behind(after);
      const bool is_there = next < cuts.size() && cuts[next].after == after;
      if (asked == Asked::never || (asked == Asked::perhaps && !is_there)) continue;
      mark(after);
      Status s = Ok{};
      if (isolation_ == Isolation::ssi) {
        s = verify_next(after, Ends::below_ssi_first, cuts, next);
        if (s.ok()) s = verify_next(after, Ends::below_ssi_last, cuts, next);
      } else {
        s = verify_next(after, Ends::any, cuts, next);
      }
      unmark();
      if (!s.ok()) return s;
      if (asked == Asked::only) break;
    }
    if (next < cuts.size())
      return refuse("transaction {} must not be cut after step {}", h_.name(t), cuts[next].after);
    return Ok{};
  }

  // Whether the cut after this many steps is required; only: no later one is.
  enum class Asked : uint8_t { never, perhaps, always, only };
  Asked asked_behind(uint32_t after) const {
    const auto reads = [](const Touch& touch) { return (touch.deeds & kReads) != 0; };
    switch (isolation_) {
      case Isolation::read_committed:
        if (after == 0) return Asked::never;
        return std::ranges::any_of(f_.step(txn_, after - 1), reads) ? Asked::always
                                                                    : Asked::perhaps;
      case Isolation::innodb_repeatable_read:
        return after > 0 && f_.is_plain(txn_, after - 1) ? Asked::only : Asked::never;
      case Isolation::prefix:
      case Isolation::snapshot:
      case Isolation::ssi:
        break;
    }
    if (f_.step_count(txn_) == 0) return Asked::never;
    const bool is_before = isolation_ != Isolation::prefix && locks_first();
    return after == (is_before ? 0 : 1) ? Asked::only : Asked::never;
  }

  bool locks_first() const {
    return std::ranges::any_of(f_.step(txn_, 0), [&](const Touch& touch) {
      return f_.is_locked(touch.key) && (touch.deeds & (kShares | kLocks | kCertainlyChanges)) != 0;
    });
  }

  Status verify_next(uint32_t after, Ends ends, const std::vector<Uncut>& cuts, size_t& next) {
    if (next == cuts.size() || cuts[next].after != after || cuts[next].ends != ends)
      return refuse("the cut of transaction {} after step {} is missing", h_.name(txn_), after);
    ends_ = ends;
    const Uncut& cut = cuts[next++];
    switch (cut.because) {
      case Because::empty:
        return each_who_begins([&](TxnId other) {
          return refuse(
              "{} may run when {} is cut after step {}, and change what the latter has read",
              h_.name(other), h_.name(txn_), after);
        });
      case Because::nobody_closes:
        return each_who_closes([&](TxnId other) {
          return refuse("{} may end the gap of {}, which is cut after step {}", h_.name(other),
                        h_.name(txn_), after);
        });
      case Because::apart:
        return verify_apart(cut);
    }
    return refuse("a cut for an unknown reason");
  }

  // --- the roles of keys for a cut

  void mark(uint32_t after) {
    for (uint32_t s = 0; s < f_.step_count(txn_); ++s)
      for (const Touch& touch : f_.step(txn_, s)) {
        uint8_t& role = roles_[touch.key];
        role |= role_of(touch.deeds, s < after, f_.is_plain(txn_, s));
        marked_.push_back(touch.key);
      }
    std::sort(marked_.begin(), marked_.end());
    marked_.erase(std::unique(marked_.begin(), marked_.end()), marked_.end());
  }
  void unmark() {
    for (const KeyId key : marked_) roles_[key] = 0;
    marked_.clear();
  }

  uint8_t role_of(uint8_t deeds, bool before, bool is_plain) const {
    const bool reads = (deeds & kReads) != 0, changes = (deeds & kChanges) != 0;
    const bool surely_reads = (deeds & kCertainlyReads) != 0;
    const bool surely_changes = (deeds & kCertainlyChanges) != 0;
    uint8_t role = 0;
    const auto give = [&](bool holds, Role r) { role |= holds ? r : 0; };
    give(changes, kClosesIfRead);
    const bool locks_reads = isolation_ != Isolation::prefix;
    const bool shares = locks_reads && (deeds & kShares) != 0;
    const bool locks = locks_reads && (deeds & kLocks) != 0;
    give((surely_changes || locks) && before, kLocked);
    give(shares && before, kShared);
    give(surely_reads, kHasRead);
    give(surely_changes, kHasChanged);
    switch (isolation_) {
      case Isolation::read_committed:
        give(reads && before, kBegins);
        give((surely_changes || shares || locks) && before, kKept);
        give((reads || changes) && !before, kClosesIfChanged);
        break;
      case Isolation::innodb_repeatable_read:
        give(reads && is_plain, kBegins);
        give((surely_changes || shares || locks) && before, kKept);
        give(surely_reads && !is_plain && before, static_cast<Role>(kKept | kShared));
        give(changes && !before, kClosesIfChanged);
        give(reads && !is_plain && !before, kClosesIfChanged);
        // If some operations were not recorded, any statement may have been one that locks.
        give(reads && is_plain && f_.has_unrecorded(txn_), kClosesIfChanged);
        break;
      case Isolation::prefix:
        give(reads, kBegins);
        give(surely_changes && before, kKept);
        give(changes && !before, kClosesIfChanged);
        break;
      case Isolation::snapshot:
      case Isolation::ssi:
        give(reads, kBegins);
        give(surely_changes || shares || locks, kKept);
        break;
    }
    return role;
  }

  // --- other transactions against these roles

  struct GapRole {
    bool may_run = true, begins = false, ends = false, may_be_between = true;
  };
  GapRole gap_role_of(TxnId other) const {
    GapRole gap;
    bool reads_changed = false, changes_read = false, meets_changed = false;
    const bool locks_reads = isolation(other) != Isolation::prefix;
    const auto locks = static_cast<Deed>(locks_reads ? kLocks : 0);
    const auto shared = static_cast<Deed>(
        (locks_reads ? kShares : 0) |
        (isolation(other) == Isolation::innodb_repeatable_read ? kSharesAtInnodb : 0));
    each_with_role(other, [&](uint8_t deeds, uint8_t role) {
      const auto meets = [&](Deed deed, Role r) { return (deeds & deed) != 0 && (role & r) != 0; };
      if (meets(kCertainlyChanges, kKept) || meets(shared, kLocked) ||
          meets(locks, static_cast<Role>(kLocked | kShared)))
        gap.may_run = false;
      gap.begins = gap.begins || meets(kChanges, kBegins);
      gap.ends = gap.ends || meets(kReads, kClosesIfRead) || meets(kChanges, kClosesIfChanged);
      reads_changed = reads_changed || meets(kCertainlyReads, kHasChanged);
      changes_read = changes_read || meets(kCertainlyChanges, kHasRead);
      meets_changed = meets_changed || meets(kCertainlyChanges, kHasChanged);
    });
    gap.may_run = gap.may_run && other != txn_;
    if (ends_ == Ends::any) return gap;
    const bool is_ssi = isolation(other) == Isolation::ssi;
    const bool first_is_ssi = ends_ == Ends::below_ssi_last;
    gap.begins = gap.begins && is_ssi == first_is_ssi && !(is_ssi && reads_changed);
    gap.ends = gap.ends && !(is_ssi && (first_is_ssi || changes_read));
    gap.may_be_between = !reads_changed && !changes_read && !meets_changed;
    return gap;
  }

  // Visits what a transaction does with keys that have a role. One transaction, the load, may do
  // more than all others together.
  template <class Visit>
  void each_with_role(TxnId other, Visit visit) const {
    constexpr size_t kMany = 16;
    const std::span<const Touch> all = f_.touches(other);
    if (all.size() < kMany * marked_.size()) {
      for (const auto& [key, deeds] : all)
        if (roles_[key] != 0) visit(deeds, roles_[key]);
      return;
    }
    for (const KeyId key : marked_)
      if (const auto at = std::ranges::lower_bound(all, key, {}, &Touch::key);
          at != all.end() && at->key == key)
        visit(at->deeds, roles_[key]);
  }

  // Calls `found` with each transaction that may begin the gap; fails if `found` does.
  template <class Found>
  Status each_who_begins(Found found) const {
    return each_by_role(kBegins, kChanges, &GapRole::begins, found);
  }
  template <class Found>
  Status each_who_closes(Found found) const {
    Status s = each_by_role(kClosesIfRead, kReads, &GapRole::ends, found);
    return s.ok() ? each_by_role(kClosesIfChanged, kChanges, &GapRole::ends, found) : s;
  }
  template <class Found>
  Status each_by_role(Role role, Deed deed, bool GapRole::*part, Found found) const {
    for (const KeyId key : marked_) {
      if ((roles_[key] & role) == 0) continue;
      // A change of a kept key is certain, so its transaction may not run in the gap.
      if (deed == kChanges && (roles_[key] & kKept) != 0) continue;
      for (const auto& [other, deeds] : f_.doers(key)) {
        if ((deeds & deed) == 0) continue;
        const GapRole s = gap_role_of(other);
        if (!s.may_run || !(s.*part)) continue;
        if (Status status = found(other); !status.ok()) return status;
      }
    }
    return Ok{};
  }

  // Checks that the listed transactions are all that may begin the gap, and all that conflict with
  // a listed one, and that none of them closes it.
  Status verify_apart(const Uncut& cut) {
    ++search_;
    for (const TxnId other : cut.reached) {
      if (other >= h_.txn_count()) return refuse("the history has no transaction {}", other);
      reached_in_[other] = search_;
    }
    const auto is_reached = [&](TxnId other) -> Status {
      if (reached_in_[other] == search_) return Ok{};
      return refuse("{} may run when {} is cut after step {}, but is not listed as reached",
                    h_.name(other), h_.name(txn_), cut.after);
    };
    if (Status s = each_who_begins(is_reached); !s.ok()) return s;
    for (const TxnId other : cut.reached) {
      const GapRole gap = gap_role_of(other);
      if (!gap.may_run) continue;
      if (gap.ends)
        return refuse("{} is reached, and may end the gap of {}, which is cut after step {}",
                      h_.name(other), h_.name(txn_), cut.after);
      if (!gap.begins && !gap.may_be_between) continue;
      for (const auto& [key, deeds] : f_.touches(other))
        if (Status s = enter(key, (deeds & kChanges) != 0, is_reached); !s.ok()) return s;
    }
    return Ok{};
  }

  // Checks that all transactions are reached that conflict with one that changes the key, or that
  // only reads it. Done once for each key.
  template <class IsReached>
  Status enter(KeyId key, bool changes, IsReached is_reached) {
    const uint64_t as = 2 * uint64_t{search_} + (changes ? 1 : 0);
    if (entered_[key] >= as) return Ok{};
    entered_[key] = as;
    for (const auto& [other, deeds] : f_.doers(key)) {
      if (!changes && (deeds & kChanges) == 0) continue;
      if (reached_in_[other] == search_ || !gap_role_of(other).may_run) continue;
      if (Status s = is_reached(other); !s.ok()) return s;
    }
    return Ok{};
  }

  const Robustness& claim_;
  const History& h_;
  const Footprints& f_;
  std::vector<Isolation> at_;     // indexed by program
  std::vector<bool> holds_;       // indexed by program
  std::vector<bool> is_covered_;  // indexed by transaction
  // The next members belong to the cut that is being examined.
  TxnId txn_ = kNone;
  Isolation isolation_ = Isolation::read_committed;
  Ends ends_ = Ends::any;
  std::vector<uint8_t> roles_;  // indexed by key
  std::vector<KeyId> marked_;   // keys with a role
  uint32_t search_ = 0;
  std::vector<uint64_t> entered_;     // indexed by key: the search that entered it, and how
  std::vector<uint32_t> reached_in_;  // indexed by transaction: the search that reached it
};

}  // namespace

Result<RobustnessVerifier> RobustnessVerifier::of(const History& history) {
  auto footprints = Footprints::of(history);
  if (!footprints.ok()) return footprints.error();
  return RobustnessVerifier(history, std::move(*footprints));
}

Status RobustnessVerifier::verify(const Robustness& claim) const {
  return ClaimVerifier(claim, *history_, footprints_).verify();
}

}  // namespace assay::internal::certify
