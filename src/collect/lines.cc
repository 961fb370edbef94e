#include "collect/lines.h"

#include <cstdint>
#include <utility>

#include "formats/assay_jsonl_line.h"
#include "formats/json_text.h"
#include "formats/registry.h"
#include "history/aggregate.h"

namespace assay::internal::collect {
namespace {

using formats::append_integer;

void append_value(std::string& out, const Value& v) {
  if (v.is_integer())  // nearly all values, and the generator writes millions of them
    append_integer(out, v.integer);
  else
    formats::append_json_value(out, v.view());
}

void append_list(std::string& out, const std::vector<Value>& values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_value(out, values[i]);
  }
  out += ']';
}

void append_rows(std::string& out, const std::vector<std::pair<Value, Value>>& rows) {
  out += '[';
  for (size_t i = 0; i < rows.size(); ++i) {
    out += i > 0 ? ",[" : "[";
    append_value(out, rows[i].first);
    out += ',';
    append_value(out, rows[i].second);
    out += ']';
  }
  out += ']';
}

// What follows the key: one or two values and, for the conditional ones, whether they took effect.
void append_operands(std::string& out, const Step& step) {
  const Request& request = step.request;
  if (step.only_saw_absence()) return append_value(out, {});
  switch (request.kind) {
    case OpKind::read:
      append_value(out, step.reply.value);
      return;
    case OpKind::read_list:
      append_list(out, step.reply.list);
      return;
    case OpKind::write:
    case OpKind::remove:
    case OpKind::append:
      append_value(out, request.value);
      return;
    case OpKind::range:
      append_value(out, request.high);
      out += ',';
      append_rows(out, step.reply.rows);
      return;
    case OpKind::cas:
      append_value(out, request.expected);
      out += ',';
      append_value(out, request.value);
      out += step.reply.effect ? ",true" : ",false";
      return;
    case OpKind::insert:
      append_value(out, request.value);
      out += step.reply.effect ? ",true" : ",false";
      return;
  }
}

// An aggregate, likewise.
void append_aggregate(std::string& out, const Step& step) {
  const Request& request = step.request;
  out += "agg\",";
  formats::append_json_string(out, request.condition());
  out += ",{";
  formats::append_json_string(out, aggregate_name(*request.aggregate));
  out += ':';
  append_value(out, step.reply.value);
  if (request.aggregate != AggregateFunction::count) {
    out += ",\"of\":";
    formats::append_json_string(out, request.column);
  }
  if (!request.key.is_null() || !request.high.is_null()) {
    out += ",\"keys\":[";
    append_value(out, request.key);
    out += ',';
    append_value(out, request.high);
    out += ']';
  }
  out += "}]";
}

// A query with a condition, behind its opening bracket and quote.
void append_query(std::string& out, const Step& step) {
  const Request& request = step.request;
  if (request.aggregate) return append_aggregate(out, step);
  out += "pred\",";
  formats::append_json_string(out, request.condition());
  out += ',';
  append_rows(out, step.reply.rows);
  std::string_view before = ",{";
  if (!request.key.is_null() || !request.high.is_null()) {
    out += std::exchange(before, ",");
    out += "\"keys\":[";
    append_value(out, request.key);
    out += ',';
    append_value(out, request.high);
    out += ']';
  }
  if (!step.reply.matched.empty()) {
    out += std::exchange(before, ",");
    out += "\"matched\":";
    append_list(out, step.reply.matched);
  }
  if (request.found) {
    out += std::exchange(before, ",");
    out += "\"claims\":\"found\"";
  }
  out += before == "," ? "}]" : "]";
}

void append_op_times(std::string& out, const std::vector<Step>& steps) {
  if (steps.empty() || !steps.front().time.known()) return;
  std::string_view before = ",\"op_times\":[";
  for (const Step& step : steps) {
    out += std::exchange(before, ",");
    formats::append_interval(out, step.time);
  }
  out += ']';
}

}  // namespace

std::string meta_of(const TxnRecord& record) {
  std::string meta;
  const auto add = [&meta](std::string_view name, const std::string& text) {
    if (text.empty()) return;
    meta += meta.empty() ? "{\"" : ",\"";
    meta += name;
    meta += "\":";
    formats::append_json_string(meta, text);
  };
  add("error", record.error);
  add("xid", record.xid);
  add("ran", record.ran);
  return meta.empty() ? meta : meta + '}';
}

void append_order_line(std::string& out, const OrderRecord& record) {
  out += "{\"key\":";
  append_value(out, record.key);
  out += ",\"order\":[";
  for (size_t i = 0; i < record.entries.size(); ++i) {
    const OrderRecord::Entry& e = record.entries[i];
    if (i > 0) out += ',';
    if (e.txn.empty()) {
      append_value(out, e.value);
      continue;
    }
    out += "{\"txn\":";
    formats::append_json_string(out, e.txn);
    if (e.value.is_null()) {
      out += ",\"deleted\":true";
    } else {
      out += ",\"value\":";
      append_value(out, e.value);
    }
    out += '}';
  }
  out += "]}\n";
}

void append_header_line(std::string& out, std::string_view meta, HistoryFacts facts) {
  out += "{\"assay\":1";
  if (facts.absent_is_never_written) {
    out += ",\"absent\":";
    formats::append_json_string(out, formats::kNeverWritten);
  }
  std::string_view before = ",\"uses\":[";
  for (const auto& [used, name] : {std::pair(facts.names_versions, formats::kNamedVersions),
                                   std::pair(facts.has_rows, formats::kRows),
                                   std::pair(facts.has_conditions, formats::kPredicates),
                                   std::pair(facts.has_aggregates, formats::kAggregates)}) {
    if (!used) continue;
    out += std::exchange(before, ",");
    formats::append_json_string(out, name);
  }
  if (before == ",") out += ']';
  if (!meta.empty()) {
    out += ",\"meta\":";
    out += meta;
  }
  out += "}\n";
}

void append_record_line(std::string& out, const TxnRecord& record) {
  out += "{\"session\":";
  append_integer(out, record.session);
  out += ",\"txn\":\"";
  append_integer(out, record.session);
  out += '-';
  append_integer(out, static_cast<int64_t>(record.number));
  out += "\",\"status\":\"";
  out += record.pending ? "pending" : formats::status_name(record.status);
  out += '"';
  formats::append_time(out, "begin", record.begin);
  formats::append_time(out, "end", record.end);
  formats::append_timestamp(out, "start_ts", record.start_ts);
  formats::append_timestamp(out, "commit_ts", record.commit_ts);
  if (record.level) ((out += ",\"level\":\"") += level_info(*record.level).name) += '"';
  out += ",\"ops\":[";
  bool first = true;
  for (const Step& step : record.steps) {
    out += first ? "[\"" : ",[\"";
    first = false;
    if (step.request.selects()) {
      append_query(out, step);
      continue;
    }
    out += formats::op_name(step.only_saw_absence() ? OpKind::read : step.request.kind);
    out += "\",";
    append_value(out, step.request.key);
    out += ',';
    append_operands(out, step);
    out += ']';
  }
  out += ']';
  append_op_times(out, record.steps);
  if (const std::string meta = meta_of(record); !meta.empty()) {
    out += ",\"meta\":";
    out += meta;
  }
  out += "}\n";
}

void append_event_line(std::string& out, std::string_view json) {
  out += json;
  out += '\n';
}

}  // namespace assay::internal::collect
