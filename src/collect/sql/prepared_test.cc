#include "collect/sql/prepared.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "collect/lines.h"
#include "collect/sql/parser.h"

namespace assay::internal::collect::sql {
namespace {

// Says what it was asked, and answers what it is told to.
class Scripted : public DriverSession {
 public:
  CallResult begin() override { return {}; }
  CallResult call(const Request&, Reply&) override { return {}; }
  CallResult commit() override { return {}; }
  CallResult abort() override { return {}; }
  CallResult execute(const SqlCommand& command, SqlAnswer& answer) override {
    std::string asked(command.sql);
    for (const Value& v : command.parameters) asked += " | " + v.view().to_string();
    sent.push_back(asked);
    answer = answers.front();
    answers.pop_front();
    return result;
  }

  std::deque<SqlAnswer> answers;
  CallResult result;
  std::vector<std::string> sent;
};

const Dialect kReturning = {.database = "test",
                            .integer = "bigint",
                            .text = "text",
                            .key_text = "key text",
                            .update_returns = true,
                            .delete_returns = true};
const Dialect kSilent = {.database = "silent",
                         .integer = "bigint",
                         .text = "text",
                         .key_text = "key text",
                         .quote = '`'};

class PreparedTest : public testing::Test {
 protected:
  // Does one statement, and gives back what is recorded of it.
  std::string recorded(const std::string& statement, std::vector<SqlAnswer> answers) {
    file_ = *parse_file(
        "create table t (id int primary key, v int);\ntransaction a; " + statement + "; end;",
        "t.sql");
    auto prepared =
        Prepared::make(file_, file_.transactions[0].actions[0].statement, dialect_, "a");
    if (!prepared.ok()) return prepared.error().to_string();
    session_.answers.assign(answers.begin(), answers.end());
    TxnRecord record;
    Reply reply;
    const CallResult result =
        prepared->perform({}, versions_, session_, "3-17.2", record.steps, reply);
    if (result.outcome == CallOutcome::fatal) return result.message;
    std::string line;
    append_record_line(line, record);
    const size_t begin = line.find("\"ops\":") + 6;
    return line.substr(begin, line.rfind('}') - begin);
  }
  static std::vector<Value> row(int64_t id, int64_t v, const std::string& version) {
    return {Value::of(id), Value::of(v), version.empty() ? Value() : Value::of(version)};
  }

