#include "certify/weak_order_verifier.h"

#include <algorithm>
#include <vector>

#include "certify/commit_order.h"
#include "certify/refusal.h"
#include "certify/seen_writers.h"
#include "certify/session_clocks.h"
#include "history/predicates.h"

namespace assay::internal::certify {
namespace {

Error saw_later_writer(const History& history, const CommitOrder& order, Place reader, KeyId key,
                       Place seen, Place from) {
  const std::string source =
      from == 0 ? "the initial state" : "transaction " + history.name(order.txn(from));
  return refuse(
      "transaction {} saw transaction {} and yet reads {} from {}, which is before that in the "
      "order",
      history.name(order.txn(reader)), history.name(order.txn(seen)), history.key(key).to_string(),
      source);
}

// Per key that the current transaction reads, the earliest source among the reads added so far.
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
      e = {reader_, read.from};
      keys_.push_back(read.key);
    } else {
      e.from = std::min(e.from, read.from);
    }
  }
  // A key that `writer` writes and that was read from an earlier place; kNone if there is none.
  KeyId read_behind(const CommitOrder& order, Place writer) const {
    const auto writes = order.keys_written(writer);
    auto behind = [&](KeyId k) { return entry_[k].reader == reader_ && entry_[k].from < writer; };
    if (writes.size() <= keys_.size()) {
      for (KeyId k : writes)
        if (behind(k)) return k;
    } else {
      for (KeyId k : keys_)
        if (behind(k) && std::binary_search(writes.begin(), writes.end(), k)) return k;
    }
    return kNone;
  }
  Place source(KeyId key) const { return entry_[key].from; }

 private:
  struct Entry {
    Place reader = 0;
    Place from = 0;
  };
  std::vector<Entry> entry_;
  std::vector<KeyId> keys_;
  Place reader_ = 0;
};

// Read committed: what was read first bounds what may be read later.
Status check_read_committed(const History& history, const CommitOrder& order, Readers readers) {
  EarliestSources later(history);
  std::vector<Place> met_by(order.count() + 1, 0);
  std::vector<size_t> firsts;  // indices of the reads that see a transaction for the first time
  for (Place p = 1; p <= order.count(); ++p) {
    if (!readers.has(p)) continue;
    const auto reads = order.reads(p);
    firsts.clear();
    for (size_t i = 0; i < reads.size(); ++i) {
      if (reads[i].from == 0 || met_by[reads[i].from] == p) continue;
      met_by[reads[i].from] = p;
      firsts.push_back(i);
    }
    later.start(p);
    size_t later_begin = reads.size();
    for (size_t i = reads.size(); i-- > 0;) {
      // What one operation on a range sees it sees at once.
      if (later_begin > i + 1 && reads[i].op != reads[later_begin - 1].op)
        while (later_begin > i + 1) later.add(reads[--later_begin]);
      if (firsts.empty() || firsts.back() != i) continue;
      firsts.pop_back();
      const KeyId key = later.read_behind(order, reads[i].from);
      if (key != kNone)
        return saw_later_writer(history, order, p, key, reads[i].from, later.source(key));
    }
  }
  return Ok{};
}

// Every key is read from one writer. Needed from read atomic upwards.
Status check_repeatable(const History& history, const CommitOrder& order, Readers readers) {
  std::vector<Place> reader(history.key_count(), 0), from(history.key_count(), 0);
  for (Place p = 1; p <= order.count(); ++p) {
    if (!readers.has(p)) continue;
    for (const ReadFrom& read : order.reads(p)) {
      if (reader[read.key] == p && from[read.key] != read.from)
        return refuse("transaction {} reads {} twice and gets different values",
                      history.name(order.txn(p)), history.key(read.key).to_string());
      reader[read.key] = p;
      from[read.key] = read.from;
    }
  }
  return Ok{};
}

// Read atomic, first half: of whom a transaction reads anything, it sees everything.
Status check_whole_writers(const History& history, const CommitOrder& order, Readers readers) {
  EarliestSources all(history);
  std::vector<Place> met_by(order.count() + 1, 0);
  for (Place p = 1; p <= order.count(); ++p) {
    if (!readers.has(p)) continue;
    all.start(p);
    for (const ReadFrom& read : order.reads(p)) all.add(read);
    for (const ReadFrom& read : order.reads(p)) {
      if (read.from == 0 || met_by[read.from] == p) continue;
      met_by[read.from] = p;
      const KeyId key = all.read_behind(order, read.from);
      if (key != kNone) return saw_later_writer(history, order, p, key, read.from, all.source(key));
    }
  }
  return Ok{};
}

