#include "collect/run.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "assay/format.h"
#include "collect/driver.h"

namespace assay::internal::collect {
namespace {

namespace fs = std::filesystem;

class RunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-run-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.history = name + "/history.jsonl";
    options_.recorder.overwrite = true;  // by the next run of a test
    options_.sessions = 5;
    options_.txns = 40;
    options_.workload_options.keys = 20;
  }
  void TearDown() override { fs::remove_all(folder_); }
  RunStats run_it() {
    auto stats = run(options_);
    EXPECT_TRUE(stats.ok()) << stats.error().to_string();
    return stats.ok() ? *stats : RunStats{};
  }
  History history() {
    auto read = read_history(options_.history);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    return std::move(read->history);
  }

  std::string folder_;
  RunOptions options_;
};

uint64_t count(const History& h, TxnStatus status) {
  uint64_t n = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t) n += h.status(t) == status;
  return n;
}

TEST_F(RunTest, EmbeddedSqliteByDefault) {
  const RunStats stats = run_it();
  EXPECT_EQ(stats.committed, 200u);
  EXPECT_EQ(stats.unknown, 0u);
  EXPECT_EQ(stats.operations, 200u * 8);
  for (uint64_t committed : stats.committed_by_session) EXPECT_EQ(committed, 40u);
  const History h = history();
  EXPECT_EQ(h.session_count(), 5u);
  // One final read a session.
  EXPECT_EQ(count(h, TxnStatus::committed), 205u);
  EXPECT_EQ(count(h, TxnStatus::aborted), stats.aborted);
  EXPECT_EQ(count(h, TxnStatus::unknown), 0u);
  EXPECT_TRUE(h.fully_timed());
  EXPECT_NE(h.meta().find("SQLite"), std::string::npos);
}

TEST_F(RunTest, ValuesAreUniqueAcrossRetries) {
  options_.isolation = "deferred";
  options_.workload_options.keys = 3;
  run_it();
  const History h = history();
  std::set<int64_t> values;
  for (OpId i = 0; i < h.op_count(); ++i) {
    if (h.op(i).kind != OpKind::write) continue;
    EXPECT_TRUE(values.insert(h.version_value(h.op(i).version).integer).second);
  }
}

TEST_F(RunTest, FinalReadsSeeWhatTheDatabaseHolds) {
  run_it();
  const History h = history();
  // Nobody writes any more, so all sessions agree.
  std::map<KeyId, std::set<VersionId>> seen;
  for (SessionId s = 0; s < h.session_count(); ++s) {
    const TxnId last = h.session_txns(s).back();
    EXPECT_EQ(h.end_op(last) - h.first_op(last), 20u);
    for (OpId i = h.first_op(last); i < h.end_op(last); ++i)
      seen[h.op(i).key].insert(h.op(i).version);
  }
  for (const auto& [key, versions] : seen) EXPECT_EQ(versions.size(), 1u);
}

TEST_F(RunTest, FinalReadsAreASampleOrNone) {
  options_.final_read_keys = 7;
  run_it();
  const History some = history();
  const TxnId last = some.session_txns(0).back();
  EXPECT_EQ(some.end_op(last) - some.first_op(last), 7u);
  options_.final_read_keys = 0;
  run_it();
  EXPECT_EQ(count(history(), TxnStatus::committed), 200u);
}

// A transaction without operations would be no operation on one key.
TEST_F(RunTest, NoFinalReadsWhereTheWorkloadHasNone) {
  options_.workload = "lwt";
  run_it();
  const History h = history();
  EXPECT_EQ(count(h, TxnStatus::committed), 200u);
  EXPECT_EQ(h.op_count(), h.txn_count());
}

