#include "collect/simulated/clock.h"

#include <algorithm>

namespace assay::collect {
namespace {

// Nanoseconds of one way between client and database.
constexpr int64_t kFastest = 5'000;
constexpr int64_t kSlowest = 45'000;

}  // namespace

SimulatedClock::SimulatedClock(Times times, int64_t error, uint32_t sessions, Rng rng)
    : times_(times), rng_(rng), sessions_(sessions) {
  for (Session& s : sessions_) {
    s.error = rng_.between(-error, error);
    s.response = error;  // so that no reading is negative
  }
}

int64_t SimulatedClock::travel() { return rng_.between(kFastest, kSlowest); }

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
      return Interval::point(at + s.error);
    case Times::intervals:
      return {s.request + s.error, s.response + s.error};
  }
  return {};
}

}  // namespace assay::collect
