// The operations of etcd's robustness tests, as its clients record them for Porcupine: a request,
// its response, and the time of each.
//
//   {"ClientId":1,"Input":{"Type":"txn","Txn":{"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"k","Value":{"Value":"7"}}}]}},
//    "Call":10,"Output":{"Txn":{"Results":[{}]},"Revision":2},"Return":20}          is 1:
//    @[10~20,10~20] { w(k,"7") }, at revision 2
//
// Every write has a revision, and every read gives the revision at which its value was written: per
// key these are a stated order of versions. The effect of a request is known from its response, so
// all records are read first: a request that compared a revision read the value that any of them
// gives for it.
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/json_records.h"
#include "formats/json_text.h"
#include "formats/owned_op.h"
#include "formats/registry.h"
#include "formats/streamed_builder.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;

bool detect_etcd(const Source& source) {
  const JsonFields fields = first_json_fields(source.head());
  return fields.has("ClientId") && (fields.has("Input") || fields.has("Call"));
}

struct KeyRow {
  std::string key;
  Value value;
};

// What a request did: a read or write of a key, or a read of a range of keys, [key, end).
struct Step {
  enum class Kind : uint8_t { read, write, remove, compare, range };
  Kind kind = Kind::read;
  std::string key, end = {};
  Value value = {};
  int64_t revision = 0;  // compare: the revision at which the key was last written; 0: it was
                         // absent
  std::vector<KeyRow> rows = {};
  bool complete = true;
};

struct Request {
  TxnHeader header;
  int64_t client = 0, revision = 0;  // 0: not given
  std::vector<Step> steps;
};

std::string_view text_of(json::object object, std::string_view name) {
  json::element field;
  std::string_view text;
  const bool there =
      json_field(object, name, field) && field.get_string().get(text) == simdjson::SUCCESS;
  return there ? text : std::string_view();
}
int64_t integer_of(json::object object, std::string_view name) {
  json::element field;
  int64_t integer = 0;
  const bool there =
      json_field(object, name, field) && field.get_int64().get(integer) == simdjson::SUCCESS;
  return there ? integer : 0;
}
bool object_of(json::object object, std::string_view name, json::object& to) {
  json::element field;
  return json_field(object, name, field) && field.get_object().get(to) == simdjson::SUCCESS;
}
// The elements of the array; empty if there is no such array.
std::vector<json::element> elements_of(json::object object, std::string_view name) {
  json::element field;
  json::array array;
  std::vector<json::element> elements;
  if (json_field(object, name, field) && field.get_array().get(array) == simdjson::SUCCESS)
    for (json::element e : array) elements.push_back(e);
  return elements;
}

// Reads a value. The tests record only a hash of a long value.
Value value_of(json::object object) {
  json::object value;
  if (!object_of(object, "Value", value)) return Value::of(std::string());
  if (const int64_t hash = integer_of(value, "Hash"); hash != 0) return Value::of(hash);
  return Value::of(std::string(text_of(value, "Value")));
}

class EtcdReader {
 public:
  explicit EtcdReader(Source& source)
      : records_(*source.input), builder_(source.input->budget(), source.threads) {}

  Result<History> run(Notes& notes) {
    const Status read =
        records_.each([this](json::element record) { return read_operation(record); });
    if (!read.ok()) return read.error();
    for (const Request& request : requests_)
      if (auto s = build(request); !s.ok()) return records_.located(s.error());
    if (auto s = state_orders(); !s.ok()) return records_.located(s.error());
    if (left_out_ > 0)
      notes.push_back(
          {0, std::to_string(left_out_) +
                  " reads of past revisions and requests of other kinds were left out"});
    return records_.located(std::move(builder_).finish());
  }

 private:
  Status read_operation(json::element record) {
    json::object operation, input, output, body;
    if (record.get_object().get(operation) != simdjson::SUCCESS ||
        !object_of(operation, "Input", input) || !object_of(operation, "Output", output))
      return records_.expected({}, "an operation with ClientId, Input, Call, Output and Return");
    Request& request = requests_.emplace_back();
    request.client = integer_of(operation, "ClientId");
    request.header.line = records_.line();
    json::element time;
    int64_t call = 0, back = 0;
    if (!json_field(operation, "Call", time) || time.get_int64().get(call) != simdjson::SUCCESS)
      return records_.expected({"Call"}, "a field \"Call\", a time in nanoseconds");
    if (!json_field(operation, "Return", time) || time.get_int64().get(back) != simdjson::SUCCESS)
      return records_.expected({"Return"}, "a field \"Return\", a time in nanoseconds");
    json::element persisted;
    bool told = text_of(output, "Error").empty();
    if (json_field(output, "Persisted", persisted) && persisted.is_bool() &&
        persisted.get_bool().value_unsafe())
      told = false;
    request.header.begin = {call, told ? back : Interval::kOpen};
    if (told) request.header.end = {call, back};
    if (!told) request.header.status = TxnStatus::unknown;
    if (!text_of(output, "ClientError").empty()) request.header.status = TxnStatus::aborted;
    const bool answered = request.header.status == TxnStatus::committed;
    if (answered) request.revision = integer_of(output, "Revision");
    const std::string_view type = text_of(input, "Type");
    if (type == "range") {
      if (!object_of(input, "Range", body))
        return records_.expected({"Input", "Range"}, "an object");
      json::object range;
      const bool past = integer_of(body, "Revision") != 0;
      left_out_ += answered && past;
      if (!answered || past || !object_of(output, "Range", range)) return Ok{};
      return read_range(body, range, request);
    }
    if (type == "txn") {
      if (!object_of(input, "Txn", body)) return records_.expected({"Input", "Txn"}, "an object");
      return read_txn(body, output, answered, request);
    }
    left_out_ += 1;
    return type.empty()
               ? Status(records_.expected({"Input", "Type"},
                                          "the type of a request, such as \"range\" or \"txn\""))
               : Ok{};
  }

