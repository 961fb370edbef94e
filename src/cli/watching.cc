#include "cli/watching.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/whole_file.h"
#include "cli/console.h"
#include "formats/assay_jsonl_chunks.h"
#include "report/summary.h"
#include "watch/fenced_watcher.h"
#include "watch/horizon_watcher.h"
#include "watch/timestamp_watcher.h"

namespace assay::internal::cli {
namespace {

using watch::Progress;
using Steady = std::chrono::steady_clock;

// Received lines are decided when no line has followed for kSecondsOfWaiting or, if lines keep
// coming one by one, when they have waited for kSecondsUndecided. A line shows the progress every
// kSecondsBetweenLines.
constexpr double kSecondsOfWaiting = 0.2;
constexpr double kSecondsUndecided = 1;
constexpr double kSecondsBetweenLines = 10;
constexpr int kMillisecondsOfSleep = 10;

double seconds_since(Steady::time_point t) {
  return std::chrono::duration<double>(Steady::now() - t).count();
}

// Returns level="serializable", escaped as Prometheus requires.
std::string label_of(std::string_view name, std::string_view value) {
  std::string out = fmt::format("{}=\"", name);
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

// Returns the metrics in the format of Prometheus.
std::string metrics_text(const Progress& p, const std::string& labels) {
  struct Metric {
    std::string_view name, type, help;
    double value;
  };
  const double behind = p.now == Interval::kUnknown || p.mark == Interval::kUnknown
                            ? 0
                            : static_cast<double>(p.now - std::min(p.now, p.mark)) / 1e9;
  const Metric metrics[] = {
      {"assay_transactions_total", "counter", "transactions reported",
       static_cast<double>(p.transactions)},
      {"assay_decided_total", "counter", "transactions decided", static_cast<double>(p.decided)},
      {"assay_alarms_total", "counter", "violations", static_cast<double>(p.alarms)},
      {"assay_unknown_total", "counter", "stretches that could not be decided",
       static_cast<double>(p.undecided)},
      {"assay_buffered_transactions", "gauge", "transactions not yet decided",
       static_cast<double>(p.buffered)},
      {"assay_kept_transactions", "gauge", "decided transactions that are kept",
       static_cast<double>(p.kept)},
      {"assay_live_keys", "gauge", "keys that were written", static_cast<double>(p.live_keys)},
      {"assay_mark_behind_seconds", "gauge", "from the mark to the latest time reported", behind},
  };
  std::string text;
  for (const Metric& m : metrics)
    text += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n{0}{{{4}}} {3}\n", m.name, m.type, m.help,
                        m.value, labels);
  return text;
}

Json as_json(const Progress& p, size_t horizon, bool last) {
  Json line = {{last ? "end" : "window", p.decided},
               {"transactions", p.transactions},
               {"alarms", p.alarms},
               {"unknown", p.undecided},
               {"buffered", p.buffered},
               {"kept", p.kept},
               {"live_keys", p.live_keys}};
  if (horizon > 0) line["horizon"] = horizon;
  return line;
}

}  // namespace

Watching::Watching(const watch::WatchOptions& options, const WatchOutput& output)
    : options_(options),
      output_(output),
      announcer_(options.level, output_),
      labels_(label_of("level", level_info(options.level).name)) {
  if (options_.by_timestamps) {
    watch_ = std::make_unique<watch::TimestampWatcher>(options_, announcer_);
    return;
  }
  if (!options_.fence.empty()) {
    auto fenced = std::make_unique<watch::FencedWatcher>(options_, announcer_);
    watcher_ = &fenced->watcher();
    watch_ = std::move(fenced);
    return;
  }
  if (options_.horizon > 0) {
    watch_ = std::make_unique<watch::HorizonWatcher>(options_, announcer_);
    return;
  }
  auto watcher = std::make_unique<watch::Watcher>(options_, announcer_);
  watcher_ = watcher.get();
  watch_ = std::move(watcher);
}

// Labels the metrics with the database, if the header of the history names it.
void Watching::label(const History& piece) {
  const RecordedOn run = recorded_on(piece);
  if (run.database.empty()) return;
  labels_ = label_of("level", level_info(options_.level).name) + ',' +
            label_of("database", run.database) +
            (run.isolation.empty() ? "" : ',' + label_of("isolation", run.isolation));
}

bool Watching::is_enough() const { return announcer_.failure() || announcer_.has_enough(); }

bool Watching::sessions_have_ended() const {
  return end_with_sessions_ && watch_->progress().mark == Interval::kOpen;
}

void Watching::keep(KeptWatch& kept) {
  kept_ = &kept;
  announcer_.on_left_out([this](const watch::Omission& one) { return kept_->left_out(one); });
  announcer_.on_sealed([this](const certify::Segment& segment) { kept_->sealed(segment); });
}

Status Watching::begin(formats::Input& input, formats::JsonlChunks& chunks) {
  if (kept_ == nullptr) return Ok{};
  if (kept_->goes_on()) {
    if (Status s = kept_->load(*watcher_, chunks); !s.ok()) return s;
    announcer_.count_from(watch_->progress().alarms);
    if (kept_->of_pipe()) watcher_->note_loss();
  }
  return save(input, chunks, true);
}

Status Watching::save(const formats::Input& input, formats::JsonlChunks& chunks, bool at_once) {
  if (kept_ == nullptr) return Ok{};
  if (Status s = kept_->chain_state(); !s.ok()) return s;
  return kept_->save({*watcher_, &chunks, &input}, at_once);
}

Result<bool> Watching::stop(const formats::Input& input, formats::JsonlChunks& chunks) {
  if (Status s = save(input, chunks, true); !s.ok()) return s.error();
  return false;
}

Result<bool> Watching::read(formats::Input& input) {
  std::vector<ReadNote> notes;
  formats::JsonlChunks chunks(input, notes);
  if (Status s = begin(input, chunks); !s.ok()) return s.error();
  for (bool at_end = false; !at_end;) {
    if (is_enough()) return stop(input, chunks);
    if (Status s = wait(input, chunks); !s.ok()) return s.error();
    if (Budget::interrupted() && kept_ != nullptr) {
      if (Status s = decide(); !s.ok()) return s.error();
      return stop(input, chunks);
    }
    if (sessions_have_ended() && input.would_wait()) break;
    if (Status s = chunks.give_up_before(watch_->overdue()); !s.ok()) return s.error();
    auto chunk = chunks.next(options_.window);
    if (!chunk.ok() && !interrupted(chunk.error())) return chunk.error();
    if (!chunk.ok()) {
      if (Status s = decide(); !s.ok()) return s.error();
      return false;
    }
    at_end = chunk->end;
    const auto piece = std::make_shared<const History>(std::move(chunk->history));
    if (Status s = take(piece); !s.ok()) return input.located(s.error());
    for (const ReadNote& n : notes) note(n.message);
    notes.clear();
    if (Status s = tell(false); !s.ok()) return s.error();
    if (at_end) break;
    if (Status s = save(input, chunks, false); !s.ok()) return s.error();
  }
  return !is_enough();
}

Status Watching::take(const std::shared_ptr<const History>& piece) {
  if (on_piece_) on_piece_(piece);
  label(*piece);
  if (kept_ != nullptr) kept_->read(piece);
  return watch_->add(piece);
}

Status Watching::add(const std::shared_ptr<const History>& piece) {
  if (Status s = take(piece); !s.ok()) return s;
  if (Status s = decide(); !s.ok()) return s;
  return tell(false);
}

Status Watching::finish() {
  if (Status s = watch_->finish(); !s.ok() || kept_ == nullptr) return s;
  return kept_->end(*watcher_);
}

Status Watching::decide() {
  decided_ = Steady::now();
  if (kept_ != nullptr) kept_->changed();
  return watch_->decide_sealed();
}

// Waits for more lines.
Status Watching::wait(const formats::Input& input, formats::JsonlChunks& chunks) {
  const auto since = Steady::now();
  bool decided = false;
  while (input.would_wait() && !Budget::interrupted() && !is_enough() && !sessions_have_ended()) {
    if (!decided &&
        (seconds_since(since) > kSecondsOfWaiting || seconds_since(decided_) > kSecondsUndecided)) {
      if (Status s = decide(); !s.ok()) return s;
      decided = true;
    }
    if (decided) {
      if (Status s = save(input, chunks, false); !s.ok()) return s;
      // The last attempt may have been too soon after the one before.
      if (told_ < decided_)
        if (Status s = tell(false); !s.ok()) return s;
    }
    poll(nullptr, 0, kMillisecondsOfSleep);
  }
  return Ok{};
}

Status Watching::tell(bool last) {
  if (!last && seconds_since(told_) < (output_.metrics.empty() ? kSecondsBetweenLines : 1))
    return Ok{};
  told_ = Steady::now();
  const Progress& p = watch_->progress();
  if (!output_.metrics.empty()) {
    WholeFile file(output_.metrics);
    if (Status s = file.write(metrics_text(p, labels_)); !s.ok()) return s;
    if (Status s = file.close(); !s.ok()) return s;
  }
  if (output_.json) return print_json(as_json(p, options_.horizon, last));
  if (last) return print(sentence(p));
  if (seconds_since(line_) < kSecondsBetweenLines) return Ok{};
  line_ = Steady::now();
  return print(sentence(p));
}

std::string Watching::sentence(const Progress& p) const {
  if (options_.horizon > 0)
    return fmt::format(
        "{} among any {} consecutive transactions: {} decided, {}, {} unknown; {} not yet "
        "decided\n",
        level_info(options_.level).name, options_.horizon,
        counted(p.decided, "transaction", "transactions"), counted(p.alarms, "alarm", "alarms"),
        p.undecided, p.buffered);
  return fmt::format("{}: {} decided, {}, {} unknown; {} not yet decided, {} live keys\n",
                     level_info(options_.level).name,
                     counted(p.decided, "transaction", "transactions"),
                     counted(p.alarms, "alarm", "alarms"), p.undecided, p.buffered, p.live_keys);
}

Exit Watching::end() {
  if (announcer_.failure()) return fail(*announcer_.failure());
  if (Status s = tell(true); !s.ok()) return fail(s.error());
  const Progress& p = watch_->progress();
  if (p.buffered > 0 && options_.horizon == 0 && !is_enough())
    note(options_.sessions > 0
             ? "undecided transactions may have run concurrently with unreported ones"
             : "undecided transactions may have run concurrently with unreported ones: that is "
               "known once the history has gone on for --lateness or, with --sessions, once each "
               "session has reported");
  if (p.alarms > 0) return Exit::violated;
  if (p.decided > 0 && p.undecided == 0) return Exit::satisfied;
  if (p.decided == 0) note("nothing was decided");
  return Exit::unknown;
}

}  // namespace assay::internal::cli
