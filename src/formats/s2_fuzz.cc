// Whatever the bytes: no crash, and what is accepted can be written.
#include "formats/fuzz_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::internal::formats::fuzz_round_trip("s2", data, size);
  return 0;
}
