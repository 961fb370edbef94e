#include "cli/checking.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "assay/format.h"
#include "assay/verify.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cli/console.h"
#include "explain/explain.h"
#include "explain/names.h"

namespace assay::cli {
namespace {

class Stopwatch {
 public:
  void lap(Checked& c, const char* stage) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    c.stages.push_back({stage, seconds, peak_resident_memory_bytes()});
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

CheckOptions check_options(const CheckFlags& flags, const Budget& budget, ProgressLine& progress) {
  CheckOptions options;
  options.levels = flags.levels.levels;
  options.budget = budget;
  options.switches = flags.switches.switches;
  options.engine = flags.engine;
  options.threads = flags.threads;
  options.count_constraints = flags.output.stats;
  options.seed = flags.seed;
  options.progress = [&progress](std::string_view stage, double fraction) {
    progress.update(fraction, stage);
  };
  return options;
}

void print_stats(const Checked& c) {
  std::string out = fmt::format("{}:\n", display(c.file, 200));
  const auto line = [](const StageTime& s, int indent) {
    return fmt::format("{:{}}{:<{}} {:>10.3f} s  {:>8.1f} MiB\n", "", indent, s.stage, 34 - indent,
                       s.seconds, static_cast<double>(s.peak_memory_bytes) / (1 << 20));
  };
  for (const StageTime& s : c.stages) {
    out += line(s, 2);
    if (s.stage != "check") continue;
    for (const StageTime& part : c.result.stages) out += line(part, 4);
  }
  for (const auto& [name, count] : c.result.counters)
    out += fmt::format("    {:<30} {:>10}\n", name, count);
  const double bytes = static_cast<double>(c.history.memory_bytes());
  out += fmt::format("  {:<32} {:>10.1f} MiB, {:.1f} bytes an operation\n", "history in memory",
                     bytes / (1 << 20), c.history.op_count() ? bytes / c.history.op_count() : 0.0);
  out += fmt::format("  {:<32} {:>10.1f} MiB\n", "peak memory of the process",
                     static_cast<double>(peak_resident_memory_bytes()) / (1 << 20));
  std::fputs(out.c_str(), stderr);
}

void decide(Checked& c, const CheckFlags& flags, const Budget& budget, Stopwatch& watch) {
  ProgressLine progress("check");
  c.requested = flags.levels.levels;
  c.result = check(c.history, check_options(flags, budget, progress));
  watch.lap(c, "check");
  verify_verdicts(c.result, c.history);
  watch.lap(c, "verify");
  c.explanations = explain(c.history, c.result);
  watch.lap(c, "explain");
  progress.clear();
  if (flags.output.stats) print_stats(c);
}

// The certificates that stand behind a verdict.
CertificateFile standing_certificates(const Checked& c) {
  CertificateFile file;
  file.history_hash = c.history.content_hash();
  for (uint32_t i = 0; i < c.result.certificates.size(); ++i) {
    const bool stands = std::any_of(c.result.verdicts.begin(), c.result.verdicts.end(),
                                    [&](const Verdict& v) { return v.certificate == i; });
    if (stands) file.certificates.push_back(c.result.certificates[i]);
  }
  return file;
}

Status save_certificates(Checked& c, const std::string& path) {
  if (path.empty() || c.error) return Ok{};
  if (auto s = write_file(path, write_certificates(standing_certificates(c), c.history)); !s.ok())
    return s;
  c.certificate_file = path;
  return Ok{};
}

Status print_result(const Checked& c, bool json, bool first) {
  if (json) return print(json_report({&c, 1}, {}));
  return print((first ? "" : "\n") + text_report({&c, 1}, {colour_on_stdout()}));
}

std::string where(const std::string& file, const ReadNote& n) {
  return n.line ? fmt::format("{}:{}", file, n.line) : file;
}

// True if the level means nothing for this history: it needs times that are not there, or single
// operations. Such a level is unknown, but nobody who did not ask for it has to hear of it in the
// exit code.
bool does_not_apply(LevelId level, const History& h) {
  if (level_info(level).real_time != RealTime::none && !h.fully_timed()) return true;
  if (level != LevelId::linearizable) return false;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) != TxnStatus::aborted && h.end_op(t) - h.first_op(t) != 1) return true;
  return false;
}

// Prints one result and writes its certificates; the exit code is the verdict's, or that of what went wrong.
Exit show(Checked& c, const CheckFlags& flags, bool first) {
  if (c.error) fail(*c.error);
  for (const std::string& n : c.notes) note(n);
  Exit worst = exit_code(c);
  if (auto s = save_certificates(c, flags.output.certificate); !s.ok())
    worst = worse(worst, fail(s.error()));
  // A single unreadable file has been reported; a line of JSON is due for each file all the same.
  if (!c.error || flags.output.json)
    if (auto s = print_result(c, flags.output.json, first); !s.ok())
      worst = worse(worst, fail(s.error()));
  return worst;
}

Exit write_reports(std::span<const Checked> checked, const OutputFlags& output) {
  Exit worst = Exit::satisfied;
  for (const std::string& path : output.reports)
    if (auto s = write_file(path, find_report_for(path)->write(checked, {})); !s.ok())
      worst = worse(worst, fail(s.error()));
  return worst;
}

}  // namespace

