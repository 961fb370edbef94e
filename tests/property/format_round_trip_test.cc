// A history that is written in one format, read, written in another and read again has kept its
// verdicts, at every level, unless the loss of something that verdicts depend on was reported.
// Every pair of formats that can be written. ASSAY_HISTORIES sets how many histories.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/format.h"
#include "base/rng.h"
#include "cases.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using Outcomes = std::array<Outcome, kLevelCount>;

// Which verdicts must survive what was lost. An initial value that becomes a transaction's write
// does lose some: nothing says any more that it came first. Nor may the reads of a transaction be
// lost that turns out to have committed.
enum class Kept { all, without_time, none };

Kept kept(const std::vector<Loss>& losses) {
  static const std::set<std::string> kNames = {"keys, replaced by names",
                                               "keys, replaced by numbers",
                                               "values, replaced by numbers",
                                               "values, replaced by the ids of their writes",
                                               "metadata of the history",
                                               "metadata of transactions",
                                               "names of sessions",
                                               "names of transactions",
                                               "events",
                                               "timestamps of transactions"};
  // Without its empty transactions a history may be timed for the lack of any that is not.
  static const std::set<std::string> kTimes = {
      "transactions without operations", "transactions of unknown outcome that nothing read",
      "times of transactions", "ends of transactions of unknown outcome",
      "intervals within which transactions began or ended"};
  Kept result = Kept::all;
  for (const Loss& loss : losses) {
    if (kNames.contains(loss.what)) continue;
    if (!kTimes.contains(loss.what)) return Kept::none;
    result = Kept::without_time;
  }
  return result;
}

Outcomes verdicts(const History& history) {
  Outcomes outcomes;
  for (const Verdict& v : decide_levels(history, {}).verdicts)
    outcomes[static_cast<size_t>(v.level)] = v.outcome;
  return outcomes;
}

class FormatRoundTrip : public testing::Test {
 protected:
  FormatRoundTrip() : folder_(std::filesystem::temp_directory_path() / "assay-round-trip-XXXXXX") {
    std::string pattern = folder_.string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FormatRoundTrip() override { std::filesystem::remove_all(folder_); }

  struct Converted {
    History history;
    std::vector<Loss> losses;
  };

  // Written in a format and read again; nothing if the format can hold no such history.
  std::optional<Converted> through(const History& history, const FormatInfo& format) {
    const std::string name(format.name);
    std::string text;
    if (!format.directory) {
      auto losses = write_history_text(history, name, text);
      if (!losses.ok()) return std::nullopt;
      return read(read_history_text(text, name, {name}), *losses, text);
    }
    const std::filesystem::path path = folder_ / name;
    std::filesystem::remove_all(path);
    auto losses = write_history(history, path.string(), name);
    if (!losses.ok()) return std::nullopt;
    return read(read_history(path.string(), {name}), *losses, "");
  }

  static std::optional<Converted> read(Result<ReadResult> result, const std::vector<Loss>& losses,
                                       const std::string& text) {
    if (result.ok()) return Converted{std::move(result->history), losses};
    // Where something was lost, what is left may be no history of the format; nothing at all never
    // is.
    const bool nothing =
        result.error().message.find("no log in the directory") != std::string::npos;
    if (kept(losses) == Kept::all && !nothing)
      ADD_FAILURE() << result.error().to_string() << "\n" << text;
    return std::nullopt;
  }

  static bool agree(const Outcomes& before, const Outcomes& after, Kept kept, std::string& why) {
    for (const LevelInfo& level : default_levels()) {
      const bool timed = level.real_time != RealTime::none || level.id == LevelId::linearizable;
      if (timed && kept == Kept::without_time) continue;
      const auto at = static_cast<size_t>(level.id);
      if (before[at] == after[at]) continue;
      why = std::string(level.name) + ": " + std::string(outcome_name(before[at])) + ", then " +
            std::string(outcome_name(after[at]));
      return false;
    }
    return true;
  }

  std::filesystem::path folder_;
};

// The same with numbers for keys, which some formats need.
History with_numbers_for_keys(const History& history) {
  std::string text;
  if (!write_history_text(history, "assay", text).ok()) std::abort();
  for (const auto& [name, number] : {std::pair{"\"x\"", "0"}, {"\"y\"", "1"}, {"\"z\"", "2"}})
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      text.replace(at, 3, number);
  auto read = read_history_text(text, "numbers", {"assay"});
  if (!read.ok()) std::abort();
  return std::move(read->history);
}

TEST_F(FormatRoundTrip, KeepsVerdictsThroughEveryPair) {
  const uint64_t count = histories(50);
  Rng rng(rotated(11));
  std::map<std::string, uint64_t> compared;
  for (uint64_t i = 0; i < count && !HasFailure(); ++i) {
    RandomShape shape;
    shape.duplicates = 0.1;
    shape.drifting = 0;  // no property of a file
    if (i % 4 == 1) shape.lists = 1;
    if (i % 4 == 2) shape.rich = 1;
    if (i % 8 == 2) shape.predicates = 0.5;
    const Draft draft = random_draft(rng, shape);
    auto history = draft.history();
    if (!history.ok()) continue;
    if (i % 8 > 3) *history = with_numbers_for_keys(*history);
    const Outcomes original = verdicts(*history);
    for (const FormatInfo& first : all_formats()) {
      if (!first.writes) continue;
      const auto once = through(*history, first);
      if (!once) continue;
      const Outcomes now = verdicts(once->history);
      std::string why;
      const Kept still = kept(once->losses);
      if (still != Kept::none) {
        EXPECT_TRUE(agree(original, now, still, why)) << first.name << ": " << why << "\n"
                                                      << draft.text();
        ++compared[std::string(first.name)];
      }
      for (const FormatInfo& second : all_formats()) {
        if (!second.writes) continue;
        const auto twice = through(once->history, second);
        if (!twice || kept(twice->losses) == Kept::none) continue;
        EXPECT_TRUE(agree(now, verdicts(twice->history), kept(twice->losses), why))
            << first.name << " to " << second.name << ": " << why << "\n"
            << draft.text();
        ++compared[std::string(first.name) + " to " + std::string(second.name)];
      }
    }
  }
  for (const FormatInfo& first : all_formats())
    if (first.writes) {
      EXPECT_GT(compared[std::string(first.name)], 0u) << first.name;
    }
}

}  // namespace
}  // namespace assay::internal
