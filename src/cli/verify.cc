#include "assay/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/parallel.h"
#include "certify/graph.h"
#include "certify/predictions.h"
#include "certify/robustness_verifier.h"
#include "certify/schedule_verifier.h"
#include "cli/certified.h"
#include "cli/chain.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "explain/names.h"
#include "formats/input.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

// What the verifier says about each certificate of a file, a line each. A refused certificate gives
// exit code 1: the verdict is refuted.
class Findings {
 public:
  void add(const std::string& what, const Status& s) {
    out_ += fmt::format("{}  {}{}\n", s.ok() ? "verified" : "REFUSED ", what,
                        s.ok() ? std::string() : ": " + display(s.error().message, 300));
    if (!s.ok()) exit_ = Exit::violated;
  }
  Exit print() const { return ended(cli::print(out_), exit_); }

 private:
  std::string out_;
  Exit exit_ = Exit::satisfied;
};

Exit verify_all(const CertificateFile& file, const History& history) {
  Findings findings;
  Verifier verifier(history);
  for (const Certificate& c : file.certificates)
    findings.add(fmt::format("{} {}", outcome_name(c.outcome()), level_names(c.levels)),
                 verifier.verify(c, core_count()));
  if (!file.certificates.empty()) return findings.print();
  note("the file holds no certificate");
  return Exit::unknown;
}

bool begins(const std::string& path, bool (*like)(std::string_view)) {
  constexpr size_t kHead = 256;
  if (path == "-") return false;
  auto input = formats::Input::open(path, nullptr);
  return input.ok() && input->fill(kHead).ok() && like(input->window());
}

// "come_back at read-committed, leave at ssi hold"
std::string claim_in_words(const certify::Robustness& claim) {
  constexpr size_t kMostName = 80;
  std::vector<std::string> holding;
  for (const auto& [name, isolation, holds] : claim.programs)
    if (holds)
      holding.push_back(fmt::format("{} at {}",
                                    name.empty() ? "the transactions" : display(name, kMostName),
                                    certify::isolation_name(isolation)));
  return fmt::format(
      "{} {}", fmt::join(holding, ", "),
      holding.size() == 1 && !claim.programs.front().name.empty() ? "holds" : "hold");
}

// Reads the file and the history and gives them to `judge`.
Exit with_history(const CertifiedFlags& flags,
                  Exit (*judge)(const std::string& text, const std::string& path,
                                const History& history)) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const auto text = read_file(flags.certificate, kMostBytes);
  if (!text.ok()) return fail(text.error());
  const auto read = read_together(flags.histories, flags.reading.options());
  if (!read.ok()) return fail(read.error());
  return judge(*text, flags.certificate, read->history);
}

Exit verify_stated_graph(const std::string& text, const std::string& path, const History& history) {
  const auto graph = certify::read_graph(text, history, path);
  if (!graph.ok()) return fail(graph.error());
  const auto proved = certify::verify_graph(*graph, history);
  const std::string level(level_info(graph->level).name);
  Findings findings;
  findings.add(proved.ok() ? fmt::format("{} {}", outcome_name(proved->outcome()), level) : level,
               proved.ok() ? Status(Ok{}) : proved.error());
  return findings.print();
}

Exit verify_predictions(const std::string& text, const std::string& path, const History& history) {
  const auto predictions = certify::read_predictions(text, history, path);
  if (!predictions.ok()) return fail(predictions.error());
  Findings findings;
  for (const certify::Schedule& schedule : predictions->schedules)
    findings.add(fmt::format("a schedule of {} that is not serializable",
                             counted(schedule.members.size(), "transaction", "transactions")),
                 certify::verify_schedule(schedule, history));
  for (const certify::WeakExecution& execution : predictions->executions)
    findings.add(
        fmt::format("an execution at {} that is not serializable, with {} cut",
                    level_info(execution.level).name,
                    counted(execution.boundary.cuts.size(), "transaction", "transactions")),
        certify::verify_weak_execution(execution, history));
  if (!predictions->holds.empty()) {
    const auto verifier = certify::RobustnessVerifier::of(history);
    for (const certify::Robustness& claim : predictions->holds)
      findings.add(claim_in_words(claim),
                   verifier.ok() ? verifier->verify(claim) : verifier.error());
  }
  return findings.print();
}

}  // namespace

Action add_verify(CLI::App& app) {
  auto s = std::make_shared<CertifiedFlags>();
  s->add(
      app,
      "file written by check --certificate or predict --output, a chain by check --slices "
      "--certificate, or a dependency graph of your own, with one edge T1 -> T2 ww KEY per line");
  return [s] {
    if (is_chain(s->certificate)) return verify_chain(s->certificate, s->histories);
    if (begins(s->certificate, certify::holds_predictions))
      return with_history(*s, verify_predictions);
    if (begins(s->certificate, certify::holds_graph)) return with_history(*s, verify_stated_graph);
    const auto certified = read_certified(*s);
    if (!certified.ok()) return fail(certified.error());
    return verify_all(certified->file, certified->history);
  };
}

}  // namespace assay::internal::cli
