#include "c_api/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "assay/format.h"
#include "c_api/boundary.h"
#include "history/level_name.h"

using assay::Ok;
using assay::Status;
using assay::internal::c_api::guarded;

namespace assay::internal::c_api {
namespace {

template <class Infos>
std::string names_of(const Infos& infos) {
  std::vector<std::string_view> names;
  for (const auto& info : infos) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status add_level(assay_options& options, const std::string& name) {
  std::vector<LevelId>& levels = options.levels;
  if (plain_level_name(name) == "opacity") {
    levels.push_back(LevelId::strict_serializable);
    options.aborted_reads = true;
    return Ok{};
  }
  const std::vector<LevelId> group = level_group(name);
  levels.insert(levels.end(), group.begin(), group.end());
  if (!group.empty()) return Ok{};
  const auto id = find_level(name);
  if (!id)
    return usage_error(
        fmt::format("{}; expected one of {}, or one of the groups all, adya, session-guarantees",
                    internal::no_level(name), names_of(named_levels())));
  levels.push_back(*id);
  return Ok{};
}

Status set_format(std::string& format, const std::string& name) {
  const bool known = std::ranges::any_of(
      all_formats(), [&](const FormatInfo& f) { return f.reads && f.name == name; });
  if (!known)
    return usage_error(
        fmt::format("unknown format '{}'; expected one of {}", name, names_of(all_formats())));
  format = name;
  return Ok{};
}

}  // namespace

const assay_options& given(const assay_options* options) {
  static const assay_options kDefaults;
  return options == nullptr ? kDefaults : *options;
}

Budget budget_of(const assay_options& options) {
  return Budget(options.seconds, options.memory_bytes);
}

AuditOptions audit_options(const assay_options& options) {
  AuditOptions audit;
  audit.check.levels = options.levels;
  audit.check.budget = budget_of(options);
  audit.check.threads = options.threads;
  audit.clock_drift = options.clock_drift;
  audit.allow_empty = options.allow_empty;
  audit.require_contention = options.require_contention;
  return audit;
}

}  // namespace assay::internal::c_api

extern "C" {

assay_options* assay_options_new(void) { return assay::internal::c_api::made<assay_options>(); }
void assay_options_free(assay_options* options) { delete options; }

assay_status assay_options_level(assay_options* options, const char* name, assay_error** error) {
  return guarded(error, [&] { return assay::internal::c_api::add_level(*options, name); });
}

assay_status assay_options_format(assay_options* options, const char* name, assay_error** error) {
  return guarded(error, [&] { return assay::internal::c_api::set_format(options->format, name); });
}

void assay_options_time(assay_options* options, double seconds) {
  options->seconds = seconds > 0 ? seconds : 0;
}
void assay_options_memory(assay_options* options, uint64_t bytes) { options->memory_bytes = bytes; }
void assay_options_threads(assay_options* options, unsigned threads) { options->threads = threads; }
void assay_options_clock_drift(assay_options* options, int64_t nanoseconds) {
  options->clock_drift = std::max<int64_t>(nanoseconds, 0);
}
void assay_options_allow_empty(assay_options* options, int allow) {
  options->allow_empty = allow != 0;
}
void assay_options_aborted_reads(assay_options* options, int count) {
  options->aborted_reads = count != 0;
}
void assay_options_require_contention(assay_options* options, int require) {
  options->require_contention = require != 0;
}
void assay_options_sessions(assay_options* options, uint32_t sessions) {
  options->sessions = sessions;
}
void assay_options_lateness(assay_options* options, int64_t nanoseconds) {
  options->lateness = std::max<int64_t>(nanoseconds, 0);
}
void assay_options_horizon(assay_options* options, size_t transactions) {
  options->horizon = transactions;
}
void assay_options_unique_values(assay_options* options, int unique) {
  options->unique_values = unique != 0;
}

}  // extern "C"
