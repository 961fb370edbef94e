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

// What databases return as a text is an integer all the same.
TEST_F(PreparedTest, AggregatesAreRecordedAsSuch) {
  const auto returned = [](Value value) { return SqlAnswer{.rows = {{std::move(value)}}}; };
  EXPECT_EQ(recorded("select count(*) from t where v < 9", {returned(Value::of(2))}),
            R"([["agg","v < 9",{"count":2,"keys":["t:","t;"]}]])");
  EXPECT_EQ(session_.sent.back(), R"(SELECT count(*) FROM "assay_t" WHERE "v" < 9)");
  EXPECT_EQ(recorded("select sum(v) from t where id = 1", {returned(Value::of("12"))}),
            R"([["agg","id = 1",{"sum":12,"of":"v","keys":["t:1","t:1"]}]])");
  EXPECT_EQ(session_.sent.back(), R"(SELECT sum("v") FROM "assay_t" WHERE "id" = 1)");
  EXPECT_EQ(recorded("select min(v) from t", {returned(Value())}),
            R"([["agg","",{"min":null,"of":"v","keys":["t:","t;"]}]])");
  EXPECT_EQ(recorded("select sum(v) from t", {returned(Value::of("1.5"))}),
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
                .find("2 rows were updated and 1 are there"),
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
  EXPECT_EQ(recorded("delete from t where v < 9", {}),
            "t.sql:2:16: silent does not say which rows a DELETE removed; expected 'where id = …'");
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
