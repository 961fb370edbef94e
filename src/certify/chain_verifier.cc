#include "certify/chain_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "certify/refusal.h"
#include "history/accesses.h"

namespace assay::internal::certify {
namespace {

std::string session_key(const History& h, TxnId t) {
  const ValueView name = h.session_name(h.session(t));
  return (name.type == ValueView::Type::string ? "\"" : "") + name.to_string();
}

// A transaction of unknown outcome has no end.
int64_t end_of(const History& h, TxnId t) {
  return h.status(t) == TxnStatus::committed ? h.end_time(t).response : Interval::kOpen;
}

Error mismatch(const History& h, TxnId t, const Observation& seen) {
  return refuse("{} in line {}: what it saw of {} is not what is there by then", h.name(t),
                h.line(t), h.key(seen.key).to_string());
}

}  // namespace

Result<ChainVerifier> ChainVerifier::of(LevelId level) {
  if (level != LevelId::strict_serializable && level != LevelId::linearizable)
    return refuse("a chain cannot be of {}", level_info(level).name);
  return ChainVerifier(level);
}

Status ChainVerifier::read(const std::shared_ptr<const History>& h) {
  const auto piece = std::make_shared<Piece>();
  piece->history = h;
  piece->keys.resize(h->key_count());
  piece->gaps = gaps_;
  for (TxnId t = 0; t < h->txn_count(); ++t) {
    ++read_;
    const uint64_t line = lines_.of(h->line(t));
    if (!waiting_.emplace(line, Txn{piece, t}).second)
      return refuse("two transactions are in line {}", line);
  }
  return Ok{};
}

Result<ChainVerifier::Txn> ChainVerifier::take(uint64_t line) {
  const auto it = waiting_.find(line);
  if (it == waiting_.end())
    return refuse("line {} holds no transaction, or one that was named before", line);
  Txn t = std::move(it->second);
  waiting_.erase(it);
  return t;
}

Status ChainVerifier::accept(const Segment& s) {
  if (s.gap) forget();
  for (const uint64_t line : s.left_out)
    if (Status left = leave_out(line); !left.ok()) return left;
  placed_.clear();
  for (const uint64_t line : s.order) {
    Result<Txn> t = take(line);
    if (!t.ok()) return t.error();
    if (Status placed = place({line, std::move(*t)}); !placed.ok()) return placed;
  }
  if (Status known = know_rivals(s.rivals); !known.ok()) return known;
  for (const uint64_t line : s.without_effect) {
    const Result<Txn> t = take(line);
    if (!t.ok()) return t.error();
    if (t->piece->history->status(t->txn) == TxnStatus::committed)
      return refuse("line {} is committed, and taken to have had no effect", line);
  }
  return Ok{};
}

// Nothing is known of the state any more, and nobody is waited for.
void ChainVerifier::forget() {
  ++gaps_;
  contents_.clear();
}

Status ChainVerifier::leave_out(uint64_t line) {
  const Result<Txn> taken = take(line);
  if (!taken.ok()) return taken.error();
  const History& h = *taken->piece->history;
  if (h.status(taken->txn) != TxnStatus::aborted) ++left_out_;
  for (OpId i = h.first_op(taken->txn); i < h.end_op(taken->txn); ++i) {
    if (!installs_version(h.op(i))) continue;
    const Install install = install_of(h, i);
    auto& values = excused_[Held(h.key(install.key))];
    values.emplace(h.version_value(install.version));
    if (install.removes) values.emplace(ValueView{});
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

Status ChainVerifier::place(Placed p) {
  const History& h = *p.txn.piece->history;
  const TxnId t = p.txn.txn;
  if (h.status(t) == TxnStatus::aborted)
    return refuse("line {} was aborted, and is in the order", p.line);
  if (level_info(level_).single_operations && h.end_op(t) - h.first_op(t) > 1)
    return refuse("line {} has more than one operation", p.line);
  if (h.status(t) == TxnStatus::committed && (!h.begin_time(t).known() || !h.end_time(t).known()))
    return refuse("line {} has no times", p.line);
  if (end_of(h, t) < latest_begin_)
    return refuse("line {} ended before one began that comes before it", p.line);
  if (h.begin_time(t).known()) latest_begin_ = std::max(latest_begin_, h.begin_time(t).request);
  // Its session did not wait for an outcome that it never learned.
  uint64_t& latest = sessions_[session_key(h, t)];
  if (h.status(t) == TxnStatus::committed && p.line < latest)
    return refuse("line {} comes after line {}, which follows it in its session", p.line, latest);
  latest = std::max(latest, p.line);
  if (Status s = replay(p); !s.ok()) return s;
  install(p);
  placed_.push_back(std::move(p));
  return Ok{};
}

Status ChainVerifier::replay(Placed& p) {
  Piece& piece = *p.txn.piece;
  const History& h = *piece.history;
  const TxnId t = p.txn.txn;
  if (piece.gaps != gaps_) {
    for (Piece::Key& key : piece.keys) key.content = nullptr;
    piece.gaps = gaps_;
  }
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    if (is_list_operation(h.op(i)) || is_range(h.op(i)))
      return refuse("line {}: a chain says nothing of lists and ranges", p.line);
    const Observation seen = observation_of(h, i);
    if (seen.accepts != Accepts::any)
      if (Status s = look(p, seen); !s.ok()) return s;
    if (!installs_version(h.op(i))) continue;
    const Install install = install_of(h, i);
    Piece::Key& key = piece.keys[install.key];
    key.owner = t;
    key.version = install.version;
    key.removed = install.removes;
  }
  return Ok{};
}

Status ChainVerifier::look(Placed& p, const Observation& seen) {
  Piece& piece = *p.txn.piece;
  const History& h = *piece.history;
  const Piece::Key& key = piece.keys[seen.key];
  const bool own = key.owner == p.txn.txn;
  if (own && fits(h, seen, {key.version, key.removed})) return Ok{};
  if (excused(h, seen)) {
    p.excused.push_back(seen.op);
    return Ok{};
  }
  if (!own && explains(h, seen, content_of(piece, seen.key))) return Ok{};
  return mismatch(h, p.txn.txn, seen);
}

bool ChainVerifier::explains(const History& h, const Observation& seen, Content* content) const {
  if (content == nullptr) return gaps_ > 0 || fits(h, seen, KeyState{});
  content->looked = true;
  return narrow(h, seen, *content);
}

// Of the versions that may have come last those stay that explain what was seen. False if none does.
bool ChainVerifier::narrow(const History& h, const Observation& seen, Content& content) {
  const auto fits = [&](const Version& v) { return fits_content(h, seen, v); };
  if (!content.rivals) return fits(content.last);
  std::vector<Version>& rivals = *content.rivals;
  const auto kept = std::ranges::find_if(rivals, fits);
  if (!fits(content.last)) {
    if (kept == rivals.end()) return false;
    content.last = std::move(*kept);
    rivals.erase(kept);
  }
  std::erase_if(rivals, [&](const Version& v) { return !fits(v); });
  if (rivals.empty()) content.rivals.reset();
  return true;
}

bool ChainVerifier::fits_content(const History& h, const Observation& seen, const Version& v) {
  const auto shows = [&] {
    const ValueView value = h.version_value(seen.version);
    return v.value.view() == value || (v.removed && value.is_null());
  };
  switch (seen.accepts) {
    case Accepts::equals:
      return shows();
    case Accepts::differs:
      return !shows();
    case Accepts::absent:
      return v.removed || v.value.view().is_null();
    case Accepts::present:
      return !v.removed && !v.value.view().is_null();
    default:
      return false;
  }
}

// Whether what was left out explains it.
bool ChainVerifier::excused(const History& h, const Observation& seen) const {
  const auto it = excused_.find(h.key(seen.key));
  if (it == excused_.end()) return false;
  if (seen.accepts != Accepts::equals) return true;
  return it->second.contains(h.version_value(seen.version));
}

void ChainVerifier::install(const Placed& p) {
  Piece& piece = *p.txn.piece;
  const History& h = *piece.history;
  for (OpId i = h.first_op(p.txn.txn); i < h.end_op(p.txn.txn); ++i) {
    if (!installs_version(h.op(i))) continue;
    const Install left = install_of(h, i);
    Version version{Held(h.version_value(left.version)), left.removes};
    Content* content = content_of(piece, left.key);
    if (content == nullptr) {
      const auto made =
          contents_.emplace(Held(h.key(left.key)), Content{std::move(version), p.line});
      piece.keys[left.key].content = &made.first->second;
      continue;
    }
    content->last = std::move(version);
    content->writer = p.line;
    content->looked = false;
    content->rivals.reset();
  }
}

ChainVerifier::Content* ChainVerifier::content_of(Piece& piece, KeyId key) {
  Content*& content = piece.keys[key].content;
  if (content != nullptr) return content;
  const auto it = contents_.find(piece.history->key(key));
  if (it != contents_.end()) content = &it->second;
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
      starts_.push_back(accesses_.size());
      add(place);
    }
    starts_.push_back(accesses_.size());
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
    const std::optional<uint32_t> key = shared_key(a, b);
    if (!key)
      return refuse("line {} is no rival of line {}: they do not share one key", r.writer, r.last);
    for (uint32_t place = a + 1; place <= b; ++place)
      if (must_follow(place, a) || meet(a, place, *key))
        return refuse("line {} cannot be moved behind line {}: line {} is between them", r.writer,
                      r.last, placed_[place].line);
    Content& content = *contents_[*key];
    if (content.writer != r.last || content.looked)
      return refuse("line {} is no rival of line {}: its key was written or looked at since",
                    r.writer, r.last);
    moves_[a] = stays_[b] = true;
    if (!content.rivals) content.rivals = std::make_unique<std::vector<Version>>();
    content.rivals->push_back(left_by(a, *key));
    return Ok{};
  }

