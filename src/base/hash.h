// Hashing: one 64-bit mixer for integers, XXH3 for bytes and digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::internal {

// A strong mix of one word (the finalizer of splitmix64).
inline uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

uint64_t hash_bytes(std::string_view bytes);

// A 128-bit digest of a sequence of parts. The same bytes cut differently give the same digest, so
// callers feed lengths where boundaries matter.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(const void* data, size_t bytes);
  void add(uint64_t word) { add(&word, sizeof word); }
  std::string hex() const;  // 32 hexadecimal digits

 private:
  void* state_;
};

}  // namespace assay::internal
