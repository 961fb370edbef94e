// Counts conflicts of transactions, without comparing every pair on a hot key.
//
//   s1: { r(x,0) w(x,1) }     at the same time     s2: { r(x,0) r(y,0) }     one conflict: s2 read
//                                                  x, and not what s1 wrote
//
// A transaction that lasts from b to e overlaps the transactions that began by e, less the ones
// that had ended before b. So two sorted lists for a key, the begins and the ends of its writers,
// tell by two binary searches how many writers overlap an access; the lists of its readers tell how
// many readers do. The same counts within the session are subtracted, which leaves other sessions.
// For each read it is found separately whether it returned the write of an overlapping transaction;
// it did not see the other overlapping writers of the key.
//
// O(n log n) for n accesses. Times of one clock are compared as they are; if the clocks of sessions
// may differ by some amount, transactions of different sessions count as longer by that amount.
#include "history/contention.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "history/accesses.h"

namespace assay::internal {
namespace {

// When each transaction may have been under way.
class Spans {
 public:
  explicit Spans(const History& h) : h_(h) {}

  int64_t begin(TxnId t) const {
    const int64_t time = h_.begin_time(t).request;
    return Interval::is_moment(time) ? time : std::numeric_limits<int64_t>::min();
  }
  int64_t end(TxnId t) const {
    const int64_t time = h_.end_time(t).response;
    if (!Interval::is_moment(time)) return std::numeric_limits<int64_t>::max();
    return time > std::numeric_limits<int64_t>::max() - h_.clock_drift() ? time
                                                                         : time + h_.clock_drift();
  }
  bool overlap(TxnId a, TxnId b) const { return begin(a) <= end(b) && begin(b) <= end(a); }

 private:
  const History& h_;
};

// The sorted begins and ends of some transactions.
class Crowd {
 public:
  void clear() { begins_.clear(), ends_.clear(); }
  void add(int64_t begin, int64_t end) { begins_.push_back(begin), ends_.push_back(end); }
  void close() { std::sort(begins_.begin(), begins_.end()), std::sort(ends_.begin(), ends_.end()); }
  // How many of the transactions overlap the time from begin to end.
  uint32_t overlapping(int64_t begin, int64_t end) const {
    const auto begun = std::upper_bound(begins_.begin(), begins_.end(), end) - begins_.begin();
    const auto over = std::lower_bound(ends_.begin(), ends_.end(), begin) - ends_.begin();
    return static_cast<uint32_t>(begun - over);
  }

 private:
  std::vector<int64_t> begins_, ends_;
};

class Finder {
 public:
  Finder(const History& h, uint64_t most_txns) : h_(h), spans_(h) { choose(most_txns); }

  Contention found() && {
    list_accesses();
    by_key();
    for (size_t from = 0, to = 0; from < order_.size(); from = to) {
      const KeyId key = access(from).key;
      while (to < order_.size() && access(to).key == key) ++to;
      count_others(from, to);
    }
    count_conflicts();
    return std::move(found_);
  }

 private:
  void choose(uint64_t most) {
    found_.looked_at = h_.txn_count();
    if (h_.txn_count() <= most) return;
    std::vector<int64_t> begins;
    bool timed = true;
    for (TxnId t = 0; t < h_.txn_count() && timed; ++t) timed = h_.begin_time(t).known();
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      begins.push_back(timed ? spans_.begin(t) : h_.position(t));
    std::vector<int64_t> sorted = begins;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(most), sorted.end());
    const int64_t end = sorted[most];
    chosen_.resize(h_.txn_count());
    found_.looked_at = 0;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      chosen_[t] = begins[t] < end;
      found_.looked_at += chosen_[t];
    }
  }
  bool takes_part(TxnId t) const {
    return h_.status(t) != TxnStatus::aborted && (chosen_.empty() || chosen_[t]);
  }

  KeyAccess& access(size_t place) { return found_.accesses[order_[place]]; }

