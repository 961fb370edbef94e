#include "watch/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/invariants.h"
#include "base/sort_by.h"
#include "explain/explain.h"
#include "history/accesses.h"
#include "history/copy.h"
#include "watch/moments.h"
#include "watch/rivals.h"
#include "watch/session_news.h"
#include "watch/violation.h"

namespace assay::internal::watch {
namespace {

// With fences, the order must keep their times, too: then transactions that are over can be
// forgotten.
LevelId order_level(const WatchOptions& options) {
  return options.fence.empty() ? options.level : LevelId::strict_serializable;
}

// The times that an order has to respect.
Times times_to_keep(const WatchOptions& options) {
  return options.fence.empty() ? Times::own : Times::certain;
}

// Whether the member writes the key of the read; `the_value`: with the value that was read.
bool installs(const Member& m, const Window::UnexplainedRead& read, bool the_value) {
  const History& h = *m.piece;
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i)
    if (installs_version(h.op(i)) && h.key(h.op(i).key) == read.key.view() &&
        (!the_value || h.version_value(h.op(i).version) == read.value.view()))
      return true;
  return false;
}

Status can_take(const History& h, TxnId t, LevelId level) {
  if (Status can = can_watch_txn(h, t, level); !can.ok()) return can;
  if (level_info(level).single_operations && h.end_op(t) - h.first_op(t) > 1)
    return bad_input(fmt::format("expected one operation: {} is about single operations on single "
                                 "keys",
                                 level_info(level).name),
                     h.line(t));
  return Ok{};
}

}  // namespace

Status Watcher::add(const std::shared_ptr<const History>& piece, std::span<const Interval> ran) {
  if (Status can = can_watch_piece(*piece); !can.ok()) return can;
  const auto unknown = unknown_outcomes_of(*piece);
  if (!unknown.ok()) return unknown.error();
  TxnId next_unknown = 0;
  for (TxnId t = 0; t < piece->txn_count(); ++t) {
    const Interval begin = ran.empty() ? piece->begin_time(t) : ran[t];
    const Interval end = ran.empty() ? piece->end_time(t) : ran[t];
    const bool apart = piece->status(t) == TxnStatus::unknown;
    Status s = apart ? take(*unknown, next_unknown++, begin, end) : take(piece, t, begin, end);
    if (!s.ok()) return s;
  }
  for (const Event& event : piece->events())
    if (Status s = take_event(event); !s.ok()) return s;
  if (Status s = apply_settled(*piece); !s.ok()) return s;
  if (waiting_.size() < options_.window + postponed_) return Ok{};
  return decide_sealed();
}

Status Watcher::take(const std::shared_ptr<const History>& piece, TxnId t, const Interval& begin,
                     const Interval& end) {
  const History& h = *piece;
  if (Status s = can_take(h, t, options_.level); !s.ok()) return s;
  if (begin.known()) now_ = std::max(now_, begin.request);
  if (end.known() && end.response != Interval::kOpen) now_ = std::max(now_, end.response);
  const uint64_t line = options_.many_inputs ? next_number_ + 1 : lines_.of(h.line(t));
  Member m{piece, t, next_number_++, line, h.status(t)};
  m.begin = begin.known() ? begin.request : now_;
  m.end = end.known() ? end.response : m.begin;
  m.last_look = m.end;
  if (m.status == TxnStatus::unknown) {
    m.last_look = options_.by_begin ? later(m.begin, options_.lateness) : std::max(m.begin, now_);
    m.end = Interval::kOpen;
    late_writers_.add(m, later(m.last_look, options_.settle));
  }
  Session& session = sessions_[HeldValue(h.session_name(h.session(t)))];
  // Within a piece the reader has made sure of this.
  if (begin.known() && begin.response < session.over)
    return bad_input(fmt::format("{} begins before the previous transaction of its session ended; "
                                 "expected the times of a session not to run backwards",
                                 h.name(t)),
                     h.line(t));
  if (begin.known()) session.over = std::max(session.over, begin.request);
  if (begin.known()) last_begin_ = std::max(last_begin_, begin.request);
  if (end.known()) session.over = std::max(session.over, end.request);
  session.next = std::max(session.next, m.end == Interval::kOpen ? m.begin : m.end);
  ++progress_.transactions;
  if (lost_ && begin.known()) end_loss(m.begin);
  if (lost_ || m.begin < dropped_before_) {
    if (m.status == TxnStatus::committed) forgotten_end_ = std::max(forgotten_end_, m.end);
    note_left_out(m);
    return Ok{};
  }
  while (!said_marks_.empty() && said_marks_.begin()->first < lines_.last()) {
    alarm_mark_ = std::max(alarm_mark_, said_marks_.begin()->second);
    said_marks_.erase(said_marks_.begin());
  }
  if (m.begin < alarm_mark_)
    report(h.name(t), "it is late: it began before the mark of an alarm, and may explain its reads",
           false);
  if (said_.erase(m.line) > 0) {
    m.left_out = true;
    note_left_out(m);
  }
  if (options_.by_begin) bound_looks(m, session);
  waiting_.push_back(std::move(m));
  return Ok{};
}

