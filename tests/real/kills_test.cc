// The recorder against PostgreSQL: a run killed at any moment leaves a readable file that explains
// what the database holds. A few kills here; ASSAY_KILLS says how many.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "assay/format.h"
#include "base/rng.h"
#include "collect/driver.h"
#include "measure.h"

namespace assay::internal {
namespace {

namespace fs = std::filesystem;

// Every value in the table was written by a transaction that the history calls committed or
// unknown, and no key with an acknowledged write is empty.
void expect_explained(const History& h, const std::map<int64_t, int64_t>& table) {
  std::map<int64_t, std::set<int64_t>> written, acknowledged;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (h.op(i).kind != OpKind::write) continue;
      const int64_t key = h.key(h.op(i).key).integer;
      const int64_t value = h.version_value(h.op(i).version).integer;
      written[key].insert(value);
      if (h.status(t) == TxnStatus::committed) acknowledged[key].insert(value);
    }
  }
  for (const auto& [key, value] : table)
    EXPECT_TRUE(written[key].contains(value)) << "key " << key << " value " << value;
  for (const auto& [key, values] : acknowledged) EXPECT_TRUE(table.contains(key)) << "key " << key;
}

std::map<int64_t, int64_t> table_at(const std::string& url) {
  std::map<int64_t, int64_t> rows;
  collect::DriverOptions options;
  options.url = url;
  auto driver = collect::open_driver(options);
  auto session = (*driver)->connect();
  EXPECT_TRUE(session.ok() && (*session)->begin().ok());
  collect::Reply reply;
  EXPECT_TRUE((*session)->call({.kind = OpKind::range}, reply).ok());
  for (const auto& [key, value] : reply.rows) rows[key.integer] = value.integer;
  EXPECT_TRUE((*session)->commit().ok());
  return rows;
}

TEST(Postgresql, AKilledRunExplainsTheDatabase) {
  ASSAY_SERVER(urls, "postgres");
  const char* wanted = getenv("ASSAY_KILLS");
  const uint64_t kills = wanted != nullptr ? strtoull(wanted, nullptr, 10) : 10;
  std::string folder = (fs::temp_directory_path() / "assay-kills-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Rng rng(1);
  uint64_t transactions = 0;
  for (uint64_t seed = 1; seed <= kills; ++seed) {
    collect::RunOptions options = contended(urls, "serializable", "general");
    options.workload_options.keys = 30;
    options.txns = 0;
    options.seconds = 3600;
    options.seed = seed;
    options.history = folder + "/history.jsonl";
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(collect::run(options).ok() ? 0 : 1);
    // However slow the machine, the run is then at about the same point.
    const uint64_t size = rng.below(150'000);
    for (int i = 0; i < 600'000; ++i) {
      std::error_code absent;
      const uint64_t now = fs::file_size(options.history, absent);
      if (!absent && now > size) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(2000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto read = read_history(options.history);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    transactions += read->history.txn_count();
    expect_explained(read->history, table_at(urls.front()));
    fs::remove(options.history);
  }
  fs::remove_all(folder);
  EXPECT_GT(transactions, 20 * kills);
}

}  // namespace
}  // namespace assay::internal
