// Runs jobs on several threads: independent jobs, and jobs whose results are taken in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace assay::internal {

inline unsigned core_count() { return std::max(1u, std::thread::hardware_concurrency()); }

// Keeps the first exception of several threads for the thread that waits for them: memory may run
// out on any of them.
class FirstException {
 public:
  template <class Call>
  void guard(Call call) {
    try {
      call();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
  }
  // Throws the exception, if there is one.
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

// Runs work(next) on up to `threads` threads, including this one, and returns when all are done, or
// throws what one of them threw. next() hands out 0 … jobs-1, each once, in ascending order, and
// then `jobs`.
template <class Work>
void share_jobs(size_t jobs, unsigned threads, Work work) {
  FirstException thrown;
  std::atomic<size_t> taken{0};
  const auto next = [&] { return std::min(taken.fetch_add(1), jobs); };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < std::min<size_t>(threads, jobs); ++i)
      others.emplace_back([&] { thrown.guard([&] { work(next); }); });
    thrown.guard([&] { work(next); });
  }
  thrown.rethrow();
}

// Makes all of the calls, the first on this thread and, if more than one thread is allowed, each of
// the others on a new one; returns when all are done, or throws the exception that one of them
// threw.
template <class First, class... Others>
void call_all(unsigned threads, First first, Others... others) {
  if (threads <= 1) {
    first();
    (others(), ...);
    return;
  }
  FirstException thrown;
  {
    std::jthread running[] = {std::jthread([&] { thrown.guard(others); })...};
    thrown.guard(first);
  }
  thrown.rethrow();
}

// A stream of jobs in a few places, `places.size()` of them under way at a time: fill(place) makes
// the next job ready, work(place) does it, take(place) uses the result. Only `work` runs on several
// threads; `fill` and `take` run on this one, each in the order of the stream, and end it by
// returning false. run() throws what `work` throws. No thread is started for a stream of one job.
template <class Place, class Fill, class Work, class Take>
class OrderedStream {
 public:
  OrderedStream(std::span<Place> places, unsigned threads, Fill fill, Work work, Take take)
      : places_(places),
        threads_(std::min<size_t>(threads, places.size())),
        fill_(fill),
        work_(work),
        take_(take),
        done_(places.size()) {}
  OrderedStream(const OrderedStream&) = delete;
  OrderedStream& operator=(const OrderedStream&) = delete;

  void run() {
    bool more = true;
    for (;;) {
      if (more && filled_ - taken_ < places_.size()) {
        more = fill_(place(filled_));
        if (more) announce();
      } else if (taken_ == filled_) {
        break;
      } else {
        await(taken_);
        thrown_.rethrow();
        if (!take_(place(taken_++))) break;
      }
    }
  }

  ~OrderedStream() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    to_workers_.notify_all();
  }

 private:
  Place& place(uint64_t job) { return places_[job % places_.size()]; }

  void announce() {
    {
      const std::lock_guard lock(mutex_);
      done_[filled_++ % places_.size()] = 0;
    }
    to_workers_.notify_one();
    if (filled_ < 2) return;
    while (others_.size() + 1 < threads_) others_.emplace_back([this] { help(); });
  }

  // Waits until the job is done; meanwhile this thread works as well.
  void await(uint64_t job) {
    std::unique_lock lock(mutex_);
    while (!done_[job % places_.size()]) started_ < filled_ ? do_next(lock) : to_owner_.wait(lock);
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (!stopped_) started_ < filled_ ? do_next(lock) : to_workers_.wait(lock);
  }

  void do_next(std::unique_lock<std::mutex>& lock) {
    const uint64_t job = started_++;
    lock.unlock();
    thrown_.guard([&] { work_(place(job)); });
    lock.lock();
    done_[job % places_.size()] = 1;
    to_owner_.notify_one();
  }

  std::span<Place> places_;
  size_t threads_;
  Fill fill_;
  Work work_;
  Take take_;
  uint64_t taken_ = 0;  // number of jobs taken; used only by the owner
  std::mutex
      // Guards the members below, except that the owner, the only writer of filled_, reads it
      // without.
      mutex_;
  std::condition_variable to_workers_, to_owner_;
  std::vector<char> done_;             // indexed by place
  uint64_t filled_ = 0, started_ = 0;  // numbers of jobs made ready, and of jobs begun
  bool stopped_ = false;
  FirstException thrown_;
  std::vector<std::jthread> others_;  // come last, so that they end before the members that they
                                      // use
};

}  // namespace assay::internal
