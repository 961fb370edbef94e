#include "cli/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "assay/check.h"
#include "assay/format.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "formats/input.h"
#include "formats/output.h"
#include "formats/time_order.h"
#include "report/summary.h"
#include "watch/slices.h"

namespace assay::internal::cli {
namespace {

// The memory, roughly, that a check in memory takes for each byte of JSON Lines: 2.7 with
// transactions of eight operations.
constexpr uint64_t kMemoryPerByte = 3;

class ChainFile : public watch::ChainSink {
 public:
  explicit ChainFile(formats::Output& out) : out_(out) {}
  Status write(const std::string& line) override {
    out_.write(line);
    return Ok{};
  }

 private:
  formats::Output& out_;
};

// Returns the level that is decided: all others follow from it, or do not.
LevelId decided_level(const std::vector<LevelId>& asked) {
  const bool single =
      !asked.empty() && std::ranges::all_of(asked, &LevelInfo::single_operations, level_info);
  return single ? LevelId::linearizable : LevelId::strict_serializable;
}

std::vector<LevelId> reported_levels(const CheckFlags& flags) {
  if (!flags.levels.levels.empty()) return flags.levels.levels;
  std::vector<LevelId> all;
  for (const LevelInfo& l : default_levels())
    if (implies(LevelId::strict_serializable, l.id)) all.push_back(l.id);
  return all;
}

std::vector<Verdict> verdicts_of(const watch::Sliced& s, const CheckFlags& flags) {
  const LevelId decided = decided_level(flags.levels.levels);
  std::vector<Verdict> verdicts;
  for (const LevelId level : reported_levels(flags)) {
    Verdict& v = verdicts.emplace_back();
    v.level = level;
    if (implies(decided, level)) {
      v.outcome = s.outcome;
      v.cause = s.why.cause;
      v.reason = s.why.detail;
    } else {
      v.cause = UnknownCause::unsupported;
      v.reason = fmt::format("{} does not follow from {}, the level that is decided in slices",
                             level_info(level).name, level_info(decided).name);
    }
  }
  return verdicts;
}

// Withholds a verdict that rests on no observation, since it says nothing.
void withhold_vacuous(watch::Sliced& s, const CheckFlags& flags) {
  if (s.outcome != Outcome::satisfied || s.observations > 0 || flags.allow_empty) return;
  s.outcome = Outcome::unknown;
  s.why = {UnknownCause::vacuous, "nothing was observed that could contradict the level"};
}

// The lines that a certificate is about, if those are not the file.
std::string lines_of(const std::string& certificate) { return certificate + ".jsonl"; }

std::string as_text(const std::string& path, const watch::Sliced& s,
                    const std::vector<Verdict>& verdicts, const std::string& chain,
                    const std::string& lines) {
  std::string out = fmt::format(
      "{}: {}, {}, {} aborted, {} of unknown outcome; decided in slices\n\n",
      path == "-" ? "standard input" : path, counted(s.transactions, "transaction", "transactions"),
      counted(s.operations, "operation", "operations"), grouped(s.aborted), grouped(s.unknown));
  for (const Verdict& v : verdicts)
    out += fmt::format("  {:<9}  {}{}\n", outcome_name(v.outcome), level_info(v.level).name,
                       v.reason.empty() ? "" : ": " + v.reason);
  if (s.outcome != Outcome::satisfied) return out;
  out += fmt::format("\n{}, each re-checked by the independent verifier.\n",
                     counted(s.segments, "segment", "segments"));
  if (!chain.empty())
    out += fmt::format("The chain of certificates is in {}: assay verify {} {}\n", chain, chain,
                       lines);
  return out;
}

std::string as_json(const std::string& path, const watch::Sliced& s,
                    const std::vector<Verdict>& verdicts, double seconds) {
  Json j = {{"schema", 1},
            {"file", path},
            {"slices",
             {{"transactions", s.transactions},
              {"operations", s.operations},
              {"committed", s.committed},
              {"aborted", s.aborted},
              {"unknown", s.unknown},
              {"observations", s.observations},
              {"segments", s.segments}}}};
  Json levels = Json::object();
  for (const Verdict& v : verdicts) {
    Json& verdict = levels[std::string(level_info(v.level).name)];
    verdict["verdict"] = outcome_name(v.outcome);
    if (v.outcome == Outcome::satisfied)
      verdict["certificate"] = {{"kind", "chain"}, {"verified", true}};
    else
      verdict.update({{"cause", unknown_cause_name(v.cause)}, {"reason", v.reason}});
  }
  j["levels"] = levels;
  j["seconds"] = {{"slices", seconds}};
  return j.dump() + "\n";
}

// The violation of a part is reported as that of a separate history, which is written beside its
// certificate.
Exit deliver_violation(Audit& violation, const std::string& path, const CheckFlags& flags) {
  std::string beside;
  if (!flags.output.certificate.empty()) {
    const std::string part = lines_of(flags.output.certificate);
    if (const auto losses = write_history(violation.history, part, "assay"); !losses.ok())
      return fail(losses.error());
    beside = ", in " + part;
  }
  note(
      fmt::format("{}: a part of the history violates the level, so the history does; the report "
                  "and the certificate are about that part{}",
                  path, beside));
  violation.file = path;
  return deliver(violation, flags);
}

// A part that violates the decided level may well satisfy weaker ones: returns the requested levels
// that it violates too. The levels that it satisfies are open for the whole.
std::vector<LevelId> violated_of(const History& part, const std::vector<LevelId>& asked,
                                 const CheckFlags& flags) {
  CheckOptions options;
  options.levels = asked;
  options.budget = flags.budget.budget();
  std::vector<LevelId> violated;
  for (const Verdict& v : check(part, options).verdicts)
    if (v.outcome == Outcome::violated) violated.push_back(v.level);
  return violated;
}

Exit deliver_error(const Error& e, const std::string& path, const CheckFlags& flags) {
  Audit unreadable;
  unreadable.file = path;
  unreadable.error = e;
  return deliver(unreadable, flags);
}

// The first flag that only a check in memory supports; empty if there is none.
std::string_view flag_for_memory(const CheckFlags& f) {
  const std::pair<bool, std::string_view> given[] = {
      {f.require_contention, "--require-contention"},
      {!f.reading.from.empty() && f.reading.from != "assay", "--from"},
      {!f.reading.initial.empty(), "--initial"},
      {f.reading.unique_values, "--unique-values"},
      {f.reading.order_share != 1, "--use-order"},
      {f.clock_drift != 0, "--clock-drift"},
      {f.aborted_reads, "--aborted-reads"},
      {f.expected_order.has_value(), "--expected-order"},
      {f.engine != EngineId::graph, "--engine"},
      {f.budget.effort != 0, "--effort"},
      {!f.output.reports.empty(), "--report"},
      {f.output.baseline.has_value(), "--baseline"},
      {!f.output.write_baseline.empty(), "--write-baseline"},
      {f.output.stats, "--stats"}};
  for (const auto& [is, flag] : given)
    if (is) return flag;
  return {};
}

watch::SliceOptions slice_options(const CheckFlags& flags, ProgressLine& progress) {
  watch::SliceOptions options;
  options.watch = flags.slices.options;
  options.watch.level = decided_level(flags.levels.levels);
  // The number of sessions is the number seen so far: a line of another session that comes too late
  // is undecided, not decided wrongly.
  if (options.watch.sessions == 0) options.watch.sessions = 1;
  options.budget = flags.budget.budget();
  options.progress = [&progress](const watch::Progress& p) {
    progress.update(-1, counted(p.decided, "transaction", "transactions"));
  };
  return options;
}

Result<watch::Sliced> decide_lines(formats::Input& input, const std::string& chain,
                                   watch::SliceOptions& options) {
  if (chain.empty()) return watch::decide_in_slices(input, options);
  auto out = formats::Output::open(chain);
  if (!out.ok()) return out.error();
  ChainFile file(*out);
  options.chain = &file;
  Result<watch::Sliced> sliced = watch::decide_in_slices(input, options);
  options.chain = nullptr;
  if (Status s = out->close(); !s.ok()) return s.error();
  return sliced;
}

Result<watch::Sliced> decide(const std::string& path, const CheckFlags& flags,
                             watch::SliceOptions& options, Budget& reading) {
  auto input = formats::Input::open(path, &reading);
  if (!input.ok()) return input.error();
  return decide_lines(*input, flags.output.certificate, options);
}

Status write_all(formats::ByteSource& lines, const std::string& path) {
  auto out = formats::Output::open(path);
  if (!out.ok()) return out.error();
  std::string part(size_t{1} << 18, '\0');
  for (;;) {
    const auto n = lines.read(part.data(), part.size());
    if (!n.ok()) return n.error();
    if (*n == 0) return out->close();
    out->write(std::string_view(part).substr(0, *n));
  }
}

// A chain names transactions by their lines, so the lines that it is about are written beside it.
Result<watch::Sliced> decide_sorted(const std::string& path, const CheckFlags& flags,
                                    watch::SliceOptions& options, Budget& reading) {
  auto input = formats::Input::open(path, &reading);
  if (!input.ok()) return input.error();
  // Releases the memory of the earlier decision.
  release_free_memory();
  formats::TimeOrderOptions order;
  if (flags.budget.memory_bytes > 0) order.memory = flags.budget.memory_bytes / 4;
  order.budget = &reading;
  auto lines = formats::in_order_of_time(*input, order);
  if (!lines.ok()) return lines.error();
  options.watch.by_begin = true;
  const std::string& chain = flags.output.certificate;
  if (!chain.empty()) {
    if (Status s = write_all(**lines, lines_of(chain)); !s.ok()) return s.error();
    auto written = formats::Input::open(lines_of(chain), &reading);
    if (!written.ok()) return written.error();
    return decide_lines(*written, chain, options);
  }
  auto sorted = formats::Input::of(std::move(*lines), path + " in time order", &reading);
  return decide_lines(sorted, chain, options);
}

}  // namespace

bool decides_in_slices(const std::string& path, const CheckFlags& flags) {
  if (flags.slices.on) return true;
  const uint64_t limit = flags.budget.memory_bytes;
  std::error_code error;
  if (limit == 0 || !path.ends_with(".jsonl") || !flag_for_memory(flags).empty()) return false;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error || size <= limit / kMemoryPerByte) return false;
  const auto& asked = flags.levels.levels;
  return !asked.empty() &&
         std::ranges::all_of(asked, [&](LevelId l) { return implies(decided_level(asked), l); });
}

