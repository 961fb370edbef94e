#include "cli/certified.h"

#include <fmt/format.h>

#include "assay/verify.h"
#include "cli/console.h"
#include "explain/names.h"
#include "history/aborted_reads.h"
#include "history/level_words.h"

namespace assay::internal::cli {

Result<Certified> read_certified(const std::string& certificate,
                                 const std::vector<std::string>& histories,
                                 const ReadOptions& reading) {
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  const auto text = read_file(certificate, kMostBytes);
  if (!text.ok()) return text.error();
  auto read = histories.size() == 1 ? read_history(histories[0], reading)
                                    : read_together(histories, reading);
  if (!read.ok()) return read.error();
  if (counts_aborted_reads(*text)) {
    auto counted = count_aborted_reads(read->history);
    if (!counted.ok()) return counted.error();
    read->history = std::move(counted->history);
    note(fmt::format("the reads of {} that did not commit count",
                     counted->companions == 1
                         ? "1 transaction"
                         : fmt::format("{} transactions", counted->companions)));
  }
  auto file = read_certificates(*text, read->history, certificate);
  if (!file.ok()) return file.error();
  read->history.set_clock_drift(file->clock_drift);
  read->history.define_level(file->defined_level);
  if (file->defined_level)
    note("'defined' is this level:\n" + level_definition(*file->defined_level));
  if (file->clock_drift > 0)
    note(fmt::format("real time is judged with clocks that may differ by up to {} between sessions",
                     duration(static_cast<uint64_t>(file->clock_drift))));
  return Certified{std::move(read->history), std::move(*file)};
}

}  // namespace assay::internal::cli
