#include "collect/schedule/file.h"

#include <gtest/gtest.h>

#include <set>

#include "collect/schedule/statements.h"

namespace assay::internal::collect::schedule {
namespace {

File parsed(std::string_view text) {
  Result<File> file = parse(text, "x");
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  return file.ok() ? std::move(*file) : File{};
}

std::string refused(std::string_view text) {
  const Result<File> file = parse(text, "x.spec");
  return file.ok() ? "" : file.error().to_string();
}

// "s1: BEGIN | s2: COMMIT", in the order of the permutation.
std::string told(const File& file, size_t permutation = 0) {
  std::string out;
  if (permutation >= file.permutations.size()) return "none";
  for (const Turn& turn : file.permutations[permutation].turns) {
    const Step& step = file.steps[turn.step];
    out += (out.empty() ? "" : " | ") + file.sessions[step.session].name + ": " + step.sql;
  }
  return out;
}

TEST(ScheduleStatements, AreCutAtSemicolonsOutsideOfTexts) {
  const std::string sql =
      "select ';', \"a;b\" -- ;\n; insert into t values ($$;$$, $x$ ; $x$);; /* ; */";
  const auto all = statements_of(sql);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], "select ';', \"a;b\" -- ;");
  EXPECT_EQ(all[1], "insert into t values ($$;$$, $x$ ; $x$)");
}

TEST(ScheduleStatements, BodiesOfTriggersStayWhole) {
  EXPECT_EQ(
      statements_of("create trigger x begin select case a when 1 then 2 end; if b then c; end "
                    "if; end; begin; commit")
          .size(),
      3u);
  EXPECT_EQ(statements_of("begin; update t set a = 1; end").size(), 3u);
}

TEST(ScheduleStatements, WordsKnowTheirPlaceAndDepth) {
  const auto words = words_of("SELECT f(a, 'it''s') FROM \"T\"");
  ASSERT_EQ(words.size(), 9u);
  EXPECT_EQ(words[0].text, "select");
  EXPECT_EQ(words[3].depth, 1);
  EXPECT_EQ(words[5].text, "it's");
  EXPECT_TRUE(words[7].is("from"));
  EXPECT_EQ(words[8].text, "T");
  EXPECT_EQ(words[8].end, 29u);
}

constexpr std::string_view kSpecification = R"(# two sessions
setup { CREATE TABLE t (id int); }
setup
{ INSERT INTO t VALUES (1); }
teardown { DROP TABLE t; }
session s1
setup { BEGIN; }
step r1 { SELECT * FROM t; }
step "c 1" { COMMIT; }
session "s 2"
step w2 { UPDATE t SET id = 2; }
teardown { ROLLBACK; }
permutation w2 r1 "c 1"
permutation r1 w2("c 1", *, r1 notices 2) "c 1" r1
)";

TEST(ScheduleSpecification, IsReadAsItStands) {
  const File file = parsed(kSpecification);
  EXPECT_EQ(file.setup,
            (std::vector<std::string>{"CREATE TABLE t (id int);", "INSERT INTO t VALUES (1);"}));
  EXPECT_EQ(file.teardown, "DROP TABLE t;");
  ASSERT_EQ(file.sessions.size(), 2u);
  EXPECT_EQ(file.sessions[0].setup, "BEGIN;");
  EXPECT_EQ(file.sessions[1].teardown, "ROLLBACK;");
  ASSERT_EQ(file.permutations.size(), 2u);
  EXPECT_EQ(told(file), "s 2: UPDATE t SET id = 2; | s1: SELECT * FROM t; | s1: COMMIT;");
  const Turn& turn = file.permutations[1].turns[1];
  ASSERT_EQ(turn.markers.size(), 3u);
  EXPECT_EQ(turn.markers[0].kind, Marker::Kind::step);
  EXPECT_EQ(file.steps[turn.markers[0].step].name, "c 1");
  EXPECT_EQ(turn.markers[1].kind, Marker::Kind::launched);
  EXPECT_EQ(turn.markers[2].notices, 2u);
}

TEST(ScheduleSpecification, WhatIsWrongHasItsPlace) {
  EXPECT_EQ(refused("session s1\nstep a { SELECT 1; }\nstep a { SELECT 2; }\n"),
            "x.spec:3:6: a second step 'a'; expected a different name");
  EXPECT_EQ(refused("session s1\nstep a { SELECT 1; }\npermutation a\n b"),
            "x.spec:4:2: unknown step 'b'; expected one of a session");
  EXPECT_EQ(refused("setup { SELECT 1;"), "x.spec:1:7: unterminated SQL; expected '}'");
  EXPECT_EQ(refused("session s1 permutation"), "x.spec:1:12: 'permutation'; expected 'step'");
  EXPECT_EQ(refused("setup {}\n"), "x.spec:2:1: the end of the file; expected 'session'");
  EXPECT_EQ(refused("session s1 step a {} permutation a(a"),
            "x.spec:1:37: the end of the file; expected ',' or ')'");
  EXPECT_NE(refused("session s1 step a {} permutation a(a notices x)").find("expected a number"),
            std::string::npos);
  EXPECT_NE(refused("session s1 step a { } !").find("1:23: unexpected byte 0x21"),
            std::string::npos);
}

