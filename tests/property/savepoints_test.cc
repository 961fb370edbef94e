// Rollbacks to savepoints: what a correct database shows is accepted, and what it must not show is
// found, on random transactions that a simple table executes one after the other.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/audit.h"
#include "assay/history.h"
#include "base/rng.h"
#include "cases.h"
#include "explain/explain.h"

namespace assay::internal {
namespace {

using enum LevelId;

enum class Fault { none, other_reads_undone, own_read_is_older, own_read_after_rollback };

// Registers under integers, lists under texts; executes and takes down what it answers.
class Table {
 public:
  Table(Rng& rng, Fault fault) : rng_(rng), fault_(fault) {}

  Result<History> run() {
    for (int64_t t = 0; t < 14; ++t) transact(t);
    return std::move(builder_).finish();
  }
  bool planted() const { return planted_; }

 private:
  struct State {
    std::map<int64_t, int64_t> registers;  // those that are there
    std::map<std::string_view, std::vector<int64_t>> lists;
  };
  struct Savepoint {
    size_t in_history;
    State state;
    std::map<int64_t, int64_t> written;  // by the transaction, up to here
  };

  static ValueView value(int64_t v) { return ValueView::of(v); }
  int64_t key() { return static_cast<int64_t>(rng_.below(4)); }

  void transact(int64_t t) {
    const std::string name = "t" + std::to_string(t);
    const State before = state_;
    aborts_ = rng_.chance(0.15);
    builder_.begin_txn({.session = value(t % 3),
                        .name = name,
                        .status = aborts_ ? TxnStatus::aborted : TxnStatus::committed});
    savepoints_.clear();
    written_.clear();
    if (fault_ == Fault::other_reads_undone && undone_ && !planted_ && !aborts_) plant(*undone_);
    for (uint64_t op = 2 + rng_.below(10); op > 0; --op) step();
    if (!aborts_ && rng_.chance(0.2)) roll_back();
    EXPECT_TRUE(builder_.end_txn().ok());
    if (aborts_) state_ = before;
  }

  void plant(const std::pair<int64_t, int64_t>& seen) {
    planted_ = true;
    builder_.add(Op::read(value(seen.first), value(seen.second)));
  }

  void step() {
    switch (rng_.below(11)) {
      case 0:
        savepoints_.push_back({builder_.savepoint(), state_, written_});
        break;
      case 1:
        roll_back();
        break;
      case 2:
        read(key());
        break;
      case 3:
      case 4:
        write(key());
        break;
      case 5:
        remove(key());
        break;
      case 6:
        compare_and_set(key());
        break;
      case 7:
        insert(key());
        break;
      case 8:
        append(rng_.chance(0.5) ? "l" : "m");
        break;
      case 9:
        read_list(rng_.chance(0.5) ? "l" : "m");
        break;
      default:
        range();
    }
  }

  // What was undone, and that it was, may be seen by nobody.
  void roll_back() {
    if (savepoints_.empty()) return;
    const size_t to = rng_.below(savepoints_.size());
    const Savepoint& savepoint = savepoints_[to];
    std::optional<std::pair<int64_t, int64_t>> undone;
    for (const auto& [k, v] : written_)
      if (const auto old = savepoint.written.find(k);
          old == savepoint.written.end() || old->second != v)
        undone = {k, v};
    if (fault_ == Fault::own_read_is_older && undone && !planted_ && !aborts_)
      plant({undone->first, kUnwrittenValue});
    EXPECT_TRUE(builder_.roll_back_to(savepoint.in_history).ok());
    state_ = savepoint.state;
    written_ = savepoint.written;
    savepoints_.resize(to + 1);
    if (undone) undone_ = undone;
    if (fault_ == Fault::own_read_after_rollback && undone && !planted_ && !aborts_) plant(*undone);
  }

  void put(int64_t k, int64_t v) { written_[k] = state_.registers[k] = v; }

