// `assay` JSON Lines: detection and writing. Reading: assay_jsonl_read.cc.
#include "formats/assay_jsonl.h"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/assay_jsonl_line.h"
#include "formats/json_text.h"
#include "history/predicates.h"

namespace assay::internal::formats {
namespace {

bool detect_assay_jsonl(const Source& source) {
  const JsonFields fields = first_json_fields(source.head());
  // A long first transaction may hide the fields that follow its session.
  return source.head().starts_with('{') &&
         (fields.has("assay") || fields.has("event") ||
          (fields.has("session") && !fields.has("type")) ||
          (fields.has("key") && (fields.has("order") || fields.has("initial"))) ||
          (fields.has("ops") &&
           (fields.has("initial") || fields.has("txn") || fields.has("status"))));
}

class JsonlWriter {
 public:
  JsonlWriter(const History& history, Output& out, Losses& losses)
      : h_(history), out_(out), losses_(losses) {}

  void run() {
    write_header();
    for (KeyId k = 0; k < h_.key_count() && h_.has_own_initial(); ++k) write_initial(k);
    for (TxnId t = 0; t < h_.txn_count(); ++t) write_txn(t);
    if (!h_.known_orders().empty()) note_removals();
    for (const KnownOrder& order : h_.known_orders()) write_order(order);
    for (const Event& event : h_.events()) {
      line_ = event.json;
      end_line();
    }
    losses_.add("bytes that are not UTF-8, replaced by U+FFFD", replaced_);
  }

 private:
  void end_line() {
    line_.push_back('\n');
    out_.write(line_);
    line_.clear();
  }
  void text(std::string_view s) { line_.append(s); }
  void value(const ValueView& v) { replaced_ += append_value(line_, v); }
  void string(std::string_view s) { replaced_ += append_json_string(line_, s); }

  void write_header() {
    text("{\"assay\":1");
    if (!h_.initial().is_null()) {
      text(",\"initial\":");
      value(h_.initial());
    }
    if (h_.absent_is_never_written()) {
      text(",\"absent\":");
      string(kNeverWritten);
    }
    write_uses();
    if (!h_.meta().empty()) {
      text(",\"meta\":");
      text(h_.meta());
    }
    text("}");
    end_line();
  }

  void write_uses() {
    std::string_view before = ",\"uses\":[";
    for (const auto& [used, name] :
         {std::pair(names_versions(), kNamedVersions), std::pair(h_.states_sources(), kSources),
          std::pair(has_rows(), kRows), std::pair(h_.has_predicates(), kPredicates),
          std::pair(has_aggregates(), kAggregates),
          std::pair(h_.has_own_initial(), kInitialValues)}) {
      if (!used) continue;
      text(std::exchange(before, ","));
      string(name);
    }
    if (before == ",") text("]");
  }

  bool has_rows() const {
    for (VersionId v = 0; v < h_.version_count(); ++v)
      if (h_.version_value(v).type == ValueView::Type::row) return true;
    return false;
  }
  bool has_aggregates() const {
    return h_.has_predicates() && h_.predicates().aggregate_count() > 0;
  }
  bool names_versions() const {
    return std::any_of(h_.known_orders().begin(), h_.known_orders().end(),
                       [](const KnownOrder& order) { return !order.txns.empty(); });
  }

  void write_initial(KeyId k) {
    if (h_.own_initial(k) == kNone) return;
    text("{\"key\":");
    value(h_.key(k));
    text(",\"initial\":");
    value(h_.initial(k));
    text("}");
    end_line();
  }

  void write_txn(TxnId t) {
    const std::string name = h_.name(t);
    replaced_ += append_txn_head(line_, {.session = h_.session_name(h_.session(t)),
                                         .name = name,
                                         .status = h_.status(t),
                                         .begin = h_.begin_time(t),
                                         .end = h_.end_time(t),
                                         .start_ts = h_.start_ts(t),
                                         .commit_ts = h_.commit_ts(t),
                                         .level = h_.declared_level(t),
                                         .snapshot = h_.snapshot(t)});
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (i != h_.first_op(t)) text(",");
      replaced_ += append_op(line_, h_.outside(i, buffers_));
    }
    text("]");
    if (h_.has_op_times()) write_op_times(t);
    if (!h_.meta(t).empty()) {
      text(",\"meta\":");
      text(h_.meta(t));
    }
    text("}");
    end_line();
  }

  void write_op_times(TxnId t) {
    times_.clear();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) times_.push_back(h_.op_time(i));
    append_op_times(line_, times_);
  }

  void write_order(const KnownOrder& order) {
    text("{\"key\":");
    value(h_.key(order.key));
    text(",\"order\":[");
    for (size_t i = 0; i < order.versions.size(); ++i) {
      if (i > 0) text(",");
      write_entry(order.versions[i], order.txn(i));
    }
    text("]}");
    end_line();
  }

  void write_entry(VersionId version, TxnId t) {
    const ValueView v = h_.version_value(version);
    const bool row = v.type == ValueView::Type::row;  // an object must be marked as a value
    if (t == kNone && !row) return value(v);
    text("{");
    if (t != kNone) {
      text("\"txn\":");
      string(h_.name(t));
    }
    if (t == kNone) {
      text("\"value\":");
      value(v);
      return text("}");
    }
    if (v.is_null() || removes(t, version)) text(",\"deleted\":true");
    if (!v.is_null()) {
      text(",\"value\":");
      value(v);
    }
    text("}");
  }

  bool removes(TxnId t, VersionId version) const {
    return std::binary_search(removals_.begin(), removals_.end(), std::pair(t, version));
  }

  // Notes removals, for the orders; one transaction may have deleted very many keys.
  void note_removals() {
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (h_.op(i).kind == OpKind::remove) removals_.emplace_back(t, h_.op(i).version);
    std::sort(removals_.begin(), removals_.end());
  }

  const History& h_;
  Output& out_;
  Losses& losses_;
  std::string line_;
  OpBuffers buffers_;
  std::vector<Interval> times_;  // of one transaction's operations
  uint64_t replaced_ = 0;
  std::vector<std::pair<TxnId, VersionId>> removals_;
};

}  // namespace

void write_assay_jsonl(const History& history, Output& out, Losses& losses) {
  JsonlWriter(history, out, losses).run();
}

constexpr Format kAssayJsonl = {
    .name = "assay",
    .summary = "JSON Lines, one transaction per line; the native format",
    .appended = true,
    .detect = detect_assay_jsonl,
    .read = read_assay_jsonl,
    .write = write_assay_jsonl,
};

}  // namespace assay::internal::formats
