#include "certify/chain_rivals.h"

#include <algorithm>
#include <memory>

#include "certify/refusal.h"

namespace assay::internal::certify {

int64_t end_of(const History& h, TxnId t) {
  return h.status(t) == TxnStatus::committed ? h.end_time(t).response : Interval::kOpen;
}

ChainRivals::ChainRivals(ChainContents& contents, const ChainSegment& segment, bool keeps_real_time)
    : contents_(contents),
      segment_(segment),
      keeps_real_time_(keeps_real_time),
      moves_(segment.placed.size(), false),
      stays_(segment.placed.size(), false) {
  for (const ChainSegment::Placed& placed : segment.placed) {
    places_.emplace(placed.line, static_cast<uint32_t>(starts_.size()));
    starts_.push_back(touched_.size());
    add_place(placed);
  }
  starts_.push_back(touched_.size());
}

void ChainRivals::add_place(const ChainSegment::Placed& placed) {
  const size_t first = touched_.size();
  for (const Access& a : accesses(placed.txn.history(), placed.txn.txn)) {
    const bool looks = a.reads() && std::ranges::count(placed.excused, a.op) == 0;
    if (!looks && !a.writes()) continue;
    Touch& key = touch(first, key_of(placed.txn, a.key), a.key);
    // A read of the transaction's own write tells nothing about others.
    key.looked = key.looked || (looks && !key.wrote);
    key.wrote = key.wrote || a.writes();
  }
}

// The entry of the key, among those from `first` on.
ChainRivals::Touch& ChainRivals::touch(size_t first, const Content* key, KeyId in_piece) {
  const auto begin = touched_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto at = std::ranges::find(begin, touched_.end(), key, &Touch::key);
  return at == touched_.end() ? touched_.emplace_back(Touch{key, in_piece}) : *at;
}

// The address of a key's content identifies the key. A key that has not been written yet has an
// empty content, which is kept here.
const ChainRivals::Content* ChainRivals::key_of(const Txn& t, KeyId key) {
  if (const Content* content = contents_.find(*t.piece, key)) return content;
  const HeldValue name(t.history().key(key));
  return &unwritten_.try_emplace(name, Content{{HeldValue(ValueView{})}}).first.value();
}

Status ChainRivals::add(const Segment::Rival& r) {
  const auto from = places_.find(r.writer), behind = places_.find(r.last);
  if (from == places_.end() || behind == places_.end() || from->second >= behind->second)
    return refuse(
        "line {} is not a rival of line {}: expected both in the order, the second one later",
        r.writer, r.last);
  const uint32_t a = from->second, b = behind->second;
  if (stays_[a] || moves_[b])
    return refuse(
        "line {} is not a rival of line {}: one of them is already used in another rivalry",
        r.writer, r.last);
  const Touch* const write = shared_write(a, b);
  if (write == nullptr)
    return refuse("line {} is not a rival of line {}: they do not share one key", r.writer, r.last);
  const Txn& writer = segment_.placed[a].txn;
  for (uint32_t place = a + 1; place <= b; ++place)
    if (must_follow(segment_.placed[place].txn, writer) || meet(a, place, write->key))
      return refuse("line {} cannot be moved behind line {}: line {} is between them", r.writer,
                    r.last, segment_.placed[place].line);
  if (disturbs_late(a, b, write->key))
    return refuse("line {} cannot be moved behind line {}: another one may take effect in between",
                  r.writer, r.last);
  if (write->key->writer != r.last || write->key->looked)
    return refuse("line {} is not a rival of line {}: its key was written or read since", r.writer,
                  r.last);
  moves_[a] = stays_[b] = true;
  const History& h = writer.history();
  const OpId last = last_write(h, h.first_op(writer.txn), h.end_op(writer.txn), write->in_piece);
  Content& key = *contents_.find(*writer.piece, write->in_piece);
  if (!key.rivals) key.rivals = std::make_unique<std::vector<ChainContents::Version>>();
  key.rivals->push_back(ChainContents::left_by(h, access_of(h, last)));
  return Ok{};
}

// Whether a transaction of unknown outcome prevents the move: one between the two that touches a
// key of the first, or that has to come after it but no longer would; or one after both that reads
// the key, whose last writer would then be open.
bool ChainRivals::disturbs_late(uint32_t from, uint32_t behind, const Content* key) {
  return std::ranges::any_of(segment_.lates, [&](const ChainSegment::Late& late) {
    if (late.place <= from) return false;
    if (late.place > behind) return looks_at(late.txn, key);
    return touches(from, late.txn) || must_follow(late.txn, segment_.placed[from].txn);
  });
}

bool ChainRivals::touches(uint32_t place, const Txn& t) {
  for (const Access& a : accesses(t.history(), t.txn))
    if (std::ranges::count(touched_by(place), key_of(t, a.key), &Touch::key) > 0) return true;
  return false;
}

bool ChainRivals::looks_at(const Txn& t, const Content* key) {
  bool looks = false;
  each_outside_look(t.history(), t.txn,
                    [&](const Access& seen) { looks = looks || key_of(t, seen.key) == key; });
  return looks;
}

// The entry of a key that both transactions wrote without reading it; null if there is none.
const ChainRivals::Touch* ChainRivals::shared_write(uint32_t a, uint32_t b) const {
  for (const Touch& x : touched_by(a))
    for (const Touch& y : touched_by(b))
      if (x.key == y.key && x.is_blind() && y.is_blind()) return &x;
  return nullptr;
}

bool ChainRivals::must_follow(const Txn& later, const Txn& earlier) const {
  const History &h = later.history(), &e = earlier.history();
  const Interval begin = h.begin_time(later.txn);
  if (keeps_real_time_ && begin.known() && end_of(e, earlier.txn) < begin.request) return true;
  return h.session_name(h.session(later.txn)) == e.session_name(e.session(earlier.txn));
}

// Whether the transactions touch a key in common, other than by blind writes of `key`.
bool ChainRivals::meet(uint32_t a, uint32_t b, const Content* key) const {
  for (const Touch& x : touched_by(a))
    for (const Touch& y : touched_by(b))
      if (x.key == y.key && (x.key != key || !y.is_blind())) return true;
  return false;
}

}  // namespace assay::internal::certify