// A transaction of unknown outcome precedes the next one of its session, and that precedes every
// transaction that begins after its end.
void Watcher::bound_looks(const Member& m, Session& session) {
  if (m.status == TxnStatus::unknown) session.looking.push_back(m.number);
  if (m.status != TxnStatus::committed) return;
  for (const uint64_t number : std::exchange(session.looking, {})) {
    const auto at = std::ranges::lower_bound(waiting_, number, {}, &Member::number);
    if (at != waiting_.end() && at->number == number)
      at->last_look = std::min(at->last_look, m.end);
  }
}

Status Watcher::take_event(const Event& event) {
  const auto news = session_news(event);
  if (!news.ok()) return news.error();
  if (!*news) return Ok{};
  int64_t& next = sessions_[(*news)->session].next;
  if ((*news)->ends) {
    next = Interval::kOpen;
  } else if ((*news)->at == Interval::kUnknown) {
    return bad_input("expected a field \"at\" beside \"event\":\"heartbeat\"");
  } else {
    next = std::max(next, (*news)->at);
    now_ = std::max(now_, (*news)->at);
  }
  return Ok{};
}

int64_t Watcher::overdue() const { return less(now_, options_.lateness); }

int64_t Watcher::mark() const {
  if (options_.by_begin) return last_begin_;
  int64_t next = Interval::kUnknown;
  if (options_.sessions > 0 && sessions_.size() >= options_.sessions) {
    next = Interval::kOpen;
    for (const auto& [name, session] : sessions_) next = std::min(next, session.next);
  }
  return std::max(next, overdue());
}

Status Watcher::finish() {
  if (Status s = decide(Interval::kOpen); !s.ok()) return s;
  for (const Settled& s : settled_) seal(s);
  settled_.clear();
  give_up_late(late_effects_.take_all());
  hand_over_segment();
  return Ok{};
}

const Progress& Watcher::progress() {
  progress_.buffered = waiting_.size();
  progress_.kept = 0;
  for (const Settled& s : settled_) progress_.kept += s.members.size();
  progress_.live_keys = state_.size();
  progress_.mark = mark();
  progress_.now = now_;
  return progress_;
}

// --- deciding

Status Watcher::decide(int64_t mark) {
  const size_t before = waiting_.size();
  gather(mark);
  if (Status s = decide_candidates(mark); !s.ok()) return s;
  // Members that are still open stay; the rest of a window has to come first.
  std::ranges::move(candidates_, std::front_inserter(waiting_));
  candidates_.clear();
  std::ranges::sort(waiting_, {}, &Member::number);
  const bool stuck = waiting_.size() * 2 > before;
  postponed_ = stuck ? waiting_.size() : std::min(waiting_.size(), options_.window);
  forget();
  if constexpr (kInvariantsChecked) check_invariants();
  return Ok{};
}

void Watcher::check_invariants() const {
  check_invariant(candidates_.empty(), "nothing is being decided between two calls");
  check_invariant(std::ranges::is_sorted(waiting_, std::less(), &Member::number),
                  "transactions wait in the order of their lines");
  for (const Member& m : waiting_)
    check_invariant(m.number < next_number_ && m.begin <= m.end,
                    "a transaction that waits was reported, and ends after its begin");
  for (const Settled& s : settled_) {
    check_invariant(s.ordered <= s.members.size(), "settled transactions are members");
    for (const Member& m : s.members)
      check_invariant(m.number < next_number_, "what is settled was reported");
  }
  for (const auto& [name, session] : sessions_)
    check_invariant(std::ranges::is_sorted(session.looking),
                    "what a session leaves open is in the order of its lines");
}

