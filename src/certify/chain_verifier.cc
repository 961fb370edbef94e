#include "certify/chain_verifier.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "certify/refusal.h"
#include "history/copy.h"
#include "history/value_bytes.h"

namespace assay::internal::certify {
namespace {

// Checks that `explains(access, own)` is true for what the transaction saw of others. The
// transaction's own last write of a key hides theirs: `own`, if that does not explain the access.
template <class Explains>
Status replay(const ChainContents::Txn& t, Explains explains) {
  const History& h = t.history();
  std::vector<ChainContents::Piece::Key>& keys = t.piece->keys;
  for (const Access& a : accesses(h, t.txn))
    if (a.writes()) keys[a.key].owner = kNone;
  for (const Access& a : accesses(h, t.txn)) {
    if (a.is_list() || a.is_range())
      return refuse("line {}: a chain does not cover lists and ranges", h.line(t.txn));
    ChainContents::Piece::Key& key = keys[a.key];
    const bool own = key.owner == t.txn;
    const auto sees_own = [&] {
      return own && ChainContents::left_by(h, access_of(h, key.write)).bears_out(h, a);
    };
    if (a.reads() && !sees_own() && !explains(a, own))
      return refuse("{} in line {}: its read of {} does not match the state at that point",
                    h.name(t.txn), h.line(t.txn), h.key(a.key).to_string());
    if (!a.writes()) continue;
    key.owner = t.txn;
    key.write = a.op;
  }
  return Ok{};
}

}  // namespace

Result<ChainVerifier> ChainVerifier::of(LevelId level) {
  const LevelInfo& info = level_info(level);
  if (info.events != EventModel::single || !info.session_order)
    return refuse("a chain cannot be about {}", info.name);
  return ChainVerifier(level);
}

ChainVerifier::Session& ChainVerifier::session_of(const Txn& t) {
  const History& h = t.history();
  return sessions_[HeldValue(h.session_name(h.session(t.txn)))];
}

void ChainVerifier::hold(uint64_t line, const Txn& t) {
  waiting_.emplace(line, t);
  session_of(t).waiting.insert(line);
}

Status ChainVerifier::read(const std::shared_ptr<const History>& h) {
  const auto apart = unknown_outcomes_of(*h);
  if (!apart.ok()) return apart.error();
  const auto piece = std::make_shared<Piece>(h, gaps()),
             unknown = std::make_shared<Piece>(*apart, gaps());
  TxnId next_unknown = 0;
  for (TxnId t = 0; t < h->txn_count(); ++t) {
    ++read_;
    const uint64_t line = lines_.of(h->line(t));
    if (holds(line)) return refuse("line {} holds two transactions", line);
    const bool is_unknown = h->status(t) == TxnStatus::unknown;
    hold(line, is_unknown ? Txn{unknown, next_unknown++} : Txn{piece, t});
  }
  return Ok{};
}

Result<ChainVerifier::Txn> ChainVerifier::take(uint64_t line) {
  const auto it = waiting_.find(line);
  if (it == waiting_.end())
    return refuse("line {} holds no transaction, or one that was named before", line);
  late_.release(line);
  Txn t = std::move(it->second);
  waiting_.erase(it);
  session_of(t).waiting.erase(line);
  return t;
}

Status ChainVerifier::accept(const Segment& s) {
  if (s.gap) {  // the state is unknown from here on, and no transaction is awaited
    contents_.forget();
    late_.clear();
  }
  for (const uint64_t line : s.left_out)
    if (Status left = leave_out(line); !left.ok()) return left;
  // A transaction that had a place before and is given up does not block others.
  for (const uint64_t line : s.without_effect) late_.release(line);
  segment_ = {};
  if (Status placed = place_all(s); !placed.ok()) return placed;
  if (!s.rivals.empty()) {
    ChainRivals rivals(contents_, segment_, keeps_real_time());
    for (const Segment::Rival& r : s.rivals)
      if (Status known = rivals.add(r); !known.ok()) return known;
  }
  for (const uint64_t line : s.without_effect)
    if (Status dropped = drop(line); !dropped.ok()) return dropped;
  return Ok{};
}

// Drops the transaction of this line, which had no effect.
Status ChainVerifier::drop(uint64_t line) {
  const Result<Txn> t = take(line);
  if (!t.ok()) return t.error();
  if (t->history().status(t->txn) == TxnStatus::committed)
    return refuse("line {} is committed, but is taken to have had no effect", line);
  return Ok{};
}

Status ChainVerifier::leave_out(uint64_t line) {
  const Result<Txn> t = take(line);
  if (!t.ok()) return t.error();
  if (t->history().status(t->txn) != TxnStatus::aborted) ++left_out_;
  excuses_.add(t->history(), t->txn);
  return Ok{};
}

Status ChainVerifier::end(const ChainEnd& end) {
  for (const auto& [line, t] : waiting_)
    if (t.history().status(t.txn) == TxnStatus::committed)
      return refuse("no segment names line {}, which is committed", line);
  if (end.transactions != read_)
    return refuse("the history has {} transactions, but the chain names {}", read_,
                  end.transactions);
  return Ok{};
}

Status ChainVerifier::place_all(const Segment& s) {
  std::unordered_map<uint64_t, std::vector<const Segment::Late*>> behind;
  std::unordered_map<uint64_t, const Segment::Late*> last_late;
  for (const Segment::Late& late : s.late) {
    behind[late.behind].push_back(&late);
    last_late[late.txn] = &late;
  }
  std::unordered_set<uint64_t> took_effect(s.took_effect.begin(), s.took_effect.end());
  for (const uint64_t line : s.took_effect)
    if (!last_late.contains(line))
      if (Status effect = take_effect(line); !effect.ok()) return effect;
  const auto place_behind = [&](uint64_t line) -> Status {
    const auto it = behind.find(line);
    if (it == behind.end()) return Ok{};
    for (const Segment::Late* late : it->second) {
      if (Status added = add_late(late->txn); !added.ok()) return added;
      if (took_effect.contains(late->txn) && last_late[late->txn] == late)
        if (Status effect = take_effect(late->txn); !effect.ok()) return effect;
    }
    behind.erase(it);
    return Ok{};
  };
  if (Status first = place_behind(last_placed_); !first.ok()) return first;
  for (const uint64_t line : s.order) {
    const Result<Txn> t = take(line);
    if (!t.ok()) return t.error();
    if (Status placed = place(line, *t); !placed.ok()) return placed;
    last_placed_ = line;
    if (Status late = place_behind(line); !late.ok()) return late;
  }
  if (!behind.empty())
    return refuse("the segment places line {} after line {}, which it does not contain",
                  behind.begin()->second.front()->txn, behind.begin()->first);
  return Ok{};
}

// Gives the transaction its place at the end of the order, if its reads are right there and stay so
// whichever transactions turn out to have taken effect.
Status ChainVerifier::add_late(uint64_t line) {
  const auto it = waiting_.find(line);
  if (it == waiting_.end())
    return refuse("line {} has no transaction that waits for a place", line);
  late_.release(line);  // it gets a new place now
  const Txn& t = it->second;
  const History& h = t.history();
  if (h.status(t.txn) != TxnStatus::unknown)
    return refuse("the outcome of line {} is known", h.line(t.txn));
  const auto there_for_good = [&](const Access& a, bool own) {
    return !own && contents_.explains_for_good(*t.piece, a);
  };
  if (Status there = replay(t, there_for_good); !there.ok()) return there;
  // If it took effect, the transactions whose writes it missed did not.
  each_outside_look(h, t.txn, [&](const Access& seen) { late_.look_at(h.key(seen.key)); });
  for (const uint64_t earlier : session_of(t).waiting) {
    if (earlier >= line) break;
    const Txn& e = waiting_.find(earlier)->second;
    if (e.history().status(e.txn) == TxnStatus::committed)
      return refuse("line {} is out of order: its session did line {} first", line, earlier);
  }
  note_begin(t);
  late_.add(line, t);
  segment_.lates.push_back({t, segment_.placed.size()});
  return Ok{};
}

Status ChainVerifier::take_effect(uint64_t line) {
  if (!late_.contains(line))
    return refuse("line {} cannot have taken effect: it has no place", line);
  const std::vector<KeyId> shown = late_.shown_keys(line);
  const History& h = waiting_.find(line)->second.history();
  for (const KeyId key : shown) late_.overwrite(h.key(key), line);
  const Result<Txn> t = take(line);
  if (!t.ok()) return t.error();
  uint64_t& latest = session_of(*t).latest;
  latest = std::max(latest, line);
  contents_.install(*t, line, [&](KeyId key) { return std::ranges::count(shown, key) > 0; });
  return Ok{};
}

Status ChainVerifier::place(uint64_t line, const Txn& t) {
  const History& h = t.history();
  if (h.status(t.txn) == TxnStatus::aborted)
    return refuse("line {} was aborted, but is in the order", line);
  if (level_info(level_).single_operations && h.end_op(t.txn) - h.first_op(t.txn) > 1)
    return refuse("line {} has more than one operation", line);
  if (Status in_time = keep_real_time(line, t); !in_time.ok()) return in_time;
  // The session did not wait for an outcome that it never learned.
  uint64_t& latest = session_of(t).latest;
  if (h.status(t.txn) == TxnStatus::committed && line < latest)
    return refuse("line {} comes after line {}, which it precedes in its session", line, latest);
  latest = std::max(latest, line);
  std::vector<OpId> excused;
  const auto there = [&](const Access& a, bool own) {
    if (excuses_.excuse(h, a)) {
      excused.push_back(a.op);
      return true;
    }
    if (!own) late_.look_at(h.key(a.key));
    return !own && contents_.explains(*t.piece, a);
  };
  if (Status s = replay(t, there); !s.ok()) return s;
  for (const Access& a : accesses(h, t.txn))
    if (a.writes()) late_.overwrite(h.key(a.key), 0);
  contents_.install(t, line, [](KeyId) { return true; });
  segment_.placed.push_back({line, t, std::move(excused)});
  return Ok{};
}

// Checks real time for a transaction that comes after all transactions with a place.
Status ChainVerifier::keep_real_time(uint64_t line, const Txn& t) {
  if (!keeps_real_time()) return Ok{};
  const History& h = t.history();
  if (h.status(t.txn) == TxnStatus::committed &&
      (!h.begin_time(t.txn).known() || !h.end_time(t.txn).known()))
    return refuse("line {} has no times", line);
  if (end_of(h, t.txn) < latest_begin_)
    return refuse("line {} ended before an earlier one in the order began", line);
  note_begin(t);
  return Ok{};
}

void ChainVerifier::note_begin(const Txn& t) {
  const Interval begin = t.history().begin_time(t.txn);
  if (begin.known()) latest_begin_ = std::max(latest_begin_, begin.request);
}

void ChainVerifier::save(StreamWriter& to, formats::TxnTableWriter& txns) const {
  to.number(lines_.last());
  to.number(read_);
  to.number(last_placed_);
  to.integer(latest_begin_);
  to.number(left_out_);
  to.number(gaps());
  to.number(waiting_.size());
  for (const auto& [line, t] : waiting_) {
    txns.add(line, t.piece->history, t.txn);
    to.number(line);
  }
  to.number(sessions_.size());
  for (const auto& [name, session] : sessions_) {
    put_value(to, name.view());
    to.number(session.latest);
  }
  contents_.save(to);
  late_.save(to);
  excuses_.save(to);
}

Status ChainVerifier::load(StreamReader& from, const formats::TxnTable& txns) {
  lines_ = LineNumbers(from.number());
  read_ = from.number();
  last_placed_ = from.number();
  latest_begin_ = from.integer();
  left_out_ = from.number();
  contents_.set_gaps(from.number());
  const auto piece = std::make_shared<Piece>(txns.history(), gaps());
  for (size_t n = from.count(); n > 0 && from.ok(); --n) {
    const uint64_t line = from.number();
    const TxnId t = txns.find(line);
    if (t == kNone || holds(line))
      from.fail();
    else
      hold(line, Txn{piece, t});
  }
  for (size_t n = from.count(); n > 0; --n) {
    const HeldValue name = take_value(from);
    sessions_[name].latest = from.number();
  }
  contents_.load(from);
  late_.load(from, [&](uint64_t line) {
    const auto it = waiting_.find(line);
    return it == waiting_.end() ? nullptr : &it->second;
  });
  excuses_.load(from);
  if (!from.ok()) return bad_input("the saved state of the chain is invalid");
  return Ok{};
}

}  // namespace assay::internal::certify
