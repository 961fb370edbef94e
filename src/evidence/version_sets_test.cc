#include "evidence/version_sets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/rng.h"

namespace assay::internal::evidence {
namespace {

using collect::Step;
using collect::TxnRecord;

Step query(std::string where, std::string snapshot) {
  Step step;
  step.request.kind = OpKind::range;
  step.request.where = std::move(where);
  step.reply.snapshot = std::move(snapshot);
  return step;
}

Step writes(int64_t key, int64_t value) {
  Step step;
  step.request = {.kind = OpKind::write, .key = Value::of(key), .value = Value::of(value)};
  return step;
}

TxnRecord txn(uint64_t number, std::vector<Step> steps) {
  TxnRecord record;
  record.session = 3;
  record.number = number;
  record.steps = std::move(steps);
  return record;
}

// Transactions of a log, and what they wrote.
class Given {
 public:
  Given& add(const std::string& name, const std::string& xid,
             const std::vector<std::pair<int64_t, std::optional<int64_t>>>& writes) {
    for (const auto& [key, value] : writes) {
      auto at = std::ranges::find_if(keys_, [&, k = key](const OrderedVersions& one) {
        return one.order.key == Value::of(k);
      });
      if (at == keys_.end())
        at = keys_.insert(at, OrderedVersions{.order = {Value::of(key), {}}, .writers = {}});
      at->order.entries.push_back({value ? Value::of(*value) : Value(), name});
      at->writers.push_back(static_cast<uint32_t>(log_.size()));
    }
    log_.push_back({name, xid});
    return *this;
  }

  // The events, one after the other, less what all of them begin with.
  std::string passed(VersionSets& sets, uint64_t most = VersionSets::kMostVersions) {
    std::string all;
    stated_ = sets.write(
        keys_, log_,
        [&](const std::string& event) {
          constexpr std::string_view kStart = R"({"event":"passed","txn":)";
          EXPECT_TRUE(event.starts_with(kStart)) << event;
          all += (all.empty() ? "" : " ") + event.substr(kStart.size());
        },
        most);
    return all;
  }
  // What the only query of one transaction passed over.
  std::string passed(std::vector<Step> steps) {
    VersionSets sets;
    sets.ended(txn(17, std::move(steps)));
    return passed(sets);
  }
  uint64_t stated() const { return stated_; }

