#include "watch/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "explain/names.h"
#include "history/accesses.h"
#include "history/copy.h"
#include "history/projection.h"
#include "watch/late_effects.h"

namespace assay::internal::watch {
namespace {

constexpr std::string_view kStateSession = "state before the window";

// A key of the state that the members touch: each key once, in the order in which it is first
// touched.
struct TouchedKey {
  ValueView key;
  const LiveState::Entry* entry;
  bool asked = false;  // whether a rival was read
};

class TouchedState {
 public:
  explicit TouchedState(const Past& past) : state_(past.state), late_(past.late_effects) {}

  std::vector<TouchedKey> of(std::span<const Member> members) {
    for (const Member& m : members) add(m);
    for (const TouchedKey& k : found_) k.entry->mark = 0;
    return std::move(found_);
  }
  // The late transactions whose value was read, sorted by their places.
  std::vector<const LateTxn*> late() {
    std::ranges::sort(asked_late_, {}, &LateTxn::place);
    asked_late_.erase(std::unique(asked_late_.begin(), asked_late_.end()), asked_late_.end());
    return std::move(asked_late_);
  }

 private:
  void add(const Member& m) {
    const History& h = *m.piece;
    if (&h != piece_) start(h);
    for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
      const KeyId key = h.op(i).key;
      if (!seen_[key]) find(h, key);
      if (const LiveState::Entry* entry = entries_[key]; entry != nullptr)
        found_[entry->mark - 1].asked |= reads_rival(h, i, *entry);
      if (late_.empty()) continue;
      const LateTxn* writer = late_.explanation_of(h, observation_of(h, i));
      if (writer != nullptr) asked_late_.push_back(writer);
    }
  }

  void find(const History& h, KeyId key) {
    seen_[key] = true;
    const LiveState::Entry* entry = state_.find(h.key(key));
    if (entry == nullptr) return;
    if (entry->mark == 0) {
      found_.push_back({h.key(key), entry});
      entry->mark = static_cast<uint32_t>(found_.size());
    }
    if (!entry->rivals.empty()) entries_[key] = entry;
  }

  static bool reads_rival(const History& h, OpId i, const LiveState::Entry& entry) {
    const Observation seen = observation_of(h, i);
    if (seen.accepts != Accepts::equals) return false;
    return std::ranges::any_of(entry.rivals, [&](const LiveState::Version& v) {
      return fits(h, seen, v.value.view(), v.removed);
    });
  }

  // A piece may come again after others; then its keys are looked up twice.
  void start(const History& h) {
    piece_ = &h;
    seen_.assign(h.key_count(), false);
    entries_.assign(h.key_count(), nullptr);
  }

  const LiveState& state_;
  const LateEffects& late_;
  std::vector<const LateTxn*> asked_late_;
  const History* piece_ = nullptr;
  std::vector<bool> seen_;
  std::vector<const LiveState::Entry*> entries_;  // entries of keys with rivals
  std::vector<TouchedKey> found_;
};

class Assembly {
 public:
  void header(const History& h) { copy_settings(h, builder_); }

  // Adds the state. `apart`: each key by a separate transaction, for levels of single operations.
  Status state(std::span<const TouchedKey> keys, int64_t at, bool apart) {
    bool open = false;
    for (const TouchedKey& k : keys) {
      if (k.asked) continue;
      if (!open || apart) begin_state(kStateSession, at);
      open = true;
      write(k.key, k.entry->last);
      if (!apart) continue;
      if (Status s = builder_.end_txn(); !s.ok()) return s;
    }
    if (open && !apart)
      if (Status s = builder_.end_txn(); !s.ok()) return s;
    for (const TouchedKey& k : keys)
      if (k.asked)
        if (Status s = rivals(k, at); !s.ok()) return s;
    return Ok{};
  }

  // Adds a late transaction after the state and before all members: it took effect, and its reads
  // fitted before.
  Status late(const LateTxn& late, int64_t at) {
    const Member& m = late.member;
    const History& h = *m.piece;
    late_.push_back(m.number);
    const std::string session = fmt::format("{}, late {}", kStateSession, m.number);
    begin_state(session, at);
    for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
      if (!late.shows(i)) continue;
      const Install left = install_of(h, i);
      const ValueView key = h.key(left.key), value = h.version_value(left.version);
      builder_.add(left.removes ? Op::remove(key, value) : Op::write(key, value));
    }
    return builder_.end_txn();
  }