TEST(ScheduleLabelled, CommentsInFrontHoldUntilTheNext) {
  const File file = parsed(
      "CREATE TABLE t (a int); INSERT INTO t VALUES (1);\n"
      "/* t1 */ BEGIN; /* t2 */ BEGIN; SELECT 1;\n/* a remark */ COMMIT; /* t1 */ COMMIT;");
  EXPECT_EQ(file.setup,
            (std::vector<std::string>{"CREATE TABLE t (a int);\nINSERT INTO t VALUES (1);\n"}));
  EXPECT_EQ(told(file), "t1: BEGIN | t2: BEGIN | t2: SELECT 1 | t2: COMMIT | t1: COMMIT");
  EXPECT_EQ(file.steps[1].name, "t2.1");
  EXPECT_EQ(file.steps[3].line, 3);
}

// As shrink --sql writes it.
TEST(ScheduleLabelled, WhatShrinkWritesIsRead) {
  const File file = parsed(
      "-- First, in any connection:\nDROP TABLE IF EXISTS kv;\n\n-- Then, with one connection per "
      "session, these lines in this order.\n/* c1: c1-0 */ BEGIN;\n/* c1: c1-0 */ SELECT v FROM kv "
      "WHERE k = 'balance'; -- returned 100\n/* 2: 2-0 */ COMMIT;\n");
  EXPECT_EQ(file.setup.size(), 1u);
  EXPECT_EQ(told(file), "c1: BEGIN | c1: SELECT v FROM kv WHERE k = 'balance' | 2: COMMIT");
}

TEST(ScheduleLabelled, LinesPromptsAndCommentsBehindAreLabels) {
  EXPECT_EQ(told(parsed("-- session 1\nBEGIN;\n-- Session 2:\nBEGIN;\n-- conn 1 goes on\nCOMMIT;")),
            "session 1: BEGIN | session 2: BEGIN | session 2: COMMIT");
  EXPECT_EQ(
      told(parsed("BEGIN; -- T1\nUPDATE t SET a = 1; -- T2, BLOCKS\n-- a remark\nCOMMIT; -- T1. "
                  "This unblocks T2\n")),
      "t1: BEGIN | t2: UPDATE t SET a = 1 | t1: COMMIT");
  EXPECT_EQ(told(parsed("T1> BEGIN;\n  T2> BEGIN;\nT1: COMMIT;\n")),
            "T1: BEGIN | T2: BEGIN | T1: COMMIT");
}

TEST(ScheduleLabelled, MarkdownHasBlocksAndTables) {
  const File file = parsed(
      "# Hermitage\nSome prose; with T1.\n```sql\ncreate table t (a int);\n```\n## G0\n```sql\n"
      "begin; -- T1\ncommit; -- T1\n```\n## P4\n| step | T1 | T2 |\n|---|---|---|\n| 1 | `BEGIN` | "
      "|\n"
      "| 2 | | SELECT 'a\\|b'; COMMIT |\n");
  EXPECT_EQ(file.setup, (std::vector<std::string>{"create table t (a int);\n"}));
  ASSERT_EQ(file.permutations.size(), 2u);
  EXPECT_EQ(file.permutations[0].name, "G0");
  EXPECT_EQ(told(file), "t1: begin | t1: commit");
  EXPECT_EQ(file.permutations[1].name, "P4");
  EXPECT_EQ(told(file, 1), "t1: BEGIN | t2: SELECT 'a|b' | t2: COMMIT");
}

TEST(ScheduleLabelled, SqlWithoutLabelsIsRefused) {
  EXPECT_NE(refused("BEGIN; COMMIT;").find("x.spec:1:1: no statement names its session"),
            std::string::npos);
}

TEST(ScheduleInterleavings, AreAllThereAreInTheOrderOfTheSessions) {
  const File file = parsed("/* a */ SELECT 1; SELECT 2; /* b */ SELECT 3;");
  const auto all = interleavings(file, 100, 1);
  ASSERT_EQ(all.size(), 3u);
  std::string steps;
  for (const Permutation& p : all)
    for (const Turn& t : p.turns) steps += std::to_string(t.step);
  EXPECT_EQ(steps, "012021201");
}

TEST(ScheduleInterleavings, ASampleHasNoneTwiceAndFollowsTheSeed) {
  const File file =
      parsed("/* a */ SELECT 1; SELECT 2; SELECT 3; /* b */ SELECT 4; SELECT 5; SELECT 6;");
  const auto steps = [&](uint64_t seed) {
    std::set<std::string> all;
    for (const Permutation& p : interleavings(file, 15, seed)) {
      std::string one;
      for (const Turn& t : p.turns) one += std::to_string(t.step);
      EXPECT_LT(one.find('0'), one.find('1'));
      all.insert(one);
    }
    return all;
  };
  EXPECT_EQ(steps(1).size(), 15u);
  EXPECT_EQ(steps(1), steps(1));
  EXPECT_NE(steps(1), steps(2));
}

}  // namespace
}  // namespace assay::internal::collect::schedule
