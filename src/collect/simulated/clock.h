// The simulated clock: when requests arrive at the database, and which times clients note.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"
#include "base/rng.h"
#include "collect/generate.h"

namespace assay::internal::collect {

// Per session, calls of `send` and `answer` alternate.
class SimulatedClock {
 public:
  // `error`: each session's readings are off by a fixed amount of at most this many nanoseconds.
  // `jitter`: each transaction's readings are off by an additional amount, but they do not run
  // backwards in a session.
  SimulatedClock(Times times, int64_t error, int64_t jitter, uint32_t sessions, Rng rng);

  // Begins the session's next transaction.
  void begin(uint32_t session);

  // Sends the session's next request, not before `earliest`, nor before the answer to its previous
  // one. Returns the moment at which the database handles it.
  int64_t send(uint32_t session, int64_t earliest);
  // The request that the database handles at `at` is answered. Returns what the client notes.
  Interval answer(uint32_t session, int64_t at);
  // When the session's last answer arrived, in true time.
  int64_t answered(uint32_t session) const { return sessions_[session].response; }

 private:
  struct Session {
    int64_t error = 0;
    int64_t off = 0;  // in this transaction: the error and its jitter
    int64_t shown = 0;
    int64_t request = 0;
    int64_t response = 0;
  };
  int64_t travel();
  // Returns what the session's clock shows at `at`.
  int64_t reading(Session& session, int64_t at);

  Times times_;
  int64_t jitter_;
  Rng rng_;
  std::vector<Session> sessions_;
};

}  // namespace assay::internal::collect
