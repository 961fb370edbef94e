// The smallest known history for each anomaly, in the .hist form.
#pragma once

#include <span>
#include <string_view>

#include "assay/anomaly.h"

namespace assay::internal::cli {

struct DemoHistory {
  Anomaly anomaly;
  std::string_view text;
};

std::span<const DemoHistory> demo_histories();

}  // namespace assay::internal::cli
