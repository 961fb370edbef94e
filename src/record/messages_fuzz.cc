// Whatever the bytes, from either side: no crash, and what is passed on is no more than came.
#include <cstdlib>

#include "record/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::internal::record;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(read_startup(bytes));
  std::string out;
  Cutter cutter;
  size_t taken = 0;
  const size_t half = size / 2;
  const auto wants = [](char type) { return type != 'd'; };
  const auto take = [&](char, std::string_view body) {
    taken += body.size();
    static_cast<void>(read_bind(body));
    static_cast<void>(without_last_field(body));
    if (const auto shorter = without_last_cell(body))
      if (shorter->body.size() > body.size()) std::abort();
    static_cast<void>(cells_of(body));
    if (without_channel_binding(body).size() > body.size() + 5) std::abort();
    static_cast<void>(error_field(body, 'C'));
    static_cast<void>(with_position_moved(body, 3, 7));
    return true;
  };
  if (cutter.feed(bytes.substr(0, half), out, wants, take))
    static_cast<void>(cutter.feed(bytes.substr(half), out, wants, take));
  if (out.size() + taken > size) std::abort();
  return 0;
}
