// Names from tables of the library. They are literals, which end with a zero byte.
#include "assay/assay_c.h"
#include "assay/certificate.h"
#include "assay/level.h"

static_assert(ASSAY_SATISFIED == static_cast<int>(assay::Outcome::satisfied));
static_assert(ASSAY_VIOLATED == static_cast<int>(assay::Outcome::violated));
static_assert(ASSAY_UNKNOWN == static_cast<int>(assay::Outcome::unknown));

namespace {

// All levels without `defined`, the last one, whose file this interface has no place for.
std::span<const assay::LevelInfo> levels() {
  return assay::named_levels().first(assay::named_levels().size() - 1);
}

}  // namespace

extern "C" {

size_t assay_level_count(void) { return levels().size(); }

const char* assay_level_name(size_t i) {
  return i < levels().size() ? levels()[i].name.data() : nullptr;
}

const char* assay_level_summary(size_t i) {
  return i < levels().size() ? levels()[i].summary.data() : nullptr;
}

const char* assay_level_called(const char* name) {
  const auto id = assay::find_level(name);
  return id ? assay::level_info(*id).name.data() : nullptr;
}

const char* assay_outcome_name(assay_outcome outcome) {
  return assay::outcome_name(static_cast<assay::Outcome>(outcome)).data();
}

}  // extern "C"
