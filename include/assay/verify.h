// The independent verifier. It shares no code with the checker: it reads the history, the
// certificate and the definitions, and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay {

// Returns Ok if `certificate` proves its outcome for every level it lists, given that clocks differ
// by no more than history.clock_drift(); otherwise an Error that says what does not hold. Linear in
// the certificate and the history (n log n for real time), with two exceptions: for a certificate
// of kind `exhausted` the orders of the operations on one key are enumerated, and for an order for
// pl-2+ the paths between the ends of its anti-dependencies are examined. Both refuse the
// certificate beyond a limit. With more than one thread, an order is replayed on one while another
// looks at sessions, times and overlapping writers.
Status verify(const Certificate& certificate, const History& history, unsigned threads = 1);

// The same for several certificates of one history, which must outlive the verifier: the version
// orders that the history states are read only once. Several threads may call it at a time.
class Verifier {
 public:
  explicit Verifier(const History& history);
  ~Verifier();
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  Status verify(const Certificate& certificate, unsigned threads = 1);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// An estimate of the memory that verification takes.
uint64_t verification_bytes(const Certificate& certificate, const History& history);

// The certificate file: one JSON object. Keys and values appear as in the history; transactions and
// operations by index, so the file names the history by its content hash.
std::string write_certificates(const CertificateFile& file, const History& history);
// Whether the certificates are about the history with the reads of transactions that did not commit
// counted.
bool counts_aborted_reads(std::string_view certificates);
// `name` is used in error positions. Rejects anything malformed, and a file that belongs to another
// history.
Result<CertificateFile> read_certificates(std::string_view json, const History& history,
                                          const std::string& name);

}  // namespace assay