// Takes the members that began before the mark; the others run after all sealed ones.
void Watcher::gather(int64_t mark) {
  std::deque<Member> later;
  for (Member& m : waiting_) {
    if (m.begin < mark)
      candidates_.push_back(std::move(m));
    else
      later.push_back(std::move(m));
  }
  waiting_ = std::move(later);
}

bool Watcher::is_late(const Member& m) const {
  return m.status == TxnStatus::committed && !m.left_out && m.end < latest_begin_;
}

// A transaction that ended before the begin of a settled one belongs before that one: takes
// stretches back for it.
void Watcher::take_back_for_late() {
  const auto late = [this](const Member& m) { return is_late(m); };
  while (!settled_.empty() && std::ranges::any_of(candidates_, late)) take_back(1);
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    if (!late(candidates_[i])) continue;
    report(candidates_[i].piece->name(candidates_[i].txn),
           "it was reported after later transactions had been decided and forgotten", false);
    leave_out(i, false);
  }
}

// How many stretches to take back until the value is there again, or its writer gets another place;
// 0: no number is enough.
size_t Watcher::settled_since(const Window::UnexplainedRead& read) const {
  const auto wrote = [&](const Member& m) {
    return m.status == TxnStatus::unknown && installs(m, read, true);
  };
  const auto was_there = [&](const LiveState::Change& change) {
    if (!change.second || change.first.view() != read.key.view()) return false;
    const auto is = [&](const LiveState::Version& v) {
      return v.value.view() == read.value.view();
    };
    return is(change.second->last) || std::ranges::any_of(change.second->rivals, is);
  };
  for (size_t back = 1; back <= settled_.size(); ++back) {
    const Settled& s = settled_[settled_.size() - back];
    if (std::ranges::any_of(s.changes, was_there) || std::ranges::any_of(s.members, wrote) ||
        std::ranges::any_of(s.late, wrote, &LateTxn::member))
      return back;
  }
  return 0;
}

// How many stretches to take back until the value proves something: no possible writer of it is
// forgotten, or one of the candidates certainly overwrote, before the read, everything that is
// forgotten then.
size_t Watcher::provable_since(const Window::UnexplainedRead& read) const {
  if (!gap_ && !lost_writers_) {
    const auto first = std::ranges::find_if(settled_, &Settled::loses_writers);
    return static_cast<size_t>(settled_.end() - first);
  }
  const int64_t begin = candidates_[read.place].begin;
  int64_t latest = Interval::kUnknown;  // begin of one that overwrote it
  const auto look = [&](const Member& m) {
    if (m.status == TxnStatus::committed && !m.left_out && m.end < begin && m.begin > latest &&
        installs(m, read, false))
      latest = m.begin;
  };
  std::vector<int64_t> forgotten = {forgotten_end_};  // indexed by how many stretches stay
  for (const Settled& s : settled_) forgotten.push_back(std::max(forgotten.back(), s.latest_end));
  std::ranges::for_each(candidates_, look);
  for (size_t stay = settled_.size(); stay-- > 0;) {
    std::ranges::for_each(settled_[stay].members, look);
    if (latest > forgotten[stay]) return settled_.size() - stay;
  }
  return 0;
}

// Handles unexplained reads without a search, as the window has no order: takes back transactions
// that may explain the read, or prove a violation with it; or leaves out the reader. Returns how
// many are left out.
size_t Watcher::handle_unexplained(std::span<const Window::UnexplainedRead> unexplained) {
  size_t back = 0;
  for (const auto& read : unexplained) back = std::max(back, settled_since(read));
  for (const Window::UnexplainedRead& read : unexplained)
    if (back == 0 && !read.by_late_writer) back = provable_since(read);
  if (back > 0) return take_back(back), 0;
  size_t left_out = 0;
  for (const Window::UnexplainedRead& read : unexplained) {
    const Member& m = candidates_[read.place];
    if (m.left_out) continue;  // it saw more than one such value
    report(m.piece->name(m.txn),
           "everything that could explain or contradict its read is forgotten", false);
    leave_out(read.place, false);
    ++left_out;
  }
  return left_out;
}

