// The state of a watcher, saved for another watcher to continue (Watcher::save, Watcher::load).
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "history/value_bytes.h"
#include "watch/state_bytes.h"
#include "watch/watcher.h"

namespace assay::internal::watch {

// --- the parts

void LiveState::save(StateWriter& w) const {
  w.each(entries_, [&](const auto& kept) {
    put_value(w.to, kept.first.view());
    w.entry(kept.second);
  });
}

void LiveState::load(StateReader& r) {
  r.each([&] {
    HeldValue key = take_value(r.from);
    entries_.emplace(std::move(key), r.entry());
  });
}

void LateWriters::save(StreamWriter& to) const {
  to.number(writes_.size());
  for (const auto& [key, writes] : writes_) {
    to.number(key);
    to.number(writes.size());
    for (const Write& w : writes) {
      to.number(w.number);
      to.number(w.value);
      to.flag(w.removes);
    }
  }
  to.number(ends_.size());
  for (const End& end : ends_) {
    to.integer(end.at);
    to.number(end.number);
    to.number(end.keys.size());
    for (const uint64_t key : end.keys) to.number(key);
  }
}

void LateWriters::load(StreamReader& from) {
  for (size_t n = from.count(); n > 0; --n) {
    std::vector<Write>& writes = writes_[from.number()];
    for (size_t m = from.count(); m > 0; --m) {
      Write& w = writes.emplace_back();
      w.number = from.number();
      w.value = from.number();
      w.removes = from.flag();
    }
  }
  for (size_t n = from.count(); n > 0; --n) {
    End& end = ends_.emplace_back();
    end.at = from.integer();
    end.number = from.number();
    for (size_t m = from.count(); m > 0; --m) end.keys.push_back(from.number());
  }
}

void LeftOutWrites::save(StreamWriter& to) const {
  to.number(values_.size());
  for (const auto& [key, values] : values_) {
    to.number(key);
    to.number(values.size());
    for (const uint64_t value : values) to.number(value);
  }
}

void LeftOutWrites::load(StreamReader& from) {
  for (size_t n = from.count(); n > 0; --n) {
    std::vector<uint64_t>& values = values_[from.number()];
    for (size_t m = from.count(); m > 0; --m) values.push_back(from.number());
  }
}

void LateEffects::save(StateWriter& w) const {
  w.each(txns_, [&](const auto& one) { w.late(one.second); });
}

// A number that is there already, or a place that is taken, is an error.
void LateEffects::load(StateReader& r) {
  std::set<uint64_t> places;
  r.each([&] {
    LateTxn p = r.late();
    if (!r.from.ok()) return;
    if (contains(p.member.number) || !places.insert(p.place).second) return r.from.fail();
    add(std::move(p));
  });
}

// --- the whole

namespace {

template <class Lines>
void put_lines(StreamWriter& to, const Lines& lines) {
  to.number(lines.size());
  for (const uint64_t line : lines) to.number(line);
}

std::vector<uint64_t> take_lines(StreamReader& from) {
  std::vector<uint64_t> lines;
  for (size_t n = from.count(); n > 0; --n) lines.push_back(from.number());
  return lines;
}

void put_rivals(StreamWriter& to, const std::vector<certify::Segment::Rival>& rivals) {
  to.number(rivals.size());
  for (const certify::Segment::Rival& r : rivals) {
    to.number(r.writer);
    to.number(r.last);
  }
}

std::vector<certify::Segment::Rival> take_rivals(StreamReader& from) {
  std::vector<certify::Segment::Rival> rivals;
  for (size_t n = from.count(); n > 0; --n) {
    const uint64_t writer = from.number();
    rivals.push_back({writer, from.number()});
  }
  return rivals;
}

void put_segment(StreamWriter& to, const certify::Segment& s) {
  put_lines(to, s.order);
  put_rivals(to, s.rivals);
  to.number(s.late.size());
  for (const certify::Segment::Late& late : s.late) {
    to.number(late.txn);
    to.number(late.behind);
  }
  put_lines(to, s.took_effect);
  put_lines(to, s.left_out);
  put_lines(to, s.without_effect);
  to.flag(s.gap);
}

certify::Segment take_segment(StreamReader& from) {
  certify::Segment s;
  s.order = take_lines(from);
  s.rivals = take_rivals(from);
  for (size_t n = from.count(); n > 0; --n) {
    const uint64_t txn = from.number();
    s.late.push_back({txn, from.number()});
  }
  s.took_effect = take_lines(from);
  s.left_out = take_lines(from);
  s.without_effect = take_lines(from);
  s.gap = from.flag();
  return s;
}

}  // namespace

struct Watcher::Bytes {
  static void put(StateWriter& w, const Settled& s) {
    w.members(s.members);
    w.to.number(s.ordered);
    put_rivals(w.to, s.rivals);
    w.late(s.late);
    w.late(s.touched);
    w.late(s.took_effect);
    w.changes(s.changes);
    w.to.integer(s.latest_begin_before);
    w.to.number(s.last_line_before);
    w.to.integer(s.latest_end);
    w.to.flag(s.loses_writers);
    w.to.flag(s.ends);
  }

