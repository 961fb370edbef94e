#include "certify/chain_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "certify/refusal.h"
#include "history/copy.h"

namespace assay::internal::certify {
namespace {

HeldValue session_of(const History& h, TxnId t) { return HeldValue(h.session_name(h.session(t))); }

// A transaction of unknown outcome has no end.
int64_t end_of(const History& h, TxnId t) {
  return h.status(t) == TxnStatus::committed ? h.end_time(t).response : Interval::kOpen;
}

Error mismatch(const History& h, TxnId t, const Access& seen) {
  return refuse("{} in line {}: what it saw of {} is not what is there by then", h.name(t),
                h.line(t), h.key(seen.key).to_string());
}

RegisterState initially_held(const History& h, KeyId key) { return {h.initial(key)}; }
RegisterState held_after(const History& h, const Access& write) {
  return {h.version_value(write.version), write.removes()};
}

// Whether the operation could return what it did while its key held this.
bool bears_out(const History& h, const Access& a, const RegisterState& held) {
  const auto shown = [&] {
    const ValueView seen = h.version_value(a.seen);
    return seen == held.value || (held.removed && seen.is_null());
  };
  return accepts(a.accepts, shown, [&] { return held.removed || held.value.is_null(); });
}

// Calls `visit` for each look of the transaction at what others left.
template <class Visit>
void each_outside_look(const History& h, TxnId t, Visit visit) {
  std::unordered_set<KeyId> own;
  for (const Access& a : accesses(h, t)) {
    if (a.reads() && !own.contains(a.key)) visit(a);
    if (a.writes()) own.insert(a.key);
  }
}

}  // namespace

Result<ChainVerifier> ChainVerifier::of(LevelId level) {
  const LevelInfo& info = level_info(level);
  if (info.events != EventModel::single || !info.session_order)
    return refuse("a chain cannot be of {}", info.name);
  return ChainVerifier(level);
}

Status ChainVerifier::read(const std::shared_ptr<const History>& h) {
  const auto piece_of = [&](std::shared_ptr<const History> history) {
    auto piece = std::make_shared<Piece>();
    piece->keys.resize(history->key_count());
    piece->history = std::move(history);
    piece->gaps = gaps_;
    return piece;
  };
  const auto apart = unknown_outcomes_of(*h);
  if (!apart.ok()) return apart.error();
  const std::shared_ptr<Piece> piece = piece_of(h), unknown = piece_of(*apart);
  TxnId next_unknown = 0;
  for (TxnId t = 0; t < h->txn_count(); ++t) {
    ++read_;
    const uint64_t line = lines_.of(h->line(t));
    const bool is_unknown = h->status(t) == TxnStatus::unknown;
    if (!waiting_.emplace(line, is_unknown ? Txn{unknown, next_unknown++} : Txn{piece, t}).second)
      return refuse("two transactions are in line {}", line);
    sessions_[session_of(*h, t)].waiting.insert(line);
  }
  return Ok{};
}

Result<ChainVerifier::Txn> ChainVerifier::take(uint64_t line) {
  const auto it = waiting_.find(line);
  if (it == waiting_.end())
    return refuse("line {} holds no transaction, or one that was named before", line);
  const History& h = *it->second.piece->history;
  if (parked_.contains(line)) release(line);
  Txn t = std::move(it->second);
  waiting_.erase(it);
  sessions_.find(session_of(h, t.txn))->second.waiting.erase(line);
  return t;
}

Status ChainVerifier::accept(const Segment& s) {
  if (s.gap) forget();
  for (const uint64_t line : s.left_out)
    if (Status left = leave_out(line); !left.ok()) return left;
  // Who had a place before, and is given up, is in nobody's way.
  for (const uint64_t line : s.without_effect)
    if (parked_.contains(line)) release(line);
  if (Status placed = place_all(s); !placed.ok()) return placed;
  if (Status known = know_rivals(s.rivals); !known.ok()) return known;
  for (const uint64_t line : s.without_effect)
    if (Status dropped = drop(line); !dropped.ok()) return dropped;
  return Ok{};
}

// It had no effect.
Status ChainVerifier::drop(uint64_t line) {
  const Result<Txn> t = take(line);
  if (!t.ok()) return t.error();
  if (t->piece->history->status(t->txn) == TxnStatus::committed)
    return refuse("line {} is committed, and taken to have had no effect", line);
  return Ok{};
}

// Nothing is known of the state any more, and nobody is waited for.
void ChainVerifier::forget() {
  ++gaps_;
  contents_.clear();
  parked_.clear();
  parked_keys_.clear();
}

Status ChainVerifier::leave_out(uint64_t line) {
  const Result<Txn> taken = take(line);
  if (!taken.ok()) return taken.error();
  const History& h = *taken->piece->history;
  if (h.status(taken->txn) != TxnStatus::aborted) ++left_out_;
  for (const Access& a : accesses(h, taken->txn)) {
    if (!a.writes()) continue;
    auto& values = excused_[HeldValue(h.key(a.key))];
    const RegisterState left = held_after(h, a);
    values.emplace(left.value);
    if (left.removed) values.emplace(ValueView{});
  }
  return Ok{};
}

Status ChainVerifier::end(const ChainEnd& end) {
  for (const auto& [line, t] : waiting_)
    if (t.piece->history->status(t.txn) == TxnStatus::committed)
      return refuse("no segment names line {}, which is committed", line);
  if (end.transactions != read_)
    return refuse("the history has {} transactions, and the chain speaks of {}", read_,
                  end.transactions);
  return Ok{};
}

// --- one after the other

Status ChainVerifier::place_all(const Segment& s) {
  placed_.clear();
  lates_.clear();
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
  const auto park_behind = [&](uint64_t line) -> Status {
    const auto it = behind.find(line);
    if (it == behind.end()) return Ok{};
    for (const Segment::Late* late : it->second) {
      if (Status parked = park(late->txn); !parked.ok()) return parked;
      if (took_effect.contains(late->txn) && last_late[late->txn] == late)
        if (Status effect = take_effect(late->txn); !effect.ok()) return effect;
    }
    behind.erase(it);
    return Ok{};
  };
  if (Status first = park_behind(last_placed_); !first.ok()) return first;
  for (const uint64_t line : s.order) {
    Result<Txn> t = take(line);
    if (!t.ok()) return t.error();
    if (Status placed = place({line, std::move(*t)}); !placed.ok()) return placed;
    last_placed_ = line;
    if (Status parked = park_behind(line); !parked.ok()) return parked;
  }
  if (!behind.empty())
    return refuse("line {} is said to stand behind line {}, which is not there",
                  behind.begin()->second.front()->txn, behind.begin()->first);
  return Ok{};
}

// It waits where the order is now.
Status ChainVerifier::park(uint64_t line) {
  const auto it = waiting_.find(line);
  if (it == waiting_.end())
    return refuse("line {} holds no transaction whose place can be told", line);
  if (parked_.contains(line)) release(line);  // it stands elsewhere now
  const Txn& t = it->second;
  if (Status can = can_park(t); !can.ok()) return can;
  look_at_parked_by(t);
  const History& h = *t.piece->history;
  const std::set<uint64_t>& waiting = sessions_.find(session_of(h, t.txn))->second.waiting;
  for (auto earlier = waiting.begin(); *earlier < line; ++earlier)
    if (const Txn& e = waiting_.find(*earlier)->second;
        e.piece->history->status(e.txn) == TxnStatus::committed)
      return refuse("line {} cannot stand here: its session did line {} before", line, *earlier);
  took_place(h, t.txn);
  parked_.insert(line);
  for (const Access& a : accesses(h, t.txn)) {
    if (!a.writes()) continue;
    std::vector<uint64_t>& lines = parked_keys_[HeldValue(h.key(a.key))];
    if (lines.empty() || lines.back() != line) lines.push_back(line);
  }
  lates_.push_back({t, placed_.size()});
  return Ok{};
}

// Whether what it saw is there, and stays so whatever else may turn out.
Status ChainVerifier::can_park(const Txn& t) const {
  const History& h = *t.piece->history;
  const uint32_t line = h.line(t.txn);
  if (h.status(t.txn) != TxnStatus::unknown) return refuse("line {} is of known outcome", line);
  std::unordered_map<KeyId, RegisterState> own;
  for (const Access& a : accesses(h, t.txn)) {
    if (a.is_list() || a.is_range())
      return refuse("line {}: a chain says nothing of lists and ranges", line);
    const auto mine = own.find(a.key);
    const bool there = mine != own.end() ? bears_out(h, a, mine->second) : is_there_for_good(h, a);
    if (a.reads() && !there) return mismatch(h, t.txn, a);
    if (a.writes()) own[a.key] = held_after(h, a);
  }
  return Ok{};
}

// Whatever else may turn out.
bool ChainVerifier::is_there_for_good(const History& h, const Access& seen) const {
  const auto it = contents_.find(h.key(seen.key));
  if (it == contents_.end()) return gaps_ > 0 || bears_out(h, seen, initially_held(h, seen.key));
  const Version& last = it->second.last;
  return !it->second.rivals && bears_out(h, seen, last.state());
}

// Who looks at what those of unknown outcome wrote shows that they did not take effect here.
void ChainVerifier::look_at_parked(const ValueView& key) {
  if (parked_keys_.empty()) return;
  const auto it = parked_keys_.find(key);
  if (it == parked_keys_.end()) return;
  for (const uint64_t line : std::vector<uint64_t>(it->second)) release(line);
}

// If it took effect, the others did not whose writes it did not see.
void ChainVerifier::look_at_parked_by(const Txn& t) {
  const History& h = *t.piece->history;
  each_outside_look(h, t.txn, [&](const Access& seen) { look_at_parked(h.key(seen.key)); });
}

// Who overwrites it without a look shows nothing, and nobody will see these writes. before: up to this one; 0: all.
void ChainVerifier::overwrite_parked(const ValueView& key, uint64_t before) {
  if (parked_keys_.empty()) return;
  const auto it = parked_keys_.find(key);
  if (it == parked_keys_.end()) return;
  const auto end = std::ranges::find(it->second, before);
  const std::vector<uint64_t> hidden(it->second.begin(), end);
  it->second.erase(it->second.begin(), end);
  if (it->second.empty()) parked_keys_.erase(it);
  for (const uint64_t line : hidden)
    if (shown_keys(line).empty()) parked_.erase(line);
}

// Whose write by the parked one nobody has overwritten.
std::vector<KeyId> ChainVerifier::shown_keys(uint64_t line) const {
  std::vector<KeyId> keys;
  const Txn& t = waiting_.find(line)->second;
  const History& h = *t.piece->history;
  for (const Access& a : accesses(h, t.txn)) {
    if (!a.writes()) continue;
    const auto key = parked_keys_.find(h.key(a.key));
    if (key != parked_keys_.end() && std::ranges::count(key->second, line) > 0)
      keys.push_back(a.key);
  }
  return keys;
}

void ChainVerifier::release(uint64_t line) {
  parked_.erase(line);
  const Txn& t = waiting_.find(line)->second;
  const History& h = *t.piece->history;
  for (const KeyId k : shown_keys(line)) {
    const auto key = parked_keys_.find(h.key(k));
    if (key == parked_keys_.end()) continue;
    std::erase(key->second, line);
    if (key->second.empty()) parked_keys_.erase(key);
  }
}

Status ChainVerifier::take_effect(uint64_t line) {
  if (!parked_.contains(line))
    return refuse("line {} cannot have taken effect: it has no place", line);
  const std::vector<KeyId> shown = shown_keys(line);
  const History& h = *waiting_.find(line)->second.piece->history;
  for (const KeyId key : shown) overwrite_parked(h.key(key), line);
  const Result<Txn> t = take(line);
  if (!t.ok()) return t.error();
  uint64_t& latest = sessions_.find(session_of(*t->piece->history, t->txn))->second.latest;
  latest = std::max(latest, line);
  install(*t, line, [&](KeyId key) { return std::ranges::count(shown, key) > 0; });
  return Ok{};
}

Status ChainVerifier::place(Placed p) {
  const History& h = *p.txn.piece->history;
  const TxnId t = p.txn.txn;
  if (h.status(t) == TxnStatus::aborted)
    return refuse("line {} was aborted, and is in the order", p.line);
  if (level_info(level_).single_operations && h.end_op(t) - h.first_op(t) > 1)
    return refuse("line {} has more than one operation", p.line);
  if (Status in_time = keep_real_time(p.line, h, t); !in_time.ok()) return in_time;
  // Its session did not wait for an outcome that it never learned.
  uint64_t& latest = sessions_[session_of(h, t)].latest;
  if (h.status(t) == TxnStatus::committed && p.line < latest)
    return refuse("line {} comes after line {}, which follows it in its session", p.line, latest);
  latest = std::max(latest, p.line);
  if (Status s = replay(p); !s.ok()) return s;
  for (const Access& a : accesses(h, t))
    if (a.writes()) overwrite_parked(h.key(a.key), 0);
  install(p.txn, p.line, [](KeyId) { return true; });
  placed_.push_back(std::move(p));
  return Ok{};
}

// It comes after all those that have a place.
Status ChainVerifier::keep_real_time(uint64_t line, const History& h, TxnId t) {
  if (!keeps_real_time()) return Ok{};
  if (h.status(t) == TxnStatus::committed && (!h.begin_time(t).known() || !h.end_time(t).known()))
    return refuse("line {} has no times", line);
  if (end_of(h, t) < latest_begin_)
    return refuse("line {} ended before one began that comes before it", line);
  took_place(h, t);
  return Ok{};
}

void ChainVerifier::took_place(const History& h, TxnId t) {
  if (h.begin_time(t).known()) latest_begin_ = std::max(latest_begin_, h.begin_time(t).request);
}

Status ChainVerifier::replay(Placed& p) {
  Piece& piece = *p.txn.piece;
  const History& h = *piece.history;
  const TxnId t = p.txn.txn;
  refresh(piece);
  for (const Access& a : accesses(h, t)) {
    if (a.is_list() || a.is_range())
      return refuse("line {}: a chain says nothing of lists and ranges", p.line);
    if (a.reads())
      if (Status s = look(p, a); !s.ok()) return s;
    if (!a.writes()) continue;
    Piece::Key& key = piece.keys[a.key];
    key.owner = t;
    key.write = a.op;
  }
  return Ok{};
}

Status ChainVerifier::look(Placed& p, const Access& seen) {
  Piece& piece = *p.txn.piece;
  const History& h = *piece.history;
  const Piece::Key& key = piece.keys[seen.key];
  const bool own = key.owner == p.txn.txn;
  if (own && bears_out(h, seen, held_after(h, access_of(h, key.write)))) return Ok{};
  if (excused(h, seen)) {
    p.excused.push_back(seen.op);
    return Ok{};
  }
  if (!own) look_at_parked(h.key(seen.key));
  if (!own && explains(h, seen, content_of(piece, seen.key))) return Ok{};
  return mismatch(h, p.txn.txn, seen);
}

bool ChainVerifier::explains(const History& h, const Access& seen, Content* content) const {
  if (content == nullptr) return gaps_ > 0 || bears_out(h, seen, initially_held(h, seen.key));
  content->looked = true;
  return narrow(h, seen, *content);
}

// Of the versions that may have come last those stay that explain what was seen. False if none does.
bool ChainVerifier::narrow(const History& h, const Access& seen, Content& content) {
  const auto explains = [&](const Version& v) { return bears_out(h, seen, v.state()); };
  if (!content.rivals) return explains(content.last);
  std::vector<Version>& rivals = *content.rivals;
  const auto kept = std::ranges::find_if(rivals, explains);
  if (!explains(content.last)) {
    if (kept == rivals.end()) return false;
    content.last = std::move(*kept);
    rivals.erase(kept);
  }
  std::erase_if(rivals, [&](const Version& v) { return !explains(v); });
  if (rivals.empty()) content.rivals.reset();
  return true;
}

// Whether what was left out explains it.
bool ChainVerifier::excused(const History& h, const Access& seen) const {
  const auto it = excused_.find(h.key(seen.key));
  if (it == excused_.end()) return false;
  return seen.accepts != Accepts::equals || it->second.contains(h.version_value(seen.seen));
}

template <class Shows>
void ChainVerifier::install(const Txn& t, uint64_t line, Shows shows) {
  Piece& piece = *t.piece;
  const History& h = *piece.history;
  refresh(piece);
  for (const Access& a : accesses(h, t.txn)) {
    const KeyId key = a.key;
    if (!a.writes() || !shows(key)) continue;
    Version version = held(held_after(h, a));
    Content* content = content_of(piece, key);
    if (content == nullptr) {
      auto made = contents_.emplace(HeldValue(h.key(key)), Content{std::move(version), line});
      piece.keys[key].content = &made.first.value();
      continue;
    }
    content->last = std::move(version);
    content->writer = line;
    content->looked = false;
    content->rivals.reset();
  }
}

// What was looked up before a gap is no more.
void ChainVerifier::refresh(Piece& piece) const {
  if (piece.gaps == gaps_) return;
  for (Piece::Key& key : piece.keys) key.content = nullptr;
  piece.gaps = gaps_;
}

ChainVerifier::Content* ChainVerifier::content_of(Piece& piece, KeyId key) {
  Content*& content = piece.keys[key].content;
  if (content != nullptr) return content;
  auto it = contents_.find(piece.history->key(key));
  if (it != contents_.end()) content = &it.value();
  return content;
}

// --- who may stand elsewhere

// The places of a segment, and what stands at each.
class ChainVerifier::Rivals {
 public:
  explicit Rivals(ChainVerifier& verifier)
      : verifier_(verifier),
        placed_(verifier.placed_),
        moves_(placed_.size(), false),
        stays_(placed_.size(), false) {
    for (uint32_t place = 0; place < placed_.size(); ++place) {
      places_.emplace(placed_[place].line, place);
      starts_.push_back(touched_.size());
      add(place);
    }
    starts_.push_back(touched_.size());
  }

