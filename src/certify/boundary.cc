// Executes a prediction boundary literally, without the search: which transactions run follows from
// the cuts and from the recorded history, and each read that changes must name a transaction that
// runs whole and writes its key.
//
//   B is cut, and C reads from B, and D follows C in its session: C and D do not run
//   E reads from B in the recorded history, is cut as well, and reads another version: E runs
//
// Then the certificates are verified as those of any history: one is an order that the weak level
// allows, one a refutation of session serializability.
//
// Cost: linear in the history, and what its certificates cost.

#include "certify/boundary.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "assay/verify.h"
#include "certify/operations.h"
#include "certify/writes.h"
#include "history/copy.h"

namespace assay::internal::certify {
namespace {

class BoundaryExecution {
 public:
  BoundaryExecution(const Boundary& boundary, const History& history,
                    const RecordedSources& sources)
      : boundary_(boundary), h_(history), sources_(sources) {}

  Result<History> run(std::vector<TxnId>* ran) {
    if (Status s = take_cuts(); !s.ok()) return s.error();
    leave_out_later();
    for (const auto& [op, source] : changed_)
      if (Status s = check_source(op, source); !s.ok()) return s.error();
    for (const Boundary::Cut& cut : boundary_.cuts)
      if (left_out_[cut.txn])
        return bad_input(h_.name(cut.txn) + " is cut, but comes after another that is cut");
    return build(ran);
  }

 private:
  Status take_cuts() {
    cut_.assign(h_.txn_count(), nullptr);
    for (const Boundary::Cut& cut : boundary_.cuts) {
      if (cut.txn >= h_.txn_count() || h_.status(cut.txn) != TxnStatus::committed)
        return bad_input("a transaction that is cut did not commit");
      if (cut_[cut.txn] != nullptr) return bad_input(h_.name(cut.txn) + " is cut twice");
      cut_[cut.txn] = &cut;
      if (cut.operations > h_.end_op(cut.txn) - h_.first_op(cut.txn))
        return bad_input(h_.name(cut.txn) + " has fewer operations than are run");
      for (const auto& [op, source] : cut.sources) {
        if (op < h_.first_op(cut.txn) || op >= h_.first_op(cut.txn) + cut.operations ||
            sources_.source(op) == cut.txn)
          return bad_input(
              "what changes is not a read of another transaction's writes before "
              "the cut of " +
              h_.name(cut.txn));
        if (!changed_.emplace(op, source).second) return bad_input("a read changes twice");
      }
    }
    return Ok{};
  }

  OpId end_of(TxnId t) const {
    return cut_[t] == nullptr ? h_.end_op(t) : h_.first_op(t) + cut_[t]->operations;
  }
  TxnId source_of(OpId read) const {
    const auto changed = changed_.find(read);
    return changed == changed_.end() ? sources_.source(read) : changed->second;
  }

