#include "collect/sql/parser.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "collect/sql/expression.h"

namespace assay::internal::collect::sql {
namespace {

constexpr std::string_view kTable =
    "create table t (id integer primary key, v int not null, name varchar(20));\n";

File parsed(const std::string& text) {
  Result<File> file = parse_file(text, "t.sql");
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  return file.ok() ? *file : File{};
}

// What is wrong with a transaction of one table, from its second line on.
std::string wrong(const std::string& text) {
  const Result<File> file = parse_file(std::string(kTable) + text, "t.sql");
  return file.ok() ? "nothing" : file.error().to_string();
}
std::string wrong_statement(const std::string& statement) {
  return wrong("transaction a;\n" + statement + ";\nend;");
}

TEST(SqlFile, HasTablesRowsAndTransactions) {
  const File file = parsed(R"(
-- Comments, /* of both kinds */
CREATE TABLE Accounts (id bigint PRIMARY KEY, owner text, /* cents */ balance integer NOT NULL);
create index by_owner on accounts (owner, balance);
fill accounts with 3 rows (id = :row, balance = 100 * :row % 7 - -1, owner = 'it''s');
transaction pay weight 3;
  let :from in 1..3;
  let :sum in (5, 10);
  select * from accounts where id = :from and balance >= :sum order by id desc limit 2 for update skip locked;
  let :had = balance of row;
  require :had - :sum >= 0;
  update accounts set balance = balance - :sum where id = :from;
  let :new = new;
  insert into accounts (id, balance) values (:new, :sum);
  delete from accounts where owner is null and not (balance > 5 or balance in (1, 2));
end;)");
  ASSERT_EQ(file.tables.size(), 1u);
  const Table& t = file.tables[0];
  EXPECT_EQ(t.name, "accounts");
  EXPECT_EQ(t.indexes, (std::vector<std::vector<size_t>>{{1, 2}}));
  EXPECT_EQ(t.rows[2],
            (std::vector<Value>{Value::of(3), Value::of("it's"), Value::of(300 % 7 + 1)}));
  ASSERT_EQ(file.transactions.size(), 1u);
  const Transaction& pay = file.transactions[0];
  EXPECT_EQ(pay.weight, 3u);
  EXPECT_EQ(pay.parameters, (std::vector<std::string>{"from", "sum", "had", "new"}));
  ASSERT_EQ(pay.actions.size(), 9u);
  EXPECT_EQ(pay.actions[2].statement.locked, Locked::skip);
  EXPECT_EQ(pay.actions[2].statement.order, (std::vector<std::pair<size_t, bool>>{{0, true}}));
}

// The condition that is recorded is the one that was written, and the history's own reader
// understands it.
TEST(SqlFile, ConditionsAreThoseOfTheHistory) {
  const std::vector<Value> parameters = {Value::of(7), Value::of("it's")};
  for (const auto& [sql, recorded] : std::vector<std::pair<std::string, std::string>>{
           {"v = :a", "v = 7"},
           {"v <> :a", "v != 7"},
           {"not v < 3 and v <= 1 + :a", "v >= 3 and v <= 8"},
           {"v > 1 or (v between 2 and :a and name = :b)",
            "v > 1 or (v between 2 and 7 and name = 'it''s')"},
           {"name is not null and name not in ('x', :b)",
            "name is not null and not (name in ('x', 'it''s'))"},
           {"v not between 1 and 2", "not (v between 1 and 2)"},
           {"v = 1 or v = 2 and v = 3", "v = 1 or (v = 2 and v = 3)"},
           {"name = null", "name = null"},
           {"v = -5", "v = -5"},
       }) {
    const File file = parsed(std::string(kTable) +
                             "transaction a; let :a = 7; let :b = 'it''s'; delete from t where " +
                             sql + "; end;");
    ASSERT_EQ(file.transactions.size(), 1u) << sql;
    const auto condition =
        condition_of(file.transactions[0].actions[2].statement.where, file.tables[0], parameters);
    ASSERT_TRUE(condition.ok());
    EXPECT_EQ(condition->to_string(), recorded);
    const auto read = parse_condition(condition->to_string());
    ASSERT_TRUE(read.ok()) << recorded;
    EXPECT_EQ(read->to_string(), recorded);
  }
}

TEST(SqlFile, WhichRowIsMeantByItsKey) {
  const auto statement = [](const std::string& where) {
    return parsed(std::string(kTable) + "transaction a; delete from t where " + where + "; end;");
  };
  const auto key = [&](const std::string& where) {
    const File f = statement(where);
    return key_of(f.transactions[0].actions[0].statement.where, f.tables[0]) != nullptr;
  };
  EXPECT_TRUE(key("id = 5"));
  EXPECT_TRUE(key("v = 1 and (id = 5 and v = 2)"));
  EXPECT_FALSE(key("id = 5 or v = 1"));
  EXPECT_FALSE(key("not id = 5"));
  EXPECT_FALSE(key("id < 5"));
}

TEST(SqlFile, FaultsHaveTheirPlaceAndSayWhatWasExpected) {
  EXPECT_EQ(
      wrong_statement("select avg(v) from t"),
      "t.sql:3:8: a function that is not recorded; expected columns, *, count(*), or sum, min "
      "or max of a column");
  EXPECT_EQ(
      wrong_statement("select count(v) from t"),
      "t.sql:3:14: 'v'; expected '*': rows are counted; add 'COLUMN is not null' to the condition");
  EXPECT_EQ(wrong_statement("select sum(name) from t"),
            "t.sql:3:8: the sum of texts; expected a column of integers");
  EXPECT_EQ(wrong_statement("select sum(v), max(v) from t"),
            "t.sql:3:16: a function beside something else; expected one aggregate, or columns");
  EXPECT_EQ(wrong_statement("select v, count(*) from t"),
            "t.sql:3:11: a function beside something else; expected one aggregate, or columns");
  EXPECT_EQ(wrong_statement("select max(v) from t order by v"),
            "t.sql:3:22: 'order'; expected ';'");
  EXPECT_EQ(wrong_statement("select max(v) from t without v"), "t.sql:3:30: 'v'; expected 'rows'");
  EXPECT_EQ(wrong_statement("select v from t without rows"), "t.sql:3:17: 'without'; expected ';'");
  EXPECT_EQ(wrong_statement("select max(v) from t; let :n = count"),
            "t.sql:3:32: the last select returned an aggregate and no rows; expected 'result'");
  EXPECT_EQ(
      wrong_statement("select v from t; let :n = result"),
      "t.sql:3:27: the last select returned no aggregate; expected one such as count(*) before");
  EXPECT_EQ(
      wrong_statement("select * from t where v = id"),
      "t.sql:3:27: 'id'; expected an integer, a text or a parameter; a column is allowed only "
      "on the left of a comparison");
  EXPECT_EQ(wrong_statement("insert into t (id, v) values (new, 1)"),
            "t.sql:3:31: 'new'; expected an integer, a text or a parameter; write 'let :n = new;' "
            "before the statement, and :n here");
  EXPECT_EQ(wrong_statement("select * from t where w = 1"),
            "t.sql:3:23: 't' has no column 'w'; expected one of id, v, name");
  EXPECT_EQ(wrong_statement("select * from t where v = 'x'"),
            "t.sql:3:27: a text for the column 'v'; expected an integer");
  EXPECT_EQ(wrong_statement("select * from u"),
            "t.sql:3:15: unknown table 'u'; expected one that is defined above");
  EXPECT_EQ(
      wrong_statement("select * from t where name like 'a%'"),
      "t.sql:3:28: databases differ in what LIKE matches; expected a comparison, BETWEEN or IN");
  EXPECT_EQ(wrong_statement("delete from t where v = :k"),
            "t.sql:3:25: no parameter ':k' yet; expected 'let :k …' before");
  EXPECT_EQ(wrong_statement("update t set id = 1 where v = 2"),
            "t.sql:3:14: the primary key identifies the row; expected a delete and an insert");
  EXPECT_EQ(wrong_statement("let :v = v of row"),
            "t.sql:3:10: nothing was selected yet; expected a select before");
  EXPECT_EQ(wrong("transaction a; end;"),
            "t.sql:2:13: the transaction 'a' has no statement; expected one");
  EXPECT_EQ(wrong("fill t with 2 rows (id = 1, v = 2);"),
            "t.sql:2:6: two rows have the same 'id', which is the primary key");
  EXPECT_EQ(wrong("create table kv (id int primary key);"),
            "t.sql:2:14: the name 'kv' is reserved for assay; expected another one");
  EXPECT_EQ(wrong("create table u (id int primary key, v int default 5);"),
            "t.sql:2:43: 'default'; expected primary key, not null, ',' or ')': defaults and other "
            "constraints are unsupported");
}

// Each for its own reason, which is not that something is missing.
TEST(SqlFile, WhatCannotBeRecordedIsRefused) {
  std::set<std::string> reasons;
  const std::vector<std::string> statements = {
      "select avg(v) from t",
      "select * from t, u",
      "select * from t group by v",
      "select * from t where v in (select v from t)",
      "select * from t where v = (select 1)",
      "select * from t where exists (select 1)",
      "select * from t where abs(v) = 1",
      "update t set v = abs(v)",
      "update t set v = v / 2",
      "update t set name = name || 'x'",
      "update t set v = name + 1",
      "update t set v = null",
      "insert into t (id, v) select 1, 2",
      "insert into t (id, v) values (1, 2), (2, 3)",
      "insert into t (id, v) values (1, 2) on conflict do nothing",
      "insert into t (id) values (1)",
      "insert into t (id, v) values (1)",
      "insert into t (id, v) values (1, 2, 3)",
      "delete from t where v = 1 returning id",
      "select \"v\" from t",
      "let :a = null",
      "let :a in 1..'x'",
      "let :a in (1, 'x')",
      "let :a = 99999999999999999999",
      "require 1 = 'x'",
      "select * from t where name = 'x",
      "truncate t",
  };
  for (const std::string& statement : statements) {
    const std::string reason = wrong_statement(statement);
    EXPECT_EQ(reason.find("t.sql:"), 0u) << statement;
    EXPECT_TRUE(reasons.insert(reason).second) << statement << ": " << reason;
  }
}

TEST(SqlFile, NothingNestsWithoutEnd) {
  EXPECT_NE(wrong_statement("delete from t where " + std::string(10'000, '(') + "v = 1")
                .find("expected at most 50"),
            std::string::npos);
  EXPECT_NE(wrong_statement("delete from t where v = " + std::string(10'000, '(') + "1")
                .find("expected at most 50"),
            std::string::npos);
}

TEST(SqlFile, ArithmeticKeepsWithin64Bits) {
  const auto value = [](const std::string& expression) -> Result<Value> {
    const File f = parsed(std::string(kTable) + "transaction a; let :a = " + expression +
                          "; delete from t; end;");
    return evaluate(f.transactions[0].actions[0].values[0], {});
  };
  EXPECT_EQ(*value("2 + 3 * -4 % 5"), Value::of(2 + 3 * -4 % 5));
  EXPECT_EQ(*value("-(1 - 3)"), Value::of(2));
  EXPECT_FALSE(value("9223372036854775807 + 1").ok());
  EXPECT_FALSE(value("1 % 0").ok());
  EXPECT_EQ(*value("-9223372036854775808 % -1"), Value::of(0));
}

}  // namespace
}  // namespace assay::internal::collect::sql
