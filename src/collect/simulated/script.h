// Bugs on purpose: for each anomaly a few small transactions in an exact interleaving, which on an
// engine with the bug are certain to cause it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "assay/anomaly.h"
#include "assay/level.h"
#include "assay/result.h"
#include "collect/simulated/clock.h"
#include "collect/simulated/engine.h"
#include "collect/step.h"
#include "collect/workload.h"

namespace assay::internal::collect {

// Notation as in the literature on isolation: b1 begins transaction 1, r1x reads x, w1x writes it,
// c1 commits, a1 aborts; u1x compares x with what transaction 1 sees there, and sets it; q1 asks
// for the rows whose values the script writes. If x is a list, it is read whole and appended to.
struct Script {
  static constexpr uint32_t kTxns = 4;
  std::string_view text;
  std::string_view faulty;  // the transactions that run with the bug: "2", "1234"
  std::array<uint32_t, kTxns> sessions{0, 1, 2, 3};  // sessions of transactions 1 … 4
  uint32_t lag = 0;                                  // for the faulty transactions
  uint32_t hidden = 0;  // the transaction that the faulty ones do not see
  bool apart = false;   // whether replicas exchange nothing meanwhile

  uint32_t sessions_needed() const;
  bool compares() const { return text.find('u') != std::string_view::npos; }
  bool queries() const { return text.find('q') != std::string_view::npos; }
  bool two_keys() const { return text.find('y') != std::string_view::npos; }
};

// Writes the initial values of the script: then its reads identify the writes they return even if
// others write the same values, and if a key is absent at several times.
Script ground_for(const Script& script);

// Finds a script; its text is empty if the bug cannot be shown at this level (linearizable has one
// operation per transaction).
Script find_script(Anomaly bug, LevelId level, uint32_t replica_count);

// The script without the reads by which its writers reveal the order of the versions, for workloads
// of blind writes. It is played after `ground_for`: one transaction wrote x and y, so either order
// of this transaction and a writer contradicts a read. Bugs other than long-fork, fractured-read
// and non-repeatable-read need those reads and are returned unchanged.
Script blind(Script script, Anomaly bug);

class ScriptRun {
 public:
  ScriptRun(const Script& script, Engine& engine, SimulatedClock& clock, WrittenValues& values)
      : script_(script), engine_(engine), clock_(clock), values_(values) {}
  // Sets how x and y are read.
  void set_reads(Request x, Request y) {
    x_ = std::move(x);
    y_ = std::move(y);
  }
  // No transaction may be open. `finished` gets each record at its end and fills in its number.
  // Returns when the last answer arrived.
  Result<int64_t> run(int64_t start, const std::function<Status(TxnRecord&)>& finished);

 private:
  struct Txn {
    TxnRecord record;
    Commit commit = 0;
  };
  void begin(uint32_t txn);
  void operate(uint32_t txn, char what, const Request& how);
  const Request& read_of(std::string_view word) const;
  Request request(uint32_t session, char what, const Request& how);

  Script script_;
  Engine& engine_;
  SimulatedClock& clock_;
  WrittenValues& values_;
  Request x_, y_, query_;
  std::array<Txn, Script::kTxns> txns_;
  Value foreseen_;  // the value of the next write
};

}  // namespace assay::internal::collect