  Status know(const Segment::Rival& r) {
    const auto from = places_.find(r.writer), behind = places_.find(r.last);
    if (from == places_.end() || behind == places_.end() || from->second >= behind->second)
      return refuse("line {} is no rival of line {}: expected two of the order, the last one later",
                    r.writer, r.last);
    const uint32_t a = from->second, b = behind->second;
    if (stays_[a] || moves_[b])
      return refuse(
          "line {} is no rival of line {}: others may be moved behind one of them, or it itself",
          r.writer, r.last);
    Content* const key = shared_key(a, b);
    if (key == nullptr)
      return refuse("line {} is no rival of line {}: they do not share one key", r.writer, r.last);
    for (uint32_t place = a + 1; place <= b; ++place)
      if (must_follow(placed_[place].txn, placed_[a].txn) || meet(a, place, key))
        return refuse("line {} cannot be moved behind line {}: line {} is between them", r.writer,
                      r.last, placed_[place].line);
    if (disturbs_late(a, b, key))
      return refuse(
          "line {} cannot be moved behind line {}: another one may take effect in between",
          r.writer, r.last);
    if (key->writer != r.last || key->looked)
      return refuse("line {} is no rival of line {}: its key was written or looked at since",
                    r.writer, r.last);
    moves_[a] = stays_[b] = true;
    if (!key->rivals) key->rivals = std::make_unique<std::vector<Version>>();
    key->rivals->push_back(left_by(a, key));
    return Ok{};
  }

