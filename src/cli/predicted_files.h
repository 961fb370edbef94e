// The files that `assay predict --output` writes.
#pragma once

#include <string>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "certify/predictions.h"

namespace assay::internal::cli {

struct PredictedFiles {
  std::string folder;  // created if needed; files in it are replaced; empty: nothing is written
  std::vector<std::string> inputs;  // never overwritten

  bool wanted() const { return !folder.empty(); }
  // Write `name`.cert.json and `name`.jsonl; both return the name of the file.
  Result<std::string> certificate(const std::string& name, const certify::Predictions& predictions,
                                  const History& recorded) const;
  Result<std::string> history(const std::string& name, const History& predicted) const;
};

}  // namespace assay::internal::cli
