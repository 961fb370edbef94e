#include "collect/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "collect/simulated/policy.h"
#include "collect/simulated/script.h"
#include "collect/simulated/simulation.h"

namespace assay::internal::collect {
namespace {

constexpr uint32_t kMaxSimulatedSessions = 100'000;
constexpr uint64_t kMaxTxns = 1'000'000'000;
constexpr int64_t kMaxClockError = int64_t{1} << 60;

bool is_share(double share) { return share >= 0 && share <= 1; }

Status check_sizes(const GenerateOptions& o) {
  if (o.sessions == 0 || o.sessions > kMaxSimulatedSessions)
    return usage_error(
        fmt::format("the number of sessions must be between 1 and {}", kMaxSimulatedSessions));
  if (o.txns == 0 || o.txns > kMaxTxns / o.sessions)
    return usage_error(
        fmt::format("the number of transactions must be between 1 and {} in all", kMaxTxns));
  if (!is_share(o.abort_share) || !is_share(o.unknown_share) ||
      o.abort_share + o.unknown_share > 0.9)
    return usage_error("aborted and unknown transactions must be shares of at most 0.9 together");
  if (o.workload_options.own_writes && o.workload_options.keys <= o.sessions)
    return usage_error("own-writes assigns keys to sessions; expected more keys than sessions");
  if (o.clock_error < 0 || o.clock_error > kMaxClockError)
    return usage_error("the clock error must be between 0 and 2^60 nanoseconds");
  if (o.time_jitter < 0 || o.time_jitter > kMaxClockError)
    return usage_error("the jitter of times must be between 0 and 2^60 nanoseconds");
  return Ok{};
}

Status check_bug(const GenerateOptions& o, const Workload& workload) {
  if (o.bug == Anomaly::none) return Ok{};
  const std::string_view bug = anomaly_info(o.bug).name;
  const std::string_view level = level_info(o.level).name;
  const auto bugs = all_bugs();
  if (std::find(bugs.begin(), bugs.end(), o.bug) == bugs.end()) {
    std::string known;
    for (Anomaly b : bugs)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", anomaly_info(b).name);
    return usage_error(fmt::format("unknown bug '{}'; expected one of {}", bug, known));
  }
  if (!forbids(o.level, o.bug))
    return usage_error(fmt::format("{} is not a bug at {}, which allows it", bug, level));
  if (o.bug == Anomaly::real_time_violation && o.times == Times::none)
    return usage_error("a real-time-violation shows only with times");
  const Script script = find_script(o.bug, o.level, 2);
  if (script.text.empty())
    return usage_error(
        fmt::format("{} needs transactions of several operations, {} has one", bug, level));
  if (script.compares() && workload.uses(OpKind::append))
    return usage_error(
        fmt::format("{} at {} needs compare-and-set, which lists do not have", bug, level));
  if (script.queries() && !workload.selects())
    return usage_error(fmt::format("{} shows only in queries by condition; expected --workload {}",
                                   bug, workload_for(o.bug)));
  if (o.sessions < script.sessions_needed())
    return usage_error(fmt::format("{} needs at least {} sessions", bug, script.sessions_needed()));
  if (script.two_keys() && o.workload_options.keys < 2)
    return usage_error(fmt::format("{} needs at least 2 keys", bug));
  if (o.bug_count == 0) return usage_error("a bug must be planted at least once");
  return Ok{};
}

constexpr LogBugInfo kLogBugs[] = {
    {LogBug::other_order, "other-order"},
    {LogBug::dirty_write, "dirty-write"},
    {LogBug::lost_version, "lost-version"},
    {LogBug::wrong_times, "wrong-times"},
};

Status check_log_bug(const GenerateOptions& o) {
  if (o.log_bug == LogBug::none) return Ok{};
  const std::string_view name = log_bug_name(o.log_bug);
  if (o.bug != Anomaly::none)
    return usage_error(
        fmt::format("{} and {} cannot both be planted", name, anomaly_info(o.bug).name));
  if (o.log_bug == LogBug::wrong_times ? !o.timestamps : !o.version_order)
    return usage_error(
        fmt::format("{} is a fault in {}, which this history lacks", name,
                    o.log_bug == LogBug::wrong_times ? "timestamps" : "the version order"));
  if (o.log_bug == LogBug::lost_version && o.times == Times::none)
    return usage_error("lost-version needs times, which show that the log was read later");
  if (level_info(o.level).single_operations)
    return usage_error(fmt::format("{} needs transactions of several operations", name));
  if (o.sessions < 2 || o.workload_options.keys < 2)
    return usage_error(fmt::format("{} needs at least 2 sessions and 2 keys", name));
  if (o.bug_count == 0) return usage_error("a bug must be planted at least once");
  return Ok{};
}

Status check_timestamps(const GenerateOptions& o) {
  const Policy policy = policy_of(o.level);
  if (!o.timestamps || (policy.view == ViewKind::point && policy.moment != Moment::every_read))
    return Ok{};
  return usage_error(fmt::format(
      "{} has no timestamps: a transaction may see a state that never existed at one moment",
      level_info(o.level).name));
}

Status check_mix(const GenerateOptions& o) {
  if (o.mix.empty()) return Ok{};
  for (const LevelId level : o.mix)
    if (!mixable(level))
      return usage_error(fmt::format("{} is not among the levels that can be mixed in one history",
                                     level_info(level).name));
  if (o.bug != Anomaly::none || o.log_bug != LogBug::none || o.timestamps)
    return usage_error("mixed levels have neither planted bugs nor timestamps");
  return Ok{};
}

std::string level_names(const GenerateOptions& o) {
  if (o.mix.empty()) return std::string(level_info(o.level).name);
  std::vector<std::string_view> names;
  for (const LevelId level : o.mix) names.push_back(level_info(level).name);
  return fmt::format("{}", fmt::join(names, ","));
}

Status check_single_operations(std::string_view name) {
  const WorkloadInfo* workload = find_workload(name);
  if (workload == nullptr || workload->single_operations) return Ok{};
  std::string known;
  for (const WorkloadInfo& w : all_workloads())
    if (w.single_operations) known += fmt::format("{}{}", known.empty() ? "" : ", ", w.name);
  return usage_error(fmt::format(
      "linearizable is about single operations on single keys, which come from the workloads {}",
      known));
}

std::string describe(const GenerateOptions& o) {
  const WorkloadOptions& w = o.workload_options;
  const auto share = [](std::string_view name, double value) {
    return value == 0 ? std::string() : fmt::format(R"(,"{}":{})", name, value);
  };
  return fmt::format(
      R"({{"tool":"assay generate","level":"{}","bug":{}{},"seed":{},"workload":"{}","sessions":{},)"
      R"("txns":{},"ops":{},"read_share":{},"keys":{},"distribution":"{}"{}{}{}{}{}{}{}}})",
      level_names(o),
      o.bug == Anomaly::none ? "null" : fmt::format("\"{}\"", anomaly_info(o.bug).name),
      o.log_bug == LogBug::none ? "" : fmt::format(R"(,"log_bug":"{}")", log_bug_name(o.log_bug)),
      o.seed, o.workload, o.sessions, o.txns, w.ops, w.read_share, w.keys,
      distribution_name(w.distribution),
      w.values == 0 ? "" : fmt::format(R"(,"values":{})", w.values),
      w.tombstones ? R"(,"tombstones":true)" : "",
      w.fences == 0 ? "" : fmt::format(R"(,"fences":{})", w.fences),
      w.long_ops == 0 ? ""
                      : fmt::format(R"(,"long_ops":{},"long_share":{})", w.long_ops, w.long_share),
      w.own_writes ? R"(,"own_writes":true)" : "",
      w.keys_alive == 0 ? "" : fmt::format(R"(,"keys_alive":{})", w.keys_alive),
      o.workload == "predicates"
          ? fmt::format(R"(,"query_share":{},"query_width":{}{}{})", w.query_share, w.query_width,
                        share("update_share", w.update_share),
                        share("increment_share", w.increment_share))
          : "");
}

}  // namespace

std::span<const LogBugInfo> all_log_bugs() { return kLogBugs; }

std::string_view log_bug_name(LogBug bug) {
  for (const LogBugInfo& one : kLogBugs)
    if (one.bug == bug) return one.name;
  return "none";
}

std::string_view workload_for(Anomaly bug) {
  for (const WorkloadInfo& workload : all_workloads())
    if (std::ranges::find(workload.shows, bug) != workload.shows.end()) return workload.name;
  return GenerateOptions().workload;
}

Result<GenerateStats> generate(const GenerateOptions& asked, Sink& sink) {
  GenerateOptions options = asked;
  for (LevelId& level : options.mix) level = mixable(level).value_or(level);
  if (level_info(options.level).single_operations) {
    if (Status s = check_single_operations(options.workload); !s.ok()) return s.error();
    options.workload_options.ops = 1;
  }
  Result<std::unique_ptr<Workload>> workload =
      make_workload(options.workload, options.workload_options);
  if (!workload.ok()) return workload.error();
  if (Status s = check_sizes(options); !s.ok()) return s.error();
  if (Status s = check_mix(options); !s.ok()) return s.error();
  if (Status s = check_bug(options, **workload); !s.ok()) return s.error();
  if (Status s = check_timestamps(options); !s.ok()) return s.error();
  if (Status s = check_log_bug(options); !s.ok()) return s.error();
  if (Status s = sink.header(describe(options)); !s.ok()) return s.error();
  Simulation simulation(options, **workload, sink);
  Result<GenerateStats> stats = simulation.run();
  if (!stats.ok()) return stats;
  if (Status s = sink.finish(); !s.ok()) return s.error();
  return stats;
}

}  // namespace assay::internal::collect