 private:
  std::span<const Touch> touched_by(uint32_t place) const {
    return {touched_.data() + starts_[place], starts_[place + 1] - starts_[place]};
  }
  const History& history(uint32_t place) const { return *placed_[place].txn.piece->history; }
  TxnId txn(uint32_t place) const { return placed_[place].txn.txn; }

  void add(uint32_t place) {
    Piece& piece = *placed_[place].txn.piece;
    const History& h = *piece.history;
    verifier_.refresh(piece);
    const size_t first = touched_.size();
    for (const Access& a : accesses(h, txn(place))) {
      const bool excused = std::ranges::count(placed_[place].excused, a.op) > 0;
      const bool looks = a.reads() && !excused;
      if (!looks && !a.writes()) continue;
      Touch& key = touch(first, key_of(piece, a.key), a.key);
      // What it wrote itself tells nothing of others.
      key.looked = key.looked || (looks && !key.wrote);
      key.wrote = key.wrote || a.writes();
    }
  }

  // Whether one of unknown outcome who stands between them touches the same keys as the first, or has to come after it and would
  // not; or stands behind both, and looked at what is open then.
  bool disturbs_late(uint32_t from, uint32_t behind, const Content* key) {
    return std::ranges::any_of(verifier_.lates_, [&](const Late& late) {
      if (late.place <= from) return false;
      if (late.place > behind) return looks_at(late.txn, key);
      Piece& piece = *late.txn.piece;
      const History& h = *piece.history;
      verifier_.refresh(piece);
      for (const Access& a : accesses(h, late.txn.txn))
        if (touches(from, key_of(piece, a.key))) return true;
      return must_follow(late.txn, placed_[from].txn);
    });
  }
  bool looks_at(const Txn& t, const Content* key) {
    Piece& piece = *t.piece;
    const History& h = *piece.history;
    verifier_.refresh(piece);
    bool looks = false;
    each_outside_look(h, t.txn,
                      [&](const Access& seen) { looks = looks || key_of(piece, seen.key) == key; });
    return looks;
  }
  bool touches(uint32_t place, const Content* key) const {
    return std::ranges::any_of(touched_by(place), [&](const Touch& a) { return a.key == key; });
  }