  Dialect dialect_ = kReturning;
  File file_;
  Versions versions_;
  Scripted session_;
};

const std::string kBefore = R"({"id":1,"v":5,"written_by":"1-1.1"})";

TEST_F(PreparedTest, SelectByKeyIsARead) {
  EXPECT_EQ(recorded("select v from t where id = 1", {{.rows = {row(1, 5, "1-1.1")}}}),
            R"([["r","t:1",)" + kBefore + "]]");
  EXPECT_EQ(session_.sent.back(),
            R"(SELECT "id", "v", "assay_version" FROM "assay_t" WHERE "id" = 1)");
  EXPECT_EQ(recorded("select v from t where id = 1", {{}}), R"([["r","t:1",null]])");
}

TEST_F(PreparedTest, SelectByConditionIsAQuery) {
  EXPECT_EQ(recorded("select * from t where v < 9 or v = 12 order by v desc, id",
                     {{.rows = {row(1, 5, "1-1.1")}}}),
            R"([["pred","v < 9 or v = 12",[["t:1",)" + kBefore + R"(]],{"keys":["t:","t;"]}]])");
  EXPECT_EQ(session_.sent.back(),
            R"(SELECT "id", "v", "assay_version" FROM "assay_t" WHERE ("v" < 9 OR "v" = 12) )"
            R"(ORDER BY "v" DESC, "id")");
  // Of one row, if the condition names it.
  EXPECT_EQ(recorded("select * from t where id = 1 and v < 9", {{}}),
            R"([["pred","id = 1 and v < 9",[],{"keys":["t:1","t:1"]}]])");
  EXPECT_EQ(recorded("select * from t", {{}}), R"([["range","t:","t;",[]]])");
}

// The row of an aggregate that stands alone, and one that stands beside it.
SqlAnswer alone(Value value) { return {.rows = {{std::move(value)}}}; }
std::vector<Value> beside(std::vector<Value> row, Value aggregate) {
  row.push_back(std::move(aggregate));
  return row;
}

TEST_F(PreparedTest, AnAggregateIsRecordedAsTheRowsThatItIsOf) {
  const SqlAnswer counted{
      .rows = {beside(row(1, 5, "1-1.1"), Value::of(2)), beside(row(2, 3, "1-1.2"), Value::of(2))}};
  const std::string both =
      R"([["pred","v < 9",[["t:1",)" + kBefore +
      R"(],["t:2",{"id":2,"v":3,"written_by":"1-1.2"}]],{"keys":["t:","t;"]}])";
  EXPECT_EQ(recorded("select count(*) from t where v < 9", {counted}), both + "]");
  EXPECT_EQ(
      session_.sent.back(),
      R"(SELECT "id", "v", "assay_version", "assay_aggregate" FROM )"
      R"((SELECT count(*) AS "assay_aggregate" FROM "assay_t" WHERE "v" < 9) AS "assay_result" )"
      R"(LEFT JOIN (SELECT "id", "v", "assay_version" FROM "assay_t" WHERE "v" < 9) AS )"
      R"("assay_rows" ON 1 = 1)");
  // What is asked for by a key alone is a read.
  EXPECT_EQ(recorded("select sum(v) from t where id = 1",
                     {{.rows = {beside(row(1, 5, "1-1.1"), Value::of("5"))}}}),
            R"([["r","t:1",)" + kBefore + "]]");
  // No row, and a row in which there is nothing to add up.
  const std::vector<Value> none = {{}, {}, {}, {}};
  EXPECT_EQ(recorded("select max(v) from t where v < 9", {{.rows = {none}}}),
            R"([["pred","v < 9",[],{"keys":["t:","t;"]}]])");
  EXPECT_EQ(recorded("select count(*) from t where v < 9",
                     {{.rows = {beside({{}, {}, {}}, Value::of(0))}}}),
            R"([["pred","v < 9",[],{"keys":["t:","t;"]}]])");
  EXPECT_EQ(recorded("select sum(v) from t where v is null",
                     {{.rows = {{Value::of(1), {}, Value::of("1-1.1"), {}}}}}),
            R"([["pred","v is null",[["t:1",{"id":1,"v":null,"written_by":"1-1.1"}]],)"
            R"({"keys":["t:","t;"]}]])");
}

TEST_F(PreparedTest, AnAggregateThatIsNotThatOfItsRowsIsRecordedBesideThem) {
  const auto wrong = [&](const std::string& aggregate, Value value) {
    return recorded("select " + aggregate + " from t where v < 9",
                    {{.rows = {beside(row(1, 5, "1-1.1"), std::move(value))}}});
  };
  const std::string rows =
      R"([["pred","v < 9",[["t:1",)" + kBefore + R"(]],{"keys":["t:","t;"]}],["agg","v < 9",)";
  EXPECT_EQ(wrong("count(*)", Value::of(2)), rows + R"({"count":2,"keys":["t:","t;"]}]])");
  EXPECT_EQ(wrong("sum(v)", Value()), rows + R"({"sum":null,"of":"v","keys":["t:","t;"]}]])");
  EXPECT_EQ(wrong("max(v)", Value::of(6)), rows + R"({"max":6,"of":"v","keys":["t:","t;"]}]])");
  // A sum of rows that leaves 64 bits is none that may be returned.
  const auto great = [&](Value sum) {
    std::vector<std::vector<Value>> all;
    for (const int64_t id : {1, 2}) all.push_back(beside(row(id, INT64_MAX, "1-1.1"), sum));
    return recorded("select sum(v) from t", {{.rows = std::move(all)}});
  };
  EXPECT_NE(great(Value::of(-2)).find(R"(["agg","",{"sum":-2,)"), std::string::npos);
  EXPECT_EQ(great(Value::of("18446744073709551614")),
            "what the database returned cannot be recorded: sum of t");
}

TEST_F(PreparedTest, AnAggregateWithRowsThatDoNotFitEndsTheRun) {
  const std::string cannot = "what the database returned cannot be recorded: count of t";
  EXPECT_EQ(recorded("select count(*) from t", {{}}), cannot);
  EXPECT_EQ(recorded("select count(*) from t", {alone(Value::of(2))}), cannot);
  EXPECT_EQ(
      recorded("select count(*) from t", {{.rows = {beside(row(1, 5, "1-1.1"), Value::of(2)),
                                                    beside(row(2, 5, "1-1.1"), Value::of(1))}}}),
      cannot);
  EXPECT_EQ(
      recorded("select count(*) from t",
               {{.rows = {{Value::of("a"), Value::of(5), Value::of("1-1.1"), Value::of(1)}}}}),
      "what the database returned cannot be recorded: a row of t");
}

// What databases return as a text is an integer all the same.
TEST_F(PreparedTest, AnAggregateWithoutRowsIsRecordedAsSuch) {
  EXPECT_EQ(recorded("select count(*) from t where v < 9 without rows", {alone(Value::of(2))}),
            R"([["agg","v < 9",{"count":2,"keys":["t:","t;"]}]])");
  EXPECT_EQ(session_.sent.back(), R"(SELECT count(*) FROM "assay_t" WHERE "v" < 9)");
  EXPECT_EQ(recorded("select sum(v) from t where id = 1 without rows", {alone(Value::of("12"))}),
            R"([["agg","id = 1",{"sum":12,"of":"v","keys":["t:1","t:1"]}]])");
  EXPECT_EQ(session_.sent.back(), R"(SELECT sum("v") FROM "assay_t" WHERE "id" = 1)");
  EXPECT_EQ(recorded("select min(v) from t without rows", {alone(Value())}),
            R"([["agg","",{"min":null,"of":"v","keys":["t:","t;"]}]])");
  EXPECT_EQ(recorded("select sum(v) from t without rows", {alone(Value::of("1.5"))}),
            "what the database returned cannot be recorded: sum of t");
}

// Of rows that did not come back nothing is said.
TEST_F(PreparedTest, LimitsAndSkippedLocksAreFoundOnly) {
  const std::string one =
      R"([["pred","v < 9",[["t:1",)" + kBefore + R"(]],{"keys":["t:","t;"],"claims":"found"}]])";
  EXPECT_EQ(recorded("select * from t where v < 9 limit 1", {{.rows = {row(1, 5, "1-1.1")}}}), one);
  EXPECT_EQ(recorded("select * from t where v < 9 for update skip locked",
                     {{.rows = {row(1, 5, "1-1.1")}}}),
            one);
  EXPECT_EQ(recorded("select * from t where v < 9 for update", {{.rows = {row(1, 5, "1-1.1")}}}),
            one);
  EXPECT_EQ(recorded("select * from t where v < 9 limit 1", {{}}), "[]");
  EXPECT_EQ(recorded("select * from t where id = 1 for update skip locked", {{}}), "[]");
  // What is locked was there in the one snapshot that is looked at.
  dialect_.looks_again = false;
  EXPECT_EQ(recorded("select * from t where v < 9 for share", {{}}),
            R"([["pred","v < 9",[],{"keys":["t:","t;"]}]])");
  EXPECT_EQ(session_.sent.back(),
            R"(SELECT "id", "v", "assay_version" FROM "assay_t" WHERE "v" < 9 FOR SHARE)");
  dialect_.row_locks = false;
  EXPECT_EQ(recorded("select * from t where v < 9 for share", {{}}),
            R"([["pred","v < 9",[],{"keys":["t:","t;"]}]])");
  EXPECT_EQ(session_.sent.back(),
            R"(SELECT "id", "v", "assay_version" FROM "assay_t" WHERE "v" < 9)");
}

TEST_F(PreparedTest, InsertSawThatTheKeyWasAbsentIfItSucceeded) {
  const std::string row = R"({"id":7,"v":null,"written_by":"3-17.2"})";
  EXPECT_EQ(recorded("insert into t (id) values (7)", {{}}),
            R"([["insert","t:7",)" + row + ",true]]");
  EXPECT_EQ(session_.sent.back(),
            R"(INSERT INTO "assay_t" ("id", "assay_version") VALUES (7, $1) | 3-17.2)");
  session_.result = CallResult::aborted("there is one");
  EXPECT_EQ(recorded("insert into t (id) values (7)", {{}}), R"([["w","t:7",)" + row + "]]");
}

TEST_F(PreparedTest, UpdateReadTheVersionThatItReplaced) {
  versions_.note("t:1", "1-1.1", kBefore);
  const std::string after = R"({"id":1,"v":6,"written_by":"3-17.2"})";
  EXPECT_EQ(recorded("update t set v = v + 1 where id = 1", {{.rows = {row(1, 6, "1-1.1")}}}),
            R"([["r","t:1",)" + kBefore + R"(],["w","t:1",)" + after + "]]");
  EXPECT_EQ(
      session_.sent.back(),
      R"(UPDATE "assay_t" SET "assay_before" = "assay_version", "assay_version" = $1, "v" = ("v" + 1) )"
      R"(WHERE "id" = 1 RETURNING "id", "v", "assay_before" | 3-17.2)");
  EXPECT_EQ(recorded("update t set v = v + 1 where v < 9", {{.rows = {row(1, 6, "1-1.1")}}}),
            R"([["pred","v < 9",[["t:1",)" + kBefore +
                R"(]],{"keys":["t:","t;"],"claims":"found"}],["w","t:1",)" + after + "]]");
  EXPECT_EQ(recorded("update t set v = 1 where id = 2", {{}}), R"([["r","t:2",null]])");
  EXPECT_EQ(recorded("update t set v = 1 where v < 9", {{}}), "[]");
  dialect_.looks_again = false;
  EXPECT_EQ(recorded("update t set v = 1 where v < 9", {{}}),
            R"([["pred","v < 9",[],{"keys":["t:","t;"]}]])");
  // It saw its own.
  EXPECT_EQ(recorded("update t set v = v + 1 where id = 1", {{.rows = {row(1, 6, "3-17.2")}}}),
            R"([["r","t:1",)" + after + R"(],["w","t:1",)" + after + "]]");
}

TEST_F(PreparedTest, UpdateOfAVersionThatIsNotKnownSawThatTheRowMatched) {
  const std::string after = R"({"id":1,"v":6,"written_by":"3-17.2"})";
  EXPECT_EQ(recorded("update t set v = v + 1 where id = 1", {{.rows = {row(1, 6, "9-9.9")}}}),
            R"([["pred","id = 1",[],{"keys":["t:1","t:1"],"matched":["t:1"]}],["w","t:1",)" +
                after + "]]");
}

TEST_F(PreparedTest, UpdateOfAllRowsSaysNothingOfThoseThatItDidNotSee) {
  dialect_.looks_again = false;
  EXPECT_EQ(recorded("update t set v = 6", {{.rows = {row(1, 6, "9-9.9")}}}),
            R"([["pred","id is not null",[],{"keys":["t:","t;"],"matched":["t:1"]}],)"
            R"(["w","t:1",{"id":1,"v":6,"written_by":"3-17.2"}]])");
}

TEST_F(PreparedTest, ADatabaseThatReturnsNothingIsAskedAfterwards) {
  dialect_ = kSilent;
  versions_.note("t:1", "1-1.1", kBefore);
  const std::string after = R"({"id":1,"v":6,"written_by":"3-17.2"})";
  EXPECT_EQ(recorded("update t set v = 6 where v < 9",
                     {{.rows = {}, .changed = 1}, {.rows = {row(1, 6, "1-1.1")}}}),
            R"([["pred","v < 9",[["t:1",)" + kBefore +
                R"(]],{"keys":["t:","t;"],"claims":"found"}],["w","t:1",)" + after + "]]");
  EXPECT_EQ(session_.sent.back(),
            "SELECT `id`, `v`, `assay_before` FROM `assay_t` WHERE `assay_version` = $1 | 3-17.2");
  EXPECT_EQ(recorded("update t set v = 6 where id = 1",
                     {{.rows = {}, .changed = 1}, {.rows = {row(1, 6, "")}}}),
            R"([["pred","id = 1",[],{"keys":["t:1","t:1"],"matched":["t:1"]}],["w","t:1",)" +
                after + "]]");
  EXPECT_EQ(session_.sent.back(), "SELECT `id`, `v`, `assay_before` FROM `assay_t` WHERE `id` = 1");
  EXPECT_NE(recorded("update t set v = 6 where v < 9",
                     {{.rows = {}, .changed = 2}, {.rows = {row(1, 6, "1-1.1")}}})
                .find("2 rows were updated, but 1 are there"),
            std::string::npos);
  EXPECT_EQ(recorded("update t set v = 6 where id = 1", {{.rows = {}, .changed = 0}}),
            R"([["r","t:1",null]])");
}

TEST_F(PreparedTest, DeleteReadWhatItRemoved) {
  EXPECT_EQ(recorded("delete from t where v < 9", {{.rows = {row(1, 5, "1-1.1")}}}),
            R"([["pred","v < 9",[["t:1",)" + kBefore +
                R"(]],{"keys":["t:","t;"],"claims":"found"}],["d","t:1","3-17.2"]])");
  EXPECT_EQ(recorded("delete from t where id = 1", {{.rows = {row(1, 5, "1-1.1")}}}),
            R"([["r","t:1",)" + kBefore + R"(],["d","t:1","3-17.2"]])");
  dialect_ = kSilent;
  EXPECT_EQ(
      recorded("delete from t where id = 1", {{.rows = {}, .changed = 1}}),
      R"([["pred","id = 1",[],{"keys":["t:1","t:1"],"matched":["t:1"]}],["d","t:1","3-17.2"]])");
  EXPECT_EQ(
      recorded("delete from t where v < 9", {}),
      "t.sql:2:16: silent does not report which rows a DELETE removed; expected 'where id = …'");
}

TEST_F(PreparedTest, WhatDoesNotFitTheTableEndsTheRun) {
  EXPECT_NE(
      recorded("select * from t", {{.rows = {{Value::of(1), Value::of("5"), Value::of("1-1.1")}}}})
          .find("cannot be recorded"),
      std::string::npos);
  EXPECT_NE(recorded("select * from t", {{.rows = {row(1, 5, "")}}}).find("cannot be recorded"),
            std::string::npos);
}

TEST(SqlSchema, HasTheColumnsThatNameVersions) {
  const File file = *parse_file(
      "create table t (id int primary key, name text, note text);\ncreate index on t (name);\n"
      "transaction a; delete from t; end;",
      "t.sql");
  EXPECT_EQ(
      schema_of(file, kReturning),
      (std::vector<std::string>{
          R"(DROP TABLE IF EXISTS "assay_t")",
          R"(CREATE TABLE "assay_t" ("id" bigint NOT NULL, "name" key text, "note" text, )"
          R"("assay_version" key text NOT NULL, "assay_before" key text, PRIMARY KEY ("id")))",
          R"(CREATE INDEX "assay_t_1" ON "assay_t" ("name"))"}));
  EXPECT_EQ(schema_of(file, kSilent).back(),
            "CREATE INDEX `assay_t_2` ON `assay_t` (`assay_version`)");
}

}  // namespace
}  // namespace assay::internal::collect::sql
