#include "assay/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "assay/format.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "explain/because.h"
#include "explain/names.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

constexpr uint64_t kMaxCertificateBytes = uint64_t{4} << 30;

// A refused certificate is exit code 1: it is the verdict that does not stand.
Exit verify_all(const CertificateFile& file, const History& history) {
  Exit exit = Exit::satisfied;
  std::string out;
  for (const Certificate& c : file.certificates) {
    const Status s = verify(c, history);
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

}  // namespace

Action add_verify(CLI::App& app) {
  struct State {
    std::string certificate;
    std::vector<std::string> histories;
    ReadFlags reading;
  };
  auto s = std::make_shared<State>();
  app.add_option("CERTIFICATE", s->certificate, "file written by check --certificate")
      ->required()
      ->type_name("");
  app.add_option(
         "HISTORY", s->histories,
         "the history it is about, all of its files if there are several; - is standard input")
      ->required()
      ->type_name("");
  s->reading.add(app);
  return [s] {
    const auto text = read_file(s->certificate, kMaxCertificateBytes);
    if (!text.ok()) return fail(text.error());
    auto read = s->histories.size() == 1 ? read_history(s->histories[0], s->reading.options())
                                         : read_together(s->histories, s->reading.options());
    if (!read.ok()) return fail(read.error());
    const auto file = read_certificates(*text, read->history, s->certificate);
    if (!file.ok()) return fail(file.error());
    read->history.set_clock_drift(file->clock_drift);
    if (file->clock_drift > 0)
      note(fmt::format(
          "real time is judged with clocks that may differ by up to {} between sessions",
          duration(static_cast<uint64_t>(file->clock_drift))));
    return verify_all(*file, read->history);
  };
}

}  // namespace assay::internal::cli
