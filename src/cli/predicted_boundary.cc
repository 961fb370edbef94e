#include "cli/predicted_boundary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "assay/audit.h"
#include "base/json.h"
#include "base/wrap.h"
#include "certify/boundary.h"
#include "cli/console.h"
#include "explain/names.h"
#include "predict/boundary_search.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

using certify::Boundary;

// Here `read-committed` is the isolation of that name: statement snapshots.
constexpr std::array<std::pair<LevelId, std::string_view>, 2> kNames = {
    {{LevelId::causal, "causal"}, {LevelId::read_committed, "axiomatic-read-committed"}}};

std::string_view name_of(LevelId level) {
  return std::ranges::find(kNames, level, &std::pair<LevelId, std::string_view>::first)->second;
}

// The result at a level, checked and verified.
struct AtLevel {
  LevelId level = LevelId::causal;
  predict::OtherSources found;
  std::optional<certify::WeakExecution> execution;
  Audit audit;                       // audit of the execution
  std::vector<TxnId> ran;            // the recorded transactions in it
  std::string history, certificate;  // files, if they were written

  std::string_view word(bool goes_on) const {
    if (execution && (found.stops || goes_on)) return "breaks";
    return found.complete ? "none" : "unknown";
  }
};

Result<AtLevel> look_at(LevelId level, const History& history, Budget& budget) {
  auto found = predict::find_other_sources(history, level, budget);
  if (!found.ok()) return found.error();
  AtLevel at;
  at.level = level;
  at.found = std::move(*found);
  const auto& boundary = at.found.stops ? at.found.stops : at.found.goes_on;
  if (!boundary) return at;
  auto executed = certify::execute_boundary(*boundary, history, &at.ran);
  if (!executed.ok()) return executed.error();
  AuditOptions options;
  options.check.levels = {level, LevelId::session_serializable};
  options.allow_empty = true;
  at.audit = audit(std::move(*executed), "predicted", options);
  certify::WeakExecution execution{level, *boundary, certificates_of(at.audit).certificates};
  if (const Status s = certify::verify_weak_execution(execution, history); s.ok()) {
    at.execution = std::move(execution);
  } else {
    at.found.complete = false;
    at.found.reason = "the verifier refuses the result: " + s.error().message;
  }
  return at;
}

Status write(AtLevel& at, const PredictedFiles& files, const History& recorded) {
  const std::string name(name_of(at.level));
  auto certificate = files.certificate(name, {{}, {}, {*at.execution}}, recorded);
  if (!certificate.ok()) return certificate.error();
  auto history = files.history(name, at.audit.history);
  if (!history.ok()) return history.error();
  at.certificate = std::move(*certificate);
  at.history = std::move(*history);
  return Ok{};
}

// Returns the read of the cut transaction as it is in the execution.
OpId executed_op(const Boundary::Source& source, TxnId txn, const AtLevel& at,
                 const History& recorded) {
  const auto t = static_cast<TxnId>(std::ranges::find(at.ran, txn) - at.ran.begin());
  return at.audit.history.first_op(t) + (source.op - recorded.first_op(txn));
}

std::string cuts_in_words(const AtLevel& at, const History& recorded) {
  std::string text;
  for (const Boundary::Cut& cut : at.execution->boundary.cuts) {
    text += fmt::format("    {:<8}", display_txn(recorded, cut.txn));
    for (const Boundary::Source& source : cut.sources)
      text += fmt::format(" {} (recorded {})",
                          display_op(at.audit.history, executed_op(source, cut.txn, at, recorded)),
                          display_op(recorded, source.op));
    const bool stops = cut.operations < recorded.end_op(cut.txn) - recorded.first_op(cut.txn);
    text += stops ? " and stops there\n" : cut.sources.empty() ? " as recorded\n" : "\n";
  }
  return text;
}

std::string break_in_words(const AtLevel& at, const History& recorded) {
  std::string text = fmt::format("\nThe transactions break at {}", name_of(at.level));
  const auto& explanations = at.audit.explanations;
  if (!explanations.empty())
    text += fmt::format(": {}", anomaly_info(explanations.front().anomaly).name);
  text += "\n\n" + cuts_in_words(at, recorded) + "\n";
  const auto tell = [&](std::string_view sentence) {
    text += fmt::format("  {}\n", wrapped(sentence, columns_of_stdout(), 2, 2));
  };
  if (at.execution->boundary.cuts.empty())
    tell("As they were recorded, they are not serializable.");
  if (!explanations.empty())
    for (const std::string& sentence : explanations.front().sentences) tell(sentence);
  if (!at.history.empty()) tell(fmt::format("Written to {} and {}.", at.history, at.certificate));
  return text;
}

