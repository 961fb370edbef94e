#include "infer/reads_from.h"

#include <gtest/gtest.h>

#include <tuple>
#include <variant>

#include "history/test_history.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using sample::cas;
using sample::d;
using sample::ins;
using sample::kAborted;
using sample::kNull;
using sample::kUnknown;
using sample::make_history;
using sample::r;
using sample::w;

std::vector<TxnId> counting(const std::vector<sample::Txn>& txns) {
  return make_problem(make_history(txns)).txn;
}

using ReadTuple = std::tuple<KeyId, WriteId, OpId>;
std::vector<ReadTuple> tuples(std::span<const ExternalRead> reads) {
  std::vector<ReadTuple> out;
  for (const ExternalRead& read : reads) out.push_back({read.key, read.write, read.op});
  return out;
}

TEST(ReadsFrom, TheExampleOfTheHeader) {
  const History h =
      make_history({{1, {w("x", 1), w("x", 2)}}, {2, {r("x", 2), r("x", 2), w("y", 1)}}});
  const Problem problem = make_problem(h);
  ASSERT_EQ(problem.nodes(), 2u);
  ASSERT_EQ(problem.writes.size(), 2u);
  EXPECT_EQ(problem.writes.version[0], h.op(1).version);
  EXPECT_EQ(tuples(problem.reads[1]), (std::vector<ReadTuple>{{h.op(0).key, 0, 2}}));
  EXPECT_TRUE(problem.reads[0].empty());
  ASSERT_EQ(problem.readers[0].size(), 1u);
  EXPECT_EQ(problem.readers[0][0], 1u);
  EXPECT_EQ(problem.found.bad_read.anomaly, Anomaly::none);
  EXPECT_EQ(problem.found.non_repeatable.anomaly, Anomaly::none);
  EXPECT_TRUE(problem.unresolved.empty());
}

TEST(ReadsFrom, WritesAreFoundByNodeAndKey) {
  const History h =
      make_history({{1, {w("x", 1), w("y", 1)}}, {2, {w("y", 2)}}, {1, {r("z", kNull)}}});
  const Problem problem = make_problem(h);
  const KeyId x = h.op(0).key;
  const KeyId y = h.op(1).key;
  const KeyId z = h.op(3).key;
  EXPECT_EQ(problem.writes.version[problem.write_of(0, y)], h.op(1).version);
  EXPECT_EQ(problem.writes.version[problem.write_of(1, y)], h.op(2).version);
  EXPECT_EQ(problem.write_of(1, x), kNone);
  EXPECT_EQ(problem.write_of(2, z), kNone);
  EXPECT_EQ(problem.key_writers(y).size(), 2u);
  ASSERT_EQ(problem.initial_readers[z].size(), 1u);
  EXPECT_EQ(problem.initial_readers[z][0], 2u);
  EXPECT_EQ(problem.sessions, (std::vector<std::vector<Node>>{{0, 2}, {1}}));
}

TEST(ReadsFrom, CommittedTransactionsCountAndAbortedOnesDoNot) {
  EXPECT_EQ(counting({{1, {w("x", 1)}}, {1, {w("x", 2)}, kAborted}, {2, {}}}),
            (std::vector<TxnId>{0, 2}));
}

TEST(ReadsFrom, UnknownTransactionsCountIfReadHoweverFarAway) {
  EXPECT_EQ(counting({{1, {w("x", 1)}, kUnknown},
                      {2, {r("x", 1), w("y", 1)}, kUnknown},
                      {3, {r("y", 1)}},
                      {4, {w("x", 2)}, kUnknown}}),
            (std::vector<TxnId>{0, 1, 2}));
}

TEST(ReadsFrom, UnknownTransactionsReadByNobodyThatCountsAreDropped) {
  EXPECT_EQ(counting({{1, {w("x", 1)}, kUnknown},
                      {2, {r("x", 1)}, kAborted},
                      {3, {w("y", 1)}, kUnknown},
                      {4, {r("y", 1)}, kUnknown},
                      {5, {w("z", 1), r("z", 1)}, kUnknown},
                      {6, {w("q", 1)}, kUnknown},
                      {7, {w("q", 2), r("q", 2)}}}),
            (std::vector<TxnId>{6}));
}

TEST(ReadsFrom, UnknownTransactionsAreKeptByACompareAndSet) {
  EXPECT_EQ(counting({{1, {w("x", 1)}, kUnknown}, {2, {cas("x", 1, 2, true)}}}),
            (std::vector<TxnId>{0, 1}));
  EXPECT_EQ(counting({{1, {w("x", 1)}, kUnknown}, {2, {cas("x", 1, 2, false)}}}),
            (std::vector<TxnId>{1}));
}

