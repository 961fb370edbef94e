// Turns: how the sessions of a run interleave if the database leaves that to us.
//
// A database in memory answers in microseconds, so the overlap of its sessions would depend on the
// system's scheduler: on a busy machine each runs to its end before the next begins, and no race
// ever shows. Here one session runs at a time, and after each call to the database the next session
// is drawn from the seed among the sessions that do not back off. So overlaps are as frequent on
// every machine, and a run depends on its seed alone. Time passes with the turns: it is part of
// what the seed decides.
//
// There is no deadlock: a session without a turn waits here and nowhere else, and the one that has
// it never waits for another. Only the session with the turn changes shared data; so turns begin
// once it is known which sessions have a thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <semaphore>

#include "base/rng.h"

namespace assay::internal::collect {

class Turns {
 public:
  explicit Turns(uint64_t seed) : rng_(Rng(seed).split(kSalt)) {}

  // Allows sessions 0 … n-1 to enter. They wait until turns begin.
  void expect(uint32_t sessions);
  // Begins turns for the first `sessions` sessions. Before that, and once all have left, pass and
  // back_off do not wait.
  void begin(uint32_t sessions);
  // Called by the session's thread; returns with its first turn.
  void enter(uint32_t session);
  // Lets others go on; returns when it is this session's turn again.
  void pass(uint32_t session) { back_off(session, 0); }
  // The same, but not before this many nanoseconds have passed.
  void back_off(uint32_t session, int64_t nanoseconds);
  // Called when the session does nothing more.
  void leave(uint32_t session);

  // Nanoseconds since the first turn; each call returns more than the one before.
  int64_t now() { return ++now_; }

 private:
  static constexpr uint64_t kSalt = 0x7475726e73;
  static constexpr uint32_t kNoSession = UINT32_MAX;
  struct Session {
    bool here = false;
    int64_t not_before = 0;
    std::binary_semaphore turn{0};  // released when it is this session's turn
  };

  void draw();

  Rng rng_;
  std::deque<Session> sessions_;  // its elements must not move
  std::atomic<int64_t> now_{0};
  uint32_t live_ = 0;
  uint32_t current_ = kNoSession;
};

}  // namespace assay::internal::collect