  Status read_range(json::object options, json::object found, Request& request) {
    Step step{.kind = Step::Kind::range,
              .key = std::string(text_of(options, "Start")),
              .end = std::string(text_of(options, "End"))};
    for (json::element e : elements_of(found, "KVs")) {
      json::object row;
      if (e.get_object().get(row) != simdjson::SUCCESS)
        return records_.expected({"Output"}, "rows with Key, Value and ModRevision");
      KeyRow& one = step.rows.emplace_back(KeyRow{std::string(text_of(row, "Key")), value_of(row)});
      if (const int64_t revision = integer_of(row, "ModRevision"); revision > 0)
        versions_[one.key].try_emplace(revision, Version{one.value, {}});
      keys_.insert(one.key);
    }
    const int64_t limit = integer_of(options, "Limit");
    step.complete = limit == 0 || static_cast<int64_t>(step.rows.size()) < limit;
    if (!step.end.empty()) {
      request.steps.push_back(std::move(step));
      return Ok{};
    }
    keys_.insert(step.key);
    if (step.rows.size() > 1) return records_.expected({"Output"}, "one row of one key");
    step.kind = Step::Kind::read;
    if (!step.rows.empty()) step.value = step.rows[0].value;
    request.steps.push_back(std::move(step));
    return Ok{};
  }

  Status read_txn(json::object txn, json::object output, bool answered, Request& request) {
    json::object response;
    bool failed = false;
    std::vector<json::element> results;
    if (answered) {
      json::element failure;
      if (!object_of(output, "Txn", response))
        return records_.expected({"Output", "Txn"}, "the response of a transaction");
      failed = json_field(response, "Failure", failure) && failure.is_bool() &&
               failure.get_bool().value_unsafe();
      results = elements_of(response, "Results");
    }
    const std::vector<json::element> conditions = elements_of(txn, "Conditions");
    for (json::element e : conditions) {
      json::object condition;
      if (e.get_object().get(condition) != simdjson::SUCCESS)
        return records_.expected({"Input", "Txn", "Conditions"}, "objects");
      // If there are several conditions, it is not known which one failed; versions of keys do not
      // tell values.
      if (!answered || failed || integer_of(condition, "ExpectedVersion") > 0) continue;
      request.steps.push_back({.kind = Step::Kind::compare,
                               .key = std::string(text_of(condition, "Key")),
                               .revision = integer_of(condition, "ExpectedRevision")});
    }
    const std::vector<json::element> otherwise = elements_of(txn, "OperationsOnFailure");
    if (!answered && !conditions.empty() && writes(otherwise))
      return records_.expected(
          {"Input", "Txn", "OperationsOnFailure"},
          "only reads, because the outcome is unknown and either part may have written");
    const std::vector<json::element> done =
        failed ? otherwise : elements_of(txn, "OperationsOnSuccess");
    size_t i = 0;
    for (json::element e : done) {
      json::object operation, result;
      if (e.get_object().get(operation) != simdjson::SUCCESS)
        return records_.expected({"Input", "Txn"}, "operations, objects");
      const bool known = answered && i < results.size() &&
                         results[i].get_object().get(result) == simdjson::SUCCESS;
      ++i;
      if (answered && !known)
        return records_.expected({"Output", "Txn", "Results"}, "a result for each operation");
      if (auto s = read_step(operation, result, known, request); !s.ok()) return s;
    }
    return Ok{};
  }

  static bool writes(std::span<const json::element> operations) {
    for (json::element e : operations) {
      json::object operation;
      if (e.get_object().get(operation) == simdjson::SUCCESS &&
          text_of(operation, "Type") != "range-operation")
        return true;
    }
    return false;
  }

