// What an engine finds of one level.
#pragma once

#include <utility>

#include "assay/budget.h"
#include "assay/certificate.h"

namespace assay::internal {

struct Judgement {
  Outcome outcome = Outcome::unknown;
  Unknown reason;  // of an unknown; empty if nothing was found, and another way may settle it
  Certificate certificate;  // of the others; the levels that it serves are left open

  static Judgement satisfied(Order order) {
    Judgement found{Outcome::satisfied, {}, {}};
    found.certificate.kind = Certificate::Kind::order;
    found.certificate.order = std::move(order);
    return found;
  }
  static Judgement violated(Proof proof) {
    Judgement found{Outcome::violated, {}, {}};
    found.certificate.kind = Certificate::Kind::proof;
    found.certificate.proof = std::move(proof);
    return found;
  }
  static Judgement violated(Exhausted search) {
    Judgement found{Outcome::violated, {}, {}};
    found.certificate.kind = Certificate::Kind::exhausted;
    found.certificate.exhausted = search;
    return found;
  }
  static Judgement unknown(Unknown reason) { return {Outcome::unknown, std::move(reason), {}}; }
};

}  // namespace assay::internal
