#include "certify/weak_order_verifier.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <vector>

#include "certify/commit_order.h"
#include "certify/refusal.h"
#include "history/predicates.h"

namespace assay::internal::certify {
namespace {

Error saw_later_writer(const History& history, const CommitOrder& order, Place reader,
                       const ReadFrom& read, Place seen) {
  return refuse(
      "transaction {} saw transaction {}, yet reads {} from {}, which is earlier in the order",
      history.name(order.txn(reader)), history.name(order.txn(seen)),
      history.key(read.key).to_string(),
      read.from == 0 ? "the initial state" : "transaction " + history.name(order.txn(read.from)));
}

// Per key that the current transaction reads, the read of the earliest source among those added so
// far.
class EarliestSources {
 public:
  explicit EarliestSources(const History& history) : entry_(history.key_count()) {}

  void start(Place reader) {
    reader_ = reader;
    keys_.clear();
  }
  void add(const ReadFrom& read) {
    Entry& e = entry_[read.key];
    if (e.reader != reader_) {
      e = {reader_, read};
      keys_.push_back(read.key);
    } else if (read.from < e.read.from) {
      e.read = read;
    }
  }
  // The read, from a place before `writer`, of a key that `writer` writes; null if there is none.
  const ReadFrom* read_behind(const CommitOrder& order, Place writer) const {
    const auto writes = order.keys_written(writer);
    const auto behind = [&](KeyId k) {
      return entry_[k].reader == reader_ && entry_[k].read.from < writer;
    };
    if (writes.size() <= keys_.size()) {
      for (const KeyId k : writes)
        if (behind(k)) return &entry_[k].read;
    } else {
      for (const KeyId k : keys_)
        if (behind(k) && std::ranges::binary_search(writes, k)) return &entry_[k].read;
    }
    return nullptr;
  }

 private:
  struct Entry {
    Place reader = 0;
    ReadFrom read = {};
  };
  std::vector<Entry> entry_;
  std::vector<KeyId> keys_;
  Place reader_ = 0;
};

// A word [r]s[r] or rr, walked session by session.
class WordWalk {
 public:
  // nullopt if the word is not of this form.
  static std::optional<WordWalk> of(std::string_view word, const History& history,
                                    const CommitOrder& order, Readers readers) {
    for (const std::string_view known : {"s", "rs", "sr", "rr", "rsr"})
      if (word == known) return WordWalk(word, history, order, readers);
    return std::nullopt;
  }

  Status run() {
    for (SessionId s = 0; s < history_.session_count(); ++s) {
      ++stamp_;
      for (const TxnId t : history_.session_txns(s)) {
        const Place p = order_.place(t);
        if (p == kNone) continue;
        if (!by_session_) {
          ++stamp_;
          see_from(p);
        }
        if (!by_readers_)
          if (Status held = holds_for(p); !held.ok()) return held;
        if (by_readers_)
          for (const Place reader : readers_of_[p])
            if (Status held = holds_for(reader); !held.ok()) return held;
        // A session continues without a transaction of unknown outcome.
        if (by_session_ && history_.status(t) == TxnStatus::committed) see_from(p);
      }
    }
    return Ok{};
  }

 private:
  WordWalk(std::string_view word, const History& history, const CommitOrder& order, Readers readers)
      : reads_first_(word.front() == 'r'),
        by_session_(word.find('s') != std::string_view::npos),
        by_readers_(word.back() == 'r'),
        history_(history),
        order_(order),
        readers_(readers),
        last_(history.key_count()) {
    if (!by_readers_) return;
    readers_of_.resize(order.count() + 1);
    for (Place p = 1; p <= order.count(); ++p)
      for (const ReadFrom& read : order.reads(p))
        if (readers_of_[read.from].empty() || readers_of_[read.from].back() != p)
          readers_of_[read.from].push_back(p);
  }