Status outputs_writable(const OutputFlags& output) {
  std::vector<std::string> paths = output.reports;
  if (!output.certificate.empty()) paths.push_back(output.certificate);
  for (const std::string& path : paths)
    if (Status s = can_write(path); !s.ok()) return s;
  return Ok{};
}

Exit deliver(Checked& c, const CheckFlags& flags) {
  const Exit worst = show(c, flags, true);
  return worse(worst, write_reports({&c, 1}, flags.output));
}

void verify_verdicts(CheckResult& result, const History& history) {
  std::vector<std::string> refusals;
  for (const Certificate& c : result.certificates) {
    const Status s = verify(c, history);
    refusals.push_back(s.ok() ? std::string() : s.error().message);
  }
  for (Verdict& v : result.verdicts) {
    if (v.outcome == Outcome::unknown) continue;
    std::string refusal;
    if (v.certificate >= result.certificates.size()) {
      refusal = "there is none";
    } else {
      const Certificate& c = result.certificates[v.certificate];
      refusal = refusals[v.certificate];
      if (refusal.empty() && c.outcome() != v.outcome) refusal = "it proves the opposite";
      if (refusal.empty() && std::find(c.levels.begin(), c.levels.end(), v.level) == c.levels.end())
        refusal = "it is for other levels";
    }
    if (refusal.empty()) continue;
    v.outcome = Outcome::unknown;
    v.certificate = kNone;
    v.reason = "certificate refused: " + refusal;
  }
}

Checked check_history(History history, const std::string& name, const CheckFlags& flags) {
  Checked c;
  c.file = name;
  c.history = std::move(history);
  Stopwatch watch;
  decide(c, flags, flags.budget.budget(), watch);
  return c;
}

Checked check_file(const std::string& path, const CheckFlags& flags) {
  Checked c;
  c.file = path;
  Stopwatch watch;
  Budget budget = flags.budget.budget();  // from here on: reading counts
  Result<ReadResult> read = read_history(path, {flags.from, &budget});
  if (!read.ok()) {
    c.error = read.error();
    return c;
  }
  c.history = std::move(read->history);
  c.format = std::move(read->format);
  for (const ReadNote& n : read->notes)
    c.notes.push_back(where(path, n) + ": " + display(n.message, 300));
  watch.lap(c, "read");
  decide(c, flags, budget, watch);
  return c;
}

Exit exit_code(const Checked& c) {
  if (c.error) return exit_code(*c.error);
  bool unknown = false;
  for (const Verdict& v : c.result.verdicts) {
    if (v.outcome == Outcome::violated && !c.requested.empty()) return Exit::violated;
    if (v.outcome == Outcome::unknown)
      unknown = unknown || !c.requested.empty() || !does_not_apply(v.level, c.history);
  }
  return unknown ? Exit::unknown : Exit::satisfied;
}

Exit check_files(const std::vector<std::string>& paths, const CheckFlags& flags) {
  if (!flags.output.certificate.empty() && paths.size() > 1)
    return fail(
        usage_error("--certificate takes the certificates of one history; expected one FILE"));
  if (const Status s = outputs_writable(flags.output); !s.ok()) return fail(s.error());
  Exit worst = Exit::satisfied;
  std::vector<Checked> kept;  // only as long as reports will need them
  for (size_t i = 0; i < paths.size(); ++i) {
    Checked c = check_file(paths[i], flags);
    worst = worse(worst, show(c, flags, i == 0));
    if (!flags.output.reports.empty()) kept.push_back(std::move(c));
  }
  return worse(worst, write_reports(kept, flags.output));
}

}  // namespace assay::cli
