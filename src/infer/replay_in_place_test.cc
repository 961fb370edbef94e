#include "infer/replay_in_place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/rng.h"
#include "history/test_history.h"
#include "infer/precedence.h"
#include "infer/schedule.h"
#include "infer/scheduler.h"
#include "infer/stated_orders.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;
using sample::kCommitted;

std::vector<Vertex> by_times(const Problem& problem, const Events& events) {
  std::vector<std::pair<int64_t, Vertex>> timed;
  for (Node n = 0; n < problem.nodes(); ++n) {
    if (events.split) timed.push_back({problem.hint.read_time[n], events.read_event(n)});
    timed.push_back({problem.hint.write_time[n], events.write_event(n)});
  }
  std::sort(timed.begin(), timed.end());
  std::vector<Vertex> order;
  for (const auto& [time, v] : timed) order.push_back(v);
  return order;
}

// A replay that looks at each event.
Schedule replay(const Problem& problem, const LevelInfo& level) {
  const Events events(level);
  const std::vector<Vertex> order = by_times(problem, events);
  HistoryPrecedence precedence(problem, level);
  const std::vector<Node> before = stated_before(problem);
  Scheduler scheduler(problem, events, order.size(), order, precedence, !events.split, before);
  for (const Vertex v : order) scheduler.attempt(v);
  for (const Vertex v : order) scheduler.overtake(v);
  const bool accepted = scheduler.done() == order.size();
  return {scheduler.take_order(), accepted};
}

// By the rules for waiting, one event after the other, each made to happen.
std::vector<uint32_t> waiting(const Problem& problem, const LevelInfo& level) {
  const Events events(level);
  const std::vector<Vertex> order = by_times(problem, events);
  HistoryPrecedence precedence(problem, level);
  const std::vector<Node> before = stated_before(problem);
  Scheduler scheduler(problem, events, order.size(), order, precedence, false, before);
  WriterQueues queues(problem, events, order);
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < order.size(); ++i) {
    const Vertex v = order[i];
    const Node n = events.node_of(v);
    bool waits = precedence.missing(v, scheduler.happened()) != kNothing || scheduler.must_wait(v);
    if (events.write_conflict && events.reads(v))
      for (const WriteId write : problem.writes.of(n))
        waits |= queues.first_waiting(problem.writes.key[write], events, scheduler.happened()) != n;
    if (waits) places.push_back(i);
    scheduler.force(v);
  }
  return places;
}

std::optional<std::vector<uint32_t>> in_place(const Problem& problem, LevelId id,
                                              unsigned threads = 1) {
  const LevelInfo& level = level_info(id);
  return waiting_in_place(problem, level, by_times(problem, Events(level)), threads, Budget(),
                          stated_before(problem));
}

// With so many others behind them, of whom nobody waits.
std::vector<sample::Txn> followed(std::vector<sample::Txn> txns, size_t others) {
  for (size_t i = 0; i < others; ++i) {
    const auto begin = static_cast<int64_t>(1000 + 10 * i);
    txns.push_back({9, {w("other", static_cast<int>(i) + 1)}, kCommitted, begin, begin + 5});
  }
  return txns;
}

// The first comes too early for the other's read.
std::vector<sample::Txn> late_reader(size_t others) {
  return followed({{1, {w("x", 1)}, kCommitted, 1, 10}, {2, {r("x", kNull)}, kCommitted, 11, 12}},
                  others);
}

TEST(ReplayInPlace, NamesTheEventThatWaits) {
  const History h = make_history(late_reader(14));
  const Problem problem = make_problem(h);
  EXPECT_EQ(in_place(problem, session_serializable), (std::vector<uint32_t>{0}));
  EXPECT_EQ(in_place(problem, prefix), (std::vector<uint32_t>{1}));  // w(x,1), after its reads
}

TEST(ReplayInPlace, SaysNothingWhereManyWait) {
  const History h = make_history(late_reader(13));
  EXPECT_EQ(in_place(make_problem(h), session_serializable), std::nullopt);
}

TEST(ReplayInPlace, SaysNothingOnceTheBudgetHasRunOut) {
  const History h = make_history(late_reader(14));
  Budget spent(0, 1);
  ASSERT_TRUE(spent.exhausted_now());
  const Problem problem = make_problem(h);
  const LevelInfo& level = level_info(serializable);
  EXPECT_EQ(waiting_in_place(problem, level, by_times(problem, Events(level)), 1, spent),
            std::nullopt);
}

// By their times 0, 1, 2, 3; but 0 read from 1, so the writers of x are 1, 0, 2, and 2 has to wait
// for who read from 0.
TEST(ReplayInPlace, LooksAtEachEventOnceWritersHaveChangedPlaces) {
  const History h = make_history(followed({{1, {r("y", 1), w("x", 1)}, kCommitted, 1, 2},
                                           {2, {w("y", 1), w("x", 2)}, kCommitted, 3, 4},
                                           {3, {w("x", 3)}, kCommitted, 5, 6},
                                           {4, {r("x", 1)}, kCommitted, 7, 8}},
                                          60));
  const Problem problem = make_problem(h);
  EXPECT_EQ(in_place(problem, serializable), (std::vector<uint32_t>{0, 1}));
  Budget budget;
  const Schedule schedule = schedule_by_hint(problem, level_info(serializable), budget);
  EXPECT_TRUE(schedule.accepted);
  EXPECT_EQ(schedule.order, replay(problem, level_info(serializable)).order);
  EXPECT_EQ(std::vector<Vertex>(schedule.order.begin(), schedule.order.begin() + 4),
            (std::vector<Vertex>{1, 0, 3, 2}));
}