Json as_json(const AtLevel& at, const History& recorded) {
  Json j = {{"level", name_of(at.level)},
            {"stops", at.word(false)},
            {"goes_on", at.word(true)},
            {"executions", at.found.allowed}};
  if (!at.found.reason.empty()) j["reason"] = at.found.reason;
  if (!at.execution) return j;
  if (!at.audit.explanations.empty())
    j["anomaly"] = anomaly_info(at.audit.explanations.front().anomaly).name;
  Json changed = Json::array();
  for (const Boundary::Cut& cut : at.execution->boundary.cuts)
    for (const Boundary::Source& source : cut.sources)
      changed.push_back(
          {{"transaction", recorded.name(cut.txn)},
           {"recorded", display_op(recorded, source.op)},
           {"read", display_op(at.audit.history, executed_op(source, cut.txn, at, recorded))}});
  j["changed"] = std::move(changed);
  if (!at.history.empty()) j["history"] = at.history;
  if (!at.certificate.empty()) j["certificate"] = at.certificate;
  return j;
}

uint64_t committed_in(const History& h) { return count_outcomes(h).committed; }

std::string in_words(const std::vector<AtLevel>& levels, const History& history,
                     const PredictedFiles& files) {
  std::string text = fmt::format("{}: {} of {}\n\n", display(files.inputs.front(), 200),
                                 counted(committed_in(history), "transaction", "transactions"),
                                 counted(history.session_count(), "session", "sessions"));
  size_t width = 0;
  for (const AtLevel& at : levels) width = std::max(width, name_of(at.level).size());
  text += fmt::format("  {:<{}}  {:<11}  goes on\n", "", width, "stops there");
  for (const AtLevel& at : levels)
    text += fmt::format("  {:<{}}  {:<11}  {}\n", name_of(at.level), width, at.word(false),
                        at.word(true));
  for (const AtLevel& at : levels) {
    if (at.execution) text += break_in_words(at, history);
    if (!at.found.complete)
      text += fmt::format("\nThe rest is unknown at {}: {}\n", name_of(at.level),
                          display(at.found.reason, 300));
    else if (!at.execution)
      text += fmt::format(
          "\nAt {} all {} were examined and are serializable; no certificate shows that.\n",
          name_of(at.level),
          counted(at.found.allowed, "execution that the level allows",
                  "executions that the level allows"));
  }
  text += "\n" +
          wrapped(
              "A transaction whose read changes either stops there or goes on as recorded. What "
              "follows it in its session, or reads from it, is left out.",
              columns_of_stdout()) +
          "\n";
  return text;
}

}  // namespace

std::optional<LevelId> find_weak_level(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &std::pair<LevelId, std::string_view>::second);
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

std::vector<std::string> weak_level_names() {
  std::vector<std::string> names;
  for (const auto& [level, name] : kNames) names.emplace_back(name);
  return names;
}

Result<Exit> predict_at_weak_levels(const History& history, const std::vector<LevelId>& levels,
                                    const PredictedFiles& files, bool json, Budget& budget) {
  std::vector<AtLevel> all;
  Exit exit = Exit::satisfied;
  for (const LevelId level : levels) {
    auto at = look_at(level, history, budget);
    if (!at.ok()) return at.error();
    if (at->execution && files.wanted())
      if (Status s = write(*at, files, history); !s.ok()) return s.error();
    exit = worse(exit, at->execution        ? Exit::violated
                       : at->found.complete ? Exit::satisfied
                                            : Exit::unknown);
    all.push_back(std::move(*at));
  }
  std::string text;
  if (json) {
    Json j = {{"schema", 1},
              {"file", files.inputs.front()},
              {"transactions", committed_in(history)},
              {"levels", Json::array()}};
    for (const AtLevel& at : all) j["levels"].push_back(as_json(at, history));
    text = j.dump() + "\n";
  } else {
    text = in_words(all, history, files);
  }
  if (Status s = print(text); !s.ok()) return s.error();
  return exit;
}

}  // namespace assay::internal::cli
