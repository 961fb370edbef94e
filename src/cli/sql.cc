#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/keys.h"
#include "lake/queries.h"

namespace assay::internal::cli {
namespace {

struct SqlState {
  LevelFlags level;
  lake::Part part = lake::Part::accept;
  lake::QueryOptions options;
};

std::string meaning_of_parts() {
  std::string text;
  for (const lake::PartInfo& p : lake::all_parts())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", p.name, p.summary);
  return text;
}

Exit print_query(SqlState& s) {
  if (s.level.levels.size() != 1) return fail(usage_error("--level: expected one level"));
  s.options.level = s.level.levels.front();
  if (const auto why = lake::obstacle(s.options.level))
    return fail(usage_error(fmt::format("--level {}: {}", level_info(s.options.level).name, *why)));
  return ended(print(lake::query(s.part, s.options) + "\n"));
}

}  // namespace

Action add_sql(CLI::App& app) {
  auto s = std::make_shared<SqlState>();
  s->options.dialect = &lake::all_dialects().front();
  s->level.add(app, "the level to decide", true);
  const std::vector<std::string> dialects = names_of(lake::all_dialects(), &lake::Dialect::name);
  add_choice(
      app, "--dialect", "dialect", dialects,
      [s](const std::string& name) { s->options.dialect = lake::find_dialect(name); },
      "the engine: " + listed(dialects) + "; by default duckdb")
      ->type_name("NAME");
  add_choice(
      app, "--part", "part", names_of(lake::all_parts(), &lake::PartInfo::name),
      [s](const std::string& name) {
        s->part = std::ranges::find(lake::all_parts(), name, &lake::PartInfo::name)->part;
      },
      meaning_of_parts() + "; by default accept")
      ->type_name("NAME");
  const auto table = [&](const char* flag, std::string& name, const char* what) {
    app.add_option(flag, name, what)
        ->capture_default_str()
        ->type_name("TABLE")
        ->group(keys_of("--part"));
  };
  table("--facts", s->options.facts, "the table with a row for each transaction and key");
  table("--operations", s->options.operations, "the table with a row for each operation");
  table("--placed", s->options.placed, "the table that 'assay residue' wrote");
  app.add_option("--initial", s->options.initial,
                 "what every key holds at first, as an SQL literal; by default null")
      ->type_name("LITERAL");
  app.add_flag("--deletions", s->options.deletions, "the history may delete keys");
  app.add_option("--margin", s->options.margin,
                 "by how much windows are widened on both sides, in units of the order")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->group(keys_of("--part"));
  return [s] { return print_query(*s); };
}

}  // namespace assay::internal::cli
