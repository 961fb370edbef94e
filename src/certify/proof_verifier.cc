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

Status ProofVerifier::refutes(LevelId level) {
  Found& found = this->found(read_rule(level_info(level)));
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

// The part that depends on the level: cycles, and who may have been seen.
Status ProofVerifier::check_cycles(LevelId level, Evidence& evidence) {
  CycleVerifier cycles(level, evidence);
  const LevelInfo& info = level_info(level);
  for (size_t i = 0; i < proof_.steps.size(); ++i) {
    const ProofStep& step = proof_.steps[i];
    if (step.kind == ProofStep::Kind::sources)
      if (Status s = evidence.check_sources(step.source, step.key, step.clause, info); !s.ok())
        return at_step(i, s.error());
    const bool open = step.kind == ProofStep::Kind::effect ||
                      step.kind == ProofStep::Kind::blocks || !step.given.empty();
    if (open && read_rule(info) == ReadRule::dirty)
      return at_step(i,
                     refuse("{} does not ask who was read, so nothing follows from it", info.name));
    if (step.kind != ProofStep::Kind::cycle) continue;
    if (Status s = cycles.check(step.cycle, step.given); !s.ok()) return at_step(i, s.error());
  }
  return Ok{};
}

Status ProofVerifier::check_resolution(Evidence& evidence) {
  Resolution clauses;
  for (size_t i = 0; i < proof_.steps.size(); ++i) {
    const ProofStep& step = proof_.steps[i];
    Status s = check_step_shape(step);
    if (s.ok()) {
      switch (step.kind) {
        case ProofStep::Kind::cycle:
          clauses.add_refuted(assumptions(step));
          break;
        case ProofStep::Kind::fact:
          s = evidence.check_fact(step.clause[0], step.source, step.source_is_op);
          clauses.add_stated(step.clause);
          break;
        case ProofStep::Kind::sources:
          clauses.add_stated(step.clause);
          break;
        case ProofStep::Kind::effect:
          s = evidence.check_effect(step.clause);
          clauses.add_stated(step.clause);
          break;
        case ProofStep::Kind::blocks:
          s = evidence.check_blocks(step);
          clauses.add_stated(step.clause);
          break;
        case ProofStep::Kind::derived:
          s = clauses.add_derived(step.clause, step.hints);
          break;
      }
    }
    if (!s.ok()) return at_step(i, s.error());
  }
  if (!clauses.contradiction()) return refuse("the proof does not end in the empty clause");
  return Ok{};
}

Status ProofVerifier::check_step_shape(const ProofStep& step) const {
  if (step.kind != ProofStep::Kind::cycle && !step.given.empty())
    return refuse("a step that is no cycle is given something");
  switch (step.kind) {
    case ProofStep::Kind::cycle:
      if (!step.clause.empty() || !step.hints.empty())
        return refuse("a cycle has a clause or hints of its own");
      return Ok{};
    case ProofStep::Kind::fact:
      if (step.clause.size() != 1 || step.clause[0].kind != Literal::Kind::order ||
          !step.cycle.empty() || !step.hints.empty())
        return refuse("a fact is not one pair of transactions and its source");
      return Ok{};
    case ProofStep::Kind::sources:
    case ProofStep::Kind::effect:
    case ProofStep::Kind::blocks:
      if (!step.cycle.empty() || !step.hints.empty())
        return refuse("a step about what was seen is not a clause alone");
      return Ok{};
    case ProofStep::Kind::derived:
      if (!step.cycle.empty()) return refuse("a derived step has a cycle");
      return Ok{};
  }
  return refuse("a step of no known kind");
}

}  // namespace assay::internal::certify
