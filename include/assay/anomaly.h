// The names of what can go wrong, in the field's terms. Page: docs/glossary.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay {

enum class Anomaly : uint8_t {
  none,
  // Seen in two operations; no cycle needed.
  thin_air_read,
  aborted_read,
  future_read,
  not_my_last_write,
  not_my_own_write,
  intermediate_read,
  non_repeatable_read,
  // Seen in a cycle.
  session_guarantee_violation,
  non_monotonic_read,
  fractured_read,
  causality_violation,
  long_fork,
  lost_update,
  write_skew,
  g0,
  g1c,
  g_single,
  g_nonadjacent,
  g2_item,
  g2,
  real_time_violation,
  duplicate_write,
  result_set_mismatch,
  phantom,
};

struct AnomalyInfo {
  Anomaly id;
  std::string_view name;     // "lost-update"
  std::string_view summary;  // one plain sentence
  // What others call the anomaly; empty if they have no name for it.
  std::string_view adya;  // Adya's name, or that of Berenson et al., from whom Adya took some
  std::string_view ansi;  // in the SQL standard
  std::string_view sql;   // among users of SQL databases
  // A sentence on its effect on an application.
  std::string_view harm;
};

const AnomalyInfo& anomaly_info(Anomaly a);
std::span<const AnomalyInfo> all_anomalies();  // all but Anomaly::none
std::optional<Anomaly> find_anomaly(std::string_view name);

}  // namespace assay