Exit check_in_slices(const std::string& path, const CheckFlags& flags) {
  if (const std::string_view flag = flag_for_memory(flags); !flag.empty())
    return fail(usage_error(fmt::format("--slices does not take {}", flag)));
  stop_checking_when_interrupted();
  const auto since = std::chrono::steady_clock::now();
  ProgressLine progress("check");
  watch::SliceOptions options = slice_options(flags, progress);
  Budget reading = flags.budget.budget();
  Result<watch::Sliced> sliced = decide(path, flags, options, reading);
  progress.clear();
  bool sorted = false;
  if (sliced.ok() && sliced->out_of_order && std::filesystem::is_regular_file(path)) {
    note(fmt::format("{}: the lines are not in time order; they are sorted first", path));
    sorted = true;
    sliced = decide_sorted(path, flags, options, reading);
    progress.clear();
  }
  if (!sliced.ok()) return deliver_error(sliced.error(), path, flags);
  if (sliced->violation) {
    const std::vector<LevelId>& asked = flags.levels.levels;
    if (asked.empty() || asked == std::vector{options.watch.level})
      return deliver_violation(*sliced->violation, path, flags);
    AuditOptions anew;
    anew.check.levels = violated_of(sliced->violation->history, asked, flags);
    anew.allow_empty = true;
    if (!anew.check.levels.empty()) {
      Audit violation = audit(std::move(sliced->violation->history), path, anew);
      return deliver_violation(violation, path, flags);
    }
    sliced->outcome = Outcome::unknown;
    sliced->why = {UnknownCause::unsupported,
                   fmt::format("the history violates {}, which is decided in slices; weaker levels "
                               "need a check in memory",
                               level_info(options.watch.level).name)};
  }
  withhold_vacuous(*sliced, flags);
  const std::vector<Verdict> verdicts = verdicts_of(*sliced, flags);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - since;
  const std::string& chain = flags.output.certificate;
  if (Status s = print(flags.output.json ? as_json(path, *sliced, verdicts, taken.count())
                                         : as_text(path, *sliced, verdicts, chain,
                                                   sorted ? lines_of(chain) : path));
      !s.ok())
    return fail(s.error());
  const bool open =
      std::ranges::any_of(verdicts, [](const Verdict& v) { return v.outcome == Outcome::unknown; });
  return open ? Exit::unknown : Exit::satisfied;
}

}  // namespace assay::internal::cli
