// A failed compare-and-set says that at some moment between its request and its response the key
// did not hold the value it expected.
//
//   w(x,1) [0,1]   cas(x,1,2) failed [3,9]   w(x,5) [8,9]     fits after w(x,5)
//
// In a given order of the other operations the places that the clock allows are adjacent, and so
// are those where the key holds one version. In the order of requests, each failed operation goes
// to the first place that is allowed, at which it fails, and which is not before an operation that
// ended before it began. No other choice leaves more places to those after it, so the answer is
// exact for this order. O(n log n).

#include "levels/failed_operations.h"

#include <algorithm>
#include <numeric>

#include "base/sort_by.h"

namespace assay::internal {
namespace {

class Fitting {
 public:
  Fitting(const History& history, const OperationTimes& times, std::span<const Segment> segments,
          const std::vector<TxnId>& sequence)
      : history_(history),
        times_(times),
        segments_(segments),
        begun_(sequence.size() + 1, std::numeric_limits<int64_t>::min()),
        ending_(sequence.size() + 1, OperationTimes::kForever) {
    for (size_t i = 0; i < sequence.size(); ++i)
      begun_[i + 1] = std::max(begun_[i], times[sequence[i]].begin);
    for (size_t i = sequence.size(); i-- > 0;)
      ending_[i] = std::min(ending_[i + 1], times[sequence[i]].end);
  }

  // Finds places; place p is after the first p operations. `failed` must be sorted by begin.
  bool place(std::span<const TxnId> failed, std::vector<size_t>& places) {
    std::vector<uint32_t> by_end(failed.size());
    std::iota(by_end.begin(), by_end.end(), 0u);
    stable_sort_by(by_end, [&](uint32_t i) { return times_[failed[i]].end; });
    places.assign(failed.size(), 0);
    size_t ended = 0, behind = 0;
    for (size_t i = 0; i < failed.size(); ++i) {
      for (; ended < failed.size() && times_[failed[by_end[ended]]].end < times_[failed[i]].begin;
           ++ended)
        behind = std::max(behind, places[by_end[ended]]);
      places[i] = first_place(failed[i], behind);
      if (places[i] == kNowhere) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kNowhere = static_cast<size_t>(-1);

  size_t first_place(TxnId t, size_t behind) const {
    const auto open = std::partition_point(ending_.begin(), ending_.end(),
                                           [&](int64_t end) { return end < times_[t].begin; });
    const auto late = std::partition_point(begun_.begin(), begun_.end(),
                                           [&](int64_t begin) { return begin <= times_[t].end; });
    size_t place = std::max(behind, static_cast<size_t>(open - ending_.begin()));
    const auto end = static_cast<size_t>(late - begun_.begin());
    const Observation seen = observation_of(history_, history_.first_op(t));
    auto next = std::partition_point(segments_.begin(), segments_.end(),
                                     [&](const Segment& s) { return s.begin < place; });
    for (; place < end; ++next) {
      if (fits(history_, seen,
               next == segments_.begin() ? initial_state(history_, seen.key) : (next - 1)->state))
        return place;
      if (next == segments_.end()) break;
      place = next->begin + 1;
    }
    return kNowhere;
  }

  const History& history_;
  const OperationTimes& times_;
  std::span<const Segment> segments_;
  std::vector<int64_t> begun_;   // indexed by place: the latest begin before it
  std::vector<int64_t> ending_;  // indexed by place: the earliest end after it
};

}  // namespace

bool fit_failed(const History& history, const OperationTimes& times,
                std::span<const Segment> segments, std::span<const TxnId> failed,
                std::vector<TxnId>& sequence) {
  std::vector<TxnId> by_begin(failed.begin(), failed.end());
  stable_sort_by(by_begin, [&](TxnId t) { return times[t].begin; });
  std::vector<size_t> places;
  if (!Fitting(history, times, segments, sequence).place(by_begin, places)) return false;
  std::vector<uint32_t> order(by_begin.size());
  std::iota(order.begin(), order.end(), 0u);
  stable_sort_by(order, [&](uint32_t i) { return places[i]; });
  std::vector<TxnId> merged;
  merged.reserve(sequence.size() + by_begin.size());
  size_t at = 0;
  for (const uint32_t i : order) {
    for (; at < places[i]; ++at) merged.push_back(sequence[at]);
    merged.push_back(by_begin[i]);
  }
  merged.insert(merged.end(), sequence.begin() + static_cast<std::ptrdiff_t>(at), sequence.end());
  if (!fits_the_clock(times, merged)) return false;
  sequence = std::move(merged);
  return true;
}

}  // namespace assay::internal
