// What a query did not accept (queries.h, Part::residue), decided.
//
// A window holds the transactions placed between two places of the proposed order. It is examined
// twice:
//
//   accept   Is there an order of the window's events after the state before it? The state before
//            is what its reads say about versions that no transaction in the window wrote. What
//            transactions after the window read of its versions has to be what is left at its end.
//            The order found is spliced into the table; the query then checks again whether it is
//            right, so nothing need be shown about it here.
//   reject   Does a projection of the history to the transactions of all windows violate the level?
//            It keeps a read only if all possible writers of what it saw are kept. If the
//            history satisfied the level, so would the projection, so this is a violation, with a
//            certificate.
//
// Assuming the state before would be wrong for rejecting: a version from before the window may have
// been installed inside it. If neither succeeds, the windows are too narrow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/audit.h"
#include "assay/check.h"
#include "assay/history.h"
#include "assay/level.h"
#include "formats/facts.h"
#include "formats/owned_op.h"

namespace assay::internal::lake {

// New places of a transaction; Interval::kUnknown if the old one stays.
struct Placed {
  std::string txn;
  int64_t serial_at = Interval::kUnknown;
  int64_t snapshot_at = Interval::kUnknown;
  int64_t commit_at = Interval::kUnknown;
  bool no_effect = false;  // an unknown outcome that the order does not need
};

struct Residue {
  uint64_t transactions = 0;
  uint64_t windows = 0;
  std::vector<Placed> placed;      // for the windows that have an order
  std::vector<std::string> stuck;  // why the other windows have none, in the order of their numbers
  // The audit of the projection to all windows, with its history; empty unless a window is stuck.
  Audit projection;
};

struct ResidueOptions {
  CheckOptions check;  // for one level
  ValueView initial{};
  // A transaction of unknown outcome whose writes are not needed in its window loses its place, and
  // counts as having had no effect.
  bool leave_out_unread = false;
};

// `facts` as read by FactsReader, with their line numbers. Fails if the rows are not a history.
Result<Residue> decide_residue(std::vector<formats::Fact> facts, std::vector<uint64_t> lines,
                               const std::string& name, const ResidueOptions& options);

}  // namespace assay::internal::lake
