#include "cli/checking.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "assay/format.h"
#include "assay/verify.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/report_files.h"
#include "cli/vacuity.h"
#include "explain/explain.h"
#include "explain/names.h"
#include "infer/known_orders.h"
#include "report/summary.h"

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

// A better name for an anomaly is worth a fifth of the time that finding it took.
Budget budget_for_names(const Checked& c, const Budget& budget) {
  constexpr double kLeastSeconds = 0.2, kShare = 0.2;
  double checking = 0;
  for (const StageTime& s : c.stages)
    if (s.stage == "check") checking = s.seconds;
  return budget.within({.seconds = std::max(kLeastSeconds, kShare * checking)});
}

// Evidence that cannot be used is not passed over in silence.
void note_ambiguous_entries(Checked& c) {
  for (const auto& [name, count] : c.result.counters)
    if (name == kAmbiguousEntries)
      c.notes.push_back(
          fmt::format("{}: {} of the stated orders name{} a value that several transactions wrote, "
                      "and say{} nothing",
                      c.file, count == 1 ? "1 entry" : fmt::format("{} entries", count),
                      count == 1 ? "s" : "", count == 1 ? "s" : ""));
}

void decide(Checked& c, const CheckFlags& flags, const Budget& budget, Stopwatch& watch) {
  ProgressLine progress("check");
  c.history.set_clock_drift(flags.clock_drift);
  c.requested = flags.levels.levels;
  c.result = check(c.history, check_options(flags, budget, progress));
  watch.lap(c, "check");
  note_ambiguous_entries(c);
  // Verdicts that were reached are verified and explained when the time is up.
  Budget memory(0, flags.budget.memory_bytes);
  verify_verdicts(c.result, c.history, memory);
  c.observations = count_observations(c.history);
  if (!flags.allow_empty) withhold_vacuous(c.result, c.history, c.observations);
  watch.lap(c, "verify");
  constexpr uint64_t kBytesAVersion = 12;  // who wrote it, and updated it
  if (memory.has_room(kBytesAVersion * c.history.version_count()))
    c.explanations = explain(c.history, c.result, budget_for_names(c, budget));
  watch.lap(c, "explain");
  progress.clear();
  if (flags.output.stats) print_stats(c);
}

// The certificates that stand behind a verdict.
CertificateFile standing_certificates(const Checked& c) {
  CertificateFile file;
  file.history_hash = c.history.content_hash();
  file.clock_drift = c.history.clock_drift();
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

std::string where(const std::string& file, const ReadNote& n) {
  return n.line ? fmt::format("{}:{}", file, n.line) : file;
}

Checked check_read(Checked c, Result<ReadResult> read, const CheckFlags& flags,
                   const Budget& budget, Stopwatch& watch) {
  if (!read.ok()) {
    c.error = read.error();
    return c;
  }
  c.history = std::move(read->history);
  c.format = std::move(read->format);
  for (const ReadNote& n : read->notes)
    c.notes.push_back(where(c.file, n) + ": " + display(n.message, 300));
  watch.lap(c, "read");
  decide(c, flags, budget, watch);
  return c;
}

// What the verifier makes of a certificate, if it does not accept it.
std::optional<Unknown> refusal(const Status& verified) {
  if (verified.ok()) return std::nullopt;
  const Error& e = verified.error();
  if (e.kind == ErrorKind::budget)
    return Unknown{UnknownCause::effort, "the certificate was not verified: " + e.message};
  return fault("the verifier refused a certificate: " + e.message);
}

// The level means nothing for this history: it needs times that are not there, or single operations. It is unknown, but
// nobody who did not ask for it has to hear of it in the exit code.
bool does_not_apply(const Verdict& v) {
  return v.cause == UnknownCause::lacks_times || v.cause == UnknownCause::not_applicable;
}

}  // namespace

Status outputs_writable(const OutputFlags& output) {
  std::vector<std::string> paths = output.reports;
  if (!output.certificate.empty()) paths.push_back(output.certificate);
  for (const std::string& path : paths)
    if (Status s = can_write(path); !s.ok()) return s;
  return Ok{};
}

