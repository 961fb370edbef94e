// dbcop JSON (2025): an object with the sessions in "data", or the array of sessions alone.
// Sessions are arrays of {"events": […], "committed": …}; an event is {"Read": {"variable": K,
// "version": V or null}} or {"Write": …}. The wrapper nests everything in one object, so such a
// document is held as a whole.
#include <simdjson.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/json_records.h"
#include "formats/json_text.h"
#include "formats/registers.h"
#include "formats/registry.h"
#include "formats/streamed_builder.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;
constexpr size_t kMaxDocumentBytes = size_t{1} << 28;

bool detect_dbcop_json(const Source& source) {
  std::string_view head = source.head();
  const JsonFields fields = first_json_fields(head);
  if (fields.has("params")) return true;
  if (fields.has("events") || fields.has("committed")) return head.find("\"type\"") == head.npos;
  return fields.has("data") && head.find("\"events\"") != head.npos;
}

class DbcopJsonReader {
 public:
  explicit DbcopJsonReader(Source& source)
      : records_(*source.input, kMaxDocumentBytes),
        builder_(source.input->budget(), source.threads) {}

  Result<History> run() {
    const Status read = records_.each([this](json::element record) { return read_record(record); });
    if (!read.ok()) return read.error();
    return records_.located(std::move(builder_).finish());
  }

 private:
  // An error at the value to which `path` leads below the session or, if no session is open, below
  // the sessions.
  Error expected(std::initializer_list<JsonStep> path, std::string_view what) const {
    std::vector<JsonStep> whole = session_;
    whole.insert(whole.end(), path);
    return records_.error(whole, "expected " + std::string(what));
  }

  // Reads the whole document, or a session.
  Status read_record(json::element record) {
    json::object wrapper;
    json::array sessions;
    json::element data;
    if (!record.is_object() && !record.is_array())
      return expected({}, "an array of sessions, or in it a session, an array of transactions");
    if (record.get_object().get(wrapper) != simdjson::SUCCESS) return read_session(record);
    read_meta(wrapper);
    if (!json_field(wrapper, "data", data)) return expected({}, "a field \"data\"");
    session_ = {"data"};
    if (data.get_array().get(sessions) != simdjson::SUCCESS)
      return expected({}, "an array of sessions");
    size_t s = 0;
    for (json::element session : sessions) {
      session_ = {"data", s++};
      if (Status read = read_session(session); !read.ok()) return read;
    }
    return Ok{};
  }

  void read_meta(json::object wrapper) {
    std::string meta;
    for (json::key_value_pair field : wrapper) {
      if (field.key == "data") continue;
      meta += meta.empty() ? '{' : ',';
      append_json_string(meta, field.key);
      meta += ':';
      meta += simdjson::minify(field.value);
    }
    if (!meta.empty()) builder_.set_meta(meta + "}");
  }

  Status read_session(json::element e) {
    json::array txns;
    if (e.get_array().get(txns) != simdjson::SUCCESS)
      return expected({}, "a session, an array of transactions");
    size_t t = 0;
    for (json::element txn : txns)
      if (Status read = read_txn(txn, t++); !read.ok()) return read;
    ++sessions_;
    return Ok{};
  }

  Status read_txn(json::element e, size_t t) {
    json::object txn;
    json::element field;
    json::array events;
    bool committed = false;
    if (e.get_object().get(txn) != simdjson::SUCCESS || !json_field(txn, "events", field) ||
        field.get_array().get(events) != simdjson::SUCCESS)
      return expected({t}, "a transaction, {\"events\":[…],\"committed\":true}");
    if (!json_field(txn, "committed", field) ||
        field.get_bool().get(committed) != simdjson::SUCCESS)
      return expected({t, "committed"}, "a field \"committed\", true or false");
    TxnHeader header;
    header.session = ValueView::of(sessions_);
    header.status = committed ? TxnStatus::committed : TxnStatus::aborted;
    builder_.begin_txn(header);
    size_t i = 0;
    for (json::element event : events)
      if (Status read = read_event(event, t, i++); !read.ok()) return read;
    const Status ended = builder_.end_txn();
    return ended.ok() ? ended : records_.located(ended.error());
  }

