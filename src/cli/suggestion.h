// Suggestions for a misspelt name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay::internal::cli {

// Returns "; did you mean 'check'?" if one of `names` is close; empty if none is.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace assay::internal::cli