void verify_verdicts(CheckResult& result, const History& history, Budget memory) {
  std::vector<std::optional<Unknown>> refusals;  // of those for which there was room
  for (const Certificate& c : result.certificates) {
    if (!memory.has_room(verification_bytes(c, history))) break;
    refusals.push_back(refusal(verify(c, history)));
  }
  for (Verdict& v : result.verdicts) {
    if (v.outcome == Outcome::unknown) continue;
    std::optional<Unknown> why;
    if (v.certificate >= result.certificates.size()) {
      why = fault("a verdict has no certificate");
    } else if (v.certificate >= refusals.size()) {
      why = {UnknownCause::memory, "the certificate was not verified: " + memory.reason().detail};
    } else {
      const Certificate& c = result.certificates[v.certificate];
      why = refusals[v.certificate];
      const bool listed = std::ranges::find(c.levels, v.level) != c.levels.end();
      if (!why && (!listed || c.outcome() != v.outcome))
        why = fault("a certificate is for other levels or proves the opposite");
    }
    if (!why) continue;
    v.outcome = Outcome::unknown;
    v.certificate = kNone;
    v.cause = why->cause;
    v.reason = std::move(why->detail);
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
  stop_checking_when_interrupted();
  Budget budget = flags.budget.budget();  // from here on: reading counts
  ReadOptions options = flags.reading.options();
  options.budget = &budget;
  return check_read(std::move(c), read_history(path, options), flags, budget, watch);
}

Checked check_together(const std::vector<std::string>& paths, const CheckFlags& flags) {
  Checked c;
  c.file = paths.size() == 1 ? paths[0] : fmt::format("{} and {} more", paths[0], paths.size() - 1);
  Stopwatch watch;
  stop_checking_when_interrupted();
  Budget budget = flags.budget.budget();
  ReadOptions options = flags.reading.options();
  options.budget = &budget;
  return check_read(std::move(c), read_together(paths, options), flags, budget, watch);
}

Exit exit_code(const Checked& c) {
  if (c.error) return exit_code(*c.error);
  bool unknown = false;
  for (const Verdict& v : c.result.verdicts) {
    if (v.outcome == Outcome::violated && !c.requested.empty()) return Exit::violated;
    if (v.outcome == Outcome::unknown)
      unknown = unknown || !c.requested.empty() || !does_not_apply(v);
  }
  return unknown ? Exit::unknown : Exit::satisfied;
}

namespace {

// Prints and writes what the files come to, one after the other.
class Results {
 public:
  explicit Results(const OutputFlags& output)
      : output_(output),
        screen_(output.json ? start_json({}) : start_text({colour_on_stdout()})),
        reports_(output.reports) {}

  // False if standard output cannot be written.
  bool add(Checked& c) {
    if (c.error) fail(*c.error);
    for (const std::string& n : c.notes) note(n);
    if (Status s = save_certificates(c, output_.certificate); !s.ok()) worsen(fail(s.error()));
    totals_.add(c);
    // An unreadable file has been reported; a line of JSON is due for each file all the same.
    if (!c.error || output_.json)
      if (Status s = print(screen_->add(c)); !s.ok()) return worsen(fail(s.error())), false;
    worsen(exit_code(c));
    if (Status s = reports_ ? reports_->add(c) : Ok{}; !s.ok()) {
      worsen(fail(s.error()));
      reports_.reset();  // told once
    }
    return true;
  }

  Exit finish() {
    if (totals_.files() > 1) {
      if (output_.json)
        note(totals_.sentence());
      else if (Status s = print("\n" + totals_.sentence() + "\n"); !s.ok())
        worsen(fail(s.error()));
    }
    if (Status s = reports_ ? reports_->close() : Ok{}; !s.ok()) worsen(fail(s.error()));
    return worst_;
  }

  void worsen(Exit e) { worst_ = worse(worst_, e); }
  Exit worst() const { return worst_; }

 private:
  const OutputFlags& output_;
  std::unique_ptr<ReportWriter> screen_;
  std::optional<ReportFiles> reports_;  // none once one could not be written
  Totals totals_;
  Exit worst_ = Exit::satisfied;
};

// The histories that the paths of the command line stand for.
std::vector<std::string> all_histories(const std::vector<std::string>& paths,
                                       const CheckFlags& flags, Results& results) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    const auto found = find_histories(path, flags.reading.options());
    if (!found.ok()) {
      Checked unreadable;
      unreadable.file = path;
      unreadable.error = found.error();
      results.add(unreadable);
      continue;
    }
    if (found->skipped > 0)
      note(fmt::format("{}: {} left out, no histories", path,
                       counted(found->skipped, "file", "files")));
    all.insert(all.end(), found->paths.begin(), found->paths.end());
  }
  return all;
}

}  // namespace

Exit deliver(Checked& c, const CheckFlags& flags) {
  Results results(flags.output);
  return results.add(c) ? results.finish() : results.worst();
}

Exit check_files(const std::vector<std::string>& paths, const CheckFlags& flags, bool together) {
  if (const Status s = outputs_writable(flags.output); !s.ok()) return fail(s.error());
  Results results(flags.output);
  const std::vector<std::string> files = all_histories(paths, flags, results);
  if (!flags.output.certificate.empty() && files.size() > 1 && !together)
    return fail(
        usage_error("--certificate takes the certificates of one history; expected one FILE"));
  if (together) {
    if (files.empty()) return results.finish();
    Checked c = check_together(files, flags);
    results.add(c);
    return results.finish();
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (Budget::interrupted()) {
      note(fmt::format("interrupted; {} not checked",
                       counted(files.size() - i, "history", "histories")));
      results.worsen(Exit::unknown);
      break;
    }
    Checked c = check_file(files[i], flags);
    if (!results.add(c)) return results.worst();
  }
  return results.finish();
}

}  // namespace assay::cli
