// Hashes of outside values, the same for the interners, the builder and the content hash.
#pragma once

#include "assay/history.h"

namespace assay::internal {

uint64_t hash_value(const ValueView& v);
uint64_t hash_version(KeyId key, const ValueView& v);

}  // namespace assay::internal
