// A prediction boundary: another execution of recorded transactions, in which some are cut off.
//
//   recorded    s1: A { w(y,1) r(x,null) }   s2: B { w(x,2) r(y,1) } C { w(z,3) }
//   boundary    B is cut after its read of y, which returns the initial state
//   execution   s1: A { w(y,1) r(x,null) }   s2: B { w(x,2) r(y,null) }
//
// In a transaction that is cut, reads may return what other transactions have left, and the
// operations after the cut do not run. What comes after it does not run either: the later
// transactions of its session, and the transactions that read from it or from any other that does
// not run. All others run as recorded. This is what IsoPredict (PLDI 2024) predicts: a cut after a
// read, the only one that changes, or after the last operation, with any of the transaction's reads
// changed (relaxed).
#pragma once

#include <cstdint>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::certify {

struct Boundary {
  struct Source {
    OpId op = kNone;       // a read of a key that its transaction has not written
    TxnId source = kNone;  // kNone: the initial state
  };
  struct Cut {
    TxnId txn = kNone;
    uint32_t operations = 0;      // the number of operations that run, the first ones
    std::vector<Source> sources;  // of the reads that change
  };
  std::vector<Cut> cuts;
};

// The transaction that left what each read returned; there must be exactly one in the history.
class RecordedSources {
 public:
  // Fails if a committed transaction does anything but read, write and remove keys, or if a read
  // has no source that committed, or several.
  static Result<RecordedSources> of(const History& history);

  // The source of an operation of a committed transaction; kNone: the initial state. It is the
  // transaction itself if the operation writes, or reads what the transaction has written.
  TxnId source(OpId read) const { return sources_[read]; }

 private:
  std::vector<TxnId> sources_;  // indexed by operation
};

// The execution as a history: the transactions that run, in the order of the recorded history,
// without times. Fails if the cuts are not as described above, or one comes after another. `ran`
// becomes, for each of its transactions, the recorded one.
Result<History> execute_boundary(const Boundary& boundary, const History& history,
                                 std::vector<TxnId>* ran = nullptr);

// An execution that a weak level allows and that is not serializable with its sessions kept.
struct WeakExecution {
  LevelId level = LevelId::causal;  // or read_committed
  Boundary boundary;
  std::vector<Certificate> certificates = {};  // about the execution as a history
};
Status verify_weak_execution(const WeakExecution& execution, const History& history);

}  // namespace assay::internal::certify
