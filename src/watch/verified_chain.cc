#include "watch/verified_chain.h"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace assay::internal::watch {

VerifiedChain::VerifiedChain(LevelId level, ChainSink* sink)
    : verifier_(certify::ChainVerifier::of(level)), writer_(level), sink_(sink) {
  keep(verifier_.ok() ? write(writer_.header()) : Status(verifier_.error()));
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

// What follows a refusal is taken, so that nobody waits for room, and not looked at.
void VerifiedChain::run() {
  while (const auto job = jobs_.take()) {
    if (!state().ok()) continue;
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
  const certify::Segment& segment = job.segment;
  ++segments_;
  if (Status s = verifier_->accept(segment); !s.ok()) {
    Error e = s.error();
    e.message = fmt::format("the verifier refuses segment {}: {}", segments_, e.message);
    return e;
  }
  return write(writer_.segment(segment));
}

Status VerifiedChain::end() {
  jobs_.close();
  if (thread_.joinable()) thread_.join();
  if (!state_.ok()) return state_;
  if (Status s = verifier_->end({transactions_}); !s.ok()) return s;
  return write(writer_.end(transactions_));
}

}  // namespace assay::internal::watch
