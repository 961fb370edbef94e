// Histories recorded elsewhere, with the verdicts that others gave or that were found by hand.
// Skipped where they are not at hand: they are not ours to ship (formats/shared_data.h). Parts that
// are ours are in tests/recorded.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "assay/audit.h"
#include "assay/format.h"
#include "assay/verify.h"
#include "formats/jepsen_tally.h"
#include "formats/shared_data.h"
#include "levels/tally_rules.h"
#include "levels/walk.h"
#include "places.h"

namespace assay::internal {
namespace {

struct Expected {
  std::string path;
  LevelId level;
  Outcome outcome;
};

class Recorded : public testing::Test {
 protected:
  void SetUp() override {
    data_ = formats::shared_data();
    if (data_.empty()) GTEST_SKIP() << "no shared data; name its folder in ASSAY_DATA";
  }

  void expect(const Expected& e) const {
    const std::filesystem::path path = data_ / e.path;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    const Result<ReadResult> read = read_history(path.string(), {});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    CheckOptions options;
    options.levels = {e.level};
    const CheckResult result = decide_levels(read->history, options);
    const Verdict& v = result.verdicts.at(0);
    ASSERT_EQ(v.outcome, e.outcome) << e.path << " " << level_info(e.level).name << " " << v.reason;
    const Status verified = verify(result.certificates.at(v.certificate), read->history);
    EXPECT_TRUE(verified.ok()) << e.path << ": " << verified.error().to_string();
  }

