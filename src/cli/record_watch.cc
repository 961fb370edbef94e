#include "cli/record_watch.h"

#include <memory>
#include <utility>

#include "cli/watch_flags.h"
#include "formats/input.h"
#include "record/history_file.h"

namespace assay::internal::cli {

Result<watch::WatchOptions> watch_of_recording(const LevelFlags& levels) {
  watch::WatchOptions options;
  options.many_inputs = true;  // the trace has no line for each transaction
  if (levels.levels.size() == 1 && level_info(levels.levels[0]).watched_by != WatchedBy::times)
    options.horizon = kRecordHorizon;
  if (Status can = take_level(levels, options); !can.ok()) return can.error();
  return options;
}

RecordWatch::RecordWatch(const watch::WatchOptions& options, const WatchOutput& output,
                         std::string trace, std::string history)
    : watching_(options, output),
      pieces_([this](const auto& piece) { return take(piece); }),
      trace_(std::move(trace)),
      history_(std::move(history)),
      thread_([this] { joined_ = follow(); }) {}

RecordWatch::~RecordWatch() {
  complete_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<record::Joined> RecordWatch::follow() {
  auto input = formats::Input::follow(trace_, nullptr, &complete_);
  if (!input.ok()) return input.error();
  auto joined = record::join_to_file(*input, history_, &pieces_);
  if (!joined.ok() || failed_) return joined;
  if (Status s = watching_.finish(); !s.ok()) failed_ = s.error();
  return joined;
}

Status RecordWatch::take(const std::shared_ptr<const History>& piece) {
  if (failed_) return Ok{};
  if (Status s = watching_.add(piece); !s.ok()) failed_ = s.error();
  return Ok{};
}

Result<record::Joined> RecordWatch::finish() {
  complete_ = true;
  thread_.join();
  return std::move(*joined_);
}

Exit RecordWatch::end() { return failed_ ? fail(*failed_) : watching_.end(); }

}  // namespace assay::internal::cli