  Status member(const Member& m, uint32_t place, Times times) {
    const History& h = *m.piece;
    members_.push_back(place);
    const Interval certain{m.begin, m.end};
    if (times == Times::certain)
      copier_.begin_at(h, m.txn, certain, certain);
    else
      copier_.begin(h, m.txn, times == Times::own);
    for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) copier_.operation(h, i);
    return builder_.end_txn();
  }

  Result<Window> finish() {
    Result<History> history = std::move(builder_).finish();
    if (!history.ok()) return history.error();
    return Window{std::move(*history), std::move(members_), std::move(rivals_), std::move(late_)};
  }

 private:
  // Adds the rivals, all at the same time: the search chooses the last one.
  Status rivals(const TouchedKey& k, int64_t at) {
    std::vector<LiveState::Version> versions = k.entry->rivals;
    versions.push_back(k.entry->last);
    for (const LiveState::Version& v : versions) {
      const std::string session = std::string(kStateSession) + std::to_string(rivals_.size());
      rivals_.push_back({static_cast<TxnId>(members_.size()), v});
      begin_state(session, at);
      write(k.key, v);
      if (Status s = builder_.end_txn(); !s.ok()) return s;
    }
    return Ok{};
  }

  void write(const ValueView& key, const LiveState::Version& v) {
    builder_.add(v.removed ? Op::remove(key, v.value.view()) : Op::write(key, v.value.view()));
  }

  // The views refer to what lives until end_txn.
  void begin_state(std::string_view session, int64_t at) {
    members_.push_back(kNone);
    TxnHeader header;
    header.session = ValueView::of(session);
    header.begin = header.end = Interval::point(at);
    builder_.begin_txn(header);
  }

  HistoryBuilder builder_;
  TxnCopier copier_{builder_};
  std::vector<uint32_t> members_;
  std::vector<Window::Rival> rivals_;
  std::vector<uint64_t> late_;
};

// The same transactions without some operations' observations; their writes stay.
Result<Window> without(const Window& w, const std::vector<bool>& dropped) {
  const History& h = w.history;
  HistoryBuilder builder;
  TxnCopier copier(builder);
  copy_settings(h, builder);
  std::vector<uint32_t> members;
  const auto stays = [&](OpId i) { return !dropped[i] || installs_version(h.op(i)); };
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    bool empty = true;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) empty = empty && !stays(i);
    if (empty) continue;
    members.push_back(w.members[t]);
    copier.begin(h, t);
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!dropped[i])
        copier.operation(h, i);
      else if (stays(i))
        copier.write_alone(h, i);
    }
    if (Status s = builder.end_txn(); !s.ok()) return s.error();
  }
  Result<History> history = std::move(builder).finish();
  if (!history.ok()) return history.error();
  return Window{std::move(*history), std::move(members), w.rivals, w.late};
}

// The window without the members that are left out, and without what may have been seen of them.
Result<Window> without_left_out(Window w, std::span<const Member> members) {
  const auto left_out = [&](TxnId t) {
    return w.members[t] != kNone && members[w.members[t]].left_out;
  };
  const History& h = w.history;
  std::vector<bool> keep(h.op_count(), true);
  bool any = false;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (!left_out(t)) continue;
    any = true;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) keep[i] = false;
  }
  if (!any) return w;
  std::vector<OpId> origins;
  Result<History> part = project(h, keep, &origins);
  if (!part.ok()) return part.error();
  std::vector<uint32_t> places;
  for (TxnId t = 0; t < part->txn_count(); ++t)
    places.push_back(w.members[h.txn_of(origins[part->first_op(t)])]);
  return Window{std::move(*part), std::move(places), std::move(w.rivals), std::move(w.late)};
}

// Tells which observations the window explains.
class Explained {
 public:
  Explained(const Window& w, std::span<const Member> members, const Past& past)
      : w_(w), h_(w.history), members_(members), past_(past), written_(h_.version_count()) {
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (installs_version(h_.op(i))) written_[h_.op(i).version] = true;
  }

