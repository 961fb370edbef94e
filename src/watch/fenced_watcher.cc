#include "watch/fenced_watcher.h"

#include <fmt/format.h>

#include <utility>

#include "history/copy.h"
#include "watch/session_news.h"

namespace assay::internal::watch {
namespace {

// The most transactions that may wait for a fence; if more do, no fence is coming.
constexpr uint64_t kMostWaiting = 1'000'000;

WatchOptions by_fences(WatchOptions options) {
  options.lateness = Interval::kOpen;  // according to these times no transaction is late
  return options;
}

}  // namespace

FencedWatcher::FencedWatcher(const WatchOptions& options, WatchListener& listener)
    : clock_(options.fence), watcher_(by_fences(options), listener) {}

Status FencedWatcher::add(const std::shared_ptr<const History>& piece) {
  if (Status can = can_watch_piece(*piece); !can.ok()) return can;
  clock_.add(piece);
  for (const Event& event : piece->events())
    if (Status s = take_event(event); !s.ok()) return s;
  last_ = piece;
  if (clock_.waiting() > kMostWaiting)
    return bad_input(
        fmt::format("{} transactions wait for a fence of their session, or for the fence it read "
                    "from; expected each session to read and write the key of --fence now and then",
                    clock_.waiting()));
  return hand_over(*piece, due());
}

// A session's end applies at once; other events may name transactions that still wait.
Status FencedWatcher::take_event(const Event& event) {
  const auto news = session_news(event);
  if (!news.ok()) return news.error();
  if (*news && (*news)->ends) {
    clock_.end((*news)->session.view());
    ends_.push_back(event);
  } else if (!*news) {
    held_.push_back({clock_.reported(), event});
  }
  return Ok{};
}

// Events about transactions none of which waits any longer.
std::vector<Event> FencedWatcher::due() {
  std::vector<Event> events = std::exchange(ends_, {});
  if (held_.empty()) return events;
  for (const uint64_t waits = clock_.first_waiting();
       !held_.empty() && held_.front().reported <= waits; held_.pop_front())
    events.push_back(std::move(held_.front().event));
  return events;
}

// Passes on the transactions that have times by now, as a separate piece. Lines are usually written
// in the order in which transactions ended: so each is likely to have run between the previous line
// of its session and its own line.
Status FencedWatcher::hand_over(const History& header, const std::vector<Event>& events) {
  HistoryBuilder builder;
  TxnCopier copier(builder);
  copy_settings(header, builder);
  std::vector<Interval> ran;
  for (const FenceClock::Timed& t : clock_.take()) {
    const History& h = *t.piece;
    ran.push_back({t.from, t.until});
    copier.begin_at(h, t.txn, Interval::point(static_cast<int64_t>(t.before)),
                    Interval::point(static_cast<int64_t>(t.number)));
    for (OpId i = h.first_op(t.txn); i < h.end_op(t.txn); ++i) copier.operation(h, i);
    if (Status s = builder.end_txn(); !s.ok()) return s;
  }
  for (const Event& event : events) builder.event(event.at, event.json);
  Result<History> timed = std::move(builder).finish();
  if (!timed.ok()) return timed.error();
  return watcher_.add(std::make_shared<const History>(std::move(*timed)), ran);
}

Status FencedWatcher::finish() {
  clock_.end_all();
  if (last_)
    if (Status s = hand_over(*last_, due()); !s.ok()) return s;
  return watcher_.finish();
}

const Progress& FencedWatcher::progress() {
  progress_ = watcher_.progress();
  progress_.transactions = clock_.reported();
  progress_.buffered += clock_.waiting();
  return progress_;
}

}  // namespace assay::internal::watch
