// Fixed-size numbers into a binary stream.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "formats/output.h"

namespace assay::internal::formats {

class ByteWriter {
 public:
  explicit ByteWriter(Output& out) : out_(out) {}
  void u8(uint8_t v) { out_.write(static_cast<char>(v)); }
  void u64_little(uint64_t v) { u64(v, true); }
  void u64_big(uint64_t v) { u64(v, false); }

 private:
  void u64(uint64_t v, bool little) {
    if (little != (std::endian::native == std::endian::little)) v = __builtin_bswap64(v);
    char bytes[8];
    std::memcpy(bytes, &v, 8);
    out_.write(std::string_view(bytes, 8));
  }

  Output& out_;
};

}  // namespace assay::internal::formats
