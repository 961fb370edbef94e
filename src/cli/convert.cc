#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "assay/format.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "formats/parquet.h"
#include "history/anonymize.h"
#include "prefix_search/reduction.h"

namespace assay::internal::cli {
namespace {

constexpr std::string_view kParquet = ".parquet";

// Returns the format by its name, or else by the ending of the file to write: ".hist", ".hist.zst";
// else assay's own format.
std::string_view target_format(const std::string& to, std::string_view path) {
  if (!to.empty()) return to;
  if (path.ends_with(kParquet)) return "facts";
  for (const std::string_view packed : {".gz", ".zst"})
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  for (const FormatInfo& f : all_formats())
    if (f.writes && path.ends_with("." + std::string(f.name))) return f.name;
  return "assay";
}

// Prints the formats as a table: name, read, write, description.
Exit list_formats() {
  size_t width = 0;
  for (const FormatInfo& f : all_formats()) width = std::max(width, f.name.size());
  fmt::print("{:{}}  read  write  what\n", "format", width);
  for (const FormatInfo& f : all_formats())
    fmt::print("{:{}}  {:4}  {:5}  {}{}\n", f.name, width, f.reads ? "yes" : "-",
               f.writes ? "yes" : "-", f.summary, f.directory ? "; a directory" : "");
  return Exit::satisfied;
}

bool is_directory_format(std::string_view name) {
  const auto all = all_formats();
  return std::any_of(all.begin(), all.end(),
                     [&](const FormatInfo& f) { return f.name == name && f.directory; });
}

Error loss_error(const std::vector<Loss>& losses, std::string_view format) {
  std::string what;
  for (const Loss& l : losses)
    what += fmt::format("{}{} ({})", what.empty() ? "" : "; ", l.what, l.count);
  return bad_input(fmt::format("format '{}' cannot hold all of the history: {}", format, what));
}

}  // namespace

Action add_convert(CLI::App& app) {
  struct State {
    std::string input, output = "-", to;
    ReadFlags reading;
    bool list = false, strict = false, anonymize = false;
    LevelFlags reduced;
  };
  auto s = std::make_shared<State>();
  app.add_option("INPUT", s->input, "history; - is standard input")->type_name("");
  app.add_option("OUTPUT", s->output,
                 "file to write; - is standard output; .gz and .zst compress it; .parquet holds "
                 "the table of facts, written by DuckDB's library (ASSAY_DUCKDB)")
      ->capture_default_str()
      ->type_name("");
  s->reading.add(app);
  add_choice(
      app, "--to", "writable format", formats_that(&FormatInfo::writes),
      [s](const std::string& name) { s->to = name; },
      "the format to write; by default the one named by the extension of OUTPUT")
      ->type_name("FORMAT");
  app.add_flag("--strict", s->strict,
               "fail, and write nothing, if the format cannot hold all of the history");
  app.add_flag("--anonymize", s->anonymize,
               "replace keys, values, sessions and names with numbers and drop metadata, so that "
               "the history can be shared; verdicts and durations stay the same");
  app.add_flag("--list", s->list, "list the formats that can be read and written");
  s->reduced.add_as(app, "--reduce",
                    "write a history that is session-serializable iff the input satisfies this "
                    "level (prefix or session-si), for checkers of serializability");
  return [s] {
    if (s->list) return list_formats();
    if (s->input.empty()) return fail(usage_error("INPUT is required; see convert --help"));
    const std::array inputs{s->input}, outputs{s->output};
    if (const Status spared = spare_inputs(outputs, inputs); !spared.ok())
      return fail(spared.error());
    auto read = read_history(s->input, s->reading.options());
    if (!read.ok()) return fail(read.error());
    for (const ReadNote& n : read->notes) note(n.message);
    if (s->reduced.levels.size() > 1) return fail(usage_error("--reduce: expected one level"));
    for (const LevelId level : s->reduced.levels) {
      auto reduced = reduce_to_serializability(read->history, level);
      if (!reduced.ok()) return fail(reduced.error());
      read->history = std::move(reduced).value();
    }
    if (s->anonymize) {
      auto shown = anonymized(read->history);
      if (!shown.ok()) return fail(shown.error());
      read->history = std::move(shown).value();
    }
    const std::string_view format = target_format(s->to, s->output);
    if (s->strict && is_directory_format(format))
      return fail(
          usage_error("--strict: directories are written while they are converted; convert without "
                      "--strict and see what is reported"));
    if (s->strict) {
      const auto lost = write_history(read->history, "/dev/null", format);
      if (!lost.ok()) return fail(lost.error());
      if (!lost->empty()) return fail(loss_error(*lost, format));
    }
    const bool parquet = format == "facts" && s->output.ends_with(kParquet);
    const auto losses = parquet ? formats::write_parquet(read->history, s->output)
                                : write_history(read->history, s->output, format);
    if (!losses.ok()) return fail(losses.error());
    for (const Loss& l : *losses) note(fmt::format("not in the output: {} ({})", l.what, l.count));
    return Exit::satisfied;
  };
}

}  // namespace assay::internal::cli
