// The anomalies for which green could have been red. Two sessions that never touch the same key
// satisfy every level on every database, and a verdict about them says nothing. So a verdict comes
// with the anomalies for which its history had *candidates*: transactions that do what the anomaly
// takes, to the same keys, whatever they read.
//
//   s1: { r(x,0) w(y,1) }    s2: { r(y,1) w(x,2) }    a candidate for write skew, though s2 saw y =
//                                                     1
//   s1: { r(x,0) w(x,1) }    s2: { r(x,1) w(x,2) }    one for a lost update, none for write skew:
//                                                     there is one key
//
// Having a candidate is a condition that every history with the anomaly meets, because of the shape
// that gives the anomaly its name (explain/classify.h). Each condition counts accesses that
// conflict with another transaction's access, one of the two being a write:
//
//   aborted-read, intermediate-read   a read of a key that an aborted transaction wrote, or another
//                                     wrote twice
//   non-repeatable-read, phantom      a transaction looks twice at a key, or has two ranges, that
//                                     another one writes
//   fractured-read                    W writes two keys, R reads both; or R reads twice a key that
//                                     W writes
//   non-monotonic-read                the same
//   lost-update                       a transaction reads and writes a key that another one writes
//   write-skew                        A reads x and writes y, B reads y and writes x
//   long-fork                         two that read, and two keys that different transactions
//                                     write; the reads are linked
//   causality-violation               one that reads, among three; it is linked
//   session-guarantee-violation       a session of two such transactions
//   g0                                two that each write two such keys, or one if the order of its
//                                     versions can be seen
//   g1c                               one that writes and is linked
//   g2                                two with ranges
//   real-time-violation               two such transactions whose times are known
//
// *Linked* means having another such access, or another such transaction in its session, as
// everything on a cycle must. A history can meet a condition in two ways: with transactions that
// overlapped in time, or only with others, one of which would have to see a state that was stale by
// then. A database that serves one state to all cannot go wrong in the second way, so the two are
// distinguished: the second pass counts only conflicts of overlapping transactions.
//
// Pairs of keys are looked up by hashing until one matches; after kMostPairs without a match a
// candidate is assumed. A range counts as a use of every key. So the result may hold too many
// candidates, never too few.
#include "audit/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/sort_by.h"
#include "history/accesses.h"

namespace assay::internal {
namespace {

constexpr Anomaly kHaveCandidates[] = {Anomaly::aborted_read,
                                       Anomaly::intermediate_read,
                                       Anomaly::non_repeatable_read,
                                       Anomaly::session_guarantee_violation,
                                       Anomaly::non_monotonic_read,
                                       Anomaly::fractured_read,
                                       Anomaly::causality_violation,
                                       Anomaly::long_fork,
                                       Anomaly::lost_update,
                                       Anomaly::write_skew,
                                       Anomaly::g0,
                                       Anomaly::g1c,
                                       Anomaly::g2,
                                       Anomaly::real_time_violation,
                                       Anomaly::phantom};

constexpr size_t kMostPairs = size_t{1} << 16;

// Two sides of pairs of keys, and whether two different transactions have the same pair on
// different sides.
class PairMatch {
 public:
  bool found() const { return found_; }
  void add(KeyId a, KeyId b, bool side, TxnId t) {
    if (found_) return;
    auto& first = first_.try_emplace(pack(a, b), std::array{kNone, kNone}).first->second;
    const TxnId other = first[!side];
    found_ = (other != kNone && other != t) || first_.size() > kMostPairs;
    if (first[side] == kNone) first[side] = t;
    // A transaction on both sides meets the next one on either.
    if (other == t && first[side] != t) found_ = true;
  }

 private:
  std::unordered_map<uint64_t, std::array<TxnId, 2>> first_;
  bool found_ = false;
};

// Counts up to two different things.
class AtLeastTwo {
 public:
  void add(uint32_t thing) {
    if (first_ == kNone) first_ = thing;
    two_ |= thing != first_;
  }
  bool any() const { return first_ != kNone; }
  bool two() const { return two_; }

