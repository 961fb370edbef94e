#include "assay/anomaly.h"

namespace assay {
namespace {

using enum Anomaly;

constexpr AnomalyInfo kAnomalies[] = {
    {thin_air_read, "thin-air-read", "a read returned a value that nobody wrote"},
    {aborted_read, "aborted-read", "a read returned a value of a transaction that aborted (G1a)"},
    {future_read, "future-read", "a read returned a value its own transaction wrote only later"},
    {not_my_last_write, "not-my-last-write",
     "after its own writes a transaction read one of them that was not the last"},
    {not_my_own_write, "not-my-own-write",
     "after its own write a transaction read a value of somebody else"},
    {intermediate_read, "intermediate-read",
     "a read returned a value that its writer itself overwrote before committing (G1b)"},
    {non_repeatable_read, "non-repeatable-read",
     "two reads of a key in one transaction returned different values"},
    {session_guarantee_violation, "session-guarantee-violation",
     "a transaction did not see what its own session had done or seen before"},
    {non_monotonic_read, "non-monotonic-read",
     "reads of one transaction went back in commit order"},
    {fractured_read, "fractured-read",
     "a transaction saw some writes of another transaction and missed others"},
    {causality_violation, "causality-violation",
     "a transaction missed a write that its own past had already seen"},
    {long_fork, "long-fork", "two transactions saw independent writes in opposite orders"},
    {lost_update, "lost-update",
     "two transactions read the same version and both overwrote it (P4)"},
    {write_skew, "write-skew", "two transactions each overwrote what the other had read (A5B)"},
    {g0, "g0", "a cycle of write dependencies alone"},
    {g1c, "g1c", "a cycle of read and write dependencies without anti-dependency"},
    {g_single, "g-single", "a cycle with exactly one anti-dependency"},
    {g_nonadjacent, "g-nonadjacent", "a cycle whose anti-dependencies are never adjacent"},
    {g2_item, "g2-item", "a cycle with anti-dependencies between single keys"},
    {g2, "g2", "a cycle with anti-dependencies, some of them on predicates"},
    {real_time_violation, "real-time-violation",
     "an order that explains the reads contradicts the clock"},
    {duplicate_write, "duplicate-write", "one value was written twice to a key"},
    {result_set_mismatch, "result-set-mismatch",
     "the rows a query returned are not the rows that matched"},
};

}  // namespace

const AnomalyInfo& anomaly_info(Anomaly a) {
  static constexpr AnomalyInfo kNoAnomaly{none, "none", "no anomaly"};
  return a == none ? kNoAnomaly : kAnomalies[static_cast<size_t>(a) - 1];
}

std::span<const AnomalyInfo> all_anomalies() { return kAnomalies; }

std::optional<Anomaly> find_anomaly(std::string_view name) {
  for (const AnomalyInfo& a : kAnomalies) {
    if (a.name == name) return a.id;
  }
  return std::nullopt;
}

}  // namespace assay
