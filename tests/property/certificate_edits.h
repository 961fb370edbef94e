// Certificates changed at random: most changes make them wrong, and the verifier has to tell which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "base/rng.h"

namespace assay::internal {

std::vector<LevelId> every_level();

// One of the first `n` numbers.
uint32_t below(Rng& rng, size_t n);

// One change to what the certificate says, not to its levels.
void edit(Rng& rng, const History& history, Certificate& certificate);

// One byte, or one number, of the text.
std::string edit_text(Rng& rng, std::string text);

}  // namespace assay::internal
