#include "infer/unknown_outcomes.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal {

UnknownOutcomes::UnknownOutcomes(const Problem& problem)
    : problem_(problem),
      index_(problem.nodes(), kNone),
      passed_(problem.possible.size()),
      dormant_(problem.keys(), kNone),
      woken_(problem.keys(), kNone),
      covered_(problem.keys(), kNone),
      read_(problem.keys(), 0),
      installed_(problem.keys(), 0) {
  for (uint32_t i = 0; i < problem.possible.size(); ++i) index_[problem.possible[i]] = i;
}

void UnknownOutcomes::pass(Node n, uint32_t moment, bool could) {
  Passed& passed = passed_[index_[n]];
  passed.moment = moment;
  passed.could = could;
  const History& history = *problem_.history;
  const TxnId t = problem_.txn[n];
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
    if (installs_version(history.op(i))) passed.keys.push_back(history.op(i).key);
  std::sort(passed.keys.begin(), passed.keys.end());
  passed.keys.erase(std::unique(passed.keys.begin(), passed.keys.end()), passed.keys.end());
  for (const KeyId key : passed.keys) dormant_[key] = n;
}

void UnknownOutcomes::note_install(KeyId key, uint32_t moment) {
  const Node n = dormant_[key];
  if (n != kNone && installed_[key] < passed_[index_[n]].moment && unread(n, key))
    covered_[key] = n;
  installed_[key] = moment;
  woken_[key] = kNone;
}

// Whether the key was not read since the turn of `n`, or not before another transaction had written
// it.
bool UnknownOutcomes::unread(Node n, KeyId key) const {
  return covered_[key] == n || read_[key] <= passed_[index_[n]].moment;
}

Node UnknownOutcomes::dormant(KeyId key) const {
  const Node n = dormant_[key];
  if (n == kNone) return kNone;
  const Passed& passed = passed_[index_[n]];
  const bool unread_everywhere =
      std::all_of(passed.keys.begin(), passed.keys.end(), [&](KeyId k) { return unread(n, k); });
  return passed.could && !passed.effective && unread_everywhere ? n : kNone;
}

void UnknownOutcomes::wake(Node n) {
  Passed& passed = passed_[index_[n]];
  passed.effective = true;
  for (const KeyId key : passed.keys) {
    if (!would_show(n, key)) continue;
    installed_[key] = passed.moment;
    woken_[key] = n;
  }
}

std::vector<Node> UnknownOutcomes::effective() const {
  std::vector<Node> nodes;
  for (const Node n : problem_.possible)
    if (passed_[index_[n]].effective) nodes.push_back(n);
  return nodes;
}

}  // namespace assay::internal
