// verify(): one certificate against one history. Each kind has its own verifier:
//
//   order      order_verifier.h      the history satisfies the levels
//   bad read   bad_read_verifier.h   it violates them: one operation cannot be explained
//   proof      proof_verifier.h      it violates them: every choice of what it leaves open closes a
//                                    cycle
//   exhausted  exhaustion_verifier.h  it violates them: no order of the operations on one key will
//                                     do
//
// None of them infers, only `exhausted` enumerates orders, and none shares code with the checker.
#include "assay/verify.h"

#include <algorithm>

#include "certify/bad_read_verifier.h"
#include "certify/exhaustion_verifier.h"
#include "certify/order_verifier.h"
#include "certify/proof_verifier.h"
#include "certify/reads.h"
#include "certify/refusal.h"

namespace assay::internal::certify {
namespace {

Status check_levels(const std::vector<LevelId>& levels) {
  if (levels.empty()) return refuse("the certificate names no level");
  uint32_t seen = 0;
  for (LevelId level : levels) {
    const auto index = static_cast<uint32_t>(level);
    if (index >= kLevelCount) return refuse("the certificate names an unknown level");
    if (seen >> index & 1)
      return refuse("the certificate names level {} twice", level_info(level).name);
    seen |= 1u << index;
  }
  return Ok{};
}

template <class Holds>
bool any_level(const Certificate& certificate, const History& history, Holds holds) {
  return std::ranges::any_of(certificate.levels,
                             [&](LevelId level) { return holds(history.level(level)); });
}

// Linearizability is defined if every transaction that took effect is one operation on one key. An
// order says which transactions it takes to have done so; its verifier checks that.
Status check_defined(const Certificate& certificate, const Lookups& lookups) {
  if (certificate.outcome() != Outcome::violated ||
      !any_level(certificate, lookups.history(),
                 [](const LevelInfo& l) { return l.single_operations; }))
    return Ok{};
  const History& history = lookups.history();
  Counting counting(lookups);
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    if (!is_one_operation(history, t) && counting.counts(t))
      return refuse(
          "linearizable is defined for transactions of one operation on one key; {} is not one",
          history.name(t));
  }
  return Ok{};
}

// Calls the verifier for each level, the strongest first: what serves it may serve the others
// without another look.
template <class OfKind>
Status for_each_level(std::vector<LevelId> levels, OfKind verifier) {
  std::sort(levels.rbegin(), levels.rend());
  for (LevelId level : levels) {
    Status s = verifier.supports(level);
    if (s.ok()) continue;
    s.error().message = std::string(level_info(level).name) + ": " + s.error().message;
    return s;
  }
  return Ok{};
}

}  // namespace
}  // namespace assay::internal::certify

namespace assay {

struct Verifier::Shared {
  const internal::certify::Lookups lookups;
};

Verifier::Verifier(const History& history)
    : shared_(new Shared{internal::certify::Lookups(history)}) {}
Verifier::~Verifier() = default;

Status verify(const Certificate& certificate, const History& history, unsigned threads) {
  return Verifier(history).verify(certificate, threads);
}

Status Verifier::verify(const Certificate& certificate, unsigned threads) {
  using namespace internal::certify;
  const Lookups& lookups = shared_->lookups;
  if (Status s = check_levels(certificate.levels); !s.ok()) return s;
  if (Status s = check_defined(certificate, lookups); !s.ok()) return s;
  const History& history = lookups.history();
  const auto names = [&](LevelId level) { return std::ranges::count(certificate.levels, level); };
  if (names(LevelId::mixed) && !history.declares_levels())
    return refuse("mixed: no transaction of the history declares a level");
  if (names(LevelId::defined) && !history.defined_level())
    return refuse("defined: the definition of the level is missing");
  const std::vector<LevelId>& levels = certificate.levels;
  switch (certificate.kind) {
    case Certificate::Kind::order:
      return for_each_level(levels, OrderVerifier(certificate.order, lookups, threads));
    case Certificate::Kind::bad_read:
      return for_each_level(levels, BadReadVerifier(certificate.bad_read, lookups));
    case Certificate::Kind::proof:
      return for_each_level(levels, ProofVerifier(certificate.proof, lookups));
    case Certificate::Kind::exhausted:
      return for_each_level(levels, ExhaustionVerifier(certificate.exhausted, lookups.history()));
  }
  return refuse("a certificate of an unknown kind");
}

uint64_t verification_bytes(const Certificate& certificate, const History& history) {
  using internal::certify::any_level;
  const uint64_t txns = history.txn_count(), keys = history.key_count();
  const uint64_t versions = history.version_count();
  const uint64_t reads = history.op_count() - std::min<uint64_t>(history.op_count(), versions);
  if (certificate.kind != Certificate::Kind::order) return 28 * versions + 24 * keys;  // writes
  const bool in_time = any_level(certificate, history,
                                 [](const LevelInfo& l) { return l.real_time != RealTime::none; });
  const bool replays = any_level(certificate, history, [](const LevelInfo& l) {
    return l.events == EventModel::single || l.events == EventModel::split;
  });
  // Memory of places, of what each key holds, and of moments by request and by response.
  const uint64_t replay = (in_time ? 72 : 8) * txns + 20 * keys;
  // For an order that cannot be replayed: the sources of reads, and clocks.
  const uint64_t reads_from = 60 * txns + 24 * reads + 12 * versions + 72 * keys;
  return replays ? replay : replay + reads_from;
}

}  // namespace assay