  // Sees the transactions that the walk has passed: `p` itself, or the sources of its reads.
  void see_from(Place p) {
    if (!reads_first_) return see(p);
    for (const ReadFrom& read : order_.reads(p))
      if (read.from != 0) see(read.from);
  }
  void see(Place writer) {
    for (const KeyId key : order_.keys_written(writer)) {
      Last& last = last_[key];
      if (last.stamp != stamp_ || last.writer < writer) last = {stamp_, writer};
    }
  }
  Status holds_for(Place reader) const {
    if (!readers_.has(reader)) return Ok{};
    for (const ReadFrom& read : order_.reads(reader)) {
      const Last& last = last_[read.key];
      if (last.stamp == stamp_ && last.writer > read.from && last.writer != reader)
        return saw_later_writer(history_, order_, reader, read, last.writer);
    }
    return Ok{};
  }

  struct Last {
    uint32_t stamp = 0;
    Place writer = 0;
  };
  const bool reads_first_, by_session_, by_readers_;
  const History& history_;
  const CommitOrder& order_;
  const Readers readers_;
  std::vector<Last> last_;  // indexed by key: the last writer seen, if its stamp is the current one
  std::vector<std::vector<Place>> readers_of_;  // indexed by place: its readers
  uint32_t stamp_ = 0;  // of the current session, or transaction if the word has no s
};

// Handles any number of steps s and r.
class SeenWriters {
 public:
  SeenWriters(const History& history, const CommitOrder& order, Readers readers)
      : history_(history),
        order_(order),
        readers_(readers),
        previous_(order.count() + 1),
        until_(order.count() / kBlock + 1),
        seen_(order.count() + 1),
        written_(history.key_count()) {
    for (SessionId s = 0; s < history.session_count(); ++s) {
      Place last = 0;
      for (const TxnId t : history.session_txns(s)) {
        const Place p = order.place(t);
        if (p == kNone) continue;
        previous_[p] = last;
        if (history.status(t) == TxnStatus::committed) last = p;
      }
    }
  }

  Status check() {
    find_readers();
    for (Place block = 0; block < until_.size(); ++block)
      if (until_[block] > 0)
        if (Status s = pass(block * kBlock, until_[block]); !s.ok()) return s;
    return Ok{};
  }

 private:
  static constexpr Place kBlock = 256;
  using Seen = std::array<uint64_t, kBlock / 64>;  // places of a block

  static void set(Seen& seen, Place column) { seen[column / 64] |= uint64_t{1} << column % 64; }

  // Finds, for each block, the last reader that needs it: a reader examines the writers of a key
  // between its source and itself.
  void find_readers() {
    const PlacedWriters writers(history_, order_.txns());
    for (Place p = 1; p <= order_.count(); ++p)
      for (const ReadFrom& read : order_.reads(p)) {
        const Place last = writers.before(read.key, p);
        if (last <= read.from || !readers_.has(p)) continue;
        const Place first = writers.of(read.key)[writers.up_to(read.key, read.from)];
        for (Place block = first / kBlock; block <= last / kBlock; ++block) until_[block] = p;
      }
  }

  // Finds which transactions up to the reader `last` saw which of those from `first` on.
  Status pass(Place first, Place last) {
    const Place begin = std::max<Place>(first, 1);
    const Place end = std::min(first + kBlock, order_.count() + 1);
    for (Place p = begin; p < end; ++p)
      for (const KeyId k : order_.keys_written(p)) set(written_[k], p - first);
    for (Place p = begin; p <= last; ++p) {
      seen_[p] = {};
      note_seen(p, first, previous_[p]);
      for (const ReadFrom& read : order_.reads(p)) note_seen(p, first, read.from);
      if (!readers_.has(p)) continue;
      for (const ReadFrom& read : order_.reads(p))
        if (const Place writer = seen_behind(p, first, read); writer > read.from)
          return saw_later_writer(history_, order_, p, read, writer);
    }
    for (Place p = begin; p < end; ++p)
      for (const KeyId k : order_.keys_written(p)) written_[k] = {};
    return Ok{};
  }

  // Notes that `p` saw `other`, and all that `other` saw.
  void note_seen(Place p, Place first, Place other) {
    if (other == 0 || other < first) return;
    for (size_t i = 0; i < seen_[p].size(); ++i) seen_[p][i] |= seen_[other][i];
    if (other - first < kBlock) set(seen_[p], other - first);
  }
  // The last transaction of the block that writes the key and was seen; 0 if there is none.
  Place seen_behind(Place p, Place first, const ReadFrom& read) const {
    for (size_t i = seen_[p].size(); i-- > 0;)
      if (const uint64_t both = seen_[p][i] & written_[read.key][i]; both != 0)
        return first + static_cast<Place>(64 * i + 63) - static_cast<Place>(std::countl_zero(both));
    return 0;
  }

