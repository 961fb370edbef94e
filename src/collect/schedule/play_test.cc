// Schedules on SQLite, which every build has: what is seen of each kind of statement.
#include "collect/schedule/play.h"

#include <gtest/gtest.h>

#include "assay/format.h"
#include "collect/schedule/assemble.h"
#include "collect/schedule/row_history.h"
#include "collect/schedule/transcript.h"

namespace assay::internal::collect::schedule {
namespace {

constexpr std::string_view kTwoRows =
    "create table t (id int primary key, v int);\n"
    "insert into t values (1, 10), (2, 20);\n";

TEST(RowName, IsWhatRowKeyMade) {
  for (const std::vector<std::string>& key : std::vector<std::vector<std::string>>{
           {"7"}, {"3", "12"}, {"a,b", "c\\"}, {"", ","}, {"back\\slash"}}) {
    const auto row = row_name(row_key("seats", key));
    ASSERT_TRUE(row);
    EXPECT_EQ(row->table, "seats");
    EXPECT_EQ(row->key, key);
  }
  EXPECT_FALSE(row_name("no key"));
}

struct Seen {
  std::string history;     // as hist, without initial values
  std::string transcript;  // of the first permutation
  std::string missed;
  std::string counts;  // "reads observed/reads, writes observed/writes"
};

// The lines of sessions, without the times, which differ from run to run.
std::string transactions(const std::string& hist) {
  std::string out;
  for (size_t at = 0; at < hist.size();) {
    const size_t end = hist.find('\n', at);
    std::string line = hist.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.starts_with("initial ") || line.starts_with("order ") ||
        line.starts_with("meta "))
      continue;
    for (size_t time = line.find(" @["); time != line.npos; time = line.find(" @["))
      line.erase(time, line.find(']', time) + 1 - time);
    out += line + '\n';
  }
  return out;
}

Seen seen(const std::string& script, std::string_view setup = kTwoRows) {
  Seen out;
  const Result<File> file = parse(std::string(setup) + script, "test.sql");
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  if (!file.ok()) return out;
  const Options options{.databases = {"sqlite:"}, .isolation = {}};
  auto stage = Stage::open(*file, options);
  EXPECT_TRUE(stage.ok()) << stage.error().to_string();
  if (!stage.ok()) return out;
  const Permutation& permutation = file->permutations.at(0);
  auto played = (*stage)->play(permutation);
  EXPECT_TRUE(played.ok()) << played.error().to_string();
  if (!played.ok()) return out;
  out.transcript = transcript(*file, permutation, *played);
  auto assembled = assemble(*file, *played, (*stage)->driver().describe());
  EXPECT_TRUE(assembled.ok()) << assembled.error().to_string();
  if (!assembled.ok()) return out;
  std::string text;
  EXPECT_TRUE(write_history_text(assembled->history, "hist", text).ok());
  out.history = transactions(text);
  for (const std::string& m : assembled->missed) out.missed += m + "; ";
  out.counts = std::to_string(assembled->reads_observed) + "/" + std::to_string(assembled->reads) +
               ", " + std::to_string(assembled->writes_observed) + "/" +
               std::to_string(assembled->writes);
  return out;
}

TEST(SchedulePlay, AKeyThatIsAskedForIsARead) {
  const Seen s = seen("/* a */ select v from t where id = 1; select * from t where id = 7;");
  EXPECT_EQ(s.history,
            "a: \"a.1\" { r(\"t:1\",{\"id\":1,\"v\":10}) } \"a.2\" { r(\"t:7\",null) }\n");
  EXPECT_EQ(s.counts, "2/2, 0/0");
}

// The user sees what he asked for, and nothing besides.
TEST(SchedulePlay, TheTranscriptIsThatOfTheStatementsAsTheyStand) {
  const Seen s = seen("/* a */ begin; select v from t where id = 1; /* b */ select sum(v) from t;");
  EXPECT_EQ(s.transcript,
            "starting permutation: a.1 a.2 b.1\n"
            "step a.1: begin\n"
            "step a.2: select v from t where id = 1\n v\n--\n10\n(1 row)\n\n"
            "step b.1: select sum(v) from t\nsum(v)\n------\n    30\n(1 row)\n\n");
}

TEST(SchedulePlay, ConditionsAreColumnsThatTheDatabaseFillsIn) {
  const Seen s = seen("/* a */ select id from t x where x.v % 3 = 1 or v is null;");
  EXPECT_EQ(s.history,
            "a: a { p(\"t:\"..\"t;\": \"x.v % 3 = 1 or v is null\" = 1,"
            "[\"t:1\"={\"id\":1,\"v\":10,\"x.v % 3 = 1 or v is null\":1}]) "
            "r(\"t:1\",{\"id\":1,\"v\":10,\"x.v % 3 = 1 or v is null\":1}) }\n");
}

// It may be another one at the end.
TEST(SchedulePlay, AConditionOfTheMomentSaysNothingOfOtherRows) {
  const Seen s = seen("/* a */ select * from t where v > abs(random() % 2) + 15;");
  EXPECT_EQ(s.history, "a: a { r(\"t:2\",{\"id\":2,\"v\":20}) }\n");
}

TEST(SchedulePlay, ChangesTellWhatWasThereOnlyWhereItMattered) {
  const Seen s = seen(
      "/* a */ begin; update t set v = 11 where id = 1; update t set v = v + 1 where id = 2; "
      "insert "
      "into t values (3, 30); delete from t where id = 3; update t set id = 4 where id = 1; "
      "commit;");
  EXPECT_EQ(
      s.history,
      "a: a { w(\"t:1\",{\"id\":1,\"v\":11}) r(\"t:2\",{\"id\":2,\"v\":20}) "
      "w(\"t:2\",{\"id\":2,\"v\":21}) w(\"t:3\",{\"id\":3,\"v\":30}) d(\"t:3\",\"deleted by a\") "
      "d(\"t:1\",\"deleted by a\") w(\"t:4\",{\"id\":4,\"v\":11}) }\n");
  EXPECT_EQ(s.counts, "0/0, 5/5");
}

TEST(SchedulePlay, AggregatesReadTheRowsBeneathThem) {
  const Seen s = seen("/* a */ select count(*), max(v) from t where v > 10;");
  EXPECT_EQ(s.history,
            "a: a { p(\"t:\"..\"t;\": \"v > 10\" = 1,[\"t:2\"={\"id\":2,\"v\":20,\"v > 10\":1}]) "
            "r(\"t:2\",{\"id\":2,\"v\":20,\"v > 10\":1}) }\n");
}

TEST(SchedulePlay, OfAJoinTheRowsAreRead) {
  const Seen s =
      seen("/* a */ select * from t x left join t as y on x.id = y.v where x.id = 1 order by 1;");
  EXPECT_EQ(s.history, "a: a { r(\"t:1\",{\"id\":1,\"v\":10}) }\n");
  EXPECT_EQ(s.counts, "1/1, 0/0");
}

TEST(SchedulePlay, AQueryThatStopsSaysNothingOfOtherRows) {
  const Seen s = seen("/* a */ select * from t order by id limit 1;");
  EXPECT_EQ(s.history, "a: a { r(\"t:1\",{\"id\":1,\"v\":10}) }\n");
}

TEST(SchedulePlay, RowsWithoutAKeyAreTheChainsOfTheirPlaces) {
  const Seen s = seen("/* a */ begin; update u set v = v + 1; select * from u; commit;",
                      "create table u (v int);\ninsert into u values (5);\n");
  EXPECT_EQ(s.history,
            "a: a { r(\"u:#1\",{\"v\":5}) w(\"u:#1\",{\"v\":6}) "
            "range(\"u:\"..\"u;\",[\"u:#1\"={\"v\":6}]) r(\"u:#1\",{\"v\":6}) }\n");
}

TEST(SchedulePlay, WhatIsNotPlainIsPlayedAndCounted) {
  const Seen s = seen(
      "/* a */ select distinct v from t; select v from t union select 1; with x as (select * from "
      "t) "
      "select * from x; insert into t select id + 10, v from t; select 1; pragma user_version; "
      "select * from t where v = (select max(v) from t);");
  EXPECT_EQ(s.missed,
            "a.1: DISTINCT; a.2: UNION; a.3: WITH; a.4: a sub-select of a change; a.7: a "
            "sub-select; ");
  EXPECT_EQ(s.counts, "0/5, 1/1");
  EXPECT_EQ(s.transcript.find("ERROR"), std::string::npos) << s.transcript;
}

TEST(SchedulePlay, ATableThatAStepAltersIsLeftOut) {
  const Seen s = seen("/* a */ select * from t; alter table t add column w int; select * from t;");
  EXPECT_EQ(s.history, "# no transactions\n");
  EXPECT_EQ(s.missed, "a.1: a table that a step alters; a.3: a table that a step alters; ");
}

TEST(SchedulePlay, WhatASavepointUndidIsLeftOut) {
  const Seen s = seen(
      "/* a */ begin; update t set v = 1 where id = 1; savepoint s; update t set v = 2 where id = "
      "2; "
      "rollback to savepoint s; commit; /* b */ select v from t where id = 2;");
  EXPECT_EQ(s.history,
            "a: a { w(\"t:1\",{\"id\":1,\"v\":1}) }\nb: b { r(\"t:2\",{\"id\":2,\"v\":20}) }\n");
}

TEST(SchedulePlay, OutcomesAreThoseOfTransactions) {
  const Seen s = seen(
      "/* a */ begin; update t set v = 1 where id = 1; rollback; /* b */ begin; select * from t "
      "where id = 1; /* a */ update t set v = 3 where id = 1; /* b */ update t set v = 4 where id "
      "= 2; rollback;");
  EXPECT_EQ(s.history,
            "a: \"a.1\" { w(\"t:1\",{\"id\":1,\"v\":1}) }!\n"
            "b: b { r(\"t:1\",{\"id\":1,\"v\":10}) }!\n"
            "a: \"a.2\" { w(\"t:1\",{\"id\":1,\"v\":3}) }\n");
  EXPECT_NE(s.transcript.find("step b.3: update t set v = 4 where id = 2\nERROR:  SQLITE_BUSY"),
            std::string::npos)
      << s.transcript;
}

// Of what an UPDATE or DELETE left alone, its condition says that it did not find it.
TEST(SchedulePlay, TheConditionOfAChangeIsAQuery) {
  const Seen s = seen(
      "/* a */ begin; delete from t where v > 15; update t set v = 1 where v = 7; "
      "update t set v = 2 where id = 7; update t set v = 3 where id > 7; commit;");
  EXPECT_EQ(s.history,
            "a: a { p(\"t:\"..\"t;\": \"v > 15\" = 1,[\"t:2\"={\"id\":2,\"v\":20,\"v = "
            "7\":0,\"v > 15\":1}]) r(\"t:2\",{\"id\":2,\"v\":20,\"v = 7\":0,\"v > 15\":1}) "
            "d(\"t:2\",\"deleted by a\") p(\"t:\"..\"t;\": \"v = 7\" = 1,[]) r(\"t:7\",null) }\n");
}

TEST(SchedulePlay, AConditionIsNoQueryWhereATriggerMayKeepTheChangeFromARow) {
  const Seen s = seen("/* a */ update t set v = 1 where v > 15;",
                      "create table t (id int primary key, v int); insert into t values (2, 20);\n"
                      "create trigger keep before update on t begin select raise(ignore); end;\n");
  EXPECT_EQ(s.history, "# no transactions\n");
}

// It may look at what it waited for again, in a later state.
TEST(SchedulePlay, AConditionThatWaitedIsNoQuery) {
  const Seen s = seen(
      "/* a */ begin; update t set v = 1 where id = 1; /* b */ delete from t where v = 20; "
      "/* a */ commit;");
  EXPECT_EQ(s.history,
            "a: a { w(\"t:1\",{\"id\":1,\"v\":1,\"v = 20\":0}) }\n"
            "b: b { r(\"t:2\",{\"id\":2,\"v\":20,\"v = 20\":1}) d(\"t:2\",\"deleted by b\") }\n");
}

// As soon as the other writer has ended; what its own session has to do besides comes afterwards.
TEST(SchedulePlay, AWriterWaitsForItsTurn) {
  const Seen s = seen(
      "/* a */ begin; update t set v = 1 where id = 1; /* b */ begin; update t set v = 2 where id "
      "= 1; select v from t where id = 2; /* a */ update t set v = 3 where id = 2; commit; "
      "/* b */ commit;");
  EXPECT_EQ(s.transcript,
            "starting permutation: a.1 a.2 b.1 b.2 b.3 a.3 a.4 b.4\n"
            "step a.1: begin\nstep a.2: update t set v = 1 where id = 1\nstep b.1: begin\n"
            "step b.2: update t set v = 2 where id = 1 <waiting ...>\n"
            "step b.3: select v from t where id = 2 <waiting ...>\n"
            "step a.3: update t set v = 3 where id = 2\nstep a.4: commit\n"
            "step b.2: <... completed>\n"
            "step b.3: <... completed>\nv\n-\n3\n(1 row)\n\nstep b.4: commit\n");
}

TEST(SchedulePlay, ASetupThatFailsIsBadInput) {
  const Result<File> file = parse("insert into nowhere values (1); /* a */ select 1;", "x.sql");
  ASSERT_TRUE(file.ok());
  const Options options{.databases = {"sqlite:"}, .isolation = {}};
  auto stage = Stage::open(*file, options);
  ASSERT_TRUE(stage.ok());
  const auto played = (*stage)->play(file->permutations[0]);
  ASSERT_FALSE(played.ok());
  EXPECT_EQ(played.error().kind, ErrorKind::bad_input);
  EXPECT_NE(played.error().message.find("the setup failed: no such table: nowhere"),
            std::string::npos);
}

TEST(SchedulePlay, ATableThatAStepMakesIsCounted) {
  const Seen s = seen(
      "/* a */ create table n (a int); insert into n values (1); select * from n; select name from "
      "sqlite_master;");
  EXPECT_EQ(s.missed, "a.2: a table that is not known; a.3: a table that is not known; ");
  EXPECT_EQ(s.counts, "0/1, 0/1");
}

TEST(SchedulePlay, AViewIsCounted) {
  const Seen s = seen("/* a */ select * from w;",
                      "create table t (a int primary key);\ncreate view w as select a from t;\n");
  EXPECT_EQ(s.missed, "a.1: a view; ");
}

// Each permutation has tables of its own, and none of them stays.
TEST(SchedulePlay, PermutationsDoNotMeet) {
  const Result<File> file = parse(
      std::string(kTwoRows) + "/* a */ begin; update t set v = v + 1; /* b */ select * from t;",
      "x.sql");
  ASSERT_TRUE(file.ok());
  const Options options{.databases = {"sqlite:"}, .isolation = {}};
  auto stage = Stage::open(*file, options);
  ASSERT_TRUE(stage.ok());
  std::string first;
  for (int i = 0; i < 3; ++i) {
    const auto played = (*stage)->play(file->permutations[0]);
    ASSERT_TRUE(played.ok()) << played.error().to_string();
    const std::string told = transcript(*file, file->permutations[0], *played);
    if (i == 0) first = told;
    EXPECT_EQ(told, first);
  }
}

}  // namespace
}  // namespace assay::internal::collect::schedule
