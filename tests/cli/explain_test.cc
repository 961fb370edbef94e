// Explanations of real refutations: the names of built-in histories and of planted bugs, and that
// what is said is true of the history.
#include "explain/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "assay/format.h"
#include "cli/demo_histories.h"
#include "collect/generate.h"
#include "collect/sink.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

History from_text(std::string_view text) {
  auto read = read_history_text(text, "test", {"hist"});
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().to_string());
  return read.ok() ? std::move(read->history) : History();
}

std::vector<Explanation> explained(const History& h, std::vector<LevelId> levels = {}) {
  CheckOptions options;
  options.levels = std::move(levels);
  return explain(h, decide_levels(h, options));
}

std::vector<std::string> names(const History& h, const Explanation& e) {
  std::vector<std::string> out;
  for (const TxnId t : e.transactions) out.push_back(h.name(t));
  return out;
}

// Each violated level has exactly one explanation; cycles are closed; what is named exists.
void expect_sound(const History& h, const CheckResult& result,
                  const std::vector<Explanation>& found) {
  for (const Verdict& v : result.verdicts) {
    const auto has = [&](const Explanation& e) {
      return std::count(e.levels.begin(), e.levels.end(), v.level) == 1;
    };
    EXPECT_EQ(std::count_if(found.begin(), found.end(), has), v.outcome == Outcome::violated)
        << level_info(v.level).name;
  }
  for (const Explanation& e : found) {
    EXPECT_NE(e.anomaly, Anomaly::none);
    EXPECT_FALSE(e.transactions.empty());
    EXPECT_FALSE(e.sentences.empty());
    EXPECT_TRUE(std::is_sorted(e.transactions.begin(), e.transactions.end()));
    for (const TxnId t : e.transactions) EXPECT_LT(t, h.txn_count());
    std::vector<Arrow> cycle;
    for (const Arrow& a : e.arrows) {
      EXPECT_FALSE(a.because.empty());
      if (a.in_cycle) cycle.push_back(a);
    }
    for (size_t i = 0; i < cycle.size(); ++i)
      EXPECT_EQ(cycle[i].to, cycle[(i + 1) % cycle.size()].from);
  }
}

TEST(Explain, EveryAnomalyHasABuiltInHistory) {
  for (const AnomalyInfo& anomaly : all_anomalies()) {
    const auto shows = [&](const cli::DemoHistory& d) { return d.anomaly == anomaly.id; };
    const auto demos = cli::demo_histories();
    EXPECT_EQ(std::count_if(demos.begin(), demos.end(), shows), 1) << anomaly.name;
  }
}

TEST(Explain, EveryBuiltInHistoryGetsItsName) {
  for (const cli::DemoHistory& d : cli::demo_histories()) {
    const History h = from_text(d.text);
    const CheckResult result = decide_levels(h, {});
    const std::vector<Explanation> found = explain(h, result);
    if (d.anomaly ==
        Anomaly::duplicate_write) {  // named beside the verdicts, which it need not change
      EXPECT_EQ(result.duplicates.size(), 1u);
      continue;
    }
    ASSERT_FALSE(found.empty()) << anomaly_info(d.anomaly).name;
    EXPECT_EQ(anomaly_info(found[0].anomaly).name, anomaly_info(d.anomaly).name);
    EXPECT_EQ(found.size(), 1u) << anomaly_info(d.anomaly).name;
    expect_sound(h, result, found);
  }
}

// The weakest violated level names the anomaly, whether it was asked for or not.
TEST(Explain, TheNameDoesNotDependOnTheLevelsAskedFor) {
  for (const cli::DemoHistory& d : cli::demo_histories()) {
    if (d.anomaly == Anomaly::real_time_violation || d.anomaly == Anomaly::g_single ||
        d.anomaly == Anomaly::duplicate_write)
      continue;
    const History h = from_text(d.text);
    const auto found = explained(h, {LevelId::session_serializable});
    ASSERT_EQ(found.size(), 1u) << anomaly_info(d.anomaly).name;
    EXPECT_EQ(anomaly_info(found[0].anomaly).name, anomaly_info(d.anomaly).name);
    EXPECT_EQ(found[0].levels, std::vector<LevelId>{LevelId::session_serializable});
  }
}

