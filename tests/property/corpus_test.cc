// What the literature says about its example histories is what the oracle says.
#include "corpus.h"

#include <gtest/gtest.h>

#include <array>

#include "assay/format.h"
#include "oracle/enumerate.h"
#include "oracle/oracle.h"
#include "oracle/selftest.h"

namespace assay::internal {
namespace {

class Corpus : public testing::TestWithParam<CorpusFile> {};

TEST_P(Corpus, oracleAgreesWithTheSource) {
  const CorpusFile& file = GetParam();
  for (const std::string& mistake : file.mistakes) ADD_FAILURE() << mistake;
  const History history = read_corpus_file(file);
  for (const auto& [level, expected] : file.verdicts) {
    EXPECT_EQ(outcome_name(oracle::decide(history, level)), outcome_name(expected))
        << level_info(level).name;
  }
}

TEST_P(Corpus, liesWhereItsStrongestLevelSays) {
  const CorpusFile& file = GetParam();
  if (file.boundary) return;
  const oracle::Verdicts verdicts = oracle::decide_all(read_corpus_file(file));
  EXPECT_EQ(oracle::broken_lattice(verdicts), "");
  std::vector<LevelId> satisfied;
  for (const LevelInfo& level : default_levels()) {
    if (verdicts[static_cast<size_t>(level.id)] == Outcome::satisfied)
      satisfied.push_back(level.id);
  }
  bool right = satisfied.empty() && file.directory == "none";
  for (const LevelId level : strongest(satisfied))
    right |= level_info(level).name == file.directory;
  EXPECT_TRUE(right) << file.path;
}

const auto kCorpusName = [](const auto& info) { return test_name(info.param); };

INSTANTIATE_TEST_SUITE_P(Literature, Corpus, testing::ValuesIn(corpus_files("corpus")),
                         kCorpusName);
INSTANTIATE_TEST_SUITE_P(Boundary, Corpus, testing::ValuesIn(corpus_files("boundary")),
                         kCorpusName);

// The cases of Clark et al., Bringing Order to Practical Validation of Database Isolation Levels.
// Those whose predicate could as well be a range of keys are here in both forms. E26 is about the
// workload (tests/cli/cases/check-unique-values.case), N1 to N7 about expected orders
// (tests/cli/cases/check-expected-order-enne.case); what the paper says of times is in
// check-expected-order-emme.case there.
TEST(Literature, hasEveryCaseOfEmmeAndKingCobra) {
  std::vector<std::string> missing;
  for (const char* name : {"emme-e1-",
                           "emme-e2-condition",
                           "emme-e2-range",
                           "emme-e1-condition-phantom",
                           "emme-e3-condition-between",
                           "emme-e3-range-between",
                           "emme-e3-version-set",
                           "emme-e4-",
                           "emme-e5-",
                           "emme-e6-condition-skew",
                           "emme-e12-condition-delete",
                           "emme-e13-condition-fractured",
                           "emme-e14-",
                           "emme-e15-",
                           "emme-e19-condition-update",
                           "emme-e6-",
                           "emme-e7-",
                           "emme-e8-",
                           "emme-e9-",
                           "emme-e10-",
                           "emme-e11-",
                           "emme-e12-",
                           "emme-e13-",
                           "emme-e16-",
                           "emme-e17-",
                           "emme-e18-",
                           "emme-e19-",
                           "emme-e20-",
                           "emme-e21-",
                           "emme-e22-",
                           "emme-e23-",
                           "emme-e24-",
                           "emme-e25-internal",
                           "emme-e25-non-repeatable",
                           "king-cobra-k1",
                           "king-cobra-k1-known",
                           "king-cobra-k1-known-reversed",
                           "king-cobra-k2",
                           "king-cobra-k2-known",
                           "king-cobra-k2-known-reversed",
                           "king-cobra-k2-discarded",
                           "king-cobra-k3"}) {
    const std::string_view wanted(name);
    bool found = false;
    for (const CorpusFile& file : corpus_files("corpus"))
      found |= wanted.ends_with('-') ? file.name.starts_with(wanted) : file.name == wanted;
    if (!found) missing.emplace_back(wanted);
  }
  EXPECT_EQ(missing, std::vector<std::string>{});
}

size_t operations(const Draft& draft) {
  size_t count = 0;
  for (const auto& txn : draft.txns) count += txn.ops.size();
  return count;
}

// Large enough for every arrow of the lattice, small enough to be searched whole.
oracle::Bounds bounds(bool timed) {
  return {
      .sessions = 3, .txns = 2, .ops = 2, .keys = 2, .total_ops = timed ? 3 : 4, .timed = timed};
}

TEST(Boundary, everyArrowHasItsSmallestHistory) {
  for (const LevelInfo& strong : default_levels()) {
    // Not defined where strict serializability could differ from it.
    if (strong.id == LevelId::linearizable) continue;
    for (const LevelId weak : next_weaker(strong.id)) {
      if (level_info(weak).on_request()) continue;
      const std::pair arrow(strong.id, weak);
      size_t size = 0;
      for (const CorpusFile& file : corpus_files("boundary")) {
        if (file.boundary != arrow) continue;
        const History h = read_corpus_file(file);
        EXPECT_EQ(oracle::decide(h, strong.id), Outcome::violated) << file.path;
        EXPECT_EQ(oracle::decide(h, weak), Outcome::satisfied) << file.path;
        size = h.op_count();
      }
      ASSERT_NE(size, 0u) << strong.name << " over " << level_info(weak).name;
      oracle::enumerate(bounds(strong.real_time != RealTime::none), [&](const Draft& draft) {
        if (operations(draft) >= size) return false;
        const auto h = draft.history();
        EXPECT_FALSE(oracle::decide(*h, weak) == Outcome::satisfied &&
                     oracle::decide(*h, strong.id) == Outcome::violated)
            << strong.name << "\n"
            << draft.text();
        return true;
      });
    }
  }
}

// Arrows from or to levels that are decided on request: a history each, where there can be one.
TEST(Boundary, everyArrowOfTheLevelsOnRequestHasAHistory) {
  for (const LevelInfo& strong : all_levels()) {
    for (const LevelId weak : next_weaker(strong.id)) {
      if (!strong.on_request() && !level_info(weak).on_request()) continue;
      const std::pair arrow(strong.id, weak);
      // They differ only in what is known of the version order.
      if (arrow == std::pair(LevelId::serializable, LevelId::pl_3)) continue;
      bool found = false;
      for (const CorpusFile& file : corpus_files("boundary")) {
        if (file.boundary != arrow) continue;
        const History h = read_corpus_file(file);
        EXPECT_EQ(oracle::decide(h, strong.id), Outcome::violated) << file.path;
        EXPECT_EQ(oracle::decide(h, weak), Outcome::satisfied) << file.path;
        found = true;
      }
      EXPECT_TRUE(found) << strong.name << " over " << level_info(weak).name;
    }
  }
}

using Separated = std::array<std::array<bool, kLevelCount>, kLevelCount>;

void note(const oracle::Verdicts& v, Separated& separated) {
  for (size_t a = 0; a < kLevelCount; ++a) {
    for (size_t b = 0; b < kLevelCount; ++b) {
      separated[a][b] |= v[a] == Outcome::satisfied && v[b] == Outcome::violated;
    }
  }
}

// A level implies another in the table only if it does, and does not only if some history shows it.
TEST(Boundary, theLatticeHasAllItsArrowsAndNoOther) {
  Separated separated{};  // the first satisfied, the second violated
  oracle::Bounds search{.sessions = 4, .txns = 2, .ops = 2, .keys = 2, .total_ops = 4};
  const auto visit = [&](const Draft& draft) {
    if (!search.timed || draft.txns.size() <= 3)
      note(oracle::decide_all(*draft.history()), separated);
    return true;
  };
  oracle::enumerate(search, visit);
  search.timed = true;
  oracle::enumerate(search, visit);

  // Commits in real time respect sessions, so only equal clock readings can show generalized SI to
  // be no kind of read committed: a session reads what it writes next.
  const auto equal_times =
      read_history_text("s: @[5,5] { r(x,1) } @[5,5] { w(x,1) }", "equal times", {.from = "hist"});
  ASSERT_TRUE(equal_times.ok());
  note(oracle::decide_all(equal_times->history), separated);

  // Where linearizable is defined, each of these suffices for it.
  const auto suffices = [](const LevelInfo& a, const LevelInfo& b) {
    return b.id == LevelId::linearizable &&
           (a.real_time == RealTime::transactions || a.real_time == RealTime::all_but_begins);
  };
  for (const LevelInfo& a : default_levels()) {
    for (const LevelInfo& b : default_levels()) {
      EXPECT_EQ(separated[static_cast<size_t>(a.id)][static_cast<size_t>(b.id)],
                !implies(a.id, b.id) && !suffices(a, b))
          << a.name << " and " << b.name;
    }
  }
}

}  // namespace
}  // namespace assay::internal
