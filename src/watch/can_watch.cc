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
      "session-si is watched by timestamps only with --sessions, the number of sessions: without "
      "real time, a later transaction may have started at any point after the previous one of its "
      "session");
}

Status can_watch_by_fences(const WatchOptions& options) {
  if (options.by_timestamps)
    return usage_error("--fence cannot be used with --expected-order: timestamps order everything");
  if (level_info(options.level).watched_by != WatchedBy::fences)
    return usage_error(
        fmt::format("{} is not watched by fences; expected session-serializable with --fence",
                    level_info(options.level).name));
  if (options.sessions > 0) return Ok{};
  return usage_error(
      "session-serializable is watched by fences only with --sessions, the number of sessions: one "
      "that has not reported may have done anything so far");
}

std::string_view alternative(WatchedBy by) {
  if (by == WatchedBy::timestamps)
    return "; or --expected-order commit_ts if transactions have the database's timestamps";
  if (by == WatchedBy::fences)
    return "; or --fence KEY if each session reads and writes that key now and then";
  return "";
}

Status can_watch_with_horizon(const LevelInfo& level) {
  if (level.events == EventModel::adya)
    return usage_error(fmt::format(
        "{} cannot be watched: it needs all version orders, but watching accepts no stated orders",
        level.name));
  if (level.watched_by == WatchedBy::times)
    return usage_error(
        fmt::format("{} is watched without --horizon: real time lets all of the history be decided",
                    level.name));
  if (level.events == EventModel::mixed)
    return usage_error("mixed cannot be watched; expected one level for all transactions");
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
        "strong-si cannot be watched by client times alone; expected --expected-order commit_ts if "
        "transactions have the database's start_ts and commit_ts, or strict-serializable or "
        "linearizable, or record the history and check it");
  return usage_error(
      fmt::format("{} cannot be watched: without real time a later transaction may read a version "
                  "of any age, so nothing could ever be forgotten; expected --horizon, "
                  "strict-serializable or linearizable, or record the history and check it{}",
                  level.name, alternative(level.watched_by)));
}

Status can_watch_piece(const History& piece) {
  if (!piece.known_orders().empty())
    return bad_input("watching accepts no stated version orders; expected transactions and events");
  if (piece.has_own_initial())
    return bad_input(
        "watching accepts no initial values of single keys; expected one for all keys, in the "
        "header");
  if (piece.states_sources())
    return bad_input("watching accepts no stated sources of reads; expected [\"r\", key, value]");
  return Ok{};
}

Status can_watch_txn(const History& h, TxnId t, LevelId level) {
  const bool timed = h.begin_time(t).known() && h.end_time(t).known();
  if (level_info(level).real_time != RealTime::none && h.status(t) == TxnStatus::committed &&
      !timed)
    return bad_input(fmt::format("expected \"begin\" and \"end\": {} depends on real time",
                                 level_info(level).name),
                     h.line(t));
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
    if (is_list_operation(h.op(i)) || is_range(h.op(i)))
      return bad_input(
          fmt::format("watching does not support {}", is_range(h.op(i)) ? "ranges" : "lists"),
          h.line(t));
  return Ok{};
}

}  // namespace assay::internal::watch
