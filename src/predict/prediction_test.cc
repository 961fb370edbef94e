// The worked examples of the field: which programs break where, and which isolation each needs.
#include "predict/prediction.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "predict/execution.h"

namespace assay::internal::predict {
namespace {

using Answer = Prediction::Answer;

// "r x y" reads, "u x" reads and changes in one statement, "w x" changes, "c" counts all rows, "+
// x" inserts, "l x" reads FOR UPDATE; statements are separated by ";".
struct Example {
  std::string program, statements;
};

// They ran one after the other, each in a session of its own.
History recorded(const std::vector<Example>& examples) {
  HistoryBuilder b;
  std::map<std::string, int64_t> held;  // by key; its texts live as long
  int64_t next = 0, sent = 0;
  b.set_initial(ValueView::of(int64_t{0}));
  for (size_t t = 0; t < examples.size(); ++t) {
    std::string meta = "{\"ran\":\"" + examples[t].program + " (test:1)\"";
    if (examples[t].statements.starts_with("l "))
      meta +=
          R"(,"sql":[{"text":"SELECT","sent":)" + std::to_string(sent) + R"(,"locks":"update"}])";
    meta += "}";
    b.begin_txn({.session = ValueView::of(static_cast<int64_t>(t)), .meta = meta});
    std::istringstream statements(examples[t].statements);
    for (std::string statement; std::getline(statements, statement, ';'); ++sent) {
      std::istringstream words(statement);
      std::string what, key;
      words >> what;
      const auto add = [&](Op op) {
        op.time = {sent, sent};
        EXPECT_TRUE(b.add(op));
      };
      if (what == "c") {
        int64_t rows = 0;
        for (const auto& [name, value] : held) rows += value < 0;
        add(Op::aggregated({}, {}, "value < 0", AggregateFunction::count, "", ValueView::of(rows)));
      }
      while (words >> key) {
        const auto& [name, value] = *held.try_emplace(key, 0).first;
        if (what == "r" || what == "u" || what == "l")
          add(Op::read(ValueView::of(name), ValueView::of(value)));
        if (what == "u" || what == "w")
          add(Op::write(ValueView::of(name), ValueView::of(held[key] = ++next)));
        if (what == "+") add(Op::write(ValueView::of(name), ValueView::of(held[key] = -++next)));
      }
    }
    EXPECT_TRUE(b.end_txn().ok());
  }
  auto history = std::move(b).finish();
  EXPECT_TRUE(history.ok());
  return std::move(*history);
}

std::vector<Program> predicted(const std::vector<Example>& examples) {
  const History history = recorded(examples);
  Budget budget;
  auto programs =
      predict(history, {{Isolation::read_committed, Isolation::snapshot}, true}, budget);
  EXPECT_TRUE(programs.ok());
  for (const Program& program : programs->programs)
    for (const Prediction& p : program.predictions)
      if (p.answer == Answer::breaks) {
        EXPECT_TRUE(predicted_history(p.schedules.front(), history, true).ok());
      }
  return std::move(programs->programs);
}

// "rc si": at which of the two some program breaks; then what each program needs, in the order of
// their names.
std::string summary(const std::vector<Example>& examples) {
  std::string breaks, needs;
  const std::vector<Program> programs = predicted(examples);
  for (size_t i = 0; i < 2; ++i)
    for (const Program& program : programs)
      if (program.predictions[i].answer == Answer::breaks) {
        breaks += i == 0 ? "rc " : "si ";
        break;
      }
  for (const Program& program : programs) {
    EXPECT_TRUE(program.needs.has_value());
    needs += needs.empty() ? "" : " ";
    needs += program.needs == Isolation::read_committed ? "rc"
             : program.needs == Isolation::ssi          ? "ssi"
                                                        : "si";
  }
  return breaks + "| " + needs;
}

TEST(Prediction, OneRow) {
  EXPECT_EQ(summary({{"a", "r x;w x"}, {"b", "r x;w x"}}), "rc | si si");  // lost update
  EXPECT_EQ(summary({{"a", "u x"}, {"b", "u x"}}), "| rc rc");             // counter
  EXPECT_EQ(summary({{"reader", "r x;r x"}, {"writer", "w x"}}),
            "rc | si rc");                                             // unrepeatable read
  EXPECT_EQ(summary({{"a", "r x;u x"}, {"b", "u x"}}), "rc | si rc");  // check, then update
}

TEST(Prediction, WriteSkew) {
  EXPECT_EQ(summary({{"a", "r x;r y;w x"}, {"b", "r x;r y;w y"}}), "rc si | ssi ssi");
  EXPECT_EQ(summary({{"a", "u z;r x;r y;w x"}, {"b", "u z;r x;r y;w y"}}),
            "| rc rc");  // materialised
  EXPECT_EQ(summary({{"back", "w d1"}, {"leave", "r d1 d2;w d1"}, {"leave", "r d1 d2;w d2"}}),
            "rc si | rc ssi");
}

// A lock that changes nothing keeps others out, but at snapshot isolation the snapshot is older
// than the lock.
TEST(Prediction, ForUpdate) {
  EXPECT_EQ(summary({{"a", "l z;r x;r y;w x"}, {"b", "l z;r x;r y;w y"}}), "si | rc rc");
  EXPECT_EQ(summary({{"a", "l x;w x"}, {"b", "l x;w x"}}), "| rc rc");
  EXPECT_EQ(summary({{"a", "l d1 d2;w d1"}, {"b", "l d1 d2;w d2"}}), "| rc rc");
  // Whoever does not lock first is not kept out.
  EXPECT_EQ(summary({{"a", "l z;r x;r y;w x"}, {"b", "r x;r y;w y"}}), "rc si | ssi ssi");
}

TEST(Prediction, ReadersAlone) {
  const Example deposit{"deposit", "u y"}, withdraw{"withdraw", "r x y;u x"},
      report{"report", "r x y"};
  EXPECT_EQ(summary({deposit, withdraw, report}), "rc si | ssi ssi ssi");  // the read-only anomaly
  EXPECT_EQ(summary({deposit, withdraw}), "| rc rc");
  EXPECT_EQ(summary({{"a", "w x"}, {"b", "w y"}, {"reader", "r x;r y"}, {"reader", "r x;r y"}}),
            "rc | rc rc si");  // long fork
  EXPECT_EQ(summary({{"a", "w x"}, {"b", "w y"}, {"reader", "r x y"}, {"reader", "r x y"}}),
            "| rc rc rc");
  EXPECT_EQ(summary({{"report", "r x;r y"}, {"transfer", "u x;u y"}}), "rc | si rc");
}

TEST(Prediction, OnlyTheFinalStateShowsIt) {
  EXPECT_EQ(summary({{"a", "r x;w y"}, {"b", "w x;w y"}}), "rc | si rc");
}

TEST(Prediction, RowsThatDidNotExist) {
  EXPECT_EQ(summary({{"a", "c;+ x"}, {"b", "c;+ y"}}), "rc si | ssi ssi");
}

TEST(Prediction, AStatementThatWaitsHasReadTheRestBefore) {
  // update s set v = v + (select sum(v) from x, y): the row that it waited for is new, the rest is
  // old.
  EXPECT_EQ(summary({{"a", "r x s;w x"}, {"b", "r x;w x"}}), "rc | si si");
  EXPECT_EQ(summary({{"sum", "r x;u x"}}), "| rc");
}

TEST(Prediction, AttemptsThatDidNotCommitCount) {
  HistoryBuilder b;
  const auto add = [&](int64_t session, TxnStatus status, std::initializer_list<Op> ops) {
    b.begin_txn({.session = ValueView::of(session), .status = status});
    for (const Op& op : ops) b.add(op);
    EXPECT_TRUE(b.end_txn().ok());
  };
  const ValueView x = ValueView::of("x"), y = ValueView::of("y"), null = ValueView::null();
  add(1, TxnStatus::committed,
      {Op::read(x, null), Op::read(y, null), Op::write(x, ValueView::of(int64_t{1}))});
  add(2, TxnStatus::aborted,
      {Op::read(x, null), Op::read(y, null), Op::write(y, ValueView::of(int64_t{2}))});
  const auto history = std::move(b).finish();
  ASSERT_TRUE(history.ok());
  Budget budget;
  const auto programs = predict(*history, {{Isolation::snapshot}, false}, budget);
  ASSERT_TRUE(programs.ok());
  EXPECT_EQ(programs->programs.at(0).predictions.at(0).answer, Answer::unknown);
}

// The row that a removes is there before; b inserts it anew.
TEST(Prediction, ARowThatIsRemovedAndInsertedAgain) {
  const auto answer = [](bool b_is_first) {
    HistoryBuilder b;
    const ValueView x = ValueView::of("x"), k = ValueView::of("k"), null = ValueView::null();
    const auto add = [&](int64_t session, std::initializer_list<Op> ops) {
      b.begin_txn({.session = ValueView::of(session)});
      for (const Op& op : ops) b.add(op);
      EXPECT_TRUE(b.end_txn().ok());
    };
    const std::initializer_list<Op> insert = {Op::read(x, null),
                                              Op::insert(k, ValueView::of(int64_t{2}), true)};
    // DELETE FROM t WHERE id = k is one statement, which sees the row that it removes.
    Op seen = Op::read(k, ValueView::of(int64_t{2})),
       removed = Op::remove(k, ValueView::of(int64_t{4}));
    seen.time = removed.time = {1, 2};
    const Op write = Op::write(x, ValueView::of(int64_t{3}));
    const auto remove = [&] {
      b_is_first ? add(2, {write, seen, removed}) : add(2, {write, removed});
    };
    if (b_is_first) add(1, insert);
    remove();
    if (!b_is_first)
      add(1,
          {Op::read(x, ValueView::of(int64_t{3})), Op::insert(k, ValueView::of(int64_t{2}), true)});
    const auto history = std::move(b).finish();
    EXPECT_TRUE(history.ok());
    Budget budget;
    const auto programs = predict(*history, {{Isolation::read_committed}, false}, budget);
    EXPECT_TRUE(programs.ok());
    return programs->programs.at(0).predictions.at(0).answer;
  };
  EXPECT_EQ(answer(false), Answer::breaks);
  // What was removed is what b had inserted: it cannot be removed before.
  EXPECT_EQ(answer(true), Answer::unknown);
}

// s1 reads x, and something of a table; another one changes rows of that table, or of another.
Prediction::Answer with_a_gap(const std::string& unrecorded, const std::string& changed,
                              std::string& reason) {
  HistoryBuilder b;
  const std::string meta = R"({"program":"a","unrecorded":)" + unrecorded + "}";
  const std::string key = changed + ":7";
  b.begin_txn({.session = ValueView::of(int64_t{1}), .name = "s1", .meta = meta});
  b.add(Op::read(ValueView::of("x"), ValueView::null()));
  b.add(Op::write(ValueView::of("a:1"), ValueView::of(int64_t{1})));
  EXPECT_TRUE(b.end_txn().ok());
  b.begin_txn({.session = ValueView::of(int64_t{2}), .name = "s2", .meta = R"({"program":"b"})"});
  b.add(Op::read(ValueView::of("a:1"), ValueView::of(int64_t{1})));
  b.add(Op::write(ValueView::of(std::string_view(key)), ValueView::of(int64_t{2})));
  EXPECT_TRUE(b.end_txn().ok());
  const auto history = std::move(b).finish();
  EXPECT_TRUE(history.ok());
  Budget budget;
  const auto programs = predict(*history, {{Isolation::snapshot}, false}, budget);
  EXPECT_TRUE(programs.ok());
  reason = programs->programs.at(0).predictions.at(0).reason;
  return programs->programs.at(0).predictions.at(0).answer;
}

TEST(Prediction, WhatWasNotRecordedIsUnknownForWhatItTouches) {
  std::string reason;
  EXPECT_EQ(with_a_gap("{}", "t", reason), Answer::holds);
  EXPECT_EQ(with_a_gap(R"({"reads":["t"],"why":["`SELECT 1`: UNION"]})", "t", reason),
            Answer::unknown);
  EXPECT_EQ(reason, "not all of s1 was recorded, as `SELECT 1`: UNION");
  EXPECT_EQ(with_a_gap(R"({"reads":["t"]})", "u", reason), Answer::holds);
  EXPECT_EQ(with_a_gap(R"({"reads":["*"]})", "u", reason), Answer::unknown);
  EXPECT_EQ(with_a_gap(R"({"changes":["t"]})", "u", reason), Answer::holds);
  EXPECT_EQ(with_a_gap(R"({"reads":["v"],"changes":["t"]})", "t", reason), Answer::holds);
  EXPECT_EQ(with_a_gap(R"({"reads":["t"],"changes":["t"]})", "t", reason), Answer::unknown);
}

// Of somebody who went past the recorder the log has the changes alone.
TEST(Prediction, WhoIsNoProgramMayRunBetween) {
  HistoryBuilder b;
  const ValueView x = ValueView::of("x"), y = ValueView::of("y"), null = ValueView::null();
  b.begin_txn({.session = ValueView::of(int64_t{1}), .meta = R"({"program":"a"})"});
  b.add(Op::read(x, null));
  b.add(Op::write(y, ValueView::of(int64_t{1})));
  EXPECT_TRUE(b.end_txn().ok());
  b.begin_txn({.session = ValueView::of(int64_t{2}), .meta = R"({"unrecorded":{"reads":["*"]}})"});
  b.add(Op::write(x, ValueView::of(int64_t{2})));
  EXPECT_TRUE(b.end_txn().ok());
  const auto history = std::move(b).finish();
  ASSERT_TRUE(history.ok());
  Budget budget;
  const auto programs = predict(*history, {{Isolation::ssi}, true}, budget);
  ASSERT_TRUE(programs.ok());
  ASSERT_EQ(programs->programs.size(), 1u);
  EXPECT_EQ(programs->programs.at(0).predictions.at(0).answer, Answer::unknown);
}

TEST(Prediction, ListsAreRefused) {
  HistoryBuilder b;
  b.begin_txn({.session = ValueView::of(int64_t{1})});
  b.add(Op::append(ValueView::of("x"), ValueView::of(int64_t{1})));
  EXPECT_TRUE(b.end_txn().ok());
  const auto history = std::move(b).finish();
  Budget budget;
  EXPECT_FALSE(predict(*history, {{Isolation::snapshot}, false}, budget).ok());
}

}  // namespace
}  // namespace assay::internal::predict
