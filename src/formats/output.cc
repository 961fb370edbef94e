#include "formats/output.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/whole_file.h"
#include "formats/compression.h"

namespace assay::internal::formats {
namespace {

Error failed(Error e) {
  e.message = "cannot write: " + e.message;
  return e;
}

class FileSink : public ByteSink {
 public:
  explicit FileSink(WholeFile file) : file_(std::move(file)) {}
  Status write(std::string_view bytes) override {
    const Status s = file_.write(bytes);
    return s.ok() ? s : failed(s.error());
  }
  Status finish() override {
    const Status s = file_.close();
    return s.ok() ? s : failed(s.error());
  }

 private:
  WholeFile file_;
};

class StandardOutput : public ByteSink {
 public:
  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (n >= 0)
        bytes.remove_prefix(static_cast<size_t>(n));
      else if (errno != EINTR)
        return failed(io_error(strerror(errno), "standard output"));
    }
    return Ok{};
  }
  Status finish() override { return Ok{}; }
};

}  // namespace

Result<Output> Output::open(const std::string& path) {
  if (path == "-") return Output(std::make_unique<StandardOutput>());
  WholeFile file(path);
  if (Status s = file.write({}); !s.ok()) return failed(s.error());
  return Output(compress(compression_of_path(path), std::make_unique<FileSink>(std::move(file))));
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