  static Settled take(StateReader& r) {
    Settled s;
    s.members = r.members();
    s.ordered = r.from.number();
    if (s.ordered > s.members.size()) r.from.fail();
    s.rivals = take_rivals(r.from);
    s.late = r.late_txns();
    s.touched = r.late_txns();
    s.took_effect = r.late_txns();
    s.changes = r.changes();
    s.latest_begin_before = r.from.integer();
    s.last_line_before = r.from.number();
    s.latest_end = r.from.integer();
    s.loses_writers = r.from.flag();
    s.ends = r.from.flag();
    return s;
  }

  // Writes or reads the numbers and moments; `number` and `moment` do so for each.
  template <class W, class Number, class Moment, class Flag>
  static void plain(W& w, Number number, Moment moment, Flag flag) {
    number(w.progress_.transactions);
    number(w.progress_.decided);
    number(w.progress_.alarms);
    number(w.progress_.undecided);
    number(w.next_number_);
    number(w.last_line_);
    number(w.next_place_);
    number(w.postponed_);
    for (auto* time :
         {&w.now_, &w.latest_begin_, &w.forgotten_end_, &w.alarm_mark_, &w.dropped_before_})
      moment(*time);
    flag(w.gap_);
    flag(w.lost_writers_);
  }
};

void Watcher::save(StreamWriter& to, formats::TxnTableWriter& txns) const {
  StateWriter w(to, txns);
  Bytes::plain(
      *this, [&](uint64_t v) { to.number(v); }, [&](int64_t v) { to.integer(v); },
      [&](bool v) { to.flag(v); });
  to.number(lines_.last());
  w.each(sessions_, [&](const auto& one) {
    put_value(to, one.first.view());
    to.integer(one.second.next);
    to.integer(one.second.over);
  });
  w.each(waiting_, [&](const Member& m) { w.member(m); });
  late_writers_.save(to);
  left_out_writes_.save(to);
  late_effects_.save(w);
  w.each(settled_, [&](const Settled& s) { Bytes::put(w, s); });
  // These may belong to any transaction that was late.
  for (const Settled& s : settled_) w.masked_writes(s.masked_writes);
  state_.save(w);
  put_segment(to, segment_);
  put_lines(to, said_);
  w.each(said_marks_, [&](const auto& said) {
    to.number(said.first);
    to.integer(said.second);
  });
}

Status Watcher::load(StreamReader& from, const formats::TxnTable& txns) {
  StateReader r(from, txns);
  Bytes::plain(
      *this, [&](auto& v) { v = from.number(); }, [&](int64_t& v) { v = from.integer(); },
      [&](bool& v) { v = from.flag(); });
  lines_ = certify::LineNumbers(from.number());
  r.each([&] {
    const HeldValue name = take_value(from);
    Session& session = sessions_[name];
    session.next = from.integer();
    session.over = from.integer();
  });
  for (Member& m : r.members()) waiting_.push_back(std::move(m));
  late_writers_.load(from);
  left_out_writes_.load(from);
  late_effects_.load(r);
  r.each([&] { settled_.push_back(Bytes::take(r)); });
  for (Settled& s : settled_) s.masked_writes = r.masked_writes();
  state_.load(r);
  segment_ = take_segment(from);
  for (const uint64_t line : take_lines(from)) said_.insert(line);
  r.each([&] {
    const uint64_t line = from.number();
    said_marks_[line] = from.integer();
  });
  if (!from.ok() || r.next_number() > next_number_)
    return bad_input("the saved state of the transactions is invalid");
  return Ok{};
}

// --- reports since the state was saved

void Watcher::note_reported(const Omission& said) {
  if (said.alarm)
    ++progress_.alarms;
  else
    ++progress_.undecided;
  if (said.alarm) {
    int64_t& mark = said_marks_.try_emplace(said.read, said.mark).first->second;
    mark = std::max(mark, said.mark);
  }
  const auto is = [&](const Member& m) { return m.line == said.line; };
  auto held = std::ranges::find_if(waiting_, is);
  for (; held == waiting_.end() && !settled_.empty(); held = std::ranges::find_if(waiting_, is)) {
    take_back(1);
    std::ranges::move(candidates_, std::back_inserter(waiting_));
    candidates_.clear();
    std::ranges::sort(waiting_, {}, &Member::number);
  }
  if (held == waiting_.end())
    if (const LateTxn* late = late_effects_.find_line(said.line); late != nullptr)
      held = waiting_.insert(waiting_.begin(), late_effects_.take(late->member.number).member);
  if (held == waiting_.end()) {
    said_.insert(said.line);
  } else if (!held->left_out) {
    held->left_out = true;
    note_left_out(*held);
  }
}

}  // namespace assay::internal::watch
