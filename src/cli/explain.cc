#include "explain/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "assay/audit.h"
#include "assay/verify.h"
#include "audit/vacuity.h"
#include "cli/certified.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "report/report.h"

namespace assay::internal::cli {
namespace {

struct ExplainState : CertifiedFlags {
  Colour colour = Colour::automatic;
};

// Returns the verdicts that the certificates give, after the verifier has accepted all of them.
Result<CheckResult> verified(CertificateFile file, const History& history) {
  CheckResult result;
  Verifier verifier(history);
  for (const Certificate& c : file.certificates) {
    if (Status s = verifier.verify(c); !s.ok()) return s.error();
    for (const LevelId level : c.levels)
      result.verdicts.push_back(
          {level, c.outcome(), static_cast<uint32_t>(&c - file.certificates.data()), {}});
  }
  result.certificates = std::move(file.certificates);
  return result;
}

Exit explain_certificates(const ExplainState& s) {
  auto certified = read_certified(s);
  if (!certified.ok()) return fail(certified.error());
  auto result = verified(std::move(certified->file), certified->history);
  if (!result.ok()) {
    note("the certificate is refused: " + result.error().message);
    return Exit::violated;
  }
  Audit c;
  c.file = s.histories[0];
  c.history = std::move(certified->history);
  c.result = std::move(*result);
  for (const Verdict& v : c.result.verdicts) c.requested.push_back(v.level);
  c.explanations = explain(c.history, c.result);
  c.observations = count_observations(c.history);
  c.certificate_file = s.certificate;
  const Status printed = print_painted(
      whole_report(start_text({colour_on_stdout(s.colour), columns_of_stdout()}), {&c, 1}));
  if (!printed.ok()) return fail(printed.error());
  if (!c.explanations.empty()) return Exit::satisfied;
  note("no certificate in the file proves a violation");
  return Exit::unknown;
}

}  // namespace

Action add_explain(CLI::App& app) {
  auto s = std::make_shared<ExplainState>();
  s->add(app, "file written by check --certificate");
  add_colour_flag(app, s->colour);
  return [s] { return explain_certificates(*s); };
}

}  // namespace assay::internal::cli
