#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "base/progress.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "collect/driver.h"
#include "collect/schedule/assemble.h"
#include "collect/schedule/scenario.h"
#include "explain/names.h"
#include "history/level_name.h"

namespace assay::internal::cli {
namespace {

namespace schedule = collect::schedule;

constexpr uint64_t kMostScenarioBytes = uint64_t{1} << 20;

struct ProbeState {
  schedule::Options options;
  std::string scenarios;  // a folder; empty: those built into the program
  LevelFlags expect;
};

// The result of a scenario at one isolation.
enum class Cell : uint8_t { shown, prevented, refused, unknown, not_played };

std::string_view text_of(Cell cell) {
  switch (cell) {
    case Cell::shown:
      return "YES";
    case Cell::prevented:
      return "no";
    case Cell::refused:
      return "aborts";
    case Cell::unknown:
      return "?";
    case Cell::not_played:
      return "-";
  }
  return "";
}

// The verdict comes from the checker: the scenario's history violates the level that forbids the
// anomaly, or it does not.
Result<Cell> probe_one(const schedule::Scenario& scenario, const schedule::Options& options) {
  auto stage = schedule::Stage::open(scenario.file, options);
  if (!stage.ok() && stage.error().kind == ErrorKind::bad_input) return Cell::not_played;
  if (!stage.ok()) return stage.error();
  const auto played = (*stage)->play(scenario.file.permutations.front());
  if (!played.ok()) return played.error();
  auto assembled = schedule::assemble(scenario.file, *played, (*stage)->driver().describe());
  if (!assembled.ok()) return assembled.error();
  CheckOptions check_options;
  check_options.levels = {scenario.level};
  const CheckResult result = check(assembled->history, check_options);
  switch (result.find(scenario.level)->outcome) {
    case Outcome::violated:
      return Cell::shown;
    case Outcome::satisfied:
      // The operations that were not observed could show the anomaly.
      if (!assembled->missed.empty()) return Cell::unknown;
      return schedule::refusals(*played).empty() ? Cell::prevented : Cell::refused;
    case Outcome::unknown:
      break;
  }
  return Cell::unknown;
}

std::vector<std::string> isolations_of(const ProbeState& s) {
  if (!s.options.isolation.empty()) return {s.options.isolation};
  const std::string& url = s.options.databases.front();
  const std::string scheme = url.substr(0, url.find(':'));
  std::vector<std::string> names;
  for (const collect::DriverInfo& d : collect::all_drivers())
    if (d.scheme == scheme || d.alias == scheme)
      for (const collect::IsolationName& i : d.isolations)
        if (i.name != "default") names.emplace_back(i.name);
  if (names.empty()) names.emplace_back();
  return names;
}

std::string header(const std::vector<std::string>& isolations) {
  std::string line = fmt::format("{:<16}{:<24}", "", "anomaly");
  for (const std::string& name : isolations)
    line +=
        fmt::format("  {:<{}}", name.empty() ? "default" : name, std::max<size_t>(name.size(), 7));
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

schedule::Options options_for(const ProbeState& s, const std::string& isolation) {
  schedule::Options options = s.options;
  options.isolation = isolation;
  return options;
}

// Leaves out names that this server does not know: a driver may serve several kinds of database.
Status leave_out_unknown(std::vector<std::string>& isolations, const schedule::Scenario& scenario,
                         const ProbeState& s) {
  Status last = Ok{};
  std::erase_if(isolations, [&](const std::string& isolation) {
    const auto played = probe_one(scenario, options_for(s, isolation));
    if (!played.ok()) last = played.error();
    return !played.ok();
  });
  return isolations.empty() ? last : Status(Ok{});
}

// Reads the scenarios of the folder, in the order of the files' names; without a folder returns
// those built into the program.
Result<std::vector<schedule::Scenario>> scenarios_of(const std::string& folder) {
  if (folder.empty()) return schedule::all_scenarios();
  namespace fs = std::filesystem;
  std::map<std::string, std::string> texts;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file()) continue;
    auto text = read_file(it->path().string(), kMostScenarioBytes);
    if (!text.ok()) return text.error();
    texts.emplace(it->path().string(), std::move(*text));
  }
  if (error) return io_error("cannot read the folder: " + error.message(), folder);
  if (texts.empty()) return usage_error(folder + " is empty; expected scenarios");
  const std::vector<schedule::NamedText> files(texts.begin(), texts.end());
  return schedule::all_scenarios(files);
}

Exit probe(const ProbeState& s) {
  std::vector<std::string> isolations = isolations_of(s);
  // Only a single isolation can be checked against a promise.
  if (!s.expect.levels.empty() && isolations.size() > 1)
    return fail(usage_error("--expect needs --isolation: which one must satisfy it?"));
  if (s.expect.levels.size() > 1) return fail(usage_error("--expect: expected one level"));
  const auto scenarios = scenarios_of(s.scenarios);
  if (!scenarios.ok()) return fail(scenarios.error());
  if (Status refused = leave_out_unknown(isolations, scenarios->back(), s); !refused.ok())
    return fail(refused.error());
  if (Status printed = print(header(isolations)); !printed.ok()) return fail(printed.error());
  std::vector<std::string> broken;
  bool unknown = false, left_out = false;
  for (const schedule::Scenario& scenario : *scenarios) {
    std::string line =
        fmt::format("{:<16}{:<24}", scenario.name, anomaly_info(scenario.anomaly).name);
    bool played = false;
    for (const std::string& isolation : isolations) {
      ProgressLine progress("probe");
      progress.update(-1, fmt::format("{} at {}", scenario.name, isolation));
      const Result<Cell> cell = probe_one(scenario, options_for(s, isolation));
      progress.clear();
      if (!cell.ok()) return fail(cell.error());
      line += fmt::format("  {:<{}}", text_of(*cell), std::max<size_t>(isolation.size(), 7));
      played = played || *cell != Cell::not_played;
      const bool promised =
          !s.expect.levels.empty() && implies(s.expect.levels.front(), scenario.level);
      unknown = unknown || (promised && *cell == Cell::unknown);
      if (promised && *cell == Cell::shown)
        broken.push_back(
            fmt::format("{}: {}", anomaly_info(scenario.anomaly).name, scenario.summary));
    }
    if (!played) continue;
    left_out = left_out || line.find("  -") != line.npos;
    while (line.ends_with(' ')) line.pop_back();
    if (Status printed = print(line + "\n"); !printed.ok()) return fail(printed.error());
  }
  std::string end =
      "\nYES: the anomaly occurred. no: it did not. aborts: the database refused a "
      "transaction instead.\n";
  if (left_out) end += "-: not played, because the database does not report enough there.\n";
  if (!s.expect.levels.empty()) {
    const std::string_view level = level_info(s.expect.levels.front()).name;
    end += broken.empty() ? fmt::format("Nothing that {} forbids occurred.\n", level)
                          : fmt::format("{} forbids:\n", level);
    for (const std::string& what : broken) end += "  " + what + "\n";
  }
  if (Status printed = print(end); !printed.ok()) return fail(printed.error());
  if (!broken.empty()) return Exit::violated;
  return unknown ? Exit::unknown : Exit::satisfied;
}

}  // namespace

Action add_probe(CLI::App& app) {
  auto s = std::make_shared<ProbeState>();
  app.add_option("URL", s->options.databases,
                 "the database; several URLs are endpoints of one database; by default "
                 "ASSAY_DATABASE_URL")
      ->type_name("");
  app.add_option("--isolation", s->options.isolation,
                 "one isolation level, as the database spells it; by default all")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--expect",
         [s](const std::string& name) {
           const auto level = find_level(name);
           if (!level) bad_flag("--expect", internal::no_level(name));
           s->expect.levels.push_back(*level);
         },
         "exit with 1 if the isolation level allows what this level forbids")
      ->type_name("LEVEL");
  app.add_option("--scenarios", s->scenarios,
                 "a folder of schedules to play instead of examples/probe, with the same comments "
                 "at the top")
      ->type_name("FOLDER");
  add_statement_timeout(app, s->options.timeout);
  add_seed(app, s->options.seed);
  return [s] {
    take_databases_from_environment(s->options.databases);
    if (s->options.databases.empty())
      return fail(usage_error("expected the URL of a database, here or in ASSAY_DATABASE_URL"));
    return probe(*s);
  };
}

}  // namespace assay::internal::cli
