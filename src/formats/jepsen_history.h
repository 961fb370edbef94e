// From Jepsen's operations to transactions: pairs invocations with completions and translates the
// workloads. Shared by every format that speaks in invocations and completions.
//
//   value [[:r k v] [:w k v] [:append k v]]  a transaction, whatever :f is; also :read and :write
//   :f read, write, cas                      a register; :key, or value [k v], for one of many
//   :f acquire, release                      a lock: compare-and-set between "free" and "held"
//   :f get, put, append with :key            a key-value store                    key_value_store.h
//   :f add, read                             a set: a write of a key per element; a read is a range
//                                            over all
//   :f write, read of a vector               the same
//   [:add k e], [:r k #{e}]                   sets in transactions: a row for each element,
//                                             {"set":k}
//   [:rp [:= v] {k v}], [:insert k v], [:delete k], :f init   closed predicates: queries with a
//                                                             condition
//   :f insert, value [k [a nil]]              adya-G2: finds no row {"key":k}, and writes one
//
// An invocation and a completion say between which moments an operation ran, but not when within
// them it took its snapshot or took effect: begin and end are both somewhere in between.
//
// :ok is committed, :fail aborted, :info and a missing completion unknown. Reads in operations that
// did not commit say nothing and are left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"
#include "formats/edn.h"
#include "formats/jepsen_record.h"
#include "formats/key_value_store.h"
#include "formats/owned_op.h"
#include "formats/registry.h"
#include "formats/streamed_builder.h"

namespace assay::internal::formats {

// A fault at a place of the record.
struct JepsenFault {
  size_t at = 0;
  std::string message;
};

class JepsenHistory {
 public:
  // `budget` and `threads` as for StreamedBuilder.
  JepsenHistory(Budget* budget, unsigned threads) : builder_(budget, threads) {}
  // Adds a record; `tree` holds its value. False after storing a fault.
  bool add(const JepsenRecord& record, const DatumTree& tree, std::string_view text);
  const JepsenFault& fault() const { return fault_; }
  Result<History> finish(Notes& notes) &&;

 private:
  struct Pending {
    std::vector<OwnedOp> ops;
    int64_t begin = Interval::kUnknown;
    uint64_t line = 0;
    bool open = false;
  };
  // Operations that are held until the first read determines their meaning.
  struct Held {
    TxnHeader header;
    Value session;
    std::vector<OwnedOp> ops;
  };
  enum class Workload : uint8_t {
    none,
    txn,
    writes,  // of registers or of the elements of a set: nothing has been read yet
    cas_register,
    lock,
    set,
    key_value,
    pairs  // adya-G2
  };

  bool choose_workload(const JepsenRecord& record);
  bool choose_registers(const JepsenRecord& record);
  bool resolve_writes(Workload workload);
  bool translate(const JepsenRecord& record, bool invoked);
  bool translate_ops(const JepsenRecord& record);
  bool translate_txn(const Datum& value, bool observed);
  bool translate_mop(const Datum& mop, bool observed);
  bool translate_predicate_read(const Datum& predicate, const Datum* found, bool observed);
  bool translate_set_read(const Value& set, const Datum& found);
  bool translate_pair(const JepsenRecord& record);
  bool add_initial(const JepsenRecord& record);
  bool refuse_workload(const JepsenRecord& record);
  bool translate_register(const JepsenRecord& record);
  bool translate_lock(const JepsenRecord& record);
  bool translate_set(const JepsenRecord& record);
  bool translate_key_value(const JepsenRecord& record);
  bool refuse_collection(const Datum& read);
  bool is_element(const Datum& d);
  static OwnedOp element(Value name);
  bool values_of(const Datum& list, std::vector<Value>& to);
  bool value_of(const Datum& d, Value& to) const;
  bool key_of(const Datum& d, Value& to);
  bool written(const Datum& d, Value& to);
  bool fail(const Datum* at, std::string message);

  bool start(Pending& pending, const JepsenRecord& record);
  bool finish(Pending& pending, const Value& session, TxnStatus status, int64_t end);
  bool add_txn(const TxnHeader& header, const std::vector<OwnedOp>& ops);
  bool add_event(const JepsenRecord& record);
  Value session_of(const JepsenRecord& record);
  int64_t time_of(const JepsenRecord& record) const;

  StreamedBuilder builder_;
  KeyValueStore store_;  // holds operations until all of them are known
  Workload workload_ = Workload::none;
  std::vector<Held> held_;
  bool elements_written_ = false;           // elements of a set are written with :f :write
  std::map<std::string, Pending> pending_;  // by process
  std::map<std::string, Value> names_;
  const DatumTree* tree_ = nullptr;
  std::string_view text_;
  OpBuffers buffers_;
  std::vector<OwnedOp> ops_;
  bool any_ = false;
  bool timed_ = false;
  bool set_read_ = false;
  std::set<std::string, std::less<>> sets_;  // used in transactions: keys to which elements are
                                             // added
  bool list_read_ = false;                   // used in transactions
  int64_t records_ = 0;
  int64_t nameless_ = 0;
  uint64_t deletions_ = 0;
  uint64_t open_ends_ = 0;
  JepsenFault fault_;
};

// Reads the history of all records, which are JepsenRecords or JepsenLogRecords.
template <class Records>
Result<History> read_jepsen_history(Records&& records, const Source& source, Notes& notes) {
  JepsenHistory history(source.budget, source.threads);
  DatumTree tree;
  for (;;) {
    JepsenRecord record;
    const auto more = records.next(tree, record);
    if (!more.ok()) return more.error();
    if (!*more) return source.input->located(std::move(history).finish(notes));
    if (!history.add(record, tree, records.text()))
      return records.error(history.fault().at, history.fault().message);
  }
}

}  // namespace assay::internal::formats
