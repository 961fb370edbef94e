// The scenarios of `assay probe` on databases that are driven by SQL and by keys.
#include "collect/schedule/scenario.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "collect/run_id.h"
#include "collect/schedule/assemble.h"

namespace assay::internal::collect::schedule {
namespace {

Result<Performance> play(const Scenario& s, const Options& options, History* history = nullptr) {
  auto stage = Stage::open(s.file, options);
  if (!stage.ok()) return stage.error();
  auto played = (*stage)->play(s.file.permutations.front());
  if (!played.ok()) return played;
  auto assembled = assemble(s.file, *played, (*stage)->driver().describe());
  if (!assembled.ok()) return assembled.error();
  EXPECT_EQ(assembled->missed, std::vector<std::string>());
  if (history != nullptr) *history = std::move(assembled->history);
  return played;
}

TEST(Scenario, EachEndsAndIsObserved) {
  const auto scenarios = all_scenarios();
  ASSERT_TRUE(scenarios.ok()) << scenarios.error().to_string();
  EXPECT_EQ(scenarios->size(), 15u);
  for (const Scenario& s : *scenarios)
    for (const char* url : {"sqlite:", "simulated:read-committed", "simulated:strong-si"}) {
      History history;
      const auto played = play(s, {.databases = {url}, .isolation = {}}, &history);
      // Neither side of its update is a constant.
      if (s.name == "PMP write" && std::string_view(url) != "sqlite:") {
        ASSERT_FALSE(played.ok());
        EXPECT_EQ(played.error().kind, ErrorKind::bad_input);
        EXPECT_EQ(played.error().line, 9u);
        continue;
      }
      ASSERT_TRUE(played.ok()) << s.name << ": " << played.error().to_string();
      EXPECT_EQ(history.txn_count(), s.file.sessions.size()) << s.name << " on " << url;
    }
}

TEST(Scenario, WhatIsRefusedIsSaid) {
  const auto scenarios = all_scenarios();
  ASSERT_TRUE(scenarios.ok());
  for (const Scenario& s : *scenarios) {
    if (s.name != "P4") continue;
    for (const auto& [url, why] :
         {std::pair{"sqlite:", "SQLITE_BUSY"}, {"simulated:session-si", "conflict"}}) {
      const auto played = play(s, {.databases = {url}, .isolation = {}});
      ASSERT_TRUE(played.ok()) << played.error().to_string();
      ASSERT_EQ(refusals(*played).size(), 1u);
      EXPECT_NE(refusals(*played)[0].find(why), std::string::npos) << refusals(*played)[0];
    }
  }
}

// Else the next run would take it for one that is still going on.
TEST(Scenario, SaysInTheDatabaseThatItHasFinished) {
  const std::string file = testing::TempDir() + std::to_string(getpid()) + "-scenario.db";
  std::filesystem::remove(file);
  const auto scenarios = all_scenarios();
  ASSERT_TRUE(scenarios.ok());
  ASSERT_TRUE(play(scenarios->front(), {.databases = {"sqlite:" + file}, .isolation = {}}).ok());
  auto driver = open_driver({.url = "sqlite:" + file, .isolation = {}, .run = 1});
  ASSERT_TRUE(driver.ok());
  const Result<RunMark> left = (*driver)->prepared_by();
  ASSERT_TRUE(left.ok()) << left.error().to_string();
  EXPECT_NE(left->run, 0u);
  EXPECT_TRUE(left->finished);
  std::filesystem::remove(file);
}

TEST(Scenario, ADatabaseIsNeeded) {
  const auto scenarios = all_scenarios();
  ASSERT_TRUE(scenarios.ok());
  EXPECT_FALSE(play(scenarios->front(), {}).ok());
  EXPECT_FALSE(play(scenarios->front(), {.databases = {"nothing:"}, .isolation = {}}).ok());
}

TEST(Scenario, ItsHeadSaysWhatItShows) {
  const auto message = [](std::string_view text) {
    const auto s = scenario_of(text, "x.sql");
    return s.ok() ? s->name : s.error().to_string();
  };
  const std::string end = "/* a */ select 1;\n";
  EXPECT_EQ(message("-- P4: lost\n-- anomaly: lost-update\n-- level: adya-si\n" + end), "P4");
  EXPECT_EQ(message(end), "x.sql:1:1: no name; expected '-- NAME: what it shows'");
  EXPECT_EQ(message("-- P4: lost\n-- anomaly: gone\n" + end),
            "x.sql:2:1: no anomaly; expected '-- anomaly: NAME', such as lost-update");
  EXPECT_EQ(message("-- P4: lost\n-- anomaly: g0\n" + end),
            "x.sql:3:1: no level; expected '-- level: NAME', the weakest that is then violated");
}

}  // namespace
}  // namespace assay::internal::collect::schedule