  void list_accesses() {
    for (OpId i = 0; i < h_.op_count() && !has_ranges_; ++i) has_ranges_ = is_range(h_.op(i));
    writer_.assign(h_.version_count(), kNone);
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (takes_part(t)) list_accesses_of(t);
  }

  // Lists the accesses of `t`, one for each key.
  void list_accesses_of(TxnId t) {
    std::vector<KeyAccess>& all = found_.accesses;
    const size_t first = all.size();
    bool wrote = false;
    walk_accesses(
        h_, t, written_,
        [&](const Observation& seen) {
          if (seen.accepts == Accepts::list || !seen.own)
            all.push_back({.txn = t, .key = seen.key, .reads = true});
        },
        [&](const Install& put) {
          all.push_back({.txn = t, .key = put.key, .writes = true});
          wrote = true;
          // If several transactions wrote a version, its writer is uncertain.
          TxnId& writer = writer_[put.version];
          writer = writer == kNone || writer == t ? t : kInitialTxn;
        });
    if (wrote && has_ranges_) all.push_back({.txn = t, .key = kNone, .writes = true});
    std::sort(all.begin() + static_cast<ptrdiff_t>(first), all.end(),
              [](const KeyAccess& a, const KeyAccess& b) { return a.key < b.key; });
    size_t kept = first;
    for (size_t i = first; i < all.size(); ++i) {
      if (kept > first && all[kept - 1].key == all[i].key) {
        KeyAccess& same = all[kept - 1];
        same.rereads |= same.reads && all[i].reads;
        same.rewrites |= same.writes && all[i].writes;
        same.reads |= all[i].reads;
        same.writes |= all[i].writes;
      } else {
        all[kept++] = all[i];
      }
    }
    all.resize(kept);
    found_.timed = found_.timed && h_.begin_time(t).known() && h_.end_time(t).known();
  }

