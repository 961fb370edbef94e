// Traces of an application in JSON: one operation per record, with the columns of a table (trace.h)
// as fields.
//
//   {"session":"web-1","txn":17,"op":"read","key":"x","value":1,"time":1000}
//
// A span of OpenTelemetry is such a record, too: the columns are its attributes, its trace is the
// transaction, its start and end are the time. Spans come alone or in the envelopes of OTLP
// (resourceSpans); spans without the attributes session and op are skipped and counted.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "formats/json_records.h"
#include "formats/registry.h"
#include "formats/trace.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;

bool detect_json_trace(const Source& source) {
  const JsonFields fields = first_json_fields(source.head());
  bool session = false;
  bool op = false;
  for (std::string_view name : fields.names) {
    session = session || trace_column(name) == TraceColumn::session;
    op = op || trace_column(name) == TraceColumn::op;
  }
  return (session && op) || fields.has("resourceSpans") ||
         (fields.has("attributes") &&
          (fields.has("traceId") || fields.has("spanId") || fields.has("context")));
}

class JsonTraceReader {
 public:
  JsonTraceReader(Input& input, unsigned threads, Notes& notes)
      : records_(input), notes_(notes), history_(input.budget(), threads) {}

  Result<History> run() {
    const Status read = records_.each([this](json::element record) {
      path_.clear();
      return read_record(record);
    });
    if (!read.ok()) return read.error();
    if (foreign_ > 0)
      notes_.push_back({0, "left out " + std::to_string(foreign_) +
                               " spans without the attributes session and op"});
    return records_.located(std::move(history_).finish());
  }

 private:
  // The place of a column in the current row.
  struct Place {
    std::array<JsonStep, 2> steps = {JsonStep(size_t{0}), JsonStep(size_t{0})};
    size_t depth = 0;
  };

  Error error(const Place& place, std::string message) const {
    std::vector<JsonStep> path = path_;
    for (size_t i = 0; i < place.depth; ++i) path.push_back(place.steps[i]);
    return records_.error(path, std::move(message));
  }
  Error expected(const Place& place, std::string_view what) const {
    return error(place, "expected " + std::string(what));
  }

  Status read_record(json::element record) {
    json::object object;
    json::element resources;
    if (record.get_object().get(object) != simdjson::SUCCESS)
      return records_.expected({}, "an operation or a span, an object");
    if (!json_field(object, "resourceSpans", resources)) return read_row(object, std::nullopt);
    return each(resources, "resourceSpans", [&](json::object resource) -> Status {
      json::element about, scopes, list;
      json::object o;
      std::optional<json::element> attributes;
      if (json_field(resource, "resource", about) &&
          about.get_object().get(o) == simdjson::SUCCESS && json_field(o, "attributes", list))
        attributes = list;
      if (!json_field(resource, "scopeSpans", scopes)) return Ok{};
      return each(scopes, "scopeSpans", [&](json::object scope) -> Status {
        json::element spans;
        if (!json_field(scope, "spans", spans)) return Ok{};
        return each(spans, "spans", [&](json::object span) { return read_row(span, attributes); });
      });
    });
  }

  // Visits the objects of an array, which is the field `name` of the object at path_.
  template <class Visit>
  Status each(json::element array, std::string_view name, Visit visit) {
    path_.emplace_back(name);
    json::array elements;
    if (array.get_array().get(elements) != simdjson::SUCCESS)
      return expected({}, "an array of objects");
    size_t i = 0;
    for (json::element e : elements) {
      path_.emplace_back(i++);
      json::object object;
      if (e.get_object().get(object) != simdjson::SUCCESS) return expected({}, "an object");
      if (auto s = visit(object); !s.ok()) return s;
      path_.pop_back();
    }
    path_.pop_back();
    return Ok{};
  }

  Status read_row(json::object object, std::optional<json::element> resource) {
    row_ = {};
    places_ = {};
    elements_.clear();
    bool span = false;
    std::optional<json::element> attributes;
    for (const auto& [name, value] : object) {
      if (name == "attributes") {
        span = true;
        attributes = value;
      } else if (auto s = read_field(name, value, span); !s.ok()) {
        return s;
      }
    }
    // The record's own fields take precedence over its attributes, those over its resource's.
    for (const auto& list : {attributes, resource})
      if (list)
        if (auto s = read_attributes(*list); !s.ok()) return s;
    // The end of the span is used only with its start.
    const Place& time = places_[static_cast<size_t>(TraceColumn::time)];
    if (time.depth != 1 || time.steps[0].field != "startTimeUnixNano") row_.end.reset();
    if (span && (!row_.at(TraceColumn::session).present || !row_.at(TraceColumn::op).present)) {
      ++foreign_;
      return Ok{};
    }
    row_.at(TraceColumn::value).elements = elements_;
    if (history_.add(row_, records_.line())) return Ok{};
    return error(places_[static_cast<size_t>(history_.fault().column)], history_.fault().message);
  }

  Status read_field(std::string_view name, json::element value, bool& span) {
    const Place place{{JsonStep(name), JsonStep(size_t{0})}, 1};
    if (name == "traceId" || name == "trace_id") {
      span = true;
      // The trace is the transaction, unless a column says otherwise.
      if (!row_.at(TraceColumn::txn).present) return read_column(TraceColumn::txn, value, place);
      return Ok{};
    }
    if (name == "spanId" || name == "span_id") span = true;
    if (name == "startTimeUnixNano" || name == "endTimeUnixNano") {
      int64_t time = 0;
      if (!json_integer(value, time)) return expected(place, "nanoseconds, an integer");
      if (name == "endTimeUnixNano") {
        row_.end = time;
      } else if (!row_.at(TraceColumn::time).present) {
        row_.at(TraceColumn::time) = {true, false, ValueView::of(time), {}};
        places_[static_cast<size_t>(TraceColumn::time)] = place;
      }
      return Ok{};
    }
    const auto column = trace_column(name);
    if (!column) return Ok{};
    json::object status;
    if (*column == TraceColumn::status && value.get_object().get(status) == simdjson::SUCCESS) {
      row_.failed = is_error(status);
      return Ok{};
    }
    return read_column(*column, value, place);
  }

