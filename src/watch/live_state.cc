#include "watch/live_state.h"

namespace assay::internal::watch {

const LiveState::Entry* LiveState::find(const ValueView& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

void LiveState::put(const ValueView& key, Entry entry, std::vector<Change>& changes) {
  auto it = entries_.find(key);
  if (it == entries_.end()) {
    changes.emplace_back(HeldValue(key), std::nullopt);
    entries_.emplace(HeldValue(key), std::move(entry));
  } else {
    changes.emplace_back(it->first, std::exchange(it.value(), std::move(entry)));
  }
}

void LiveState::take_back(std::vector<Change> changes) {
  for (; !changes.empty(); changes.pop_back()) {
    auto& [key, before] = changes.back();
    if (before)
      entries_.insert_or_assign(std::move(key), std::move(*before));
    else
      entries_.unordered_erase(key);
  }
}

}  // namespace assay::internal::watch