// Levels that do not imply each other fail by one story, which is told once.
TEST(Explain, AStoryIsToldOnceForAllLevelsItRefutes) {
  std::vector<LevelId> every;
  for (const LevelInfo& level : all_levels()) every.push_back(level.id);
  for (const cli::DemoHistory& d : cli::demo_histories()) {
    const History h = from_text(d.text);
    CheckOptions options;
    options.levels = every;
    const CheckResult result = decide_levels(h, options);
    const std::vector<Explanation> found = explain(h, result);
    expect_sound(h, result, found);
    for (size_t i = 0; i < found.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(found[i].sentences == found[j].sentences && found[i].arrows == found[j].arrows)
            << anomaly_info(d.anomaly).name;
    if (d.anomaly == Anomaly::long_fork || d.anomaly == Anomaly::lost_update) {
      EXPECT_EQ(found.size(), 1u) << anomaly_info(d.anomaly).name;
    }
  }
}

TEST(Explain, ALostUpdateNamesTheWriterAndBothUpdaters) {
  const History h = from_text(
      "initial 0\ns1: { w(y,9) } { w(x,1) }\ns2: { r(x,1) w(x,2) } { r(y,9) }\ns3: { r(x,1) w(x,3) "
      "}\n");
  const auto found = explained(h);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(names(h, found[0]), (std::vector<std::string>{"s1-1", "s2-0", "s3-0"}));
  EXPECT_EQ(found[0].operations.size(), 5u);
  EXPECT_NE(found[0].sentences[0].find("both read x = 1 (written by s1-1)"), std::string::npos);
}

// What forces the order of two writers at a weak level is told with who saw what.
TEST(Explain, AForcedOrderComesWithItsReason) {
  const auto reason = [](std::string_view text, LevelId level) {
    const auto found = explained(from_text(text), {level});
    EXPECT_EQ(found.size(), 1u);
    std::string all;
    for (const Arrow& a : found[0].arrows) all += a.because + "\n";
    return all;
  };
  EXPECT_NE(reason("s1: { w(x,1) w(y,1) }\ns2: { w(x,2) w(y,2) }\ns3: { r(x,1) r(y,2) }\n",
                   LevelId::read_atomic)
                .find("s3-0 saw s2-0 (it read y = 2 of it), which wrote x = 2, and yet read x = 1 "
                      "of s1-0"),
            std::string::npos);
  EXPECT_NE(reason("s1: { w(x,1) } { r(x,2) }\ns2: { w(x,2) } { r(x,1) }\n", LevelId::read_atomic)
                .find("(earlier in its session)"),
            std::string::npos);
  EXPECT_NE(reason("s1: { w(x,1) } { w(y,1) }\ns2: { w(x,2) } { w(z,1) }\n"
                   "s3: { r(z,1) r(x,1) }\ns4: { r(y,1) r(x,2) }\n",
                   LevelId::causal)
                .find("(through s"),
            std::string::npos);
}

TEST(Explain, ALostUpdateOfTheInitialValueNamesTwo) {
  const History h = from_text("initial 0\ns1: { r(x,0) w(x,1) }\ns2: { r(x,0) w(x,2) }\n");
  const auto found = explained(h);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].anomaly, Anomaly::lost_update);
  EXPECT_EQ(found[0].transactions.size(), 2u);
}

// T2 reads x, then overwrites it, and T1's write in between was blind.
TEST(Explain, ABlindWriteCanBeLostToo) {
  const History h =
      from_text("initial 0\ns1: { w(x,1) }\ns2: { r(x,0) w(x,2) }\ns3: { r(x,1) } { r(x,2) }\n");
  const auto found = explained(h);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].anomaly, Anomaly::lost_update);
  EXPECT_NE(found[0].sentences[1].find("without having seen it"), std::string::npos);
}

TEST(Explain, LongDetoursAreCut) {
  // s1's write reaches the reader over one read; the session chain beside it is longer.
  const History h = from_text(
      "initial 0\ns1: { w(x,1) w(a,1) }\ns2: { r(a,1) w(b,1) }\ns3: { r(b,1) w(c,1) }\n"
      "s4: { r(c,1) w(d,1) }\ns5: { r(a,1) w(e,1) }\ns6: { r(d,1) r(e,1) r(x,0) }\n");
  const auto found = explained(h);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].anomaly, Anomaly::causality_violation);
  EXPECT_EQ(names(h, found[0]), (std::vector<std::string>{"s1-0", "s5-0", "s6-0"}));
}