Status Watcher::decide_candidates(int64_t mark) {
  for (size_t left_out = 0, back = 1; !candidates_.empty() && !listener_.has_enough();) {
    take_back_for_late();
    Result<Window> window = after_state(candidates_, past(), options_.level, mark, {});
    if (!window.ok()) return window.error();
    if (!window->unexplained.empty()) {
      left_out += handle_unexplained(window->unexplained);
      if (left_out > kMostLeftOut) return resume(std::string(kTooMany)), Ok{};
      continue;
    }
    Judgement now = judge(std::move(*window));
    if (!options_.fence.empty() && !keeps_fences(now)) {
      Result<Judgement> by_fences = judge_by_fences(mark);
      if (!by_fences.ok()) return by_fences.error();
      now = std::move(*by_fences);
    }
    if (now.verdict().outcome == Outcome::satisfied) return settle(now, mark), Ok{};
    if (now.verdict().outcome == Outcome::unknown) return resume(now.verdict().reason), Ok{};
    Result<bool> alarmed = raise_alarm(mark);
    if (!alarmed.ok()) return alarmed.error();
    if (!*alarmed && !settled_.empty()) {
      take_back(back);
      back *= 2;
      continue;
    }
    if (!*alarmed) {
      Result<Window> sealed = after_state(candidates_, past(), options_.level, mark,
                                          {.times = times_to_keep(options_), .only_sealed = true});
      if (!sealed.ok()) return sealed.error();
      // A transaction still to be reported may explain the observations of the other members.
      if (judge(std::move(*sealed)).verdict().outcome == Outcome::satisfied) return Ok{};
    }
    if (++left_out > kMostLeftOut || (!*alarmed && !give_up_one(now)))
      return resume(std::string(kTooMany)), Ok{};
    back = 1;
  }
  return Ok{};
}

// Leaves out one transaction of a window that nothing explains. False if it is not clear which one.
bool Watcher::give_up_one(const Judgement& rejected) {
  const std::vector<Explanation> explanations = explain(rejected.window.history, rejected.result);
  if (explanations.empty()) return false;
  const uint32_t suspect = last_of(explanations[0], rejected.window, candidates_);
  if (suspect == kNone) return false;
  report(candidates_[suspect].piece->name(candidates_[suspect].txn),
         fmt::format("no order explains it together with the earlier transactions, but those still "
                     "kept prove no violation ({})",
                     anomaly_info(explanations[0].anomaly).name),
         false);
  leave_out(suspect, false);
  return true;
}

Past Watcher::past() const {
  Past p{state_,           gap_,         lost_writers_, forgotten_end_, late_writers_,
         left_out_writes_, late_effects_};
  for (const Settled& s : settled_) {
    p.lost_writers = p.lost_writers || s.loses_writers;
    p.forgotten_end = std::max(p.forgotten_end, s.latest_end);
  }
  return p;
}

Watcher::Judgement Watcher::judge(Window window) const {
  CheckOptions how = checking(options_);
  how.levels = {order_level(options_)};
  CheckResult result = check(window.history, how);
  return {std::move(window), std::move(result)};
}

// A likely order was looked for first: returns whether it was found and keeps what fences tell
// about times.
bool Watcher::keeps_fences(const Judgement& found) const {
  if (found.verdict().outcome != Outcome::satisfied) return false;
  int64_t latest_begin = Interval::kUnknown;
  for (const TxnId t : found.order()) {
    if (found.window.members[t] == kNone) continue;
    const Member& m = candidates_[found.window.members[t]];
    if (m.end < latest_begin) return false;
    latest_begin = std::max(latest_begin, m.begin);
  }
  return true;
}

Result<Watcher::Judgement> Watcher::judge_by_fences(int64_t mark) const {
  Result<Window> window =
      after_state(candidates_, past(), options_.level, mark, {.times = times_to_keep(options_)});
  if (!window.ok()) return window.error();
  return judge(std::move(*window));
}

Result<bool> Watcher::raise_alarm(int64_t mark) {
  // At a level without times, the transactions themselves show what fences say about times.
  const Times times = options_.fence.empty() ? Times::own : Times::none;
  Result<Window> part = projection(candidates_, past(), mark, times);
  if (!part.ok()) return part.error();
  Window window = std::move(*part);
  const CheckResult shown = check(window.history, checking(options_));
  if (shown.verdicts.at(0).outcome != Outcome::violated) return false;
  std::optional<Audit> violation = audited(std::move(window.history), options_);
  if (!violation) return false;
  const uint32_t last = last_of(violation->explanations[0], window, candidates_);
  if (last == kNone) return false;
  ++progress_.alarms;
  alarm_mark_ = std::max(alarm_mark_, mark);
  listener_.alarm(smallest(*std::move(violation), options_),
                  candidates_[last].piece->name(candidates_[last].txn));
  leave_out(last, true);
  return true;
}

