#include "evidence/recover.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "cli/command.h"
#include "cli/console.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

struct RecoverFlags {
  std::string history;
  std::vector<std::string> databases;
};

Exit recover(const RecoverFlags& flags) {
  const auto report = evidence::recover_version_orders(flags.history, flags.databases);
  if (!report.ok()) return fail(report.error());
  std::string text = fmt::format("{}: {} of {} from {}, up to {}\n", flags.history,
                                 counted(report->versions, "version", "versions"),
                                 counted(report->txns, "transaction", "transactions"),
                                 report->source, report->position);
  if (!report->missing.empty()) text += "The orders are not complete: " + report->missing + ".\n";
  return ended(print(text));
}

}  // namespace

Action add_recover(CLI::App& app) {
  auto flags = std::make_shared<RecoverFlags>();
  app.add_option("HISTORY", flags->history, "the history that the killed run recorded")->required();
  app.add_option("--database", flags->databases,
                 "the URL of the database, as given to the run; one for each endpoint")
      ->envname("ASSAY_DATABASE_URL")
      ->required()
      ->type_name("URL");
  return [flags] { return recover(*flags); };
}

}  // namespace assay::internal::cli
