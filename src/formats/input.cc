#include "formats/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "formats/compression.h"

namespace assay::internal::formats {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 18;

// How long the budget is not checked while no data arrives.
constexpr int kMillisecondsOfWaiting = 20;

class FileSource : public ByteSource {
 public:
  FileSource(int fd, bool owned, bool follows, const std::atomic<bool>* ended, std::string name,
             Budget* budget)
      : fd_(fd),
        owned_(owned),
        follows_(follows),
        ended_(ended),
        name_(std::move(name)),
        budget_(budget) {
    struct stat info;
    waits_ = ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }
  Result<size_t> read(char* to, size_t size) override {
    for (;;) {
      if (waits_)
        if (Status s = wait(); !s.ok()) return s.error();
      // Called before reading, so the read includes everything that was written before the end.
      const bool grows = this->grows();
      const ssize_t n = ::read(fd_, to, size);
      if (n > 0 || (n == 0 && !grows)) return static_cast<size_t>(n);
      // Some devices report that data is ready although there is none: /proc/kmsg.
      if (n == 0 || errno == EAGAIN) {
        if (budget_ != nullptr && budget_->exhausted_now()) return failed(budget_error(*budget_));
        ::poll(nullptr, 0, kMillisecondsOfWaiting);
      } else if (errno != EINTR) {
        return failed(system_error());
      }
    }
  }
  bool would_wait() const override {
    if (waits_) {
      pollfd file{fd_, POLLIN, 0};
      return ::poll(&file, 1, 0) == 0;
    }
    struct stat info;
    return grows() && ::fstat(fd_, &info) == 0 && ::lseek(fd_, 0, SEEK_CUR) >= info.st_size;
  }

 private:
  bool grows() const { return follows_ && (ended_ == nullptr || !*ended_); }
  // Waits until there is something to read, or the end.
  Status wait() {
    pollfd file{fd_, POLLIN, 0};
    for (;;) {
      if (budget_ != nullptr && budget_->exhausted_now()) return failed(budget_error(*budget_));
      const int ready = ::poll(&file, 1, budget_ != nullptr ? kMillisecondsOfWaiting : -1);
      if (ready > 0) return Ok{};
      if (ready < 0 && errno != EINTR) return failed(system_error());
    }
  }
  Error failed(Error e) const {
    e.file = name_;
    return e;
  }
  static Error system_error() { return io_error(std::string("cannot read: ") + strerror(errno)); }

  int fd_;
  bool owned_;
  bool follows_;                    // whether the file may still grow
  const std::atomic<bool>* ended_;  // until this becomes true
  std::string name_;
  Budget* budget_;
  bool waits_;  // a pipe or similar: reading may have to wait
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : text_(text) {}
  Result<size_t> read(char* to, size_t size) override {
    size_t n = std::min(size, text_.size());
    if (n > 0) std::memcpy(to, text_.data(), n);
    text_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view text_;
};

uint64_t count_lines(std::string_view text) {
  uint64_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return count;
}

}  // namespace

Error budget_error(const Budget& budget) {
  return {ErrorKind::budget, budget.reason().detail + " while reading", {}, 0, 0};
}

Result<Input> Input::open(const std::string& path, Budget* budget) {
  return open(path, budget, AtEnd::stops, nullptr);
}

Result<Input> Input::follow(const std::string& path, Budget* budget,
                            const std::atomic<bool>* ended) {
  return open(path, budget, AtEnd::follows, ended);
}

Result<Input> Input::open(const std::string& path, Budget* budget, AtEnd at_end,
                          const std::atomic<bool>* ended) {
  if (path == "-")
    return start(
        std::make_unique<FileSource>(STDIN_FILENO, false, false, nullptr, "standard input", budget),
        "standard input", budget);
  // So that this does not yet wait for the writer of a named pipe.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return io_error(std::string("cannot open: ") + strerror(errno), path);
  auto source =
      std::make_unique<FileSource>(fd, true, at_end == AtEnd::follows, ended, path, budget);
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
    return io_error("is a directory, expected a file", path);
  return start(std::move(source), path, budget);
}

Result<Input> Input::follow_from(const std::string& path, Budget* budget, uint64_t offset,
                                 uint64_t line) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error(std::string("cannot open: ") + strerror(errno), path);
  auto source = std::make_unique<FileSource>(fd, true, true, nullptr, path, budget);
  if (::lseek(fd, static_cast<off_t>(offset), SEEK_SET) < 0)
    return io_error(std::string("cannot go on in the middle: ") + strerror(errno), path);
  Input input = of(std::move(source), path, budget);
  input.begins_at(offset, line);
  return input;
}

Input Input::of(std::unique_ptr<ByteSource> source, std::string name, Budget* budget) {
  Input input;
  input.name_ = std::move(name);
  input.budget_ = budget;
  input.buffer_.assign(kChunkBytes + kPadding, '\0');
  input.source_ = std::move(source);
  return input;
}

Result<Input> Input::memory(std::string_view text, std::string name, Budget* budget) {
  return start(std::make_unique<MemorySource>(text), std::move(name), budget);
}

