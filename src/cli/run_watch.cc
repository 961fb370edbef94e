#include "cli/run_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/console.h"
#include "cli/interrupts.h"
#include "formats/input.h"

namespace assay::internal::cli {
namespace {

constexpr uint64_t kPiecesBetweenLooks = 1024;

// Returns the earliest and the latest known moment of its transactions.
std::pair<int64_t, int64_t> span_of(const History& h) {
  int64_t from = Interval::kOpen, until = Interval::kUnknown;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const Interval begin = h.begin_time(t), end = h.end_time(t);
    if (!begin.known()) continue;
    from = std::min(from, begin.request);
    until = std::max(until, begin.request);
    if (end.known() && end.response != Interval::kOpen) until = std::max(until, end.response);
  }
  return {from, until};
}

}  // namespace

RunWatch::RunWatch(const watch::WatchOptions& options, const WatchOutput& output,
                   std::optional<uint64_t> keep_files)
    : watching_(options, output), keep_files_(keep_files), fail_fast_(output.fail_fast) {
  reading_.stop_on_interrupt();
  watching_.on_piece([this](const auto& piece) { note_piece(piece); });
  watching_.on_alarm([this](const Audit& violation) { note_alarm(violation); });
  thread_ = std::thread([this] { follow(); });
}

RunWatch::~RunWatch() {
  if (thread_.joinable()) finish();
}

void RunWatch::opened(const std::string& path) {
  const std::lock_guard lock(mutex_);
  any_ = true;
  coming_.push_back(std::make_shared<File>(path));
  open_.push_back(coming_.back());
  changed_.notify_all();
}

void RunWatch::closed(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const std::shared_ptr<File>& file) {
    if (file->path != path) return false;
    file->closed = true;
    return true;
  });
}

Exit RunWatch::finish() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    // A run that failed may have left a file open.
    for (const std::shared_ptr<File>& file : open_) file->closed = true;
    changed_.notify_all();
  }
  thread_.join();
  if (error_) return fail(*error_);
  if (!any_) return Exit::satisfied;  // the run never began
  return watching_.end();
}

std::shared_ptr<RunWatch::File> RunWatch::next_file() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return over_ || !coming_.empty(); });
  if (coming_.empty()) return nullptr;
  std::shared_ptr<File> file = std::move(coming_.front());
  coming_.pop_front();
  return file;
}

void RunWatch::follow() {
  if (Status s = follow_files(); !s.ok() && !interrupted(s.error())) error_ = s.error();
  // A run that is no longer watched must not go on.
  stop_driving_now();
}

Status RunWatch::follow_files() {
  while (const std::shared_ptr<File> file = next_file()) {
    read_.push_back(file);
    remove_files();
    auto input = formats::Input::follow(file->path, &reading_, &file->closed);
    if (!input.ok()) return input.error();
    const Result<bool> whole = watching_.read(*input);
    if (!whole.ok()) return input->located(whole.error());
    if (!*whole) return Ok{};
  }
  Status finished = watching_.finish();
  remove_files();
  return finished;
}

void RunWatch::note_piece(const std::shared_ptr<const History>& piece) {
  File& file = *read_.back();
  const auto [from, until] = span_of(*piece);
  file.from = std::min(file.from, from);
  file.until = std::max(file.until, until);
  if (!keep_files_) return;
  file.pieces.push_back(piece);
  if (++noted_ % kPiecesBetweenLooks == 0) remove_files();
}

// Keeps the files around an alarm, for its investigation.
void RunWatch::note_alarm(const Audit& violation) {
  // The rest of the window still has to be decided; the database need not be driven during that.
  if (fail_fast_) stop_driving_now();
  const auto [from, until] = span_of(violation.history);
  for (const std::shared_ptr<File>& file : read_)
    file->of_alarm = file->of_alarm || (file->from <= until && from <= file->until);
}

void RunWatch::remove_files() {
  if (!keep_files_) return;
  for (const std::shared_ptr<File>& file : read_)
    std::erase_if(file->pieces, [](const auto& held) { return held.expired(); });
  while (read_.size() > *keep_files_ + 1 && read_.front()->pieces.empty()) {
    const std::shared_ptr<File> oldest = std::move(read_.front());
    read_.pop_front();
    std::error_code error;
    if (!oldest->of_alarm) std::filesystem::remove(oldest->path, error);
    if (error) note(fmt::format("warning: cannot remove {}: {}", oldest->path, error.message()));
  }
}

}  // namespace assay::internal::cli
