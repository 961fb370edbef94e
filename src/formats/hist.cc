// `.hist`: detection and writing. Reading: hist_read.cc.
#include "formats/hist.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <utility>

#include "formats/hist_syntax.h"
#include "formats/json_text.h"
#include "history/predicates.h"

namespace assay::internal::formats {
namespace {

// Whether the first line that is not blank or a comment starts with a directive or with "name:".
bool detect_hist(const Source& source) {
  std::string_view head = source.head();
  bool comment = false;
  while (!head.empty()) {
    size_t n = std::min(head.find('\n'), head.size());
    std::string_view line = head.substr(0, n);
    head.remove_prefix(std::min(n + 1, head.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) continue;
    if (line[0] == '#') {
      comment = true;
      continue;
    }
    for (std::string_view directive : {"initial ", "absent ", "order ", "event {", "meta {"})
      if (line.starts_with(directive)) return true;
    size_t name = 0;
    if (line[0] == '"') {
      name = std::min(line.find('"', 1), line.size() - 1) + 1;
    } else {
      while (name < line.size() && is_hist_word(line[name])) ++name;
    }
    line.remove_prefix(name);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (name == 0 || !line.starts_with(':')) return false;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    return line.empty() || line[0] == '{' || line[0] == '@' || line[0] == '#' || line[0] == '"' ||
           (is_hist_word(line[0]) && line.find('{') != line.npos);
  }
  return comment;
}

class HistWriter {
 public:
  HistWriter(const History& history, Output& out, Losses& losses)
      : h_(history), out_(out), losses_(losses) {}

  void run() {
    if (!h_.initial().is_null()) directive("initial ", [&] { value(h_.initial()); });
    for (KeyId k = 0; k < h_.key_count() && h_.has_own_initial(); ++k)
      if (h_.own_initial(k) != kNone) directive("initial ", [&] { write_initial(k); });
    if (h_.absent_is_never_written()) directive("absent ", [&] { line_ += kNeverWritten; });
    if (!h_.meta().empty()) directive("meta ", [&] { line_ += h_.meta(); });
    if (h_.txn_count() == 0) directive("# no transactions", [] {});
    for (TxnId t = 0; t < h_.txn_count();) t = write_session_line(t);
    for (const KnownOrder& order : h_.known_orders())
      directive("order ", [&] { write_order(order); });
    for (const Event& event : h_.events()) directive("event ", [&] { line_ += event.json; });
    losses_.add("times of operations", h_.op_time_count());
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (!h_.snapshot(t).empty()) losses_.add("snapshots of transactions");
      if (!h_.meta(t).empty()) losses_.add("metadata of transactions");
    }
  }

 private:
  template <class Body>
  void directive(std::string_view word, Body body) {
    line_ = word;
    body();
    line_ += '\n';
    out_.write(line_);
  }

  // Adjacent transactions that belong to one session share a line, so the order of all transactions
  // is preserved. Returns the first transaction that is not on the line.
  TxnId write_session_line(TxnId t) {
    const SessionId session = h_.session(t);
    line_.clear();
    value(h_.session_name(session));
    line_ += ':';
    for (; t < h_.txn_count() && h_.session(t) == session && line_.size() < kLongLine; ++t)
      write_txn(t);
    line_ += '\n';
    out_.write(line_);
    return t;
  }

  void write_txn(TxnId t) {
    line_ += ' ';
    std::string name = h_.name(t);
    if (name != h_.session_name(h_.session(t)).to_string() + "-" + std::to_string(h_.position(t)))
      text(name), line_ += ' ';
    if (h_.begin_time(t).known() || h_.end_time(t).known()) {
      line_ += "@[";
      time(h_.begin_time(t));
      line_ += ',';
      time(h_.end_time(t));
      line_ += "] ";
    }
    if (h_.start_ts(t) != Interval::kUnknown || h_.commit_ts(t) != Interval::kUnknown) {
      line_ += "ts[";
      integer_or_unknown(h_.start_ts(t));
      line_ += ',';
      integer_or_unknown(h_.commit_ts(t));
      line_ += "] ";
    }
    if (const auto level = h_.declared_level(t))
      ((line_ += "level[") += level_info(*level).name) += "] ";
    line_ += '{';
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) write_op(h_.outside(i, buffers_));
    line_ += " }";
    if (h_.status(t) == TxnStatus::aborted) line_ += '!';
    if (h_.status(t) == TxnStatus::unknown) line_ += '?';
  }

  void write_op(const Op& op) {
    if (op.where) return op.aggregate ? write_aggregate(op) : write_pred(op);
    const OpKind kind = op.kind == OpKind::read_list ? OpKind::read : op.kind;
    for (const HistOp& known : kHistOps)
      if (known.kind == kind) (line_ += ' ') += known.word;
    line_ += '(';
    if (kind == OpKind::range) {
      bounds(op);
      line_ += ',';
      rows(op.rows);
    } else {
      value(op.key);
      line_ += ',';
      if (kind == OpKind::cas) value(op.expected), line_ += ',';
      if (op.source) write_source(*op.source);
      op.kind == OpKind::read_list ? values(op.list) : value(op.value);
    }
    line_ += ')';
    if (!op.effect) line_ += '!';
  }

