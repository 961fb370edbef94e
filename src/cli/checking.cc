#include "cli/checking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "assay/audit.h"
#include "assay/format.h"
#include "assay/verify.h"
#include "audit/baseline.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/report_files.h"
#include "cli/slices.h"
#include "explain/names.h"
#include "formats/level_definition.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

// Returns the options of an audit whose budget begins now.
AuditOptions audit_options(const CheckFlags& flags, ProgressLine& progress) {
  AuditOptions options;
  options.check.levels = flags.levels.levels;
  options.check.budget = flags.budget.budget();
  options.check.speed_ups = flags.speed_ups;
  options.check.engine = flags.engine;
  options.check.threads = flags.threads;
  options.check.expected_order = flags.expected_order;
  options.check.count_constraints = flags.output.stats;
  options.check.progress = [&progress](std::string_view stage, double fraction) {
    progress.update(fraction, stage);
  };
  options.read = flags.reading.options();
  options.read.threads = flags.threads;
  options.clock_drift = flags.clock_drift;
  options.defined_level = flags.defined_level;
  options.allow_empty = flags.allow_empty;
  options.require_contention = flags.require_contention;
  options.aborted_reads = flags.aborted_reads;
  return options;
}

void print_stats(const Audit& c) {
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
  out += fmt::format("  {:<32} {:>10.1f} MiB, {:.1f} bytes per operation\n", "history in memory",
                     bytes / (1 << 20), c.history.op_count() ? bytes / c.history.op_count() : 0.0);
  out += fmt::format("  {:<32} {:>10.1f} MiB\n", "peak memory of the process",
                     static_cast<double>(peak_resident_memory_bytes()) / (1 << 20));
  std::fputs(out.c_str(), stderr);
}

// `run` makes an audit from options.
template <class Run>
Audit audited(const CheckFlags& flags, Run run) {
  ProgressLine progress("check");
  Audit c = run(audit_options(flags, progress));
  progress.clear();
  if (flags.output.stats && !c.error) print_stats(c);
  if (flags.output.baseline && !c.error) mark_known(c, *flags.output.baseline);
  return c;
}

Status save_certificates(Audit& c, const std::string& path) {
  if (path.empty() || c.error) return Ok{};
  if (auto s = write_file(path, write_certificates(certificates_of(c), c.history)); !s.ok())
    return s;
  c.certificate_file = path;
  return Ok{};
}

// Whether the level has no meaning for this history: it needs times, which are missing, or single
// operations. The verdict is unknown, but affects the exit code only if it was asked for.
bool does_not_apply(const Verdict& v) {
  return v.cause == UnknownCause::lacks_times || v.cause == UnknownCause::not_applicable;
}

}  // namespace

Status outputs_writable(const OutputFlags& output, std::span<const std::string> inputs) {
  std::vector<std::string> paths = output.reports;
  for (const std::string& path : {output.certificate, output.write_baseline})
    if (!path.empty()) paths.push_back(path);
  if (Status s = spare_inputs(paths, inputs); !s.ok()) return s;
  for (const std::string& path : paths)
    if (Status s = can_write(path); !s.ok()) return s;
  return Ok{};
}

Status take_definition(CheckFlags& flags) {
  if (flags.definition.empty()) return Ok{};
  auto level = formats::read_level_definition(flags.definition);
  if (!level.ok()) return level.error();
  flags.defined_level = std::move(*level);
  return Ok{};
}

Audit check_history(History history, const std::string& name, const CheckFlags& flags) {
  return audited(
      flags, [&](const AuditOptions& options) { return audit(std::move(history), name, options); });
}

Audit check_file(const std::string& path, const CheckFlags& flags) {
  stop_checking_when_interrupted();
  return audited(flags, [&](const AuditOptions& options) { return audit(path, options); });
}

Audit check_together(const std::vector<std::string>& paths, const CheckFlags& flags) {
  stop_checking_when_interrupted();
  return audited(flags,
                 [&](const AuditOptions& options) { return audit_together(paths, options); });
}

