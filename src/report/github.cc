// Commands for a job of GitHub Actions, a line for each violation: if a step prints them, they
// appear on the page of the job and of the change, at a source line if one is known.
//
//   ::error file=app/bank.py,line=34,title=write-skew%3A not session-serializable::1-3 read x = 0,
//   which 2-4 overwrote with 1, …
//
// A violation that was not asked for, or is known, is a notice; a level that was asked for and
// stays unknown is a warning.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "explain/names.h"
#include "report/report.h"
#include "report/source_place.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

// Escapes a text as actions/toolkit does: neither a line nor a property may end early.
std::string command_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)))
                   : std::string(1, c);
  }
  return out;
}

std::string command(std::string_view name, const std::string& title, const std::string& message,
                    const std::optional<SourcePlace>& place = {}) {
  std::string at;
  if (place) at = fmt::format("file={},", command_text(place->file, true));
  if (place && place->line > 0) at += fmt::format("line={},", place->line);
  return fmt::format("::{} {}title={}::{}\n", name, at, command_text(title, true),
                     command_text(message, false));
}

class GithubReport : public ReportWriter {
 public:
  std::string section(const Audit& c) override {
    if (c.error)
      return command("error", file_name(c) + " cannot be read", display(c.error->to_string(), 400));
    std::string out;
    for (const Explanation& e : c.explanations) {
      const bool failure = std::any_of(e.levels.begin(), e.levels.end(), [&](LevelId level) {
        return is_requested(c, level) && !c.is_known(level);
      });
      out += command(
          failure ? "error" : "notice",
          fmt::format("{}: not {}{}", anomaly_info(e.anomaly).name,
                      level_names(c.requested.empty() ? e.weakest : e.levels), on_database(c)),
          fmt::format("{}", fmt::join(e.sentences, " ")), source_place(c, e));
    }
    for (const Verdict& v : c.result.verdicts) {
      if (v.outcome != Outcome::unknown || !is_requested(c, v.level)) continue;
      const std::string levels = levels_unknown_alike(c.result, v);
      if (!levels.empty())
        out += command("warning", "unknown: " + levels + on_database(c), display(v.reason, 400));
    }
    return out;
  }
  std::string end() override { return {}; }
};

}  // namespace

std::unique_ptr<ReportWriter> start_github(const ReportOptions&) {
  return std::make_unique<GithubReport>();
}

}  // namespace assay::internal
