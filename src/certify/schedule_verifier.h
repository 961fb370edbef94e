// Verifies schedules (certify/schedule.h): executes each one literally, and looks for the
// dependencies that its cycle names.
#pragma once

#include <vector>

#include "certify/schedule.h"

namespace assay::internal::certify {

// The steps of a transaction, in program order; each has at least one operation.
std::vector<Step> steps_of(const History& history, TxnId txn);

// What an operation of a member read from a key that some member changes: the current version,
// unless the member had changed the key before.
struct Saw {
  OpId op = kNone;
  KeyId key = kNone;
  VersionId version =
      kNone;  // kNone: the state before the schedule, if no member's operation determines it
  bool removed = false;
};
// Fails if the isolations do not allow the schedule, apart from dangerous structures.
Result<std::vector<Saw>> execute_schedule(const Schedule& schedule, const History& history);
// Also fails if its cycle is not one, or if it holds a structure that ssi refuses.
Status verify_schedule(const Schedule& schedule, const History& history);

}  // namespace assay::internal::certify