  // The status of a span: {"code": 2}, or the name of the code.
  static bool is_error(json::object status) {
    json::element code;
    int64_t number = 0;
    std::string_view name;
    if (!json_field(status, "code", code)) return false;
    if (code.get_int64().get(number) == simdjson::SUCCESS) return number == 2;
    return code.get_string().get(name) == simdjson::SUCCESS && name.ends_with("ERROR");
  }

  // {"session": "a"}, or OTLP's [{"key": "session", "value": {"stringValue": "a"}}].
  Status read_attributes(json::element attributes) {
    json::object object;
    json::array array;
    if (attributes.get_object().get(object) == simdjson::SUCCESS) {
      for (const auto& [name, value] : object)
        if (const auto column = trace_column(name); column && free(*column))
          if (auto s = read_column(*column, value, {{"attributes", JsonStep(name)}, 2}); !s.ok())
            return s;
      return Ok{};
    }
    if (attributes.get_array().get(array) != simdjson::SUCCESS) return Ok{};
    size_t i = 0;
    for (json::element e : array) {
      const Place place{{"attributes", JsonStep(i++)}, 2};
      json::object pair;
      json::element key, value;
      std::string_view name;
      if (e.get_object().get(pair) != simdjson::SUCCESS || !json_field(pair, "key", key) ||
          key.get_string().get(name) != simdjson::SUCCESS)
        return expected(place, "{\"key\":…,\"value\":…}");
      const auto column = trace_column(name);
      if (!column || !free(*column) || !json_field(pair, "value", value)) continue;
      if (auto s = read_wrapped(*column, value, place); !s.ok()) return s;
    }
    return Ok{};
  }
  // Whether a column may be set: a stated transaction takes precedence over the trace, a stated
  // time over the start of the span.
  bool free(TraceColumn column) const {
    const Place& place = places_[static_cast<size_t>(column)];
    const bool implied = place.depth == 1 && trace_column(place.steps[0].field) != column;
    return !row_.at(column).present || implied;
  }

  // {"stringValue": "a"}, {"intValue": "5"}, {"arrayValue": {"values": […]}}; {} is null.
  Status read_wrapped(TraceColumn column, json::element wrapped, const Place& place) {
    constexpr std::string_view kWant = "a stringValue, an intValue or an arrayValue of them";
    ValueView value;
    TraceField& field = row_.at(column);
    json::object object;
    json::element inner;
    if (wrapped.get_object().get(object) != simdjson::SUCCESS) return expected(place, kWant);
    if (!json_field(object, "arrayValue", inner)) {
      if (!unwrap(object, value)) return expected(place, kWant);
      field = {true, false, value, {}};
      places_[static_cast<size_t>(column)] = place;
      return Ok{};
    }
    json::element values;
    json::array array;
    if (column != TraceColumn::value || inner.get_object().get(object) != simdjson::SUCCESS)
      return expected(place, kWant);
    elements_.clear();
    if (json_field(object, "values", values) && values.get_array().get(array) == simdjson::SUCCESS)
      for (json::element e : array) {
        json::object element;
        if (e.get_object().get(element) != simdjson::SUCCESS ||
            !unwrap(element, elements_.emplace_back()))
          return expected(place, kWant);
      }
    field = {true, true, {}, {}};
    places_[static_cast<size_t>(column)] = place;
    return Ok{};
  }
  static bool unwrap(json::object wrapped, ValueView& to) {
    json::element e;
    to = ValueView::null();
    if (wrapped.size() == 0) return true;
    if (json_field(wrapped, "stringValue", e)) return json_value(e, to);
    int64_t integer = 0;
    if (!json_field(wrapped, "intValue", e) || !json_integer(e, integer)) return false;
    to = ValueView::of(integer);
    return true;
  }

  Status read_column(TraceColumn column, json::element e, const Place& place) {
    TraceField& field = row_.at(column);
    places_[static_cast<size_t>(column)] = place;
    json::array array;
    if (e.is_null()) {
      field = {};
      return Ok{};
    }
    if (column == TraceColumn::value && e.get_array().get(array) == simdjson::SUCCESS) {
      elements_.clear();
      for (json::element element : array)
        if (!json_value(element, elements_.emplace_back()))
          return expected(place, "a list of integers of 64 bits and strings");
      field = {true, true, {}, {}};
      return Ok{};
    }
    ValueView value;
    if (!json_value(e, value)) return expected(place, "an integer of 64 bits or a string");
    field = {true, false, value, {}};
    return Ok{};
  }

  JsonRecords records_;
  Notes& notes_;
  TraceHistory history_;
  std::vector<JsonStep> path_;  // leads to the object that is the current row
  TraceRow row_;
  std::array<Place, kTraceColumns> places_;
  std::vector<ValueView> elements_;
  uint64_t foreign_ = 0;
};

Result<History> read_json_trace(Source& source, Notes& notes) {
  return JsonTraceReader(*source.input, source.threads, notes).run();
}

}  // namespace

constexpr Format kJsonTrace = {
    .name = "json-trace",
    .summary = "an application's operations in JSON, or spans of OpenTelemetry",
    .detect = detect_json_trace,
    .read = read_json_trace,
};

}  // namespace assay::internal::formats
