// Chooses the next workload and its number of keys, to find a violation soon.
//
// An *arm* is a workload at a contention. How soon it finds a violation is not known, so its rate
// is a gamma variable. The mean is the prior rate; since a database either has the fault or does
// not, the shape is small: an arm that has found nothing soon probably never will. After t seconds
// of an arm that have found nothing, the mean is
//
//   shape / (shape / prior + t)
//
// The next arm is the one of the largest mean, which is the order of search that is best for
// hazards that decrease (Stone, Theory of Optimal Search, 1975). Two corrections apply. Arms of one
// workload find much the same, and workloads of the same kinds of operation are similar, so the
// time of an arm counts in part for the others: lists, ranges and deletions get a turn before all
// workloads of reads and writes have had theirs. And an arm is worth more where more transactions
// meet: the mean is multiplied by how many contended transactions (history/contention.h) the arm
// commits per second, relative to all arms, within limits. Each eighth turn goes to the arm that
// ran for the shortest time: no arm starves if the prior is wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "collect/workload_priors.h"

namespace assay::internal::collect {

struct Arm {
  const WorkloadInfo* workload = nullptr;
  Contention contention = Contention::hot;
  double rate = 0;     // the prior, in violations per second
  uint32_t kinds = 0;  // SupportedWorkload::kinds
};

// The result of a run of an arm that found no violation.
struct ArmRun {
  double seconds = 0;  // for the whole run: preparing, driving, checking
  uint64_t contended = 0;
};

class Arms {
 public:
  Arms() = default;
  explicit Arms(const std::vector<Arm>& arms);
  void add(const Arm& arm) { arms_.push_back({.arm = arm}); }

  // The arm to run next. `turn` counts the runs from 0.
  size_t next(uint64_t turn) const;
  void note(size_t arm, const ArmRun& run);

  const Arm& operator[](size_t arm) const { return arms_[arm].arm; }
  size_t size() const { return arms_.size(); }
  // The violations per second that are expected of an arm now.
  double expected_rate(size_t arm) const;

 private:
  struct Known {
    Arm arm;
    double seconds = 0;
    double contended = 0;
  };
  double fruitless_seconds(size_t arm) const;
  double contention_factor(const Known& known) const;

  std::vector<Known> arms_;
  double seconds_ = 0, contended_ = 0;  // for all arms
};

}  // namespace assay::internal::collect