  // Writes a source; an empty name is the initial state.
  void write_source(std::string_view name) {
    value(name.empty() ? ValueView::null() : ValueView::of(name));
    line_ += '=';
  }

  template <class Items, class Write>
  void list(const Items& items, const Write& write) {
    line_ += '[';
    for (std::string_view before; const auto& item : items) {
      line_ += std::exchange(before, ",");
      write(item);
    }
    line_ += ']';
  }
  void values(std::span<const ValueView> all) {
    list(all, [this](const ValueView& v) { value(v); });
  }
  void rows(std::span<const Op::Row> all) {
    list(all, [this](const Op::Row& row) {
      value(row.first);
      line_ += '=';
      value(row.second);
    });
  }

  void bounds(const Op& op) {
    if (!op.key.is_null()) value(op.key);
    line_ += "..";
    if (!op.value.is_null()) value(op.value);
  }
  void write_where(const Op& op) {
    if (!op.key.is_null() || !op.value.is_null()) {
      bounds(op);
      line_ += ": ";
    }
    (line_ += *op.where) += ',';
  }

  void write_aggregate(const Op& op) {
    ((line_ += ' ') += kHistAggregate) += '(';
    line_ += aggregate_name(*op.aggregate);
    if (*op.aggregate != AggregateFunction::count) {
      line_ += ' ';
      value(ValueView::of(op.column));
    }
    line_ += ", ";
    write_where(op);
    values({&op.expected, 1});
    line_ += ')';
  }

  void write_pred(const Op& op) {
    (line_ += ' ') += kHistPredicate;
    line_ += '(';
    write_where(op);
    rows(op.rows);
    if (!op.passed.empty()) {
      (line_ += ',') += kHistPassed;
      rows(op.passed);
    }
    if (!op.list.empty()) {
      (line_ += ',') += kHistMatched;
      values(op.list);
    }
    if (!op.effect) (line_ += ',') += kHistFound;
    line_ += ')';
  }

  void write_initial(KeyId k) {
    value(h_.key(k));
    line_ += ": ";
    value(h_.initial(k));
  }

  void write_order(const KnownOrder& order) {
    value(h_.key(order.key));
    line_ += ':';
    for (size_t i = 0; i < order.versions.size(); ++i) {
      line_ += ' ';
      if (const TxnId t = order.txn(i); t != kNone)
        write_source(t == kInitialTxn ? std::string() : h_.name(t));
      value(h_.version_value(order.versions[i]));
    }
  }

  void time(const Interval& t) {
    integer_or_unknown(t.request);
    if (!t.known() || t.request == t.response) return;
    (line_ += '~') += t.response == Interval::kOpen ? "_" : std::to_string(t.response);
  }
  void integer_or_unknown(int64_t v) { line_ += v == Interval::kUnknown ? "_" : std::to_string(v); }

  void value(const ValueView& v) {
    if (v.type == ValueView::Type::row) {
      append_json_value(line_, v);
    } else if (v.type != ValueView::Type::string) {
      line_ += v.to_string();
    } else if (looks_like_no_string(v.text)) {
      quoted(v.text);
    } else {
      text(v.text);
    }
  }

  static bool looks_like_no_string(std::string_view s) {
    return s == "null" || s.find_first_not_of("0123456789", s.starts_with('-') ? 1 : 0) == s.npos;
  }

  void text(std::string_view s) {
    if (!s.empty() && s != "ts" && std::all_of(s.begin(), s.end(), is_hist_word))
      line_ += s;
    else
      quoted(s);
  }

  void quoted(std::string_view s) {
    line_ += '"';
    for (char c : s) {
      switch (c) {
        case '"':
        case '\\':
          (line_ += '\\') += c;
          break;
        case '\n':
          line_ += "\\n";
          break;
        case '\r':
          line_ += "\\r";
          break;
        case '\t':
          line_ += "\\t";
          break;
        default:
          if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            constexpr char kHex[] = "0123456789abcdef";
            line_ += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
          } else {
            line_ += c;
          }
      }
    }
    line_ += '"';
  }

  // Session lines are broken at this length, far below kMaxLineBytes.
  static constexpr size_t kLongLine = 4096;

  const History& h_;
  Output& out_;
  Losses& losses_;
  std::string line_;
  OpBuffers buffers_;
};

}  // namespace

void write_hist(const History& history, Output& out, Losses& losses) {
  HistWriter(history, out, losses).run();
}

constexpr Format kHist = {
    .name = "hist",
    .summary = "text for humans, one session per line",
    .detect = detect_hist,
    .read = read_hist,
    .write = write_hist,
};

}  // namespace assay::internal::formats
