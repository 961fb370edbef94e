#include "collect/turns.h"

#include <algorithm>

namespace assay::internal::collect {
namespace {

// The nanoseconds that a call takes: as long as one to a nearby database.
constexpr int64_t kFastest = 1'000;
constexpr int64_t kSlowest = 20'000;

}  // namespace

void Turns::expect(uint32_t sessions) {
  sessions_.clear();
  for (uint32_t i = 0; i < sessions; ++i) sessions_.emplace_back();
}

void Turns::begin(uint32_t sessions) {
  for (uint32_t i = 0; i < sessions; ++i) sessions_[i].here = true;
  live_ = sessions;
  draw();
  if (current_ != kNoSession) sessions_[current_].turn.release();
}

void Turns::enter(uint32_t session) { sessions_[session].turn.acquire(); }

void Turns::back_off(uint32_t session, int64_t nanoseconds) {
  if (live_ == 0) return;
  sessions_[session].not_before = now_ + nanoseconds;
  draw();
  if (current_ == session) return;
  sessions_[current_].turn.release();
  sessions_[session].turn.acquire();
}

void Turns::leave(uint32_t session) {
  sessions_[session].here = false;
  --live_;
  draw();
  if (current_ != kNoSession) sessions_[current_].turn.release();
}

// Draws the next session among those present that need not wait; if there is none, time passes
// until there is.
void Turns::draw() {
  current_ = kNoSession;
  if (live_ == 0) return;
  now_ += rng_.between(kFastest, kSlowest);
  int64_t soonest = INT64_MAX;
  for (const Session& s : sessions_)
    if (s.here) soonest = std::min(soonest, s.not_before);
  if (soonest > now_) now_ = soonest;
  const auto ready = [&](const Session& s) { return s.here && s.not_before <= now_; };
  const auto count = std::count_if(sessions_.begin(), sessions_.end(), ready);
  auto left = rng_.below(static_cast<uint64_t>(count));
  for (current_ = 0; !ready(sessions_[current_]) || left-- > 0;) ++current_;
}

}  // namespace assay::internal::collect
