// What the literature says about its example histories is what the checker says, and proves.
#include <gtest/gtest.h>

#include "checked.h"
#include "corpus.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

class CheckedCorpus : public testing::TestWithParam<CorpusFile> {};

TEST_P(CheckedCorpus, checkerAgreesWithTheSourceAndTheOracle) {
  const CorpusFile& file = GetParam();
  const History history = read_corpus_file(file);
  const oracle::Verdicts expected = oracle::decide_all(history);
  for (CheckOptions way : ways_to_check()) {
    for (const LevelInfo& level : default_levels()) way.levels.push_back(level.id);
    for (const auto& verdict : file.verdicts)
      if (level_info(verdict.first).on_request()) way.levels.push_back(verdict.first);
    std::string complaint;
    const oracle::Verdicts found = checked(history, &complaint, way);
    EXPECT_EQ(complaint, "");
    for (const auto& [level, outcome] : file.verdicts) {
      EXPECT_EQ(outcome_name(found[static_cast<size_t>(level)]), outcome_name(outcome))
          << level_info(level).name;
    }
    for (const LevelInfo& level : default_levels()) {
      EXPECT_EQ(outcome_name(found[static_cast<size_t>(level.id)]),
                outcome_name(expected[static_cast<size_t>(level.id)]))
          << level.name;
    }
  }
}

const auto kName = [](const auto& info) { return test_name(info.param); };

INSTANTIATE_TEST_SUITE_P(Literature, CheckedCorpus, testing::ValuesIn(corpus_files("corpus")),
                         kName);
INSTANTIATE_TEST_SUITE_P(Boundary, CheckedCorpus, testing::ValuesIn(corpus_files("boundary")),
                         kName);

}  // namespace
}  // namespace assay::internal
