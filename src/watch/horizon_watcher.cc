#include "watch/horizon_watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "history/accesses.h"
#include "watch/moments.h"
#include "watch/session_news.h"
#include "watch/violation.h"

namespace assay::internal::watch {
namespace {

bool leaves_absent(const History& h, OpId i) {
  if (!installs_version(h.op(i))) return false;
  const Install left = install_of(h, i);
  return left.removes || h.version_value(left.version).is_null();
}

// Whether `line` comes before `other`. Line numbers start again when they overflow.
bool is_before(uint32_t line, uint32_t other) { return static_cast<int32_t>(line - other) < 0; }

}  // namespace

// --- lines

Status HorizonWatcher::add(const std::shared_ptr<const History>& piece) {
  if (Status can = can_watch_piece(*piece); !can.ok()) return can;
  for (TxnId t = 0; t < piece->txn_count(); ++t)
    if (Status s = take(piece, t); !s.ok()) return s;
  for (const Event& event : piece->events())
    if (Status s = take_event(event); !s.ok()) return s;
  return Ok{};
}

Status HorizonWatcher::take(const std::shared_ptr<const History>& piece, TxnId t) {
  const History& h = *piece;
  if (Status s = can_watch_txn(h, t, options_.level); !s.ok()) return s;
  const Interval begin = h.begin_time(t), end = h.end_time(t);
  if (begin.known()) now_ = std::max(now_, begin.request);
  if (end.known() && end.response != Interval::kOpen) now_ = std::max(now_, end.response);
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) deletes_ = deletes_ || leaves_absent(h, i);
  ++progress_.transactions;
  Session& session = sessions_[HeldValue(h.session_name(h.session(t)))];
  if (has_lost_its_place(h, t, session)) {
    whole_ = false;
    return Ok{};
  }
  session.line = h.line(t);
  if (begin.known()) session.begin = std::max(session.begin, begin.request);
  Member m{piece, t, next_number_++, h.line(t), h.status(t)};
  // The order of lines serves as the times here.
  m.begin = m.end = static_cast<int64_t>(m.number);
  members_.push_back(std::move(m));
  ++fresh_;
  return members_.size() < 2 * options_.horizon ? Status(Ok{}) : decide(false);
}

// Whether this is a transaction whose outcome never came, which was given up after its session
// continued. In another file, lines are counted anew.
bool HorizonWatcher::has_lost_its_place(const History& h, TxnId t, const Session& session) {
  const Interval begin = h.begin_time(t);
  return h.status(t) == TxnStatus::unknown && is_before(h.line(t), session.line) &&
         (!begin.known() || begin.request <= session.begin);
}

Status HorizonWatcher::take_event(const Event& event) {
  const auto news = session_news(event);
  if (!news.ok()) return news.error();
  if (!*news) return Ok{};
  if ((*news)->ends) sessions_[(*news)->session].is_over = true;
  now_ = std::max(now_, (*news)->at);
  return Ok{};
}

void HorizonWatcher::note_loss(std::span<const HeldValue> sessions) {
  for (const HeldValue& name : sessions) sessions_[name].is_over = true;
  whole_ = false;
  report("everything reported until the next line", "it is lost", false);
}

int64_t HorizonWatcher::overdue() const { return less(now_, options_.lateness); }

bool HorizonWatcher::sessions_are_over() const {
  const auto over =
      std::ranges::count_if(sessions_, [](const auto& s) { return s.second.is_over; });
  return options_.sessions > 0 && static_cast<size_t>(over) >= options_.sessions;
}

const Progress& HorizonWatcher::progress() {
  progress_.buffered = fresh_;
  progress_.kept = members_.size() - fresh_;
  progress_.mark = sessions_are_over() ? Interval::kOpen : Interval::kUnknown;
  progress_.now = now_;
  return progress_;
}

// --- deciding

Status HorizonWatcher::decide(bool last) {
  // If there are no other transactions, the ones that were left out before count in the window
  // after all.
  const bool none_beyond = whole_ && last && !members_.empty();
  for (size_t left_out = 0; (fresh_ > 0 || none_beyond) && !listener_.has_enough(); ++left_out) {
    Result<Window> window = projection_alone(members_, {none_beyond, deletes_});
    if (!window.ok()) return window.error();
    if (!window->ambiguous.empty() && !std::exchange(reported_ambiguous_, true))
      report(window->ambiguous,
             "several transactions wrote this value to this key, so its writer may be "
             "forgotten; further cases are not reported",
             false);
    const Verdict found = check(window->history, checking(options_)).verdicts.at(0);
    if (found.outcome == Outcome::satisfied) return end_window(), Ok{};
    if (found.outcome == Outcome::unknown) return drop(found.reason), Ok{};
    const Result<bool> alarmed = raise_alarm(std::move(*window));
    if (!alarmed.ok()) return alarmed.error();
    if (!*alarmed || left_out == kMostLeftOut) return drop(std::string(kTooMany)), Ok{};
  }
  return Ok{};
}

Result<bool> HorizonWatcher::raise_alarm(Window window) {
  std::optional<Audit> violation = audited(std::move(window.history), options_);
  if (!violation) return false;
  const uint32_t last = last_of(violation->explanations[0], window, members_);
  if (last == kNone) return false;
  ++progress_.alarms;
  listener_.alarm(smallest(*std::move(violation), options_),
                  members_[last].piece->name(members_[last].txn));
  members_[last].left_out = true;
  return true;
}

// Ends the window; the next one begins N lines further on.
void HorizonWatcher::end_window() {
  for (size_t i = members_.size() - fresh_; i < members_.size(); ++i)
    if (members_[i].status != TxnStatus::aborted) ++progress_.decided;
  fresh_ = 0;
  if (members_.size() < 2 * options_.horizon) return;
  members_.erase(members_.begin(),
                 members_.begin() + static_cast<std::ptrdiff_t>(options_.horizon));
  whole_ = false;
}

void HorizonWatcher::drop(std::string reason) {
  report(fmt::format("{} transactions", members_.size()), std::move(reason), true);
  members_.clear();
  fresh_ = 0;
  whole_ = false;
}

void HorizonWatcher::report(std::string about, std::string reason, bool resumed) {
  ++progress_.undecided;
  listener_.undecided({std::move(about), std::move(reason), now_, resumed});
}

}  // namespace assay::internal::watch
