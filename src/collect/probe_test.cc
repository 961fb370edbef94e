#include "collect/probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "collect/driver.h"
#include "collect/run_id.h"

namespace assay::internal::collect {
namespace {

// A statement that waits for a lock is given up after that time.
PlayOptions on(std::string url, std::string isolation = {}, int milliseconds = 100) {
  PlayOptions options;
  options.databases = {std::move(url)};
  options.isolation = std::move(isolation);
  options.timeout = std::chrono::milliseconds(milliseconds);
  return options;
}

TEST(Probe, EveryScenarioEndsAndIsRecorded) {
  for (const Scenario& scenario : all_scenarios())
    for (const char* url : {"sqlite:", "simulated:read-committed", "simulated:strong-si"}) {
      const Result<bool> can = is_played(scenario, on(url));
      ASSERT_TRUE(can.ok()) << scenario.name;
      EXPECT_EQ(*can, scenario.sql.empty() || std::string_view(url) == "sqlite:") << scenario.name;
      if (!*can) continue;
      const auto played = play(scenario, on(url));
      ASSERT_TRUE(played.ok()) << scenario.name << ": " << played.error().to_string();
      std::set<char> begun;
      for (size_t i = 0; i + 1 < scenario.script.size(); ++i)
        if (scenario.script[i] == 'b' && (i == 0 || scenario.script[i - 1] == ' '))
          begun.insert(scenario.script[i + 1]);
      EXPECT_EQ(played->history.txn_count(), 1 + begun.size()) << scenario.name;
    }
}

TEST(Probe, WhatIsRefusedIsCountedAndSaid) {
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.name != "P4") continue;
    const auto played = play(scenario, on("sqlite:", "deferred", 10'000));
    ASSERT_TRUE(played.ok());
    EXPECT_EQ(played->aborted, 1u);
    EXPECT_NE(played->first_refusal.find("SQLITE_BUSY"), std::string::npos);
  }
}

// Else the next run would take the probe for one that is still going on.
TEST(Probe, SaysInTheDatabaseThatItHasFinished) {
  const std::string file = testing::TempDir() + std::to_string(getpid()) + "-probe.db";
  std::filesystem::remove(file);
  const PlayOptions options = on("sqlite:" + file);
  const auto mark = [&] {
    auto driver = open_driver({.url = options.databases.front(),
                               .isolation = {},
                               .timeout = options.timeout,
                               .seed = 1,
                               .tables = {},
                               .run = 1});
    return driver.ok() ? (*driver)->prepared_by() : Result<RunMark>(driver.error());
  };
  for (const Scenario& scenario : all_scenarios()) {
    ASSERT_TRUE(is_played(scenario, options).ok());
    ASSERT_TRUE(play(scenario, options).ok()) << scenario.name;
    const Result<RunMark> left = mark();
    ASSERT_TRUE(left.ok()) << left.error().to_string();
    EXPECT_NE(left->run, 0u);
    EXPECT_TRUE(left->finished) << scenario.name;
  }
  std::filesystem::remove(file);
}

TEST(Probe, ADatabaseIsNeeded) {
  EXPECT_FALSE(play(all_scenarios().front(), PlayOptions{}).ok());
  EXPECT_FALSE(play(all_scenarios().front(), on("nothing:")).ok());
}

}  // namespace
}  // namespace assay::internal::collect
