// One operation of a transaction: the request of a workload, the response of the database, and the
// record of a whole transaction that goes into the history.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "history/value.h"

namespace assay::internal::collect {

class SqlStatement;

// What to do. The meaning of a kind is that of assay::OpKind.
struct Request {
  OpKind kind = OpKind::read;
  Value key = {};       // range: lower bound, null if open
  Value value = {};     // what to write; remove: the tombstone; append: the element
  Value expected = {};  // cas
  Value high = {};      // range: upper bound, null if open
  // range: only rows whose value lies between these, both included; null: all. Integers of the same
  // sign and number of digits: databases that hold values as texts have them in the same order.
  Value least = {}, most = {};
  // range, as it is recorded of a statement: only rows that satisfy this condition of the history
  // format; empty: all.
  std::string where = {};
  bool found = false;  // and nothing is said of rows that did not come back
  // range, as recorded of a statement: the result is an aggregate of these rows, of this column if
  // it is no count.
  std::optional<AggregateFunction> aggregate = {};
  std::string column = {};
  // A statement of the user's own SQL (collect/sql/statement.h) instead of all that; it says itself
  // what to record.
  std::shared_ptr<const SqlStatement> statement = {};

  bool selects() const { return !least.is_null() || !where.empty() || found || aggregate; }
  // What the history calls that.
  std::string condition() const {
    if (least.is_null()) return where;
    return "value between " + least.view().to_string() + " and " + most.view().to_string();
  }
};

// What came back. Kinds without an answer leave it empty.
struct Reply {
  Value value;                                // read; range: an aggregate
  bool effect = true;                         // cas, insert, remove: it took effect
  std::vector<Value> list;                    // read_list
  std::vector<std::pair<Value, Value>> rows;  // range: keys and values found
  std::vector<Value> matched;  // range, as it is recorded: keys of rows that satisfied the
                               // condition, not known in full
  std::string snapshot;        // range with a condition: what it looked at, in the words of the
                               // database; empty if that is not known
  std::vector<std::vector<Value>>
      cells;  // a statement: the rows that it selected, in the order of the table's columns
};

struct Step {
  Request request;
  Reply reply;
  Interval time = {};  // when it was sent and answered, if that is recorded

  // A removal that found nothing leaves nothing either: all it did was to see that the key is
  // absent.
  bool only_saw_absence() const { return request.kind == OpKind::remove && !reply.effect; }
};

// What the history says of the step. Valid until the step changes and the buffers are used again.
Op op_of(const Step& step, OpBuffers& buffers);

// An attempt at a transaction as the client saw it. `steps` are the operations that were answered,
// and for a failed attempt also those sent without an answer: every write that it may have done is
// included.
struct TxnRecord {
  uint32_t session = 0;
  uint64_t number = 0;  // position in its session from 0, counting every attempt
  TxnStatus status = TxnStatus::committed;
  bool pending = false;  // written before COMMIT is sent; the record with the outcome follows
  Interval begin, end;   // may be unknown
  // The database's own logical times, if it reports them.
  int64_t start_ts = Interval::kUnknown, commit_ts = Interval::kUnknown;
  std::optional<LevelId> level = {};  // that it asked for, where levels are mixed
  std::vector<Step> steps;
  std::string error = {};  // what the database said, unless it committed
  std::string xid = {};    // what the server calls it, where that was asked for
  std::string ran = {};    // what the user calls it: "leave (on-call.sql:7)"
  // Statements of SQL that were answered, where operations have times.
  struct Sql {
    std::string text;  // with its values in it
    int64_t sent;
    std::string_view locks;  // "update" or "share": it locks what it reads
  };
  std::vector<Sql> sql = {};
};

// In which order versions of a key were installed.
struct OrderRecord {
  struct Entry {
    Value value;  // null: deleted
    // the transaction that installed it, by the history's name; empty if that is not known
    std::string txn;
    bool last = false;  // whatever the transaction left, the value is not looked at
  };
  Value key;
  std::vector<Entry> entries;
};

}  // namespace assay::internal::collect
