// A stream of bytes to write a history to: a file, which exists only once it is complete
// (base/whole_file.h), standard output or memory, compressed by the ending of the path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "assay/result.h"

namespace assay::internal::formats {

// A destination of bytes. `finish` is called once, after the last write.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status write(std::string_view bytes) = 0;
  virtual Status finish() = 0;
};

class StringSink : public ByteSink {
 public:
  explicit StringSink(std::string& to) : to_(to) {}
  Status write(std::string_view bytes) override {
    to_.append(bytes);
    return Ok{};
  }
  Status finish() override { return Ok{}; }

 private:
  std::string& to_;
};

// Collects small writes. Errors are kept and returned by close(), so writers need not check each.
class Output {
 public:
  static Result<Output> open(const std::string& path);
  static Output memory(std::string& to);

  void write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > kBufferBytes) flush();
    buffer_.append(bytes);
  }
  void write(char c) { write(std::string_view(&c, 1)); }
  void write_integer(int64_t v);
  Status close();

 private:
  static constexpr size_t kBufferBytes = size_t{1} << 18;
  explicit Output(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)) {}
  void flush();

  std::unique_ptr<ByteSink> sink_;
  std::string buffer_;
  Status status_ = Ok{};
};

}  // namespace assay::internal::formats