struct BadCase {
  const char* name;
  std::vector<sample::Txn> txns;
  Anomaly anomaly;
  OpId read;
  OpId other;
};

TEST(ReadsFrom, EveryReadThatNoLevelAllowsIsNamedWithItsTwoOperations) {
  const BadCase cases[] = {
      {"thin air", {{1, {r("x", 7)}}}, Anomaly::thin_air_read, 0, kNone},
      {"aborted", {{1, {w("x", 1)}, kAborted}, {2, {r("x", 1)}}}, Anomaly::aborted_read, 1, 0},
      {"future", {{1, {r("x", 1), w("x", 1)}}}, Anomaly::future_read, 0, 1},
      {"not my last write",
       {{1, {w("x", 1), w("x", 2), r("x", 1)}}},
       Anomaly::not_my_last_write,
       2,
       0},
      {"not my own write",
       {{1, {w("x", 1)}}, {2, {w("x", 2), r("x", 1)}}},
       Anomaly::not_my_own_write,
       2,
       1},
      {"initial instead of own",
       {{1, {w("x", 1), r("x", kNull)}}},
       Anomaly::not_my_own_write,
       1,
       0},
      {"intermediate",
       {{1, {w("x", 1), w("x", 2)}}, {2, {r("x", 1)}}},
       Anomaly::intermediate_read,
       2,
       0},
      {"expected by a compare-and-set",
       {{1, {cas("x", 7, 8, true)}}},
       Anomaly::thin_air_read,
       0,
       kNone},
      {"the first of two", {{1, {r("x", 7)}}, {2, {r("x", 8)}}}, Anomaly::thin_air_read, 0, kNone},
      {"one whose writer may not have been recorded comes last",
       {{1, {r("x", 7)}}, {2, {w("y", 1), r("y", 3), r("x", 8)}}},
       Anomaly::not_my_own_write,
       2,
       1},
  };
  for (const BadCase& c : cases) {
    const BadRead bad = make_problem(make_history(c.txns)).found.bad_read;
    EXPECT_EQ(bad.anomaly, c.anomaly) << c.name << ": " << anomaly_info(bad.anomaly).name;
    EXPECT_EQ(bad.read, c.read) << c.name;
    EXPECT_EQ(bad.other, c.other) << c.name;
  }
}

// One list; a transaction is a session of its own, an operation an append or the list that was
// read.
using ListTxn = std::vector<std::variant<int64_t, std::vector<int64_t>>>;
History list_history(const std::vector<ListTxn>& txns) {
  HistoryBuilder builder;
  const ValueView key = ValueView::of(std::string_view("l"));
  for (size_t t = 0; t < txns.size(); ++t) {
    builder.begin_txn({.session = ValueView::of(static_cast<int64_t>(t))});
    for (const auto& op : txns[t]) {
      if (const auto* element = std::get_if<int64_t>(&op)) {
        builder.add(Op::append(key, ValueView::of(*element)));
        continue;
      }
      std::vector<ValueView> read;
      for (const int64_t v : std::get<std::vector<int64_t>>(op)) read.push_back(ValueView::of(v));
      builder.add(Op::read_list(key, read));
    }
    EXPECT_TRUE(builder.end_txn().ok());
  }
  return std::move(*std::move(builder).finish());
}

TEST(ReadsFrom, AListHoldsWhatEachTransactionAppendedTogether) {
  using List = std::vector<int64_t>;
  const struct {
    std::vector<ListTxn> txns;
    Anomaly anomaly;
    OpId read, other;
  } cases[] = {
      {{{1, List{}}}, Anomaly::not_my_own_write, 1, 0},
      {{{1, 2, List{2}}}, Anomaly::not_my_own_write, 2, 0},
      {{{List{1}, 1}}, Anomaly::future_read, 0, 1},
      {{{1, 2}, {9}, {List{1, 9, 2}}}, Anomaly::intermediate_read, 3, 0},
      {{{1, 2}, {9}, {List{2, 9}}}, Anomaly::intermediate_read, 3, 1},
      {{{1, 2}, {9}, {List{9, 1, 2}}}, Anomaly::none, kNone, kNone},
  };
  for (const auto& c : cases) {
    const BadRead bad = make_problem(list_history(c.txns)).found.bad_read;
    EXPECT_EQ(bad.anomaly, c.anomaly) << anomaly_info(c.anomaly).name;
    EXPECT_EQ(bad.read, c.read);
    EXPECT_EQ(bad.other, c.other);
  }
}