void Watcher::leave_out(uint32_t place, bool alarm) {
  Member& m = candidates_[place];
  listener_.left_out({m.line, alarm, alarm_mark_, lines_.last()});
  m.left_out = true;
  note_left_out(m);
}

void Watcher::note_left_out(const Member& m) {
  segment_.left_out.push_back(m.line);
  left_out_writes_.add(m);
}

void Watcher::report(std::string about, std::string reason, bool resumed) {
  ++progress_.undecided;
  listener_.undecided({std::move(about), std::move(reason), now_, resumed});
}

// Starts again, as no part of the state can be relied on: what follows is watched as a separate
// history.
void Watcher::resume(std::string reason) {
  report(fmt::format("{} transactions", candidates_.size() + waiting_.size()), std::move(reason),
         true);
  seal_gap();
  gap_ = true;
  candidates_.clear();
  waiting_.clear();
  settled_.clear();
  state_.clear();
  dropped_before_ = latest_begin_ = now_;
  forgotten_end_ = std::max(forgotten_end_, now_);
}

// Ends a loss. Transactions reported meanwhile began before, and had ended or were reported late.
// One of unknown outcome may still take effect.
void Watcher::end_loss(int64_t first_begin) {
  lost_ = false;
  dropped_before_ = latest_begin_ = std::max(now_, later(first_begin, options_.lateness));
  forgotten_end_ = later(dropped_before_, options_.settle);
}

void Watcher::note_loss(std::span<const HeldValue> sessions) {
  for (const HeldValue& name : sessions) sessions_[name].next = Interval::kOpen;
  note_loss();
}

void Watcher::note_loss() {
  resume(
      fmt::format("transactions reported after {} and before the next line are lost, and those "
                  "that began less than --lateness after that line are not decided",
                  now_));
  alarm_mark_ = Interval::kUnknown;
  lines_ = {};
  said_.clear();
  said_marks_.clear();
  lost_ = true;
}

// --- settling

// How many transactions of the order come before the first that has to wait; the last of them is
// committed, as one of unknown outcome may also come later.
size_t Watcher::settled_part(const Window& window, const std::vector<uint32_t>& places,
                             int64_t mark) const {
  size_t part = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const Member& m = candidates_[places[i]];
    // If lines are sorted by begin, a transaction of unknown outcome may wait long for its end; if
    // the order explains all that it saw, it need not.
    const bool stands =
        options_.by_begin && m.status == TxnStatus::unknown && !window.is_open(places[i]);
    if (!m.sealed(mark) && !stands) break;
    if (m.status == TxnStatus::committed) part = i + 1;
  }
  return part;
}

Watcher::Parting Watcher::part(const Judgement& found, int64_t mark) const {
  Parting p;
  std::vector<bool> ordered(candidates_.size());
  std::vector<uint32_t> places;
  for (const TxnId t : found.order()) {
    if (found.window.members[t] == kNone) continue;
    p.order.push_back(t);
    places.push_back(found.window.members[t]);
    ordered[places.back()] = true;
  }
  p.order.resize(settled_part(found.window, places, mark));
  std::vector<bool> goes(candidates_.size());
  for (size_t i = 0; i < p.order.size(); ++i) goes[places[i]] = true;
  const int64_t given_up = mark == Interval::kOpen ? mark : less(now_, options_.settle);
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    if (goes[i]) continue;
    const Member& m = candidates_[i];
    const bool unknown = m.status == TxnStatus::unknown && !m.left_out;
    // Without effect on the order: aborted, left out, or explained only by what others left out.
    const bool idle = !ordered[i] && (unknown ? m.begin < given_up : m.sealed(mark));
    if (idle || mark == Interval::kOpen)
      p.idle.push_back(i);
    else if (!ordered[i] && unknown && may_be_late(m, mark))
      p.late.push_back(i);
    else
      p.left.push_back(i);
  }
  return p;
}

// Whether the transaction may become late. If lines are sorted by begin, a transaction of unknown
// outcome may stay unsealed for long, and the place where its reads fit is settled and forgotten
// meanwhile. So the place is looked for at once; if it was wrong, it is looked for again as for any
// late transaction.
bool Watcher::may_be_late(const Member& m, int64_t mark) const {
  return m.sealed(mark) || options_.by_begin;
}

