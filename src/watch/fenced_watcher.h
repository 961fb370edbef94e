// Watches session-serializable by fences: their times (fence_clock.h) replace those of the clients,
// and a Watcher decides.
//
// It looks for an order that keeps these times and session order: an order shows that the level
// holds, even if the times are wrong. According to the fences, many transactions ran at the same
// time between two of them; with blind writes there are then many orders, and a later read would
// usually show that another one was right. So an order that also keeps that of the lines is looked
// for first. A window without an order that keeps the fences' times is an alarm if its transactions
// alone, without any times, violate the level.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "watch/fence_clock.h"
#include "watch/watch.h"
#include "watch/watcher.h"

namespace assay::internal::watch {

class FencedWatcher final : public Watch {
 public:
  FencedWatcher(const WatchOptions& options, WatchListener& listener);

  Status add(const std::shared_ptr<const History>& piece) override;
  Status decide_sealed() override { return watcher_.decide_sealed(); }
  Status finish() override;
  const Progress& progress() override;
  // Only fences tell what need not be waited for.
  int64_t overdue() const override { return Interval::kUnknown; }

  Watcher& watcher() { return watcher_; }

 private:
  // An event about transactions which have been reported and may be waiting.
  struct Held {
    uint64_t reported;
    Event event;
  };

  Status take_event(const Event& event);
  std::vector<Event> due();
  Status hand_over(const History& header, const std::vector<Event>& events);

  FenceClock clock_;
  Watcher watcher_;
  std::vector<Event> ends_;  // of sessions, in the current piece
  std::deque<Held> held_;
  std::shared_ptr<const History> last_;  // the last piece
  Progress progress_;
};

}  // namespace assay::internal::watch