TEST(Explain, AnAbortedReadHintsAtTheRecording) {
  const History h = from_text("s1: { w(x,1) }!\ns2: { r(x,1) }\n");
  const auto found = explained(h);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].hint.find("unknown"), std::string::npos);
}

TEST(Explain, NothingViolatedNothingSaid) {
  EXPECT_TRUE(explained(from_text("s1: { w(x,1) }\ns2: { r(x,1) }\n")).empty());
}

TEST(Explain, PlantedBugsGetTheirName) {
  for (const Anomaly bug : collect::all_bugs()) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      collect::GenerateOptions options;
      options.level = LevelId::strict_serializable;
      options.bug = bug;
      options.workload = collect::workload_for(bug);
      options.txns = 30;
      options.seed = seed;
      collect::HistorySink sink;
      ASSERT_TRUE(collect::generate(options, sink).ok());
      auto h = sink.take();
      ASSERT_TRUE(h.ok());
      const CheckResult result = decide_levels(*h, {});
      const auto found = explain(*h, result);
      const auto named = [&](const Explanation& e) { return e.anomaly == bug; };
      EXPECT_TRUE(std::any_of(found.begin(), found.end(), named))
          << anomaly_info(bug).name << " seed " << seed << " was called "
          << (found.empty() ? "nothing" : anomaly_info(found[0].anomaly).name);
      for (const Explanation& e : found) EXPECT_LE(e.transactions.size(), 6u);
      expect_sound(*h, result, found);
    }
  }
}

// The levels that nobody asked for are decided on the transactions of the counterexample, not on
// the history.
TEST(Explain, AWeakerLevelNamesTheAnomalyOfItsTransactions) {
  const History h = from_text(
      "initial 0\ns1: { w(z,1) } { w(x,1) w(y,1) }\ns2: { r(z,1) } { r(y,0) r(x,1) }\n"
      "s3: { r(z,1) r(x,1) }\n");
  const auto named = explained(h, {LevelId::serializable});
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].level, LevelId::read_atomic);
  EXPECT_EQ(named[0].anomaly, Anomaly::fractured_read);
  EXPECT_EQ(names(h, named[0]), (std::vector<std::string>{"s1-1", "s2-1"}));
  ASSERT_FALSE(named[0].arrows.empty());
  for (const Arrow& a : named[0].arrows) EXPECT_NE(h.key(a.key).to_string(), "z");
  for (const OpId op : named[0].operations)
    EXPECT_TRUE(h.txn_of(op) == named[0].transactions[0] ||
                h.txn_of(op) == named[0].transactions[1]);
}

// One level or all: the same name, of histories with one fault.
TEST(Explain, OneLevelAloneIsNamedAsAmongAll) {
  uint64_t compared = 0, same = 0;
  for (const Anomaly bug : collect::all_bugs()) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      collect::GenerateOptions options;
      options.level = LevelId::strict_serializable;
      options.bug = bug;
      options.workload = collect::workload_for(bug);
      options.txns = 30;
      options.seed = seed;
      collect::HistorySink sink;
      ASSERT_TRUE(collect::generate(options, sink).ok());
      const auto h = sink.take();
      const auto all = explained(*h);
      for (const LevelId level : {LevelId::session_serializable, LevelId::strict_serializable}) {
        const auto alone = explained(*h, {level});
        const Explanation* among = find_explanation(all, level);
        ASSERT_EQ(among == nullptr, alone.empty());
        if (among == nullptr) continue;
        ++compared;
        same += alone[0].anomaly == among->anomaly;
        EXPECT_EQ(alone[0].anomaly, among->anomaly)
            << anomaly_info(bug).name << " seed " << seed << ", " << level_info(level).name
            << " alone: " << anomaly_info(alone[0].anomaly).name;
      }
    }
  }
  EXPECT_GT(compared, 30u);
  EXPECT_EQ(same, compared);
}

}  // namespace
}  // namespace assay::internal
