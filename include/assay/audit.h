// From a file to its verdicts in one call: read, check, verify, explain.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/anomaly.h"
#include "assay/certificate.h"
#include "assay/check.h"
#include "assay/explanation.h"
#include "assay/format.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay {

struct AuditOptions {
  // The budget of these options bounds reading and checking together. Verdicts reached within it
  // are still verified and explained, within its memory limit.
  CheckOptions check;
  ReadOptions read;         // the budget in these options is not used
  int64_t clock_drift = 0;  // nanoseconds by which the clocks of two sessions may differ
  std::shared_ptr<const LevelInfo> defined_level = {};  // the definition of LevelId::defined
  bool allow_empty = false;  // report satisfied, not unknown, where nothing was observed
  // Report unknown, not satisfied, where no transactions that overlapped could have shown what the
  // level rules out.
  bool require_contention = false;
  // Counts also what transactions that did not commit saw: opacity, if strict-serializable is asked
  // for.
  bool aborted_reads = false;
};

using AnomalySet = std::bitset<32>;  // indexed by the number of each anomaly

// How much was at stake: the opportunities that a faulty database would have had to do wrong.
struct Stakes {
  // Conflicts: a key and two transactions of different sessions that overlapped in time, counted if
  // both wrote the key; if one read the other's write; if one read the key and not the other's
  // write.
  uint64_t write_write = 0, write_read = 0, read_write = 0;
  uint64_t transactions = 0;  // transactions that had a conflict
  // A long history is sampled: only this many transactions, those that began first, are examined;
  // all are if contention is required.
  uint64_t looked_at = 0;
  bool timed = true;  // false: some times are unknown, and a transaction without times counts as
                      // overlapping all of other sessions
  // The anomalies that transactions of the history could have shown, and those that its overlapping
  // transactions could have shown. The first set is complete: it includes every anomaly that the
  // history has. docs/what-green-means.md
  AnomalySet could_show, could_show_overlapping;

  uint64_t conflicts() const { return write_write + write_read + read_write; }
};

// One history, or why there is none.
struct Audit {
  std::string file;
  std::optional<Error> error;  // the history could not be read; nothing below is set
  std::string format;
  std::vector<std::string> notes;  // what the reader tolerated and the checker ignored
  History history;
  uint64_t observations = 0;     // operations of committed transactions that observed what others
                                 // could have written
  std::optional<Stakes> stakes;  // nullopt: there was no memory to count
  // With AuditOptions::aborted_reads: how many transactions of `history` stand for the reads of a
  // transaction that did not commit.
  std::optional<uint64_t> aborted_reads;
  // Each verdict is verified. A level that holds only because nothing was observed is unknown, with
  // the cause vacuous; with the cause uncontended where the options ask for contention.
  CheckResult result;
  std::vector<Explanation> explanations;  // they cover the violated levels
  std::vector<LevelId> requested;         // CheckOptions::levels; empty: all, and none is required
  // Violated levels that the caller's baseline lists; nullopt if there is no baseline.
  std::optional<std::vector<LevelId>> known;
  bool is_known(LevelId level) const;
  std::string certificate_file;   // where the caller wrote the certificates; may be empty
  std::vector<StageTime> stages;  // read, check, verify, explain
};

// `path` as for read_history.
Audit audit(const std::string& path, const AuditOptions& options = {});
// One history in several files, as for read_together.
Audit audit_together(std::span<const std::string> paths, const AuditOptions& options = {});
// A history that has been read already; `name` is used in messages.
Audit audit(History history, const std::string& name, const AuditOptions& options = {});

// The certificates of the verdicts, for write_certificates.
CertificateFile certificates_of(const Audit& audit);

}  // namespace assay