 private:
  uint32_t first_ = kNone;
  bool two_ = false;
};

// One pass over those accesses of a history that count, transaction by transaction.
class Pass {
 public:
  Pass(const History& h, const Contention& contention, bool overlapping)
      : h_(h),
        all_(contention.accesses),
        overlapping_(overlapping),
        of_session_(h.session_count()) {
    each_txn([&](std::span<const KeyAccess> of) {
      if (std::ranges::any_of(of, [&](const KeyAccess& a) { return meets(a); }))
        of_session_[h_.session(of.front().txn)].add(of.front().txn);
    });
    each_txn([&](std::span<const KeyAccess> of) { look_at(of); });
    // The stated order of one key may contradict the reads in any way.
    if (!h.known_orders().empty()) {
      if (found_[index(Anomaly::lost_update)]) set(Anomaly::write_skew);
      if (linked_readers_.any() && writers_.two()) set(Anomaly::long_fork);
    }
    orders_versions_ = !h.known_orders().empty() || found_[index(Anomaly::lost_update)];
    for (OpId i = 0; i < h.op_count() && !orders_versions_; ++i)
      orders_versions_ = is_list_operation(h.op(i));
  }

  AnomalySet found() {
    if (rangers_.any() && pair_writers_.any()) set(Anomaly::fractured_read);
    if (wild_skew_.two() || (wild_skew_.any() && skew_.any())) set(Anomaly::write_skew);
    if (co_written_.found()) set(Anomaly::fractured_read);
    if (crossed_.found()) set(Anomaly::write_skew);
    // Two looks at one key that another transaction wrote are the smallest case of either anomaly.
    if (found_[index(Anomaly::non_repeatable_read)]) set(Anomaly::fractured_read);
    if (found_[index(Anomaly::fractured_read)]) set(Anomaly::non_monotonic_read);
    if (linked_readers_.two() && written_keys_.two() && writers_.two()) set(Anomaly::long_fork);
    if (linked_readers_.any() && txns_ > 2) set(Anomaly::causality_violation);
    if (pair_writers_.two() || (orders_versions_ && writers_.two())) set(Anomaly::g0);
    if (linked_writers_.any() && txns_ > 1) set(Anomaly::g1c);
    if (rangers_.two()) set(Anomaly::g2);
    return found_;
  }
  bool has_session_of_two() const {
    return std::ranges::any_of(of_session_, [](const AtLeastTwo& s) { return s.two(); });
  }

 private:
  static size_t index(Anomaly a) { return static_cast<size_t>(a); }
  void set(Anomaly a) { found_.set(index(a)); }

  template <class Visit>
  void each_txn(Visit visit) {
    for (size_t from = 0, to = 0; from < all_.size(); from = to) {
      while (to < all_.size() && all_[to].txn == all_[from].txn) ++to;
      // The access to all keys comes last.
      const KeyAccess& last = all_[to - 1];
      seen_by_range_ = last.is_of_all_keys() && last.writes && readers(last) > 0;
      visit(std::span(all_).subspan(from, to - from));
    }
  }

  uint32_t writers(const KeyAccess& a) const {
    return overlapping_ ? a.overlapping_writers : a.writers;
  }
  uint32_t readers(const KeyAccess& a) const {
    return overlapping_ ? a.overlapping_readers : a.readers;
  }
  bool read_meets(const KeyAccess& a) const { return a.reads && writers(a) > 0; }
  // A range may have looked at whatever others wrote.
  bool write_meets(const KeyAccess& a) const {
    return a.writes &&
           (seen_by_range_ || readers(a) > 0 || (writers(a) > 0 && !a.is_of_all_keys()));
  }
  bool meets(const KeyAccess& a) const { return read_meets(a) || write_meets(a); }

