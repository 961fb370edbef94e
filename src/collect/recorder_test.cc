#include "collect/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "assay/format.h"
#include "base/rng.h"
#include "collect/run.h"

namespace assay::internal::collect {
namespace {

namespace fs = std::filesystem;

class RecorderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-recorder-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = name + "/history.jsonl";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder_;
  std::string path_;
};

TxnRecord record_of(uint32_t session, uint64_t number, int64_t value) {
  TxnRecord record;
  record.session = session;
  record.number = number;
  Step& step = record.steps.emplace_back();
  step.request.kind = OpKind::write;
  step.request.key = Value::of(0);
  step.request.value = Value::of(value);
  return record;
}

TEST_F(RecorderTest, ManyThreadsKeepTheOrderOfEachSession) {
  constexpr uint32_t kSessions = 8;
  constexpr uint64_t kTxns = 300;
  auto recorder = Recorder::create(path_);
  ASSERT_TRUE(recorder.ok());
  ASSERT_TRUE((*recorder)->header("").ok());
  std::vector<std::thread> threads;
  for (uint32_t s = 0; s < kSessions; ++s)
    threads.emplace_back([&, s] {
      for (uint64_t n = 0; n < kTxns; ++n) {
        TxnRecord record = record_of(s, n, static_cast<int64_t>(n * kSessions + s));
        record.pending = true;
        EXPECT_TRUE((*recorder)->transaction(record).ok());
        record.pending = false;
        EXPECT_TRUE((*recorder)->transaction(record).ok());
      }
    });
  for (std::thread& t : threads) t.join();
  ASSERT_TRUE((*recorder)->finish().ok());
  const auto read = read_history(path_);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  const History& h = read->history;
  ASSERT_EQ(h.session_count(), kSessions);
  for (SessionId s = 0; s < kSessions; ++s) {
    ASSERT_EQ(h.session_txns(s).size(), kTxns);
    for (uint32_t n = 0; n < kTxns; ++n) {
      const TxnId t = h.session_txns(s)[n];
      EXPECT_EQ(h.status(t), TxnStatus::committed);
      EXPECT_EQ(h.name(t), h.session_name(s).to_string() + "-" + std::to_string(n));
    }
  }
}

TEST_F(RecorderTest, EachRecordIsWithTheSystemWhenTheCallReturns) {
  auto recorder = Recorder::create(path_);
  ASSERT_TRUE(recorder.ok());
  ASSERT_TRUE((*recorder)->header("").ok());
  ASSERT_TRUE((*recorder)->transaction(record_of(0, 0, 1)).ok());
  const auto read = read_history(path_);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->history.txn_count(), 1u);
}

