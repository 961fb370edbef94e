// A history with the certificates that are about it.
#pragma once

#include <string>
#include <vector>

#include "assay/certificate.h"
#include "assay/format.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::cli {

struct Certified {
  History history;
  CertificateFile file;
};

// Reads both, the history from all of its files. Not verified yet. Fails if the certificates are
// about another history.
Result<Certified> read_certified(const std::string& certificate,
                                 const std::vector<std::string>& histories,
                                 const ReadOptions& reading);

}  // namespace assay::internal::cli
