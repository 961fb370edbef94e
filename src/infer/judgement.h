// What an engine finds about one level.
#pragma once

#include <utility>

#include "assay/budget.h"
#include "assay/certificate.h"

namespace assay::internal {

struct Judgement {
  bool decided = false;
  Unknown reason;           // if the outcome is unknown; empty if nothing was found and another
                            // method may decide the level
  Certificate certificate;  // if it is not; the levels that the certificate serves are filled in
                            // later

  Outcome outcome() const { return decided ? certificate.outcome() : Outcome::unknown; }

  static Judgement satisfied(Order order) {
    Judgement found{.decided = true, .reason = {}, .certificate = {}};
    found.certificate.kind = Certificate::Kind::order;
    found.certificate.order = std::move(order);
    return found;
  }
  static Judgement violated(Proof proof) {
    Judgement found{.decided = true, .reason = {}, .certificate = {}};
    found.certificate.kind = Certificate::Kind::proof;
    found.certificate.proof = std::move(proof);
    return found;
  }
  static Judgement violated(const BadRead& read) {
    Judgement found{.decided = true, .reason = {}, .certificate = {}};
    found.certificate.kind = Certificate::Kind::bad_read;
    found.certificate.bad_read = read;
    return found;
  }
  static Judgement violated(Exhausted search) {
    Judgement found{.decided = true, .reason = {}, .certificate = {}};
    found.certificate.kind = Certificate::Kind::exhausted;
    found.certificate.exhausted = search;
    return found;
  }
  static Judgement unknown(Unknown reason) {
    return {.decided = false, .reason = std::move(reason), .certificate = {}};
  }
};

}  // namespace assay::internal
