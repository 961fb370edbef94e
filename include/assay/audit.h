// From a file to its verdicts in one call: read, check, verify, explain.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/certificate.h"
#include "assay/check.h"
#include "assay/explanation.h"
#include "assay/format.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay {

struct AuditOptions {
  // Its budget bounds reading and checking together. What was decided within it is still verified and explained, within
  // its memory limit.
  CheckOptions check;
  ReadOptions read;          // its own budget is not used
  int64_t clock_drift = 0;   // nanoseconds by which the clocks of two sessions may differ
  bool allow_empty = false;  // report satisfied, not unknown, where nothing was observed
  // What transactions saw that did not commit counts too: opacity, where strict-serializable is asked for.
  bool aborted_reads = false;
};

// One history, or why there is none.
struct Audit {
  std::string file;
  std::optional<Error> error;  // it could not be read; nothing below is set
  std::string format;
  std::vector<std::string> notes;  // what the reader tolerated and the checker ignored
  History history;
  uint64_t observations = 0;  // of committed transactions, of what others could have written
  // AuditOptions::aborted_reads: how many transactions of `history` stand for what one that did not commit saw.
  std::optional<uint64_t> aborted_reads;
  // Verified. A level that holds only because nothing was observed is unknown, cause vacuous.
  CheckResult result;
  std::vector<Explanation> explanations;  // of what is violated
  std::vector<LevelId> requested;  // CheckOptions::levels; empty: all, and none of them is required
  // Violated levels of which the caller knew, by a baseline; nothing if there is no baseline.
  std::optional<std::vector<LevelId>> known;
  bool is_known(LevelId level) const;
  std::string certificate_file;   // where the caller wrote the certificates; may be empty
  std::vector<StageTime> stages;  // read, check, verify, explain
};

// `path` as for read_history.
Audit audit(const std::string& path, const AuditOptions& options = {});
// One history in several files, as for read_together.
Audit audit_together(std::span<const std::string> paths, const AuditOptions& options = {});
// One that is read already; `name` is used in messages.
Audit audit(History history, const std::string& name, const AuditOptions& options = {});

// The certificates of the verdicts, for write_certificates.
CertificateFile certificates_of(const Audit& audit);

}  // namespace assay
