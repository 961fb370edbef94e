// A level without session order lets a session see an older point than before. Real databases give much more than the
// level asks for: a client waits for the answer to a commit before it begins the next transaction, so what a session
// *writes* is installed in its order, and what it reads may be old, but hardly older than a few of its own
// transactions. So assume
//
//   each transaction                        →  its session's next transaction that writes
//   the last transaction of a session but k →  the reads of its next one; k = 0 at first
//
//   s1: { w(x,1) } T1  { w(x,2) } T2  { r(x,1) } T3       T1 → T2, T2 → whatever s1 writes next; with k = 1 only T1 → T3
//
// and look for an order that agrees. Such an order is one of the level's orders, too. These edges leave each event few
// places, so the search meets few conflicts; without them it has to try orders of writers that no read distinguishes.
// Viper (EuroSys 2023) prunes by such an assumption too, the order of time in the log.
//
// Assumptions can only be used to accept, never to refute: a refutation that uses assumed edges shows only which of
// them cannot all hold. Then these are given up, the reads may be older (k = 3, 15, 63, then any), and so on a few
// times, until either there is an order or a refutation that needs no assumption.
//
// Cost: linear in the transactions, each time.

#include "infer/assumed_sessions.h"

namespace assay::internal {
namespace {

constexpr uint32_t kFirstLag = 1;
constexpr uint32_t kGrowth = 4;
constexpr uint32_t kMostLag = 32;

}  // namespace

AssumedSessions::AssumedSessions(const EventGraph& events)
    : events_(events), lag_(kFirstLag), given_up_(events.events(), 0) {}

std::vector<Arc> AssumedSessions::arcs() const {
  std::vector<Arc> arcs;
  for (const std::vector<Node>& session : events_.problem().sessions) {
    assume_session(session, arcs);
  }
  return arcs;
}

void AssumedSessions::assume_session(const std::vector<Node>& session,
                                     std::vector<Arc>& arcs) const {
  const Problem& problem = events_.problem();
  std::vector<Node> committed;
  size_t last_writer = 0;  // in committed; those before it precede it
  for (Node n : session) {
    if (lag_ > 0 && committed.size() >= lag_) {
      assume(events_.write_event(committed[committed.size() - lag_]), events_.read_event(n), arcs);
    }
    const bool writes = !problem.writes.of(n).empty();
    if (writes) {
      for (size_t i = last_writer; i < committed.size(); ++i) {
        assume(events_.write_event(committed[i]), events_.write_event(n), arcs);
      }
    }
    if (!events_.committed(n)) continue;
    if (writes) last_writer = committed.size();
    committed.push_back(n);
  }
}

void AssumedSessions::relax(std::span<const Arc> refuted) {
  for (const Arc& arc : refuted) given_up_[arc.to] = 1;
  lag_ = lag_ >= kMostLag ? 0 : lag_ * kGrowth;
}

}  // namespace assay::internal
