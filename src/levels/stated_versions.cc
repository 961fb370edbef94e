// Statements by the writes that they are about.
//
//   order x: 1 2     s1: { w(x,1) } { w(x,2) }   s2: { r(x,2) w(x,3) }
//   Two statements: 1 before 2, and, as an update comes after the version that it read, 2 before 3.
//
// A key's statements and its writers are both in the order of nodes: one pass over each finds where
// the statements about a write begin and end. Cost: linear in the statements, the writes and the
// keys.

#include "levels/stated_versions.h"

#include <algorithm>
#include <numeric>

#include "levels/counting_sort.h"

namespace assay::internal {

void StatedVersions::index() {
  by_before_.resize(all_.size());
  std::iota(by_before_.begin(), by_before_.end(), 0u);
  const auto key_of = [this](uint32_t i) { return all_[i].key; };
  counting_sort(by_before_, problem_.nodes(), [this](uint32_t i) { return all_[i].after; });
  by_after_ = by_before_;
  counting_sort(by_after_, problem_.keys(), key_of);
  counting_sort(by_before_, problem_.nodes(), [this](uint32_t i) { return all_[i].before; });
  counting_sort(by_before_, problem_.keys(), key_of);
  followed_ = ranges(by_before_, &StatedOrder::before);
  follows_ = ranges(by_after_, &StatedOrder::after);
}

std::vector<StatedVersions::Range> StatedVersions::ranges(const std::vector<uint32_t>& sorted,
                                                          Node StatedOrder::*node) const {
  std::vector<Range> of_write(problem_.writes.size());
  uint32_t at = 0;
  for (KeyId key = 0; key < problem_.keys(); ++key)
    for (const WriteId w : problem_.key_writers(key)) {
      const auto is_of_write = [&](const StatedOrder& stated) {
        return stated.key == key && stated.*node == problem_.writes.node[w];
      };
      of_write[w].first = at;
      while (at < sorted.size() && is_of_write(all_[sorted[at]])) ++at;
      of_write[w].second = at;
    }
  return of_write;
}

bool StatedVersions::add(std::span<const StatedOrder> updates, Budget& budget) {
  if (updates.empty()) return true;
  const size_t count = all_.size() + updates.size();
  if (!budget.has_room((sizeof(StatedOrder) + 2 * sizeof(uint32_t)) * count)) return false;
  with_updates_.reserve(count);
  with_updates_.assign(all_.begin(), all_.end());
  with_updates_.insert(with_updates_.end(), updates.begin(), updates.end());
  all_ = with_updates_;
  index();
  return true;
}

uint32_t StatedVersions::between(WriteId before, Node after) const {
  const std::span<const uint32_t> following = this->after(before);
  const auto it =
      std::ranges::lower_bound(following, after, {}, [this](uint32_t i) { return all_[i].after; });
  return it != following.end() && all_[*it].after == after ? *it : kNone;
}

}  // namespace assay::internal
