#include "assay/anomaly.h"

namespace assay {
namespace {

using enum Anomaly;

constexpr AnomalyInfo kAnomalies[] = {
    {thin_air_read, "thin-air-read", "a read returned a value that was never written", "", "",
     "wrong result", "The application acts on data that was never stored."},
    {aborted_read, "aborted-read", "a read returned a value of a transaction that aborted (G1a)",
     "G1a", "P1, dirty read", "dirty read",
     "The application acts on a change that was rolled back, such as an order that was never "
     "placed."},
    {future_read, "future-read", "a read returned a value its own transaction wrote only later", "",
     "", "wrong result", "A transaction acts on a change that it has not made yet."},
    {not_my_last_write, "not-my-last-write",
     "after its own writes a transaction read one of them that was not the last", "", "",
     "stale read", "A transaction computes with a value that it has replaced itself."},
    {not_my_own_write, "not-my-own-write",
     "after its own write a transaction read another transaction's value", "", "", "stale read",
     "A transaction computes with a value that it has replaced itself."},
    {intermediate_read, "intermediate-read",
     "a read returned a value that its writer itself overwrote before committing (G1b)", "G1b",
     "P1, dirty read", "dirty read", "The application acts on a half-finished change."},
    {non_repeatable_read, "non-repeatable-read",
     "two reads of a key in one transaction returned different values", "P2, fuzzy read",
     "P2, non-repeatable read", "non-repeatable read",
     "What a transaction checked at its beginning no longer holds when it acts on it."},
    {session_guarantee_violation, "session-guarantee-violation",
     "a transaction did not see what its own session had done or seen before", "", "",
     "stale read, own write not seen",
     "Users do not find what they have just saved, or see it and then lose sight of it."},
    {non_monotonic_read, "non-monotonic-read", "reads of one transaction went back in commit order",
     "", "", "observed transaction vanishes",
     "What a transaction has seen is gone when it reads again."},
    {fractured_read, "fractured-read",
     "a transaction saw some writes of another transaction and missed others",
     "A5A, read skew, G-single", "", "read skew",
     "Totals do not add up: one half of a transfer is seen without the other."},
    {causality_violation, "causality-violation",
     "a transaction missed a write that its own past had already seen",
     "G-single, with session order", "", "stale read",
     "An answer is seen without its question, a reference without what it refers to."},
    {long_fork, "long-fork", "two transactions saw independent writes in opposite orders",
     "G-nonadjacent", "", "long fork",
     "Two readers see two events in opposite orders, and act on states that no single order of "
     "commits passes through."},
    {lost_update, "lost-update",
     "two transactions read the same version and both overwrote it (P4)", "P4, G-single", "",
     "lost update",
     "One of two changes is gone though both were committed: a deposit, a reservation, a count."},
    {write_skew, "write-skew", "two transactions each overwrote what the other had read (A5B)",
     "A5B, G2-item", "", "write skew, serialization anomaly",
     "A rule over several rows is broken though each transaction kept it: nobody is on call, an "
     "account is overdrawn."},
    {g0, "g0", "a cycle of write dependencies alone", "G0, P0, dirty write", "", "dirty write",
     "Rows that belong together end up with the writes of different transactions."},
    {g1c, "g1c", "a cycle of read and write dependencies without anti-dependency",
     "G1c, circular information flow", "", "",
     "Transactions acted on each other's changes, so no order of events explains the data."},
    {g_single, "g-single", "a cycle with exactly one anti-dependency", "G-single", "", "read skew",
     "A transaction acts on a state that never existed."},
    {g_nonadjacent, "g-nonadjacent", "a cycle whose anti-dependencies are never adjacent",
     "G-nonadjacent", "", "",
     "Transactions act on states that no single order of commits passes through."},
    {g2_item, "g2-item", "a cycle with anti-dependencies between single keys", "G2-item", "",
     "serialization anomaly",
     "A rule over several rows is broken though each transaction kept it."},
    {g2, "g2", "a cycle with anti-dependencies, some of them on predicates", "G2", "P3, phantom",
     "phantom, serialization anomaly",
     "Two transactions each see that no matching row exists, and both insert one: a room is booked "
     "twice."},
    {real_time_violation, "real-time-violation",
     "an order that explains the reads contradicts the clock", "", "",
     "stale read, where a commit is missed",
     "By the clock the data is too old or too new: a client does not find a commit that was "
     "acknowledged, or a report shows changes made after it began."},
    {duplicate_write, "duplicate-write", "one value was written twice to a key", "", "", "",
     "A read of the value does not show which transaction wrote it."},
    {result_set_mismatch, "result-set-mismatch",
     "the rows a query returned are not the rows that matched", "", "", "wrong result",
     "A query returns rows that it should not, or lacks rows that it should return."},
    {phantom, "phantom",
     "two queries of one transaction found different rows: one appeared or vanished in between",
     "PMP, P3, phantom", "P3, phantom", "phantom",
     "A total does not match the rows it sums, or a limit that was checked does not hold."},
};

}  // namespace

const AnomalyInfo& anomaly_info(Anomaly a) {
  static constexpr AnomalyInfo kNoAnomaly{none, "none", "no anomaly", "", "", "", ""};
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
