#include "watch/verified_chain.h"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace assay::internal::watch {

VerifiedChain::VerifiedChain(LevelId level, ChainSink* sink)
    : verifier_(certify::ChainVerifier::of(level)), writer_(level), sink_(sink) {
  if (!verifier_.ok()) keep(verifier_.error());
  thread_ = std::jthread([this] { run(); });
}

void VerifiedChain::read(const Piece& piece) { jobs_.put({piece}); }
void VerifiedChain::sealed(certify::Segment segment) { jobs_.put({nullptr, std::move(segment)}); }

Status VerifiedChain::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void VerifiedChain::keep(const Status& s) {
  const std::lock_guard lock(mutex_);
  if (state_.ok()) state_ = s;
}

// After a refusal, jobs are taken without being examined, so no writer waits for room.
void VerifiedChain::run() {
  while (const auto job = jobs_.take()) {
    if (job->reached != nullptr) job->reached->set_value();
    if (job->reached != nullptr || !state().ok()) continue;
    try {
      keep(verify(*job));
    } catch (const std::bad_alloc&) {
      keep(Error{ErrorKind::budget, "memory ran out while a segment was verified", {}, 0, 0});
    }
  }
}

Status VerifiedChain::verify(const Job& job) {
  if (job.piece != nullptr) {
    transactions_ += job.piece->txn_count();
    return verifier_->read(job.piece);
  }
  if (Status s = write_header(); !s.ok()) return s;
  const certify::Segment& segment = job.segment;
  ++segments_;
  if (Status s = verifier_->accept(segment); !s.ok()) {
    Error e = s.error();
    e.message = fmt::format("the verifier refuses segment {}: {}", segments_, e.message);
    return e;
  }
  return write(writer_.segment(segment));
}

Status VerifiedChain::write_header() {
  return writer_.has_begun() ? Status(Ok{}) : write(writer_.header());
}

// The thread waits for the next job, and so changes nothing meanwhile.
Status VerifiedChain::save(StreamWriter& to, formats::TxnTableWriter& txns) {
  std::promise<void> reached;
  jobs_.put({nullptr, {}, &reached});
  reached.get_future().wait();
  if (Status s = state(); !s.ok()) return s;
  to.number(transactions_);
  to.number(segments_);
  writer_.save(to);
  verifier_->save(to, txns);
  return Ok{};
}

Status VerifiedChain::load(StreamReader& from, const formats::TxnTable& txns) {
  if (!verifier_.ok()) return verifier_.error();
  transactions_ = from.number();
  segments_ = from.number();
  writer_.load(from);
  return verifier_->load(from, txns);
}

Status VerifiedChain::end() {
  jobs_.close();
  if (thread_.joinable()) thread_.join();
  if (!state_.ok()) return state_;
  if (Status s = verifier_->end({transactions_}); !s.ok()) return s;
  if (Status s = write_header(); !s.ok()) return s;
  return write(writer_.end(transactions_));
}

}  // namespace assay::internal::watch
