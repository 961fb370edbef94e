#include "assay/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/parallel.h"
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

// A refused certificate is exit code 1: it is the verdict that does not stand.
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

bool is_schedule(const std::string& path) {
  constexpr size_t kHead = 256;
  if (path == "-") return false;
  auto input = formats::Input::open(path, nullptr);
  return input.ok() && input->fill(kHead).ok() && certify::holds_schedules(input->window());
}

Exit verify_schedules(const std::string& path, const std::vector<std::string>& histories,
                      const ReadOptions& reading) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const auto text = read_file(path, kMostBytes);
  if (!text.ok()) return fail(text.error());
  const auto read = histories.size() == 1 ? read_history(histories[0], reading)
                                          : read_together(histories, reading);
  if (!read.ok()) return fail(read.error());
  const auto schedules = certify::read_schedules(*text, read->history, path);
  if (!schedules.ok()) return fail(schedules.error());
  Exit exit = Exit::satisfied;
  std::string out;
  for (const certify::Schedule& schedule : *schedules) {
    const Status s = certify::verify_schedule(schedule, read->history);
    out += fmt::format("{}  a schedule of {} that is not serializable{}\n",
                       s.ok() ? "verified" : "REFUSED ",
                       counted(schedule.members.size(), "transaction", "transactions"),
                       s.ok() ? std::string() : ": " + display(s.error().message, 300));
    if (!s.ok()) exit = Exit::violated;
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
  app.add_option("CERTIFICATE", s->certificate,
                 "file written by check --certificate, or a chain by check --slices --certificate")
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
    if (is_schedule(s->certificate))
      return verify_schedules(s->certificate, s->histories, s->reading.options());
    const auto certified = read_certified(s->certificate, s->histories, s->reading.options());
    if (!certified.ok()) return fail(certified.error());
    return verify_all(certified->file, certified->history);
  };
}

}  // namespace assay::internal::cli
