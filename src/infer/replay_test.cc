#include "infer/replay.h"

#include <gtest/gtest.h>

#include <string>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::d;
using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;

// What each read meets, as "name:value/writer".
struct NotesWhatIsMet : ReplayVisitor {
  const History& h;
  std::string met = {};

  explicit NotesWhatIsMet(const History& history) : h(history) {}
  bool reads(TxnId t, const KeysHeld& held) {
    return each_read(
        h, t, held, nullptr,
        [&](const Observation& seen, const Held& meets) {
          met += h.key(seen.key).to_string() + ":";
          met += meets.state.version == kNone || meets.state.removed
                     ? "null"
                     : h.version_value(meets.state.version).to_string();
          met += meets.writer == kNone ? " " : "/" + std::to_string(meets.writer) + " ";
          return true;
        },
        [](OpId, std::span<const VersionId>, std::span<const VersionId>) { return true; });
  }
};

std::string met_along(const History& h, const Order& order) {
  NotesWhatIsMet visitor(h);
  replay(h, order, visitor);
  return visitor.met;
}

TEST(Replay, AReadMeetsWhatWasInstalledLastAndItsOwnWritesFirst) {
  const History h =
      make_history({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2), r("x", 2)}}, {3, {r("x", 2)}}});
  EXPECT_EQ(met_along(h, {false, {0, 1, 2}}), "x:1/0 x:2/1 x:2/1 ");
  EXPECT_EQ(met_along(h, {false, {2, 1, 0}}), "x:null x:null x:2/1 ");
}

TEST(Replay, OfTwoEventsTheFirstReadsAndTheSecondInstalls) {
  const History h = make_history({{1, {w("x", 1)}}, {2, {r("x", kNull)}}});
  EXPECT_EQ(met_along(h, {true, {0, 2, 1, 3}}), "x:null ");
  EXPECT_EQ(met_along(h, {true, {0, 1, 2, 3}}), "x:1/0 ");
}

TEST(Replay, ADeleteLeavesTheKeyAbsent) {
  const History h = make_history({{1, {w("x", 1)}}, {2, {d("x", 7)}}, {3, {r("x", 7)}}});
  EXPECT_EQ(met_along(h, {false, {0, 1, 2}}), "x:null/1 ");
}

struct StopsAtOnce : ReplayVisitor {
  int installs_seen = 0;
  bool installs(TxnId, const KeysHeld&) { return ++installs_seen < 2; }
};

TEST(Replay, GoesOnAsLongAsTheVisitorWants) {
  const History h = make_history({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("x", 3)}}});
  StopsAtOnce visitor;
  replay(h, {false, {0, 1, 2}}, visitor);
  EXPECT_EQ(visitor.installs_seen, 2);
}

}  // namespace
}  // namespace assay::internal
