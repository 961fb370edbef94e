// A level without session order lets a session see an older point than before. Real databases give
// much more than the level asks for: a client waits for the answer to a commit before it begins the
// next transaction, so a session's *writes* are installed in its order, and its reads may be old,
// but hardly older than a few of its own transactions. So assume
//
//   each transaction                        →  its session's next transaction that writes
//   the last transaction of a session but k →  the reads of its next one, for k = 0, 3 and 15, each
//                                              assumed by itself
//
//   s1: { w(x,1) } T1  { w(x,2) } T2  { r(x,1) } T3       T1 → T2, T2 → T3's reads, T2 → whatever
//                                                         s1 writes next
//
// and look for an order that agrees. Such an order is one of the level's orders, too. These edges
// leave each event few places, so the search meets few conflicts; without them it has to try orders
// of writers that no read distinguishes. Viper (EuroSys 2023) prunes by such an assumption too, the
// order of time in the log.
//
// In the search these are assumptions (solver/choice_solver.h): a conflict that rests on some of
// them shows that these cannot all hold, and they are given up, while all that was learnt stays. T3
// read what T2 had overwritten, so T2 → T3's reads is given up, and nothing else. They are used to
// accept, never to refute.
//
// Cost: linear in the transactions.

#include "infer/assumed_sessions.h"

namespace assay::internal {
namespace {

constexpr uint32_t kLags[] = {1, 4, 16};  // k + 1

// Appends the sets for one session.
void assume(const EventGraph& events, const std::vector<Node>& session, Rows<Arc>& all) {
  std::vector<Node> committed;
  size_t last_writer = 0;  // index into committed; the transactions before it precede it
  for (const Node n : session) {
    for (const uint32_t lag : kLags) {
      if (committed.size() < lag) break;
      const Node last = committed[committed.size() - lag];
      all.items.push_back({events.write_event(last), events.read_event(n)});
      all.close();
    }
    const bool writes = !events.problem().writes.of(n).empty();
    if (writes && last_writer < committed.size()) {
      for (size_t i = last_writer; i < committed.size(); ++i)
        all.items.push_back({events.write_event(committed[i]), events.write_event(n)});
      all.close();
    }
    if (!events.committed(n)) continue;
    if (writes) last_writer = committed.size();
    committed.push_back(n);
  }
}

}  // namespace

Rows<Arc> assumed_sessions(const EventGraph& events) {
  Rows<Arc> all;
  for (const std::vector<Node>& session : events.problem().sessions) assume(events, session, all);
  return all;
}

}  // namespace assay::internal
