// Whether recorded transactions have an execution that a weak level allows and that is not
// serializable, when some are cut off and read from others: the search compared with all cuts and
// all sources, made here by the definition and judged by the oracle. What is found is executed and
// verified.
#include "certify/boundary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/audit.h"
#include "base/rng.h"
#include "cases.h"
#include "oracle/draft.h"
#include "oracle/oracle.h"
#include "predict/boundary_search.h"

namespace assay::internal {
namespace {

using certify::Boundary;

constexpr int kInitially = -1;

// Reads of keys that the transaction has not written, and from whom.
struct OtherSource {
  size_t op;
  int txn;
};

class AllBoundaries {
 public:
  explicit AllBoundaries(const Draft& recorded) : recorded_(recorded) {
    for (const DraftTxn& txn : recorded.txns) {
      sources_.emplace_back();
      for (size_t i = 0; i < txn.ops.size(); ++i) {
        const DraftOp& op = txn.ops[i];
        const auto own = [&](const DraftOp& o) {
          return o.kind == OpKind::write && o.key == op.key;
        };
        if (op.kind == OpKind::read &&
            std::none_of(txn.ops.begin(), txn.ops.begin() + static_cast<ptrdiff_t>(i), own))
          sources_.back().push_back({i, writer_of(op)});
      }
    }
  }

  // Whether there is an execution as asked for; `goes_on`: with the relaxed boundary.
  bool has(LevelId level, bool goes_on) {
    level_ = level;
    goes_on_ = goes_on;
    cuts_.clear();
    return choose_cuts(0);
  }

 private:
  struct Cut {
    int txn;
    size_t operations;
    std::vector<OtherSource> sources;  // of all its reads that run
  };

  int writer_of(const DraftOp& read) const {
    for (size_t t = 0; t < recorded_.txns.size(); ++t)
      for (const DraftOp& op : recorded_.txns[t].ops)
        if (op.kind == OpKind::write && op.key == read.key && op.value == read.value)
          return static_cast<int>(t);
    return kInitially;
  }

  bool choose_cuts(int session) {
    if (session == 4) return choose_sources(0, 0);
    if (choose_cuts(session + 1)) return true;
    for (size_t t = 0; t < recorded_.txns.size(); ++t) {
      if (recorded_.txns[t].session != session) continue;
      for (size_t i = 0; i < sources_[t].size(); ++i) {
        if (goes_on_ && i > 0) break;
        const size_t reads = goes_on_ ? sources_[t].size() : i + 1;
        cuts_.push_back(
            {static_cast<int>(t),
             goes_on_ ? recorded_.txns[t].ops.size() : sources_[t][i].op + 1,
             {sources_[t].begin(), sources_[t].begin() + static_cast<ptrdiff_t>(reads)}});
        const bool found = choose_cuts(session + 1);
        cuts_.pop_back();
        if (found) return true;
      }
    }
    return false;
  }

  bool choose_sources(size_t cut, size_t read) {
    if (cut == cuts_.size()) return is_wanted();
    if (read == cuts_[cut].sources.size()) return choose_sources(cut + 1, 0);
    if (!goes_on_ && read + 1 < cuts_[cut].sources.size()) return choose_sources(cut, read + 1);
    OtherSource& source = cuts_[cut].sources[read];
    const int recorded = source.txn;
    const int key = recorded_.txns[static_cast<size_t>(cuts_[cut].txn)].ops[source.op].key;
    for (int t = kInitially; t < static_cast<int>(recorded_.txns.size()); ++t) {
      if (t != kInitially && !writes(t, key)) continue;
      source.txn = t;
      if (choose_sources(cut, read + 1)) return true;
    }
    source.txn = recorded;
    return false;
  }
  bool writes(int txn, int key) const {
    return std::ranges::any_of(
        recorded_.txns[static_cast<size_t>(txn)].ops,
        [&](const DraftOp& op) { return op.kind == OpKind::write && op.key == key; });
  }

  const Cut* cut_of(int txn) const {
    const auto found = std::ranges::find(cuts_, txn, &Cut::txn);
    return found == cuts_.end() ? nullptr : &*found;
  }
  const std::vector<OtherSource>& sources(int txn) const {
    const Cut* cut = cut_of(txn);
    return cut == nullptr ? sources_[static_cast<size_t>(txn)] : cut->sources;
  }