  const Member* member(TxnId t) const {
    return w_.members[t] == kNone ? nullptr : &members_[w_.members[t]];
  }
  bool is_written(VersionId v) const { return written_[v]; }
  bool is_from_nowhere(const Observation& seen) const {
    return seen.accepts == Accepts::equals && !is_written(seen.version) &&
           !h_.is_initial(seen.version);
  }
  bool has_state(KeyId key) const { return past_.state.find(h_.key(key)) != nullptr; }

  // Whether a writer that is not among the members, and begins before the transaction ends, may
  // explain the observation.
  bool by_others_to_come(const Observation& seen) const {
    if (seen.accepts != Accepts::equals) return true;
    return is_from_nowhere(seen) || (!is_written(seen.version) && has_state(seen.key));
  }

  // Whether a left-out transaction wrote the value.
  bool by_left_out(const Observation& seen) const {
    return is_from_nowhere(seen) && past_.left_out_writes.explain(h_, seen);
  }

  // Whether what the key held before explains the observation.
  bool by_state(const Observation& seen) const {
    const LiveState::Entry* entry = past_.state.find(h_.key(seen.key));
    const auto explains = [&](const LiveState::Version& v) {
      return fits(h_, seen, v.value.view(), v.removed);
    };
    return entry != nullptr && seen.accepts == Accepts::equals &&
           (explains(entry->last) || std::ranges::any_of(entry->rivals, explains));
  }

  // Whether a writer about which nothing is known may explain the observation.
  bool by_dropped(const Observation& seen) const {
    if (!past_.gap || has_state(seen.key)) return false;
    return seen.accepts != Accepts::equals || !is_written(seen.version);
  }

 private:
  const Window& w_;
  const History& h_;
  std::span<const Member> members_;
  const Past& past_;
  std::vector<bool> written_;
};

// Members of unknown outcome with a write that a sealed member read, by their places. They precede
// that reader, so no transaction that begins from the mark on can explain their reads.
std::vector<bool> seen_by_sealed(const Window& w, std::span<const Member> members, int64_t mark) {
  const History& h = w.history;
  std::vector<bool> seen_version(h.version_count()), seen(members.size());
  const auto each_op = [&](TxnStatus status, auto f) {
    for (TxnId t = 0; t < h.txn_count(); ++t) {
      const uint32_t place = w.members[t];
      if (place == kNone || members[place].status != status) continue;
      for (OpId i = h.first_op(t); i < h.end_op(t); ++i) f(place, i);
    }
  };
  each_op(TxnStatus::committed, [&](uint32_t place, OpId i) {
    const Observation o = observation_of(h, i);
    if (members[place].sealed(mark) && o.accepts == Accepts::equals) seen_version[o.version] = true;
  });
  each_op(TxnStatus::unknown, [&](uint32_t place, OpId i) {
    if (installs_version(h.op(i)) && seen_version[h.op(i).version]) seen[place] = true;
  });
  return seen;
}

// Calls drop(transaction, its member, observation) for each observation; false if none is to be
// dropped.
template <class Drop>
bool mark_dropped(const Window& w, std::span<const Member> members, std::vector<bool>& dropped,
                  Drop drop) {
  const History& h = w.history;
  dropped.assign(h.op_count(), false);
  bool any = false;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (w.members[t] == kNone) continue;
    const Member& m = members[w.members[t]];
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Observation seen = observation_of(h, i);
      if (seen.accepts == Accepts::any || !drop(m, seen)) continue;
      dropped[i] = any = true;
    }
  }
  return any;
}

// No time is earlier. A transaction reported without times before all others began at
// Interval::kUnknown.
constexpr int64_t kEarliest = Interval::kUnknown + 1;

int64_t first_begin(std::span<const Member> members, Times times) {
  int64_t first = Interval::kOpen;
  for (const Member& m : members) {
    const Interval own = m.piece->begin_time(m.txn);
    first = std::min(first, times == Times::own && own.known() ? own.request : m.begin);
  }
  return first;
}

Status add_members(Assembly& to, std::span<const Member> members, Times times) {
  for (uint32_t i = 0; i < members.size(); ++i)
    if (Status s = to.member(members[i], i, times); !s.ok()) return s;
  return Ok{};
}

std::unordered_set<uint64_t> numbers_of_unknown(std::span<const Member> members) {
  std::unordered_set<uint64_t> numbers;
  for (const Member& m : members)
    if (m.status == TxnStatus::unknown) numbers.insert(m.number);
  return numbers;
}