  // Of the key, among those from `first` on.
  Touch& touch(size_t first, Content* key, KeyId in_piece) {
    const auto begin = touched_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto at =
        std::find_if(begin, touched_.end(), [&](const Touch& a) { return a.key == key; });
    return at == touched_.end() ? touched_.emplace_back(Touch{key, in_piece}) : *at;
  }

  // What a key holds tells it from all others. If nobody wrote it as yet it holds nothing, here alone.
  Content* key_of(Piece& piece, KeyId key) {
    if (Content* content = verifier_.content_of(piece, key)) return content;
    const Version nothing{HeldValue(ValueView{})};
    return &unwritten_.try_emplace(HeldValue(piece.history->key(key)), Content{nothing})
                .first.value();
  }

  // That both wrote without looking at it.
  Content* shared_key(uint32_t a, uint32_t b) const {
    for (const Touch& x : touched_by(a))
      for (const Touch& y : touched_by(b))
        if (x.key == y.key && x.is_blind() && y.is_blind()) return x.key;
    return nullptr;
  }

  bool must_follow(const Txn& later, const Txn& earlier) const {
    const History& h = *later.piece->history;
    const Interval begin = h.begin_time(later.txn);
    if (verifier_.keeps_real_time() && begin.known() &&
        end_of(*earlier.piece->history, earlier.txn) < begin.request)
      return true;
    return HeldEqual()(session_of(h, later.txn), session_of(*earlier.piece->history, earlier.txn));
  }

