// Fixed-size numbers and strings from a binary stream. The first failure is kept; after it every
// value is zero, so a reader need check only once per record.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "formats/input.h"

namespace assay::internal::formats {

class ByteReader {
 public:
  explicit ByteReader(Input& input) : input_(input) {}

  bool ok() const { return !failed_; }
  const Error& error() const { return error_; }
  // The number of bytes consumed so far.
  uint64_t offset() const { return input_.offset(); }

  // The next `size` bytes, valid until the next call; empty after a failure. `what` is for
  // messages.
  std::string_view bytes(size_t size, std::string_view what) {
    if (failed_) return {};
    if (input_.window().size() < size) {
      if (auto s = input_.fill(size); !s.ok()) return fail(s.error());
      if (input_.window().size() < size)
        return fail(input_.error_at_byte("the file ends within " + std::string(what),
                                         offset() + input_.window().size()));
    }
    std::string_view taken = input_.window().substr(0, size);
    input_.consume(size);
    return taken;
  }
  uint8_t u8(std::string_view what) {
    std::string_view b = bytes(1, what);
    return b.empty() ? uint8_t{0} : static_cast<uint8_t>(b[0]);
  }
  uint64_t u64_little(std::string_view what) { return u64(bytes(8, what), true); }
  uint64_t u64_big(std::string_view what) { return u64(bytes(8, what), false); }

  static uint64_t u64(std::string_view b, bool little) {
    uint64_t v = 0;
    if (b.size() < 8) return 0;
    std::memcpy(&v, b.data(), 8);
    return little == (std::endian::native == std::endian::little) ? v : __builtin_bswap64(v);
  }

  static uint32_t u32_big(std::string_view b) {
    uint32_t v = 0;
    if (b.size() < 4) return 0;
    std::memcpy(&v, b.data(), 4);
    return std::endian::native == std::endian::big ? v : __builtin_bswap32(v);
  }

  // True at the end of the input; false after a failure.
  bool at_end() {
    if (failed_) return false;
    auto end = input_.at_end();
    if (!end.ok()) fail(end.error());
    return end.ok() && *end;
  }
  // Records a failure `at` bytes into the input; returns false.
  bool refuse(const std::string& message, uint64_t at) {
    fail(input_.error_at_byte(message, at));
    return false;
  }

 private:
  std::string_view fail(Error e) {
    if (!failed_) error_ = std::move(e);
    failed_ = true;
    return {};
  }

  Input& input_;
  bool failed_ = false;
  Error error_;
};

}  // namespace assay::internal::formats
