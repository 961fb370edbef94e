#include "formats/assay_jsonl_line.h"

#include <charconv>

namespace assay::internal::formats {
namespace {

void append_name(std::string& line, std::string_view name) {
  line += ",\"";
  line += name;
  line += "\":";
}

}  // namespace

std::string_view op_name(OpKind kind) {
  switch (kind) {
    case OpKind::read:
    case OpKind::read_list:
      return "r";
    case OpKind::write:
      return "w";
    case OpKind::remove:
      return "d";
    case OpKind::append:
      return "append";
    case OpKind::range:
      return "range";
    case OpKind::cas:
      return "cas";
    case OpKind::insert:
      return "insert";
  }
  return "";
}

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

}  // namespace assay::internal::formats
