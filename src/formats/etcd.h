// The operations.json of etcd's robustness tests. Every byte: docs/formats/etcd.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kEtcd;

}  // namespace assay::internal::formats