TEST_F(RunTest, IntervalsAreInOrder) {
  options_.databases = {"simulated:strict-serializable"};
  run_it();
  const History h = history();
  for (SessionId s = 0; s < h.session_count(); ++s) {
    int64_t last = 0;
    for (TxnId t : h.session_txns(s)) {
      const Interval begin = h.begin_time(t), end = h.end_time(t);
      EXPECT_LE(last, begin.request);
      EXPECT_LE(begin.request, begin.response);
      EXPECT_LE(begin.response, end.request);
      EXPECT_LE(end.request, end.response);
      last = end.response;
    }
  }
}

// All but the header, which says when the run began.
std::string without_header(const std::string& path) {
  std::ifstream file(path);
  std::string header;
  std::getline(file, header);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(RunTest, ASimulatedDatabaseGivesTheSameHistoryForASeed) {
  options_.databases = {"simulated:session-si"};
  options_.workload_options.keys = 5;
  const RunStats first_stats = run_it();
  const std::string first = without_header(options_.history);
  EXPECT_GT(first_stats.aborted, 0u) << "no two transactions overlap";
  for (int again = 0; again < 5; ++again) {
    run_it();
    EXPECT_EQ(without_header(options_.history), first);
  }
  options_.seed = 2;
  run_it();
  EXPECT_NE(without_header(options_.history), first);
}

TEST_F(RunTest, SeveralEndpoints) {
  const std::string database = "sqlite:" + folder_ + "/x.db";
  options_.databases = {database, database};
  EXPECT_EQ(run_it().committed, 200u);
}

TEST_F(RunTest, EndsAfterItsTime) {
  options_.databases = {"simulated:causal"};
  options_.txns = 0;
  options_.seconds = 0.3;
  double fraction = 0;
  options_.progress = [&](const RunProgress& p) { fraction = p.fraction; };
  const RunStats stats = run_it();
  EXPECT_GE(stats.seconds, 0.3);
  EXPECT_GT(fraction, 0);
}

TEST_F(RunTest, EndsWhenTold) {
  const std::atomic<bool> stop{true};
  options_.txns = 0;
  options_.seconds = 3600;
  options_.stop = &stop;
  const RunStats stats = run_it();
  EXPECT_TRUE(stats.stopped_early);
  history();
}

TEST_F(RunTest, UsageErrors) {
  const auto refused = [&] {
    const auto stats = run(options_);
    return !stats.ok() && stats.error().kind == ErrorKind::usage;
  };
  options_.sessions = 0;
  EXPECT_TRUE(refused());
  options_.sessions = 1;
  options_.txns = 0;
  EXPECT_TRUE(refused());
  options_.txns = 1;
  options_.workload = "nothing";
  EXPECT_TRUE(refused());
  options_.workload = "general";
  options_.databases = {"nothing:"};
  EXPECT_TRUE(refused());
  options_.databases = {};
  EXPECT_FALSE(refused());
}

TEST_F(RunTest, AnUnwritableHistoryIsAnIoError) {
  options_.history = folder_ + "/no/such/folder.jsonl";
  const auto stats = run(options_);
  ASSERT_FALSE(stats.ok());
  EXPECT_EQ(stats.error().kind, ErrorKind::io);
}

// A program that answers eight operations and then is no more.
TEST_F(RunTest, ADatabaseThatDiesIsNamedWithTheOperationAfterWhichItWasLost) {
  const std::string program = folder_ + "/dies.sh";
  std::ofstream(program) << "test -e '" + folder_ + R"(/dead' && exit; n=0
while read -r line; do case $line in
*hello*) echo '{"ok":true,"kinds":["r","w"]}';;
*'"op"'*) n=$((n + 1)); if [ $n = 9 ]; then touch ')" +
                                folder_ + R"(/dead'; exit; fi
  echo '{"ok":true,"value":null}';;
