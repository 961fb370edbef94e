// dbcop JSON (2025): an object with the sessions in "data", or the array of sessions alone.
// Sessions are arrays of {"events": […], "committed": …}; an event is {"Read": {"variable": K,
// "version": V or null}} or {"Write": …}. The wrapper nests everything in one object, so the
// document is held as a whole.
#include "formats/dbcop_json.h"

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/json_records.h"
#include "formats/json_text.h"
#include "formats/registers.h"
#include "formats/streamed_builder.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;
constexpr size_t kMaxDocumentBytes = size_t{1} << 28;

bool detect_dbcop_json(const Source& source) {
  std::string_view head = source.head();
  auto fields = first_json_fields(head);
  auto has = [&](std::string_view name) {
    return std::find(fields.begin(), fields.end(), name) != fields.end();
  };
  if (has("params")) return true;
  if (has("events") || has("committed")) return head.find("\"type\"") == head.npos;
  return has("data") && head.find("\"events\"") != head.npos;
}

class DbcopJsonReader {
 public:
  explicit DbcopJsonReader(Source& source)
      : input_(*source.input), builder_(input_.budget(), source.threads) {}

  Result<History> run() {
    if (auto s = input_.fill(kMaxDocumentBytes + 1); !s.ok()) return s.error();
    text_ = input_.window();
    if (text_.size() > kMaxDocumentBytes)
      return input_.located(bad_input("the document is larger than 256 MiB"));
    json::parser parser(kMaxDocumentBytes);
    json::element document;
    if (parser.allocate(std::max<size_t>(text_.size(), 64), kMaxJsonDepth) != simdjson::SUCCESS)
      return input_.located(bad_input("not enough memory for the document"));
    // The window of the input is padded, so nothing needs to be copied.
    if (parser.parse(text_.data(), text_.size(), false).get(document) != simdjson::SUCCESS) {
      auto fault = find_json_fault(text_);
      if (!fault) fault = {0, "a number is out of range", false};
      return error_at(fault->offset, "not valid JSON: " + fault->message);
    }
    if (!read_document(document)) return std::move(error_);
    return input_.located(std::move(builder_).finish());
  }

 private:
  Error error_at(size_t offset, std::string message) const {
    std::string_view before = text_.substr(0, offset);
    const auto lines = static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n'));
    const size_t line_start = lines > 0 ? before.rfind('\n') + 1 : 0;
    return input_.located(bad_input(std::move(message), lines + 1, offset - line_start + 1));
  }
  // False after storing an error at the value that `path` leads to below the sessions.
  bool expected(std::initializer_list<JsonStep> path, std::string_view what) {
    std::vector<JsonStep> whole;
    if (wrapped_) whole.emplace_back("data");
    whole.insert(whole.end(), path);
    error_ = error_at(locate_json(text_, whole), "expected " + std::string(what));
    return false;
  }

  bool read_document(json::element document) {
    json::object wrapper;
    json::array sessions;
    if (document.get_object().get(wrapper) == simdjson::SUCCESS) {
      wrapped_ = true;
      read_meta(wrapper);
      if (!json_field(wrapper, "data", document)) return expected({}, "a field \"data\"");
    }
    if (document.get_array().get(sessions) != simdjson::SUCCESS)
      return expected({}, "an array of sessions");
    size_t s = 0;
    for (json::element session : sessions)
      if (!read_session(session, s++)) return false;
    return true;
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

  bool read_session(json::element e, size_t s) {
    json::array txns;
    if (e.get_array().get(txns) != simdjson::SUCCESS)
      return expected({s}, "a session, an array of transactions");
    size_t t = 0;
    for (json::element txn : txns)
      if (!read_txn(txn, s, t++)) return false;
    return true;
  }

  bool read_txn(json::element e, size_t s, size_t t) {
    json::object txn;
    json::element field;
    json::array events;
    bool committed = false;
    if (e.get_object().get(txn) != simdjson::SUCCESS || !json_field(txn, "events", field) ||
        field.get_array().get(events) != simdjson::SUCCESS)
      return expected({s, t}, "a transaction, {\"events\":[…],\"committed\":true}");
    if (!json_field(txn, "committed", field) ||
        field.get_bool().get(committed) != simdjson::SUCCESS)
      return expected({s, t, "committed"}, "a field \"committed\", true or false");
    TxnHeader header;
    header.session = ValueView::of(static_cast<int64_t>(s));
    header.status = committed ? TxnStatus::committed : TxnStatus::aborted;
    builder_.begin_txn(header);
    size_t i = 0;
    for (json::element event : events)
      if (!read_event(event, s, t, i++)) return false;
    if (auto status = builder_.end_txn(); !status.ok()) {
      error_ = input_.located(status.error());
      return false;
    }
    return true;
  }

  bool read_event(json::element e, size_t s, size_t t, size_t i) {
    json::object event, body;
    json::element field;
    constexpr std::string_view kForm =
        "{\"Read\":{\"variable\":…,\"version\":…}} or {\"Write\":{…}}";
    if (e.get_object().get(event) != simdjson::SUCCESS) return expected({s, t, "events", i}, kForm);
    const bool write = json_field(event, "Write", field);
    const char* kind = write ? "Write" : "Read";
    if ((!write && !json_field(event, "Read", field)) ||
        field.get_object().get(body) != simdjson::SUCCESS)
      return expected({s, t, "events", i}, kForm);
    ValueView key, value;
    if (!json_field(body, "variable", field) || !json_value(field, key))
      return expected({s, t, "events", i, kind, "variable"}, "an integer of 64 bits or a string");
    const bool present = json_field(body, "version", field) && !field.is_null();
    if (present ? !json_value(field, value) : write)
      return expected({s, t, "events", i, kind, "version"},
                      write ? "an integer of 64 bits" : "an integer of 64 bits or null");
    if (write)
      builder_.add(Op::write(key, value));
    else
      builder_.add(Op::read(key, value));
    return true;
  }

  Input& input_;
  StreamedBuilder builder_;
  std::string_view text_;
  bool wrapped_ = false;
  Error error_;
};

Result<History> read_dbcop_json(Source& source, Notes&) { return DbcopJsonReader(source).run(); }

// What dbcop's command line wants around the sessions, up to their bracket. The times are of the
// run, and nothing here says when that was.
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
    .info = {.name = "dbcop-json", .summary = "dbcop's JSON (2025)", .reads = true, .writes = true},
    .detect = detect_dbcop_json,
    .read = read_dbcop_json,
    .write = write_dbcop_json,
};

}  // namespace assay::internal::formats
