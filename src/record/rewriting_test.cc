#include "record/rewriting.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "record/composite.h"
#include "record/shape.h"
#include "record/test_catalogue.h"

namespace assay::internal::record {
namespace {

class Rewriting : public testing::Test {
 protected:
  void SetUp() override {
    if (!Rewriter::is_possible()) GTEST_SKIP() << "built without libpg_query (libpg-query-dev)";
    rewriter_ = std::make_unique<Rewriter>(test_catalogue(), std::set<uint32_t>{1, 2, 5, 7, 8});
  }
  const Plan& plan(std::string_view sql) { return *kept_.emplace_back(rewriter_->plan(sql)); }
  const Part& part(std::string_view sql) { return plan(sql).parts.at(0); }

  std::unique_ptr<Rewriter> rewriter_;
  std::vector<std::shared_ptr<const Plan>> kept_;
};

constexpr std::string_view kT = "ROW(\"t\".tableoid, \"t\".xmin, \"t\".\"id\")::pg_catalog.text";

std::string with(std::string_view before, std::string_view row, std::string_view after) {
  return std::string(before) + ", " + std::string(row) + " AS assay_rows " + std::string(after);
}
std::string all_of(std::string_view row) {
  return "pg_catalog.array_agg(" + std::string(row) + ")::pg_catalog.text";
}

TEST_F(Rewriting, Shapes) {
  struct Shape {
    std::string_view before, row, after;
  };
  const std::string x = "ROW(\"x\".tableoid, \"x\".xmin, \"x\".\"id\")::pg_catalog.text";
  const std::string tu =
      "ROW(\"t\".tableoid, \"t\".xmin, \"t\".\"id\", \"u\".tableoid, \"u\".xmin, \"u\".\"a\", "
      "\"u\".\"B\")::pg_catalog.text";
  const std::string agg = all_of(kT), other =
                                          "ROW(\"twice\".tableoid, \"twice\".xmin, "
                                          "\"twice\".\"id\")::pg_catalog.text";
  for (const Shape& s :
       std::vector<Shape>{{"SELECT *", kT, " FROM t"},
                          {"select id, v", kT, " from t where id = $1 order by 2 limit 3"},
                          {"SELECT v", kT, " -- FROM u\n FROM t"},
                          {"SELECT *", x, " FROM public.t AS x FOR UPDATE"},
                          {"SELECT t.id", tu, " FROM t LEFT JOIN u ON t.id = u.a"},
                          {"SELECT t.id", tu, " FROM t, u WHERE t.id = u.a"},
                          {"SELECT count(*)", agg, " FROM t"},
                          {"SELECT v, sum(w)", agg, " FROM t GROUP BY v"},
                          {"SELECT v", agg, " FROM t GROUP BY v"},
                          {"SELECT count(*) OVER ()", kT, " FROM t"},
                          {"SELECT v IS DISTINCT FROM 3", kT, " FROM t"},
                          {"SELECT extract(year from d), 'FROM t'", kT, " FROM t"},
                          {"SELECT DISTINCT ON (v) v", kT, " FROM t"},
                          {"SELECT 1", other, " FROM other.twice"},
                          {"/*file='a.py:3'*/ SELECT v", kT, " /* kept */ FROM ONLY t;"},
                          {"SELECT v", kT, " FROM t JOIN generate_series(1, 3) g ON true"}}) {
    const std::string sql = std::string(s.before) + std::string(s.after);
    EXPECT_EQ(plan(sql).sql, with(s.before, s.row, s.after));
    EXPECT_EQ(part(sql).missed, "") << sql;
    EXPECT_TRUE(part(sql).reads && part(sql).tells && !part(sql).may_write) << sql;
    EXPECT_EQ(plan(sql).sql.substr(plan(sql).added.at(0).first, 2), ", ");
  }
}

// Of the first it tells some rows, of the second none.
TEST_F(Rewriting, WhatIsNotTold) {
  const std::vector<std::pair<std::string_view, std::string_view>> partly = {
      {"SELECT * FROM t WHERE id IN (SELECT a FROM u)", "a sub-select"},
      {"SELECT (SELECT max(a) FROM u) FROM t", "a sub-select"},
      {"SELECT * FROM t, (SELECT * FROM u) s", "a sub-select"},
      {"SELECT t.v FROM t, (SELECT DISTINCT a FROM u) s", "a sub-select"},
      {"SELECT t.v FROM t, (SELECT count(*) FROM u) s", "a sub-select"},
      {"SELECT t.v, to_json(s) FROM t, (SELECT a FROM u) s", "a sub-select"},
      {"SELECT t.v, (s).a FROM t, (SELECT a FROM u) s", "a sub-select"},
      {"SELECT t.v, x.s.* FROM t, (SELECT a FROM u) s", "a sub-select"},
      {"SELECT t.v FROM t NATURAL JOIN (SELECT a FROM u) s", "a sub-select"},
      {"SELECT v FROM t UNION ALL SELECT DISTINCT a FROM u", "DISTINCT"},
      {"SELECT v FROM t UNION ALL SELECT a FROM u LIMIT (SELECT 1)", "a sub-select"},
      {"SELECT * FROM t, v", "a view"},
      {"WITH w AS (SELECT 1 AS a) SELECT * FROM t, w", "a sub-select"},
      {"WITH w AS (SELECT a FROM u) SELECT t.v FROM t, w, w x", "WITH"},
      {"WITH RECURSIVE w AS (SELECT a FROM u) SELECT t.v FROM t, w", "WITH"},
      {"WITH w AS (SELECT a FROM u) SELECT t.v FROM t, (SELECT a FROM w) s", "WITH"},
      {"SELECT v FROM t GROUP BY v HAVING count(*) > 1", "HAVING"},
      {"SELECT * FROM t, nokey", "a table without a primary key"},
      {"SELECT *, transfer(1) FROM t", "a user-defined function"}};
  for (const auto& [sql, why] : partly) {
    EXPECT_EQ(part(sql).missed, why) << sql;
    EXPECT_TRUE(part(sql).tells) << sql;
  }
  const std::vector<std::pair<std::string_view, std::string_view>> not_at_all = {
      {"SELECT * FROM v", "a view"},
      {"SELECT * FROM nokey", "a table without a primary key"},
      {"SELECT * FROM unlogged", "a table that is not logged"},
      {"SELECT * FROM secret", "a table of which the user may not read all"},
      {"SELECT * FROM twice", "a table that is not known"},
      {"SELECT * FROM missing", "a table that is not known"},
      {"SELECT * FROM t AS x (one, two)", "columns with other names"},
      {"SELECT DISTINCT v FROM t", "DISTINCT"},
      {"SELECT v FROM t UNION SELECT a FROM u", "UNION"},
      {"SELECT v FROM t UNION ALL SELECT 1 EXCEPT SELECT a FROM u", "UNION"},
      {"SELECT v FROM t UNION ALL VALUES (1)", "SELECT of no columns"},
      {"SELECT FROM t", "SELECT of no columns"},
      {"SELECT * FROM (t JOIN u ON t.id = u.a) j", "a join with a name"},
      {"WITH w AS (SELECT * FROM t) SELECT * FROM w", "a sub-select"},
      {"WITH w AS (SELECT * FROM t) SELECT v FROM w WHERE v IN (SELECT v FROM w)", "WITH"},
      {"WITH w AS (SELECT v FROM t) SELECT v FROM w UNION ALL SELECT 1", "WITH"},
      {"WITH w AS (DELETE FROM t RETURNING *) SELECT * FROM u", "WITH that writes"},
      {"SELECT assay_rows FROM t", "a SELECT of an unusual form"},
      {"SELECT transfer(1, 2)", "a user-defined function"},
      {"SELEC 1", "a statement that does not parse"},
      {"EXECUTE p(1)", "an unknown prepared statement"},
      {"FETCH 2 FROM c", "an unknown cursor"},
      {"CREATE TABLE x AS EXECUTE p", "CREATE TABLE AS EXECUTE"},
      {"EXPLAIN ANALYZE EXECUTE p", "EXPLAIN"},
      {"COPY t TO STDOUT", "COPY"}};
  for (const auto& [sql, why] : not_at_all) {
    EXPECT_EQ(part(sql).missed, why) << sql;
    EXPECT_FALSE(part(sql).tells) << sql;
    EXPECT_TRUE(part(sql).reads) << sql;
    EXPECT_EQ(plan(sql).sql, "");
  }
  for (const std::string_view sql : {"SELECT 1", "SELECT * FROM pg_class", "SHOW work_mem",
                                     "SELECT * FROM pg_catalog.pg_class c", "VALUES (1)"}) {
    EXPECT_FALSE(part(sql).reads) << sql;
    EXPECT_EQ(plan(sql).sql, "");
  }
}

TEST_F(Rewriting, ChangesAreSentAsTheyAre) {
  const auto depends = [&](std::string_view sql) {
    EXPECT_EQ(plan(sql).sql, "");
    EXPECT_TRUE(part(sql).may_write && part(sql).reads) << sql;
    EXPECT_EQ(part(sql).changed, "t") << sql;
    return part(sql).depends_on_rows;
  };
  EXPECT_FALSE(depends("UPDATE t SET v = 90 WHERE id = 1"));
  EXPECT_TRUE(depends("UPDATE t SET v = v - 10 WHERE id = 1"));
  EXPECT_TRUE(depends("UPDATE t SET v = 90 WHERE v > 3"));
  EXPECT_FALSE(depends("UPDATE t SET v = 90 WHERE id = 1 RETURNING w"));
  EXPECT_FALSE(depends("DELETE FROM t WHERE t.id = $1"));
  EXPECT_TRUE(depends("DELETE FROM t WHERE v = 3"));
  EXPECT_FALSE(depends("INSERT INTO t VALUES (1, 2)"));
  EXPECT_FALSE(
      depends("INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET v = excluded.v"));
  EXPECT_TRUE(depends("INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET v = t.v + 1"));
  EXPECT_EQ(part("UPDATE t SET v = (SELECT max(a) FROM u)").missed,
            "what a change reads elsewhere");
  EXPECT_EQ(part("INSERT INTO t SELECT * FROM u").missed, "what a change reads elsewhere");
}

TEST_F(Rewriting, TransactionsAndSettings) {
  EXPECT_EQ(part("BEGIN ISOLATION LEVEL SERIALIZABLE").isolation, "serializable");
  EXPECT_EQ(part("START TRANSACTION").kind, Part::Kind::begin);
  EXPECT_EQ(part("END").kind, Part::Kind::commit);
  EXPECT_EQ(part("ABORT").kind, Part::Kind::rollback);
  EXPECT_EQ(part("ROLLBACK TO SAVEPOINT a").kind, Part::Kind::rollback_to);
  EXPECT_EQ(part("PREPARE TRANSACTION 'x'").kind, Part::Kind::prepare);
  EXPECT_EQ(part("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").isolation, "repeatable read");
  const Part& session =
      part("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
  EXPECT_EQ(session.isolation, "serializable");
  EXPECT_TRUE(session.for_session);
  EXPECT_TRUE(part("SET default_transaction_isolation = 'serializable'").for_session);
  EXPECT_TRUE(part("SET ROLE bob").changes_user);
  EXPECT_EQ(part("ALTER TABLE t ADD c int").kind, Part::Kind::definition);
  EXPECT_EQ(part("CREATE TEMP TABLE t (a int)").temporary, (std::vector<std::string>{"t"}));
  EXPECT_TRUE(rewriter_->hides("t"));
  EXPECT_FALSE(rewriter_->hides("nothing"));
}

TEST_F(Rewriting, ConditionsThatMeanTheSameHere) {
  const auto where = [&](const std::string& condition) {
    return part("SELECT v FROM t WHERE " + condition).where.dump();
  };
  EXPECT_EQ(part("SELECT * FROM t").where.dump(), "[]");
  EXPECT_EQ(part("SELECT count(*) FROM t GROUP BY v").where.dump(), "[]");
  EXPECT_EQ(where("v = 3"), R"x(["(","\"v\""," = ","3",")"])x");
  EXPECT_EQ(where("t.who <> 'it''s'"), R"x(["not (","\"who\""," = ","'it''s'",")"])x");
  EXPECT_EQ(
      where("v >= $2 AND NOT who = $1"),
      R"x(["((","(","\"v\""," >= ",[2,"number"],")",") and (","not (","(","\"who\""," = ",[1,"text"],")",")","))"])x");
  EXPECT_EQ(
      where("id IN (1, 0) OR v IS NOT NULL"),
      R"x(["((","(","\"id\""," in (","1",", ","0",")",")",") or (","not (","\"v\""," is null)","))"])x");
  EXPECT_EQ(where("v NOT BETWEEN 1 AND $1"),
            R"x(["not (","\"v\""," between ","1"," and ",[1,"number"],")"])x");
  for (const char* open :
       {"who < 'a'", "v = '3'", "v = 1.5", "v = -2", "v + 1 = 2", "lower(who) = 'a'", "who = 'é'",
        "d = 3", "v = id", "who LIKE 'a%'", "v = (SELECT 1)", "xmin = 3"})
    EXPECT_EQ(where(open), "null") << open;
  for (const char* open :
       {"SELECT * FROM t LIMIT 1", "SELECT * FROM t FOR UPDATE", "SELECT * FROM t, u",
        "SELECT DISTINCT ON (v) v FROM t", "SELECT unnest(x) FROM t", "SELECT * FROM t OFFSET 1",
        "SELECT * FROM t WHERE id IN (SELECT 1)"})
    EXPECT_EQ(part(open).where.dump(), "null") << open;
}

TEST_F(Rewriting, OfSeveralStatementsEachTells) {
  const Plan& both = plan("SELECT * FROM t; UPDATE t SET v = 1; SELECT é FROM t");
  ASSERT_EQ(both.parts.size(), 3u);
  EXPECT_EQ(both.sql, with("SELECT *", kT, " FROM t; UPDATE t SET v = 1; ") +
                          with("SELECT é", kT, " FROM t"));
  EXPECT_EQ(both.parts[2].sql, "SELECT é FROM t");
  EXPECT_EQ(both.sql.substr(both.added.at(1).first, both.added.at(1).second),
            ", " + std::string(kT) + " AS assay_rows ");
  EXPECT_TRUE(plan("").parts.empty());
}

TEST_F(Rewriting, AnArmOfUnionAllHasTheColumnsOfAll) {
  const std::string t = "\"t\".tableoid, \"t\".xmin, \"t\".\"id\"",
                    u = "\"u\".tableoid, \"u\".xmin, \"u\".\"a\", \"u\".\"B\"";
  const auto row = [](const std::string& columns) {
    return ", ROW(" + columns + ")::pg_catalog.text AS assay_rows ";
  };
  const std::string three =
      "SELECT v FROM t UNION ALL (SELECT a FROM u LIMIT 1) UNION ALL SELECT 7";
  EXPECT_EQ(plan(three + " ORDER BY 1").sql,
            "SELECT v" + row(t + ", NULL, NULL, NULL, NULL") + " FROM t UNION ALL (SELECT a" +
                row("NULL, NULL, NULL, " + u) + " FROM u LIMIT 1) UNION ALL SELECT 7" +
                row("NULL, NULL, NULL, NULL, NULL, NULL, NULL") + " ORDER BY 1");
  EXPECT_EQ(part(three).missed, "");
  EXPECT_EQ(part(three).from.size(), 2u);
  EXPECT_EQ(
      plan("SELECT v FROM t UNION ALL SELECT count(*) FROM t").sql,
      "SELECT v, ARRAY[ROW(" + t +
          ", NULL, NULL, NULL)::pg_catalog.text]::pg_catalog.text AS "
          "assay_rows  FROM t UNION ALL SELECT count(*), pg_catalog.array_agg(ROW(NULL, NULL, "
          "NULL, " +
          t + ")::pg_catalog.text)::pg_catalog.text AS assay_rows  FROM t");
  EXPECT_TRUE(part("SELECT v FROM t UNION ALL SELECT count(*) FROM t").aggregated);
  EXPECT_EQ(part(three).where.dump(), "null");
  // With constants, at the same places.
  EXPECT_EQ(plan("SELECT 1, v FROM t WHERE id = 17 UNION ALL SELECT 2, 3").sql,
            "SELECT 1, v" + row(t) + " FROM t WHERE id = 17 UNION ALL SELECT 2, 3" +
                row("NULL, NULL, NULL"));
}

TEST_F(Rewriting, ASubSelectInFromHasColumnsForTheOuterSelect) {
  const std::string t =
      ", \"t\".tableoid AS assay_rows_1, \"t\".xmin AS assay_rows_2, "
      "\"t\".\"id\" AS assay_rows_3 ";
  const std::string of = "\"s\".assay_rows_1, \"s\".assay_rows_2, \"s\".assay_rows_3";
  EXPECT_EQ(plan("SELECT s.v FROM (SELECT v FROM t WHERE id = 7 LIMIT 3) s (v)").sql,
            "SELECT s.v, ROW(" + of + ")::pg_catalog.text AS assay_rows  FROM (SELECT v" + t +
                " FROM t WHERE id = 7 LIMIT 3) s (v)");
  EXPECT_EQ(plan("WITH w (v) AS (SELECT v FROM t) SELECT s.v FROM w s").sql,
            "WITH w (v) AS (SELECT v" + t + " FROM t) SELECT s.v, ROW(" + of +
                ")::pg_catalog.text AS assay_rows  FROM w s");
  const std::string counted = "SELECT count(*) FROM (SELECT * FROM t) s JOIN u ON u.a = s.id";
  EXPECT_EQ(plan(counted).sql,
            "SELECT count(*), pg_catalog.array_agg(ROW(" + of +
                ", \"u\".tableoid, \"u\".xmin, \"u\".\"a\", \"u\".\"B\")::pg_catalog.text)"
                "::pg_catalog.text AS assay_rows  FROM (SELECT *" +
                t + " FROM t) s JOIN u ON u.a = s.id");
  for (const std::string& sql :
       {counted, std::string("SELECT o.v FROM (SELECT s.v FROM (SELECT v FROM t) s) o")}) {
    EXPECT_EQ(part(sql).missed, "") << sql;
    EXPECT_TRUE(part(sql).tells && part(sql).where.is_null()) << sql;
    EXPECT_EQ(part(sql).from.at(0), (std::pair<std::string, size_t>("t", 3))) << sql;
  }
}

// PREPARE and DECLARE return no rows; what they name does.
TEST_F(Rewriting, WhatHasANameTellsWhenItIsUsed) {
  const auto named = [&](std::string_view sql) {
    EXPECT_FALSE(part(sql).tells || part(sql).reads) << sql;
    EXPECT_EQ(part(sql).kind, Part::Kind::name);
    return part(sql).named->parts.at(0);
  };
  const std::string cursor = "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT v FROM t WHERE v = 3";
  EXPECT_EQ(plan(cursor).sql,
            with("DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT v", kT, " FROM t WHERE v = 3"));
  EXPECT_EQ(part(cursor).called, "c");
  EXPECT_TRUE(part(cursor).outlives && part(cursor).of_cursor);
  EXPECT_TRUE(named(cursor).tells && named(cursor).reads && !named(cursor).is_late);
  EXPECT_EQ(named(cursor).sql, cursor);
  EXPECT_EQ(named(cursor).where.dump(), R"x(["(","\"v\""," = ","3",")"])x");
  EXPECT_TRUE(named("DECLARE c CURSOR FOR SELECT v FROM t FOR UPDATE").is_late);
  EXPECT_EQ(named("DECLARE c CURSOR FOR SELECT DISTINCT v FROM t").missed, "DISTINCT");

  const std::string prepare = "PREPARE \"P\" (int) AS SELECT v FROM t WHERE v = $1";
  EXPECT_EQ(plan(prepare).sql, with("PREPARE \"P\" (int) AS SELECT v", kT, " FROM t WHERE v = $1"));
  EXPECT_EQ(part(prepare).called, "P");
  EXPECT_EQ(named(prepare).sql, "SELECT v FROM t WHERE v = $1");
  EXPECT_EQ(named(prepare).where.dump(), R"x(["(","\"v\""," = ",[1,"number"],")"])x");
  EXPECT_EQ(named("PREPARE p (char(3)) AS SELECT v FROM t WHERE who = $1").where.dump(), "null");
  EXPECT_EQ(named("PREPARE p AS UPDATE t SET v = v + 1").changed, "t");
  EXPECT_EQ(plan("PREPARE p AS UPDATE t SET v = v + 1").sql, "");
  // The second would show our column.
  EXPECT_EQ(plan("PREPARE p AS SELECT v FROM t; CREATE TABLE x AS EXECUTE p").sql, "");

  const Part& execute = part("EXECUTE p (0, -3, 'it''s', NULL, 4.5, 'x' || 'y')");
  EXPECT_EQ(execute.called, "p");
  EXPECT_EQ(execute.values.dump(), R"(["0","-3","it's",null,false,false])");
  EXPECT_EQ(part("EXPLAIN EXECUTE p").plainly, "p");
  EXPECT_EQ(part("FETCH 2 FROM c").next_rows, 2u);
  EXPECT_EQ(part("FETCH c").next_rows, 1u);
  for (const char* sql : {"FETCH BACKWARD 2 FROM c", "FETCH ABSOLUTE 2 FROM c", "FETCH 0 FROM c",
                          "MOVE 2 FROM c", "FETCH LAST FROM c", "FETCH -1 FROM c"})
    EXPECT_FALSE(part(sql).next_rows) << sql;
  EXPECT_EQ(part("CLOSE ALL").called, "");
  EXPECT_EQ(part("DEALLOCATE p").kind, Part::Kind::forget);
}

TEST_F(Rewriting, DeepTextsAreLeftAlone) {
  for (const char* nested : {"(", "NOT ", "- ", "CASE WHEN "}) {
    std::string sql = "SELECT ";
    for (int i = 0; i < 100'000; ++i) sql += nested;
    EXPECT_EQ(plan(sql).sql, "");
  }
}

TEST(Shapes, ConstantsAreTakenOut) {
  const auto shape =
      shape_of("SELECT 'it''s', a1 FROM t WHERE id = 17 -- 18\n AND b > 1.5 AND c = $1");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->text,
            "SELECT $60000, a1 FROM t WHERE id = $60001 -- 18\n AND b > $60002 AND c = $1");
  EXPECT_EQ(shape->constants, (std::vector<std::string>{"'it''s'", "17", "1.5"}));
  EXPECT_EQ(shape->place(0), 0u);
  EXPECT_EQ(shape->place(13), 14u);  // behind the first
  EXPECT_FALSE(shape->place(9));
  EXPECT_EQ(shape->place(17), 18u);
  for (const char* open : {"SELECT E'a'", "SELECT U&'a'", "SELECT $$a$$", "SELECT 'a",
                           "SELECT 0x1F", "SELECT 1e5", "SELECT /* /* */ */ 1", "SELECT $60000"})
    EXPECT_FALSE(shape_of(open)) << open;
}

TEST_F(Rewriting, TextsOfOneShapeAreUnderstoodAlike) {
  for (const char* rest :
       {" FROM t WHERE id = 17 AND who = 'ann'", " FROM t WHERE id = 4 AND who = 'b''b'"}) {
    const std::string sql = std::string("SELECT v, 3") + rest;
    EXPECT_EQ(plan(sql).sql, with("SELECT v, 3", kT, rest));
    EXPECT_EQ(part(sql).sql, sql);
    EXPECT_EQ(plan(sql).sql.substr(plan(sql).added.at(0).first, 5), ", ROW");
  }
  EXPECT_EQ(
      part("SELECT v FROM t WHERE id = 17 AND who = 'it''s'").where.dump(),
      R"x(["((","(","\"id\""," = ","17",")",") and (","(","\"who\""," = ","'it''s'",")","))"])x");
  EXPECT_EQ(part("SELECT v FROM t WHERE id = 'x'").where.dump(), "null");
  EXPECT_EQ(part("SELECT v FROM t WHERE id = 1.5").where.dump(), "null");
  EXPECT_EQ(part("SET default_transaction_isolation = 'serializable'").isolation, "serializable");
  EXPECT_EQ(plan("SELECT v FROM t WHERE d = date '2026-01-01'").sql,
            with("SELECT v", kT, " FROM t WHERE d = date '2026-01-01'"));
}

TEST(Comments, SayWhereInTheCodeAStatementStands) {
  EXPECT_EQ(place_in_code("SELECT 1 /*file='views.py:42',route='x'*/"), "views.py:42");
  EXPECT_EQ(place_in_code("/*controller='orders',action='index'*/ SELECT 1"), "orders#index");
  EXPECT_EQ(place_in_code("SELECT 1 /*application:Shop,line:app/x.rb*/"), "");
  EXPECT_EQ(place_in_code("SELECT 1 -- transfer.py:12"), "transfer.py:12");
  EXPECT_EQ(place_in_code("SELECT 1 /* views.py:42 */"), "views.py:42");
  EXPECT_EQ(place_in_code("SELECT 1 /* see: 42 */"), "");
  EXPECT_EQ(place_in_code("SELECT '/*file=''a''*/'"), "");
  EXPECT_EQ(place_in_code("/*route='%2Fa'*/ SELECT 1"), "/a");
}

TEST(Composite, RowsAndArrays) {
  using Cells = std::vector<std::optional<std::string>>;
  EXPECT_EQ(cells_of_row("(16385,731,7)"), (Cells{"16385", "731", "7"}));
  EXPECT_EQ(cells_of_row(R"x((,"a ""b"" \\ c,d",""))x"),
            (Cells{std::nullopt, "a \"b\" \\ c,d", ""}));
  EXPECT_EQ(cells_of_row("(,,)"), (Cells{std::nullopt, std::nullopt, std::nullopt}));
  EXPECT_FALSE(cells_of_row("16385"));
  EXPECT_FALSE(cells_of_row("(\"open)"));
  using Elements = std::vector<std::string>;
  EXPECT_EQ(elements_of_array(R"x({"(1,731,\"a,b\")",x})x"), (Elements{"(1,731,\"a,b\")", "x"}));
  EXPECT_EQ(elements_of_array("{}"), Elements{});
  EXPECT_FALSE(elements_of_array("()"));
}

// The row is there in every order only if nothing but its key is asked for.
TEST_F(Rewriting, WhichRowAStatementLocks) {
  const auto locks = [&](const std::string& sql) { return part(sql).locks; };
  EXPECT_EQ(locks("SELECT v FROM t WHERE id = 7 FOR UPDATE"), "update");
  EXPECT_EQ(locks("SELECT v FROM t WHERE id = $1 FOR NO KEY UPDATE NOWAIT"), "update");
  EXPECT_EQ(locks("SELECT v FROM t WHERE id = 7 FOR SHARE OF t"), "share");
  for (const char* const sql :
       {"SELECT v FROM t WHERE id = 7", "SELECT v FROM t WHERE id = 7 FOR KEY SHARE",
        "SELECT v FROM t WHERE id = 7 FOR UPDATE SKIP LOCKED", "SELECT v FROM t FOR UPDATE",
        "SELECT v FROM t WHERE id = 7 AND v = 8 FOR UPDATE",
        "SELECT v FROM t WHERE id > 7 FOR UPDATE", "SELECT v FROM t, u WHERE id = 7 FOR UPDATE",
        "SELECT v FROM t WHERE id = 7 LIMIT 1 FOR UPDATE"})
    EXPECT_EQ(locks(sql), "") << sql;
}

TEST_F(Rewriting, WhichRowsAStatementLooksAt) {
  for (const char* sql :
       {"SELECT v FROM t WHERE id = $1", "SELECT v FROM t WHERE v = 1 AND 7 = t.id LIMIT 21",
        "SELECT v FROM t WHERE id = $1::int FOR UPDATE", "UPDATE t SET v = v + 1 WHERE id = 7",
        "DELETE FROM u WHERE a = 1 AND \"B\" = 2 AND v = 1", "INSERT INTO t VALUES (1, 2)"})
    EXPECT_TRUE(part(sql).keyed) << sql;
  for (const char* sql :
       {"SELECT v FROM t", "SELECT v FROM t WHERE id = 1 OR v = 2", "SELECT v FROM t WHERE id > 1",
        "SELECT v FROM t WHERE id = v", "SELECT t.v FROM t, u WHERE id = 1",
        "DELETE FROM u WHERE a = 1", "UPDATE t SET v = 1", "UPDATE t SET v = 1 WHERE NOT id = 1",
        "INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING"})
    EXPECT_FALSE(part(sql).keyed) << sql;
  using Tables = std::vector<std::string>;
  EXPECT_EQ(part("SELECT v FROM t UNION SELECT a FROM u WHERE a IN (SELECT id FROM t)").tables,
            (Tables{"t", "u"}));
  EXPECT_EQ(part("UPDATE t SET v = (SELECT max(a) FROM u)").tables, (Tables{"t", "u"}));
  EXPECT_EQ(part("SELECT transfer(1)").tables, (Tables{"*"}));
  EXPECT_EQ(part("SELECT * FROM nonesuch").tables, (Tables{"*"}));
  EXPECT_EQ(part("CALL p()").tables, (Tables{"*"}));
}

}  // namespace
}  // namespace assay::internal::record