  Status read_step(json::object operation, json::object result, bool known, Request& request) {
    const std::string_view type = text_of(operation, "Type");
    json::object options;
    if (type == "range-operation")
      return known && object_of(operation, "Range", options) ? read_range(options, result, request)
                                                             : Status(Ok{});
    const bool put = type == "put-operation";
    if ((!put && type != "delete-operation") ||
        !object_of(operation, put ? "Put" : "Delete", options))
      return records_.expected(
          {"Input", "Txn"},
          "operations of type range-operation, put-operation or delete-operation");
    if (put && integer_of(options, "LeaseID") != 0)
      return records_.expected(
          {"Input", "Txn"},
          "puts without leases: keys with a lease are deleted when it ends, which is not recorded");
    Step step{.kind = put ? Step::Kind::write : Step::Kind::remove,
              .key = std::string(text_of(options, "Key"))};
    keys_.insert(step.key);
    if (put) step.value = value_of(options);
    if (!put && known && integer_of(result, "Deleted") == 0)
      step.kind = Step::Kind::read;  // nothing was there
    request.steps.push_back(std::move(step));
    return Ok{};
  }

  Status build(const Request& request) {
    if (request.steps.empty()) return Ok{};
    TxnHeader header = request.header;
    header.session = ValueView::of(request.client);
    const std::string name =
        std::to_string(request.client) + "-" + std::to_string(position_[request.client]++);
    header.name = name;
    builder_.begin_txn(header);
    const bool counts = header.status == TxnStatus::committed;
    for (const Step& step : request.steps) {
      const ValueView key = ValueView::of(std::string_view(step.key));
      switch (step.kind) {
        case Step::Kind::read:
          if (counts) builder_.add(Op::read(key, step.value.view()));
          break;
        case Step::Kind::compare:
          if (counts) compare(key, step);
          break;
        case Step::Kind::range:
          if (counts) range(step);
          break;
        case Step::Kind::write:
          builder_.add(Op::write(key, step.value.view()));
          break;
        case Step::Kind::remove:
          builder_.add(Op::remove(key, ValueView::of(std::string_view("deleted by " + name))));
          break;
      }
      const bool writes = step.kind == Step::Kind::write || step.kind == Step::Kind::remove;
      if (writes && counts && request.revision > 0)
        versions_[step.key][request.revision] = {
            step.kind == Step::Kind::write ? step.value : Value(), name};
    }
    return builder_.end_txn();
  }

  void compare(const ValueView& key, const Step& step) {
    if (step.revision == 0) {
      builder_.add(Op::read(key, ValueView::null()));
      return;
    }
    const auto known = versions_.find(step.key);
    if (known == versions_.end()) return;
    const auto version = known->second.find(step.revision);
    if (version != known->second.end() && !version->second.value.is_null())
      builder_.add(Op::read(key, version->second.value.view()));
  }

  void range(const Step& step) {
    std::vector<std::pair<ValueView, ValueView>> rows;
    for (const KeyRow& row : step.rows)
      rows.emplace_back(ValueView::of(std::string_view(row.key)), row.value.view());
    if (!step.complete) {
      for (const auto& [key, value] : rows) builder_.add(Op::read(key, value));
      return;
    }
    // The end is exclusive, and "\0" means no end.
    const bool open = step.end == std::string(1, '\0');
    const auto from = keys_.lower_bound(step.key);
    const auto end = open ? keys_.end() : keys_.lower_bound(step.end);
    if (from == keys_.end() || (!open && step.end <= step.key) || from == end) return;
    builder_.add(Op::range(ValueView::of(std::string_view(*from)),
                           ValueView::of(std::string_view(*std::prev(end))), rows));
  }

  // States the orders, by revision.
  Status state_orders() {
    for (const auto& [key, versions] : versions_) {
      if (versions.size() < 2) continue;
      std::vector<StatedVersion> entries;
      for (const auto& [revision, version] : versions)
        entries.push_back({.value = version.value.view(), .txn = version.txn});
      if (auto s = builder_.known_order(ValueView::of(std::string_view(key)), entries, 0); !s.ok())
        return s;
    }
    return Ok{};
  }

  struct Version {
    Value value;      // null: a deletion
    std::string txn;  // empty: whichever wrote the value
  };

  JsonRecords records_;
  StreamedBuilder builder_;
  std::vector<Request> requests_;
  std::map<std::string, std::map<int64_t, Version>> versions_;  // by key and revision
  std::set<std::string> keys_;
  std::map<int64_t, uint64_t> position_;  // of the next transaction of each client
  uint64_t left_out_ = 0;
};

Result<History> read_etcd(Source& source, Notes& notes) { return EtcdReader(source).run(notes); }

}  // namespace

constexpr Format kEtcd = {
    .name = "etcd",
    .summary = "operations.json of etcd's robustness tests, with revisions",
    .detect = detect_etcd,
    .read = read_etcd,
};

}  // namespace assay::internal::formats
