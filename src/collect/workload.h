// Workloads: the requests of clients to the database. A workload is one file in workloads/ and one
// line in workloads/registry.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/anomaly.h"
#include "assay/result.h"
#include "base/hash.h"
#include "base/rng.h"
#include "collect/schema.h"
#include "collect/step.h"

namespace assay::internal::collect {

class Driver;

struct WorkloadOptions {
  uint32_t ops = 8;         // operations per transaction (`mini` has its own shapes of at most
                            // four)
  double read_share = 0.5;  // share of reads among operations, 0…1
  uint64_t keys = 1000;
  Distribution distribution = Distribution::uniform;
  uint64_t values = 0;      // number of different values that are written to a key; 0: each value
                            // once
  bool tombstones = false;  // remove nothing: workloads/tombstones.h
  uint32_t fences =
      0;  // one in this many transactions of a session is a fence: workloads/fences.h; 0: none
  bool load = false;  // write every key in one transaction before the sessions begin
  // For `general` and `mini`, the number of keys in use at a time; they move on by one after a
  // transaction of each session; 0: all are in use.
  uint64_t keys_alive = 0;
  // For `general` only: the number of operations of some long transactions; 0: there are none. And
  // whether each session writes only its own share of the keys, one in `sessions` of them.
  uint32_t long_ops = 0;
  double long_share = 0.1;
  bool own_writes = false;
  // For `predicates` only: share of queries among the operations, and of the values that satisfy a
  // query's condition, 0…1.
  double query_share = kQueryShare;
  double query_width = kQueryWidth;
  static constexpr double kQueryShare = 0.5, kQueryWidth = 0.1;
  // For `predicates` only: the share of the queries that are updates by condition, which overwrite
  // the rows they find.
  double update_share = 0;
  double increment_share = 0;  // also for `general`: share of the writes that read the key first
};

// The transactions of one session, one after the other, each given step by step: a step may depend
// on the results of earlier ones. Used by one thread.
//
//   session.start(false);
//   for (const Reply* last = nullptr; session.next(last, request); last = &reply) reply = …
class WorkloadSession {
 public:
  virtual ~WorkloadSession() = default;
  // Begins another transaction. With `retry` it is the previous one, which aborted, once more on
  // the same keys. The values that it writes are new in either case.
  virtual void start(bool retry) = 0;
  // Fills in the next request; false when the transaction is to be committed. `last` is the answer
  // to the previous request, null at the start.
  virtual bool next(const Reply* last, Request& request) = 0;
  // Whether no request depends on an answer: then a whole transaction may be requested before any
  // answer has arrived.
  virtual bool ignores_replies() const { return false; }
  // The user's name for the transaction that was begun last; empty if its name tells the user
  // nothing.
  virtual std::string what() const { return {}; }
};

class Workload {
 public:
  virtual ~Workload() = default;
  // `session` numbers the sessions from 0 to `sessions`-1; each has separate random numbers and
  // values, so no two transactions ever write the same value unless the options say so.
  virtual std::unique_ptr<WorkloadSession> open(uint32_t session, uint32_t sessions,
                                                uint64_t seed) const = 0;
  // The kinds of operations that it uses, to check whether a driver can do them.
  virtual std::span<const OpKind> kinds() const = 0;
  bool uses(OpKind kind) const {
    return std::find(kinds().begin(), kinds().end(), kind) != kinds().end();
  }
  // Whether its ranges have conditions on values.
  virtual bool selects() const { return false; }
  // Whether some of these return an aggregate of rows.
  virtual bool aggregates() const { return false; }
  // Whether it reads and writes single keys: no lists, no ranges.
  bool is_of_registers() const {
    return !selects() && !uses(OpKind::append) && !uses(OpKind::read_list) && !uses(OpKind::range);
  }
  // The workload's SQL tables, if its keys are cells of tables.
  virtual std::vector<Table> tables() const { return {}; }
  // Whether no transaction reads the keys that it writes.
  virtual bool writes_blindly() const { return false; }
  // The workload's SQL tables, if its values are rows of tables.
  virtual std::vector<RowTable> row_tables() const { return {}; }
  bool has_rows() const { return !row_tables().empty(); }
  // Creates what its statements need in the database beyond `tables`. Called before any session is
  // opened.
  virtual Status set_up(Driver&) { return Ok{}; }
  // The initial values, for one transaction to write before the sessions begin. Each session then
  // begins with the final reads.
  virtual std::vector<Request> first_writes() const { return {}; }
  // Reads of everything that it may have written, at most `limit` keys, drawn with `rng` if there
  // are more. For the final reads.
  virtual std::vector<Request> final_reads(uint64_t limit, Rng& rng) const = 0;
  // Reads of at most `limit` different keys in the way that its transactions read, for planting a
  // bug on them.
  virtual std::vector<Request> usual_reads(uint64_t limit, Rng& rng) const {
    return final_reads(limit, rng);
  }
};

// The anomalies that reads and writes of single keys can reveal, in the order of Anomaly.
inline constexpr auto kShownByRegisters = [] {
  using enum Anomaly;
  return std::to_array({thin_air_read, aborted_read, future_read, not_my_last_write,
                        not_my_own_write, intermediate_read, non_repeatable_read,
                        session_guarantee_violation, non_monotonic_read, fractured_read,
                        causality_violation, long_fork, lost_update, write_skew, g1c,
                        real_time_violation});
}();
// These, and the ones that only queries by condition reveal.
inline constexpr auto kShownByConditions = [] {
  std::array<Anomaly, kShownByRegisters.size() + 2> all{};
  std::ranges::copy(kShownByRegisters, all.begin());
  all[kShownByRegisters.size()] = Anomaly::g2;
  all[kShownByRegisters.size() + 1] = Anomaly::phantom;
  return all;
}();

struct WorkloadInfo {
  std::string_view name;
  std::string_view summary;
  std::span<const Anomaly> shows;  // the anomalies it can reveal
  Result<std::unique_ptr<Workload>> (*make)(const WorkloadOptions&);
  bool single_operations = false;  // with ops = 1 a transaction is one operation on one key
};

std::span<const WorkloadInfo> all_workloads();
const WorkloadInfo* find_workload(std::string_view name);
Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const WorkloadOptions&);

// The values that one session writes: values that no other session writes, namely 1 + session, then
// in steps of the number of sessions; or, with `values`, values from 1 to `values` in random order.
class WrittenValues {
 public:
  WrittenValues(uint32_t session, uint32_t sessions, uint64_t values = 0)
      : next_(1 + int64_t{session}), step_(sessions), values_(values) {}
  Value take() {
    Value value = take_unique();
    if (values_ == 0) return value;
    return Value::of(1 +
                     static_cast<int64_t>(mix64(static_cast<uint64_t>(value.integer)) % values_));
  }
  // Returns a value for what must never repeat, such as the name of a deletion.
  Value take_unique() {
    const int64_t v = next_ + static_cast<int64_t>(values_);
    next_ += step_;
    return Value::of(v);
  }

 private:
  int64_t next_;
  int64_t step_;
  uint64_t values_;
};

}  // namespace assay::internal::collect
