// A history without end, piece by piece. Alarms wait until they are asked for.
#include "watch/watch.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "c_api/boundary.h"
#include "c_api/held_audit.h"
#include "c_api/held_history.h"
#include "c_api/options.h"
#include "watch/horizon_watcher.h"
#include "watch/watcher.h"

using assay::Ok;
using assay::Result;
using assay::Status;
using assay::internal::c_api::guarded;
using assay::internal::c_api::HeldHistory;
namespace watch = assay::internal::watch;

struct assay_watch final : watch::WatchListener {
  std::unique_ptr<watch::Watch> watching;
  std::deque<std::unique_ptr<assay_audit>> alarms;
  uint64_t undecided_stretches = 0;
  std::string reason;
  bool finished = false;

  void alarm(assay::Audit&& violation, const std::string&) override {
    auto held = std::make_shared<HeldHistory>();
    held->name = violation.file;
    held->format = violation.format;
    auto told = std::make_unique<assay_audit>();
    told->clock_drift = violation.history.clock_drift();
    told->audit = std::move(violation);
    told->tell();
    held->history = std::move(told->audit.history);
    told->held = std::move(held);
    alarms.push_back(std::move(told));
  }
  void undecided(const watch::Undecided& what) override {
    ++undecided_stretches;
    reason = what.about + ": " + what.reason;
  }
};

namespace assay::internal::c_api {
namespace {

Result<std::unique_ptr<assay_watch>> watch_of(const assay_options& options) {
  if (options.levels.size() > 1) return usage_error("several levels; expected one to watch");
  if (options.aborted_reads)
    return usage_error("a watch cannot check the reads of transactions that did not commit");
  watch::WatchOptions watched;
  if (!options.levels.empty()) watched.level = options.levels[0];
  watched.sessions = options.sessions;
  watched.lateness = options.lateness;
  watched.horizon = options.horizon;
  watched.many_inputs = true;  // lines of pieces that were built are meaningless
  if (Status s = watch::can_watch(watched); !s.ok()) return std::move(s.error());
  auto made = std::make_unique<assay_watch>();
  if (watched.horizon > 0)
    made->watching = std::make_unique<watch::HorizonWatcher>(watched, *made);
  else
    made->watching = std::make_unique<watch::Watcher>(watched, *made);
  return made;
}

Status add(assay_watch& to, const std::shared_ptr<HeldHistory>& held) {
  if (to.finished) return usage_error("the watch is finished; expected no more transactions");
  if (held.use_count() > 1)
    return usage_error("an audit holds this history; expected assay_audit_free before");
  const std::lock_guard lock(held->mutex);
  return to.watching->add(std::make_shared<const History>(std::exchange(held->history, History())));
}

}  // namespace
}  // namespace assay::internal::c_api

namespace c_api = assay::internal::c_api;

extern "C" {

assay_status assay_watch_new(const assay_options* options, assay_watch** watch,
                             assay_error** error) {
  *watch = nullptr;
  return guarded(error, [&]() -> Status {
    auto made = c_api::watch_of(c_api::given(options));
    if (!made.ok()) return std::move(made.error());
    *watch = made->release();
    return Ok{};
  });
}

void assay_watch_free(assay_watch* watch) { delete watch; }

assay_status assay_watch_add(assay_watch* watch, assay_history* history, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (Status s = c_api::add(*watch, history->held); !s.ok()) return s;
    return watch->watching->decide_sealed();
  });
}

assay_status assay_watch_finish(assay_watch* watch, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (std::exchange(watch->finished, true)) return Ok{};
    return watch->watching->finish();
  });
}

assay_status assay_watch_alarm(assay_watch* watch, assay_audit** audit, assay_error** error) {
  *audit = nullptr;
  return guarded(error, [&]() -> Status {
    if (watch->alarms.empty()) return Ok{};
    *audit = watch->alarms.front().release();
    watch->alarms.pop_front();
    return Ok{};
  });
}

uint64_t assay_watch_reported(const assay_watch* watch) {
  return watch->watching->progress().transactions;
}
uint64_t assay_watch_decided(const assay_watch* watch) {
  return watch->watching->progress().decided;
}
uint64_t assay_watch_undecided(const assay_watch* watch) { return watch->undecided_stretches; }
const char* assay_watch_undecided_reason(const assay_watch* watch) { return watch->reason.c_str(); }

}  // extern "C"
