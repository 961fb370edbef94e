// Which transactions may have left what an operation observed of a key. See possible_sources.cc.
#pragma once

#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/states_left.h"

namespace assay::internal {

// Serves one history, which must outlive this object. Does not handle lists.
class PossibleSources {
 public:
  explicit PossibleSources(const History& history);

  // The transactions that may have left a state that explains all of these observations of a key by
  // one reader, ascending; kNone, the initial state, comes last. Valid until the next call.
  std::span<const TxnId> find(TxnId reader, KeyId key, std::span<const Observation> observations);
  // Whether the observation is a dirty read: the operation saw the state left by an aborted or an
  // overwritten write. No anomaly if a source explains the observation, or if nothing does.
  BadRead dirty_read(TxnId reader, OpId op, KeyId key, const Observation& seen) const;

 private:
  // The state in which a transaction left a key.
  struct Left {
    TxnId writer = kNone;
    KeyState state;
  };
  static std::vector<Left> all_left(const History& h);
  bool is_stated(TxnId source, std::span<const Observation> observations) const;
  void find_who_missed(TxnId reader, KeyId key, PredicateId predicate);

  const History& h_;
  StatesLeft<Left> left_;  // by transactions that did not abort
  std::vector<TxnId> found_;
};

}  // namespace assay::internal
