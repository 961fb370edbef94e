#include "certify/proof_verifier.h"

#include "certify/cycle_verifier.h"
#include "certify/refusal.h"
#include "certify/resolution.h"

namespace assay::internal::certify {
namespace {

Error at_step(size_t index, Error error) {
  error.message = fmt::format("step {}: {}", index, error.message);
  return error;
}

}  // namespace

Status ProofVerifier::supports(LevelId level) {
  Found& found = this->found(read_rule(lookups_.history().level(level)));
  if (Status s = check_cycles(level, found.evidence); !s.ok()) return s;
  if (!found.resolved) {
    if (Status s = check_resolution(found.evidence); !s.ok()) return s;
    found.resolved = true;
  }
  return Ok{};
}

ProofVerifier::Found& ProofVerifier::found(ReadRule rule) {
  std::optional<Found>& found = rule == ReadRule::dirty ? dirty_ : clean_;
  if (!found) found.emplace(lookups_, rule);
  return *found;
}

// Checks the part that depends on the level: cycles, and possible sources.
Status ProofVerifier::check_cycles(LevelId level, Evidence& evidence) {
  CycleVerifier cycles(level, evidence);
  const LevelInfo& info = lookups_.history().level(level);
  for (size_t i = 0; i < proof_.steps.size(); ++i) {
    const ProofStep& step = proof_.steps[i];
    if (step.kind == ProofStep::Kind::sources)
      if (Status s = evidence.check_sources(step.source, step.key, step.clause, info); !s.ok())
        return at_step(i, s.error());
    if (step.kind == ProofStep::Kind::aggregate)
      if (Status s = evidence.check_aggregate(step.source, step.clause, info); !s.ok())
        return at_step(i, s.error());
    const bool open = step.kind == ProofStep::Kind::effect ||
                      step.kind == ProofStep::Kind::blocks ||
                      step.kind == ProofStep::Kind::aggregate || !step.given.empty();
    if (open && read_rule(info) == ReadRule::dirty)
      return at_step(
          i, refuse("{} does not depend on the sources of reads, so nothing follows from them",
                    info.name));
    if (step.kind != ProofStep::Kind::cycle) continue;
    if (Status s = cycles.check(step.cycle, step.given); !s.ok()) return at_step(i, s.error());
  }
  return Ok{};
}

Status ProofVerifier::check_resolution(Evidence& evidence) {
  using Kind = ProofStep::Kind;
  Resolution clauses;
  for (size_t i = 0; i < proof_.steps.size(); ++i) {
    const ProofStep& step = proof_.steps[i];
    Status s = check_step_shape(step);
    if (s.ok() && step.kind == Kind::fact)
      s = evidence.check_fact(step.clause[0], step.source, step.source_is_op);
    if (s.ok() && step.kind == Kind::effect) s = evidence.check_effect(step.clause);
    if (s.ok() && step.kind == Kind::blocks) s = evidence.blocks.check(step, evidence.counting);
    if (s.ok() && step.kind == Kind::derived) s = clauses.add_derived(step.clause, step.hints);
    if (!s.ok()) return at_step(i, s.error());
    if (step.kind == Kind::cycle)
      clauses.add_refuted(assumptions(step));
    else if (step.kind != Kind::derived)
      clauses.add_stated(step.clause);
  }
  if (!clauses.contradiction()) return refuse("the proof does not end in the empty clause");
  return Ok{};
}

Status ProofVerifier::check_step_shape(const ProofStep& step) const {
  if (step.kind != ProofStep::Kind::cycle && !step.given.empty())
    return refuse("only a cycle may be given sources and effects");
  using Kind = ProofStep::Kind;
  constexpr std::string_view kOtherwise[] = {
      "a cycle has a clause or hints of its own",
      "a fact is not one pair of transactions and its source",
      "a step about sources of reads must be only a clause",
      "a step about sources of reads must be only a clause",
      "a step about sources of reads must be only a clause",
      "a step about sources of reads must be only a clause",
      "a derived step has a cycle",
  };
  if (step.kind > Kind::derived) return refuse("a step of an unknown kind");
  const bool one_order = step.clause.size() == 1 && step.clause[0].kind == Literal::Kind::order;
  const bool as_it_should_be = (step.kind == Kind::cycle || step.cycle.empty()) &&
                               (step.kind == Kind::derived || step.hints.empty()) &&
                               (step.kind != Kind::cycle || step.clause.empty()) &&
                               (step.kind != Kind::fact || one_order);
  if (as_it_should_be) return Ok{};
  return refuse("{}", kOtherwise[static_cast<size_t>(step.kind)]);
}

}  // namespace assay::internal::certify