  void read(int64_t k) {
    const auto held = state_.registers.find(k);
    builder_.add(Op::read(
        value(k), held == state_.registers.end() ? ValueView::null() : value(held->second)));
  }
  void write(int64_t k) {
    put(k, ++last_);
    builder_.add(Op::write(value(k), value(last_)));
  }
  void remove(int64_t k) {
    builder_.add(Op::remove(value(k), value(++last_)));
    state_.registers.erase(k);
    written_.erase(k);
  }
  void compare_and_set(int64_t k) {
    const auto held = state_.registers.find(k);
    const bool done = held != state_.registers.end() && rng_.chance(0.5);
    builder_.add(
        Op::cas(value(k), value(done ? held->second : kUnwrittenValue), value(++last_), done));
    if (done) put(k, last_);
  }
  void insert(int64_t k) {
    const bool done = !state_.registers.contains(k);
    builder_.add(Op::insert(value(k), value(++last_), done));
    if (done) put(k, last_);
  }
  void append(std::string_view list) {
    state_.lists[list].push_back(++last_);
    builder_.add(Op::append(ValueView::of(list), value(last_)));
  }
  void read_list(std::string_view list) {
    std::vector<ValueView> elements;
    for (const int64_t element : state_.lists[list]) elements.push_back(value(element));
    builder_.add(Op::read_list(ValueView::of(list), elements));
  }
  void range() {
    const int64_t lo = key() - 1, hi = lo + static_cast<int64_t>(rng_.below(5));
    std::vector<std::pair<ValueView, ValueView>> rows;
    for (const auto& [k, v] : state_.registers)
      if (k >= lo && k <= hi) rows.emplace_back(value(k), value(v));
    builder_.add(Op::range(value(lo), value(hi), rows));
  }

  static constexpr int64_t kUnwrittenValue = 1'000'000;
  Rng& rng_;
  const Fault fault_;
  HistoryBuilder builder_;
  State state_;
  std::map<int64_t, int64_t> written_;
  std::vector<Savepoint> savepoints_;
  std::optional<std::pair<int64_t, int64_t>> undone_;  // a key and what it held
  int64_t last_ = 0;
  bool aborts_ = false;  // the transaction under way
  bool planted_ = false;
};

Audit decide(History history) {
  AuditOptions options;
  options.check.levels = {read_committed, session_serializable};
  options.allow_empty = true;
  return audit(std::move(history), "history", options);
}

TEST(Savepoints, WhatADatabaseMayShowIsAccepted) {
  Rng rng(rotated(31));
  for (uint64_t round = 0; round < scaled(2000); ++round) {
    Result<History> history = Table(rng, Fault::none).run();
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    const Audit found = decide(std::move(*history));
    ASSERT_FALSE(found.error) << found.error->to_string();
    ASSERT_EQ(found.result.find(session_serializable)->outcome, Outcome::satisfied)
        << "round " << round << ": " << found.explanations.front().sentences.front();
  }
}

TEST(Savepoints, WhatItMayNotShowIsFound) {
  Rng rng(rotated(32));
  uint64_t planted = 0;
  for (uint64_t round = 0; round < scaled(1500); ++round) {
    const Fault fault = static_cast<Fault>(1 + round % 3);
    Table table(rng, fault);
    Result<History> history = table.run();
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    const Audit found = decide(std::move(*history));
    ASSERT_FALSE(found.error) << found.error->to_string();
    const auto& weak = *found.result.find(read_committed);
    ASSERT_EQ(weak.outcome, table.planted() ? Outcome::violated : Outcome::satisfied)
        << "round " << round;
    if (!table.planted()) continue;
    ++planted;
    const Explanation* why = find_explanation(found.explanations, read_committed);
    ASSERT_NE(why, nullptr);
    // What its own transaction had written to the key before is not there either.
    const bool own = why->anomaly == Anomaly::not_my_own_write;
    EXPECT_TRUE(fault == Fault::own_read_is_older
                    ? own
                    : why->anomaly == Anomaly::aborted_read ||
                          (own && fault == Fault::own_read_after_rollback))
        << "round " << round << ": " << anomaly_info(why->anomaly).name;
  }
  EXPECT_GT(planted, scaled(1500) / 5);
}

}  // namespace
}  // namespace assay::internal
