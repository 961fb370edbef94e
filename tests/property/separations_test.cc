// The pages of the levels show the smallest history for each level that is not implied, and
// tests/separations holds them. ASSAY_WRITE_SEPARATIONS=1 writes both anew.
#include "separations.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "checked.h"
#include "corpus.h"
#include "oracle/oracle.h"
#include "places.h"

namespace assay::internal {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot(places::kSource);
constexpr std::string_view kHeading = "## What it does not imply\n";

bool writing() { return std::getenv("ASSAY_WRITE_SEPARATIONS") != nullptr; }

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void expect_pages(const Separations& all) {
  for (const LevelInfo& level : all_levels()) {
    const fs::path path = kRoot / "docs" / "levels" / (std::string(level.name) + ".md");
    const std::string page = read_file(path);
    const std::string section = separations_section(all, level.id);
    const size_t begin = page.find(kHeading);
    if (writing()) {
      std::ofstream(path) << (begin == std::string::npos ? page + "\n" : page.substr(0, begin))
                          << section;
      continue;
    }
    ASSERT_NE(begin, std::string::npos) << path;
    EXPECT_EQ(page.substr(begin), section) << path;
  }
}

void expect_files(const Separations& all) {
  const fs::path folder = kRoot / "tests" / "separations";
  const auto files = separation_files(all);
  if (writing()) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const auto& [name, text] : files) std::ofstream(folder / name) << text;
  }
  const fs::directory_iterator there(folder);
  EXPECT_EQ(static_cast<size_t>(std::distance(begin(there), end(there))), files.size());
  for (const auto& [name, text] : files) EXPECT_EQ(read_file(folder / name), text) << name;
}

TEST(Separations, eachMissingArrowHasItsHistoryOnThePageAndInAFile) {
  const Separations all = all_separations();
  for (const LevelInfo& a : all_levels()) {
    for (const LevelInfo& b : all_levels()) {
      const bool found = all.smallest(a.id, b.id) != nullptr;
      const std::string why = inseparable(a.id, b.id);
      EXPECT_EQ(found, !implies(a.id, b.id) && why.empty()) << a.name << " and " << b.name;
    }
  }
  expect_pages(all);
  expect_files(all);
}

// Of the files as they are read, whatever wrote them.
TEST(Separations, areDecidedAndProved) {
  for (const CorpusFile& file : corpus_files("separations")) {
    EXPECT_EQ(file.mistakes, std::vector<std::string>{}) << file.path;
    const History history = read_corpus_file(file);
    for (CheckOptions way : ways_to_check()) {
      for (const LevelInfo& level : all_levels()) way.levels.push_back(level.id);
      std::string complaint;
      const oracle::Verdicts found = checked(history, &complaint, way);
      EXPECT_EQ(complaint, "") << file.path;
      for (const auto& [level, outcome] : file.verdicts) {
        EXPECT_EQ(outcome_name(found[static_cast<size_t>(level)]), outcome_name(outcome))
            << file.path << " " << level_info(level).name;
        EXPECT_EQ(outcome_name(oracle::decide(history, level)), outcome_name(outcome)) << file.path;
      }
    }
  }
}

}  // namespace
}  // namespace assay::internal
