// Events with steps between them that have a price, and the cheapest ways through them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "explain/local_graph.h"

namespace assay::internal {

class StepGraph {
 public:
  // Steps of a layer may rest on paths of the layers before it.
  enum class Layer : uint8_t { causal, clock, orders };

  explicit StepGraph(uint32_t events) : out_(events) {}

  uint32_t events() const { return static_cast<uint32_t>(out_.size()); }
  // A way that costs nothing and is nobody's step.
  void add_free(uint32_t from, uint32_t to);
  // True if a step of that price would be an improvement; asked before a step is put together.
  bool wants(uint32_t from, uint32_t to, Layer layer, uint32_t cost) const;
  // Of several steps between two events in one layer the cheapest is kept.
  void add(uint32_t from, uint32_t to, Layer layer, Step step, uint32_t cost);

  // The cheapest ways from one event to all others, and back to itself, over layers up to `last`.
  struct Ways {
    std::vector<uint32_t> cost;  // UINT32_MAX if there is none
    std::vector<uint32_t> via;   // the last step, kNone for a free one
    std::vector<uint32_t> previous;
    uint32_t from = 0;
    bool leads_to(uint32_t event) const { return cost[event] != UINT32_MAX; }
  };
  Ways ways_from(uint32_t event, Layer last, uint32_t bound = UINT32_MAX) const;
  Cycle steps_to(const Ways& ways, uint32_t event) const;
  FoundCycle cheapest_cycle() const;

 private:
  struct Arc {
    uint32_t to;
    uint32_t step;
    uint32_t cost;
    Layer layer;
  };
  const Arc* find(uint32_t from, uint32_t to, Layer layer) const;
  uint64_t place(uint32_t from, uint32_t to, Layer layer) const {
    return (static_cast<uint64_t>(from) * out_.size() + to) * 3 + static_cast<uint64_t>(layer);
  }

  std::vector<std::vector<Arc>> out_;
  std::unordered_map<uint64_t, uint32_t> index_;  // place → index into out_[from]
  std::vector<Step> steps_;
};

}  // namespace assay::internal