  // Whether they touch a key in common, but for blind writes of `key`.
  bool meet(uint32_t a, uint32_t b, const Content* key) const {
    for (const Touch& x : touched_by(a))
      for (const Touch& y : touched_by(b))
        if (x.key == y.key && (x.key != key || !y.is_blind())) return true;
    return false;
  }

  Version left_by(uint32_t place, const Content* key) const {
    const History& h = history(place);
    const Touch& a = *std::ranges::find(touched_by(place), key, &Touch::key);
    const TxnId t = txn(place);
    return held(held_after(h, access_of(h, last_write(h, h.first_op(t), h.end_op(t), a.in_piece))));
  }

  ChainVerifier& verifier_;
  const std::vector<Placed>& placed_;
  std::unordered_map<uint64_t, uint32_t> places_;  // by line
  HeldMap<Content> unwritten_;
  std::vector<Touch> touched_;  // in order
  std::vector<size_t> starts_;  // per place
  std::vector<bool> moves_, stays_;
};

Status ChainVerifier::know_rivals(const std::vector<Segment::Rival>& rivals) {
  if (rivals.empty()) return Ok{};
  Rivals known(*this);
  for (const Segment::Rival& r : rivals)
    if (Status s = known.know(r); !s.ok()) return s;
  return Ok{};
}

}  // namespace assay::internal::certify
