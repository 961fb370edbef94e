// TimeKiller (Chronos, Aion): a JSON array of transactions with the database's own start and commit
// timestamps. A timestamp {p, l} is kept as p * 2^16 + l; a p of 2^47 or more is a whole timestamp,
// like those of TiDB, whose last bits are the logical part, and is kept as it is.
#include <algorithm>
#include <string>
#include <vector>

#include "formats/json_records.h"
#include "formats/registers.h"
#include "formats/registry.h"
#include "formats/streamed_builder.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;
constexpr int kLogicalBits = 16;

bool detect_timekiller(const Source& source) {
  const JsonFields fields = first_json_fields(source.head());
  return (fields.has("sid") || fields.has("tid")) &&
         (fields.has("cts") || fields.has("sts") || fields.has("ops"));
}

class TimekillerReader {
 public:
  explicit TimekillerReader(Source& source)
      : records_(*source.input), builder_(source.input->budget(), source.threads) {}

  Result<History> run() {
    builder_.set_initial(ValueView::of(0));
    const Status read = records_.each([this](json::element record) { return read_txn(record); });
    if (!read.ok()) return read.error();
    return records_.located(std::move(builder_).finish());
  }

 private:
  Status read_txn(json::element record) {
    json::object txn;
    json::element field;
    if (record.get_object().get(txn) != simdjson::SUCCESS)
      return records_.expected({}, "a transaction, an object");
    TxnHeader header;
    header.line = records_.line();
    if (!json_field(txn, "sid", field) || !json_value(field, header.session))
      return records_.expected({"sid"}, "a field \"sid\", an integer or a string");
    std::string name;
    if (json_field(txn, "tid", field)) {
      ValueView tid;
      if (!json_value(field, tid)) return records_.expected({"tid"}, "an integer or a string");
      name = tid.to_string();
      header.name = name;
    }
    if (json_field(txn, "sts", field))
      if (auto s = read_timestamp("sts", field, header.start_ts); !s.ok()) return s;
    if (json_field(txn, "cts", field))
      if (auto s = read_timestamp("cts", field, header.commit_ts); !s.ok()) return s;
    json::array ops;
    if (!json_field(txn, "ops", field) || field.get_array().get(ops) != simdjson::SUCCESS)
      return records_.expected({"ops"}, "a field \"ops\", an array");
    builder_.begin_txn(header);
    size_t i = 0;
    for (json::element op : ops)
      if (auto s = read_op(op, i++); !s.ok()) return s;
    if (auto s = builder_.end_txn(); !s.ok()) return records_.located(s.error());
    return Ok{};
  }

  Status read_timestamp(const char* name, json::element e, int64_t& to) {
    json::object parts;
    json::element part;
    int64_t p = 0;
    int64_t l = 0;
    if (e.get_object().get(parts) != simdjson::SUCCESS || !json_field(parts, "p", part) ||
        !json_integer(part, p) || p < 0)
      return records_.expected({name, "p"}, "{\"p\":…,\"l\":…} with p from 0 to 2^63 - 1");
    if (json_field(parts, "l", part) &&
        (!json_integer(part, l) || l < 0 || l >= int64_t{1} << kLogicalBits))
      return records_.expected({name, "l"}, "l from 0 to 65535");
    const bool whole = p >= int64_t{1} << (63 - kLogicalBits);
    if (whole && l != 0)
      return records_.expected({name, "l"}, "0, as p is a whole timestamp from 2^47 on");
    to = whole ? p : p << kLogicalBits | l;
    return Ok{};
  }

