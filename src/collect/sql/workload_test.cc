#include "collect/sql/workload.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "assay/format.h"
#include "collect/driver.h"
#include "collect/run.h"
#include "collect/sql/statement.h"

namespace assay::internal::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStock = R"(
create table stock (id integer primary key, shelf integer, name text);
fill stock with 4 rows (id = :row, shelf = :row % 2, name = 'new');
transaction look weight 2;
  let :shelf in 0..1;
  select * from stock where shelf = :shelf;
  let :id = id of row;
  let :least = min of id;
  let :most = max of id;
  require :least <= :id;
  require :id <= :most;
  select * from stock where id = :id and shelf = :shelf;
end;
transaction rename;
  let :name in ('a', 'b');
  update stock set name = :name where name <> :name;
end;
transaction add;
  let :id = new;
  insert into stock (id, shelf) values (:id, 1);
end;
transaction drop_one;
  select id from stock where shelf = 1;
  let :id = id of row;
  delete from stock where id = :id;
end;)";

DriverOptions at(std::string url) {
  DriverOptions options;
  options.url = std::move(url);
  return options;
}

class SqlRunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-sql-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.sql = name + "/file.sql";
    options_.history = name + "/history.jsonl";
    options_.sessions = 3;
    options_.txns = 60;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(std::string_view sql) { std::ofstream(options_.sql) << sql; }
  std::string failure() {
    const auto stats = run(options_);
    return stats.ok() ? "none" : stats.error().to_string();
  }
  History history() {
    auto read = read_history(options_.history);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    return read.ok() ? std::move(read->history) : History{};
  }

  std::string folder_;
  RunOptions options_;
};

TEST_F(SqlRunTest, RecordsRowsThatAllNameTheirWriters) {
  write(kStock);
  const auto stats = run(options_);
  ASSERT_TRUE(stats.ok()) << stats.error().to_string();
  EXPECT_EQ(stats->committed, 180u);
  const History h = history();
  EXPECT_EQ(h.session_count(), 4u);
  // What was there is written first, by a session of its own, and each session sees it first of
  // all.
  const TxnId first = h.session_txns(0).front();
  EXPECT_EQ(h.end_op(first) - h.first_op(first), 4u);
  for (SessionId s = 1; s < 4; ++s) {
    const TxnId look = h.session_txns(s).front();
    ASSERT_EQ(h.end_op(look) - h.first_op(look), 1u);
    EXPECT_EQ(h.selected(h.first_op(look)).rows.size(), 4u);
    EXPECT_LT(h.end_time(first).response, h.begin_time(look).request);
  }
  size_t conditions = 0, matched = 0, rows = 0;
  for (OpId i = 0; i < h.op_count(); ++i) {
    const OpKind kind = h.op(i).kind;
    if (kind == OpKind::write || kind == OpKind::insert) {
      const std::string row = h.version_value(h.op(i).version).to_string();
      EXPECT_NE(row.find("\"written_by\":\"" + h.name(h.txn_of(i)) + "."), std::string::npos)
          << row;
    }
    if (kind != OpKind::range) continue;
    conditions += h.selected(i).predicate != kNone;
    matched += h.selected(i).matched.size();
    rows += h.selected(i).rows.size();
  }
  EXPECT_GT(conditions, 100u);
  EXPECT_GT(rows, 100u);
  EXPECT_EQ(matched, 0u);  // every version that was replaced is known
}

TEST_F(SqlRunTest, TheSameSeedDrawsTheSame) {
  write(kStock);
  options_.sessions = 1;
  options_.history.clear();
  const auto requests = [&] {
    auto workload = sql::make_workload(options_.sql);
    EXPECT_TRUE(workload.ok());
    auto driver = open_driver(at("sqlite:"));
    EXPECT_TRUE((*driver)->prepare().ok());
    EXPECT_TRUE((*workload)->set_up(**driver).ok());
    const auto session = (*workload)->open(0, 1, 7);
    std::string words;
    for (int i = 0; i < 50; ++i) {
      session->start(i % 5 == 4);
      Request request;
      while (session->next(nullptr, request)) words += request.statement->in_words() + "\n";
    }
    return words;
  };
  EXPECT_EQ(requests(), requests());
}

// It may be of somebody's own, and must stay.
TEST_F(SqlRunTest, TouchesNoTableWithoutAssayInItsName) {
  write(kStock);
  options_.databases = {"sqlite:" + folder_ + "/db"};
  EXPECT_EQ(failure(), "none");
  auto driver = open_driver(at(options_.databases[0]));
  ASSERT_TRUE(driver.ok());
  auto session = (*driver)->connect();
  ASSERT_TRUE(session.ok());
  const std::string sql =
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'assay%' AND name NOT "
      "LIKE 'sqlite%'";
  SqlAnswer answer;
  ASSERT_TRUE((*session)->execute({sql, {}}, answer).ok());
  EXPECT_TRUE(answer.rows.empty());
}

TEST_F(SqlRunTest, SaysWhereTheFileIsWrong) {
  write("create table t (id integer);");
  EXPECT_EQ(failure(), options_.sql + ":1:14: the table 't' needs a primary key of one column");
  EXPECT_FALSE(fs::exists(options_.history));
  options_.sql = folder_ + "/absent.sql";
  EXPECT_NE(failure().find("cannot read the file of SQL"), std::string::npos);
}

TEST_F(SqlRunTest, SaysWhichStepCannotBeDone) {
  write(
      "create table t (id integer primary key, v integer);\nfill t with 2 rows (id = :row);\n"
      "transaction a;\n let :low = 3;\n let :v in :low..2;\n delete from t where id = :v;\nend;");
  EXPECT_NE(failure().find(options_.sql + ":5:2: a range without a number in it"),
            std::string::npos)
      << failure();
}

TEST_F(SqlRunTest, NeedsADatabaseThatSpeaksSql) {
  write(kStock);
  options_.databases = {"simulated:serializable"};
  EXPECT_NE(failure().find("does not support"), std::string::npos);
}

// Whoever inserts what is there is refused, and the run goes on.
TEST_F(SqlRunTest, DuplicateKeysAreAborts) {
  write(
      "create table t (id integer primary key);\ntransaction a;\n let :id in 1..3;\n insert into t "
      "(id) values (:id);\nend;\n"
      "transaction b weight 5;\n select * from t;\nend;");
  const auto stats = run(options_);
  ASSERT_TRUE(stats.ok()) << stats.error().to_string();
  EXPECT_GT(stats->aborted, 0u);
  ASSERT_FALSE(stats->failures.empty());
}

}  // namespace
}  // namespace assay::internal::collect