  // Executes: what comes after one that is cut is left out, and none that is cut may be.
  bool is_wanted() {
    const int count = static_cast<int>(recorded_.txns.size());
    std::vector<bool> after(recorded_.txns.size(), false);
    for (int round = 0; round < count; ++round)
      for (int t = 0; t < count; ++t) {
        const auto comes_after = [&](int other) {
          return other != kInitially && (after[static_cast<size_t>(other)] || cut_of(other));
        };
        bool is_after = false;
        for (int other = 0; other < t; ++other)
          if (recorded_.txns[static_cast<size_t>(other)].session ==
              recorded_.txns[static_cast<size_t>(t)].session)
            is_after = is_after || comes_after(other);
        for (const OtherSource& source : sources(t)) is_after = is_after || comes_after(source.txn);
        after[static_cast<size_t>(t)] = is_after;
      }
    for (const Cut& cut : cuts_)
      if (after[static_cast<size_t>(cut.txn)]) return false;
    Draft executed;
    for (int t = 0; t < count; ++t) {
      if (after[static_cast<size_t>(t)]) continue;
      DraftTxn txn = recorded_.txns[static_cast<size_t>(t)];
      for (const OtherSource& source : sources(t)) {
        DraftOp& read = txn.ops[source.op];
        read.value.reset();
        if (source.txn == kInitially) continue;
        for (const DraftOp& op : recorded_.txns[static_cast<size_t>(source.txn)].ops)
          if (op.kind == OpKind::write && op.key == read.key) read.value = op.value;
      }
      if (const Cut* cut = cut_of(t)) txn.ops.resize(cut->operations);
      executed.txns.push_back(std::move(txn));
    }
    const auto history = executed.history();
    EXPECT_TRUE(history.ok());
    return oracle::decide(*history, LevelId::session_serializable) == Outcome::violated &&
           oracle::decide(*history, level_) == Outcome::satisfied;
  }

  const Draft& recorded_;
  std::vector<std::vector<OtherSource>> sources_;  // per transaction
  LevelId level_ = LevelId::causal;
  bool goes_on_ = false;
  std::vector<Cut> cuts_;
};

// Mostly a serial run; now and then its reads return older versions.
Draft drawn(Rng& rng) {
  Draft d;
  const int keys = 1 + static_cast<int>(rng.below(3));
  const bool serial = rng.below(4) != 0;
  std::vector<std::vector<int64_t>> versions(static_cast<size_t>(keys));
  int64_t next = 0;
  for (size_t t = 2 + rng.below(4); t > 0; --t) {
    DraftTxn txn{.session = static_cast<int>(rng.below(3))};
    std::vector<DraftValue> own(static_cast<size_t>(keys));
    for (size_t i = 1 + rng.below(3); i > 0; --i) {
      const int key = static_cast<int>(rng.below(static_cast<uint64_t>(keys)));
      DraftValue& mine = own[static_cast<size_t>(key)];
      if (rng.below(2) == 0) {
        mine = ++next;
        txn.ops.push_back({.kind = OpKind::write, .key = key, .value = mine});
        continue;
      }
      const auto& all = versions[static_cast<size_t>(key)];
      const size_t behind = serial ? all.size() : rng.below(all.size() + 1);
      const DraftValue seen = behind == 0 ? DraftValue() : DraftValue(all[behind - 1]);
      txn.ops.push_back({.key = key, .value = mine ? mine : seen});
    }
    for (int key = 0; key < keys; ++key)
      if (own[static_cast<size_t>(key)])
        versions[static_cast<size_t>(key)].push_back(*own[static_cast<size_t>(key)]);
    d.txns.push_back(std::move(txn));
  }
  return d;
}

void expect_verified(const History& history, LevelId level, const Boundary& boundary,
                     const std::string& text) {
  auto executed = certify::execute_boundary(boundary, history);
  ASSERT_TRUE(executed.ok()) << text << executed.error().message;
  AuditOptions options;
  options.check.levels = {level, LevelId::session_serializable};
  options.allow_empty = true;
  const Audit audited = audit(std::move(*executed), "executed", options);
  const certify::WeakExecution execution{level, boundary, certificates_of(audited).certificates};
  const Status verified = certify::verify_weak_execution(execution, history);
  ASSERT_TRUE(verified.ok()) << text << verified.error().message;
}

void compare(LevelId level, uint64_t seed) {
  Rng rng(rotated(seed));
  size_t stopping = 0, going_on = 0, none = 0;
  const size_t count = scaled(12'000);
  for (size_t i = 0; i < count; ++i) {
    const Draft draft = drawn(rng);
    const auto history = draft.history();
    ASSERT_TRUE(history.ok());
    Budget budget;
    const auto found = predict::find_other_sources(*history, level, budget);
    ASSERT_TRUE(found.ok()) << draft.text() << found.error().message;
    ASSERT_TRUE(found->complete);
    AllBoundaries definition(draft);
    const bool stops = definition.has(level, false);
    ASSERT_EQ(found->stops.has_value(), stops) << draft.text();
    if (stops) {
      expect_verified(*history, level, *found->stops, draft.text());
      ASSERT_TRUE(definition.has(level, true)) << draft.text();
    } else {
      ASSERT_EQ(found->goes_on.has_value(), definition.has(level, true)) << draft.text();
      if (found->goes_on) expect_verified(*history, level, *found->goes_on, draft.text());
    }
    stopping += stops;
    going_on += !stops && found->goes_on;
    none += !stops && !found->goes_on;
  }
  EXPECT_GT(stopping, count / 40);
  EXPECT_GT(going_on, count / 40);
  EXPECT_GT(none, count / 40);
}

TEST(PredictBoundary, AtCausal) { compare(LevelId::causal, 1); }
TEST(PredictBoundary, AtReadCommitted) { compare(LevelId::read_committed, 2); }

}  // namespace
}  // namespace assay::internal
