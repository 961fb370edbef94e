// How to detect that a statement waits for a lock. PostgreSQL's tester asks the server every
// hundredth of a second; the player does so every few thousandths, and only while the statement has
// not been answered.
//
//   T1: UPDATE t SET v = 1 WHERE id = 1       answered at once
//   T2: UPDATE t SET v = 2 WHERE id = 1       the server says: the connection of T2 waits for that
//                                             of T1
//   T1: COMMIT                                sent while T2 waits, which answers then
//
// If a server does not say which connections wait, a statement is given a tenth of a second: a
// slower one counts as waiting, and only the order of the next steps depends on that. Waiting
// connections are examined again after each step.
#include "collect/player.h"

namespace assay::internal::collect {
namespace {

constexpr auto kFirstLook = std::chrono::milliseconds(2);
constexpr auto kNextLook = std::chrono::milliseconds(4);

}  // namespace

struct Player::Lane {
  Lane() : thread([this] { work(); }) {}
  ~Lane() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    thread.join();
  }

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return stopping || !tasks.empty(); });
      if (tasks.empty()) return;
      const std::function<void()> task = tasks.front();
      lock.unlock();
      task();
      lock.lock();
      tasks.pop_front();
      changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;  // the first is being executed
  bool stopping = false;
  std::thread thread;  // begins when everything else is there
};

Player::Player(std::unique_ptr<LockView> locks, std::chrono::milliseconds unseen)
    : locks_(std::move(locks)), unseen_(unseen) {}
Player::~Player() = default;

size_t Player::add(uint64_t backend) {
  backends_.push_back(backend);
  lanes_.push_back(std::make_unique<Lane>());
  return lanes_.size() - 1;
}

void Player::tell(size_t lane, std::function<void()> work) {
  Lane& l = *lanes_[lane];
  const std::lock_guard lock(l.mutex);
  l.tasks.push_back(std::move(work));
  l.changed.notify_all();
}

bool Player::wait(size_t lane, std::chrono::milliseconds limit) {
  Lane& l = *lanes_[lane];
  std::unique_lock lock(l.mutex);
  return l.changed.wait_for(lock, limit, [&l] { return l.tasks.empty(); });
}

bool Player::idle(size_t lane) { return wait(lane, std::chrono::milliseconds(0)); }

bool Player::settle(size_t lane) {
  if (!locks_) return wait(lane, unseen_);
  for (auto look = kFirstLook; !wait(lane, look); look = kNextLook)
    if (locks_->waits(backends_[lane], backends_)) return idle(lane);
  return true;
}

}  // namespace assay::internal::collect
