// Schedules of SQL on real servers: the anomalies of Hermitage at each isolation, reports of
// trackers, and all of PostgreSQL's own isolation specifications, with what its tester prints.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assay/audit.h"
#include "collect/schedule/assemble.h"
#include "collect/schedule/scenario.h"
#include "collect/schedule/transcript.h"
#include "measure.h"
#include "places.h"

namespace assay::internal {
namespace {

namespace fs = std::filesystem;
using namespace collect::schedule;

std::string contents(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

File read_schedule(const fs::path& path) {
  Result<File> file = parse(contents(path), path.string());
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  return file.ok() ? std::move(*file) : File{};
}

// The anomaly at the weakest level that is violated; else "refused" if a step was, else "-".
std::string came_to(const File& file, const Performance& played, const std::string& driver) {
  Result<Assembled> assembled = assemble(file, played, driver);
  EXPECT_TRUE(assembled.ok()) << assembled.error().to_string();
  if (!assembled.ok()) return "";
  EXPECT_TRUE(assembled->missed.empty()) << assembled->missed.front();
  const Audit a = audit(std::move(assembled->history), "played");
  EXPECT_FALSE(a.error);
  for (const Explanation& e : a.explanations)
    if (e.anomaly != Anomaly::real_time_violation) return std::string(anomaly_info(e.anomaly).name);
  for (const Statement& s : played.statements)
    if (!s.answer.error.empty()) return "refused";
  return "-";
}

std::string played(const File& file, const Options& options) {
  auto stage = Stage::open(file, options);
  if (!stage.ok() && stage.error().kind == ErrorKind::bad_input) return "not-played";
  EXPECT_TRUE(stage.ok()) << stage.error().to_string();
  std::string all;
  if (!stage.ok()) return all;
  for (const Permutation& p : file.permutations) {
    const auto performance = (*stage)->play(p);
    EXPECT_TRUE(performance.ok()) << performance.error().to_string();
    if (!performance.ok()) return all;
    all += (all.empty() ? "" : " ") + came_to(file, *performance, (*stage)->driver().describe());
  }
  return all;
}

// What each permutation of an example came to, separated by blanks.
std::string played(const std::string& name, const std::string& url, const std::string& isolation) {
  return played(read_schedule(fs::path(places::kSource) / "examples" / "play" / name),
                {.databases = {url}, .isolation = isolation});
}

// What the scenarios of `assay probe` came to, in their order: G0, G1a, G1b, G1c, OTV,
// non-repeatable, PMP, PMP write, G-single, P4, long fork, G2-item, G2, read-only, stale read.
std::string probed(const std::string& url, const std::string& isolation) {
  const auto scenarios = all_scenarios();
  EXPECT_TRUE(scenarios.ok()) << scenarios.error().to_string();
  std::string all;
  for (const Scenario& s : *scenarios)
    all += (all.empty() ? "" : " ") + played(s.file, {.databases = {url}, .isolation = isolation});
  return all;
}

// A second run is refused while the first one plays, and takes nothing from it.
void expect_one_run_at_a_time(const std::string& url) {
  const File file =
      read_schedule(fs::path(places::kSource) / "examples" / "play" / "lost-update.sql");
  const Options options{.databases = {url}, .isolation = "repeatable read"};
  {
    auto stage = Stage::open(file, options);
    ASSERT_TRUE(stage.ok()) << stage.error().to_string();
    const auto second = Stage::open(file, options);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().to_string().find("another assay play is running"), std::string::npos)
        << second.error().to_string();
    EXPECT_TRUE((*stage)->play(file.permutations.front()).ok());
  }
  EXPECT_TRUE(Stage::open(file, options).ok());
}

TEST(Postgresql, PlaysOneRunAtATime) {
  ASSAY_SERVER(urls, "postgres");
  expect_one_run_at_a_time(urls.front());
}

TEST(Mariadb, PlaysOneRunAtATime) {
  ASSAY_SERVER(urls, "mariadb");
  expect_one_run_at_a_time(urls.front());
}

TEST(Postgresql, PlaysScenarios) {
  ASSAY_SERVER(urls, "postgres");
  EXPECT_EQ(probed(urls.front(), "read committed"),
            "- - non-repeatable-read write-skew non-repeatable-read non-repeatable-read phantom "
            "phantom fractured-read lost-update long-fork write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front(), "repeatable read"),
            "refused - - write-skew refused - - refused - refused - write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front(), "serializable"),
            "refused - - refused refused - - refused - refused - refused refused refused -");
}

TEST(Mariadb, PlaysScenarios) {
  ASSAY_SERVER(urls, "mariadb");
  EXPECT_EQ(probed(urls.front(), "read uncommitted"),
            "- aborted-read intermediate-read g1c non-monotonic-read non-repeatable-read phantom - "
            "fractured-read lost-update long-fork write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front(), "read committed"),
            "- - non-repeatable-read write-skew non-repeatable-read non-repeatable-read phantom "
            "non-repeatable-read fractured-read lost-update long-fork write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front(), "repeatable read"),
            "- - - write-skew - - - fractured-read - lost-update - write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front(), "serializable"),
            "- - - refused - - - - - refused refused refused refused refused -");
}

TEST(Sqlite, PlaysScenarios) {
  EXPECT_EQ(probed("sqlite:", "deferred"),
            "- - - - - - - refused - refused - refused refused refused -");
  EXPECT_EQ(probed("sqlite:", "immediate"), "- - - - - - - - - - - - - - -");
}

TEST(Duckdb, PlaysScenarios) {
  ASSAY_SERVER(paths, "duckdb");
  setenv("ASSAY_DUCKDB", paths.front().c_str(), 1);
  EXPECT_EQ(probed("duckdb:", "snapshot"),
            "refused - - write-skew refused - - lost-update - refused - write-skew g2 g2-item -");
  for (const auto& [file, came] : {std::pair{"lost-update.sql", "refused"},
                                   {"on-call.sql", "write-skew"},
                                   {"receipts.spec", "g2-item g2-item -"},
                                   {"total-cash.sql", "write-skew"},
                                   {"slatedb-260.sql", "refused"},
                                   {"duckdb-update-delete.sql", "lost-update"},
                                   {"turso-5420.sql", "-"}})
    EXPECT_EQ(played(file, "duckdb:", "snapshot"), came) << file;
}

// What each was seen to leave was never there, so nothing may be made of it.
TEST(Duckdb, ChangesOfDifferentColumnsAreMerged) {
  ASSAY_SERVER(paths, "duckdb");
  setenv("ASSAY_DUCKDB", paths.front().c_str(), 1);
  const File file =
      read_schedule(fs::path(places::kSource) / "examples" / "play" / "mysql-114389.sql");
  auto stage = Stage::open(file, {.databases = {"duckdb:"}, .isolation = {}});
  ASSERT_TRUE(stage.ok()) << stage.error().to_string();
  const auto performance = (*stage)->play(file.permutations.front());
  ASSERT_TRUE(performance.ok());
  EXPECT_TRUE(refusals(*performance).empty());
  ASSERT_EQ(performance->last_rows.size(), 1u);
  EXPECT_EQ(performance->last_rows[0].row, R"({"id":8,"k":40,"b":88,"c":99})");
  const auto assembled = assemble(file, *performance, "{}");
  ASSERT_TRUE(assembled.ok());
  EXPECT_EQ(assembled->history.op_count(), 0u);
  EXPECT_EQ(assembled->missed.size(), 5u);
}

TEST(Tidb, PlaysScenarios) {
  ASSAY_SERVER(urls, "tidb");
  EXPECT_EQ(probed(urls.front(), "READ COMMITTED"),
            "- - non-repeatable-read write-skew non-repeatable-read non-repeatable-read phantom "
            "non-repeatable-read fractured-read lost-update long-fork write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front(), "REPEATABLE READ"),
            "- - - write-skew - - - fractured-read - lost-update - write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front() + "?tidb_txn_mode=optimistic", "READ COMMITTED"),
            "refused - - write-skew refused - - refused - refused - write-skew g2 g2-item -");
  // A change that waited, of a row that the snapshot has as it was.
  EXPECT_EQ(played("lost-update.sql", urls.front(), "REPEATABLE READ"), "lost-update");
  EXPECT_EQ(played("mysql-114389.sql", urls.front(), "REPEATABLE READ"), "lost-update");
  EXPECT_EQ(played("invoice-numbers.sql", urls.front(), "REPEATABLE READ"), "g2");
  EXPECT_EQ(played("postgresql-9301.sql", urls.front(), "REPEATABLE READ"), "refused");
}

// A row that the snapshot lacks is deleted, which nothing shows until the end: the table is not
// observed.
TEST(Tidb, RowsThatTheSnapshotLacksAreNotObserved) {
  ASSAY_SERVER(urls, "tidb");
  const File file = read_schedule(fs::path(places::kSource) / "examples/play/mysql-5839.sql");
  auto stage = Stage::open(file, {.databases = {urls.front()}, .isolation = "REPEATABLE READ"});
  ASSERT_TRUE(stage.ok()) << stage.error().to_string();
  const auto performance = (*stage)->play(file.permutations.front());
  ASSERT_TRUE(performance.ok()) << performance.error().to_string();
  const auto assembled = assemble(file, *performance, "{}");
  ASSERT_TRUE(assembled.ok());
  EXPECT_EQ(assembled->history.op_count(), 0u);
  ASSERT_FALSE(assembled->missed.empty());
  EXPECT_NE(assembled->missed.front().find("not every change was seen"), std::string::npos);
}

TEST(H2, PlaysScenarios) {
  ASSAY_SERVER(urls, "h2");
  EXPECT_EQ(probed(urls.front(), "READ COMMITTED"),
            "- - non-repeatable-read write-skew non-repeatable-read non-repeatable-read phantom "
            "phantom fractured-read lost-update long-fork write-skew g2 g2-item -");
  EXPECT_EQ(probed(urls.front(), "SERIALIZABLE"),
            "refused - - write-skew refused - - refused - refused - write-skew g2 g2-item -");
  EXPECT_EQ(played("lost-update.sql", urls.front(), "READ COMMITTED"), "lost-update");
  EXPECT_EQ(played("lost-update.sql", urls.front(), "SERIALIZABLE"), "refused");
  // The snapshot is that of BEGIN.
  EXPECT_EQ(played("receipts.spec", urls.front(), "SERIALIZABLE"), "- - -");
}

TEST(Dolt, PlaysScenarios) {
  ASSAY_SERVER(urls, "dolt");
  EXPECT_EQ(probed(urls.front(), "SERIALIZABLE"),
            "refused - - write-skew refused - - refused - refused - write-skew g2 g2-item -");
  // Equal writes are merged, and so are those of different columns.
  EXPECT_EQ(played("postgresql-9301.sql", urls.front(), "SERIALIZABLE"), "lost-update");
  EXPECT_EQ(played("total-cash.sql", urls.front(), "SERIALIZABLE"), "write-skew");
  EXPECT_EQ(played("lost-update.sql", urls.front(), "SERIALIZABLE"), "refused");
}

// Each makes a row that the other one's DELETE would have found; a DELETE that finds nothing says
// so.
std::string deletions(const std::string& url, const std::string& isolation) {
  const Result<File> file = parse(
      "create table t (id int primary key, v int); insert into t values (1, 10), (2, 20);\n"
      "/* T1 */ begin; delete from t where v = 30; /* T2 */ begin; delete from t where v = 42;\n"
      "/* T1 */ insert into t values (3, 42); /* T2 */ insert into t values (4, 30);\n"
      "/* T1 */ commit; /* T2 */ commit;\n",
      "deletions.sql");
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  return file.ok() ? played(*file, {.databases = {url}, .isolation = isolation}) : "";
}

TEST(Postgresql, ConditionsOfChangesAreSeen) {
  ASSAY_SERVER(urls, "postgres");
  EXPECT_EQ(deletions(urls.front(), "read committed"), "g2");
  EXPECT_EQ(deletions(urls.front(), "repeatable read"), "g2");
  EXPECT_EQ(deletions(urls.front(), "serializable"), "refused");
}

TEST(Mariadb, ConditionsOfChangesAreSeen) {
  ASSAY_SERVER(urls, "mariadb");
  EXPECT_EQ(deletions(urls.front(), "read committed"), "g2");
  EXPECT_EQ(deletions(urls.front(), "repeatable read"), "-");
}

TEST(Sqlite, ConditionsOfChangesAreSeen) { EXPECT_EQ(deletions("sqlite:", "deferred"), "-"); }

struct Report {
  const char* file;
  const char *read_committed, *repeatable_read, *serializable;
};

void expect_played(const Report& r, const std::string& url) {
  EXPECT_EQ(played(r.file, url, "read committed"), r.read_committed) << r.file;
  EXPECT_EQ(played(r.file, url, "repeatable read"), r.repeatable_read) << r.file;
  EXPECT_EQ(played(r.file, url, "serializable"), r.serializable) << r.file;
}

TEST(Postgresql, PlaysReports) {
  ASSAY_SERVER(urls, "postgres");
  for (const Report& r :
       {Report{"lost-update.sql", "lost-update", "refused", "refused"},
        {"on-call.sql", "write-skew", "write-skew", "refused"},
        {"receipts.spec", "g2-item - -", "g2-item g2-item -", "refused refused -"},
        {"total-cash.sql", "write-skew", "write-skew", "refused"},
        {"invoice-numbers.sql", "g2", "g2", "refused"},
        {"tidb-41680.sql", "lost-update", "refused", "refused"},
        {"duckdb-update-delete.sql", "lost-update", "refused", "refused"},
        {"tidb-36718.sql", "non-repeatable-read", "-", "-"},
        {"tidb-28095.sql", "lost-update", "refused", "refused"},
        {"turso-5420.sql", "phantom", "-", "-"},
        {"scalardb-65.sql", "g2", "g2", "refused"},
        {"slatedb-260.sql", "lost-update", "refused", "refused"},
        {"mdev-38977.sql", "non-repeatable-read", "refused", "refused"},
        {"matrixone-5388.sql", "non-repeatable-read", "-", "-"},
        {"mysql-102752.sql", "non-repeatable-read", "-", "-"},
        {"mysql-114389.sql", "lost-update", "refused", "refused"},
        {"mysql-117487.sql", "refused", "refused", "refused"},
        {"mysql-120610.sql", "lost-update", "refused", "refused"},
        {"mysql-5839.sql", "phantom", "refused", "refused"},
        {"yugabyte-22456.sql", "phantom", "-", "-"},
        {"postgresql-9301.sql", "refused", "refused", "refused"},
        {"dba-27688.sql", "refused", "refused", "refused"},
        {"dba-246179.sql", "-", "-", "refused"},
        {"dba-312261.sql", "fractured-read", "refused", "refused"},
        {"parent-lock.sql", "write-skew", "write-skew", "refused"},
        {"foreign-key-snapshot.sql", "refused", "refused", "refused"},
        {"multiple-row-versions.sql", "g2-item", "g2-item", "refused"},
        {"sqlite-upgrade.sql", "lost-update", "refused", "refused"},
        {"turso-3029.sql", "-", "-", "-"},
        {"update-conflict-out.sql", "-", "write-skew", "refused"}})
    expect_played(r, urls.front());
}

TEST(Mariadb, PlaysReports) {
  ASSAY_SERVER(urls, "mariadb");
  for (const Report& r :
       {Report{"lost-update.sql", "lost-update", "lost-update", "refused"},
        {"on-call.sql", "write-skew", "write-skew", "refused"},
        {"receipts.spec", "g2-item - -", "g2-item g2-item -", "refused refused -"},
        {"total-cash.sql", "write-skew", "write-skew", "refused"},
        {"invoice-numbers.sql", "g2", "g2", "refused"},
        {"duckdb-update-delete.sql", "lost-update", "lost-update", "refused"},
        {"tidb-36718.sql", "non-repeatable-read", "non-repeatable-read", "refused"},
        // An update that changes nothing writes nothing.
        {"tidb-28095.sql", "non-repeatable-read", "-", "refused"},
        {"scalardb-65.sql", "g2", "g2", "refused"},
        {"mdev-38977.sql", "non-repeatable-read", "non-repeatable-read", "refused"},
        {"mysql-102752.sql", "non-repeatable-read", "non-repeatable-read", "-"},
        {"mysql-114389.sql", "lost-update", "lost-update", "refused"},
        {"mysql-117487.sql", "write-skew", "write-skew", "refused"},
        {"mysql-119649.sql", "-", "-", "-"},
        {"mysql-120610.sql", "non-repeatable-read", "-", "-"},
        {"mysql-5839.sql", "phantom", "g-single", "refused"},
        {"yugabyte-22456.sql", "phantom", "-", "-"},
        {"postgresql-9301.sql", "non-repeatable-read", "refused", "refused"},
        {"dba-27688.sql", "-", "-", "-"},
        {"dba-246179.sql", "-", "-", "refused"},
        {"parent-lock.sql", "write-skew", "write-skew", "refused"},
        {"multiple-row-versions.sql", "g2-item", "g2-item", "-"},
        {"sqlite-upgrade.sql", "lost-update", "lost-update", "refused"},
        {"turso-3029.sql", "-", "-", "-"}})
    expect_played(r, urls.front());
  const std::string with_conflicts = urls.front() + "?innodb_snapshot_isolation=ON";
  for (const char* file :
       {"tidb-41680.sql", "mdev-38977.sql", "mysql-102752.sql", "mysql-114389.sql"})
    EXPECT_EQ(played(file, with_conflicts, "repeatable read"), "refused") << file;
  EXPECT_EQ(played("parent-lock.sql", with_conflicts, "repeatable read"), "write-skew");
}

TEST(Sqlite, PlaysReports) {
  for (const char* file : {"sqlite-upgrade.sql", "mysql-102752.sql", "dba-246179.sql"})
    EXPECT_EQ(played(file, "sqlite:", "deferred"), "refused") << file;
  for (const char* file : {"turso-3029.sql", "turso-5420.sql"})
    EXPECT_EQ(played(file, "sqlite:", "deferred"), "-") << file;
}

// A row that another one updates hides who inserted it (fixed in 12.4).
TEST(OldPostgresql, PlaysReports) {
  ASSAY_SERVER(urls, "postgres@12.3");
  EXPECT_EQ(played("update-conflict-out.sql", urls.front(), "serializable"), "write-skew");
  EXPECT_EQ(played("multiple-row-versions.sql", urls.front(), "serializable"), "refused");
}

// What PostgreSQL's specifications print that the player does not, and why.
const std::map<std::string, std::string>& not_as_expected() {
  static const std::map<std::string, std::string> names = {
      {"async-notify", "messages of NOTIFY are not shown"},
      {"detach-partition-concurrently-3", "a message names the schema"},
      {"drop-index-concurrently-1", "a plan shows the condition that tells of rows"},
      {"merge-join", "a plan names the schema"},
      {"eval-plan-qual", "notices are shown when their step is over"},
      {"eval-plan-qual-trigger", "notices are shown when their step is over"},
      {"insert-conflict-specconflict", "notices are shown when their step is over"},
      {"intra-grant-inplace-db", "the database has another name"},
      {"partition-drop-index-locking", "shows the statements of others as they were sent"},
      {"prepared-transactions", "the server does not allow them"},
      {"prepared-transactions-cic", "the server does not allow them"},
      {"temp-schema-cleanup", "words of a connection that is lost"}};
  return names;
}

std::string specification_folder() {
  FILE* out = popen((std::string(places::kSource) + "/dev/postgresql-specs").c_str(), "r");
  std::string last;
  char buffer[4096];
  while (out != nullptr && fgets(buffer, sizeof buffer, out) != nullptr) last = buffer;
  return out != nullptr && pclose(out) == 0 ? last.substr(0, last.find('\n')) : "";
}

// Some have several, for what may come of them.
bool is_expected(const fs::path& folder, const std::string& name, const std::string& text) {
  for (const char* variant : {"", "_1", "_2", "_3"}) {
    const fs::path path = folder / "expected" / (name + variant + ".out");
    std::vector<std::string> wanted = lines_to_compare(contents(path));
    std::erase_if(wanted, [](const std::string& l) { return l.starts_with("unusedstepname"); });
    if (fs::exists(path) && wanted == lines_to_compare(text)) return true;
  }
  return false;
}

struct Count {
  uint64_t reads = 0, reads_observed = 0, writes = 0, writes_observed = 0, permutations = 0;
  std::set<std::string> unexpected, violated;
};

void play_specification(const fs::path& path, const fs::path& folder, const std::string& url,
                        Count& count) {
  const std::string name = path.stem().string();
  const File file = read_schedule(path);
  const Options options{.databases = {url}, .isolation = {}, .timeout = std::chrono::seconds(20)};
  auto stage = Stage::open(file, options);
  ASSERT_TRUE(stage.ok()) << stage.error().to_string();
  std::string text =
      "Parsed test spec with " + std::to_string(file.sessions.size()) + " sessions\n";
  const auto permutations =
      file.permutations.empty() ? interleavings(file, 1'000'000, 1) : file.permutations;
  for (const Permutation& p : permutations) {
    const auto played = (*stage)->play(p);
    ASSERT_TRUE(played.ok()) << name << ": " << played.error().to_string();
    text += transcript(file, p, *played);
    const auto assembled = assemble(file, *played, "{}");
    ASSERT_TRUE(assembled.ok()) << name << ": " << assembled.error().to_string();
    count.reads += assembled->reads;
    count.reads_observed += assembled->reads_observed;
    count.writes += assembled->writes;
    count.writes_observed += assembled->writes_observed;
    ++count.permutations;
    CheckOptions options_of_check;
    options_of_check.levels = {LevelId::read_committed};
    const CheckResult result = check(assembled->history, options_of_check);
    if (result.find(LevelId::read_committed)->outcome == Outcome::violated)
      count.violated.insert(name);
  }
  if (!is_expected(folder, name, text)) count.unexpected.insert(name);
}

TEST(Postgresql, PlaysItsOwnSpecifications) {
  ASSAY_SERVER(urls, "postgres");
  const std::string folder = specification_folder();
  if (folder.empty()) GTEST_SKIP() << "the specifications cannot be had here";
  // As PostgreSQL runs its tests.
  setenv("PGDATESTYLE", "Postgres, MDY", 1);
  setenv("PGTZ", "PST8PDT", 1);
  Count count;
  size_t specifications = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / "specs")) {
    ++specifications;
    // It removes the database.
    if (entry.path().stem() == "intra-grant-inplace-db") continue;
    play_specification(entry.path(), folder, urls.front(), count);
  }
  std::cout << specifications << " specifications, " << count.permutations << " permutations, "
            << count.reads_observed << " of " << count.reads << " reads and "
            << count.writes_observed << " of " << count.writes << " writes observed\n";
  EXPECT_GE(specifications, 100u);
  for (const std::string& name : count.unexpected)
    EXPECT_TRUE(not_as_expected().contains(name)) << name << " did not print what is expected";
  EXPECT_GE(count.reads_observed * 100, count.reads * 95);
  EXPECT_GE(count.writes_observed * 100, count.writes * 95);
  // There a join locks rows of one of its sides in their newest versions, while the other side has
  // the statement's snapshot.
  EXPECT_EQ(count.violated, std::set<std::string>{"eval-plan-qual"});
}

}  // namespace
}  // namespace assay::internal