TEST_F(RecorderTest, AFailedWriteIsToldAndNothingIsWrittenAfterIt) {
  // In a process of its own, since the limit on file sizes cannot be lifted again.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto recorder = Recorder::create(path_);
    Status last = (*recorder)->header("");
    uint64_t n = 0;
    while (last.ok() && n < 1000) last = (*recorder)->transaction(record_of(0, n++, 1));
    const bool told = !last.ok() && last.error().kind == ErrorKind::io;
    const std::string why = "cannot write the history: File too large; 1000 bytes were written";
    const Status later = (*recorder)->transaction(record_of(0, n, 2));
    const Status end = (*recorder)->finish();
    const bool stays = !later.ok() && later.error().message == why;
    _exit(told && stays && !end.ok() && end.error().message == why ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto read = read_history(path_);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_GT(read->history.txn_count(), 5u);
}

TEST_F(RecorderTest, CannotCreate) {
  const auto recorder = Recorder::create(folder_ + "/no/such/folder.jsonl");
  ASSERT_FALSE(recorder.ok());
  EXPECT_EQ(recorder.error().kind, ErrorKind::io);
}

TEST_F(RecorderTest, AHistoryThatIsThereIsKept) {
  std::ofstream(path_) << "mine";
  auto refused = Recorder::create(path_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_EQ(refused.error().file, path_);
  {
    // Nor is it lost by a run that fails before it has anything to record.
    auto dropped = Recorder::create(path_, {.overwrite = true});
    ASSERT_TRUE(dropped.ok());
  }
  EXPECT_EQ(fs::file_size(path_), 4u);
  auto recorder = Recorder::create(path_, {.overwrite = true});
  ASSERT_TRUE(recorder.ok());
  ASSERT_TRUE((*recorder)->header("").ok());
  ASSERT_TRUE((*recorder)->finish().ok());
  EXPECT_TRUE(read_history(path_).ok());
}

TEST_F(RecorderTest, TwoRecordersNeverShareAFile) {
  auto first = Recorder::create(path_);
  ASSERT_TRUE(first.ok());
  auto second = Recorder::create(path_, {.overwrite = true});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("another run"), std::string::npos);
  const std::vector<std::string> names = {path_, path_, folder_ + "/other.jsonl"};
  size_t at = 0;
  auto fresh = Recorder::create_fresh([&] { return names[at++]; });
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ((*fresh)->path(), names.back());
}

TEST_F(RecorderTest, WithoutAHeaderThereIsNoFile) {
  ASSERT_TRUE(Recorder::create(path_).ok());
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(RecorderTest, CompressesWhatItsNameSays) {
  for (const std::string ending : {".gz", ".zst"}) {
    for (const Fsync fsync : {Fsync::never, Fsync::end, Fsync::second, Fsync::commit}) {
      const std::string path = path_ + std::string(fsync_name(fsync)) + ending;
      auto recorder = Recorder::create(path, {.fsync = fsync});
      ASSERT_TRUE(recorder.ok());
      ASSERT_TRUE((*recorder)->header("").ok());
      ASSERT_TRUE((*recorder)->transaction(record_of(0, 0, 1)).ok());
      ASSERT_TRUE((*recorder)->finish().ok());
      std::ifstream in(path, std::ios::binary);
      std::string head(4, '\0');
      in.read(head.data(), 4);
      EXPECT_EQ(formats::detect_compression(head), formats::compression_of_path(path));
      const auto read = read_history(path);
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      EXPECT_EQ(read->history.txn_count(), 1u);
    }
  }
}

TEST_F(RecorderTest, CompressedLinesAreWithTheSystemSoonAndWithCommitAtOnce) {
  for (const Fsync fsync : {Fsync::never, Fsync::commit}) {
    const std::string path = path_ + std::string(fsync_name(fsync)) + ".zst";
    auto recorder = Recorder::create(path, {.fsync = fsync});
    ASSERT_TRUE(recorder.ok());
    ASSERT_TRUE((*recorder)->header("").ok());
    ASSERT_TRUE((*recorder)->transaction(record_of(0, 0, 1)).ok());
    if (fsync != Fsync::commit) {
      for (int i = 0; i < 60'000 && fs::file_size(path) == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const auto read = read_history(path);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(read->history.txn_count(), 1u);
  }
}

// What stands in the database's table, by key.
std::map<int64_t, int64_t> table_of(const std::string& database) {
  std::map<int64_t, int64_t> rows;
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(database.c_str(), &db), SQLITE_OK);
  sqlite3_stmt* s = nullptr;
  if (sqlite3_prepare_v2(db, "SELECT k, v FROM assay_kv", -1, &s, nullptr) == SQLITE_OK)
    while (sqlite3_step(s) == SQLITE_ROW)
      rows[sqlite3_column_int64(s, 0)] = sqlite3_column_int64(s, 1);
  sqlite3_finalize(s);
  sqlite3_close(db);
  return rows;
}

// Every value in the table was written by a transaction that the history calls committed or
// unknown.
void expect_explained(const History& h, const std::map<int64_t, int64_t>& table) {
  std::map<int64_t, std::set<int64_t>> written;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (h.op(i).kind == OpKind::write)
        written[h.key(h.op(i).key).integer].insert(h.version_value(h.op(i).version).integer);
  }
  for (const auto& [key, value] : table)
    EXPECT_TRUE(written[key].contains(value)) << "key " << key << " value " << value;
}

// Runs until it is killed.
[[noreturn]] void run_for_ever(const std::string& database, const std::string& history,
                               uint64_t seed) {
  RunOptions options;
  options.databases = {"sqlite:" + database};
  options.sessions = 4;
  options.txns = 0;
  options.seconds = 3600;
  options.workload_options.keys = 30;
  options.seed = seed;
  options.history = history;
  _exit(run(options).ok() ? 0 : 1);
}

// However slow the machine, the run is then at about the same point.
void wait_for_size(const std::string& path, uint64_t bytes) {
  for (int i = 0; i < 600'000; ++i) {
    std::error_code absent;
    const uint64_t size = fs::file_size(path, absent);
    if (!absent && size > bytes) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL() << "the run does not get on";
}

TEST_F(RecorderTest, AKilledRunLeavesAReadableFileThatExplainsTheDatabase) {
  const std::string database = folder_ + "/x.db";
  Rng rng(1);
  uint64_t transactions = 0;
  const char* wanted = getenv("ASSAY_KILLS");  // few here, as many as one likes by hand
  const uint64_t kills = wanted != nullptr ? strtoull(wanted, nullptr, 10) : 25;
  for (uint64_t seed = 1; seed <= kills; ++seed) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_for_ever(database, path_, seed);
    wait_for_size(path_, rng.below(200'000));
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(1000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto read = read_history(path_);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const History& h = read->history;
    transactions += h.txn_count();
    expect_explained(h, table_of(database));
    fs::remove(path_);
  }
  EXPECT_GT(transactions, 1000u);
}

// The lines since the last frame are gone, but whatever was read has its writer.
TEST_F(RecorderTest, AKilledRunLeavesTheBeginningOfACompressedHistory) {
  for (const std::string ending : {".gz", ".zst"}) {
    const std::string path = path_ + ending;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_for_ever(folder_ + "/x.db", path, 1);
    wait_for_size(path, 20'000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto read = read_history(path);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const History& h = read->history;
    EXPECT_GT(h.txn_count(), 100u);
    std::map<int64_t, std::set<int64_t>> written;
    for (OpId i = 0; i < h.op_count(); ++i)
      if (h.op(i).kind == OpKind::write)
        written[h.key(h.op(i).key).integer].insert(h.version_value(h.op(i).version).integer);
    for (OpId i = 0; i < h.op_count(); ++i) {
      const ValueView value = h.version_value(h.op(i).version);
      if (h.op(i).kind != OpKind::read || value.is_null()) continue;
      EXPECT_TRUE(written[h.key(h.op(i).key).integer].contains(value.integer));
    }
  }
}

}  // namespace
}  // namespace assay::internal::collect
