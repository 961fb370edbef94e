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

// A refused certificate is exit code 1: the verdict is refuted.
Exit verify_all(const CertificateFile& file, const History& history) {
  Exit exit = Exit::satisfied;
  std::string out;
  Verifier verifier(history);
  for (const Certificate& c : file.certificates) {
    const Status s = verifier.verify(c, core_count());
    out += fmt::format("{}  {} {}{}\n", s.ok() ? "verified" : "REFUSED ", outcome_name(c.outcome()),
                       level_names(c.levels),
                       s.ok() ? std::string() : ": " + display(s.error().message, 300));
    if (!s.ok()) exit = Exit::violated;
  }
  if (file.certificates.empty()) {
    note("the file holds no certificate");
    return Exit::unknown;
  }
  if (auto s = print(out); !s.ok()) return fail(s.error());
  return exit;
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

// What the file holds, and the history, to `judge`.
Exit with_history(const std::string& path, const std::vector<std::string>& histories,
                  const ReadOptions& reading,
                  Exit (*judge)(const std::string& text, const std::string& path,
                                const History& history)) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const auto text = read_file(path, kMostBytes);
  if (!text.ok()) return fail(text.error());
  const auto read = histories.size() == 1 ? read_history(histories[0], reading)
                                          : read_together(histories, reading);
  if (!read.ok()) return fail(read.error());
  return judge(*text, path, read->history);
}

Exit verify_stated_graph(const std::string& text, const std::string& path, const History& history) {
  const auto graph = certify::read_graph(text, history, path);
  if (!graph.ok()) return fail(graph.error());
  const auto proved = certify::verify_graph(*graph, history);
  const std::string_view level = level_info(graph->level).name;
  const Status printed =
      proved.ok()
          ? print(fmt::format("verified  {} {}\n", outcome_name(proved->outcome()), level))
          : print(fmt::format("REFUSED   {}: {}\n", level, display(proved.error().message, 300)));
  if (!printed.ok()) return fail(printed.error());
  return proved.ok() ? Exit::satisfied : Exit::violated;
}

Exit verify_predictions(const std::string& text, const std::string& path, const History& history) {
  const auto predictions = certify::read_predictions(text, history, path);
  if (!predictions.ok()) return fail(predictions.error());
  Exit exit = Exit::satisfied;
  std::string out;
  const auto tell = [&](const std::string& what, const Status& s) {
    out += fmt::format("{}  {}{}\n", s.ok() ? "verified" : "REFUSED ", what,
                       s.ok() ? std::string() : ": " + display(s.error().message, 300));
    if (!s.ok()) exit = Exit::violated;
  };
  for (const certify::Schedule& schedule : predictions->schedules)
    tell(fmt::format("a schedule of {} that is not serializable",
                     counted(schedule.members.size(), "transaction", "transactions")),
         certify::verify_schedule(schedule, history));
  for (const certify::WeakExecution& execution : predictions->executions)
    tell(fmt::format("an execution at {} that is not serializable, with {} cut",
                     level_info(execution.level).name,
                     counted(execution.boundary.cuts.size(), "transaction", "transactions")),
         certify::verify_weak_execution(execution, history));
  if (!predictions->holds.empty()) {
    const auto verifier = certify::RobustnessVerifier::of(history);
    for (const certify::Robustness& claim : predictions->holds)
      tell(claim_in_words(claim), verifier.ok() ? verifier->verify(claim) : verifier.error());
  }
  if (auto s = print(out); !s.ok()) return fail(s.error());
  return exit;
}

}  // namespace

Action add_verify(CLI::App& app) {
  struct State {
    std::string certificate;
    std::vector<std::string> histories;
    ReadFlags reading;
  };
  auto s = std::make_shared<State>();
  app.add_option(
         "CERTIFICATE", s->certificate,
         "file written by check --certificate or predict --output, a chain by check --slices "
         "--certificate, or a dependency graph of your own, a line T1 -> T2 ww KEY an edge")
      ->required()
      ->type_name("");
  app.add_option(
         "HISTORY", s->histories,
         "the history it is about, all of its files if there are several; - is standard input")
      ->required()
      ->type_name("");
  s->reading.add(app);
  return [s] {
    if (is_chain(s->certificate)) return verify_chain(s->certificate, s->histories);
    if (begins(s->certificate, certify::holds_predictions))
      return with_history(s->certificate, s->histories, s->reading.options(), verify_predictions);
    if (begins(s->certificate, certify::holds_graph))
      return with_history(s->certificate, s->histories, s->reading.options(), verify_stated_graph);
    const auto certified = read_certified(s->certificate, s->histories, s->reading.options());
    if (!certified.ok()) return fail(certified.error());
    return verify_all(certified->file, certified->history);
  };
}

}  // namespace assay::internal::cli
