// Numbers and texts in sequence, for files that only this program reads. A reader that runs out of
// bytes, or meets a count that they cannot hold, fails for good and returns zeros, so the caller
// need only ask at the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::internal {

class StreamWriter {
 public:
  // Writes seven bits per byte, so small numbers are short.
  void number(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_ += static_cast<char>(v | 0x80);
    bytes_ += static_cast<char>(v);
  }
  // Writes an integer with the sign in the lowest bit.
  void integer(int64_t v) {
    const auto bits = static_cast<uint64_t>(v);
    number(bits << 1 ^ (v < 0 ? ~uint64_t{0} : 0));
  }
  void flag(bool v) { bytes_ += static_cast<char>(v); }
  void text(std::string_view v) {
    number(v.size());
    bytes_.append(v);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class StreamReader {
 public:
  // The bytes must outlive the reader and the texts that it returns.
  explicit StreamReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t number() {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = this->byte();
      if (shift == 63 && byte > 1) break;
      v |= (byte & 0x7F) << shift;
      if (byte < 0x80) return v;
    }
    fail();
    return 0;
  }
  int64_t integer() {
    const uint64_t bits = number();
    return static_cast<int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~uint64_t{0} : 0));
  }
  bool flag() {
    const uint64_t v = byte();
    if (v > 1) fail();
    return v == 1;
  }
  std::string_view text() {
    const size_t size = count();
    const std::string_view v = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return v;
  }
  // Reads the number of things that take at least a byte each.
  size_t count() {
    const uint64_t n = number();
    if (n <= rest_.size()) return static_cast<size_t>(n);
    fail();
    return 0;
  }

  void fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  uint64_t byte() {
    if (rest_.empty()) return fail(), 0;
    const auto v = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return v;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace assay::internal
