// A destination of records of transactions: a file, standard output, or a History in memory.
#pragma once

#include <string>
#include <string_view>

#include "assay/history.h"
#include "assay/result.h"
#include "collect/lines.h"
#include "collect/step.h"

namespace assay::internal::collect {

class Sink {
 public:
  virtual ~Sink() = default;
  // Called once, before the first transaction. `meta` is a JSON object or empty.
  virtual Status header(std::string_view meta) = 0;
  virtual Status transaction(const TxnRecord& record) = 0;
  // Takes anything that is not a transaction; `json` is one whole JSON object with its "event" and
  // "at".
  virtual Status event(int64_t at, std::string_view json) = 0;
  virtual Status order(const OrderRecord& record) = 0;
  // Called once, after the last record.
  virtual Status finish() = 0;
};

// Keeps nothing: for measuring a database without a recorder.
class NoSink : public Sink {
 public:
  Status header(std::string_view) override { return Ok{}; }
  Status transaction(const TxnRecord&) override { return Ok{}; }
  Status event(int64_t, std::string_view) override { return Ok{}; }
  Status order(const OrderRecord&) override { return Ok{}; }
  Status finish() override { return Ok{}; }
};

// Builds a History: for tests and for checking without a file.
class HistorySink : public Sink {
 public:
  explicit HistorySink(HistoryFacts facts = {}) {
    if (facts.absent_is_never_written) builder_.set_absent_is_never_written();
  }
  Status header(std::string_view meta) override;
  Status transaction(const TxnRecord& record) override;
  Status event(int64_t at, std::string_view json) override;
  Status order(const OrderRecord& record) override;
  Status finish() override { return Ok{}; }
  // The history built so far; the sink is empty afterwards.
  Result<History> take();

 private:
  HistoryBuilder builder_;
};

// Writes assay JSON Lines to an open file descriptor in large blocks; does not close it.
class LineSink : public Sink {
 public:
  explicit LineSink(int fd, HistoryFacts facts = {}) : fd_(fd), facts_(facts) {}
  Status header(std::string_view meta) override;
  Status transaction(const TxnRecord& record) override;
  Status event(int64_t at, std::string_view json) override;
  Status order(const OrderRecord& record) override;
  Status finish() override { return flush(); }

 private:
  Status flush();

  int fd_;
  HistoryFacts facts_;
  std::string buffer_;
};

}  // namespace assay::internal::collect
