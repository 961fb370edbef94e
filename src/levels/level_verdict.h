// What an engine found of one level, with what its certificate is made of.
#pragma once

#include <string>

#include "assay/certificate.h"

namespace assay {

struct LevelVerdict {
  Outcome outcome = Outcome::unknown;
  std::string reason;  // of an unknown
  Order order;         // satisfied
  Proof proof;         // violated
};

}  // namespace assay
