#include "formats/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "formats/compression.h"

namespace assay::internal::formats {
namespace {

class FileSink : public ByteSink {
 public:
  FileSink(int fd, bool owned, std::string name) : fd_(fd), owned_(owned), name_(std::move(name)) {}
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override {
    if (owned_ && fd_ >= 0) ::close(fd_);
  }
  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n >= 0) {
        bytes.remove_prefix(static_cast<size_t>(n));
      } else if (errno != EINTR) {
        return failed();
      }
    }
    return Ok{};
  }
  Status finish() override {
    if (!owned_) return Ok{};
    int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) return failed();
    return Ok{};
  }

 private:
  Error failed() const { return io_error(std::string("cannot write: ") + strerror(errno), name_); }
  int fd_;
  bool owned_;
  std::string name_;
};

}  // namespace

Result<Output> Output::open(const std::string& path) {
  if (path == "-")
    return Output(std::make_unique<FileSink>(STDOUT_FILENO, false, "standard output"));
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return io_error(std::string("cannot write: ") + strerror(errno), path);
  return Output(compress(compression_of_path(path), std::make_unique<FileSink>(fd, true, path)));
}

Output Output::memory(std::string& to) { return Output(std::make_unique<StringSink>(to)); }

void Output::write_integer(int64_t v) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
  write(std::string_view(digits, static_cast<size_t>(end - digits)));
}

void Output::flush() {
  if (status_.ok() && !buffer_.empty()) status_ = sink_->write(buffer_);
  buffer_.clear();
}

Status Output::close() {
  flush();
  if (status_.ok()) status_ = sink_->finish();
  return status_;
}

}  // namespace assay::internal::formats
