// One run decides every level: a walk over the lattice that starts from the levels already proved
// (lattice.h).
//
// It is a list of rules, the cheapest first. Each states its inputs, possible outcomes and cost.
// The first that applies to a useful level is applied, until none does. Its findings decide other
// levels too, and may be inputs of other rules.
//
//   replay of values                  before all rules, without their inputs: accepts what a
//                                     database did serially
//   a read that nothing explains      refutes most levels at once
//   replay of the strongest level     accepts in linear time what a sound database did, and all
//                                     that is weaker
//   search                            decides the levels that are left, each with a share of the
//                                     budget
//
// Cost: that of the rules. Source: the lattice as in Cerone and Gotsman, and Adya; the walk is
// ours.

#include "levels/walk.h"

#include <algorithm>
#include <bitset>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sort_by.h"
#include "infer/replay_by_value.h"
#include "levels/rules.h"
#include "levels/single_operations.h"
#include "levels/strong.h"

namespace assay::internal {

Unknown lacks_times() {
  return {UnknownCause::lacks_times,
          "the begin and end times of some committed transactions are not known"};
}

namespace {

// A level asked for alone may follow from an easier one above or below it: then these are tried,
// too.
bool may_look_further(Case& c, const LevelInfo&) {
  const auto open = [&](const LevelInfo& level) {
    return c.lattice.is_open(level.id) && !level.on_request() && !follows_from_below(level) &&
           c.timed_enough(level);
  };
  return !c.options.levels.empty() && c.uses(SpeedUp::carry) && c.lattice.anything_left() &&
         (!c.unexplained.empty() || std::ranges::any_of(all_levels(), open));
}

void look_further(Case& c, const LevelInfo&) {
  c.lattice.widen();
  c.shares.divide_anew();
}

bool any_ran_out(Case& c, const LevelInfo&) { return c.shares.any_ran_out(); }

void search_again(Case& c, const LevelInfo&) { c.shares.give_rest(); }

// The levels at which a rule is tried, and in which order. once: the rule looks at the whole
// history.
enum class Turn : uint8_t { once, strongest_first, weakest_first };
enum class Proves : uint8_t { satisfied, violated, either };
// nothing: uses known results. pass: takes time linear in the history. search: takes a share of the
// remaining budget.
enum class Cost : uint8_t { nothing, pass, search };

struct Rule {
  std::string_view name;  // as progress messages put it in front of a level
  Turn turn;
  Proves proves;
  Cost cost;
  rules::Needs* applies;
  rules::Decides* apply;
};

using namespace rules;
using enum Turn;
using enum Proves;
using enum Cost;

// In the order in which they are tried. Levels whose search ran out of its share are searched again
// before the walk looks further, and after.
constexpr Rule kRules[] = {
    // clang-format off
    {"expected order",       once,            satisfied, pass,    states_an_order,               replay_stated_order},
    {"unexplained read",     once,            violated,  nothing, has_unexplained_read,          refute_by_unexplained_read},
    {"impossible aggregate", once,            violated,  pass,    may_have_impossible_aggregate, refute_by_aggregate},
    {"key by key",           once,            either,    pass,    may_go_key_by_key,             decide_key_by_key},
    {"sourceless read",      once,            violated,  pass,    has_open_reads,                refute_by_sourceless},
    {"counting",             once,            violated,  pass,    has_open_reads,                refute_by_counting},
    {"from above",           weakest_first,   satisfied, nothing, follows_from_above,            take_from_above},
    {"order of versions",    weakest_first,   satisfied, pass,    may_state_versions,            accept_order_of_versions},
    {"clock",                weakest_first,   violated,  pass,    may_ask_the_clock,             refute_by_the_clock},
    {"replay",               strongest_first, satisfied, pass,    may_replay,                    accept_by_replaying},
    {"nearest sources",      weakest_first,   either,    pass,    may_take_nearest_sources,      take_nearest_sources},
    {"decide",               strongest_first, either,    search,  is_searched_early,             decide_by_search},
    {"decide",               weakest_first,   either,    search,  is_weak,                       decide_weak},
    {"decide",               weakest_first,   either,    search,  is_searched,                   decide_by_search},
    {"decide",               weakest_first,   either,    search,  has_statements,                decide_by_statements},
    {"decide",               weakest_first,   violated,  search,  is_searched_without_time,      refute_without_time},
    {"decide",               weakest_first,   either,    search,  looks_at_dirty_reads,          decide_with_dirty_reads},
    {"decide",               weakest_first,   either,    search,  is_adya,                       decide_adya},
    {"again",                once,            either,    nothing, any_ran_out,                   search_again},
    {"look further",         once,            either,    pass,    may_look_further,              look_further},
    {"again",                once,            either,    nothing, any_ran_out,                   search_again},
    {"aggregates",           weakest_first,   satisfied, pass,    may_have_whole_order,          accept_by_whole_order},
    {"from below",           once,            either,    nothing, has_single_operations_open,    take_from_below},
    {"declared",             once,            either,    nothing, declares_levels,               decide_declared},
    {"defined",              once,            either,    nothing, is_defined,                    decide_defined},
    // clang-format on
};
constexpr size_t kRuleCount = std::size(kRules);

// Levels that have a place in a walk, in the order of their places.
std::vector<LevelId> in_walk_order(uint8_t WalkPlace::*place) {
  std::vector<LevelId> levels;
  for (const LevelInfo& level : all_levels())
    if (level.walk.*place != 0) levels.push_back(level.id);
  stable_sort_by(levels, [&](LevelId id) { return level_info(id).walk.*place; });
  return levels;
}

std::span<const LevelId> levels_of(Turn turn) {
  static const std::vector<LevelId> once{all_levels().front().id};
  static const std::vector<LevelId> strongest_first = in_walk_order(&WalkPlace::replay);
  static const std::vector<LevelId> weakest_first = in_walk_order(&WalkPlace::decide);
  return turn == Turn::once              ? once
         : turn == Turn::strongest_first ? strongest_first
                                         : weakest_first;
}

class LatticeWalk {
 public:
  explicit LatticeWalk(Case& whole) : case_(whole) {}