 private:
  std::vector<OrderedVersions> keys_;
  std::vector<LoggedName> log_;
  uint64_t stated_ = 0;
};

TEST(VersionSets, TheLastVersionThatTheSnapshotShows) {
  Given log;
  log.add("1-0", "739", {{7, 12}}).add("2-0", "741", {{7, 5}, {8, 5}});
  EXPECT_EQ(log.passed({query("value < 9", "740:742:741")}),
            R"("3-17","op":0,"versions":[[7,1],[8,0]]})");
  EXPECT_EQ(log.passed({query("value < 9", "739:742:739,741")}),
            R"("3-17","op":0,"versions":[[7,0],[8,0]]})");
  EXPECT_EQ(log.passed({writes(9, 1), query("value > 9", "742:742:")}),
            R"("3-17","op":1,"versions":[[7,2]]})");
}

// The query returned them, or nothing depends on them.
TEST(VersionSets, NothingIsSaidOfRowsThatMatterToNothing) {
  Given log;
  log.add("1-0", "739", {{7, 12}}).add("2-0", "741", {{7, 5}, {8, 50}});
  EXPECT_EQ(log.passed({query("value < 9", "742:742:")}), "");
  EXPECT_EQ(log.stated(), 1u);
  Step bounded = query("value < 99", "739:739:");
  bounded.request.key = Value::of(int64_t{8});
  EXPECT_EQ(log.passed({bounded}), R"("3-17","op":0,"versions":[[8,0]]})");
  // A comparison of an integer with a text is open, so the row may have been returned.
  EXPECT_EQ(log.passed({query("value < 'a'", "742:742:")}), "");
}

TEST(VersionSets, ADeletedRowIsAVersion) {
  Given log;
  log.add("1-0", "739", {{7, 5}})
      .add("2-0", "741", {{7, std::nullopt}})
      .add("2-1", "743", {{7, 6}});
  EXPECT_EQ(log.passed({query("value < 9", "742:742:")}), R"("3-17","op":0,"versions":[[7,2]]})");
}

// Its own writes lie over the snapshot, also of a key that others wrote.
TEST(VersionSets, OwnWritesAreNotOfTheSnapshot) {
  Given log;
  log.add("1-0", "739", {{7, 12}, {8, 12}})
      .add("2-0", "740", {{8, 13}})
      .add("3-17", "741", {{7, 5}, {8, 5}});
  // Written before the query: what it saw there is known. Written after it: the version before.
  EXPECT_EQ(log.passed({writes(7, 5), query("value < 9", "742:742:"), writes(8, 5)}),
            R"("3-17","op":1,"versions":[[8,2]]})");
  EXPECT_EQ(log.passed({query("value < 9", "740:742:740"), writes(7, 5), writes(8, 5)}),
            R"("3-17","op":0,"versions":[[7,1],[8,1]]})");
}

TEST(VersionSets, OnlyQueriesWithConditionsAndSnapshots) {
  Given log;
  log.add("1-0", "739", {{7, 12}}).add("2-0", "741", {{7, 5}});
  Step found = query("value < 9", "740:740:"), all = query("", "740:740:"),
       aggregate = query("value < 9", "740:740:");
  found.request.found = true;
  aggregate.request.aggregate = AggregateFunction::count;
  for (const Step& step : {found, all, aggregate, query("value < 9", ""), query("value < 9", "740"),
                           query("value <", "740:740:")})
    EXPECT_EQ(log.passed({step}), "");
  VersionSets sets;
  TxnRecord aborted = txn(1, {query("value < 9", "740:740:")});
  aborted.status = TxnStatus::aborted;
  sets.ended(aborted);
  EXPECT_EQ(log.passed(sets), "");
}

// Of a query that the log contradicts, and of all where numbers may be those of others, nothing is
// known.
TEST(VersionSets, NothingOfWhatIsNotCertain) {
  const auto steps = [] { return std::vector{query("value < 9", "739:742:739")}; };
  Given hidden;
  hidden.add("1-0", "739", {{7, 12}}).add("2-0", "741", {{7, 13}}).add("2-1", "743", {{7, 5}});
  EXPECT_EQ(hidden.passed(steps()), "");
  EXPECT_EQ(hidden.stated(), 0u);
  Given later;
  later.add("1-0", "742", {{7, 12}}).add("2-0", "741", {{7, 13}}).add("2-1", "743", {{7, 5}});
  EXPECT_EQ(later.passed(steps()), "");
  Given twice;
  twice.add("1-0", "738", {{7, 12}}).add("2-0", "738", {{7, 5}});
  EXPECT_EQ(twice.passed(steps()), "");
  for (const char* xid : {"", "x", "2147484393", "4294967296"}) {
    Given unknown;
    unknown.add("1-0", "738", {{7, 12}}).add("2-0", xid, {{8, 5}});
    EXPECT_EQ(unknown.passed(steps()), "") << xid;
  }
  Given fine;
  fine.add("1-0", "738", {{7, 12}}).add("2-0", "743", {{7, 5}});
  EXPECT_EQ(fine.passed(steps()), R"("3-17","op":0,"versions":[[7,1]]})");
  EXPECT_EQ(
      fine.passed({query("value < 9", "742:742:"), query("value < 9", "2000000000:2000000001:")}),
      "");
}

TEST(VersionSets, TheyDoNotGrowWithoutBound) {
  Given log;
  log.add("1-0", "739", {{7, 12}}).add("2-0", "741", {{7, 5}});
  VersionSets sets;
  for (uint64_t i = 0; i < 5; ++i) sets.ended(txn(i, {query("value < 9", "740:740:")}));
  EXPECT_EQ(sets.queries(), 5u);
  log.passed(sets, 3);
  EXPECT_EQ(log.stated(), 3u);
}

// Against the rule itself, on random logs and snapshots of a server that gives each its number when
// it first writes, and whose rows are locked until their writer ends.
TEST(VersionSets, AgreeWithTheVisibilityRule) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    struct Open {
      uint64_t xid;
      std::map<int64_t, int64_t> writes;
    };
    uint64_t next = 700 + (uint64_t{1} << 32) * rng.below(3) + (rng.chance(0.2) ? 0xFFFFFD30 : 0);
    std::vector<Open> open;
    std::vector<std::pair<uint64_t, std::map<int64_t, int64_t>>> committed;
    std::set<int64_t> locked;
    Given log;
    VersionSets sets;
    std::vector<std::string> expected;
    std::vector<std::pair<uint64_t, std::string>> snapshots;
    std::vector<std::set<uint64_t>> ended_before;
    std::set<uint64_t> ended;
    for (int step = 0; step < 60; ++step) {
      const double what = rng.chance(0.5) ? 0 : rng.chance(0.6) ? 1 : 2;
      if (what == 0) {
        const int64_t key = static_cast<int64_t>(rng.below(5));
        if (locked.contains(key)) continue;
        locked.insert(key);
        if (open.empty() || rng.chance(0.4)) open.push_back({next++, {}});
        open[rng.below(open.size())].writes[key] = static_cast<int64_t>(rng.below(20));
      } else if (what == 1 && !open.empty()) {
        const size_t i = rng.below(open.size());
        for (const auto& [key, value] : open[i].writes) locked.erase(key);
        ended.insert(open[i].xid);
        if (rng.chance(0.8)) committed.emplace_back(open[i].xid, open[i].writes);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        std::vector<uint64_t> running;
        for (const Open& one : open) running.push_back(one.xid);
        std::ranges::sort(running);
        std::string text;
        for (const uint64_t xid : running) text += (text.empty() ? "" : ",") + std::to_string(xid);
        snapshots.emplace_back(
            next, fmt::format("{}:{}:{}", running.empty() ? next : running[0], next, text));
        ended_before.push_back(ended);
      }
    }
    for (size_t i = 0; i < committed.size(); ++i) {
      std::vector<std::pair<int64_t, std::optional<int64_t>>> writes(committed[i].second.begin(),
                                                                     committed[i].second.end());
      log.add(fmt::format("1-{}", i), std::to_string(committed[i].first & UINT32_MAX), writes);
    }
    for (size_t q = 0; q < snapshots.size(); ++q) {
      sets.ended(txn(q, {query("value < 10", snapshots[q].second)}));
      std::string rows;
      // Keys in the order in which the log names them first.
      std::vector<int64_t> keys;
      for (const auto& [xid, writes] : committed)
        for (const auto& [key, value] : writes)
          if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
      for (const int64_t key : keys) {
        size_t count = 0, seen = 0;
        int64_t holds = 99;
        bool ever = false;
        for (const auto& [xid, writes] : committed) {
          const auto at = writes.find(key);
          if (at == writes.end()) continue;
          ++count;
          ever = ever || at->second < 10;
          if (!ended_before[q].contains(xid)) continue;
          seen = count;
          holds = at->second;
        }
        if (ever && holds >= 10)
          rows += fmt::format("{}[{},{}]", rows.empty() ? "" : ",", key, seen);
      }
      if (!rows.empty())
        expected.push_back(fmt::format(R"("3-{}","op":0,"versions":[{}]}})", q, rows));
    }
    EXPECT_EQ(log.passed(sets), fmt::format("{}", fmt::join(expected, " "))) << round;
    EXPECT_EQ(log.stated(), snapshots.size());
  }
}

}  // namespace
}  // namespace assay::internal::evidence