  // Leaves out whatever comes after a transaction that is cut, in its session or because of a read.
  void leave_out_later() {
    left_out_.assign(h_.txn_count(), false);
    std::vector<std::vector<TxnId>> later(h_.txn_count());
    std::vector<TxnId> last(h_.session_count(), kNone);
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) != TxnStatus::committed) continue;
      const TxnId before = std::exchange(last[h_.session(t)], t);
      if (before != kNone) later[before].push_back(t);
      for (OpId i = h_.first_op(t); i < end_of(t); ++i) {
        const TxnId source = source_of(i);
        if (source < h_.txn_count() && source != t) later[source].push_back(t);
      }
    }
    std::vector<TxnId> reached;
    for (const Boundary::Cut& cut : boundary_.cuts) reached.push_back(cut.txn);
    for (size_t at = 0; at < reached.size(); ++at)
      for (const TxnId t : later[reached[at]]) {
        if (left_out_[t]) continue;
        left_out_[t] = true;
        reached.push_back(t);
      }
  }

  Status check_source(OpId read, TxnId source) const {
    if (source == kNone) return Ok{};
    if (source >= h_.txn_count() || h_.status(source) != TxnStatus::committed ||
        left_out_[source] || cut_[source] != nullptr)
      return bad_input("a read changes to a transaction that does not run in full");
    const KeyId key = access_of(h_, read).key;
    if (last_write(h_, h_.first_op(source), h_.end_op(source), key) != kNone) return Ok{};
    return bad_input("a read changes to " + h_.name(source) + ", which does not write its key");
  }

  Result<History> build(std::vector<TxnId>* ran) const {
    HistoryBuilder to;
    TxnCopier copier(to);
    OpBuffers buffers;
    copy_settings(h_, to);
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) != TxnStatus::committed || left_out_[t]) continue;
      if (ran != nullptr) ran->push_back(t);
      copier.begin(h_, t, false);
      for (OpId i = h_.first_op(t); i < end_of(t); ++i) {
        Op op = h_.outside(i, buffers);
        op.time = {};
        op.source = {};
        if (const auto changed = changed_.find(i); changed != changed_.end())
          op.value = value_left_by(changed->second, access_of(h_, i).key);
        to.add(op);
      }
      if (Status s = to.end_txn(); !s.ok()) return s.error();
    }
    return std::move(to).finish();
  }
  ValueView value_left_by(TxnId source, KeyId key) const {
    if (source == kNone) return h_.initial(key);
    const State state = left_by(h_, source, key);
    return state.removed ? ValueView::null() : h_.version_value(state.version);
  }

  const Boundary& boundary_;
  const History& h_;
  const RecordedSources& sources_;
  std::vector<const Boundary::Cut*> cut_;  // indexed by transaction; null: it is not cut
  std::unordered_map<OpId, TxnId> changed_;
  std::vector<bool> left_out_;  // indexed by transaction
};

}  // namespace

Result<RecordedSources> RecordedSources::of(const History& h) {
  RecordedSources all;
  all.sources_.assign(h.op_count(), kNone);
  const Writes writes(h);
  std::vector<TxnId> writer(h.key_count(), kNone);  // indexed by key: the last writer so far
  std::vector<State> own(h.key_count());            // indexed by key: what that writer left
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) != TxnStatus::committed) continue;
    for (const Access a : accesses(h, t)) {
      const bool reads = a.accepts == Accepts::equals;
      if (reads == a.writes() || a.reads() != reads || a.appends())
        return bad_input(
            "at a weak level, predictions support only transactions that read, write and remove "
            "single keys, but " +
            h.name(t) + " does something else");
      const bool is_own = writer[a.key] == t;
      if (a.writes()) {
        writer[a.key] = t;
        own[a.key] = state_after(t, a);
      }
      if (a.writes() || (is_own && shows(h, own[a.key], a.seen))) {
        all.sources_[a.op] = t;
        continue;
      }
      size_t count = !is_own && h.is_initial(a.seen) ? 1 : 0;
      for (const Write& write : writes.showing(a.key, a.seen, Which::staying)) {
        if (write.txn == t || is_own) continue;
        all.sources_[a.op] = write.txn;
        count += h.status(write.txn) == TxnStatus::committed ? 1 : 2;
      }
      if (count != 1)
        return bad_input("what " + h.name(t) + " read of " + h.key(a.key).to_string() +
                         " must have been left by one transaction that committed");
    }
  }
  return all;
}

Result<History> execute_boundary(const Boundary& boundary, const History& history,
                                 std::vector<TxnId>* ran) {
  const auto sources = RecordedSources::of(history);
  if (!sources.ok()) return sources.error();
  return BoundaryExecution(boundary, history, *sources).run(ran);
}

Status verify_weak_execution(const WeakExecution& execution, const History& history) {
  const auto executed = execute_boundary(execution.boundary, history);
  if (!executed.ok()) return executed.error();
  bool allowed = false, violated = false;
  Verifier verifier(*executed);
  for (const Certificate& c : execution.certificates) {
    if (Status s = verifier.verify(c); !s.ok()) return s;
    const bool satisfies = c.outcome() == Outcome::satisfied;
    for (const LevelId level : c.levels) {
      allowed = allowed || (satisfies && implies(level, execution.level));
      violated = violated || (!satisfies && implies(LevelId::session_serializable, level));
    }
  }
  if (!allowed)
    return bad_input("no certificate shows that " + std::string(level_info(execution.level).name) +
                     " allows the execution");
  return violated ? Status(Ok{})
                  : bad_input("no certificate shows that the execution is not serializable");
}

}  // namespace assay::internal::certify