 private:
  std::span<const Access> accesses_of(uint32_t place) const {
    return {accesses_.data() + starts_[place], starts_[place + 1] - starts_[place]};
  }
  const History& history(uint32_t place) const { return *placed_[place].txn.piece->history; }
  TxnId txn(uint32_t place) const { return placed_[place].txn.txn; }

  void add(uint32_t place) {
    const History& h = history(place);
    const size_t first = accesses_.size();
    for (OpId i = h.first_op(txn(place)); i < h.end_op(txn(place)); ++i) {
      const bool excused = std::ranges::count(placed_[place].excused, i) > 0;
      const bool looks = observation_of(h, i).accepts != Accepts::any && !excused;
      const bool writes = installs_version(h.op(i));
      if (!looks && !writes) continue;
      Access& a = access(first, number(h.key(h.op(i).key)));
      // What it wrote itself tells nothing of others.
      a.looked = a.looked || (looks && !a.wrote);
      a.wrote = a.wrote || writes;
    }
  }

  // Of the key, among those from `first` on.
  Access& access(size_t first, uint32_t key) {
    const auto begin = accesses_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto at =
        std::find_if(begin, accesses_.end(), [&](const Access& a) { return a.key == key; });
    return at == accesses_.end() ? accesses_.emplace_back(Access{key}) : *at;
  }

