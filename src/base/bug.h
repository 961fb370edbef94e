// What the program says when it detects a bug in itself.
#pragma once

#include <string>

#include "assay/budget.h"

namespace assay::internal {

// An unknown with the cause internal: what went wrong, that it is a bug, and what to do about it.
inline Unknown bug(const std::string& what) {
  return {UnknownCause::internal,
          what + "; this is a bug in assay, please report it and send the history"};
}

}  // namespace assay::internal
