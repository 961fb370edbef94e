#include "cli/certified.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "assay/verify.h"
#include "cli/console.h"
#include "explain/names.h"
#include "history/aborted_reads.h"
#include "history/level_words.h"

namespace assay::internal::cli {

void CertifiedFlags::add(CLI::App& app, const std::string& certificate_help) {
  app.add_option("CERTIFICATE", certificate, certificate_help)->required()->type_name("");
  app.add_option(
         "HISTORY", histories,
         "the history that it certifies, all its files if there are several; - is standard input")
      ->required()
      ->type_name("");
  reading.add(app);
}

Result<Certified> read_certified(const CertifiedFlags& flags) {
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  const auto text = read_file(flags.certificate, kMostBytes);
  if (!text.ok()) return text.error();
  auto read = read_together(flags.histories, flags.reading.options());
  if (!read.ok()) return read.error();
  if (counts_aborted_reads(*text)) {
    auto counted = count_aborted_reads(read->history);
    if (!counted.ok()) return counted.error();
    read->history = std::move(counted->history);
    note(fmt::format("the reads of {} that did not commit are checked, too",
                     counted->companions == 1
                         ? "1 transaction"
                         : fmt::format("{} transactions", counted->companions)));
  }
  auto file = read_certificates(*text, read->history, flags.certificate);
  if (!file.ok()) return file.error();
  read->history.set_clock_drift(file->clock_drift);
  read->history.define_level(file->defined_level);
  if (file->defined_level)
    note("'defined' is this level:\n" + level_definition(*file->defined_level));
  if (file->clock_drift > 0)
    note(fmt::format("real time allows the clocks of sessions to differ by up to {}",
                     duration(static_cast<uint64_t>(file->clock_drift))));
  return Certified{std::move(read->history), std::move(*file)};
}

}  // namespace assay::internal::cli
