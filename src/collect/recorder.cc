#include "collect/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "collect/lines.h"
#include "collect/write_all.h"

namespace assay::collect {
namespace {

constexpr auto kSyncInterval = std::chrono::milliseconds(500);

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0)
    return io_error(std::string("cannot create the history: ") + std::strerror(errno), path);
  return std::unique_ptr<Recorder>(new Recorder(fd, path));
}

Recorder::Recorder(int fd, std::string path)
    : fd_(fd), path_(std::move(path)), syncer_([this] { sync_regularly(); }) {}

Recorder::~Recorder() {
  stop_syncing();
  if (fd_ >= 0) ::close(fd_);
}

Status Recorder::write(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  if (broken_ || fd_ < 0) return io_error("the history is not written any more", path_);
  Status written = write_all(fd_, lines);
  if (!written.ok()) {
    broken_ = true;
    written.error().file = path_;
  }
  dirty_ = true;
  return written;
}

Status Recorder::header(std::string_view meta) {
  std::string line;
  append_header_line(line, meta);
  return write(line);
}

Status Recorder::transaction(const TxnRecord& record) {
  thread_local std::string line;
  line.clear();
  append_record_line(line, record);
  return write(line);
}

Status Recorder::event(int64_t, std::string_view json) {
  std::string line;
  append_event_line(line, json);
  return write(line);
}

void Recorder::sync_regularly() {
  std::unique_lock lock(stop_mutex_);
  while (!stop_changed_.wait_for(lock, kSyncInterval, [this] { return stopping_; })) {
    lock.unlock();
    if (dirty_.exchange(false) && ::fdatasync(fd_) != 0) sync_failed_ = true;
    lock.lock();
  }
}

void Recorder::stop_syncing() {
  {
    const std::lock_guard lock(stop_mutex_);
    stopping_ = true;
  }
  stop_changed_.notify_all();
  if (syncer_.joinable()) syncer_.join();
}

Status Recorder::finish() {
  stop_syncing();
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return Ok{};
  // Pipes and the like cannot be synced and need not be.
  const bool synced = ::fdatasync(fd_) == 0 || errno == EINVAL || errno == EROFS;
  const bool closed = ::close(std::exchange(fd_, -1)) == 0;
  if (!synced || !closed || sync_failed_)
    return io_error(std::string("cannot sync the history: ") + std::strerror(errno), path_);
  return Ok{};
}

}  // namespace assay::collect