*) echo '{"ok":true}';; esac; done)";
  options_.databases = {"exec:sh '" + program + "'"};
  options_.sessions = 1;
  options_.workload_options.ops = 5;
  options_.reconnect_for = std::chrono::milliseconds(100);
  const auto stats = run(options_);
  ASSERT_FALSE(stats.ok());
  const std::string& message = stats.error().message;
  EXPECT_NE(message.find("the connection to the database was lost after"), std::string::npos)
      << message;
  EXPECT_NE(message.find("first by session 0, transaction 0-1, operation 4 ("), std::string::npos)
      << message;
}

// A program that takes whole transactions, and does not answer the fifth.
TEST_F(RunTest, AWholeTransactionThatIsNotAnsweredIsUnknown) {
  const std::string program = folder_ + "/whole.sh";
  std::ofstream(program) << R"(n=0
while read -r line; do case $line in
*hello*) echo '{"ok":true,"batch":true}';;
*batch*) n=$((n + 1)); [ $n = 5 ] && exit
  echo '{"ok":true,"answers":[{"value":null},{"value":null}]}';;
*) echo '{"ok":true,"value":null}';; esac; done)";
  options_.databases = {"exec:sh '" + program + "'"};
  options_.sessions = 1;
  options_.txns = 6;
  options_.workload = "general";
  options_.workload_options.ops = 2;
  options_.workload_options.read_share = 0;
  options_.final_read_keys = 0;
  const RunStats stats = run_it();
  EXPECT_EQ(stats.committed, 6u);
  EXPECT_EQ(stats.unknown, 1u);
  const History h = history();
  ASSERT_EQ(h.txn_count(), 7u);
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    EXPECT_EQ(h.status(t), t == 4 ? TxnStatus::unknown : TxnStatus::committed);
    EXPECT_EQ(h.end_op(t) - h.first_op(t), 2u) << "what it may have written is there";
    EXPECT_TRUE(h.begin_time(t).known());
    EXPECT_EQ(h.end_time(t).known(), t != 4);
  }
}

TEST_F(RunTest, TheHeaderSaysWhenWithWhatAndHow) {
  options_.isolation = "deferred";
  options_.timeout = std::chrono::milliseconds(2500);
  options_.final_read_keys = 7;
  const auto before = std::chrono::system_clock::now();
  run_it();
  const auto meta = nlohmann::json::parse(history().meta());
  EXPECT_EQ(meta["isolation"], "deferred");
  EXPECT_EQ(meta["statement_timeout"], 2.5);
  EXPECT_EQ(meta["final_read_keys"], 7);
  EXPECT_EQ(meta["database"]["name"], "SQLite");
  EXPECT_EQ(meta["database"]["settings"]["journal_mode"], "wal");
  EXPECT_EQ(meta["database"]["settings"]["synchronous"], "0") << "nobody keeps it";
  EXPECT_EQ(meta["run"].get<std::string>().size(), 12u);
  EXPECT_FALSE(meta["version"].get<std::string>().empty());
  std::tm utc{};
  ASSERT_NE(strptime(meta["started"].get<std::string>().c_str(), "%Y-%m-%dT%H:%M:%S", &utc),
            nullptr);
  const auto started = std::chrono::system_clock::from_time_t(timegm(&utc));
  EXPECT_LT(std::chrono::abs(started - before), std::chrono::minutes(10));
}

