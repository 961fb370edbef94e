// Every driver of a server keeps the promises of collect/driver_contract.h, and so do the example
// drivers in other languages.
#include <stdlib.h>

#include <filesystem>

#include "collect/driver_contract.h"
#include "places.h"
#include "server.h"

namespace assay::internal::collect {
namespace {

MakeOptions on(const char* name, const char* isolation, const char* query = "") {
  return [=]() -> std::optional<DriverOptions> {
    const auto& urls = server(name);
    if (urls.empty()) return std::nullopt;
    DriverOptions options;
    options.url = urls.front() + query;
    options.isolation = isolation;
    options.run = 7;
    options.timeout = std::chrono::milliseconds(2000);
    return options;
  };
}

const auto kNumber = [](const auto& param) { return std::to_string(param.index); };

INSTANTIATE_TEST_SUITE_P(Postgresql, DriverContract,
                         testing::Values(on("postgres", "repeatable read"),
                                         on("postgres", "Serializable")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(OldPostgresql, DriverContract,
                         testing::Values(on("postgres@12.3", "serializable")), kNumber);
INSTANTIATE_TEST_SUITE_P(Mariadb, DriverContract,
                         testing::Values(on("mariadb", "repeatable read",
                                            "?innodb_snapshot_isolation=ON"),
                                         on("mariadb", "serializable")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(Galera, DriverContract, testing::Values(on("galera", "serializable")),
                         kNumber);
// Its library is what dev/db has.
MakeOptions on_duckdb() {
  return []() -> std::optional<DriverOptions> {
    const auto& paths = server("duckdb");
    if (paths.empty()) return std::nullopt;
    setenv("ASSAY_DUCKDB", paths.front().c_str(), 1);
    DriverOptions options;
    options.url = "duckdb:";
    options.run = 7;
    return options;
  };
}
INSTANTIATE_TEST_SUITE_P(Duckdb, DriverContract, testing::Values(on_duckdb()), kNumber);
INSTANTIATE_TEST_SUITE_P(Dolt, DriverContract, testing::Values(on("dolt", "repeatable read")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(Tidb, DriverContract,
                         testing::Values(on("tidb", "repeatable read",
                                            "?tidb_txn_mode=optimistic")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(OldTidb, DriverContract,
                         testing::Values(on("tidb@3.0", "repeatable read",
                                            "?tidb_disable_txn_auto_retry=1")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(Etcd, DriverContract,
                         testing::Values(on("etcd", "serializable"),
                                         on("etcd", "repeatable reads")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(Redis, DriverContract, testing::Values(on("redis", "watch")), kNumber);
// One key a transaction, or all keys in one partition.
INSTANTIATE_TEST_SUITE_P(Cassandra, DriverContract,
                         testing::Values(on("cassandra", "serial"), on("cassandra", "partition")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(Cassandra6, DriverContract, testing::Values(on("cassandra@6", "accord")),
                         kNumber);
INSTANTIATE_TEST_SUITE_P(H2, DriverContract, testing::Values(on("h2", "serializable")), kNumber);

// The examples.

const std::string kExamples = std::string(places::kSource) + "/examples/drivers/";

class Folder : public testing::Environment {
 public:
  void SetUp() override {
    path = (std::filesystem::temp_directory_path() / "assay-exec-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(path); }
  std::string path;
};
auto* const kFolder = dynamic_cast<Folder*>(testing::AddGlobalTestEnvironment(new Folder));

DriverOptions example(const std::string& command) {
  DriverOptions options;
  options.url = "exec:" + command;
  options.timeout = std::chrono::milliseconds(1000);
  options.run = 7;
  return options;
}

std::optional<DriverOptions> python() {
  return example("python3 " + kExamples + "sqlite.py " + kFolder->path + "/x.db");
}
std::optional<DriverOptions> one_process() {
  const std::string path = kFolder->path + "/socket";
  DriverOptions options = example("exec python3 -SE " + kExamples + "threads.py " + path);
  options.url = "exec+unix:" + path + options.url.substr(options.url.find(':')).replace(0, 1, " ");
  return options;
}
std::optional<DriverOptions> shell() {
  return example(kExamples + "files.sh " + kFolder->path + "/files");
}
std::optional<DriverOptions> javascript() {
  const auto& urls = server("etcd");
  if (urls.empty() || system("command -v node >/dev/null") != 0) return std::nullopt;
  return example("node " + kExamples + "etcd.js http" + urls.front().substr(4));
}

std::string name_of(const testing::TestParamInfo<MakeOptions>& param) {
  static const std::vector<std::string> kNames = {"Python", "OneProcess", "Shell", "JavaScript"};
  return kNames.at(param.index);
}

INSTANTIATE_TEST_SUITE_P(Exec, DriverContract,
                         testing::Values(python, one_process, shell, javascript), name_of);

}  // namespace
}  // namespace assay::internal::collect
