// Parses amounts as people write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "assay/result.h"

namespace assay::internal::cli {

// "60s", "2m", "1.5h", "500ms"; a bare number is seconds.
Result<double> parse_seconds(std::string_view text);
// "50%", "0.5"
Result<double> parse_share(std::string_view text);
// "4G", "512M", "64KiB"; powers of 1024; a bare number is bytes.
Result<uint64_t> parse_bytes(std::string_view text);

}  // namespace assay::internal::cli
