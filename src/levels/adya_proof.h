// Proofs that a history violates one of Adya's levels. See adya_proof.cc.
#pragma once

#include <cstdint>
#include <span>

#include "assay/certificate.h"
#include "infer/problem.h"
#include "levels/dependencies.h"

namespace assay::internal {

// A proof by a cycle of dependencies, which are indices into Dependencies::all; none of them is
// assumed.
Proof prove_cycle(const Problem& problem, const Dependencies& dependencies,
                  std::span<const uint32_t> cycle);
// A proof by two updates of one version.
Proof prove_divergence(const Problem& problem, const Divergence& divergence);

}  // namespace assay::internal
