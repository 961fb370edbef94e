#pragma once

#include <string_view>

#include "assay/result.h"

namespace assay::internal::collect {

// Hands all of `bytes` to the operating system; an io error otherwise.
Status write_all(int fd, std::string_view bytes);

}  // namespace assay::internal::collect
