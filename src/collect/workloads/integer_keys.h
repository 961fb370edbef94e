// Shared by the workloads over keys 0 … n-1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assay/result.h"
#include "collect/workload.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {

// Reads of all keys, or of `limit` different ones if there are more.
std::vector<Request> read_integer_keys(uint64_t keys, uint64_t limit, Rng& rng);

// The keys that a session draws from: all, or some adjacent ones (WorkloadOptions::keys_alive).
//
//   2 sessions, 10 keys, 3 alive     the first two transactions of both draw from 0 1 2, the next
//                                    two from 1 2 3, … the last from 7 8 9
//
// So all sessions look for unwritten keys, and write them, at about the same time, again and again.
class DrawnKeys {
 public:
  DrawnKeys(const WorkloadOptions& options, SessionSeat seat)
      : seat_(seat),
        ranks_(options.distribution,
               options.keys_alive == 0 ? options.keys : std::min(options.keys_alive, options.keys)),
        last_(options.keys - ranks_.size()) {}

  void next_transaction() {
    if (last_ > 0) first_ = std::min(seat_.begun->fetch_add(1) / seat_.sessions, last_);
  }
  uint64_t draw(Rng& rng) const { return first_ + ranks_.draw(rng); }
  // Another of these keys; the same one if there is only one.
  uint64_t beside(uint64_t key) const { return first_ + (key - first_ + 1) % ranks_.size(); }

 private:
  SessionSeat seat_;
  Ranks ranks_;
  uint64_t first_ = 0, last_;
};

// What sessions that only read and write such keys declare (session_workload.h).
struct IntegerRegisters {
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }
  // Writes of negative values, which no session writes.
  static std::vector<Request> first_writes(const WorkloadOptions& options) {
    std::vector<Request> writes;
    for (uint64_t key = 0; options.load && key < options.keys; ++key)
      writes.push_back({.kind = OpKind::write,
                        .key = Value::of(static_cast<int64_t>(key)),
                        .value = Value::of(-1 - static_cast<int64_t>(key))});
    return writes;
  }
};

// Checks the options that all these workloads have in common.
Status check_key_options(const WorkloadOptions& options);
// The same for a workload whose transactions have `ops` operations, at most `most`.
Status check_key_and_operation_options(const WorkloadOptions& options, uint32_t most = 100'000);

}  // namespace assay::internal::collect