  void run() {
    while (const std::optional<Step> step = next()) {
      const Rule& rule = kRules[step->rule];
      const LevelInfo& level = level_info(step->level);
      if (rule.turn != Turn::once && case_.options.progress)
        case_.options.progress(std::string(rule.name) + " " + std::string(level.name),
                               case_.lattice.progress());
      if (rule.cost == Cost::search) {
        search(rule, level);
      } else {
        applied_[step->rule].set(static_cast<size_t>(step->level));
        rule.apply(case_, level);
      }
    }
  }

 private:
  struct Step {
    size_t rule;  // index into kRules
    LevelId level;
  };

  std::optional<Step> next() {
    std::bitset<kLevelCount> useful;
    for (const LevelInfo& level : all_levels())
      useful[static_cast<size_t>(level.id)] = case_.lattice.useful(level.id);
    for (size_t rule = 0; rule < kRuleCount; ++rule)
      for (const LevelId level : levels_of(kRules[rule].turn)) {
        const size_t at = static_cast<size_t>(level);
        if ((kRules[rule].turn == Turn::once || useful[at]) && !applied_[rule][at] &&
            is_worth_it(kRules[rule], level_info(level)))
          return Step{rule, level};
      }
    return std::nullopt;
  }

  // Whether the rule is worth applying to a level that is useful.
  bool is_worth_it(const Rule& rule, const LevelInfo& level) {
    const Lattice& lattice = case_.lattice;
    if (rule.turn != Turn::once && rule.proves == Proves::satisfied &&
        !lattice.helps_if_accepted(level.id))
      return false;
    if (rule.cost == Cost::search && lattice.was_searched(level.id)) return false;
    if (rule.cost == Cost::pass && case_.budget.exhausted_now()) return false;
    return rule.applies(case_, level);
  }

  void search(const Rule& rule, const LevelInfo& level) {
    if (!case_.budget.exhausted_now())
      return case_.shares.spend(level.id, [&] { rule.apply(case_, level); });
    case_.lattice.set_searched(level.id, true);
    if (case_.timed_enough(level)) case_.lattice.set_unknown(level.id, case_.budget.reason());
  }

  Case& case_;
  std::bitset<kLevelCount> applied_[kRuleCount];
};

// Called before any search: says which levels cannot hold. Without times a level may still be
// refuted by its other conditions. `txns`: the transactions that may have taken effect.
void say_what_cannot_hold(Case& c, const std::vector<TxnId>& txns) {
  for (const LevelInfo& level : all_levels()) {
    if (!c.timed_enough(level)) c.lattice.set_unknown(level.id, lacks_times());
    if (!level.single_operations) continue;
    if (std::optional<Unknown> obstacle = no_single_operation(c.history, txns))
      c.lattice.give_up(level.id, std::move(*obstacle));
  }
}

// Whether all transactions are single operations, which are decided key by key.
bool are_single_operations(const History& h) {
  std::vector<TxnId> committed;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) == TxnStatus::committed) committed.push_back(t);
  return !no_single_operation(h, committed);
}