TEST_F(RunTest, WhatIsNotCommittedSaysWhy) {
  const std::string path = folder_ + "/locked.db";
  options_.databases = {"sqlite:" + path};
  options_.isolation = "deferred";
  options_.timeout = std::chrono::milliseconds(10);
  // Somebody writes until the first has given up.
  sqlite3* writer = nullptr;
  options_.recording = [&](const std::string&) {
    ASSERT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(writer, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  };
  options_.progress = [&](const RunProgress& p) {
    if (p.aborted == 0 || writer == nullptr) return;
    EXPECT_EQ(sqlite3_exec(writer, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(std::exchange(writer, nullptr));
  };
  run_it();
  uint64_t aborted = 0;
  const History h = history();
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) != TxnStatus::aborted) {
      EXPECT_EQ(h.meta(t), "");
      continue;
    }
    ++aborted;
    EXPECT_NE(h.meta(t).find(R"({"error":"SQLITE_BUSY)"), std::string::npos) << h.meta(t);
  }
  EXPECT_GT(aborted, 0u);
}

TEST_F(RunTest, AnotherRunOnTheSameDatabaseIsNoticed) {
  options_.databases = {"sqlite:" + folder_ + "/shared.db"};
  bool prepared = false;
  options_.recording = [&](const std::string&) {
    auto other = open_driver(
        {.url = options_.databases.front(), .isolation = {}, .tables = {}, .run = 0xabc});
    ASSERT_TRUE(other.ok());
    EXPECT_TRUE((*other)->prepare().ok());
    prepared = true;
  };
  const auto stats = run(options_);
  EXPECT_TRUE(prepared);
  ASSERT_FALSE(stats.ok());
  EXPECT_NE(stats.error().message.find("another run, 000000000abc, prepared the same database"),
            std::string::npos)
      << stats.error().message;
  const auto read = read_history(options_.history);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::bad_input);
}

// It takes away our tables and our name first, and puts its own there last.
TEST_F(RunTest, AnotherRunThatIsStillMakingItsTablesIsWaitedFor) {
  const std::string path = folder_ + "/shared.db";
  options_.databases = {"sqlite:" + path};
  options_.look_for_another = std::chrono::minutes(10);
  std::thread other;
  options_.recording = [&](const std::string&) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(db, "DROP TABLE assay_kv; DELETE FROM assay_run", nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(db);
    other = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      auto driver = open_driver(
          {.url = options_.databases.front(), .isolation = {}, .tables = {}, .run = 0xabc});
      EXPECT_TRUE(driver.ok() && (*driver)->prepare().ok());
    });
  };
  const auto stats = run(options_);
  if (other.joinable()) other.join();
  ASSERT_FALSE(stats.ok());
  EXPECT_NE(stats.error().message.find("another run, 000000000abc, prepared the same database"),
            std::string::npos)
      << stats.error().message;
}

TEST_F(RunTest, AnUnfinishedRunOnTheSameDatabaseIsWarnedOf) {
  options_.databases = {"sqlite:" + folder_ + "/shared.db"};
  auto other =
      open_driver({.url = options_.databases.front(), .isolation = {}, .tables = {}, .run = 0xabc});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE((*other)->prepare().ok());
  std::vector<std::string> warnings;
  options_.warning = [&](const std::string& message) { warnings.push_back(message); };
  run_it();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("run 000000000abc, begun 2"), std::string::npos) << warnings[0];
  const auto meta = nlohmann::json::parse(history().meta());
  ASSERT_TRUE(meta.contains("other_run"));
  EXPECT_EQ(meta["other_run"]["run"], "000000000abc");
  EXPECT_TRUE(meta["other_run"].contains("began"));
  // This run has finished, so the next one has nothing to warn of.
  run_it();
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_FALSE(nlohmann::json::parse(history().meta()).contains("other_run"));
}

TEST(RunMark, ReadsWhatItWrites) {
  const RunMark open = parse_mark(mark_text(begin_mark(0xabc)));
  EXPECT_EQ(open.run, 0xabcu);
  EXPECT_FALSE(open.finished);
  EXPECT_EQ(open.began.size(), 20u);
  EXPECT_LE(mark_text(begin_mark(0xabc)).size(), 40u);
  EXPECT_TRUE(parse_mark(mark_text({0xabc, true, open.began})).finished);
  // As earlier versions wrote it: nothing is known of the end.
  EXPECT_EQ(parse_mark("000000000abc").run, 0xabcu);
  EXPECT_TRUE(parse_mark("000000000abc").finished);
  EXPECT_EQ(parse_mark("").run, 0u);
}

}  // namespace
}  // namespace assay::internal::collect
