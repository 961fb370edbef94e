// Adya's levels where the order of versions is stated in part, compared with every order that it
// leaves possible: what is violated is violated by each of them; what is satisfied by each, or by
// one if nobody read the versions left open. Much is left open of which every order says the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "base/rng.h"
#include "cases.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using enum LevelId;
constexpr LevelId kAdya[] = {pl_1, pl_2, pl_cs, pl_2_plus, pl_2_99, pl_3};
constexpr size_t kMostOrders = 120;
constexpr size_t kLevels = std::size(kAdya);

using Values = std::vector<int64_t>;

CheckResult decided(const Draft& draft) {
  Result<History> history = draft.history();
  EXPECT_TRUE(history.ok()) << draft.text();
  CheckOptions options;
  options.levels.assign(std::begin(kAdya), std::end(kAdya));
  return decide_levels(*history, options);
}

// Every order of `all` in which `stated` stand as they do there; stops above kMostOrders.
std::vector<Values> completions(Values all, const Values& stated) {
  std::vector<Values> found;
  std::sort(all.begin(), all.end());
  do {
    Values seen;
    for (const int64_t v : all)
      if (std::ranges::find(stated, v) != stated.end()) seen.push_back(v);
    if (seen == stated) found.push_back(all);
  } while (found.size() <= kMostOrders && std::next_permutation(all.begin(), all.end()));
  return found;
}

struct Seen {
  std::set<std::pair<int, int64_t>> read;  // versions that another transaction read
  // Of a transaction that read a version and overwrote it, that one and its own: no database
  // installs them the other way.
  std::vector<std::tuple<int, int64_t, int64_t>> overwrote;
};

Seen look(const Draft& draft) {
  Seen seen;
  for (const DraftTxn& txn : draft.txns) {
    if (txn.status != TxnStatus::committed) continue;
    std::map<int, int64_t> own;               // per key: written last
    std::map<int, std::set<int64_t>> before;  // per key: read before that
    for (const DraftOp& op : txn.ops) {
      if (op.kind == OpKind::write) own[op.key] = *op.value;
      if (op.kind != OpKind::read || !op.value || own.contains(op.key)) continue;
      seen.read.insert({op.key, *op.value});
      before[op.key].insert(*op.value);
    }
    for (const auto& [key, value] : own)
      for (const int64_t read : before[key]) seen.overwrote.emplace_back(key, read, value);
  }
  return seen;
}

bool comes_before(const Values& order, int64_t a, int64_t b) {
  const auto at = std::ranges::find(order, a);
  return at != order.end() && std::find(at, order.end(), b) != order.end();
}

bool possible(const Seen& seen, int key, const Values& order) {
  return std::ranges::all_of(seen.overwrote, [&](const auto& o) {
    const auto [of, before, after] = o;
    return of != key || !comes_before(order, after, before);
  });
}

// Whether a version was read of which the possible orders do not agree where it stands.
bool open_was_read(const Seen& seen, int key, const std::vector<Values>& orders) {
  for (const int64_t a : orders.front())
    for (const int64_t b : orders.front()) {
      const auto first = [&](const Values& order) { return comes_before(order, a, b); };
      if (seen.read.contains({key, a}) && std::ranges::any_of(orders, first) &&
          !std::ranges::all_of(orders, first))
        return true;
    }
  return false;
}

struct OrderCounts {
  uint64_t satisfied = 0, violated = 0, left_open = 0, agreed = 0;
};

void compare(const Draft& partial, const std::vector<DraftOrder>& whole, OrderCounts& counts) {
  const Seen seen = look(partial);
  std::vector<std::vector<Values>> of_key;
  size_t orders = 1;
  bool read = false;
  for (size_t k = 0; k < whole.size(); ++k) {
    of_key.push_back(completions(whole[k].values, partial.orders[k].values));
    std::erase_if(of_key.back(),
                  [&](const Values& order) { return !possible(seen, whole[k].key, order); });
    orders *= of_key.back().size();
    read = read || (!of_key.back().empty() && open_was_read(seen, whole[k].key, of_key.back()));
  }
  if (orders == 0 || orders > kMostOrders) return;
  std::vector<size_t> satisfying(kLevels);
  for (size_t n = 0; n < orders; ++n) {
    Draft complete = partial;
    complete.orders = whole;
    size_t rest = n;
    for (size_t k = 0; k < whole.size(); ++k) {
      complete.orders[k].values = of_key[k][rest % of_key[k].size()];
      rest /= of_key[k].size();
    }
    const CheckResult result = decided(complete);
    for (size_t l = 0; l < kLevels; ++l) {
      ASSERT_NE(result.find(kAdya[l])->outcome, Outcome::unknown)
          << level_info(kAdya[l]).name << "\n"
          << complete.text();
      satisfying[l] += result.find(kAdya[l])->outcome == Outcome::satisfied;
    }
  }
  Draft asked = partial;
  std::erase_if(asked.orders, [](const DraftOrder& order) { return order.values.empty(); });
  const CheckResult result = decided(asked);
  for (size_t l = 0; l < kLevels; ++l) {
    const Outcome outcome = result.find(kAdya[l])->outcome;
    SCOPED_TRACE(level_info(kAdya[l]).name);
    const bool all = satisfying[l] == orders, none = satisfying[l] == 0;
    const bool one_is_enough = !read;
    const bool right = outcome == Outcome::unknown ||
                       (outcome == Outcome::violated ? none : all || (one_is_enough && !none));
    EXPECT_TRUE(right) << outcome_name(outcome) << "\n" << asked.text();
    counts.satisfied += outcome == Outcome::satisfied;
    counts.violated += outcome == Outcome::violated;
    counts.left_open += outcome == Outcome::unknown;
    counts.agreed += outcome == Outcome::unknown && (all || none);
  }
}

TEST(PartialOrders, SayOfAdyasLevelsWhatEveryCompletionSays) {
  Rng rng(rotated(1));
  OrderCounts counts;
  for (uint64_t i = 0; i < histories(2'000); ++i) {
    Draft draft = random_draft(rng, {.max_sessions = 3,
                                     .max_txns = 5,
                                     .max_keys = 2,
                                     .max_ops = 3,
                                     .timed = 0,
                                     .ordered = 1,
                                     .unknown = 0});
    const std::vector<DraftOrder> whole = draft.orders;
    for (DraftOrder& order : draft.orders)
      std::erase_if(order.values, [&](int64_t) { return rng.chance(0.5); });
    compare(draft, whole, counts);
  }
  printf("satisfied %lu, violated %lu, left open %lu, of these every order says the same %lu\n",
         counts.satisfied, counts.violated, counts.left_open, counts.agreed);
  EXPECT_GT(counts.satisfied, 100u);
  EXPECT_GT(counts.violated, 100u);
}

}  // namespace
}  // namespace assay::internal
