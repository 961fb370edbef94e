#include "exhaustive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "checked.h"
#include "oracle/oracle.h"
#include "oracle/selftest.h"

namespace assay::internal {
namespace {

void count(const oracle::Verdicts& verdicts, Compared& counts) {
  for (const Outcome outcome : verdicts) {
    ++(outcome == Outcome::satisfied  ? counts.satisfied
       : outcome == Outcome::violated ? counts.violated
                                      : counts.undefined);
  }
}

// What is wrong with the verdicts of the checker, or with those of the oracle.
std::string judge(const Draft& draft, const oracle::Verdicts& expected,
                  const oracle::Verdicts& found, Compared& counts) {
  std::string wrong;
  const bool orders_known = states_its_orders(draft);
  for (const LevelInfo& level : all_levels()) {
    const auto at = static_cast<size_t>(level.id);
    if (found[at] == expected[at]) continue;
    if (level.events == EventModel::adya && !orders_known && found[at] == Outcome::unknown) {
      ++counts.left_open;
      continue;
    }
    if (level.events == EventModel::adya && expected[at] == Outcome::unknown) {
      ++counts.given_up;
      continue;
    }
    wrong += fmt::format("{}: the oracle says {}, the checker says {}\n", level.name,
                         outcome_name(expected[at]), outcome_name(found[at]));
  }
  return wrong + oracle::broken_lattice(expected) + oracle::broken_lattice(found);
}

}  // namespace

bool states_its_orders(const Draft& draft) {
  std::map<int, std::set<size_t>> writers;
  for (size_t t = 0; t < draft.txns.size(); ++t)
    for (const DraftOp& op : draft.txns[t].ops)
      if (op.kind == OpKind::write) writers[op.key].insert(t);
  return std::all_of(writers.begin(), writers.end(), [&](const auto& key) {
    return key.second.size() < 2 ||
           std::any_of(draft.orders.begin(), draft.orders.end(),
                       [&](const DraftOrder& order) { return order.key == key.first; });
  });
}

Compared compare_all(const oracle::Bounds& bounds, uint64_t step, uint64_t first,
                     const oracle::Checker& checker) {
  Compared counts;
  uint64_t number = 0;
  counts.enumerated = oracle::enumerate(bounds, [&](const Draft& draft) {
    if (number++ % step != first) return true;
    const auto history = draft.history();
    if (!history.ok()) {
      counts.failure = history.error().to_string();
    } else {
      const oracle::Verdicts expected = oracle::decide_all(*history, all_levels());
      count(expected, counts);
      counts.failure = judge(draft, expected, checker(*history), counts);
    }
    if (!counts.failure.empty()) counts.failure += "\n" + draft.text();
    if (++counts.compared % 100'000 == 0)
      std::fprintf(stderr, "%llu histories\n", static_cast<unsigned long long>(counts.compared));
    return counts.failure.empty();
  });
  return counts;
}

Compared compare_all(const oracle::Bounds& bounds, uint64_t step, uint64_t first) {
  CheckOptions every_level;
  for (const LevelInfo& level : all_levels()) every_level.levels.push_back(level.id);
  std::string complaint;
  Compared counts = compare_all(
      bounds, step, first, [&](const History& h) { return checked(h, &complaint, every_level); });
  if (!counts.failure.empty()) counts.failure += complaint;
  return counts;
}

}  // namespace assay::internal