  // Sorts order_ by key, then by session, then by transaction.
  void by_key() {
    std::vector<uint32_t> first(h_.txn_count() + size_t{1}, 0);
    for (const KeyAccess& a : found_.accesses) ++first[a.txn + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    const auto slot = [&](uint32_t i) {
      const KeyId key = found_.accesses[i].key;
      return key == kNone ? size_t{h_.key_count()} : size_t{key};
    };
    std::vector<size_t> next(size_t{h_.key_count()} + 2, 0);
    for (uint32_t i = 0; i < found_.accesses.size(); ++i) ++next[slot(i) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    order_.resize(found_.accesses.size());
    for (SessionId session = 0; session < h_.session_count(); ++session)
      for (const TxnId t : h_.session_txns(session))
        for (uint32_t i = first[t]; i < first[t + 1]; ++i) order_[next[slot(i)]++] = i;
  }

  // An access to one key, with its frequently used properties.
  struct Beside {
    int64_t begin, end;
    SessionId session;
    bool reads, writes;
    uint32_t overlapping_readers = 0, overlapping_writers = 0;
  };

  // Counts the others for the accesses at these places, which are all of one key.
  void count_others(size_t from, size_t to) {
    if (to - from < 2) return;
    uint32_t readers = 0, writers = 0;
    beside_.clear();
    for (size_t place = from; place < to; ++place) {
      const KeyAccess& a = access(place);
      readers += a.reads;
      writers += a.writes;
      beside_.push_back(
          {spans_.begin(a.txn), spans_.end(a.txn), h_.session(a.txn), a.reads, a.writes});
    }
    if (writers == 0) return;
    const std::span<Beside> all(beside_);
    count_overlapping(all, 1);
    for (size_t first = 0, last = 0; first < all.size(); first = last) {
      while (last < all.size() && all[last].session == all[first].session) ++last;
      if (last - first > 1) {
        count_overlapping(all.subspan(first, last - first), -1);
      } else {  // the access overlaps itself
        all[first].overlapping_readers -= all[first].reads;
        all[first].overlapping_writers -= all[first].writes;
      }
    }
    for (size_t place = from; place < to; ++place) {
      KeyAccess& a = access(place);
      a.readers = readers - a.reads;
      a.writers = writers - a.writes;
      a.overlapping_readers = all[place - from].overlapping_readers;
      a.overlapping_writers = all[place - from].overlapping_writers;
    }
  }

  // Adds to, or with -1 subtracts from, each of these accesses how many of them overlap it.
  void count_overlapping(std::span<Beside> some, int sign) {
    readers_.clear(), writers_.clear();
    for (const Beside& a : some) {
      if (a.reads) readers_.add(a.begin, a.end);
      if (a.writes) writers_.add(a.begin, a.end);
    }
    readers_.close(), writers_.close();
    for (Beside& a : some) {
      a.overlapping_readers += static_cast<uint32_t>(sign) * readers_.overlapping(a.begin, a.end);
      a.overlapping_writers += static_cast<uint32_t>(sign) * writers_.overlapping(a.begin, a.end);
    }
  }

  void count_conflicts() {
    uint64_t both_wrote = 0, one_read = 0;
    TxnId last = kNone;
    for (const KeyAccess& a : found_.accesses) {
      if (a.writes && !a.is_of_all_keys()) both_wrote += a.overlapping_writers;
      if (a.reads) one_read += a.overlapping_writers;
      const bool meets = (a.overlapping_writers > 0 && (a.reads || !a.is_of_all_keys())) ||
                         (a.overlapping_readers > 0 && a.writes);
      if (meets && a.txn != last) ++found_.transactions, last = a.txn;
    }
    found_.write_write = both_wrote / 2;
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (takes_part(t)) found_.write_read += overlapping_sources(t);
    found_.read_write = one_read - std::min(one_read, found_.write_read);
  }

  // The number of overlapping transactions that the transaction read a write of; a transaction
  // counts once for each key.
  uint64_t overlapping_sources(TxnId t) {
    seen_.clear();
    const auto look = [&](KeyId key, VersionId version) {
      if (version == kNone) return;
      const TxnId source = writer_[version];
      if (source >= kInitialTxn || source == t) return;
      if (h_.session(source) != h_.session(t) && spans_.overlap(source, t))
        seen_.push_back({key, source});
    };
    walk_accesses(
        h_, t, written_,
        [&](const Observation& seen) {
          if (seen.accepts == Accepts::equals && !seen.own) look(seen.key, seen.version);
          if (seen.accepts == Accepts::list)
            for (const VersionId element : elements_of(h_, seen.op)) look(seen.key, element);
          if (seen.accepts == Accepts::rows)
            for (const VersionId row : rows_of(h_, seen.op)) look(kNone, row);
        },
        [](const Install&) {});
    std::sort(seen_.begin(), seen_.end());
    return static_cast<uint64_t>(std::unique(seen_.begin(), seen_.end()) - seen_.begin());
  }

  const History& h_;
  Spans spans_;
  Contention found_;
  std::vector<bool> chosen_;  // which transactions are examined; empty: all
  bool has_ranges_ = false;
  WrittenKeys written_;
  std::vector<TxnId> writer_;    // indexed by version; kInitialTxn: there are several
  std::vector<uint32_t> order_;  // indices of accesses
  std::vector<Beside> beside_;   // the accesses of one key
  Crowd readers_, writers_;      // times of the accesses being counted
  std::vector<std::pair<KeyId, TxnId>> seen_;
};

}  // namespace

Contention find_contention(const History& history, uint64_t most_txns) {
  return Finder(history, most_txns).found();
}

uint64_t contention_bytes(const History& history) {
  // Per access: itself, its place and, for accesses of the hottest key, a Beside and four times.
  return (sizeof(KeyAccess) + 68) * (uint64_t{history.op_count()} + history.txn_count()) +
         4 * uint64_t{history.version_count()} + 8 * uint64_t{history.key_count()};
}

}  // namespace assay::internal
