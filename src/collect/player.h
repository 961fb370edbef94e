// Connections that execute statements on request, each on a separate thread, so one that waits for
// a lock does not hold up the others; and detection of such waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collect/driver.h"

namespace assay::internal::collect {

class Player {
 public:
  // `locks` may be null: then a connection that has not answered after `unseen` counts as waiting.
  explicit Player(std::unique_ptr<LockView> locks,
                  std::chrono::milliseconds unseen = std::chrono::milliseconds(100));
  ~Player();

  // Adds a lane for a connection with this number on the server; returns its index.
  size_t add(uint64_t backend);
  // Gives the lane another connection.
  void connected_anew(size_t lane, uint64_t backend) { backends_[lane] = backend; }
  // Appends work to what the lane has to do.
  void tell(size_t lane, std::function<void()> work);
  bool idle(size_t lane);
  // Waits until the lane has done all its work, or waits for another one; then returns false.
  bool settle(size_t lane);
  // Waits until the lane has done all its work, at most this long.
  bool wait(size_t lane, std::chrono::milliseconds limit);

 private:
  struct Lane;
  std::unique_ptr<LockView> locks_;
  std::chrono::milliseconds unseen_;
  std::vector<uint64_t> backends_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace assay::internal::collect
