// Base64, in which JSON gateways write bytes.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal::collect {

std::string to_base64(std::string_view bytes);
// Decodes up to the first character that is not Base64.
std::string from_base64(std::string_view text);

}  // namespace assay::internal::collect
