#include "certify/cases_verifier.h"

#include <algorithm>

#include "certify/bad_read_verifier.h"
#include "certify/proof_verifier.h"
#include "certify/reads.h"
#include "certify/refusal.h"

namespace assay::certify {

Status CasesVerifier::refutes(LevelId level) {
  if (cases_.empty()) return refuse("there are no cases");
  if (!cases_.back().given.empty()) return refuse("the last case is given something");
  for (uint32_t i = 0; i < cases_.size(); ++i) {
    Status s = check(i, level);
    if (s.ok()) continue;
    s.error().message = fmt::format("case {}: {}", i, s.error().message);
    return s;
  }
  return Ok{};
}

Status CasesVerifier::check(uint32_t index, LevelId level) const {
  const Case& c = cases_[index];
  if (Status s = check_given(c); !s.ok()) return s;
  if (level == LevelId::pl_1 && !c.given.empty())
    return refuse("pl-1 does not ask who was read, so nothing follows from it");
  switch (c.kind) {
    case Case::Kind::proof:
      return ProofVerifier(c.proof, history_, c.given).refutes(level);
    case Case::Kind::bad_read:
      return BadReadVerifier(c.bad_read, history_, c.given).refutes(level);
    case Case::Kind::split:
      return check_split(index, level);
  }
  return refuse("a case of no known kind");
}

// One source for each operation and key, ascending. That a source is possible is not asked: of an impossible one
// anything may be said.
Status CasesVerifier::check_given(const Case& c) const {
  for (size_t i = 0; i < c.given.size(); ++i) {
    const Seen& seen = c.given[i];
    if (seen.op >= history_.op_count() || seen.key >= history_.key_count() ||
        (seen.source != kNone && seen.source >= history_.txn_count()))
      return refuse("what it is given names nothing in the history");
    if (i > 0 && !(c.given[i - 1].op < seen.op ||
                   (c.given[i - 1].op == seen.op && c.given[i - 1].key < seen.key)))
      return refuse("what it is given is not sorted, or contradicts itself");
  }
  return Ok{};
}

Status CasesVerifier::check_split(uint32_t index, LevelId level) const {
  const Case& split = cases_[index];
  // Adya's levels judge each read by itself.
  const LevelInfo& info = level_info(level);
  const bool one_state = info.repeatable && info.events != EventModel::adya;
  const auto possible = sources_.of(split.op, split.key, one_state);
  if (!possible.ok()) return possible.error();
  const ReadRule rule = read_rule(level);
  const Writers writers(history_, rule);
  if (!Counting(history_, writers, split.given, rule).counts(history_.txn_of(split.op)))
    return refuse("the transaction of the operation need not have taken effect");
  if (rule == ReadRule::dirty) {
    if (sources_.explained_by_anybody(split.op, split.key))
      return refuse("operation {} may have seen what somebody wrote, whatever became of it",
                    split.op);
    return Ok{};
  }
  std::vector<TxnId> refuted;
  bool all = false;
  for (uint32_t child : split.cases) {
    if (child >= index) return refuse("it rests on a later case");
    const Seen* own = nullptr;
    for (const Seen& seen : cases_[child].given) {
      if (seen.op == split.op && seen.key == split.key) {
        own = &seen;
      } else if (!std::binary_search(split.given.begin(), split.given.end(), seen)) {
        return refuse("case {} needs more than it is given", child);
      }
    }
    if (own == nullptr) {
      all = true;
    } else {
      refuted.push_back(own->source);
    }
  }
  std::sort(refuted.begin(), refuted.end());
  for (TxnId source : *possible)
    if (!all && !std::binary_search(refuted.begin(), refuted.end(), source))
      return refuse("nothing refutes that operation {} saw what {} left", split.op,
                    source == kNone ? "the initial state" : "transaction " + history_.name(source));
  return Ok{};
}

}  // namespace assay::certify
