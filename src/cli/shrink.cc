#include "explain/shrink.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "assay/format.h"
#include "base/progress.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/repeat.h"
#include "cli/shrinking.h"
#include "collect/schedule/assemble.h"
#include "collect/sql_script.h"
#include "explain/explain.h"
#include "explain/names.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

struct ShrinkState {
  std::string input, output = "-", to = "hist";
  SqlFlags sql;
  CheckFlags flags;
};

// Plays the script once, and reports the result.
Exit play_once(const std::string& script, const History& small, LevelId level,
               const SqlFlags& sql) {
  namespace schedule = collect::schedule;
  auto file = schedule::parse(script, sql.file);
  if (!file.ok()) return fail(file.error());
  auto stage =
      schedule::Stage::open(*file, {.databases = sql.databases, .isolation = sql.isolation});
  if (!stage.ok()) return fail(stage.error());
  const auto played = (*stage)->play(file->permutations.front());
  if (!played.ok()) return fail(played.error());
  auto assembled = schedule::assemble(*file, *played, (*stage)->driver().describe());
  if (!assembled.ok()) return fail(assembled.error());
  CheckFlags checking;
  checking.levels.levels = {level};
  checking.defined_level = small.defined_level();
  const Audit c = check_history(std::move(assembled->history), sql.file, checking);
  const Outcome outcome = c.result.find(level)->outcome;
  const std::string_view came_of_it = outcome == Outcome::violated    ? "is violated again"
                                      : outcome == Outcome::satisfied ? "was not violated this time"
                                                                      : "was left undecided";
  const std::vector<std::string> refusals = schedule::refusals(*played);
  const std::string refused =
      refusals.empty() ? ""
                       : fmt::format("; {} refused, the first because: {}",
                                     counted(refusals.size(), "transaction", "transactions"),
                                     display(refusals.front(), 200));
  note(fmt::format("played once: {} {}{}", level_info(level).name, came_of_it, refused));
  return Exit::satisfied;
}

// Writes the SQL that repeats the smallest part, after playing it if a database is given. It is
// written even if the database could not be reached.
Exit write_sql(const History& small, LevelId level, const SqlFlags& sql) {
  const Result<std::string> script = collect::sql_script(small, sql.isolation);
  if (!script.ok() && sql.where_possible) {
    note("no SQL reproduces it: " + display(script.error().message, 300));
    return Exit::satisfied;
  }
  if (!script.ok()) return fail(script.error());
  const Exit played =
      sql.databases.empty() ? Exit::satisfied : play_once(*script, small, level, sql);
  const Status s = write_file(sql.file, *script);
  return worse(played, ended(s));
}

// Returns the requested level, or else the weakest that is violated; nullopt if all are satisfied.
Result<std::optional<LevelId>> level_to_show(const Audit& c) {
  for (const Verdict& v : c.result.verdicts)
    if (v.outcome == Outcome::violated) return std::optional(v.level);
  for (const Verdict& v : c.result.verdicts)
    if (v.outcome == Outcome::unknown)
      return Error{ErrorKind::budget,
                   fmt::format("{} is undecided: {}", level_info(v.level).name, v.reason), c.file,
                   0, 0};
  return std::optional<LevelId>();
}

Exit shrink_history(const ShrinkState& s) {
  const Audit c = check_file(s.input, s.flags);
  if (c.error) return fail(*c.error);
  const Result<std::optional<LevelId>> level = level_to_show(c);
  if (!level.ok()) return fail(level.error());
  if (!*level) {
    note(fmt::format("{} satisfies {}: there is nothing to shrink", file_name(c),
                     c.requested.empty() ? "every level" : level_names(c.requested)));
    return Exit::satisfied;
  }
  if (const std::string command = command_of_run(c.history.meta()); !command.empty())
    note("to repeat the run: " + display(command, 4000));
  return write_smallest(c, **level, s.flags, s.output, s.to, s.sql);
}

}  // namespace

Exit write_smallest(const Audit& c, LevelId level, const CheckFlags& flags,
                    const std::string& output, const std::string& format, const SqlFlags& sql) {
  ShrinkOptions options;
  options.budget = flags.budget.budget();
  const Explanation* explained = find_explanation(c.explanations, level);
  if (explained == nullptr) return fail(usage_error("there is no violation to shrink"));
  options.suspects = explained->transactions;
  CheckOptions checking;
  checking.budget = flags.budget.budget();
  checking.speed_ups = flags.speed_ups;
  ProgressLine progress("shrink");
  options.progress = [&](uint32_t txns, uint32_t ops) {
    progress.update(-1, fmt::format("{} transactions, {} operations", txns, ops));
  };
  const auto small = shrink_violation(c.history, level, explained->anomaly, checking, options);
  progress.clear();
  if (!small.ok()) return fail(small.error());
  note(fmt::format("{} of {} transactions and {} of {} operations still violate {}{}",
                   small->history.txn_count(), c.history.txn_count(), small->history.op_count(),
                   c.history.op_count(), level_info(level).name,
                   small->complete ? "" : "; the budget ran out, so a smaller part may exist"));
  const auto losses = write_history(small->history, output, format);
  if (!losses.ok()) return fail(losses.error());
  for (const Loss& l : *losses) note(fmt::format("not in the output: {} ({})", l.what, l.count));
  return sql.file.empty() ? Exit::satisfied : write_sql(small->history, level, sql);
}

Action add_shrink(CLI::App& app) {
  auto s = std::make_shared<ShrinkState>();
  app.add_option("FILE", s->input, "history; - is standard input")->required()->type_name("");
  s->flags.levels.definition = &s->flags.definition;
  s->flags.levels.add(app,
                      "the level that must stay violated, or FILE.toml that defines it; by default "
                      "the weakest violated one");
  app.add_option("--output,-o", s->output, "file to write; - is standard output")
      ->capture_default_str()
      ->type_name("FILE");
  app.add_option("--to", s->to, "format to write")->capture_default_str()->type_name("FORMAT");
  CLI::Option* const sql =
      app.add_option(
             "--sql", s->sql.file,
             "also write SQL that reproduces it, with one connection per session, in time order")
          ->type_name("FILE");
  app.add_option("--database", s->sql.databases,
                 "URL of a database on which to play it before it is written; assay's tables there "
                 "are recreated")
      ->needs(sql)
      ->type_name("URL");
  app.add_option("--isolation", s->sql.isolation, "the isolation to play it at")
      ->needs(sql)
      ->type_name("NAME");
  s->flags.reading.add(app);
  add_clock_drift(app, s->flags.clock_drift);
  s->flags.budget.add(app);
  add_without(app, s->flags.speed_ups);
  return [s] {
    if (const Status d = take_definition(s->flags); !d.ok()) return fail(d.error());
    return shrink_history(*s);
  };
}

}  // namespace assay::internal::cli