  const History& history_;
  const CommitOrder& order_;
  const Readers readers_;
  std::vector<Place> previous_;  // indexed by place: the previous one of its session that
                                 // committed; 0: none
  std::vector<Place> until_;     // indexed by block: the last reader that needs a place in it; 0:
                                 // none
  std::vector<Seen> seen_;       // indexed by place; for the block that is being examined
  std::vector<Seen> written_;    // indexed by key; for the block that is being examined
};

class WeakOrder {
 public:
  WeakOrder(const History& history, const CommitOrder& order, Readers readers)
      : history_(history), order_(order), readers_(readers) {}

  Status serves(const LevelInfo& level) const {
    if (level.repeatable)
      if (Status s = check_repeatable(); !s.ok()) return s;
    const auto closure = [&] { return SeenWriters(history_, order_, readers_).check(); };
    if (level.seen.repeated) return closure();
    for (const std::string_view word : level.seen.words) {
      if (word.empty()) continue;
      const Status s = check_word(word, level.seen.earlier_reads);
      if (s.ok()) continue;
      // The versions that queries may also have read let no transaction see more by any number of
      // steps, which includes more than one word.
      return may_skip_any_version(history_) ? closure() : s;
    }
    return Ok{};
  }

 private:
  Status check_word(std::string_view word, bool earlier_reads) const {
    if (word == "r") return check_direct(earlier_reads);
    std::optional<WordWalk> walk = WordWalk::of(word, history_, order_, readers_);
    return walk ? walk->run() : refuse("no commit order can prove a level that sees {}", word);
  }

  // Checks that every transaction reads each key from one writer.
  Status check_repeatable() const {
    std::vector<Place> reader(history_.key_count(), 0), from(history_.key_count(), 0);
    for (Place p = 1; p <= order_.count(); ++p) {
      if (!readers_.has(p)) continue;
      for (const ReadFrom& read : order_.reads(p)) {
        if (reader[read.key] == p && from[read.key] != read.from)
          return refuse("transaction {} reads {} twice and gets different values",
                        history_.name(order_.txn(p)), history_.key(read.key).to_string());
        reader[read.key] = p;
        from[read.key] = read.from;
      }
    }
    return Ok{};
  }

  // Checks the word r: the transactions that a transaction reads from limit what else it may read
  // or, with `earlier`, what it may read later.
  Status check_direct(bool earlier) const {
    EarliestSources bounded(history_);
    std::vector<Place> met_by(order_.count() + 1, 0);
    std::vector<size_t> firsts;  // indices of the reads that see a transaction for the first time
    for (Place p = 1; p <= order_.count(); ++p) {
      if (!readers_.has(p)) continue;
      const auto reads = order_.reads(p);
      firsts.clear();
      for (size_t i = 0; i < reads.size(); ++i) {
        if (reads[i].from == 0 || met_by[reads[i].from] == p) continue;
        met_by[reads[i].from] = p;
        firsts.push_back(i);
      }
      bounded.start(p);
      size_t begin = reads.size();  // reads from here on have been added
      while (!earlier && begin > 0) bounded.add(reads[--begin]);
      for (size_t i = reads.size(); i-- > 0;) {
        // One operation on a range sees everything at once.
        if (begin > i + 1 && reads[i].op != reads[begin - 1].op)
          while (begin > i + 1) bounded.add(reads[--begin]);
        if (firsts.empty() || firsts.back() != i) continue;
        firsts.pop_back();
        if (const ReadFrom* read = bounded.read_behind(order_, reads[i].from))
          return saw_later_writer(history_, order_, p, *read, reads[i].from);
      }
    }
    return Ok{};
  }

  const History& history_;
  const CommitOrder& order_;
  const Readers readers_;
};

}  // namespace

Status commit_order_serves(const LevelInfo& level, const History& history, const CommitOrder& order,
                           Readers readers) {
  return WeakOrder(history, order, readers).serves(level);
}

}  // namespace assay::internal::certify