void Watcher::settle(const Judgement& found, int64_t mark) {
  const Parting p = part(found, mark);
  Settled first = begin_settled();
  const OrderAccesses accesses(found.window, p.order);
  choose_rivals(found, accesses, first);
  choose_late(found, first);
  const std::vector<RivalVersion> rivals = find_rivals(accesses, candidates_);
  take_touched(accesses, first);
  LateFates late = find_late_places(accesses, p, rivals, first.touched, mark);

  for (const uint64_t number : late.gave_way) {
    first.touched.push_back(late_effects_.take(number));
    late.open.push_back(first.touched.back().member);
  }

  Settled done = apply_order(found, p.order, rivals, late.late, std::move(first));
  // No more lines come.
  if (mark == Interval::kOpen)
    std::ranges::move(std::exchange(late.open, {}), std::back_inserter(late.without_effect));
  for (const uint32_t i : p.idle) late.without_effect.push_back(std::move(candidates_[i]));
  for (const Member& m : late.without_effect) {
    done.loses_writers = done.loses_writers || m.left_out || m.status == TxnStatus::unknown;
    add_settled(m, done);
  }
  done.ends = true;
  for (const uint32_t i : p.left) late.open.push_back(std::move(candidates_[i]));
  candidates_ = std::move(late.open);
  std::ranges::sort(candidates_, {}, &Member::number);
  if (!done.empty()) settled_.push_back(std::move(done));
}

// Finds places for the transactions that have not shown an effect.
Watcher::LateFates Watcher::find_late_places(const OrderAccesses& accesses, const Parting& p,
                                             std::span<const RivalVersion> rivals,
                                             std::span<const LateTxn> touched, int64_t mark) const {
  LateFates fates;
  if (p.late.empty() && touched.empty()) return fates;
  std::vector<const Member*> asked;
  for (const uint32_t i : p.late) asked.push_back(&candidates_[i]);
  for (const LateTxn& late : touched) asked.push_back(&late.member);
  LatePlaces places({accesses, candidates_, p.left, rivals, state_, late_effects_, touched, asked});
  const auto look_for_place = [&](const Member& m, bool moved) {
    const LatePlace place = places.of(m);
    switch (place.kind) {
      case LatePlace::Kind::here:
        fates.late.push_back({place.behind, {.member = m, .moved = moved}});
        break;
      case LatePlace::Kind::later:
        fates.open.push_back(m);
        break;
      case LatePlace::Kind::never:
        // A transaction still to be reported may leave the value that it read.
        (m.sealed(mark) ? fates.without_effect : fates.open).push_back(m);
        break;
    }
  };
  for (const uint32_t i : p.late) look_for_place(candidates_[i], false);
  for (const LateTxn& late : touched) look_for_place(late.member, true);
  stable_sort_by(fates.late, [](const PlacedLate& placed) { return placed.behind; });
  fates.gave_way = places.gave_way();
  return fates;
}

void Watcher::add_settled(const Member& m, Settled& to) {
  if (m.end != Interval::kOpen) to.latest_end = std::max(to.latest_end, m.end);
  if (m.status != TxnStatus::aborted) ++progress_.decided;
  to.members.push_back(m);
}

Watcher::Settled Watcher::begin_settled() const {
  Settled s;
  s.latest_begin_before = latest_begin_;
  s.last_line_before = last_line_;
  return s;
}

// Applies the first part of an order to the state, in stretches of a window, so no more than one
// needs to be taken back. Returns the last stretch, which may be `first`.
Watcher::Settled Watcher::apply_order(const Judgement& found, std::span<const TxnId> part,
                                      std::span<const RivalVersion> rivals,
                                      std::span<const PlacedLate> late, Settled first) {
  Settled to = std::move(first);
  auto next = late.begin();
  const auto place_behind = [&](size_t place) {
    for (; next != late.end() && next->behind <= place; ++next) add_late(next->late, to);
  };
  for (size_t i = 0; i < part.size(); ++i) {
    const TxnId t = part[i];
    place_behind(i);
    if (to.members.size() >= options_.window) {
      settled_.push_back(std::move(to));
      to = begin_settled();
    }
    const Member& m = candidates_[found.window.members[t]];
    apply(m, to);
    add_settled(m, to);
    ++to.ordered;
    last_line_ = m.line;
  }
  place_behind(part.size());
  for (const RivalVersion& r : rivals) {
    const ValueView key = found.window.history.key(r.key);
    LiveState::Entry entry = *state_.find(key);
    entry.rivals.push_back(r.version);
    state_.put(key, std::move(entry), to.changes);
    const auto line = [&](uint32_t place) {
      return candidates_[found.window.members[part[place]]].line;
    };
    to.rivals.push_back({line(r.from), line(r.behind)});
  }
  return to;
}

