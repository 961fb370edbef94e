#include "collect/drivers/checkpoint_turns.h"

namespace assay::internal::collect {

void CheckpointTurns::begin(std::chrono::milliseconds patience,
                            const std::function<uint64_t()>& empty) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !closed_; });
  if (pages_ >= limit_) {
    closed_ = true;
    if (changed_.wait_for(lock, patience, [this] { return going_on_ == 0; })) pages_ = empty();
    limit_ = pages_ + kPages;
    closed_ = false;
    changed_.notify_all();
  }
  ++going_on_;
}

void CheckpointTurns::end() {
  const std::lock_guard lock(mutex_);
  if (--going_on_ == 0) changed_.notify_all();
}

void CheckpointTurns::committed(uint64_t pages) {
  const std::lock_guard lock(mutex_);
  pages_ = pages;
}

}  // namespace assay::internal::collect
