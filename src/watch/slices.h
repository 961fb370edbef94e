// Decides a history that need not fit into memory, in slices of time, while it is read.
//
//   lines read: s1: { w(x,1) }  s2: { r(x,1) }  | not yet read: s1: { w(x,2) } …
//   slice:      decided, verified, and forgotten except for x = 1
//
// This is watching (watch/watcher.h) of a history that ends: reading, deciding and verifying run in
// parallel, on three threads. A violation is found in a part of the history, and its certificate is
// about that part. The certificate of satisfaction is a chain (certify/chain.h), all of whose
// segments were verified.
//
// The lines have to be roughly in time order: no line may come later than others that ran after it
// by more than is kept. Otherwise the history is not decided, and the caller is told to sort the
// lines (formats/time_order.h). A violation counts only once all lines are read: one that comes too
// late might explain it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "assay/audit.h"
#include "assay/budget.h"
#include "assay/result.h"
#include "formats/input.h"
#include "watch/verified_chain.h"
#include "watch/watcher.h"

namespace assay::internal::watch {

struct SliceOptions {
  WatchOptions watch;
  ChainSink* chain = nullptr;  // may be null
  Budget budget;
  // Called after each slice.
  std::function<void(const Progress&)> progress = {};
};

struct Sliced {
  uint64_t transactions = 0, operations = 0;
  uint64_t committed = 0, aborted = 0, unknown = 0;  // numbers of outcomes
  uint64_t observations = 0;
  uint64_t segments = 0;
  bool out_of_order = false;  // the lines are not in time order: the outcome is unknown, and may
                              // differ once they are sorted
  Outcome outcome = Outcome::satisfied;
  Unknown why;                     // if unknown
  std::optional<Audit> violation;  // if violated: about a part of the history
};

// An error is an error of the input.
Result<Sliced> decide_in_slices(formats::Input& input, const SliceOptions& options);

}  // namespace assay::internal::watch
