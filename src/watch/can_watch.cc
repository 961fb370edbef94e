#include <fmt/format.h>

#include "history/accesses.h"
#include "watch/watch.h"

namespace assay::internal::watch {
namespace {

Status can_watch_by_timestamps(const WatchOptions& options) {
  const LevelInfo& level = level_info(options.level);
  if (level.watched_by != WatchedBy::timestamps)
    return usage_error(fmt::format(
        "{} is not watched by timestamps; expected strong-si or session-si with --expected-order",
        level.name));
  if (level.real_time != RealTime::none || options.sessions > 0) return Ok{};
  return usage_error(
      "session-si is watched by timestamps where --sessions tells how many sessions there are: "
      "without real time a later transaction may have started at any point, but for what its "
      "session did before");
}

Status can_watch_by_fences(const WatchOptions& options) {
  if (options.by_timestamps)
    return usage_error("--fence is not taken with --expected-order: timestamps order everything");
  if (level_info(options.level).watched_by != WatchedBy::fences)
    return usage_error(
        fmt::format("{} is not watched by fences; expected session-serializable with --fence",
                    level_info(options.level).name));
  if (options.sessions > 0) return Ok{};
  return usage_error(
      "session-serializable is watched by fences where --sessions tells how many sessions there "
      "are: one that was not heard of may have done anything so far");
}

std::string_view alternative(WatchedBy by) {
  if (by == WatchedBy::timestamps)
    return "; or --expected-order commit_ts where transactions have the database's timestamps";
  if (by == WatchedBy::fences)
    return "; or --fence KEY where each session reads and writes that key now and then";
  return "";
}

Status can_watch_with_horizon(const LevelInfo& level) {
  if (level.events == EventModel::adya)
    return usage_error(
        fmt::format("{} cannot be watched: it needs the order of all versions, and watching takes "
                    "none that is stated",
                    level.name));
  if (level.watched_by == WatchedBy::times)
    return usage_error(fmt::format(
        "{} is watched without --horizon: by real time all of the history is decided", level.name));
  if (level.events == EventModel::mixed)
    return usage_error("mixed is not watched; expected a level that all transactions are held to");
  return Ok{};
}

}  // namespace

Status can_watch(const WatchOptions& options) {
  const LevelInfo& level = level_info(options.level);
  if (options.horizon > 0) return can_watch_with_horizon(level);
  if (!options.fence.empty()) return can_watch_by_fences(options);
  if (options.by_timestamps) return can_watch_by_timestamps(options);
  if (level.watched_by == WatchedBy::times) return Ok{};
  if (level.watched_by == WatchedBy::timestamps && level.real_time != RealTime::none)
    return usage_error(
        "strong-si cannot be watched by the times of clients alone; expected --expected-order "
        "commit_ts where transactions have the database's start_ts and commit_ts, or "
        "strict-serializable or linearizable, or record the history and check it");
  return usage_error(fmt::format(
      "{} cannot be watched: without real time between transactions a later one may read a version "
      "however old, so nothing could ever be forgotten; expected --horizon, "
      "strict-serializable or linearizable, or record the history and check it{}",
      level.name, alternative(level.watched_by)));
}

Status can_watch_piece(const History& piece) {
  if (!piece.known_orders().empty())
    return bad_input("watching takes no stated version orders; expected transactions and events");
  if (piece.has_own_initial())
    return bad_input(
        "watching takes no initial values of single keys; expected one of every key, in the "
        "header");
  if (piece.states_sources())
    return bad_input("watching takes no stated sources of reads; expected [\"r\", key, value]");
  return Ok{};
}

Status can_watch_txn(const History& h, TxnId t, LevelId level) {
  const bool timed = h.begin_time(t).known() && h.end_time(t).known();
  if (level_info(level).real_time != RealTime::none && h.status(t) == TxnStatus::committed &&
      !timed)
    return bad_input(fmt::format("expected \"begin\" and \"end\": {} is about real time",
                                 level_info(level).name),
                     h.line(t));
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
    if (is_list_operation(h.op(i)) || is_range(h.op(i)))
      return bad_input(
          fmt::format("watching does not decide {}", is_range(h.op(i)) ? "ranges" : "lists"),
          h.line(t));
  return Ok{};
}

}  // namespace assay::internal::watch
