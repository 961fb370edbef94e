// A baseline of known violations: only new kinds are failures. For a CI job whose database has a
// fault that will not be fixed soon.
//
//   {"assay_baseline":1,"known":[{"level":"session-serializable","anomaly":"write-skew"}]}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/audit.h"

namespace assay::internal {

// A kind of violation. Another anomaly at the same level is a new kind, and so is the same one at
// another level.
struct KnownViolation {
  LevelId level = LevelId::read_committed;
  Anomaly anomaly = Anomaly::none;
  friend auto operator<=>(const KnownViolation&, const KnownViolation&) = default;
};

// `name` is used in messages.
Result<std::vector<KnownViolation>> parse_baseline(std::string_view text, const std::string& name);
// The baseline as text: one kind per line, sorted, each once.
std::string baseline_text(std::vector<KnownViolation> known);

// The kinds of violations that the audit found and explains.
std::vector<KnownViolation> violations_of(const Audit& audit);
// Sets Audit::known.
void mark_known(Audit& audit, std::span<const KnownViolation> baseline);

}  // namespace assay::internal