  void look_at(std::span<const KeyAccess> of) {
    const TxnId t = of.front().txn;
    size_t links = 0, looks = 0;
    bool looks_at_all = false, ranges = false, reads = false, writes = false;
    reads_.clear(), writes_.clear();
    for (const KeyAccess& a : of) {
      looks += a.reads ? 1U + a.rereads : 0U;
      looks_at_all |= a.reads && a.is_of_all_keys();
      // A value that was never written may be read in between, too.
      if (!overlapping_ && (a.rereads || (looks_at_all && looks > 1)))
        set(Anomaly::non_repeatable_read);
      links += (read_meets(a) ? 1U + a.rereads : 0U) + (write_meets(a) ? 1U + a.rewrites : 0U);
      reads |= read_meets(a);
      writes |= write_meets(a);
      if (a.is_of_all_keys()) {
        ranges |= read_meets(a);
        if (read_meets(a) && a.rereads) set(Anomaly::phantom);
        continue;
      }
      if (read_meets(a)) reads_.push_back(a.key);
      if (write_meets(a)) writes_.push_back(a.key), written_keys_.add(a.key);
      if (read_meets(a) && a.rereads) set(Anomaly::non_repeatable_read);
      if (read_meets(a) && a.writes) set(Anomaly::lost_update);
      if (write_meets(a) && a.rewrites) pair_writers_.add(t);
    }
    if (!reads && !writes) return;
    ++txns_;
    if (ranges) look_at_ranges(t, links);
    const bool linked = links > 1 || of_session_[h_.session(t)].two();
    if (linked && reads) linked_readers_.add(t);
    if (linked && writes) linked_writers_.add(t);
    if (writes) writers_.add(t);
    if (writes_.size() > 1) pair_writers_.add(t);
    if (reads && !writes_.empty()) (ranges ? wild_skew_ : skew_).add(t);
    if (!co_written_.found())
      each_pair(writes_, [&](KeyId a, KeyId b) { co_written_.add(a, b, false, t); });
    if (!co_written_.found())
      each_pair(reads_, [&](KeyId a, KeyId b) { co_written_.add(a, b, true, t); });
    for (size_t i = 0; i < reads_.size() && !crossed_.found(); ++i)
      for (const KeyId to : writes_)
        if (to != reads_[i])
          crossed_.add(std::min(reads_[i], to), std::max(reads_[i], to), reads_[i] < to, t);
  }

  void look_at_ranges(TxnId t, size_t links) {
    rangers_.add(t);
    if (links > 1) set(Anomaly::non_repeatable_read);
    if (!writes_.empty()) set(Anomaly::lost_update);
  }

  // Keys come in ascending order.
  template <class Visit>
  void each_pair(const std::vector<KeyId>& keys, Visit visit) const {
    for (size_t i = 0; i < keys.size() && !co_written_.found(); ++i)
      for (size_t j = i + 1; j < keys.size(); ++j) visit(keys[i], keys[j]);
  }

  const History& h_;
  const std::vector<KeyAccess>& all_;
  bool overlapping_;
  bool orders_versions_ = false;  // lists or stated orders tell the order of one key's versions,
                                  // and may contradict themselves
  bool seen_by_range_ = false;    // the current transaction writes what a range may have seen
  AnomalySet found_;
  std::vector<AtLeastTwo> of_session_;  // indexed by session: its transactions
  uint64_t txns_ = 0;
  AtLeastTwo writers_, pair_writers_, linked_writers_, linked_readers_, rangers_;
  AtLeastTwo written_keys_;
  AtLeastTwo skew_, wild_skew_;  // transactions that read and write; those with a range
  PairMatch co_written_, crossed_;
  std::vector<KeyId> reads_, writes_;  // of one transaction
};

// Finds anomalies that need no two transactions at once: they may have run one after the other, or
// one of them aborted.
class Aside {
 public:
  Aside(const History& h, const Contention& contention) : h_(h), all_(contention.accesses) {}

  AnomalySet found(bool has_session_of_two) {
    AnomalySet found;
    const auto set = [&](Anomaly a, bool could) { found.set(static_cast<size_t>(a), could); };
    set(Anomaly::session_guarantee_violation, has_session_of_two);
    set(Anomaly::real_time_violation, on_the_clock());
    set(Anomaly::aborted_read, reads_what(written_by_aborted()));
    set(Anomaly::intermediate_read, reads_what(rewritten()));
    return found;
  }

 private:
  // Whether times matter: clocks order not only what ended before something began; of two
  // snapshots, one was taken first.
  bool on_the_clock() const {
    AtLeastTwo timed;
    for (const KeyAccess& a : all_)
      if (a.writers > 0 || (a.readers > 0 && a.writes))
        if (h_.begin_time(a.txn).known() || h_.end_time(a.txn).known()) timed.add(a.txn);
    return timed.two();
  }

  struct Written {
    std::vector<TxnId> by;  // indexed by key: a writer; kNone: none, kInitialTxn: several
    TxnId any = kNone;      // the same for all keys together

    void add(KeyId key, TxnId t) {
      for (TxnId* at : {&by[key], &any}) *at = *at == kNone || *at == t ? t : kInitialTxn;
    }
  };