  Status read_event(json::element e, size_t t, size_t i) {
    json::object event, body;
    json::element field;
    constexpr std::string_view kForm =
        "{\"Read\":{\"variable\":…,\"version\":…}} or {\"Write\":{…}}";
    if (e.get_object().get(event) != simdjson::SUCCESS) return expected({t, "events", i}, kForm);
    const bool write = json_field(event, "Write", field);
    const char* kind = write ? "Write" : "Read";
    if ((!write && !json_field(event, "Read", field)) ||
        field.get_object().get(body) != simdjson::SUCCESS)
      return expected({t, "events", i}, kForm);
    ValueView key, value;
    if (!json_field(body, "variable", field) || !json_value(field, key))
      return expected({t, "events", i, kind, "variable"}, "an integer of 64 bits or a string");
    const bool present = json_field(body, "version", field) && !field.is_null();
    if (present ? !json_value(field, value) : write)
      return expected({t, "events", i, kind, "version"},
                      write ? "an integer of 64 bits" : "an integer of 64 bits or null");
    builder_.add(write ? Op::write(key, value) : Op::read(key, value));
    return Ok{};
  }

  JsonRecords records_;
  StreamedBuilder builder_;
  std::vector<JsonStep> session_;  // the path to it in the record
  int64_t sessions_ = 0;
};

Result<History> read_dbcop_json(Source& source, Notes&) { return DbcopJsonReader(source).run(); }

// What dbcop's command line expects around the sessions, up to their bracket. The times are those
// of the run, about which nothing is known here.
std::string wrapper(const History& history, Registers& registers) {
  uint64_t txns = 0, events = 0;
  for (const auto& session : registers.sessions()) {
    txns = std::max<uint64_t>(txns, session.txns.size());
    for (TxnId t : session.txns) events = std::max<uint64_t>(events, registers.ops(t).size());
  }
  const auto field = [](const char* name, uint64_t value) {
    return ",\"" + std::string(name) + "\":" + std::to_string(value);
  };
  constexpr const char* kEpoch = "\"1970-01-01T00:00:00Z\"";
  return "{\"params\":{\"id\":0" + field("n_node", registers.sessions().size()) +
         field("n_variable", history.key_count()) + field("n_transaction", txns) +
         field("n_event", events) + "},\"info\":\"written by assay\",\"start\":" + kEpoch +
         ",\"end\":" + kEpoch + ",\n\"data\":[";
}

void write_dbcop_json(const History& history, Output& out, Losses& losses) {
  Registers registers(history, {.aborted = true, .session_names = false}, losses);
  bool first_session = true;
  std::string line;
  out.write(wrapper(history, registers));
  for (const auto& session : registers.sessions()) {
    out.write(first_session ? "\n[" : ",\n[");
    first_session = false;
    bool first_txn = true;
    for (TxnId t : session.txns) {
      line = first_txn ? "{\"events\":[" : ",\n{\"events\":[";
      first_txn = false;
      for (const RegisterOp& op : registers.ops(t)) {
        if (line.back() != '[') line += ',';
        line += op.write ? "{\"Write\":{\"variable\":" : "{\"Read\":{\"variable\":";
        line += std::to_string(op.key) + ",\"version\":";
        if (op.write && op.value == 0)
          losses.add("writes of the initial value, which is read as null");
        line += !op.write && op.value == 0 ? "null" : std::to_string(op.value);
        line += "}}";
      }
      line += registers.committed(t) ? "],\"committed\":true}" : "],\"committed\":false}";
      out.write(line);
    }
    out.write("]");
  }
  out.write("\n]}\n");
}

}  // namespace

constexpr Format kDbcopJson = {
    .name = "dbcop-json",
    .summary = "dbcop's JSON (2025)",
    .detect = detect_dbcop_json,
    .read = read_dbcop_json,
    .write = write_dbcop_json,
};

}  // namespace assay::internal::formats