TEST(ReadsFrom, ReadsOfAbortedTransactionsAreNobodysBusiness) {
  const Problem problem = make_problem(make_history({{1, {r("x", 7)}, kAborted}}));
  EXPECT_EQ(problem.found.bad_read.anomaly, Anomaly::none);
}

TEST(ReadsFrom, NonRepeatableReadsAreKeptApart) {
  const Problem problem =
      make_problem(make_history({{1, {w("x", 1)}}, {2, {r("x", kNull), r("x", 1)}}}));
  EXPECT_EQ(problem.found.bad_read.anomaly, Anomaly::none);
  EXPECT_EQ(problem.found.non_repeatable.anomaly, Anomaly::non_repeatable_read);
  EXPECT_EQ(problem.found.non_repeatable.read, 2u);
  EXPECT_EQ(problem.found.non_repeatable.other, 1u);
}

TEST(ReadsFrom, AValueWrittenTwiceLeavesItsReadsOpen) {
  const Problem problem = make_problem(
      make_history({{1, {w("x", 1), w("y", 1)}}, {2, {w("x", 1), w("y", 1)}}, {3, {r("x", 1)}}}));
  EXPECT_EQ(problem.unresolved, (std::vector<OpId>{4}));
  EXPECT_TRUE(problem.reads[2].empty());
  ASSERT_EQ(problem.found.duplicates.size(), 2u);
  for (const DuplicateWrite& duplicate : problem.found.duplicates) {
    const bool x = duplicate.first == 0;
    EXPECT_EQ(duplicate.first, x ? 0u : 1u);
    EXPECT_EQ(duplicate.second, x ? 2u : 3u);
    EXPECT_EQ(duplicate.read, x);
  }
}

TEST(ReadsFrom, AnAbortedDuplicateExplainsNothing) {
  const Problem problem =
      make_problem(make_history({{1, {w("x", 1)}, kAborted}, {2, {w("x", 1)}}, {3, {r("x", 1)}}}));
  EXPECT_EQ(problem.found.bad_read.anomaly, Anomaly::none);
  EXPECT_TRUE(problem.unresolved.empty());
  ASSERT_EQ(problem.reads[1].size(), 1u);
  EXPECT_EQ(problem.writes.node[problem.reads[1][0].write], 0u);
}

TEST(ReadsFrom, WritingTheInitialValueLeavesItsReadsOpen) {
  const Problem problem = make_problem(make_history({{1, {w("x", kNull)}}, {2, {r("x", kNull)}}}));
  EXPECT_EQ(problem.unresolved, (std::vector<OpId>{1}));
  ASSERT_EQ(problem.found.duplicates.size(), 1u);
  EXPECT_EQ(problem.found.duplicates[0].first, kNone);
  EXPECT_TRUE(problem.found.duplicates[0].read);
}

TEST(ReadsFrom, WhatDidNotTakeEffectIsOpen) {
  const Problem problem =
      make_problem(make_history({{1, {cas("x", 1, 2, false)}}, {2, {ins("x", 3, false)}}}));
  EXPECT_EQ(problem.unresolved, (std::vector<OpId>{0, 1}));
  EXPECT_EQ(problem.writes.size(), 0u);
}

TEST(ReadsFrom, AnInsertThatTookEffectReadNothing) {
  const Problem problem = make_problem(make_history({{1, {ins("x", 3, true)}}}));
  EXPECT_TRUE(problem.unresolved.empty());
  EXPECT_EQ(tuples(problem.reads[0]), (std::vector<ReadTuple>{{0, kNone, 0}}));
  EXPECT_EQ(problem.writes.size(), 1u);
}

TEST(ReadsFrom, AbsenceOfAKeyThatIsDeletedSomewhereIsOpen) {
  const Problem problem = make_problem(
      make_history({{1, {w("x", 1), d("x", 2), r("x", kNull)}}, {2, {r("x", kNull)}}}));
  EXPECT_EQ(problem.found.bad_read.anomaly, Anomaly::none);  // its own delete explains the first
  EXPECT_EQ(problem.unresolved, (std::vector<OpId>{3}));
}

TEST(ReadsFrom, StopsWhenTheBudgetRunsOut) {
  const History h = make_history({{1, {w("x", 1)}}, {2, {r("x", 1)}}});
  Budget enough(3600, 0);
  EXPECT_EQ(make_problem(h, {}, enough).nodes(), 2u);
  Budget spent(1e-9, 0);
  EXPECT_EQ(make_problem(h, {}, spent).nodes(), 0u);
  EXPECT_TRUE(spent.exhausted());
}

