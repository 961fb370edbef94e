// Whatever the bytes: no crash. The format is only read.
#include "formats/fuzz_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::internal::formats::fuzz_round_trip("json-trace", data, size);
  return 0;
}
