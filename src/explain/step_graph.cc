#include "explain/step_graph.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace assay::internal {

void StepGraph::add_free(uint32_t from, uint32_t to) {
  out_[from].push_back({to, kNone, 0, Layer::causal});
}

const StepGraph::Arc* StepGraph::find(uint32_t from, uint32_t to, Layer layer) const {
  const auto at = index_.find(place(from, to, layer));
  return at == index_.end() ? nullptr : &out_[from][at->second];
}

bool StepGraph::wants(uint32_t from, uint32_t to, Layer layer, uint32_t cost) const {
  const Arc* arc = find(from, to, layer);
  return arc == nullptr || cost < arc->cost;
}

void StepGraph::add(uint32_t from, uint32_t to, Layer layer, Step step, uint32_t cost) {
  if (!wants(from, to, layer, cost)) return;
  if (const Arc* arc = find(from, to, layer)) {
    steps_[arc->step] = std::move(step);
    out_[from][index_[place(from, to, layer)]].cost = cost;
    return;
  }
  index_.emplace(place(from, to, layer), static_cast<uint32_t>(out_[from].size()));
  out_[from].push_back({to, static_cast<uint32_t>(steps_.size()), cost, layer});
  steps_.push_back(std::move(step));
}

StepGraph::Ways StepGraph::ways_from(uint32_t event, Layer last, uint32_t bound) const {
  struct Item {
    uint32_t cost, event;
    bool operator>(const Item& o) const {
      return std::tie(cost, event) > std::tie(o.cost, o.event);
    }
  };
  Ways ways;
  ways.from = event;
  ways.cost.assign(out_.size(), UINT32_MAX);
  ways.via.assign(out_.size(), kNone);
  ways.previous.assign(out_.size(), kNone);
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  const auto relax = [&](uint32_t e, uint32_t so_far) {
    for (const Arc& a : out_[e]) {
      if (a.layer > last) continue;
      const uint32_t c = so_far + a.cost;
      if (c >= ways.cost[a.to] || c >= bound) continue;
      ways.cost[a.to] = c;
      ways.via[a.to] = a.step;
      ways.previous[a.to] = e;
      queue.push({c, a.to});
    }
  };
  relax(event, 0);
  while (!queue.empty()) {
    const Item item = queue.top();
    queue.pop();
    // A way that comes back to where it began is complete there.
    if (item.cost == ways.cost[item.event] && item.event != event) relax(item.event, item.cost);
  }
  return ways;
}

Cycle StepGraph::steps_to(const Ways& ways, uint32_t event) const {
  Cycle path;
  if (!ways.leads_to(event)) return path;
  uint32_t e = event;
  do {
    if (ways.via[e] != kNone) path.push_back(steps_[ways.via[e]]);
    e = ways.previous[e];
  } while (e != ways.from);
  std::reverse(path.begin(), path.end());
  return path;
}

FoundCycle StepGraph::cheapest_cycle() const {
  FoundCycle best;
  best.cost = UINT32_MAX;
  for (uint32_t e = 0; e < out_.size(); ++e) {
    const Ways ways = ways_from(e, Layer::orders, best.cost);
    if (ways.cost[e] >= best.cost) continue;
    best.cycle = steps_to(ways, e);
    best.cost = ways.cost[e];
  }
  return best;
}

}  // namespace assay::internal
