#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "explain/names.h"
#include "formats/jepsen_tally.h"
#include "levels/tally_rules.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

struct TallyFlags {
  std::vector<std::string> files;
  bool json = false;
  BudgetFlags budget;
};

std::string_view workload_name(const Tally& tally) {
  return tally.workload == Tally::Workload::bank ? "bank" : "counter";
}

std::string as_text(const std::string& file, const Tally& tally, const TallyVerdict& v) {
  std::string out =
      fmt::format("{}: {}, {} operations, {} reads judged\n\n  {:<9}  {}\n", display(file, 200),
                  workload_name(tally), grouped(tally.txns.size()), grouped(v.judged),
                  outcome_name(v.outcome()), rule_of(tally.workload));
  if (v.not_judged > 0)
    out += fmt::format("\n{} reads did not cover all accounts and were not judged.\n",
                       grouped(v.not_judged));
  if (v.outcome() == Outcome::unknown) out += "\nNothing was read, so nothing can be decided.\n";
  if (v.outcome() == Outcome::satisfied)
    out += "\nThe values do not identify their writers, so this decides no isolation level.\n";
  if (v.outcome() == Outcome::violated)
    out += fmt::format(
        "\n{} wrong. The first: {}.\nSo these levels and all above them are violated: {}.\n",
        counted(v.wrong, "read is", "reads are"), v.why, level_names(v.refuted));
  return out;
}

std::string as_json(const std::string& file, const Tally& tally, const TallyVerdict& v) {
  Json j;
  j["schema"] = 1;
  j["file"] = file;
  j["workload"] = workload_name(tally);
  j["operations"] = tally.txns.size();
  j["rule"] = rule_of(tally.workload);
  j["verdict"] = outcome_name(v.outcome());
  j["judged"] = v.judged;
  j["not_judged"] = v.not_judged;
  j["wrong"] = v.wrong;
  if (v.outcome() == Outcome::violated) {
    j["lines"] = v.lines;
    j["why"] = v.why;
    Json levels = Json::array();
    for (const LevelId level : v.refuted) levels.push_back(level_info(level).name);
    j["violated"] = std::move(levels);
  }
  return j.dump() + "\n";
}

Exit tally_file(const TallyFlags& flags, const std::string& file) {
  Budget budget = flags.budget.budget();
  const Result<Tally> tally = formats::read_tally(file, &budget);
  if (!tally.ok()) return fail(tally.error());
  const TallyVerdict v = judge(*tally);
  return ended(print(flags.json ? as_json(file, *tally, v) : as_text(file, *tally, v)),
               exit_code(v.outcome()));
}

}  // namespace

Action add_tally(CLI::App& app) {
  auto flags = std::make_shared<TallyFlags>();
  app.add_option("FILE", flags->files,
                 "histories of Jepsen in EDN or JSON, or its logs; - is standard input")
      ->required();
  app.add_flag("--json", flags->json, "a line of JSON for each file");
  flags->budget.add(app);
  return [flags] {
    Exit worst = Exit::satisfied;
    for (const std::string& file : flags->files) worst = worse(worst, tally_file(*flags, file));
    return worst;
  };
}

}  // namespace assay::internal::cli
