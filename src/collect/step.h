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
  Value expected = {};  // for cas
  Value high = {};      // range: upper bound, null if open
  // range: only rows whose value lies between these, both included; null: all. Integers of the same
  // sign and number of digits, so that databases that store values as text have them in the same
  // order.
  Value least = {}, most = {};
  // range, as recorded from a statement: only rows that satisfy this condition, in the history
  // format; empty: all.
  std::string where = {};
  bool found = false;  // and nothing is known about rows that were not returned
  // range, as recorded from a statement: the result is an aggregate of these rows, of this column
  // unless it is a count.
  std::optional<AggregateFunction> aggregate = {};
  std::string column = {};
  // A statement of the user's own SQL (collect/sql/statement.h) instead of all this; the statement
  // says what to record.
  std::shared_ptr<const SqlStatement> statement = {};

  bool selects() const { return !least.is_null() || !where.empty() || found || aggregate; }
  // The condition in the history format.
  std::string condition() const {
    if (least.is_null()) return where;
    return "value between " + least.view().to_string() + " and " + most.view().to_string();
  }
};

// The answer. Kinds without an answer leave it empty.
struct Reply {
  Value value;                                // read; range: an aggregate
  bool effect = true;                         // cas, insert, remove: whether it took effect
  std::vector<Value> list;                    // read_list
  std::vector<std::pair<Value, Value>> rows;  // range: keys and values found
  std::vector<Value> matched;  // range, as recorded: keys of rows that satisfied the condition and
                               // are not known in full
  std::string snapshot;        // range with a condition: the snapshot that it looked at, in the
                               // database's words; empty if that is not known
  std::vector<std::vector<Value>>
      cells;  // statement: the rows that it selected, in the order of the table's columns
};

struct Step {
  Request request;
  Reply reply;
  Interval time = {};  // when the step was sent and answered, if that is recorded

  // A removal that found nothing leaves nothing either: it only saw that the key is absent.
  bool only_saw_absence() const { return request.kind == OpKind::remove && !reply.effect; }
};

// The step as an operation of the history. Valid until the step changes and the buffers are used
// again.
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
  std::optional<LevelId> level = {};  // the level that it asked for, if levels are mixed
  std::vector<Step> steps;
  std::string error = {};  // what the database said; empty if it committed
  std::string xid = {};    // the server's name for it, if that was asked for
  std::string ran = {};    // the user's name for it: "leave (on-call.sql:7)"
  // A statement of SQL that was answered; recorded if operations have times.
  struct Sql {
    std::string text;  // including its values
    int64_t sent;
    std::string_view locks;  // "update" or "share" if it locks what it reads
  };
  std::vector<Sql> sql = {};
};

// The order in which versions of a key were installed.
struct OrderRecord {
  struct Entry {
    Value value;  // null: deleted
    // The transaction that installed it, by its name in the history; empty if that is not known.
    std::string txn;
    bool last = false;  // the last version that the transaction left; the value is ignored
  };
  Value key;
  std::vector<Entry> entries;
};

}  // namespace assay::internal::collect
