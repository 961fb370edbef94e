#include "collect/simulated/clock.h"

#include <algorithm>

namespace assay::internal::collect {
namespace {

// Bounds, in nanoseconds, for one way between client and database.
constexpr int64_t kFastest = 5'000;
constexpr int64_t kSlowest = 45'000;

}  // namespace

SimulatedClock::SimulatedClock(Times times, int64_t error, int64_t jitter, uint32_t sessions,
                               Rng rng)
    : times_(times), jitter_(jitter), rng_(rng), sessions_(sessions) {
  for (Session& s : sessions_) {
    s.error = s.off = rng_.between(-error, error);
    s.response = error + jitter;  // no reading is negative
  }
}

void SimulatedClock::begin(uint32_t session) {
  if (jitter_ == 0) return;
  Session& s = sessions_[session];
  s.off = s.error + rng_.between(-jitter_, jitter_);
}

int64_t SimulatedClock::travel() { return rng_.between(kFastest, kSlowest); }

int64_t SimulatedClock::reading(Session& session, int64_t at) {
  session.shown = std::max(session.shown, at + session.off);
  return session.shown;
}

int64_t SimulatedClock::send(uint32_t session, int64_t earliest) {
  Session& s = sessions_[session];
  s.request = std::max(s.response, earliest);
  return s.request + travel();
}

Interval SimulatedClock::answer(uint32_t session, int64_t at) {
  Session& s = sessions_[session];
  s.response = at + travel();
  switch (times_) {
    case Times::none:
      return {};
    case Times::points:
      return Interval::point(reading(s, at));
    case Times::intervals:
      return {reading(s, s.request), reading(s, s.response)};
  }
  return {};
}

}  // namespace assay::internal::collect