  Written written_by_aborted() const {
    Written written{std::vector<TxnId>(h_.key_count(), kNone)};
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); h_.status(t) == TxnStatus::aborted && i < h_.end_op(t); ++i)
        if (installs_version(h_.op(i))) written.add(h_.op(i).key, t);
    return written;
  }
  Written rewritten() const {
    Written written{std::vector<TxnId>(h_.key_count(), kNone)};
    for (const KeyAccess& a : all_)
      if (a.rewrites && !a.is_of_all_keys()) written.add(a.key, a.txn);
    return written;
  }
  bool reads_what(const Written& written) const {
    return std::ranges::any_of(all_, [&](const KeyAccess& a) {
      const TxnId by = a.is_of_all_keys() ? written.any : written.by[a.key];
      return a.reads && by != kNone && by != a.txn;
    });
  }

  const History& h_;
  const std::vector<KeyAccess>& all_;
};

}  // namespace

std::span<const Anomaly> anomalies_with_candidates() { return kHaveCandidates; }

bool rules_out(LevelId level, Anomaly anomaly) {
  using enum LevelId;
  const auto at_least = [&](std::initializer_list<LevelId> weaker) {
    return std::ranges::any_of(weaker, [&](LevelId w) { return implies(level, w); });
  };
  switch (anomaly) {
    case Anomaly::aborted_read:
    case Anomaly::intermediate_read:
      return at_least({pl_2});
    case Anomaly::session_guarantee_violation:
      return at_least({read_your_writes, monotonic_reads, monotonic_writes, writes_follow_reads});
    case Anomaly::non_monotonic_read:
      return at_least({monotonic_atomic_view});
    case Anomaly::non_repeatable_read:
    case Anomaly::fractured_read:
      return at_least({read_committed, monotonic_atomic_view, adya_si, pl_2_plus, pl_2_99});
    case Anomaly::causality_violation:
      return at_least(
          {causal, statement_snapshot, adya_si, pl_2_plus, pl_2_99, writes_follow_reads});
    case Anomaly::long_fork:
      return at_least({prefix, statement_snapshot, adya_si, pl_2_99});
    case Anomaly::lost_update:
      return at_least({statement_snapshot, adya_si, pl_cs});
    case Anomaly::write_skew:
      return at_least({serializable, pl_2_99});
    case Anomaly::g0:
      return at_least({pl_1});
    case Anomaly::g1c:
      return at_least({pl_2});
    case Anomaly::phantom:
      return at_least({read_atomic, statement_snapshot, adya_si, pl_2_plus, pl_3});
    case Anomaly::g2:
      return at_least({statement_snapshot, adya_si, serializable, pl_3});
    case Anomaly::real_time_violation:
      return at_least({generalized_si, strict_serializable, linearizable});
    default:
      return false;
  }
}

Stakes stakes_of(const History& history, const Contention& contention) {
  Stakes stakes;
  stakes.timed = contention.timed;
  stakes.write_write = contention.write_write;
  stakes.write_read = contention.write_read;
  stakes.read_write = contention.read_write;
  stakes.transactions = contention.transactions;
  stakes.looked_at = contention.looked_at;
  Pass anyhow(history, contention, false);
  const AnomalySet aside = Aside(history, contention).found(anyhow.has_session_of_two());
  stakes.could_show = anyhow.found() | aside;
  stakes.could_show_overlapping = Pass(history, contention, true).found() | aside;
  return stakes;
}

bool withhold_uncontended(CheckResult& result, const Stakes& stakes) {
  bool any = false;
  for (Verdict& v : result.verdicts) {
    if (v.outcome != Outcome::satisfied) continue;
    const bool could = std::ranges::any_of(kHaveCandidates, [&](Anomaly a) {
      return rules_out(v.level, a) && stakes.could_show_overlapping.test(static_cast<size_t>(a));
    });
    if (could && stakes.conflicts() > 0) continue;
    any = true;
    v.outcome = Outcome::unknown;
    v.certificate = kNone;
    v.cause = UnknownCause::uncontended;
    v.reason = stakes.conflicts() == 0
                   ? "uncontended: no two overlapping transactions shared a key that one of them "
                     "wrote (--require-contention makes this unknown)"
                   : "uncontended: no overlapping transactions could have shown an anomaly that "
                     "the level rules out (--require-contention makes this unknown)";
  }
  return any;
}

}  // namespace assay::internal