// What a sound database did: transactions of several sessions, some of them at the same time, each
// of which sees what had been committed when it began (`split`) or when it ended. No two write a
// key at the same time. `stated`: with the orders of all versions, some of which stand the other
// way round.
History sound_history(Rng& rng, bool split, size_t count, bool stated) {
  constexpr int kSessions = 6, kKeys = 60;
  struct Open {
    int64_t begin, end;
    sample::Txn txn;
  };
  std::vector<Open> all;
  int64_t now = 0, free[kSessions] = {};
  for (size_t i = 0; i < count; ++i) {
    const size_t session = rng.below(kSessions);
    const int64_t begin = std::max(now += 10, free[session]) + static_cast<int64_t>(i % 7) + 1;
    const int64_t end = begin + 2 + static_cast<int64_t>(rng.below(40));
    free[session] = end + 1;
    all.push_back({begin, end, {static_cast<int>(session), {}, kCommitted, begin, end}});
  }
  const auto view = [&](const Open& open) { return split ? open.begin : open.end; };
  struct Version {
    int64_t begin, end;
    int value;
  };
  std::vector<std::vector<Version>> versions(kKeys);
  std::ranges::sort(all, {}, &Open::end);
  int value = 0;
  for (Open& open : all) {
    for (int op = 0; op < 4; ++op) {
      const size_t key = rng.below(kKeys);
      const std::string name = "k" + std::to_string(key);
      std::vector<Version>& of_key = versions[key];
      const bool held = !of_key.empty() && of_key.back().end > open.begin;
      if (rng.below(2) == 0 && !held) {
        of_key.push_back({open.begin, open.end, ++value});
        open.txn.ops.push_back(w(name, value));
        continue;
      }
      auto seen = std::find_if(of_key.rbegin(), of_key.rend(),
                               [&](const Version& v) { return v.end < view(open); });
      if (!of_key.empty() && of_key.back().end == open.end) continue;  // its own
      open.txn.ops.push_back(seen == of_key.rend() ? r(name, kNull) : r(name, seen->value));
    }
  }
  std::vector<sample::Txn> txns;
  for (const Open& open : all) txns.push_back(open.txn);
  std::vector<sample::Stated> orders;
  for (size_t key = 0; stated && key < versions.size(); ++key) {
    sample::Stated& order = orders.emplace_back();
    order.key = "k" + std::to_string(key);
    for (const Version& v : versions[key]) order.values.push_back(v.value);
    if (order.values.size() > 1 && rng.chance(0.05)) std::swap(order.values[0], order.values[1]);
  }
  return make_history(txns, orders);
}

// Moves the guess for a few transactions to somewhere near.
void disturb(Problem& problem, Rng& rng, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Node n = static_cast<Node>(rng.below(problem.nodes()));
    const Node near = static_cast<Node>(std::min<uint64_t>(n + rng.below(9), problem.nodes() - 1));
    problem.hint.read_time[n] = problem.hint.read_time[near];
    int64_t& write_time = problem.hint.write_time[n];
    if (rng.below(2) == 0) write_time = problem.hint.write_time[near] + 1;
    write_time = std::max(write_time, problem.hint.read_time[n]);
  }
}

struct Replays {
  size_t accepted = 0, stuck = 0, few_wait = 0, none_wait = 0, many_wait = 0, threaded = 0;
};

void compare(const Problem& problem, LevelId id, Replays& found) {
  const LevelInfo& level = level_info(id);
  const Schedule plain = replay(problem, level);
  const std::vector<uint32_t> expected = waiting(problem, level);
  for (const unsigned threads : {1u, 2u, 5u}) {
    const auto places = in_place(problem, id, threads);
    EXPECT_EQ(places.value_or(expected), expected);
    EXPECT_TRUE(places || expected.size() * 64 >= plain.order.size());
    Budget effort(0, 0, uint64_t{1} << 40);
    const Schedule schedule = schedule_by_hint(problem, level, effort, {.threads = threads});
    EXPECT_EQ(schedule.order, plain.order);
    EXPECT_EQ(schedule.accepted, plain.accepted);
    EXPECT_EQ(effort.spent(), by_times(problem, Events(level)).size());
    if (threads > 1) continue;
    ++(places ? expected.empty() ? found.none_wait : found.few_wait : found.many_wait);
  }
  ++(plain.accepted ? found.accepted : found.stuck);
  found.threaded += problem.nodes() >= 1000;
}

TEST(ReplayInPlace, IsTheReplayForEveryNumberOfThreads) {
  Replays found;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Rng rng(seed);
    const bool stated = seed >= 16;
    for (const LevelId level : {prefix, session_si, adya_si, generalized_si, strong_si,
                                serializable, session_serializable, strict_serializable}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << level_info(level).name);
      const bool split = level_info(level).events == EventModel::split;
      const bool as_the_level = seed % 6 != 5;
      const History h =
          sound_history(rng, split == as_the_level, seed % 2 == 0 ? 1100 : 100, stated);
      Problem problem = make_problem(h);
      ASSERT_EQ(problem.found.bad_read.anomaly, Anomaly::none);
      disturb(problem, rng, seed % 4 * 2);
      compare(problem, level, found);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(found.accepted, 50u);
  EXPECT_GT(found.stuck, 10u);
  EXPECT_GT(found.none_wait, 10u);
  EXPECT_GT(found.few_wait, 20u);
  EXPECT_GT(found.many_wait, 10u);
  EXPECT_GT(found.threaded, 20u);
}

}  // namespace
}  // namespace assay::internal
