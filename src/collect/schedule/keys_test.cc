// Schedules on the simulated database, which is driven by keys.
#include "collect/schedule/keys.h"

#include <gtest/gtest.h>

#include "assay/format.h"
#include "collect/schedule/assemble.h"

namespace assay::internal::collect::schedule {
namespace {

// The statements' answers, and what they did as hist.
std::string played(const std::string& script,
                   const std::string& url = "simulated:strict-serializable") {
  const Result<File> file = parse(
      "create table t (id int primary key, v int);\ninsert into t values (1, 10), (2, 20);\n" +
          script,
      "x.sql");
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  auto stage = Stage::open(*file, {.databases = {url}, .isolation = {}});
  if (!stage.ok()) return stage.error().to_string();
  std::string out;
  for (int twice = 0; twice < 2; ++twice) {
    out.clear();
    const auto performance = (*stage)->play(file->permutations.front());
    EXPECT_TRUE(performance.ok()) << performance.error().to_string();
    if (!performance.ok()) return out;
    for (const Statement& s : performance->statements) {
      if (!s.answer.error.empty()) out += s.answer.error + "; ";
      for (const auto& row : s.answer.rows) out += *row[0] + "=" + *row[1] + "; ";
    }
    const auto assembled = assemble(*file, *performance, "{}");
    EXPECT_TRUE(assembled.ok()) << assembled.error().to_string();
    if (!assembled.ok()) return out;
    EXPECT_TRUE(assembled->missed.empty());
    out += std::to_string(assembled->history.op_count()) + " operations";
  }
  return out;
}

TEST(Keys, StatementsAreCallsOfTheDriver) {
  EXPECT_EQ(played("/* a */ begin; select v from t where id = 1; update t set v = 11 where id = 1; "
                   "insert into t (id, v) values (3, 30); delete from t where id = 2; "
                   "update t set v = 12 where id = 1 and v = 11; commit; "
                   "/* b */ select * from t; select * from t where v between 20 and 40;"),
            "1=10; 1=12; 3=30; 3=30; 10 operations");
}

TEST(Keys, ATransactionThatIsRefusedDoesNothingMore) {
  EXPECT_EQ(played("/* a */ begin; insert into t values (1, 11); update t set v = 12 where id = 1; "
                   "commit; select * from t where id = 1;"),
            "duplicate key; the transaction is refused until its end; 1=10; 1 operations");
  EXPECT_EQ(played("/* a */ begin; update t set v = 12 where id = 1; rollback; "
                   "select * from t where id = 1;"),
            "1=10; 2 operations");
}

TEST(Keys, OtherStatementsAreRefusedWithTheirPlace) {
  EXPECT_EQ(played("/* a */ select 1;\n/* b */ update t set v = v + 1;"),
            "x.sql:3:1: this database cannot play 'select 1'; expected one table of two columns, "
            "begin, commit and rollback, and statements such as select, insert, update and delete "
            "by key");
  for (const std::string wrong : {"select * from t where id = 99999999999999999999",
                                  "select * from t where id = v", "delete from t where id = v"})
    EXPECT_NE(played("/* a */ " + wrong + ";").find("cannot play '" + wrong + "'"),
              std::string::npos)
        << wrong;
}

}  // namespace
}  // namespace assay::internal::collect::schedule
