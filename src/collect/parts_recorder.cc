#include "collect/parts_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace assay::internal::collect {
namespace {

namespace fs = std::filesystem;

// The files in the folder of `path` that are named like its parts, except the first.
std::vector<std::string> parts_there(const std::string& path) {
  const fs::path whole(path);
  const std::string before = whole.stem().string() + ".", after = whole.extension().string();
  std::vector<std::string> found;
  std::error_code ignored;
  const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() < before.size() + 4 + after.size() || !name.starts_with(before) ||
        !name.ends_with(after))
      continue;
    const std::string number =
        name.substr(before.size(), name.size() - before.size() - after.size());
    if (number != "0001" && number.find_first_not_of("0123456789") == std::string::npos)
      found.push_back(entry.path().string());
  }
  return found;
}

Status refuse_parts(const std::string& path) {
  const std::vector<std::string> there = parts_there(path);
  if (there.empty()) return Ok{};
  Error e = usage_error("a part of a history already exists; --force replaces it");
  e.file = there.front();
  return e;
}

// Removes remaining parts of the replaced history, which could be mistaken for parts of this one.
Status remove_parts(const std::string& path) {
  for (const std::string& part : parts_there(path)) {
    std::error_code error;
    fs::remove(part, error);
    if (error) return io_error("cannot remove: " + error.message(), part);
  }
  return Ok{};
}

}  // namespace

std::string part_path(const std::string& path, uint64_t part) {
  const fs::path whole(path);
  return (whole.parent_path() /
          fmt::format("{}.{:04}{}", whole.stem().string(), part, whole.extension().string()))
      .string();
}

Result<std::unique_ptr<PartsRecorder>> PartsRecorder::create(const std::string& path,
                                                             const RecorderOptions& options,
                                                             uint64_t bytes,
                                                             PartListener* listener) {
  if (bytes > 0 && !options.overwrite)
    if (Status s = refuse_parts(path); !s.ok()) return s.error();
  auto first = Recorder::create(bytes > 0 ? part_path(path, 1) : path, options);
  if (!first.ok()) return first.error();
  return std::unique_ptr<PartsRecorder>(
      new PartsRecorder(path, options, bytes, listener, std::move(*first)));
}

PartsRecorder::PartsRecorder(std::string path, const RecorderOptions& options, uint64_t bytes,
                             PartListener* listener, std::unique_ptr<Recorder> first)
    : path_(std::move(path)),
      first_path_(first->path()),
      options_(options),
      bytes_(bytes),
      listener_(listener) {
  parts_.push_back(std::make_shared<Part>(Part{.recorder = std::move(first)}));
}

PartsRecorder::~PartsRecorder() = default;

// The header of the run, with the number of this part.
std::string PartsRecorder::header_of(uint64_t part) const {
  if (bytes_ == 0 || meta_.empty()) return meta_;
  return fmt::format("{},\"part\":{}}}", std::string_view(meta_).substr(0, meta_.size() - 1), part);
}

Status PartsRecorder::header(std::string_view meta) {
  const std::lock_guard lock(mutex_);
  meta_ = meta;
  if (bytes_ > 0)
    if (Status s = remove_parts(path_); !s.ok()) return s;
  Recorder& first = *parts_.back()->recorder;
  if (Status s = first.header(header_of(1)); !s.ok()) return s;
  if (listener_ != nullptr) listener_->opened(first.path());
  return Ok{};
}

std::shared_ptr<PartsRecorder::Part> PartsRecorder::take_current() {
  const std::lock_guard lock(mutex_);
  ++parts_.back()->users;
  return parts_.back();
}

// The file with the session's pending transaction; otherwise the last one.
std::shared_ptr<PartsRecorder::Part> PartsRecorder::take_for(uint32_t session) {
  const std::lock_guard lock(mutex_);
  const auto pending = pending_.find(session);
  std::shared_ptr<Part> part = pending != pending_.end() ? pending->second : parts_.back();
  ++part->users;
  return part;
}

Status PartsRecorder::transaction(const TxnRecord& record) {
  const std::shared_ptr<Part> part = take_for(record.session);
  const Status written = part->recorder->transaction(record);
  size_t released = 1;
  {
    const std::lock_guard lock(mutex_);
    if (record.pending && pending_.emplace(record.session, part).second)
      released = 0;
    else if (!record.pending)
      released += pending_.erase(record.session);
  }
  const Status left = release(part, released);
  return written.ok() ? left : written;
}

// A session that leaves a full file starts the next one; the last one to leave a file that is no
// longer written to closes it.
Status PartsRecorder::release(const std::shared_ptr<Part>& part, size_t users) {
  bool unused = false;
  {
    const std::lock_guard lock(mutex_);
    part->users -= users;
    if (part == parts_.back() && bytes_ > 0 && part->recorder->bytes() >= bytes_)
      if (Status s = rotate(); !s.ok()) return s;
    unused = part != parts_.back() && part->users == 0;
    if (unused) unused = std::erase(parts_, part) > 0;
  }
  // Syncing takes long, so the others do not wait for it.
  return unused ? close(*part) : Status(Ok{});
}

// Must be called with mutex_ held.
Status PartsRecorder::rotate() {
  auto next = Recorder::create(part_path(path_, number_ + 1), options_);
  if (!next.ok()) return next.error();
  if (Status s = (*next)->header(header_of(number_ + 1)); !s.ok()) return s;
  ++number_;
  parts_.push_back(std::make_shared<Part>(Part{.recorder = std::move(*next)}));
  if (listener_ != nullptr) listener_->opened(parts_.back()->recorder->path());
  return Ok{};
}

Status PartsRecorder::close(Part& part) {
  Status finished = part.recorder->finish();
  if (listener_ != nullptr) listener_->closed(part.recorder->path());
  return finished;
}

Status PartsRecorder::event(int64_t at, std::string_view json) {
  const std::shared_ptr<Part> part = take_current();
  const Status written = part->recorder->event(at, json);
  const Status left = release(part, 1);
  return written.ok() ? left : written;
}

Status PartsRecorder::order(const OrderRecord& record) {
  const std::shared_ptr<Part> part = take_current();
  const Status written = part->recorder->order(record);
  const Status left = release(part, 1);
  return written.ok() ? left : written;
}

Status PartsRecorder::finish() {
  const std::lock_guard lock(mutex_);
  Status finished = Ok{};
  for (const std::shared_ptr<Part>& part : parts_)
    if (Status s = close(*part); !s.ok() && finished.ok()) finished = s;
  return finished;
}

}  // namespace assay::internal::collect
