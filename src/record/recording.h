// A recording of an application: it talks to PostgreSQL through this program, which writes down its
// reads, and the server's log has all writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/result.h"
#include "record/join.h"

namespace assay::internal::record {

struct RecordingOptions {
  std::string database;  // its URL
  std::string listen = "127.0.0.1:6432";
  std::string trace;                     // the file that is written meanwhile
  std::string tls_certificate, tls_key;  // files, for clients; without, a certificate is made
  std::string test;                      // that starts the recording: FILE:LINE
  bool no_values = false;                // of rows, keys and statements: none is written down
  uint64_t first_rows = 100'000;  // rows read at first, of tables with no more than this together
};

class Recording {
 public:
  // Connects to the database, begins to read its log, and listens.
  static Result<std::unique_ptr<Recording>> open(const RecordingOptions& options);
  virtual ~Recording() = default;

  // The URL by which the application connects.
  virtual std::string url() const = 0;
  // The variables with which clients of PostgreSQL connect to it by default: names and values.
  virtual std::vector<std::pair<std::string, std::string>> environment() const = 0;
  // Runs until `stop`. Then the log is read to its end, and the trace is complete.
  virtual Status run(const std::atomic<bool>& stop) = 0;
  virtual uint64_t connections() const = 0;
};

}  // namespace assay::internal::record
