// Levels of files: random definitions and random histories, the checker compared with the oracle,
// which reads the row's words by itself; and a row of the table written as a file with that row.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "assay/check.h"
#include "assay/format.h"
#include "assay/verify.h"
#include "cases.h"
#include "checked.h"
#include "formats/level_definition.h"
#include "history/level_words.h"
#include "levels/walk.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using formats::DefinedLevel;

DefinedLevel parsed(const std::string& text) {
  auto level = formats::parse_level_definition(text, "level.toml");
  EXPECT_TRUE(level.ok()) << text << (level.ok() ? "" : level.error().to_string());
  return level.ok() ? *level : nullptr;
}

// Some of `all`, at least one and at most four, in any order.
std::string some_of(Rng& rng, std::vector<std::string> all, std::string first = "") {
  std::string list = first.empty() ? "" : "\"" + first + "\"";
  for (size_t count = 1 + rng.below(std::min<size_t>(3, all.size())); count > 0; --count) {
    const size_t at = rng.below(all.size());
    list += (list.empty() ? "\"" : ", \"") + all[at] + "\"";
    all.erase(all.begin() + static_cast<ptrdiff_t>(at));
  }
  return "[" + list + "]";
}

std::string weak_definition(Rng& rng) {
  std::string seen = some_of(rng, {"s", "r", "rs", "sr", "rr", "rsr"});
  const bool closed = rng.chance(0.15);
  if (closed) seen = R"(["s", "r"])";
  std::string text = "events = \"weak\"\nseen = " + seen + "\n";
  if (seen.find('s') != seen.npos || rng.chance(0.5)) text += "session-order = true\n";
  const bool repeated = closed && rng.chance(0.5);
  if (repeated) text += "repeated = true\n";
  if (seen == R"(["r"])" && rng.chance(0.5)) return text + "earlier-reads = true\n";
  if (repeated || rng.chance(0.5)) text += "repeatable = true\n";
  return text;
}

std::string adya_definition(Rng& rng) {
  if (rng.chance(0.1)) return "events = \"adya\"\nforbidden = [\"wrap\"]\n";
  if (rng.chance(0.1)) return "events = \"adya\"\nforbidden = [\"wr\"]\n";
  return "events = \"adya\"\nforbidden = " + some_of(rng, {"w+a", "wr+ap", "wrap+a"}, "wr") + "\n";
}

std::string ordered_definition(Rng& rng) {
  const bool split = rng.chance(0.6);
  std::string text = split ? "events = \"split\"\n" : "events = \"single\"\n";
  if (rng.chance(0.5)) text += "session-order = true\n";
  if (split && rng.chance(0.5)) text += "write-conflict = true\n";
  if (rng.chance(0.3))
    text += std::string("real-time = \"") +
            (!split            ? "transactions"
             : rng.chance(0.5) ? "into-commits"
                               : "all-but-begins") +
            "\"\n";
  return text;
}

struct Counts {
  uint64_t satisfied = 0, violated = 0, unknown = 0;
};

// Decided, verified as a file of certificates that carries the definition, and compared.
void expect_agreement(const std::string& text, History history, const CheckOptions& how,
                      Counts& counts) {
  const DefinedLevel level = parsed("name = \"mine\"\n" + text);
  ASSERT_NE(level, nullptr);
  EXPECT_EQ(level_definition(*parsed(level_definition(*level))), level_definition(*level));
  history.define_level(level);
  const CheckResult result = decide_levels(history, how);
  const Verdict* verdict = result.find(LevelId::defined);
  ASSERT_NE(verdict, nullptr);
  const Outcome expected = oracle::decide(history, LevelId::defined, nullptr);
  const auto shown = [&] {
    std::string hist;
    return text + (write_history_text(history, "hist", hist).ok() ? hist : "") + verdict->reason;
  };
  ++(verdict->outcome == Outcome::satisfied  ? counts.satisfied
     : verdict->outcome == Outcome::violated ? counts.violated
                                             : counts.unknown);
  if (verdict->outcome == Outcome::unknown) {
    EXPECT_NE(verdict->cause, UnknownCause::internal) << shown();
    return;
  }
  if (expected != Outcome::unknown) {
    EXPECT_EQ(verdict->outcome, expected) << shown();
  }
  if (level->events == EventModel::adya && verdict->outcome == Outcome::satisfied) {
    EXPECT_NE(oracle::decide_with_known_orders(history, LevelId::defined), Outcome::violated)
        << shown();
  }
  const Certificate& proof = result.certificates[verdict->certificate];
  const CertificateFile file{history.content_hash(), {proof}, history.clock_drift(), level};
  history.define_level(nullptr);
  EXPECT_FALSE(verify(proof, history).ok());
  const auto read = read_certificates(write_certificates(file, history), history, "certificate");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  history.define_level(read->defined_level);
  const Status verified = verify(read->certificates.at(0), history);
  EXPECT_TRUE(verified.ok()) << shown() << (verified.ok() ? "" : verified.error().to_string());
}

