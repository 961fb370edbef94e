// The drivers that need no server.
#include "collect/driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "collect/driver_contract.h"
#include "collect/drivers/checkpoint_turns.h"

namespace assay::internal::collect {
namespace {

DriverOptions options(std::string url, std::string isolation = {}) {
  return {.url = std::move(url),
          .isolation = std::move(isolation),
          .timeout = std::chrono::milliseconds(50)};
}

DriverOptions with_run(DriverOptions options) {
  options.run = 7;
  return options;
}

MakeOptions always(const DriverOptions& options) {
  return [options] { return options; };
}

INSTANTIATE_TEST_SUITE_P(All, DriverContract,
                         testing::Values(always(with_run(options("sqlite:"))),
                                         always(options("sqlite:", "deferred")),
                                         always(options("sqlite:", "immediate")),
                                         always(options("simulated:session-si")),
                                         always(options("simulated:strict-serializable"))),
                         [](const auto& param) { return std::to_string(param.index); });

TEST(Sqlite, ATemporaryDatabaseLeavesNothingBehind) {
  namespace fs = std::filesystem;
  std::string own =
      testing::TempDir() + "XXXXXX";  // other tests make temporary databases meanwhile
  ASSERT_NE(mkdtemp(own.data()), nullptr);
  ASSERT_EQ(setenv("TMPDIR", own.c_str(), 1), 0);
  auto driver = open_driver(options("sqlite:"));
  ASSERT_TRUE((*driver)->prepare().ok());
  EXPECT_FALSE(fs::is_empty(own));
  driver->reset();
  EXPECT_TRUE(fs::is_empty(own));
  unsetenv("TMPDIR");
  fs::remove(own);
}

// Readers that overlap all the time leave no moment in which the log could begin anew, unless they
// are made to.
TEST(Sqlite, ItsLogStaysShortUnderReadersWithoutPause) {
  namespace fs = std::filesystem;
  std::string folder = testing::TempDir() + "XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string log = folder + "/x.db-wal";
  constexpr int kSessions = 3, kTxns = 6000;
  DriverOptions made = options("sqlite:" + folder + "/x.db");
  made.timeout = std::chrono::minutes(10);
  {
    auto driver = open_driver(made);
    ASSERT_TRUE(driver.ok() && (*driver)->prepare().ok());
    std::atomic<uintmax_t> longest{0};
    std::vector<std::thread> threads;
    for (int s = 0; s < kSessions; ++s)
      threads.emplace_back([&, s] {
        auto session = (*driver)->connect();
        ASSERT_TRUE(session.ok());
        Reply reply;
        for (int i = 0; i < kTxns; ++i) {
          ASSERT_NE((*session)->begin().outcome, CallOutcome::fatal);
          const Request read{.kind = OpKind::read, .key = Value::of(int64_t{s})};
          const Request write{.kind = OpKind::write,
                              .key = Value::of(int64_t{i}),
                              .value = Value::of(int64_t{i * kSessions + s})};
          if ((*session)->call(read, reply).ok() && (*session)->call(write, reply).ok())
            static_cast<void>((*session)->commit());
          std::error_code gone;
          const uintmax_t now = fs::file_size(log, gone);
          for (uintmax_t was = longest; !gone && now > was;)
            if (longest.compare_exchange_weak(was, now)) break;
        }
      });
    for (std::thread& t : threads) t.join();
    constexpr uintmax_t kFrame = 4096 + 24, kMostOfOneTxn = 64;
    EXPECT_LE(longest, (CheckpointTurns::kPages + kSessions * kMostOfOneTxn) * kFrame);
    EXPECT_GE(longest, CheckpointTurns::kPages * kFrame) << "nothing had to be emptied";
  }
  fs::remove_all(folder);
}

TEST(Drivers, UnknownNamesAreUsageErrors) {
  for (const DriverOptions& bad :
       {options("oracle:x"), options("sqlite"), options("sqlite:", "serializable"),
        options("sqlite::memory:"), options("simulated:nothing"),
        options("simulated:session-si?bug=write-skew"), options("simulated:session-si?rate=2"),
        options("simulated:session-si?turns=maybe"), options("simulated:session-si", "snapshot"),
        options("exec:"), options("exec+unix:"), options("exec+unix: true"),
        options("exec+unix:/" + std::string(120, 'x'))}) {
    const auto driver = open_driver(bad);
    ASSERT_FALSE(driver.ok()) << bad.url;
    EXPECT_EQ(driver.error().kind, ErrorKind::usage);
  }
}

// Only a program that hangs takes this long.
constexpr auto kOfWhatHangs = std::chrono::milliseconds(600'000);

DriverOptions patient(std::string url, std::chrono::milliseconds timeout = kOfWhatHangs) {
  DriverOptions made = options(std::move(url));
  made.timeout = timeout;
  return made;
}

// A program of one line of shell that answers hello, and then as the test wants.
std::unique_ptr<Driver> exec_driver(const std::string& then,
                                    std::chrono::milliseconds timeout = kOfWhatHangs) {
  auto driver = open_driver(
      patient("exec:read -r l; echo '{\"ok\":true,\"name\":\"x\"}'; read -r l; " + then, timeout));
  EXPECT_TRUE(driver.ok()) << driver.error().to_string();
  return std::move(*driver);
}

TEST(Exec, AProgramThatDoesNotAnswerCommitLeavesItUnknown) {
  constexpr const char* kHangs = "exec sleep 3600";  // until it is killed
  for (const char* ending : {"exit 0", kHangs, "echo '[1]'", "echo '{'"}) {
    // It has as long for its answers before.
    const auto timeout = ending == kHangs ? std::chrono::milliseconds(10'000) : kOfWhatHangs;
    auto driver = exec_driver("echo '{\"ok\":true}'; read -r l; " + std::string(ending), timeout);
    auto session = driver->connect();
    ASSERT_TRUE(session.ok());
    ASSERT_TRUE((*session)->begin().ok());
    const CallResult result = (*session)->commit();
    EXPECT_EQ(result.outcome, CallOutcome::unknown) << ending;
    EXPECT_TRUE(result.session_lost);
  }
}

TEST(Exec, AProgramThatEndsBeforeCommitHasAborted) {
  auto driver = exec_driver("exit 0");
  auto session = driver->connect();
  ASSERT_TRUE(session.ok());
  const CallResult result = (*session)->begin();
  EXPECT_EQ(result.outcome, CallOutcome::aborted);
  EXPECT_TRUE(result.session_lost);
}

TEST(Exec, AnswersAreTakenAsTheyAre) {
  struct Case {
    const char* answer;
    CallOutcome outcome;
  };
  for (const Case& c : {Case{R"({"aborted":"busy"})", CallOutcome::aborted},
                        Case{R"({"unknown":"lost"})", CallOutcome::unknown},
                        Case{R"({"fatal":"disk full"})", CallOutcome::fatal},
                        Case{R"({"yes":1})", CallOutcome::fatal}}) {
    auto driver = exec_driver("echo '" + std::string(c.answer) + "'; read -r l");
    auto session = driver->connect();
    ASSERT_TRUE(session.ok());
    EXPECT_EQ((*session)->commit().outcome, c.outcome) << c.answer;
  }
}

TEST(Exec, AReadNeedsAValueThatIsOne) {
  auto driver = exec_driver(R"(echo '{"ok":true,"value":[1]}'; read -r l)");
  auto session = driver->connect();
  ASSERT_TRUE(session.ok());
  Reply reply;
  EXPECT_EQ((*session)->call({.kind = OpKind::read, .key = Value::of(1)}, reply).outcome,
            CallOutcome::fatal);
}

TEST(Exec, TellsTheDatabasesOwnTimes) {
  auto driver = exec_driver(
      R"(echo '{"ok":true,"start_ts":7}'; read -r l; echo '{"ok":true,"commit_ts":9}'; read -r l; )"
      R"(echo '{"ok":true}'; read -r l)");
  auto session = driver->connect();
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE((*session)->begin().ok());
  EXPECT_TRUE((*session)->commit().ok());
  EXPECT_EQ((*session)->own_times().start_ts, 7);
  EXPECT_EQ((*session)->own_times().commit_ts, 9);
  EXPECT_TRUE((*session)->begin().ok());
  EXPECT_EQ((*session)->own_times().start_ts, Interval::kUnknown);
}

TEST(Exec, ATimeIsAnIntegerOf64Bits) {
  for (const char* bad : {"\"7\"", "1.5", "9223372036854775808", "null"}) {
    auto driver =
        exec_driver("echo '{\"ok\":true,\"start_ts\":" + std::string(bad) + "}'; read -r l");
    auto session = driver->connect();
    ASSERT_TRUE(session.ok());
    EXPECT_EQ((*session)->begin().outcome, CallOutcome::fatal) << bad;
  }
}

TEST(Exec, AWholeTransactionIsALine) {
  struct Case {
    const char* answer;
    CallOutcome outcome;
  };
  for (const Case& c :
       {Case{R"(echo '{"ok":true,"answers":[{"value":7},{}]}')", CallOutcome::ok},
        Case{R"(echo '{"ok":true,"answers":[{"value":7}]}')", CallOutcome::fatal},
        Case{R"(echo '{"ok":true,"answers":[{"value":[7]},{}]}')", CallOutcome::fatal},
        Case{R"(echo '{"ok":true}')", CallOutcome::fatal},
        Case{R"(echo '{"aborted":"busy"}')", CallOutcome::aborted},
        Case{R"(echo '{"unknown":"lost"}')", CallOutcome::unknown},
        Case{"exit", CallOutcome::unknown}}) {
    auto driver =
        open_driver(patient("exec:read -r l; echo '{\"ok\":true,\"batch\":true}'; read -r l; " +
                            std::string(c.answer) + "; read -r l"));
    ASSERT_TRUE(driver.ok()) << driver.error().to_string();
    auto session = (*driver)->connect();
    ASSERT_TRUE(session.ok());
    ASSERT_TRUE((*session)->takes_whole());
    const std::vector<Request> requests = {
        {.kind = OpKind::read, .key = Value::of(1)},
        {.kind = OpKind::write, .key = Value::of(2), .value = Value::of(3)}};
    std::vector<Reply> replies;
    EXPECT_EQ((*session)->whole(requests, replies).outcome, c.outcome) << c.answer;
    if (c.outcome == CallOutcome::ok) {
      ASSERT_EQ(replies.size(), 2u);
      EXPECT_EQ(replies[0].value, Value::of(7));
    }
  }
}

TEST(Exec, AProgramThatDoesNotSayHelloIsAnIoError) {
  for (const char* url : {"exec:true", "exec:/nonexistent/program", "exec+unix:/nonexistent/socket",
                          "exec+unix:/nonexistent/socket true"}) {
    const auto driver = open_driver(options(url));
    ASSERT_FALSE(driver.ok());
    EXPECT_EQ(driver.error().kind, ErrorKind::io);
  }
}

TEST(Drivers, ADatabaseThatCannotBeOpenedIsAnIoError) {
  auto driver = open_driver(options("sqlite:/nonexistent/folder/x.db"));
  ASSERT_TRUE(driver.ok());
  const Status prepared = (*driver)->prepare();
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().kind, ErrorKind::io);
}

}  // namespace
}  // namespace assay::internal::collect