// Per key: when its first write that is certainly later than everything forgotten was certainly
// over.
std::vector<int64_t> first_certain_writes(const Window& w, std::span<const Member> members,
                                          int64_t forgotten_end) {
  const History& h = w.history;
  std::vector<int64_t> first(h.key_count(), Interval::kOpen);
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (w.members[t] == kNone) continue;
    const Member& m = members[w.members[t]];
    if (m.status != TxnStatus::committed || m.left_out || m.begin <= forgotten_end) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (installs_version(h.op(i))) first[h.op(i).key] = std::min(first[h.op(i).key], m.end);
  }
  return first;
}

// Collects the reads of unknown values, and tells which prove nothing.
class UnexplainedReads {
 public:
  UnexplainedReads(const Window& w, std::span<const Member> members, const Past& past)
      : w_(w), members_(members), past_(past) {}

  void note(const Member& m, uint32_t place, const Observation& seen) {
    const History& h = w_.history;
    const bool late = past_.late_writers.may_explain(h, seen, {});
    if (!late && is_proof(m, seen)) return;
    found_.push_back(
        {place, HeldValue(h.key(seen.key)), HeldValue(h.version_value(seen.version)), late});
  }
  std::vector<Window::UnexplainedRead> take() && { return std::move(found_); }

 private:
  // Whether no forgotten transaction can have left the value: there is none, or its write is
  // overwritten.
  bool is_proof(const Member& m, const Observation& seen) {
    if (!past_.gap && !past_.lost_writers) return true;
    if (certain_.empty()) certain_ = first_certain_writes(w_, members_, past_.forgotten_end);
    return certain_[seen.key] < m.begin;
  }

  const Window& w_;
  std::span<const Member> members_;
  const Past& past_;
  std::vector<int64_t> certain_;  // filled when first needed
  std::vector<Window::UnexplainedRead> found_;
};

// Which transaction of a window wrote each version.
class WindowWriters {
 public:
  explicit WindowWriters(const History& h) : h_(h), writer_(h.version_count(), kNone) {
    for (TxnId t = 0; t < h.txn_count(); ++t)
      for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
        if (installs_version(h.op(i))) add(t, h.op(i).version);
  }

  // Whether a transaction beyond the window may explain the observation.
  bool explained_beyond(const Observation& seen, const Beyond& beyond) const {
    const bool equals = seen.accepts == Accepts::equals;
    if (seen.accepts == Accepts::absent || (equals && h_.version_value(seen.version).is_null()))
      return beyond.deletes || !h_.initial().is_null();
    if (!equals) return true;  // any value but one: many transactions may have left it
    const bool written = writer_[seen.version] != kNone;
    return is_ambiguous(seen) || (!written && !h_.is_initial(seen.version));
  }

  // Whether several members wrote the value; if so, a transaction beyond may have done so as well.
  bool is_ambiguous(const Observation& seen) const {
    if (seen.accepts != Accepts::equals) return false;
    const TxnId writer = writer_[seen.version];
    return writer == kSeveral || (writer != kNone && h_.is_initial(seen.version));
  }

 private:
  static constexpr TxnId kSeveral = kNone - 1;

  void add(TxnId t, VersionId v) {
    writer_[v] = writer_[v] == kNone || writer_[v] == t ? t : kSeveral;
  }

  const History& h_;
  std::vector<TxnId> writer_;
};

}  // namespace

