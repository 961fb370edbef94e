// What transactions that ran well could do at a weaker isolation, by program.
//
//   recorded one after the other   leave: p(shift = 4, 2 doctors) w(doctor 1, off)   leave: p(shift
//                                  = 4, 1 doctor)
//   at snapshot isolation          both see two doctors and both leave: leave breaks
//
// A program *breaks* at an isolation if one of its transactions can be cut in two such that an
// execution that the isolation allows is not serializable, and the verifier has accepted that
// execution as a schedule. It *holds* if no cut of any of its transactions leads to that, including
// attempts that did not commit, as they might have at another isolation, and whatever their
// unrecorded operations were. The verifier has accepted the reason for each cut. Otherwise it is
// *unknown*. All this is about the recorded transactions only.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "certify/robustness.h"
#include "certify/schedule.h"

namespace assay::internal::predict {

using certify::Isolation;

struct Prediction {
  enum class Answer : uint8_t { holds, breaks, unknown };
  Isolation isolation = Isolation::read_committed;
  Answer answer = Answer::unknown;
  std::vector<certify::Schedule> schedules = {};  // breaks: one for each of several transactions
                                                  // that are cut
  std::optional<certify::Robustness> proof = {};  // if it holds
  std::string reason = {};                        // if unknown: a clause
};

// Transactions that run the same code, according to their meta (predict/txn_meta.h).
struct Program {
  std::string name;                     // empty: the history does not say what ran
  std::vector<TxnId> txns;              // those that committed, at least one of which did something
  std::vector<Prediction> predictions;  // one for each isolation asked for
  // The weakest of read-committed, snapshot-isolation and ssi at which no execution is wrong, if
  // each other program runs at its `needs`; nullopt if that was not requested, or is unknown.
  std::optional<Isolation> needs = {};
};

struct Asked {
  std::vector<Isolation> isolations;  // examined one after another, with every transaction at the
                                      // same isolation
  bool allocates = false;             // whether to find the isolation that each program needs
  size_t most_schedules = 1;          // for each program and isolation
};
struct Predicted {
  std::vector<Program> programs;
  // The claim that each program holds at the isolation that it needs.
  std::optional<certify::Robustness> allocation;
};
// Fails if the history contains what cannot be predicted.
Result<Predicted> predict(const History& history, const Asked& asked, Budget& budget);

}  // namespace assay::internal::predict