// Read atomic, second half: it sees everything its session did before. Of the session's writers of
// a key the last matters, since the order follows the session.
Status check_own_session(const History& history, const CommitOrder& order, Readers readers) {
  struct Last {
    SessionId session = kNone;
    Place writer = 0;
  };
  std::vector<Last> last(history.key_count());
  for (SessionId s = 0; s < history.session_count(); ++s) {
    for (TxnId t : history.session_txns(s)) {
      const Place p = order.place(t);
      if (p == kNone) continue;
      for (const ReadFrom& read : order.reads(p))
        if (readers.has(p) && last[read.key].session == s && last[read.key].writer > read.from)
          return saw_later_writer(history, order, p, read.key, last[read.key].writer, read.from);
      if (history.status(t) != TxnStatus::committed) continue;
      for (KeyId k : order.keys_written(p)) last[k] = {s, p};
    }
  }
  return Ok{};
}

// Session guarantees: walks through each session, keeping of all writers of a key that count as seen so far the last one
// in the order. Whom it is held against is the transaction itself, or those who read from it.
class GuaranteeCheck {
 public:
  GuaranteeCheck(LevelId level, const History& history, const CommitOrder& order)
      : level_(level), history_(history), order_(order), last_(history.key_count()) {
    if (level == LevelId::monotonic_reads) return;
    readers_.resize(order.count() + 1);
    for (Place p = 1; p <= order.count(); ++p)
      for (const ReadFrom& read : order.reads(p))
        if (readers_[read.from].empty() || readers_[read.from].back() != p)
          readers_[read.from].push_back(p);
  }

  Status run() {
    for (session_ = 0; session_ < history_.session_count(); ++session_) {
      for (const TxnId t : history_.session_txns(session_)) {
        const Place p = order_.place(t);
        if (p == kNone) continue;
        if (Status s = visit(p, history_.status(t) == TxnStatus::committed); !s.ok()) return s;
      }
    }
    return Ok{};
  }

 private:
  struct Last {
    SessionId session = kNone;
    Place writer = 0;
  };

  Status visit(Place p, bool committed) {
    switch (level_) {
      case LevelId::monotonic_reads:
        if (Status s = holds_for(p); !s.ok()) return s;
        if (committed) see_what_it_read(p);
        return Ok{};
      case LevelId::monotonic_writes:
        if (Status s = holds_for_readers(p); !s.ok()) return s;
        if (committed) see(p);
        return Ok{};
      case LevelId::writes_follow_reads: {
        if (committed) {
          see_what_it_read(p);
          return holds_for_readers(p);
        }
        const std::vector<Last> before = last_;  // its session goes on without it
        see_what_it_read(p);
        Status s = holds_for_readers(p);
        last_ = before;
        return s;
      }
      default:
        return refuse("{} is no session guarantee", level_info(level_).name);
    }
  }

  void see(Place writer) {
    for (const KeyId key : order_.keys_written(writer)) {
      Last& last = last_[key];
      if (last.session != session_ || last.writer < writer) last = {session_, writer};
    }
  }
  void see_what_it_read(Place p) {
    for (const ReadFrom& read : order_.reads(p))
      if (read.from != 0) see(read.from);
  }
  Status holds_for_readers(Place p) const {
    for (const Place reader : readers_[p])
      if (Status s = holds_for(reader); !s.ok()) return s;
    return Ok{};
  }
  Status holds_for(Place reader) const {
    for (const ReadFrom& read : order_.reads(reader)) {
      const Last& last = last_[read.key];
      if (last.session == session_ && last.writer > read.from && last.writer != reader)
        return saw_later_writer(history_, order_, reader, read.key, last.writer, read.from);
    }
    return Ok{};
  }

  const LevelId level_;
  const History& history_;
  const CommitOrder& order_;
  std::vector<Last> last_;                   // per key
  std::vector<std::vector<Place>> readers_;  // per place: who reads from it
  SessionId session_ = 0;
};

// The writers of every key so far, along the commit order.
class KeyWriters {
 public:
  struct Writer {
    Place place;
    uint32_t chain;
    uint32_t position;  // on its chain
  };

  // Keys with more writers than `many` are kept by chain too.
  KeyWriters(const History& history, const CommitOrder& order, uint64_t many)
      : begin_(history.key_count() + 1), by_chain_(history.key_count()), many_(many) {
    for (Place p = 1; p <= order.count(); ++p)
      for (KeyId k : order.keys_written(p)) ++begin_[k + 1];
    for (size_t k = 0; k + 1 < begin_.size(); ++k) begin_[k + 1] += begin_[k];
    end_.assign(begin_.begin(), begin_.end() - 1);
    all_.resize(begin_.back());
  }
  void add(KeyId k, const Writer& writer) {
    all_[end_[k]++] = writer;
    if (!has_many(k)) return;
    if (by_chain_[k].size() <= writer.chain) by_chain_[k].resize(writer.chain + 1);
    by_chain_[k][writer.chain].push_back(writer);
  }
  bool has_many(KeyId k) const { return begin_[k + 1] - begin_[k] > many_; }
  std::span<const Writer> of(KeyId k) const {
    return {all_.data() + begin_[k], all_.data() + end_[k]};
  }
  // Per chain; only if there are many.
  const std::vector<std::vector<Writer>>& by_chain(KeyId k) const { return by_chain_[k]; }

