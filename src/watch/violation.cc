#include "watch/violation.h"

#include <utility>
#include <vector>

#include "explain/explain.h"
#include "history/projection.h"

namespace assay::internal::watch {
namespace {

AuditOptions auditing(const WatchOptions& options) {
  AuditOptions a;
  a.check = checking(options);
  a.allow_empty = true;
  return a;
}

bool shows(const Audit& a, LevelId level) {
  const Verdict* v = a.result.find(level);
  return v != nullptr && v->outcome == Outcome::violated && !a.explanations.empty();
}

// The transactions of the explanation's cycle, or all if it has none. The reads of the others show
// the order of writers, and without one of these the same cycle may be shown by other readers.
std::vector<TxnId> members_of_cycle(const Explanation& e) {
  std::vector<TxnId> members;
  for (const Arrow& a : e.arrows)
    if (a.in_cycle) members.push_back(a.from);
  return members.empty() ? e.transactions : members;
}

}  // namespace

CheckOptions checking(const WatchOptions& options) {
  CheckOptions c;
  c.levels = {options.level};
  c.budget = Budget(options.seconds, 0);
  c.threads = 1;
  return c;
}

std::optional<Audit> audited(History&& window, const WatchOptions& options) {
  Audit violation = audit(std::move(window), "the window", auditing(options));
  if (!shows(violation, options.level)) return {};
  return violation;
}

uint32_t last_of(const Explanation& e, const Window& w, std::span<const Member> members) {
  uint32_t last = kNone;
  for (const TxnId t : members_of_cycle(e)) {
    const uint32_t place = w.members[t];
    if (place == kNone || members[place].left_out) continue;
    const auto ended = [&](uint32_t p) {
      return members[p].status == TxnStatus::committed ? members[p].end : Interval::kUnknown;
    };
    if (last == kNone || ended(place) >= ended(last)) last = place;
  }
  return last;
}

Audit smallest(Audit whole, const WatchOptions& options) {
  const History& h = whole.history;
  std::vector<bool> keep(h.op_count(), false);
  for (const TxnId t : whole.explanations[0].transactions)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) keep[i] = true;
  Result<History> part = project(h, keep);
  if (!part.ok()) return whole;
  Audit small = audit(std::move(*part), whole.file, auditing(options));
  return shows(small, options.level) ? std::move(small) : std::move(whole);
}

}  // namespace assay::internal::watch
