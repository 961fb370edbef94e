#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "assay/format.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "prefix_search/reduction.h"

namespace assay::cli {
namespace {

// By name, or else by the ending of the file to write: ".hist", ".hist.zst"; else assay's own.
std::string_view target_format(const std::string& to, std::string_view path) {
  if (!to.empty()) return to;
  for (const std::string_view packed : {".gz", ".zst"})
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  for (const FormatInfo& f : all_formats())
    if (f.writes && path.ends_with("." + std::string(f.name))) return f.name;
  return "assay";
}

void check_target(const std::string& to) {
  if (to.empty()) return;
  std::string known;
  for (const FormatInfo& f : all_formats()) {
    if (!f.writes) continue;
    if (f.name == to) return;
    known += (known.empty() ? "" : ", ") + std::string(f.name);
  }
  bad_flag("--to",
           fmt::format("no format '{}' that can be written; expected one of {}", to, known));
}

}  // namespace

Action add_convert(CLI::App& app) {
  struct State {
    std::string input, output = "-", from, to;
    LevelFlags reduced;
  };
  auto s = std::make_shared<State>();
  app.add_option("INPUT", s->input, "history; - is standard input")->required()->type_name("");
  app.add_option("OUTPUT", s->output,
                 "file to write; - is standard output; .gz and .zst endings compress")
      ->capture_default_str()
      ->type_name("");
  add_from(app, s->from);
  app.add_option_function<std::string>(
         "--to",
         [s](const std::string& name) {
           check_target(name);
           s->to = name;
         },
         "the format to write; without it, told by the ending of OUTPUT")
      ->type_name("FORMAT");
  s->reduced.add_as(
      app, "--reduce",
      "write a history that is session-serializable exactly if the input satisfies this "
      "level, prefix or session-si: for checkers of serializability");
  return [s] {
    auto read = read_history(s->input, {s->from});
    if (!read.ok()) return fail(read.error());
    for (const ReadNote& n : read->notes) note(n.message);
    if (s->reduced.levels.size() > 1) return fail(usage_error("--reduce: expected one level"));
    for (const LevelId level : s->reduced.levels) {
      auto reduced = reduce_to_serializability(read->history, level);
      if (!reduced.ok()) return fail(reduced.error());
      read->history = std::move(reduced).value();
    }
    const auto losses = write_history(read->history, s->output, target_format(s->to, s->output));
    if (!losses.ok()) return fail(losses.error());
    for (const Loss& l : *losses) note(fmt::format("not in the output: {} ({})", l.what, l.count));
    return Exit::satisfied;
  };
}

}  // namespace assay::cli