  Status read_op(json::element e, size_t i) {
    constexpr std::string_view kWantValue = "an integer of 64 bits or a string";
    json::object op;
    json::element field;
    std::string_view type;
    if (e.get_object().get(op) != simdjson::SUCCESS)
      return records_.expected({"ops", i}, "an operation, an object");
    if (!json_field(op, "t", field) || field.get_string().get(type) != simdjson::SUCCESS)
      return records_.expected({"ops", i, "t"}, "a field \"t\", one of r, w, a");
    const char kind = type.empty() ? '\0' : static_cast<char>(type[0] | 0x20);
    if (kind != 'r' && kind != 'w' && kind != 'a')
      return records_.expected({"ops", i, "t"}, "one of r, w, a, read, write, append");
    ValueView key, value;
    if (!json_field(op, "k", field) || !json_value(field, key))
      return records_.expected({"ops", i, "k"}, "a field \"k\", " + std::string(kWantValue));
    const bool present = json_field(op, "v", field) && !field.is_null();
    if (kind == 'r' && present && field.is_array()) return read_list(key, field, i);
    if (present && !json_value(field, value)) return records_.expected({"ops", i, "v"}, kWantValue);
    if (!present && kind != 'r')
      return records_.expected({"ops", i, "v"}, "a field \"v\", " + std::string(kWantValue));
    if (kind == 'r') builder_.add(Op::read(key, present ? value : ValueView::of(0)));
    if (kind == 'w') builder_.add(Op::write(key, value));
    if (kind == 'a') builder_.add(Op::append(key, value));
    return Ok{};
  }

  Status read_list(const ValueView& key, json::element list, size_t i) {
    elements_.clear();
    for (json::element e : json::array(list))
      if (!json_value(e, elements_.emplace_back()))
        return records_.expected({"ops", i, "v", elements_.size() - 1},
                                 "an integer of 64 bits or a string");
    builder_.add(Op::read_list(key, elements_));
    return Ok{};
  }

  JsonRecords records_;
  StreamedBuilder builder_;
  std::vector<ValueView> elements_;
};

Result<History> read_timekiller(Source& source, Notes&) { return TimekillerReader(source).run(); }

void write_timestamp(std::string& to, std::string_view name, int64_t ts, Losses& losses) {
  if (ts == Interval::kUnknown) return;
  if (ts < 0) return losses.add("negative timestamps");
  to += name;
  to += "{\"p\":" + std::to_string(ts >> kLogicalBits) +
        ",\"l\":" + std::to_string(ts & ((1 << kLogicalBits) - 1)) + "}";
}

void write_elements(std::string& to, const std::vector<int64_t>& elements) {
  to += '[';
  for (int64_t e : elements) {
    if (to.back() != '[') to += ',';
    to += std::to_string(e);
  }
  to += ']';
}

void write_timekiller(const History& history, Output& out, Losses& losses) {
  Registers registers(history, {.negative = true, .timestamps = true, .lists = true}, losses);
  bool first = true;
  std::string line;
  for (const auto& session : registers.sessions()) {
    for (TxnId t : session.txns) {
      line = first ? "[\n{" : ",\n{";
      first = false;
      line += "\"sid\":" + std::to_string(session.name) + ",\"tid\":" + std::to_string(t);
      write_timestamp(line, ",\"sts\":", history.start_ts(t), losses);
      write_timestamp(line, ",\"cts\":", history.commit_ts(t), losses);
      line += ",\"ops\":[";
      for (const RegisterOp& op : registers.ops(t)) {
        if (line.back() != '[') line += ',';
        line += "{\"t\":\"";
        line += !op.write ? 'r' : op.list ? 'a' : 'w';
        line += "\",\"k\":" + std::to_string(op.key) + ",\"v\":";
        if (op.list && !op.write)
          write_elements(line, op.elements);
        else
          line += std::to_string(op.value);
        line += '}';
      }
      line += "]}";
      out.write(line);
    }
  }
  out.write(first ? "[]\n" : "\n]\n");
}

}  // namespace

constexpr Format kTimekiller = {
    .name = "timekiller",
    .summary = "JSON of TimeKiller (Chronos, Aion), with database timestamps",
    .detect = detect_timekiller,
    .read = read_timekiller,
    .write = write_timekiller,
};

}  // namespace assay::internal::formats