TEST(ExternalReads, RepetitionsCountAndOwnValuesDoNot) {
  const History h =
      make_history({{1, {w("x", 1), w("y", 1)}},
                    {2, {w("x", 2)}},
                    {3, {r("x", 1), r("y", 1), r("x", 2), r("x", kNull), w("x", 3), r("x", 3)}}});
  const Problem problem = make_problem(h);
  const KeyId x = h.op(0).key;
  const KeyId y = h.op(1).key;
  const WriteId x1 = problem.write_of(0, x);
  const WriteId y1 = problem.write_of(0, y);
  EXPECT_EQ(problem.repeating, (std::vector<Node>{2}));
  EXPECT_EQ(tuples(problem.reads[2]), (std::vector<ReadTuple>{{x, x1, 3}, {y, y1, 4}}));
  std::vector<ExternalRead> reads = {{9, 9, 9}};
  external_reads(problem, 2, reads);
  EXPECT_EQ(tuples(reads),
            (std::vector<ReadTuple>{
                {x, x1, 3}, {y, y1, 4}, {x, problem.write_of(1, x), 5}, {x, kNone, 6}}));
  external_reads(problem, 0, reads);
  EXPECT_TRUE(reads.empty());
}

std::vector<OpId> flattened(const std::vector<DuplicateWrite>& duplicates) {
  std::vector<OpId> out;
  for (const DuplicateWrite& d : duplicates)
    out.insert(out.end(), {d.first, d.second, OpId{d.read}});
  return out;
}

std::tuple<Anomaly, OpId, OpId> fields(const BadRead& bad) {
  return {bad.anomaly, bad.read, bad.other};
}

void expect_same(const Problem& a, const Problem& b) {
  EXPECT_EQ(a.txn, b.txn);
  EXPECT_EQ(a.node, b.node);
  EXPECT_EQ(a.writes.begin, b.writes.begin);
  EXPECT_EQ(a.writes.key, b.writes.key);
  EXPECT_EQ(a.writes.node, b.writes.node);
  EXPECT_EQ(a.writes.version, b.writes.version);
  EXPECT_EQ(a.writes.of_version, b.writes.of_version);
  EXPECT_EQ(a.writes.of_key.items, b.writes.of_key.items);
  EXPECT_EQ(a.reads.begin, b.reads.begin);
  EXPECT_EQ(tuples(a.reads.items), tuples(b.reads.items));
  EXPECT_EQ(a.readers.items, b.readers.items);
  EXPECT_EQ(a.initial_readers.items, b.initial_readers.items);
  EXPECT_EQ(a.repeating, b.repeating);
  EXPECT_EQ(a.unresolved, b.unresolved);
  EXPECT_EQ(a.has_lists, b.has_lists);
  EXPECT_EQ(a.sessions, b.sessions);
  EXPECT_EQ(fields(a.found.bad_read), fields(b.found.bad_read));
  EXPECT_EQ(fields(a.found.non_repeatable), fields(b.found.non_repeatable));
  EXPECT_EQ(a.found.unexplained, b.found.unexplained);
  EXPECT_EQ(a.found.unexplained_key, b.found.unexplained_key);
  EXPECT_EQ(a.found.mixed, b.found.mixed);
  EXPECT_EQ(flattened(a.found.duplicates), flattened(b.found.duplicates));
}

TEST(ReadsFrom, TheSameForEveryNumberOfThreads) {
  RandomShape shape;
  shape.max_sessions = 8;
  shape.max_txns = 2500;
  shape.max_keys = 300;
  shape.duplicates = shape.lists = shape.rich = shape.sourced = shape.loose = shape.named = 0.4;
  shape.mutated = 0.9;
  shape.unknown = 0.9;
  size_t slices = 0, faults = 0, duplicates = 0, unresolved = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto h = random_draft(rng, shape).history();
    ASSERT_TRUE(h.ok());
    slices += h->txn_count() >= 1000;
    for (const Reads reads : {Reads::clean, Reads::dirty}) {
      Budget effort(0, 0, uint64_t{1} << 40);
      const Problem one = make_problem(*h, {}, effort, {.reads = reads, .threads = 1});
      for (const unsigned threads : {2u, 5u}) {
        Budget other(0, 0, uint64_t{1} << 40);
        expect_same(one, make_problem(*h, {}, other, {.reads = reads, .threads = threads}));
        EXPECT_EQ(effort.spent(), other.spent());
      }
      faults += one.found.bad_read.anomaly != Anomaly::none;
      duplicates += !one.found.duplicates.empty();
      unresolved += !one.unresolved.empty();
    }
  }
  EXPECT_GT(slices, 5u);
  EXPECT_GT(faults, 0u);
  EXPECT_GT(duplicates, 3u);
  EXPECT_GT(unresolved, 3u);
}

}  // namespace
}  // namespace assay::internal
