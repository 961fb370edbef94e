#include "collect/lines.h"

#include <cstdint>
#include <utility>

#include "base/json.h"
#include "formats/assay_jsonl_line.h"
#include "formats/json_text.h"
#include "formats/registry.h"

namespace assay::internal::collect {
namespace {

using formats::append_integer;
using formats::append_value;

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
  Json sql = Json::array();
  for (const auto& [text, sent, locks] : record.sql) {
    Json one = {{"text", text}, {"sent", sent}};
    if (!locks.empty()) one["locks"] = locks;
    sql.push_back(std::move(one));
  }
  if (!record.sql.empty()) meta += (meta.empty() ? "{\"sql\":" : ",\"sql\":") + sql.dump();
  return meta.empty() ? meta : meta + '}';
}

void append_order_line(std::string& out, const OrderRecord& record) {
  out += "{\"key\":";
  append_value(out, record.key.view());
  out += ",\"order\":[";
  for (size_t i = 0; i < record.entries.size(); ++i) {
    const OrderRecord::Entry& e = record.entries[i];
    if (i > 0) out += ',';
    if (e.txn.empty()) {
      append_value(out, e.value.view());
      continue;
    }
    out += "{\"txn\":";
    formats::append_json_string(out, e.txn);
    if (!e.last && e.value.is_null()) {
      out += ",\"deleted\":true";
    } else if (!e.last) {
      out += ",\"value\":";
      append_value(out, e.value.view());
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
  for (const auto& [used, name] :
       {std::pair(facts.names_versions, formats::kNamedVersions),
        std::pair(facts.has_sources, formats::kSources), std::pair(facts.has_rows, formats::kRows),
        std::pair(facts.has_conditions, formats::kPredicates),
        std::pair(facts.has_aggregates, formats::kAggregates),
        std::pair(facts.has_initial, formats::kInitialValues)}) {
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
  OpBuffers buffers;
  std::string_view before;
  for (const Step& step : record.steps) {
    out += std::exchange(before, ",");
    formats::append_op(out, op_of(step, buffers));
  }
  out += ']';
  std::vector<Interval> times;
  for (const Step& step : record.steps) times.push_back(step.time);
  formats::append_op_times(out, times);
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
