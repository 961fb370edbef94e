// Session order as an assumption, for levels that do not ask for it. See assumed_sessions.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infer/event_graph.h"

namespace assay::internal {

class AssumedSessions {
 public:
  explicit AssumedSessions(const EventGraph& events);

  // What is assumed at present. None of it need hold.
  std::vector<Arc> arcs() const;

  // Assumes less, because not all of `refuted` hold.
  void relax(std::span<const Arc> refuted);

 private:
  void assume_session(const std::vector<Node>& session, std::vector<Arc>& arcs) const;
  void assume(Vertex from, Vertex to, std::vector<Arc>& arcs) const {
    if (!given_up_[to]) arcs.push_back({from, to});
  }

  const EventGraph& events_;
  uint32_t lag_;  // a read sees the commits of its session up to the lag-th last; 0: perhaps none
  std::vector<uint8_t> given_up_;  // per event: nothing is assumed to come before it
};

}  // namespace assay::internal
