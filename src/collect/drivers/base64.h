// Base64 as JSON gateways spell bytes.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal::collect {

std::string to_base64(std::string_view bytes);
// Up to the first character that is none.
std::string from_base64(std::string_view text);

}  // namespace assay::internal::collect
