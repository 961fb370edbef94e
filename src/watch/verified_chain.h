// The chain of certificates of a watched history: each segment is verified as it is made
// (certify/chain_verifier.h), on a separate thread, and written if asked. Nothing that was written
// is taken back.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "base/bounded_queue.h"
#include "base/byte_stream.h"
#include "certify/chain.h"
#include "certify/chain_verifier.h"
#include "formats/txn_table.h"

namespace assay::internal::watch {

// Receives the lines.
class ChainSink {
 public:
  virtual ~ChainSink() = default;
  virtual Status write(const std::string& line) = 0;
};

class VerifiedChain {
 public:
  // `sink` may be null, and must outlive this object.
  VerifiedChain(LevelId level, ChainSink* sink);
  ~VerifiedChain() { jobs_.close(); }

  // Reads the next lines of the history, before any segment names them.
  void read(const std::shared_ptr<const History>& piece);
  void sealed(certify::Segment segment);
  // The error of the first segment that was refused, or line that could not be written; it may
  // appear late.
  Status state() const;
  // Waits until everything so far is verified, and saves how far the chain has got; to be loaded
  // into a new object. An error is that of state().
  Status save(StreamWriter& to, formats::TxnTableWriter& txns);
  Status load(StreamReader& from, const formats::TxnTable& txns);
  // Ends the chain: nothing follows.
  Status end();
  // To be called after end().
  uint64_t segments() const { return segments_; }
  // Whether no transaction was left out, and nothing forgotten.
  bool is_whole() const { return verifier_->left_out() == 0 && verifier_->gaps() == 0; }

 private:
  using Piece = std::shared_ptr<const History>;
  struct Job {
    Piece piece;  // null: the job is a segment
    certify::Segment segment = {};
    std::promise<void>* reached = nullptr;  // if the job is neither: everything before it is
                                            // verified
  };

  void run();
  Status verify(const Job& job);
  Status write_header();
  Status write(const std::string& line) {
    return sink_ == nullptr ? Status(Ok{}) : sink_->write(line);
  }
  void keep(const Status& s);

  Result<certify::ChainVerifier> verifier_;
  certify::ChainWriter writer_;
  ChainSink* sink_;
  uint64_t transactions_ = 0;
  uint64_t segments_ = 0;
  mutable std::mutex mutex_;  // guards the next members
  Status state_ = Ok{};
  BoundedQueue<Job> jobs_{64};
  std::jthread thread_;  // comes last, so that it ends before the members that it uses
};

}  // namespace assay::internal::watch
