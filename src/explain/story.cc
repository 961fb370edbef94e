// How a certificate becomes a story.
//
//   1. two operations    they are the story; if no order of one key's operations exists, the
//                        operation at which all orders end (unexplained.h)
//   2. a refutation      conclude(): its cheapest contradiction; cheapest_cycle(): the cheapest
//                        cycle among the transactions; classify(): the name; narrate(): the
//                        sentences
//   3. a lost update     is a pattern of three transactions that can be seen anywhere in the
//                        history, and says more than any cycle: where levels that forbid it
//                        fail, look for it first
//
// Linear in the history, plus the cost of the small graph.
#include "explain/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "explain/arrows.h"
#include "explain/case_sentences.h"
#include "explain/classify.h"
#include "explain/narrate.h"
#include "explain/refutation.h"
#include "explain/unexplained.h"
#include "history/session_levels.h"

namespace assay::internal {

void Uses::see(const Edge& e) {
  session |= e.kind == EdgeKind::session;
  if (e.kind == EdgeKind::real_time) {
    time = true;
    within_time |= !e.from_write || e.to_write;
  }
  for (const Edge& p : e.path) session |= p.kind == EdgeKind::session;
}

void Uses::see_all(const LevelInfo& level) {
  session |= level.session_order;
  time |= level.real_time != RealTime::none;
  within_time |=
      level.real_time == RealTime::into_commits || level.real_time == RealTime::all_but_begins;
}

bool Story::refutes(LevelId level) const {
  const LevelId own = explanation.level;
  const LevelInfo& info = level_info(level);
  const bool plain = !uses.session && !uses.time;
  // "Ended before the other began" means the same at every level that looks at the clock.
  const bool by_clock = uses.time && !uses.within_time && info.events == EventModel::single &&
                        info.real_time == RealTime::transactions &&
                        level_info(own).events == EventModel::split;
  return implies(level, own) || (plain && implies(with_sessions(level), own)) || by_clock;
}

std::vector<TxnId> mentioned(const History& h, const Proof& proof, const Conclusion* conclusion) {
  std::vector<TxnId> txns;
  const auto see = [&](const Edge& e) {
    txns.insert(txns.end(), {e.from, e.to, e.via});
    for (const Edge& p : e.path) txns.insert(txns.end(), {p.from, p.to});
  };
  const auto see_step = [&](const ProofStep& s) {
    for (const Edge& e : s.cycle) see(e);
    const bool of_operation =
        s.kind == ProofStep::Kind::sources || s.kind == ProofStep::Kind::blocks ||
        s.kind == ProofStep::Kind::aggregate || (s.kind == ProofStep::Kind::fact && s.source_is_op);
    if (of_operation && s.source != kNone) txns.push_back(h.txn_of(s.source));
  };
  if (conclusion) {
    for (const Edge& e : conclusion->cycle) see(e);
    for (const Forced& f : conclusion->forced) see_step(proof.steps[f.step]);
  } else {
    for (const ProofStep& s : proof.steps) see_step(s);
  }
  tidy(txns);
  return txns;
}

namespace {

bool forbids_lost_update(const LevelInfo& level) {
  return level.events == EventModel::single ||
         (level.events == EventModel::split && level.write_conflict);
}

// The cheapest cycle, or the same contradiction from its other end, if that is a lost update and
// cheaper.
Cycle cheapest_of_two_ends(const History& h, const Proof& proof, const LevelInfo& level,
                           const Conclusion& conclusion) {
  FoundCycle found = cheapest_cycle(h, level, conclusion);
  const Conclusion other = other_end(conclusion, proof);
  if (other.cycle.empty()) return found.cycle;
  FoundCycle turned = cheapest_cycle(h, level, other);
  if (turned.cost < found.cost && classify(turned.cycle, level, h) == Anomaly::lost_update)
    return turned.cycle;
  return found.cycle;
}

Cycle cycle_to_tell(const History& h, const Proof& proof, const LevelInfo& level,
                    const Conclusion& conclusion) {
  Cycle cycle;
  if (forbids_lost_update(level)) cycle = lost_update(h, mentioned(h, proof, nullptr));
  // Levels that restrict the kinds of edges on a path have their own cycle.
  if (cycle.empty() && !level.on_request() && level.events != EventModel::weak)
    cycle = cheapest_of_two_ends(h, proof, level, conclusion);
  return cycle.empty() ? own_cycle(h, proof, conclusion) : cycle;
}

// The anomaly that all cycles of the proof show; if they differ, the class of most such
// contradictions. Without a cycle only the aggregates are wrong.
Anomaly of_every_cycle(const History& h, const Proof& proof, const LevelInfo& level) {
  std::optional<Anomaly> common;
  for (const ProofStep& step : proof.steps) {
    if (step.kind != ProofStep::Kind::cycle) continue;
    Cycle cycle;
    for (const Edge& edge : step.cycle) cycle.push_back({edge});
    const Anomaly shown = classify(without_forced(std::move(cycle)), level, h);
    if (common && *common != shown) return Anomaly::g2_item;
    common = shown;
  }
  return common.value_or(Anomaly::result_set_mismatch);
}

// Explains that no order gives the result of an aggregate. No single cycle shows that: its cases
// do, or else the result itself.
void explain_aggregates(const Excerpt& excerpt, const Proof& proof, const LevelInfo& level,
                        Story& story) {
  Explanation& e = story.explanation;
  e.anomaly = of_every_cycle(excerpt.history, proof, level);
  story.uses.see_all(level);
  const std::optional<CaseTree> tree = case_tree(proof);
  if (tree && !tree->nodes.empty()) return explain_cases(*tree, proof, excerpt, e);
  explain_wrong_aggregates(excerpt.history, proof, e);
}

// Adds that the refutation goes through the possible writers of some reads, if it does.
void add_open_sources(const Proof& proof, Story& story) {
  const auto reads = std::ranges::count_if(proof.steps, several_sources);
  if (reads == 0) return;
  std::vector<std::string>& sentences = story.explanation.sentences;
  sentences.insert(sentences.begin(),
                   fmt::format("Several writers could explain the reads ({} read{} used by the "
                               "proof); each choice leads to a contradiction.",
                               reads, reads == 1 ? "" : "s"));
  story.uses = {true, true, true};  // the parts that are not shown may use any rule
}

void explain_proof(const Excerpt& excerpt, const Proof& proof, const LevelInfo& level,
                   Story& story) {
  const History& h = excerpt.history;
  Explanation& e = story.explanation;
  const ProofStep& last = proof.steps.back();
  if (last.kind == ProofStep::Kind::sources) return explain_sourceless(excerpt, last, e);
  if (explain_lists(excerpt, proof, e)) return;
  if (std::ranges::count(proof.steps, ProofStep::Kind::aggregate, &ProofStep::kind) > 0)
    return explain_aggregates(excerpt, proof, level, story);
  const Conclusion conclusion = conclude(proof);
  const Clauses clauses(excerpt, proof);
  Cycle cycle = cycle_to_tell(h, proof, level, conclusion);
  if (!is_proven(cycle, proof)) {
    if (const std::optional<CaseTree> tree = case_tree(proof)) {
      e.anomaly = of_every_cycle(h, proof, level);
      story.uses.see_all(level);
      return explain_cases(*tree, proof, excerpt, e);
    }
  }
  cycle = without_forced(std::move(cycle));
  const auto earliest =
      std::min_element(cycle.begin(), cycle.end(),
                       [](const Step& a, const Step& b) { return a.edge.from < b.edge.from; });
  std::rotate(cycle.begin(), earliest, cycle.end());
  e.anomaly = classify(cycle, level, h);
  e.sentences = narrate(e.anomaly, cycle, h, clauses);
  draw(cycle, h, proof, clauses, e);
  for (const Step& step : cycle) {
    story.uses.see(step.edge);
    for (const Edge& edge : step.path) story.uses.see(edge);
    // Deeper reasons are not examined.
    if (step.because == Step::Because::proof) story.uses.see_all(level);
  }
  add_open_sources(proof, story);
}

}  // namespace

Story story_of(const Excerpt& excerpt, LevelId level, const Certificate& c) {
  Story story;
  Explanation& e = story.explanation;
  e.level = level;
  if (c.kind == Certificate::Kind::bad_read) {
    // Only read committed lets a transaction read a key twice with different results; the story
    // needs neither sessions nor clocks.
    explain_bad_read(excerpt, c.bad_read, e);
  } else if (c.kind == Certificate::Kind::exhausted) {
    explain_exhausted(excerpt.history, c.exhausted, e);
    story.uses.time = true;
  } else {
    explain_proof(excerpt, c.proof, excerpt.history.level(level), story);
  }
  e.hint = recording_hint(e.anomaly, excerpt.history);
  tidy(e.transactions);
  tidy(e.operations);
  return story;
}

}  // namespace assay::internal
