#include "collect/run_meta.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/json.h"
#include "collect/run_id.h"
#include "collect/url.h"

namespace assay::internal::collect {

std::string iso_8601(std::chrono::system_clock::time_point time) {
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(static_cast<std::time_t>(micros / 1'000'000)), micros % 1'000'000);
}

namespace {

Json faults_of(const FaultOptions& o) {
  Json kinds = Json::array();
  for (const FaultKind kind : o.kinds) kinds.push_back(fault_name(kind));
  Json faults = {{"kinds", kinds}, {"interval", o.interval}};
  if (!o.node_command.empty()) faults["node_command"] = redacted(o.node_command);
  return faults;
}

}  // namespace

std::string run_meta(const RunOptions& o, uint64_t run, const RunClock& clock,
                     const std::string& database, const RunMark& other) {
  const WorkloadOptions& w = o.workload_options;
  Json urls = Json::array();
  for (const std::string& url : o.databases) urls.push_back(redacted(url));
  Json meta = {{"tool", "assay run"},
               {"version", ASSAY_VERSION},
               {"run", run_id_text(run)},
               {"started", iso_8601(clock.time_of_day())},
               {"database", Json::parse(database)},
               {"endpoints", std::max<size_t>(1, o.databases.size())},
               {"urls", urls},
               {"seed", o.seed}};
  const bool own_sql = !o.sql.empty();
  if (own_sql)
    meta["sql"] = o.sql;
  else
    meta["workload"] = o.workload;
  meta.update({{"sessions", o.sessions}, {"txns", o.txns}, {"seconds", o.seconds}});
  if (!own_sql)
    meta.update({{"ops", w.ops},
                 {"read_share", w.read_share},
                 {"keys", w.keys},
                 {"distribution", distribution_name(w.distribution)}});
  meta.update({{"statement_timeout", static_cast<double>(o.timeout.count()) / 1000},
               {"final_read_keys", o.final_read_keys}});
  if (other.run != 0) {
    meta["other_run"] = {{"run", run_id_text(other.run)}};
    if (!other.began.empty()) meta["other_run"]["began"] = other.began;
  }
  if (w.values > 0) meta["values"] = w.values;
  if (w.tombstones) meta["tombstones"] = true;
  if (w.fences > 0) meta["fences"] = w.fences;
  if (w.long_ops > 0) meta.update({{"long_ops", w.long_ops}, {"long_share", w.long_share}});
  if (w.own_writes) meta["own_writes"] = true;
  if (w.load) meta["load"] = true;
  if (w.keys_alive > 0) meta["keys_alive"] = w.keys_alive;
  if (o.workload == "predicates")
    meta.update({{"query_share", w.query_share}, {"query_width", w.query_width}});
  if (w.update_share > 0) meta["update_share"] = w.update_share;
  if (w.increment_share > 0) meta["increment_share"] = w.increment_share;
  if (o.time_operations) meta["operation_times"] = true;
  if (!o.isolation.empty()) meta["isolation"] = o.isolation;
  if (!o.mix.empty()) meta["isolation"] = text_of(o.mix);
  if (!o.faults.kinds.empty()) meta["faults"] = faults_of(o.faults);
  return meta.dump();
}

}  // namespace assay::internal::collect
