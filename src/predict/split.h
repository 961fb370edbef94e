// Whether transactions can run in an order of their steps that their isolation allows and that is
// not serializable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/budget.h"
#include "certify/robustness.h"
#include "certify/schedule.h"
#include "predict/steps.h"

namespace assay::internal::predict {

using certify::Because;
using certify::Ends;
using certify::Isolation;
using certify::Uncut;

// One transaction is cut in two, and others run in the gap, whole and one after the other.
struct Split {
  TxnId txn = kNone;
  uint32_t steps = 0;          // number of its steps before the gap
  std::vector<TxnId> between;  // not empty
};

// Finds the splits of transactions, each transaction at an isolation. Linear in the indexed keys.
class Splits {
 public:
  // `isolations`: indexed by transaction; may be changed between two calls. Both arguments must
  // outlive the object.
  Splits(const Steps& steps, const std::vector<Isolation>& isolations);

  // Further conditions on a split.
  struct Terms {
    // Indexed by transaction; if set, no transaction of the same session may run in the gap, since
    // a client does one thing at a time.
    const std::vector<SessionId>* sessions = nullptr;
    // No transaction in the gap may change a row that the split transaction inserts: there may have
    // been one that removes the row, but seldom is.
    bool keeps_inserts = false;
  };
  // A split of this transaction: one with the fewest others for its first cut that has any; nullopt
  // if it cannot be cut, or if the budget is exhausted. `uncut`, if not null, gets for each cut
  // that leads nowhere the reason.
  std::optional<Split> find(TxnId txn, Budget& budget, const Terms& terms,
                            std::vector<Uncut>* uncut = nullptr);

 private:
  // A place to cut, and what it requires of the others.
  struct Cut {
    uint32_t steps = 0;
    std::vector<KeyId>
        reads;  // keys read before it; a transaction that changes one may begin the gap
    std::vector<KeyId> forbidden;  // no transaction in the gap may change these
    std::vector<KeyId> locked;     // locked before the cut as by a change: none in the gap may lock
                                   // these
    std::vector<KeyId> shared;     // or locked shared: none may lock these as a change does
    std::vector<KeyId> later_changes, later_reads;  // of the split transaction, after the gap
  };
  std::vector<Cut> cuts_of(TxnId txn) const;
  std::vector<Cut> cuts_at_statements(TxnId txn) const;
  Cut cut_behind(TxnId txn, uint32_t steps) const;
  std::optional<Split> search(TxnId txn, const Cut& cut, Ends ends, Budget& budget,
                              std::vector<Uncut>* uncut);
  bool locks_reads(TxnId txn) const { return isolations_[txn] != Isolation::prefix; }
  bool may_run(TxnId other, const Cut& cut) const;
  bool may_be_first(TxnId other, Ends ends) const;
  bool closes(TxnId other, const Cut& cut, Ends ends) const;
  bool any_closes(const Cut& cut, Ends ends) const;
  bool may_be_inside(TxnId other) const;
  std::optional<Split> visit(TxnId other, TxnId from, const Cut& cut, Ends ends);
  std::optional<Split> spread(TxnId from, const Cut& cut, Ends ends);

  const Steps& steps_;
  const std::vector<Isolation>& isolations_;
  // Indexed by key: its writers, and its readers, ascending.
  std::vector<TxnId> writers_, readers_;
  std::vector<uint64_t> first_writer_, first_reader_;
  // The next members belong to the current search.
  TxnId txn_ = kNone;
  Terms terms_;
  uint32_t epoch_ = 0;
  std::vector<uint32_t> reached_;  // indexed by transaction: the search that reached it
  std::vector<TxnId> from_;        // and from which transaction; kNone: it begins the gap
  std::vector<uint32_t> written_in_,
      read_in_;               // indexed by key: the search that met a writer of it, or a reader
  std::vector<TxnId> queue_;  // all transactions that were reached
};

// The split as a schedule of these transactions, which names the cycle that it is expected to have.
certify::Schedule schedule_of(const Split& split, const Steps& steps,
                              const std::vector<Isolation>& isolations);

}  // namespace assay::internal::predict
