#include "formats/assay_jsonl_line.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "formats/json_text.h"
#include "history/aggregate.h"

namespace assay::internal::formats {
namespace {

void append_name(std::string& line, std::string_view name) {
  line += ",\"";
  line += name;
  line += "\":";
}

// Indexed by OpKind.
constexpr std::string_view kOpNames[] = {"r", "w", "d", "append", "r", "range", "cas", "insert"};

// Appends an operation to a line, and counts the bytes that it replaces.
class OpLine {
 public:
  explicit OpLine(std::string& line) : line_(line) {}

  size_t append(const Op& op) {
    if (op.where)
      op.aggregate ? aggregate(op) : query(op);
    else
      plain(op);
    return replaced_;
  }

 private:
  void text(std::string_view s) { line_ += s; }
  void value(const ValueView& v) { replaced_ += append_value(line_, v); }
  void string(std::string_view s) { replaced_ += append_json_string(line_, s); }

  template <class Items, class Write>
  void list(const Items& items, const Write& write) {
    text("[");
    for (std::string_view before; const auto& item : items) {
      text(std::exchange(before, ","));
      write(item);
    }
    text("]");
  }
  void values(std::span<const ValueView> all) {
    list(all, [this](const ValueView& v) { value(v); });
  }
  void pair(const ValueView& a, const ValueView& b) {
    text("[");
    value(a);
    text(",");
    value(b);
    text("]");
  }
  void rows(std::span<const Op::Row> all) {
    list(all, [this](const Op::Row& row) { pair(row.first, row.second); });
  }

  void plain(const Op& op) {
    text("[\"");
    text(kOpNames[static_cast<size_t>(op.kind)]);
    text("\",");
    value(op.key);
    text(",");
    if (op.kind == OpKind::cas) {
      value(op.expected);
      text(",");
    }
    op.kind == OpKind::read_list ? values(op.list) : value(op.value);
    if (op.kind == OpKind::range) {
      text(",");
      rows(op.rows);
    }
    if (op.kind == OpKind::cas || op.kind == OpKind::insert) text(op.effect ? ",true" : ",false");
    if (op.source) {
      text(",{\"from\":");
      op.source->empty() ? text("null") : string(*op.source);
      text("}");
    }
    text("]");
  }

  void aggregate(const Op& op) {
    text("[\"agg\",");
    string(*op.where);
    text(",{");
    string(aggregate_name(*op.aggregate));
    text(":");
    value(op.expected);
    if (*op.aggregate != AggregateFunction::count) {
      text(",\"of\":");
      string(op.column);
    }
    if (has_bounds(op)) {
      text(",\"keys\":");
      pair(op.key, op.value);
    }
    text("}]");
  }

  void query(const Op& op) {
    text("[\"pred\",");
    string(*op.where);
    text(",");
    rows(op.rows);
    std::string_view before = ",{";
    const auto claim = [&](bool made, std::string_view name, const auto& write) {
      if (!made) return;
      text(std::exchange(before, ","));
      string(name);
      text(":");
      write();
    };
    claim(has_bounds(op), "keys", [&] { pair(op.key, op.value); });
    claim(!op.passed.empty(), "passed", [&] { rows(op.passed); });
    claim(!op.list.empty(), "matched", [&] { values(op.list); });
    claim(!op.effect, "claims", [&] { string("found"); });
    text(before == "," ? "}]" : "]");
  }

  static bool has_bounds(const Op& op) { return !op.key.is_null() || !op.value.is_null(); }

  std::string& line_;
  size_t replaced_ = 0;
};

}  // namespace

size_t append_op(std::string& line, const Op& op) { return OpLine(line).append(op); }

std::string_view status_name(TxnStatus status) {
  switch (status) {
    case TxnStatus::committed:
      return "committed";
    case TxnStatus::aborted:
      return "aborted";
    case TxnStatus::unknown:
      return "unknown";
  }
  return "";
}

void append_integer(std::string& line, int64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  line.append(digits, end.ptr);
}

size_t append_value(std::string& line, const ValueView& value) {
  // Nearly all values are integers, and the generator writes millions of them.
  if (value.type != ValueView::Type::integer) return append_json_value(line, value);
  append_integer(line, value.integer);
  return 0;
}

void append_time(std::string& line, std::string_view name, const Interval& time) {
  if (!time.known()) return;
  append_name(line, name);
  append_interval(line, time);
}

void append_interval(std::string& line, const Interval& time) {
  if (time.request == time.response) return append_integer(line, time.request);
  line += '[';
  append_integer(line, time.request);
  line += ',';
  if (time.response == Interval::kOpen)
    line += "null";
  else
    append_integer(line, time.response);
  line += ']';
}

void append_timestamp(std::string& line, std::string_view name, int64_t timestamp) {
  if (timestamp == Interval::kUnknown) return;
  append_name(line, name);
  append_integer(line, timestamp);
}

size_t append_txn_head(std::string& line, const TxnHeader& header) {
  line += "{\"session\":";
  size_t replaced = append_value(line, header.session);
  line += ",\"txn\":";
  replaced += append_json_string(line, header.name);
  ((line += ",\"status\":\"") += status_name(header.status)) += '"';
  append_time(line, "begin", header.begin);
  append_time(line, "end", header.end);
  append_timestamp(line, "start_ts", header.start_ts);
  append_timestamp(line, "commit_ts", header.commit_ts);
  if (header.level) {
    line += ",\"level\":";
    replaced += append_json_string(line, level_info(*header.level).name);
  }
  if (!header.snapshot.empty()) {
    line += ",\"snapshot\":";
    replaced += append_json_string(line, header.snapshot);
  }
  line += ",\"ops\":[";
  return replaced;
}

void append_op_times(std::string& line, std::span<const Interval> times) {
  if (std::ranges::none_of(times, &Interval::known)) return;
  std::string_view before = ",\"op_times\":[";
  for (const Interval& time : times) {
    line += std::exchange(before, ",");
    if (time.known())
      append_interval(line, time);
    else
      line += "null";
  }
  line += ']';
}

}  // namespace assay::internal::formats
