// A history together with its certificates.
#pragma once

#include <string>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"
#include "cli/flags.h"

namespace assay::internal::cli {

struct Certified {
  History history;
  CertificateFile file;
};

// The arguments CERTIFICATE HISTORY…, and how the history is read.
struct CertifiedFlags {
  std::string certificate;
  std::vector<std::string> histories;
  ReadFlags reading;
  void add(CLI::App& app, const std::string& certificate_help);
};

// Reads both, the history from all of its files, without verifying them. Fails if the certificates
// are about another history.
Result<Certified> read_certified(const CertifiedFlags& flags);

}  // namespace assay::internal::cli
