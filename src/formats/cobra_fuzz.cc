// Whatever the bytes of a log: no crash.
#include <cstdint>
#include <string_view>

#include "formats/cobra.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)assay::internal::formats::read_cobra_log(bytes, "fuzz").ok();
  return 0;
}