Exit exit_code(const Audit& c) {
  if (c.error) return exit_code(*c.error);
  bool unknown = false;
  if (const auto& expected = c.result.expected_order) {
    unknown = !expected->obstacle.empty();
    if (!expected->explains() && !unknown) return Exit::violated;
  }
  for (const Verdict& v : c.result.verdicts) {
    if (v.outcome == Outcome::violated && !c.requested.empty() && !c.is_known(v.level))
      return Exit::violated;
    if (v.outcome == Outcome::unknown)
      unknown = unknown || !c.requested.empty() || !does_not_apply(v);
  }
  return unknown ? Exit::unknown : Exit::satisfied;
}

namespace {

// Prints and writes the results of the files, one after the other.
class Results {
 public:
  explicit Results(const OutputFlags& output)
      : output_(output),
        screen_(output.json ? start_json({})
                            : start_text({colour_on_stdout(output.colour), columns_of_stdout()})),
        reports_(output.reports) {}

  // Returns false if standard output cannot be written.
  bool add(Audit& c) {
    if (c.error) fail(*c.error);
    for (const std::string& n : c.notes) note(n);
    if (Status s = save_certificates(c, output_.certificate); !s.ok()) worsen(fail(s.error()));
    totals_.add(c);
    const std::vector<KnownViolation> violations = violations_of(c);
    found_.insert(found_.end(), violations.begin(), violations.end());
    // The error of an unreadable file has been reported already; but each file gets its line of
    // JSON.
    if (!c.error || output_.json)
      if (Status s = print_painted(screen_->add(c)); !s.ok()) return worsen(fail(s.error())), false;
    worsen(exit_code(c));
    if (Status s = reports_ ? reports_->add(c) : Ok{}; !s.ok()) {
      worsen(fail(s.error()));
      reports_.reset();  // printed once
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
    if (const std::string& path = output_.write_baseline; !path.empty())
      if (Status s = write_file(path, baseline_text(found_)); !s.ok()) worsen(fail(s.error()));
    return worst_;
  }

  void worsen(Exit e) { worst_ = worse(worst_, e); }
  Exit worst() const { return worst_; }

 private:
  const OutputFlags& output_;
  std::unique_ptr<ReportWriter> screen_;
  std::optional<ReportFiles> reports_;  // empty after one could not be written
  Totals totals_;
  std::vector<KnownViolation> found_;
  Exit worst_ = Exit::satisfied;
};

// Returns the histories named by the paths of the command line.
std::vector<std::string> all_histories(const std::vector<std::string>& paths,
                                       const CheckFlags& flags, Results& results) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    const auto found = find_histories(path, flags.reading.options());
    if (!found.ok()) {
      Audit unreadable;
      unreadable.file = path;
      unreadable.error = found.error();
      results.add(unreadable);
      continue;
    }
    if (found->skipped > 0)
      note(fmt::format("{}: {} left out, not histories", path,
                       counted(found->skipped, "file", "files")));
    all.insert(all.end(), found->paths.begin(), found->paths.end());
  }
  return all;
}

}  // namespace

Exit deliver(Audit& c, const CheckFlags& flags) {
  Results results(flags.output);
  return results.add(c) ? results.finish() : results.worst();
}

Exit check_files(const std::vector<std::string>& paths, const CheckFlags& flags, bool together) {
  Results results(flags.output);
  const std::vector<std::string> files = all_histories(paths, flags, results);
  if (const Status s = outputs_writable(flags.output, files); !s.ok()) return fail(s.error());
  if (!flags.output.certificate.empty() && files.size() > 1 && !together)
    return fail(
        usage_error("--certificate writes the certificates of one history; expected one FILE"));
  if (together) {
    if (flags.slices.on)
      return fail(usage_error("--slices needs a history in one file; expected no --together"));
    if (files.empty()) return results.finish();
    Audit c = check_together(files, flags);
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
    if (decides_in_slices(files[i], flags)) {
      results.worsen(check_in_slices(files[i], flags));
      continue;
    }
    Audit c = check_file(files[i], flags);
    if (!results.add(c)) return results.worst();
  }
  return results.finish();
}

}  // namespace assay::internal::cli
