// A workload whose sessions differ in nothing but their random numbers, values and number.
// `Session` is constructed from the options, those three and the number of sessions; it says which
// kinds it uses (kKinds) and what to read at the end (final_reads), and, if its transactions read
// differently, how they do (usual_reads). If its keys can be written before the sessions begin, it
// says how (first_writes).
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "collect/workload.h"

namespace assay::internal::collect {

// The identity of a session.
struct SessionSeat {
  uint32_t session = 0;
  uint32_t sessions = 1;
  std::atomic<uint64_t>* begun =
      nullptr;  // transactions of all sessions, if each session counts its own
};

template <class Session>
class SessionWorkload : public Workload {
 public:
  explicit SessionWorkload(const WorkloadOptions& options) : options_(options) {}

  std::unique_ptr<WorkloadSession> open(uint32_t session, uint32_t sessions,
                                        uint64_t seed) const override {
    return std::make_unique<Session>(options_, Rng(seed).split(session),
                                     WrittenValues(session, sessions, options_.values),
                                     SessionSeat{session, sessions, &begun_});
  }
  std::span<const OpKind> kinds() const override { return Session::kKinds; }
  std::vector<Request> first_writes() const override {
    if constexpr (requires { Session::first_writes(options_); })
      return Session::first_writes(options_);
    else
      return {};
  }
  std::vector<Request> final_reads(uint64_t limit, Rng& rng) const override {
    return Session::final_reads(options_, limit, rng);
  }
  std::vector<Request> usual_reads(uint64_t limit, Rng& rng) const override {
    if constexpr (requires { Session::usual_reads(options_, limit, rng); })
      return Session::usual_reads(options_, limit, rng);
    else
      return final_reads(limit, rng);
  }

 protected:
  const WorkloadOptions& options() const { return options_; }

 private:
  WorkloadOptions options_;
  mutable std::atomic<uint64_t> begun_ = 0;  // counted by all sessions, none of which outlives it
};

}  // namespace assay::internal::collect
