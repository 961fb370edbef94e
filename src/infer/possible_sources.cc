// The transactions that may have left the observed state of a key.
//
//   A { w(x,1) }   B { d(x) }   C { ins(x,1)! }   D { r(x,1) }      D saw what A left, and so did
//                                                                   the insert of C
//   E { r(x,null) }                                                E saw what B left, or the
//                                                                  initial state
//
// A transaction that did not abort is a source with the last state in which it left the key. If a
// reader sees one state of a key, that state has to fit all of its observations of the key; and if
// the history states the source of one of these reads, that is the only source.
//
// Cost: the operations, once; then for each key the writers of a value, the transactions that left
// it absent, or all writers.

#include "infer/possible_sources.h"

#include <algorithm>

#include "infer/stated_sources.h"

namespace assay::internal {

PossibleSources::PossibleSources(const History& history)
    : h_(history), left_(history, all_left(history), [](const Left& left) { return left.state; }) {}

std::vector<PossibleSources::Left> PossibleSources::all_left(const History& h) {
  std::vector<Left> all;
  WrittenKeys written;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) != TxnStatus::aborted)
      each_install(h, t, written, [&](const Install& install) {
        if (install.final) all.push_back({t, install.state()});
      });
  return all;
}

// Whether the stated sources of the observations allow this source.
bool PossibleSources::is_stated(TxnId source, std::span<const Observation> observations) const {
  if (!h_.states_sources()) return true;
  return std::all_of(observations.begin(), observations.end(), [&](const Observation& seen) {
    if (h_.stated_source(seen.op) == kNone) return true;
    const TxnId stated = stated_source(h_, seen.op);
    return stated == kNone || stated == source;
  });
}

// For a key that a condition skipped, without another observation: by far the most reads where
// there are conditions. The sources are all writers of the key, except those whose row the query
// would have returned.
void PossibleSources::find_who_missed(TxnId reader, KeyId key, PredicateId predicate) {
  const Predicates& predicates = h_.predicates();
  const auto satisfies = [&](const KeyState& state) {
    return !state.removed && predicates.match(predicate, state.version) == Match::yes;
  };
  const std::span<const Left> all = left_.of(key);
  found_.resize(all.size());
  size_t count = 0;
  for (const Left& left : all) {
    found_[count] = left.writer;
    count += left.writer != reader && !satisfies(left.state) ? 1 : 0;
  }
  found_.resize(count);
}

std::span<const TxnId> PossibleSources::find(TxnId reader, KeyId key,
                                             std::span<const Observation> observations) {
  const auto explains_all = [&](const KeyState& state) {
    if (observations.size() == 1) return fits(h_, observations[0], state);
    return std::all_of(observations.begin(), observations.end(),
                       [&](const Observation& seen) { return fits(h_, seen, state); });
  };
  found_.clear();
  if (observations.size() == 1 && observations[0].accepts == Accepts::misses &&
      !h_.states_sources()) {
    find_who_missed(reader, key, observations[0].predicate);
  } else {
    for (const Left& left : left_.candidates(key, observations))
      if (left.writer != reader && explains_all(left.state) && is_stated(left.writer, observations))
        found_.push_back(left.writer);
  }
  if (explains_all(initial_state(h_, key)) && is_stated(kInitialTxn, observations))
    found_.push_back(kNone);
  return found_;
}

BadRead PossibleSources::dirty_read(TxnId reader, OpId op, KeyId key,
                                    const Observation& seen) const {
  const std::span<const Left> all = left_.candidates(key, {&seen, 1});
  const bool clean = fits(h_, seen, initial_state(h_, key)) ||
                     std::any_of(all.begin(), all.end(), [&](const Left& left) {
                       return left.writer != reader && fits(h_, seen, left.state);
                     });
  // If no transaction that counts left the state, every other write of it is aborted or
  // overwritten.
  for (OpId w = 0; w < h_.op_count() && !clean; ++w) {
    if (h_.op(w).key != key || !installs_version(h_.op(w))) continue;
    const TxnId writer = h_.txn_of(w);
    if (writer == reader || !fits(h_, seen, install_of(h_, w).state())) continue;
    const bool aborted = h_.status(writer) == TxnStatus::aborted;
    return {aborted ? Anomaly::aborted_read : Anomaly::intermediate_read, op, w};
  }
  return {};
}

}  // namespace assay::internal