template <class Define>
Counts expect_agreement(uint64_t seed, uint64_t count, const RandomShape& shape, Define define) {
  Rng rng(rotated(seed));
  Counts counts;
  for (uint64_t done = 0; done < count && !testing::Test::HasFailure();) {
    auto history = random_draft(rng, shape).history();
    if (!history.ok()) continue;
    ++done;
    CheckOptions how = random_way(rng);
    how.levels = {LevelId::defined};
    if (rng.chance(0.3)) how.levels = {LevelId::causal, LevelId::serializable, LevelId::defined};
    expect_agreement(define(rng), std::move(*history), how, counts);
  }
  return counts;
}

TEST(DefinedLevels, WordsAgreeWithTheOracle) {
  const Counts counts = expect_agreement(81, histories(20'000), {}, weak_definition);
  EXPECT_GT(counts.satisfied, counts.violated / 10);
  EXPECT_GT(counts.violated, counts.satisfied / 10);
  EXPECT_EQ(counts.unknown, 0u);
  expect_agreement(82, histories(4'000), {.duplicates = 0.5, .lists = 0.2, .rich = 0.4},
                   weak_definition);
  expect_agreement(83, histories(2'000), {.duplicates = 0.2, .rich = 1, .predicates = 0.5},
                   weak_definition);
}

TEST(DefinedLevels, ForbiddenCyclesAgreeWithTheOracle) {
  const Counts counts =
      expect_agreement(84, histories(10'000), {.lists = 0.3, .ordered = 0.9}, adya_definition);
  EXPECT_GT(counts.satisfied, counts.violated / 10);
  EXPECT_GT(counts.violated, counts.satisfied / 10);
  EXPECT_GT(counts.violated + counts.satisfied, counts.unknown);
  expect_agreement(85, histories(3'000),
                   {.duplicates = 0.2, .rich = 1, .predicates = 0.5, .ordered = 0.9, .loose = 0.3},
                   adya_definition);
}

TEST(DefinedLevels, OrdersOfEventsAgreeWithTheOracle) {
  const Counts counts = expect_agreement(86, histories(20'000), {.timed = 0.9}, ordered_definition);
  EXPECT_GT(counts.satisfied, counts.violated / 10);
  EXPECT_GT(counts.violated, counts.satisfied / 10);
  expect_agreement(87, histories(4'000), {.duplicates = 0.5, .lists = 0.2, .rich = 0.4},
                   ordered_definition);
}

// The file says what the table says.
TEST(DefinedLevels, ARowOfTheTableIsDecidedAlike) {
  Rng rng(rotated(88));
  for (uint64_t done = 0; done < histories(2'000);) {
    auto history = random_draft(rng, {.ordered = 0.5}).history();
    if (!history.ok()) continue;
    ++done;
    for (const LevelInfo& row : all_levels()) {
      if (row.single_operations || row.id == LevelId::pl_1 || row.events == EventModel::statements)
        continue;
      LevelInfo mine = row;
      mine.name = "mine";
      history->define_level(parsed(level_definition(mine)));
      CheckOptions how;
      how.levels = {row.id, LevelId::defined};
      const CheckResult result = decide_levels(*history, how);
      const Outcome own = result.find(row.id)->outcome;
      const Outcome defined = result.find(LevelId::defined)->outcome;
      // What other levels share with it may decide a row of the table.
      if (row.events != EventModel::adya ||
          (own != Outcome::unknown && defined != Outcome::unknown)) {
        EXPECT_EQ(defined, own) << row.name;
      }
    }
  }
}

}  // namespace
}  // namespace assay::internal
