#include "collect/run_id.h"

#include <fmt/format.h>

#include <charconv>
#include <random>

namespace assay::collect {

uint64_t draw_run_id() {
  std::random_device random;
  const uint64_t id = (uint64_t{random()} << 32 | random()) & 0xFFFF'FFFF'FFFF;
  return id == 0 ? 1 : id;
}

std::string run_id_text(uint64_t id) { return fmt::format("{:012x}", id); }

uint64_t parse_run_id(std::string_view text) {
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return error == std::errc() && end == text.data() + text.size() ? id : 0;
}

}  // namespace assay::collect
