#include "collect/recorder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "collect/lines.h"
#include "collect/write_all.h"

namespace assay::internal::collect {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(500);
constexpr size_t kFrameBytes = size_t{1} << 18;
constexpr std::string_view kFsyncNames[] = {"never", "end", "second", "commit"};
constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC;

Error cannot_create(const std::string& path) {
  return io_error(std::string("cannot create the history: ") + std::strerror(errno), path);
}

Error of_file(Error e, const std::string& path) {
  e.file = path;
  return e;
}

bool is_regular(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

// Opens an existing file: one that is not regular, or a history to be replaced.
Result<int> open_existing(const std::string& path, bool overwrite) {
  const int fd = ::open(path.c_str(), kFlags);
  if (fd < 0) return cannot_create(path);
  if (!is_regular(fd) || overwrite) return fd;
  ::close(fd);
  return of_file(usage_error("the history already exists; --force replaces it"), path);
}

}  // namespace

std::string_view fsync_name(Fsync fsync) { return kFsyncNames[static_cast<size_t>(fsync)]; }

std::optional<Fsync> find_fsync(std::string_view name) {
  for (const Fsync fsync : {Fsync::never, Fsync::end, Fsync::second, Fsync::commit})
    if (fsync_name(fsync) == name) return fsync;
  return std::nullopt;
}

Result<std::unique_ptr<Recorder>> Recorder::create(const std::string& path,
                                                   const RecorderOptions& options) {
  int fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
  const bool created = fd >= 0;
  if (!created) {
    if (errno != EEXIST) return cannot_create(path);
    const Result<int> existing = open_existing(path, options.overwrite);
    if (!existing.ok()) return existing.error();
    fd = *existing;
  }
  // The lock is held until the file is closed, also against a run that was asked to replace it.
  if (is_regular(fd) && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(fd);
    return of_file(usage_error("another run is recording to this history"), path);
  }
  return std::unique_ptr<Recorder>(new Recorder(fd, path, options, created));
}

Result<std::unique_ptr<Recorder>> Recorder::create_fresh(
    const std::function<std::string()>& next_name, const RecorderOptions& options) {
  while (true) {
    const std::string path = next_name();
    const int fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return cannot_create(path);
    flock(fd, LOCK_EX | LOCK_NB);
    return std::unique_ptr<Recorder>(new Recorder(fd, path, options, true));
  }
}

Recorder::Recorder(int fd, std::string path, const RecorderOptions& options, bool created)
    : fd_(fd),
      path_(std::move(path)),
      fsync_(options.fsync),
      facts_(options.facts),
      created_(created),
      compression_(formats::compression_of_path(path_)) {
  if (fsync_ == Fsync::second || compression_ != formats::Compression::none)
    writer_ = std::thread([this] { write_regularly(); });
}

Recorder::~Recorder() {
  stop_writing();
  if (created_ && !has_header_) ::unlink(path_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

bool Recorder::sync() const {
  // Pipes and the like cannot be synced and need not be.
  return ::fdatasync(fd_) == 0 || errno == EINVAL || errno == EROFS;
}

// Must be called with mutex_ held.
Status Recorder::write_frame() {
  if (gathered_.empty()) return Ok{};
  std::string frame;
  Status written = formats::compress_frame(compression_, gathered_, frame);
  gathered_.clear();
  if (written.ok()) written = write_all(fd_, frame);
  return written;
}

// Must be called with mutex_ held. Ends all writing, for this reason.
Error Recorder::fail(Error e) {
  struct stat info;
  if (is_regular(fd_) && fstat(fd_, &info) == 0)
    e.message += "; " + std::to_string(info.st_size) + " bytes were written";
  e.file = path_;
  failure_ = e;
  return e;
}

Status Recorder::write(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  if (failure_) return *failure_;
  if (fd_ < 0) return io_error("the history is no longer written", path_);
  Status written = Ok{};
  if (compression_ == formats::Compression::none) {
    written = write_all(fd_, lines);
  } else {
    gathered_ += lines;
    if (fsync_ == Fsync::commit || gathered_.size() >= kFrameBytes) written = write_frame();
  }
  if (written.ok() && fsync_ == Fsync::commit && !sync())
    written = io_error(std::string("cannot sync the history: ") + std::strerror(errno));
  bytes_ += lines.size();
  dirty_ = true;
  return written.ok() ? written : fail(written.error());
}

Status Recorder::header(std::string_view meta) {
  {
    const std::lock_guard lock(mutex_);
    has_header_ = true;
    if (!created_ && is_regular(fd_) && ftruncate(fd_, 0) != 0) return cannot_create(path_);
  }
  std::string line;
  append_header_line(line, meta, facts_);
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

Status Recorder::order(const OrderRecord& record) {
  std::string line;
  append_order_line(line, record);
  return write(line);
}

void Recorder::write_regularly() {
  std::unique_lock lock(stop_mutex_);
  while (!stop_changed_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    lock.unlock();
    if (dirty_.exchange(false)) {
      {
        const std::lock_guard writing(mutex_);
        if (const Status s = failure_ ? Ok{} : write_frame(); !s.ok()) fail(s.error());
      }
      if (fsync_ == Fsync::second && !sync()) sync_failed_ = true;
    }
    lock.lock();
  }
}

void Recorder::stop_writing() {
  {
    const std::lock_guard lock(stop_mutex_);
    stopping_ = true;
  }
  stop_changed_.notify_all();
  if (writer_.joinable()) writer_.join();
}

Status Recorder::finish() {
  stop_writing();
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return Ok{};
  Status written = failure_ ? Status(*failure_) : write_frame();
  const bool synced = fsync_ == Fsync::never || sync();
  const bool closed = ::close(std::exchange(fd_, -1)) == 0;
  if (written.ok() && (!synced || !closed || sync_failed_))
    written = io_error(std::string("cannot sync the history: ") + std::strerror(errno));
  if (!written.ok()) written.error().file = path_;
  return written;
}

}  // namespace assay::internal::collect