Result<Window> after_state(std::span<const Member> members, const Past& past, LevelId level,
                           int64_t mark, const AfterState& how) {
  Assembly assembly;
  if (!members.empty()) assembly.header(*members[0].piece);
  TouchedState touched(past);
  const auto keys = touched.of(members);
  const std::vector<const LateTxn*> late = touched.late();
  const auto places = static_cast<int64_t>(late.size()) + 1;
  int64_t at = std::max(first_begin(members, how.times), kEarliest + places) - places;
  if (Status s = assembly.state(keys, at, level_info(level).single_operations); !s.ok())
    return s.error();
  for (const LateTxn* p : late)
    if (Status s = assembly.late(*p, ++at); !s.ok()) return s.error();
  if (Status s = add_members(assembly, members, how.times); !s.ok()) return s.error();
  Result<Window> whole = assembly.finish();
  if (!whole.ok()) return whole;

  const Explained explained(*whole, members, past);
  std::vector<bool> dropped;
  std::vector<uint32_t> open;
  UnexplainedReads unexplained(*whole, members, past);
  const std::vector<bool> bounded = seen_by_sealed(*whole, members, mark);
  const bool any =
      mark_dropped(*whole, members, dropped, [&](const Member& m, const Observation& seen) {
        if (explained.by_dropped(seen) || explained.by_left_out(seen)) return true;
        const auto place = static_cast<uint32_t>(&m - members.data());
        if (m.sealed(mark) || bounded[place]) {
          const bool has_place = m.status == TxnStatus::committed || bounded[place];
          if (has_place && !m.left_out && explained.is_from_nowhere(seen))
            unexplained.note(m, place, seen);
          return false;
        }
        // If the state explains a read, it does not wait for a transaction of unknown outcome: a
        // better explanation might take long to come.
        const bool known = m.status == TxnStatus::unknown && explained.by_state(seen);
        const bool waits = how.only_sealed || (!known && explained.by_others_to_come(seen));
        if (waits) open.push_back(place);
        return waits;
      });
  std::vector<Window::UnexplainedRead> found = std::move(unexplained).take();
  if (any) {
    Result<Window> weaker = without(*whole, dropped);
    if (!weaker.ok()) return weaker;
    whole = std::move(weaker);
  }
  whole = without_left_out(std::move(*whole), members);
  if (!whole.ok()) return whole;
  whole->open = std::move(open);
  whole->unexplained = std::move(found);
  return whole;
}

Result<Window> projection(std::span<const Member> members, const Past& past, int64_t mark,
                          Times times) {
  Assembly assembly;
  if (!members.empty()) assembly.header(*members[0].piece);
  if (Status s = add_members(assembly, members, times); !s.ok()) return s.error();
  Result<Window> whole = assembly.finish();
  if (!whole.ok()) return whole;

  const Explained explained(*whole, members, past);
  const std::vector<int64_t> certain = first_certain_writes(*whole, members, past.forgotten_end);
  std::vector<bool> dropped;
  const std::unordered_set<uint64_t> at_hand = numbers_of_unknown(members);
  const auto drop = [&](const Member& m, const Observation& seen) {
    // A member of unknown outcome must be in an order only if a sealed one comes after it.
    if (!m.sealed(mark) && m.status != TxnStatus::unknown) return true;
    if (past.late_writers.may_explain(whole->history, seen, at_hand)) return true;
    if (explained.by_left_out(seen)) return true;
    if (!past.gap && !past.lost_writers && !explained.has_state(seen.key)) return false;
    // Since a certain write of the key by a member, everything that was forgotten is overwritten.
    if (certain[seen.key] >= m.begin) return true;
    // Except by the late effect of an outcome that was never known.
    return (past.gap || past.lost_writers) && explained.is_from_nowhere(seen);
  };
  if (mark_dropped(*whole, members, dropped, drop)) {
    Result<Window> weaker = without(*whole, dropped);
    if (!weaker.ok()) return weaker;
    whole = std::move(weaker);
  }
  return without_left_out(std::move(*whole), members);
}

Result<Window> projection_alone(std::span<const Member> members, const Beyond& beyond) {
  Assembly assembly;
  if (!members.empty()) assembly.header(*members[0].piece);
  if (Status s = add_members(assembly, members, Times::own); !s.ok()) return s.error();
  Result<Window> whole = assembly.finish();
  if (!whole.ok() || beyond.none)
    return whole.ok() ? without_left_out(std::move(*whole), members) : std::move(whole);

  const WindowWriters writers(whole->history);
  std::vector<bool> dropped;
  std::string ambiguous;
  const auto drop = [&](const Member& m, const Observation& seen) {
    if (!writers.explained_beyond(seen, beyond)) return false;
    if (ambiguous.empty() && writers.is_ambiguous(seen))
      ambiguous =
          fmt::format("{} of {}", display_op(whole->history, seen.op), m.piece->name(m.txn));
    return true;
  };
  if (mark_dropped(*whole, members, dropped, drop)) {
    Result<Window> weaker = without(*whole, dropped);
    if (!weaker.ok()) return weaker;
    whole = std::move(weaker);
  }
  whole = without_left_out(std::move(*whole), members);
  if (whole.ok()) whole->ambiguous = std::move(ambiguous);
  return whole;
}

}  // namespace assay::internal::watch