// A late transaction whose value was read took effect, with all its writes that show.
void Watcher::choose_late(const Judgement& found, Settled& to) {
  for (const uint64_t number : found.window.late) {
    LateTxn p = late_effects_.take(number);
    const History& h = *p.member.piece;
    for (OpId i = h.first_op(p.member.txn); i < h.end_op(p.member.txn); ++i) {
      if (!p.shows(i)) continue;
      mask(h.key(h.op(i).key), p.place, to);
      install(p.member, i, to);
    }
    to.took_effect.push_back(std::move(p));
    ++progress_.decided;
  }
}

// Masks the late writes of the key before the place.
void Watcher::mask(const ValueView& key, uint64_t place, Settled& to) {
  if (late_effects_.empty()) return;
  const std::vector<LateWrite> masked = late_effects_.mask(key, place);
  to.masked_writes.insert(to.masked_writes.end(), masked.begin(), masked.end());
}

// Adds a late transaction at the present end of the order.
void Watcher::add_late(LateTxn p, Settled& to) {
  p.behind = last_line_;
  p.place = next_place_++;
  latest_begin_ = std::max(latest_begin_, p.member.begin);
  late_effects_.add(p);
  to.late.push_back(std::move(p));
}

// Takes the late transactions with a write that the order missed, or with no write that still
// shows.
void Watcher::take_touched(const OrderAccesses& order, Settled& to) {
  if (late_effects_.empty()) return;
  const History& h = order.window().history;
  std::map<uint64_t, size_t> overwritten;  // by number of the transaction: how many of its keys
  std::set<uint64_t> touched;
  for (const LateWrite& m : to.masked_writes) overwritten.emplace(m.number, 0);
  for (KeyId key = 0; key < h.key_count(); ++key) {
    if (order.of_key(key).empty()) continue;
    for (const LateWrite& writer : late_effects_.writers_of(h.key(key)))
      if (order.of_key(key).front().is_blind())
        ++overwritten[writer.number];
      else
        touched.insert(writer.number);
  }
  for (const auto& [number, keys] : overwritten)
    if (late_effects_.contains(number) && late_effects_.shown(number) == keys)
      touched.insert(number);
  for (const uint64_t number : touched) to.touched.push_back(late_effects_.take(number));
}

// Of the rivals that the window considers, the last in its order came last; if no settled
// transaction reads the key, either may still have come last.
void Watcher::choose_rivals(const Judgement& found, const OrderAccesses& accesses, Settled& to) {
  const History& h = found.window.history;
  std::vector<uint32_t> place(h.txn_count());
  for (uint32_t i = 0; i < found.order().size(); ++i) place[found.order()[i]] = i;
  std::vector<Window::Rival> chosen = found.window.rivals;
  std::ranges::sort(chosen, {}, [&](const Window::Rival& r) { return place[r.txn]; });
  for (const Window::Rival& r : chosen) {
    const KeyId key = h.op(h.first_op(r.txn)).key;
    const auto touched = accesses.of_key(key);
    if (!touched.empty() && touched.front().looked) state_.put(h.key(key), {r.version}, to.changes);
  }
}

void Watcher::apply(const Member& m, Settled& to) {
  const History& h = *m.piece;
  if (m.status == TxnStatus::committed) latest_begin_ = std::max(latest_begin_, m.begin);
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
    const Observation seen = observation_of(h, i);
    if (seen.accepts != Accepts::any) {
      // The reader saw the version that came last.
      const LiveState::Entry* entry = state_.find(h.key(seen.key));
      if (entry != nullptr && !entry->rivals.empty())
        state_.put(h.key(seen.key), {entry->last}, to.changes);
    }
  }
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
    if (!installs_version(h.op(i))) continue;
    mask(h.key(h.op(i).key), next_place_, to);
    install(m, i, to);
  }
}