 private:
  std::vector<size_t> begin_, end_;  // per key
  std::vector<Writer> all_;
  std::vector<std::vector<std::vector<Writer>>> by_chain_;
  const uint64_t many_;
};

class CausalCheck {
 public:
  CausalCheck(const History& history, const CommitOrder& order, Readers readers)
      : history_(history),
        order_(order),
        readers_(readers),
        clocks_(history, order),
        few_(size_t{4} * clocks_.chain_count()),
        writers_(history, order, few_) {}

  Status run() {
    for (Place p = 1; p <= order_.count(); ++p) {
      Result<std::span<const uint32_t>> clock = clocks_.advance(p);
      if (!clock.ok()) return clock.error();
      for (const ReadFrom& read : order_.reads(p)) {
        const Place seen = readers_.has(p) ? later_writer_seen(*clock, read) : 0;
        if (seen != 0) return saw_later_writer(history_, order_, p, read.key, seen, read.from);
      }
      for (KeyId k : order_.keys_written(p))
        writers_.add(k, {p, clocks_.chain(p), clocks_.position(p)});
    }
    return Ok{};
  }

 private:
  using Writer = KeyWriters::Writer;

  static bool saw(std::span<const uint32_t> clock, const Writer& w) {
    return w.chain < clock.size() && clock[w.chain] >= w.position;
  }

  // A writer of the key behind read.from that the reader saw; 0 if there is none. Usually few stand between the two.
  Place later_writer_seen(std::span<const uint32_t> clock, const ReadFrom& read) const {
    const std::span<const Writer> writers = writers_.of(read.key);
    size_t looks = 0;
    for (size_t i = writers.size(); i-- > 0 && writers[i].place > read.from; ++looks) {
      if (looks == few_) return last_seen_by_chain(clock, read);
      if (saw(clock, writers[i])) return writers[i].place;
    }
    return 0;
  }

  // The same, asking each chain for its last writer that was seen.
  Place last_seen_by_chain(std::span<const uint32_t> clock, const ReadFrom& read) const {
    for (const std::vector<Writer>& chain : writers_.by_chain(read.key)) {
      const auto unseen = std::partition_point(chain.begin(), chain.end(),
                                               [&](const Writer& w) { return saw(clock, w); });
      if (unseen != chain.begin() && (unseen - 1)->place > read.from) return (unseen - 1)->place;
    }
    return 0;
  }

  const History& history_;
  const CommitOrder& order_;
  const Readers readers_;
  SessionClocks clocks_;
  const size_t few_;
  KeyWriters writers_;
};

// A clock is 32 bits a session, a set of transactions one bit each.
Status check_causal(const History& history, const CommitOrder& order, Readers readers) {
  if (32 * uint64_t{history.session_count()} <= std::max<uint64_t>(order.count(), 64)) {
    Status by_clocks = CausalCheck(history, order, readers).run();
    if (by_clocks.ok() || by_clocks.error().kind != ErrorKind::budget) return by_clocks;
  }
  return SeenWriters(history, order).check(readers);
}

}  // namespace

Status commit_order_serves(LevelId level, const History& history, const CommitOrder& order,
                           Readers readers) {
  switch (level) {
    case LevelId::read_your_writes:
      return check_own_session(history, order, readers);
    case LevelId::monotonic_reads:
    case LevelId::monotonic_writes:
      return GuaranteeCheck(level, history, order).run();
    case LevelId::writes_follow_reads:
      // What queries may have read besides makes no one see more at causal, which implies this level.
      if (passes_over_any_version(history)) return check_causal(history, order, readers);
      return GuaranteeCheck(level, history, order).run();
    case LevelId::read_committed:
      return check_read_committed(history, order, readers);
    case LevelId::read_atomic:
      if (Status s = check_repeatable(history, order, readers); !s.ok()) return s;
      if (Status s = check_whole_writers(history, order, readers); !s.ok()) return s;
      return check_own_session(history, order, readers);
    case LevelId::causal:
      if (Status s = check_repeatable(history, order, readers); !s.ok()) return s;
      return check_causal(history, order, readers);
    default:
      return refuse("no commit order is known to serve {}", level_info(level).name);
  }
}

}  // namespace assay::internal::certify