// The level with one event per transaction that is tried without matching: the strongest that is
// asked for or may settle one that is. If only weak levels are asked for, the one with real time:
// where times do not tell, an order is seldom found.
std::optional<LevelId> level_by_value(const Case& c) {
  const auto may_try = [&](LevelId id) {
    const LevelInfo& level = level_info(id);
    return level.events == EventModel::single && !level.single_operations &&
           c.timed_enough(level) && c.lattice.helps_if_accepted(id);
  };
  for (const LevelId id : levels_of(strongest_first))
    if (may_try(id) && c.lattice.useful(id)) return id;
  if (c.uses(SpeedUp::carry))
    for (const LevelId id : levels_of(strongest_first))
      if (may_try(id) && level_info(id).real_time != RealTime::none) return id;
  return std::nullopt;
}

// Returns false if the history is not accepted: then nothing is known.
bool accept_by_value(Case& c) {
  if (!c.uses(SpeedUp::replay) || !c.uses(SpeedUp::replay_by_value) ||
      c.options.engine != EngineId::graph || c.options.expected_order ||
      are_single_operations(c.history) || !may_replay_by_value(c.history))
    return false;
  const std::optional<LevelId> level = level_by_value(c);
  if (!level) return false;
  const auto timer = c.stages.time("replay by value");
  std::vector<TxnId> order = order_by_value(c.history, level_info(*level), c.budget);
  if (order.empty()) return false;
  say_what_cannot_hold(c, order);
  c.record(*level, Judgement::satisfied({.split = false, .events = std::move(order)}));
  return true;
}

void walk(Case& c) {
  if (accept_by_value(c) && !c.lattice.anything_left() && !c.history.declares_levels() &&
      !c.lattice.is_wanted(LevelId::defined))
    return;
  if (!c.match()) {
    for (const LevelInfo& level : named_levels())
      c.lattice.set_unknown(level.id, c.timed_enough(level) ? c.budget.reason() : lacks_times());
    return;
  }
  say_what_cannot_hold(c, c.problem.txn);
  // If sources are open, a weak level is harder than a strong one, whose order determines the
  // sources: so strong ones are tried first, requested or not.
  if (c.has_open_reads() && c.uses(SpeedUp::carry)) c.lattice.widen();
  c.stated_first = c.is_explainable() && c.uses(SpeedUp::stated_first) &&
                   c.options.engine == EngineId::graph && !c.has_open_reads() &&
                   is_nearly_stated(c.problem);
  if (c.stated_first) c.shares.expect_passes();
  for (const LevelInfo& level : all_levels())
    if (sees_through_readers(level) && c.any_version_skipped && c.lattice.is_open(level.id))
      c.lattice.await(next_stronger(level.id), level.id);
  LatticeWalk(c).run();
}

}  // namespace

CheckResult decide_levels(const History& history, const CheckOptions& options) {
  Budget budget = options.budget;
  return decide_levels(history, options, budget);
}

CheckResult decide_levels(const History& history, const CheckOptions& options, Budget& budget) {
  Case whole(history, options);
  std::swap(whole.budget, budget);
  walk(whole);
  std::swap(whole.budget, budget);
  CheckResult result;
  whole.lattice.move_to(result);
  result.duplicates = whole.problem.found.duplicates;
  result.expected_order = std::move(whole.expected_order);
  for (const Stage& stage : whole.stages.all())
    result.stages.push_back({stage.name, stage.seconds, stage.peak_memory_bytes});
  result.counters = whole.stages.take_counters();
  return result;
}

}  // namespace assay::internal

namespace assay {

CheckResult::CheckResult() = default;
CheckResult::CheckResult(const CheckResult&) = default;
CheckResult::CheckResult(CheckResult&&) noexcept = default;
CheckResult& CheckResult::operator=(const CheckResult&) = default;
CheckResult& CheckResult::operator=(CheckResult&&) noexcept = default;
CheckResult::~CheckResult() = default;

const Verdict* CheckResult::find(LevelId level) const {
  for (const Verdict& v : verdicts) {
    if (v.level == level) return &v;
  }
  return nullptr;
}

}  // namespace assay
