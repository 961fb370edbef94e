#include "collect/run_id.h"

#include <fmt/format.h>

#include <random>

namespace assay::collect {

uint64_t draw_run_id() {
  std::random_device random;
  const uint64_t id = (uint64_t{random()} << 32 | random()) & 0xFFFF'FFFF'FFFF;
  return id == 0 ? 1 : id;
}

std::string run_id_text(uint64_t id) { return fmt::format("{:012x}", id); }

}  // namespace assay::collect