void Watcher::install(const Member& m, OpId write, Settled& to) {
  const History& h = *m.piece;
  const Install left = install_of(h, write);
  state_.put(h.key(left.key), {{HeldValue(h.version_value(left.version)), left.removes}},
             to.changes);
}

void Watcher::take_back(size_t windows) {
  std::vector<Member> all = std::move(candidates_);
  for (; windows > 0 && !settled_.empty(); --windows) {
    Settled& last = settled_.back();
    state_.take_back(std::move(last.changes));
    latest_begin_ = last.latest_begin_before;
    last_line_ = last.last_line_before;
    for (Member& m : last.members) {
      if (m.status != TxnStatus::aborted) --progress_.decided;
      all.push_back(std::move(m));
    }
    // A new place for a touched transaction may have been found at once.
    for (const LateTxn& p : last.late)
      if (late_effects_.contains(p.member.number))
        all.push_back(late_effects_.take(p.member.number).member);
    for (const LateTxn& p : last.touched) {
      const auto is_it = [&](const Member& other) { return other.number == p.member.number; };
      std::erase_if(all, is_it);
      std::erase_if(waiting_, is_it);  // happens if a report from before a crash is taken back
      late_effects_.add(p);
    }
    for (const LateTxn& p : last.took_effect) {
      late_effects_.add(p);
      --progress_.decided;
    }
    for (const LateWrite& m : last.masked_writes) late_effects_.unmask(m);
    settled_.pop_back();
  }
  std::ranges::sort(all, {}, &Member::number);
  candidates_ = std::move(all);
}

void Watcher::forget() {
  size_t kept = 0;
  for (const Settled& s : settled_) kept += s.members.size();
  while (!settled_.empty() && kept - settled_.front().members.size() >= options_.keep) {
    const Settled& oldest = settled_.front();
    kept -= oldest.members.size();
    forgotten_end_ = std::max(forgotten_end_, oldest.latest_end);
    lost_writers_ = lost_writers_ || oldest.loses_writers;
    seal(oldest);
    settled_.pop_front();
  }
  give_up_late(late_effects_.take_in_chain(less(now_, options_.settle)));
  if (late_writers_.empty()) return;
  int64_t oldest_begin = mark();
  const auto begins = [&](const Member& m) { oldest_begin = std::min(oldest_begin, m.begin); };
  for (const Settled& s : settled_) std::ranges::for_each(s.members, begins);
  std::ranges::for_each(waiting_, begins);
  late_writers_.forget_before(oldest_begin);
}

// --- certificates

// Gives up those whose writes were not read in time.
void Watcher::give_up_late(const std::vector<Member>& late) {
  for (const Member& m : late) {
    segment_.without_effect.push_back(m.line);
    ++progress_.decided;
  }
  lost_writers_ = lost_writers_ || !late.empty();
}

// Seals a stretch. Rivals are in one segment with all transactions that they were moved past.
void Watcher::seal(const Settled& s) {
  for (size_t i = 0; i < s.members.size(); ++i) {
    const Member& m = s.members[i];
    if (i < s.ordered)
      segment_.order.push_back(m.line);
    else if (m.left_out)
      continue;  // and it was reported
    else if (m.status == TxnStatus::committed)
      note_left_out(m);
    else
      segment_.without_effect.push_back(m.line);
  }
  segment_.rivals.insert(segment_.rivals.end(), s.rivals.begin(), s.rivals.end());
  for (const LateTxn& p : s.late) {
    segment_.late.push_back({p.member.line, p.behind});
    late_effects_.note_in_chain(p.member.number, p.behind);
  }
  for (const LateTxn& p : s.took_effect) segment_.took_effect.push_back(p.member.line);
  if (s.ends) hand_over_segment();
}

void Watcher::hand_over_segment() {
  if (!segment_.empty()) listener_.sealed(segment_);
  segment_ = {};
}

// Seals all kept stretches, and then leaves the waiting transactions undecided.
void Watcher::seal_gap() {
  for (const Settled& s : settled_) seal(s);
  hand_over_segment();
  segment_.gap = true;
  const auto drop = [this](const Member& m) {
    if (!m.left_out) note_left_out(m);
  };
  std::ranges::for_each(candidates_, drop);
  std::ranges::for_each(waiting_, drop);
  std::ranges::for_each(late_effects_.take_all(), drop);
  hand_over_segment();
}

}  // namespace assay::internal::watch