Result<Input> Input::start(std::unique_ptr<ByteSource> source, std::string name, Budget* budget) {
  std::string head(4, '\0');
  size_t size = 0;
  while (size < head.size()) {
    auto n = source->read(head.data() + size, head.size() - size);
    if (!n.ok()) return n.error();
    if (*n == 0) break;
    size += *n;
  }
  head.resize(size);
  Input input;
  input.name_ = std::move(name);
  input.budget_ = budget;
  Compression kind = detect_compression(head);
  input.compressed_ = kind != Compression::none;
  if (kind == Compression::none) {
    input.buffer_.assign(kChunkBytes + kPadding, '\0');
    std::copy(head.begin(), head.end(), input.buffer_.begin());
    input.end_ = size;
    input.source_ = std::move(source);
  } else {
    input.source_ = decompress(kind, std::move(source), std::move(head));
  }
  return input;
}

Result<bool> Input::more(size_t want) {
  if (ended_) return end();
  if (budget_ != nullptr && budget_->exhausted_now()) return located(budget_error(*budget_));
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // At least half a chunk; doubled while one line or record needs the whole buffer.
  size_t least = std::max(want, end_ + kChunkBytes / 2) + kPadding;
  if (buffer_.size() < least) {
    const size_t size = std::max(least, 2 * end_ + kChunkBytes + kPadding);
    if (budget_ != nullptr && !budget_->has_room(size)) return located(budget_error(*budget_));
    buffer_.resize(size);
  }
  auto n = source_->read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
  if (!n.ok()) return located(behind_window(n.error()));
  end_ += *n;
  ended_ = *n == 0;
  if (ended_) return end();
  return true;
}

Result<bool> Input::end() const {
  if (source_->cut_off() && !cut_off_allowed_)
    return located(behind_window(bad_input("the compressed data is cut off")));
  return false;
}

Status Input::fill(size_t size) {
  while (end_ - begin_ < size) {
    auto got = more(size);
    if (!got.ok()) return got.error();
    if (!*got) break;
  }
  return Ok{};
}

void Input::consume(size_t size) {
  begin_ += size;
  offset_ += size;
}

Result<bool> Input::at_end() {
  if (auto s = fill(1); !s.ok()) return s.error();
  return begin_ == end_;
}

Status Input::skip_byte_order_mark() {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line_ > 0) return Ok{};
  if (auto s = fill(kByteOrderMark.size()); !s.ok()) return s.error();
  if (window().substr(0, kByteOrderMark.size()) == kByteOrderMark) consume(kByteOrderMark.size());
  return Ok{};
}

Result<bool> Input::next_lines(Lines& lines, size_t bytes) {
  if (Status s = skip_byte_order_mark(); !s.ok()) return s.error();
  if (Status s = fill(bytes); !s.ok()) return s.error();
  size_t searched = bytes;
  size_t at = window().substr(0, bytes).rfind('\n');
  while (at == std::string_view::npos) {  // one line that is longer than the window
    at = window().find('\n', searched);
    searched = window().size();
    if (std::min(at, searched) > kMaxLineBytes) {
      ++line_;
      return error("the line is longer than 16 MiB");
    }
    if (at != std::string_view::npos) break;
    auto got = more(0);
    if (!got.ok()) return got.error();
    if (!*got) break;
  }
  if (window().empty()) return false;
  lines.terminated = at != std::string_view::npos;
  lines.size = lines.terminated ? at + 1 : window().size();
  lines.first_line = line_ + 1;
  lines.bytes.assign(window().substr(0, lines.size));
  lines.bytes.append(kPadding, '\0');
  line_ += count_lines(lines.text());
  consume(lines.size);
  return true;
}

Result<bool> Input::next_line(Line& line) {
  if (Status s = skip_byte_order_mark(); !s.ok()) return s.error();
  size_t searched = 0;
  for (;;) {
    std::string_view w = window();
    size_t at = searched < w.size() ? w.find('\n', searched) : std::string_view::npos;
    bool ended = at == std::string_view::npos;
    searched = w.size();
    if ((ended ? w.size() : at) > kMaxLineBytes) {
      ++line_;
      return error("the line is longer than 16 MiB");
    }
    if (ended) {
      auto got = more(0);
      if (!got.ok()) return got.error();
      if (*got) continue;
      w = window();
      if (w.empty()) return false;
      at = w.size();
    }
    ++line_;
    line = {w.substr(0, at), !ended};
    consume(at + (ended ? 0 : 1));
    if (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
    return true;
  }
}

bool Input::would_wait() const {
  return !ended_ && window().find('\n') == std::string_view::npos && source_->would_wait();
}

Error Input::error(std::string message, uint64_t column) const {
  return located(bad_input(std::move(message), line_, column));
}

Error Input::error_at_byte(const std::string& message, uint64_t at) const {
  return located(bad_input("byte " + std::to_string(at) + ": " + message));
}

// The error, located after the window if it is about bytes that were read.
Error Input::behind_window(Error e) const {
  if (e.kind != ErrorKind::bad_input || e.line != 0) return e;
  const std::string_view w = window();
  const size_t last = w.rfind('\n');
  e.line = line_ + 1 + static_cast<uint64_t>(std::count(w.begin(), w.end(), '\n'));
  e.column = (last == std::string_view::npos ? w.size() : w.size() - last - 1) + 1;
  return e;
}

Error Input::located(Error e) const {
  if (e.file.empty()) e.file = name_;
  return e;
}

}  // namespace assay::internal::formats