  uint32_t number(const ValueView& key) {
    const auto [it, fresh] = keys_.try_emplace(Held(key), static_cast<uint32_t>(keys_.size()));
    if (fresh) {
      const auto content = verifier_.contents_.find(key);
      contents_.push_back(content == verifier_.contents_.end() ? nullptr : &content->second);
    }
    return it->second;
  }

  // That both wrote without looking at it.
  std::optional<uint32_t> shared_key(uint32_t a, uint32_t b) const {
    for (const Access& x : accesses_of(a))
      for (const Access& y : accesses_of(b))
        if (x.key == y.key && x.is_blind() && y.is_blind()) return x.key;
    return std::nullopt;
  }

  bool must_follow(uint32_t later, uint32_t earlier) const {
    const Interval begin = history(later).begin_time(txn(later));
    if (begin.known() && end_of(history(earlier), txn(earlier)) < begin.request) return true;
    return session_key(history(earlier), txn(earlier)) == session_key(history(later), txn(later));
  }

  // Whether they touch a key in common, but for blind writes of `key`.
  bool meet(uint32_t a, uint32_t b, uint32_t key) const {
    for (const Access& x : accesses_of(a))
      for (const Access& y : accesses_of(b))
        if (x.key == y.key && (x.key != key || !y.is_blind())) return true;
    return false;
  }

  Version left_by(uint32_t place, uint32_t key) const {
    const History& h = history(place);
    OpId i = h.end_op(txn(place));
    do --i;
    while (!installs_version(h.op(i)) || keys_.find(h.key(h.op(i).key))->second != key);
    const Install left = install_of(h, i);
    return {Held(h.version_value(left.version)), left.removes};
  }

  ChainVerifier& verifier_;
  const std::vector<Placed>& placed_;
  std::unordered_map<uint64_t, uint32_t> places_;  // by line
  std::unordered_map<Held, uint32_t, HeldHash, HeldEqual> keys_;
  std::vector<Content*> contents_;  // per key
  std::vector<Access> accesses_;    // in order
  std::vector<size_t> starts_;      // per place
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
