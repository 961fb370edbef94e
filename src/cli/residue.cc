#include "lake/residue.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "assay/format.h"
#include "assay/verify.h"
#include "base/json.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "explain/names.h"
#include "formats/facts.h"
#include "formats/input.h"
#include "lake/queries.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

struct ResidueState {
  std::string input;
  LevelFlags level;
  std::string initial;
  std::string placed, history, certificate;
  bool json = false;
  bool leave_out_unread = false;
  BudgetFlags budget;
  SpeedUps speed_ups;
};

// Returns a table with the name of each transaction and its new places.
std::string placed_as_csv(const std::vector<lake::Placed>& placed, bool split) {
  std::string text = split ? "txn,no_effect,snapshot_at,commit_at\n" : "txn,no_effect,serial_at\n";
  const auto put = [&](int64_t at) {
    text += ',';
    if (at != Interval::kUnknown) text += std::to_string(at);
  };
  for (const lake::Placed& p : placed) {
    formats::append_csv_field(text, p.txn);
    text += p.no_effect ? ",true" : ",false";
    if (!split) put(p.serial_at);
    if (split) put(p.snapshot_at), put(p.commit_at);
    text += '\n';
  }
  return text;
}

Outcome outcome_of(const lake::Residue& r) {
  if (r.stuck.empty()) return Outcome::satisfied;
  const Outcome projection = r.projection.result.verdicts.front().outcome;
  return projection == Outcome::violated ? Outcome::violated : Outcome::unknown;
}

Status write_outputs(const ResidueState& s, const lake::Residue& r, bool split) {
  if (!s.placed.empty())
    if (Status w = write_file(s.placed, placed_as_csv(r.placed, split)); !w.ok()) return w;
  if (outcome_of(r) != Outcome::violated) return Ok{};
  if (!s.history.empty())
    if (const auto lost = write_history(r.projection.history, s.history, "assay"); !lost.ok())
      return lost.error();
  if (s.certificate.empty()) return Ok{};
  return write_file(s.certificate,
                    write_certificates(certificates_of(r.projection), r.projection.history));
}

std::string as_json(const ResidueState& s, const lake::Residue& r, std::string_view level) {
  Json j = {{"schema", 1},          {"file", s.input},
            {"level", level},       {"transactions", r.transactions},
            {"windows", r.windows}, {"placed", r.windows - r.stuck.size()},
            {"stuck", r.stuck}};
  const Outcome outcome = outcome_of(r);
  // Whether windows could be ordered is for the query to confirm.
  j["verdict"] = outcome == Outcome::satisfied ? "placed" : outcome_name(outcome);
  if (outcome == Outcome::violated && !r.projection.explanations.empty()) {
    const Explanation& e = r.projection.explanations.front();
    j["anomaly"] = anomaly_info(e.anomaly).name;
    Json names = Json::array();
    for (const TxnId t : e.transactions) names.push_back(r.projection.history.name(t));
    j["violating"] = std::move(names);
  }
  return j.dump() + "\n";
}

std::string as_text(const lake::Residue& r, std::string_view level) {
  std::string text =
      fmt::format("{} in {}, {} of them in order again\n",
                  counted(r.transactions, "transaction", "transactions"),
                  counted(r.windows, "window", "windows"), r.windows - r.stuck.size());
  const Outcome outcome = outcome_of(r);
  if (outcome == Outcome::satisfied)
    return text + fmt::format("\n  {}: splice the places and run the query again\n", level);
  constexpr size_t kMostShown = 5, kIndent = 2;
  const auto tell = [&](std::string_view sentence) {
    text += fmt::format("  {}\n", wrapped(sentence, columns_of_stdout(), kIndent, kIndent));
  };
  for (size_t i = 0; i < std::min(kMostShown, r.stuck.size()); ++i) tell(r.stuck[i]);
  if (r.stuck.size() > kMostShown)
    text += fmt::format("  … and {} more\n", r.stuck.size() - kMostShown);
  if (outcome == Outcome::unknown)
    return text +
           fmt::format("\n  {}: undecided; ask for the residue with a larger --margin\n", level);
  text += fmt::format("\n  violated   {}\n", level);
  if (r.projection.explanations.empty()) return text;
  const Explanation& e = r.projection.explanations.front();
  text += fmt::format("\n  {}\n", anomaly_info(e.anomaly).name);
  for (const std::string& sentence : e.sentences) tell(display(sentence, 2000));
  return text + "\nThe verdict was re-checked by the independent verifier.\n";
}

Exit decide(const ResidueState& s) {
  if (s.level.levels.size() != 1) return fail(usage_error("--level: expected one level"));
  const LevelInfo& level = level_info(s.level.levels.front());
  if (const auto why = lake::obstacle(level.id))
    return fail(usage_error(fmt::format("--level {}: {}", level.name, *why)));
  Budget budget = s.budget.budget();
  auto input = formats::Input::open(s.input, &budget);
  if (!input.ok()) return fail(input.error());
  auto rows = formats::read_rows(*input);
  if (!rows.ok()) return fail(rows.error());
  if (rows->facts.empty())
    return fail(bad_input(s.input + " has no rows: the query accepted everything"));
  ReadFlags reading;
  reading.initial = s.initial;
  lake::ResidueOptions options;
  options.check.levels = {level.id};
  options.check.budget = budget;
  options.check.speed_ups = s.speed_ups;
  options.leave_out_unread = s.leave_out_unread;
  if (const auto initial = reading.options().initial) options.initial = *initial;
  const auto residue =
      lake::decide_residue(std::move(rows->facts), std::move(rows->lines), s.input, options);
  if (!residue.ok()) return fail(residue.error());
  if (const Status w = write_outputs(s, *residue, level.events == EventModel::split); !w.ok())
    return fail(w.error());
  return ended(print(s.json ? as_json(s, *residue, level.name) : as_text(*residue, level.name)),
               exit_code(outcome_of(*residue)));
}

}  // namespace

Action add_residue(CLI::App& app) {
  auto s = std::make_shared<ResidueState>();
  app.add_option("FILE", s->input,
                 "the result of the query of 'assay sql --part residue' or '--part refute', in "
                 "CSV; - is standard input")
      ->required()
      ->type_name("");
  s->level.add(app, "the level", true);
  app.add_option("--placed", s->placed, "file for the new places, a table in CSV")
      ->type_name("FILE");
  app.add_option("--history", s->history, "file for the part of the history that is violated")
      ->type_name("FILE");
  app.add_option("--certificate", s->certificate, "file for its certificate")->type_name("FILE");
  app.add_option("--initial", s->initial, "what every key holds at first; by default null")
      ->type_name("VALUE");
  app.add_flag("--leave-out-unread", s->leave_out_unread,
               "treat transactions of unknown outcome as aborted if nothing in their window needs "
               "their writes: for objections that persist");
  app.add_flag("--json", s->json, "one line of JSON");
  s->budget.add(app);
  add_without(app, s->speed_ups);
  return [s] { return decide(*s); };
}

}  // namespace assay::internal::cli