  std::filesystem::path data_;
};

// Every verdict is verified before it is told; the anomaly is that of all of them.
void expect_verdicts(const std::filesystem::path& path, const std::vector<LevelId>& satisfied,
                     const std::vector<LevelId>& violated = {}, Anomaly anomaly = Anomaly::none) {
  SCOPED_TRACE(path.filename().string());
  AuditOptions options;
  options.check.levels = satisfied;
  options.check.levels.insert(options.check.levels.end(), violated.begin(), violated.end());
  const Audit found = audit(path.string(), options);
  ASSERT_FALSE(found.error) << found.error->to_string();
  const auto expect_all = [&](const std::vector<LevelId>& levels, Outcome outcome) {
    for (const LevelId level : levels) {
      const Verdict* v = found.result.find(level);
      ASSERT_TRUE(v != nullptr);
      EXPECT_EQ(v->outcome, outcome) << level_info(level).name << " " << v->reason;
    }
  };
  expect_all(satisfied, Outcome::satisfied);
  expect_all(violated, Outcome::violated);
  for (const Explanation& e : found.explanations) EXPECT_EQ(e.anomaly, anomaly);
}

using enum LevelId;
constexpr Outcome kYes = Outcome::satisfied;
constexpr Outcome kNo = Outcome::violated;

TEST_F(Recorded, Porcupine) {
  expect({"porcupine/etcd_000.log", linearizable, kNo});
  expect({"porcupine/etcd_002.log", linearizable, kYes});
  expect({"porcupine/etcd_005.log", linearizable, kYes});
}

TEST_F(Recorded, Knossos) {
  expect({"knossos/cas-register/good/memstress3-9.edn", linearizable, kYes});
  expect({"knossos/cas-register/bad/bad-analysis.edn", linearizable, kNo});
  expect({"knossos/mutex/bad/etcd.edn", linearizable, kNo});
  // Taken 132 times, released 129 times.
  expect({"knossos/mutex/bad/etcd.edn", serializable, kNo});
  expect({"knossos/mutex/bad/etcd.edn", adya_si, kNo});
}

// What is linearizable has a point for every operation between its request and its reply, so real
// time contradicts no level of snapshot isolation either.
TEST_F(Recorded, LinearizableOperationsSatisfyStrongSnapshotIsolation) {
  std::vector<std::string> files = {"porcupine/etcd_002.log", "porcupine/etcd_005.log"};
  const auto good = data_ / "knossos/cas-register/good";
  if (std::filesystem::exists(good))
    for (const auto& file : std::filesystem::directory_iterator(good))
      files.push_back("knossos/cas-register/good/" + file.path().filename().string());
  for (const std::string& file : files) {
    expect({file, linearizable, kYes});
    for (const LevelId level : {generalized_si, strong_session_si, strong_si})
      expect({file, level, kYes});
  }
}

// Collectors never delete, so what a range misses was never written.
TEST_F(Recorded, ViperMissingKeys) {
  expect({"faults/viper-missing-key-in-range", adya_si, kNo});
  expect({"faults/viper-missing-key-in-range", serializable, kNo});
  expect({"faults/viper-null-read", adya_si, kNo});
  expect({"faults/viper-null-read", serializable, kNo});
}

// The folder is the strongest weak level that holds.
TEST_F(Recorded, Awdit) {
  const LevelId weak[] = {read_committed, read_atomic, causal};
  const struct {
    const char* folder;
    int holding;
  } folders[] = {{"none", 0}, {"read-committed", 1}, {"read-atomic", 2}, {"causal", 3}};
  for (const auto& [folder, holding] : folders) {
    if (!std::filesystem::exists(data_ / "awdit" / folder)) GTEST_SKIP();
    for (const auto& file : std::filesystem::directory_iterator(data_ / "awdit" / folder)) {
      const std::string path =
          "awdit/" + std::string(folder) + "/" + file.path().filename().string();
      for (int i = 0; i < 3; ++i) expect({path, weak[i], i < holding ? kYes : kNo});
    }
  }
  expect({"awdit/causal/long-fork.txt", prefix, kNo});
  expect({"awdit/causal/lost-update.txt", prefix, kYes});
  expect({"awdit/causal/lost-update.txt", session_si, kNo});
  expect({"awdit/causal/fully-ser.txt", session_serializable, kYes});
}

// Their levels by our names. What the study calls repeatable read is refuted by every level from
// read atomic upwards.
TEST_F(Recorded, Dbcop) {
  std::ifstream verdicts(data_ / "dbcop/verdicts.tsv");
  if (!verdicts) GTEST_SKIP() << "no dbcop/verdicts.tsv";
  std::string path, violated;
  int count = 0;
  while (verdicts >> path >> violated) {
    path = "dbcop/" + path + "/history.bincode";
    ++count;
    if (violated == "ok") expect({path, session_serializable, kYes});
    if (violated == "Serializable") expect({path, session_serializable, kNo});
    if (violated == "RepeatableRead") expect({path, read_atomic, kNo});
    if (violated == "RepeatableRead") expect({path, read_committed, kYes});
    if (violated == "ReadCommitted") expect({path, read_committed, kNo});
  }
  EXPECT_GT(count, 0);
}

// Of what was recorded with the order of versions from PostgreSQL's log.
std::vector<LevelId> all_but_linearizable() {
  std::vector<LevelId> levels;
  for (const LevelInfo& level : all_levels())
    if (level.id != linearizable) levels.push_back(level.id);
  return levels;
}

const std::vector<LevelId> kSnapshots = {adya_si, session_si, generalized_si, strong_session_si,
                                         strong_si};

TEST_F(Recorded, PostgresqlWithItsOrderOfVersions) {
  const auto folder = data_ / "whitebox";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const char* ranges : {"d-ser.f.jsonl.zst", "d-ser.h.jsonl.zst"})
    expect_verdicts(folder / ranges, all_but_linearizable());
  std::vector<LevelId> lost = kSnapshots;
  lost.insert(lost.end(), {pl_cs, pl_2_plus, pl_2_99, pl_3, serializable});
  for (const char* ranges : {"d-rep.f.jsonl.zst", "d-rep.h.jsonl.zst"})
    expect_verdicts(folder / ranges, {pl_1, pl_2, prefix}, lost, Anomaly::lost_update);
  expect_verdicts(folder / "rc-order.jsonl.zst", {pl_1, pl_2, read_committed},
                  {pl_cs, pl_2_plus, pl_2_99, pl_3}, Anomaly::lost_update);
  expect_verdicts(folder / "rc.jsonl.zst", {read_committed}, {pl_2_plus},
                  Anomaly::non_repeatable_read);
}

// The same of parts that this repository has.
TEST(RecordedPart, PostgresqlWithItsOrderOfVersions) {
  const auto folder = std::filesystem::path(places::kSource) / "tests/recorded";
  std::vector<LevelId> holding = kSnapshots;
  holding.insert(holding.end(), {pl_1, pl_2, pl_cs, pl_2_plus, prefix});
  const std::vector<LevelId> skewed = {pl_2_99, pl_3, serializable, session_serializable};
  for (const char* what : {"ranges", "conditions"}) {
    const std::string ending = std::string("-") + what + ".jsonl";
    expect_verdicts(folder / ("postgresql-serializable" + ending), all_but_linearizable());
    expect_verdicts(folder / ("postgresql-repeatable-read" + ending), holding, skewed,
                    Anomaly::write_skew);
  }
  expect_verdicts(folder / "postgresql-repeatable-read-insert.hist", {pl_1, pl_2, prefix},
                  {pl_cs, pl_2_plus, pl_3, adya_si, session_si, serializable},
                  Anomaly::lost_update);
  expect_verdicts(folder / "postgresql-read-committed.jsonl", {pl_1, pl_2, read_committed},
                  {pl_cs, pl_2_plus, pl_2_99, pl_3}, Anomaly::lost_update);
}

// The order found for adya-si says what each query saw: with the orders of versions known nothing
// is left to be searched for the levels that follow.
TEST(RecordedPart, AnOrderOfSnapshotsServesAdyasLevelsBelow) {
  AuditOptions options;
  options.check.levels = {pl_2, pl_cs, pl_2_plus, adya_si};
  options.check.budget = Budget(60, uint64_t{1} << 30, 3000);
  const Audit found = audit(
      std::string(places::kSource) + "/tests/recorded/postgresql-repeatable-read-conditions.jsonl",
      options);
  for (const Verdict& v : found.result.verdicts)
    EXPECT_EQ(v.outcome, Outcome::satisfied) << level_info(v.level).name << " " << v.reason;
}

TEST_F(Recorded, PolySiBenchmarks) {
  for (const char* path : {"polysi/25_400_8_10000_0.95_uniform/hist-00000/history.bincode",
                           "polysi/25_400_8_10000_0.5_uniform/hist-00000/history.bincode",
                           "polysi/25_400_8_10000_0.3_uniform/hist-00000/history.bincode",
                           "polysi/20_100_15_10000_0.5_uniform/hist-00000/history.bincode",
                           "polysi/20_100_15_10000_0.5_uniform/hist-00001/history.bincode",
                           "polysi/20_100_15_10000_0.5_uniform/hist-00002/history.bincode",
                           "polysi/rubis-10000/hist-00000", "polysi/tpcc-10000/hist-00000",
                           "polysi/twitter-10000/hist-00000"})
    expect({path, session_si, kYes});
}

TEST_F(Recorded, PolySiViolations) {
  expect({"polysi/violations/galera/galera.txt", prefix, kYes});
  expect({"polysi/violations/galera/galera.txt", session_si, kNo});
  expect({"polysi/violations/yugabyte/yugabyte.txt", read_committed, kYes});
  expect({"polysi/violations/yugabyte/yugabyte.txt", read_atomic, kNo});
  expect({"polysi/violations/dgraph/history.bincode", read_atomic, kYes});
  expect({"polysi/violations/dgraph/history.bincode", causal, kNo});
}

// One run, recorded in two formats.
TEST_F(Recorded, Viper) {
  expect({"viper/blindw-rw-1000/json", adya_si, kYes});
  if (!std::filesystem::exists(data_ / "viper")) GTEST_SKIP();
  const auto outcomes = [&](const char* folder) {
    const Result<ReadResult> read =
        read_history((data_ / "viper/blindw-rw-1000" / folder).string());
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    std::vector<Outcome> all;
    if (!read.ok()) return all;
    for (const Verdict& v : decide_levels(read->history, {}).verdicts) all.push_back(v.outcome);
    return all;
  };
  EXPECT_EQ(outcomes("json"), outcomes("log"));
}

TEST_F(Recorded, Elle) {
  for (const char* path : {"elle/paper-example.edn", "elle/paper-example.json"})
    expect({path, strict_serializable, kNo});
  // Elle looks for cycles alone and passes this one; its second transaction reads 3, which nobody
  // wrote.
  for (const char* path : {"elle/rw-register.edn", "elle/rw-register.json"})
    expect({path, read_committed, kNo});
  expect({"elle/set.edn", strict_serializable, kYes});
}

// Workloads whose values do not tell who wrote them are judged by their own rules.
TEST_F(Recorded, ElleTallies) {
  const struct {
    const char* path;
    Outcome outcome;
  } tallies[] = {{"elle/bank.edn", kYes}, {"elle/counter.edn", Outcome::unknown}};  // no read
  for (const auto& [path, outcome] : tallies) {
    const Result<Tally> tally = formats::read_tally((data_ / path).string(), nullptr);
    ASSERT_TRUE(tally.ok()) << tally.error().to_string();
    EXPECT_EQ(judge(*tally).outcome(), outcome) << path;
  }
}

}  // namespace
}  // namespace assay::internal
