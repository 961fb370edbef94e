// Tables of what an application did: a header line names the columns, every other line is an operation.
//
//   session,txn,op,key,value,time
//   web-1,17,read,x,1,1000
//   web-1,17,write,x,2,1010
//   web-1,17,commit,,,1020
#include "formats/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/gathered_txns.h"
#include "formats/owned_op.h"
#include "formats/text_lines.h"
#include "formats/utf8.h"

namespace assay::formats {
namespace {

enum Column : size_t { kSession, kTxn, kOp, kKey, kValue, kTime, kStatus, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"session", "txn",  "op",    "key",
                                                           "value",   "time", "status"};
constexpr std::string_view kSeparators = ",;\t";

std::string lower(std::string_view text) {
  std::string s(text);
  for (char& c : s)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return s;
}

struct Field {
  std::string text;
  size_t at = 0;
  bool quoted = false;
  bool empty() const { return text.empty() && !quoted; }
};

// Splits a line; false at a fault.
bool split(TextCursor& c, char separator, std::vector<Field>& fields) {
  fields.clear();
  for (;;) {
    Field& f = fields.emplace_back();
    f.at = c.at();
    if (c.accept("\"")) {
      f.quoted = true;
      for (;;) {
        f.text += c.take_while([](char ch) { return ch != '"'; });
        if (!c.accept("\"")) return c.fail_at(f.at, "the field has no closing quote in its line");
        if (!c.accept("\"")) break;
        f.text += '"';
      }
    } else {
      f.text = c.take_while([&](char ch) { return ch != separator; });
      while (f.text.ends_with(' ')) f.text.pop_back();
    }
    if (c.done()) return true;
    if (!c.accept(std::string_view(&separator, 1)))
      return c.expected("a separator behind the quoted field");
    if (separator != '\t') c.skip_blanks();
  }
}

// The separator and the place of each column; false if the line is no header.
bool parse_header(std::string_view line, char& separator, std::array<size_t, kColumns>& columns) {
  for (char s : kSeparators) {
    TextCursor c(line);
    std::vector<Field> fields;
    columns.fill(std::string_view::npos);
    if (!split(c, s, fields)) continue;
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto name = std::find(kNames.begin(), kNames.end(), lower(fields[i].text));
      if (name != kNames.end()) columns[static_cast<size_t>(name - kNames.begin())] = i;
    }
    separator = s;
    if (columns[kSession] != line.npos && columns[kOp] != line.npos && columns[kKey] != line.npos)
      return true;
  }
  return false;
}

bool detect_csv(const Source& source) {
  char separator = 0;
  std::array<size_t, kColumns> columns{};
  return parse_header(first_line(source.head()), separator, columns);
}

class Reader {
 public:
  explicit Reader(Input& input) : input_(input) {}

  Result<History> run() {
    bool header = true;
    auto read = for_each_line(input_, [&](TextCursor& c) {
      if (!is_utf8(c.line())) return invalid_utf8(c);
      if (std::exchange(header, false)) return read_header(c);
      return read_row(c);
    });
    if (!read.ok()) return read.error();
    HistoryBuilder builder;
    auto built =
        gathered_.for_each([&](uint32_t t, const auto& txn, std::span<const OwnedOp* const> ops) {
          return build_txn(builder, t, txn, ops);
        });
    if (!built.ok()) return input_.located(built.error());
    auto history = std::move(builder).finish();
    if (!history.ok()) return input_.located(history.error());
    return history;
  }

 private:
  struct Outcome {
    Interval begin, end;
    std::optional<TxnStatus> status;
  };

  bool invalid_utf8(TextCursor& c) {
    size_t at = 0;
    while (size_t n = utf8_length(c.line().substr(at))) at += n;
    return c.fail_at(at, "invalid UTF-8");
  }

  bool read_header(TextCursor& c) {
    return parse_header(c.line(), separator_, columns_) ||
           c.fail_at(0,
                     "expected a header with the columns session, op and key, and as there are "
                     "txn, value, time, status");
  }

  bool has(Column column) const {
    return columns_[column] < fields_.size() && !fields_[columns_[column]].empty();
  }
  const Field& field(Column column) const { return fields_[columns_[column]]; }
  bool fail(TextCursor& c, Column column, const std::string& message) {
    const bool there = columns_[column] < fields_.size();
    return c.fail_at(there ? fields_[columns_[column]].at : c.line().size(), message);
  }

  bool read_row(TextCursor& c) {
    c.seek(0);
    if (!split(c, separator_, fields_)) return false;
    if (!has(kSession)) return fail(c, kSession, "expected a session");
    if (!has(kOp)) return fail(c, kOp, "expected an operation");
    if (gathered_.full()) return c.fail("more than 4 billion operations");
    const uint32_t txn = txn_of_row();
    if (txn == outcomes_.size()) outcomes_.emplace_back();
    return read_time(c, outcomes_[txn]) && read_status(c, outcomes_[txn]) && read_op(c, txn);
  }

  // Sessions and transactions are numbered by first appearance; a row without a transaction is one.
  uint32_t txn_of_row() {
    const auto number = [](auto& table, const Field& f, auto& names) {
      auto [it, is_new] = table.try_emplace({f.text, f.quoted}, static_cast<int64_t>(table.size()));
      if (is_new) names.push_back(value_of(f));
      return it->second;
    };
    const int64_t session = number(sessions_, field(kSession), session_names_);
    if (!has(kTxn)) {
      txn_names_.emplace_back();
      return gathered_.separate_txn(session, --unnamed_, input_.line());
    }
    std::vector<OwnedValue> unused;
    const int64_t id = number(ids_, field(kTxn), unused);
    const uint32_t t = gathered_.txn(session, id, input_.line());
    if (t == txn_names_.size()) txn_names_.push_back(field(kTxn).text);
    return t;
  }

  // Integers are integers unless quoted; an empty field is null.
  static OwnedValue value_of(const Field& f) {
    if (f.empty()) return {};
    int64_t v = 0;
    const char* end = f.text.data() + f.text.size();
    const auto parsed = std::from_chars(f.text.data(), end, v);
    if (!f.quoted && parsed.ec == std::errc{} && parsed.ptr == end)
      return {ValueView::Type::integer, v, {}};
    return {ValueView::Type::string, 0, f.text};
  }

  bool read_time(TextCursor& c, Outcome& to) {
    if (!has(kTime)) return true;
    const OwnedValue time = value_of(field(kTime));
    if (time.type != ValueView::Type::integer || time.integer == Interval::kUnknown)
      return fail(c, kTime, "expected a time in nanoseconds, an integer");
    if (!to.begin.known() || time.integer < to.begin.request)
      to.begin = Interval::point(time.integer);
    if (!to.end.known() || time.integer > to.end.response) to.end = Interval::point(time.integer);
    return true;
  }

  bool read_status(TextCursor& c, Outcome& to) {
    if (!has(kStatus)) return true;
    const std::string status = lower(field(kStatus).text);
    if (status == "committed" || status == "ok")
      to.status = TxnStatus::committed;
    else if (status == "aborted" || status == "fail")
      to.status = TxnStatus::aborted;
    else if (status == "unknown" || status == "info")
      to.status = TxnStatus::unknown;
    else
      return fail(c, kStatus, "expected committed, aborted or unknown");
    return true;
  }

  bool read_op(TextCursor& c, uint32_t txn) {
    const std::string name = lower(field(kOp).text);
    if (name == "begin") return true;
    if (name == "commit" || name == "abort" || name == "rollback") {
      outcomes_[txn].status = name == "commit" ? TxnStatus::committed : TxnStatus::aborted;
      ends_told_ = true;
      return true;
    }
    OwnedOp op;
    if (name == "r" || name == "read")
      op.kind = OpKind::read;
    else if (name == "w" || name == "write")
      op.kind = OpKind::write;
    else if (name == "a" || name == "append")
      op.kind = OpKind::append;
    else if (name == "d" || name == "delete")
      op.kind = OpKind::remove;
    else
      return fail(c, kOp, "expected read, write, append, delete, begin, commit or abort");
    if (!has(kKey)) return fail(c, kKey, "expected a key");
    op.key = value_of(field(kKey));
    if (has(kValue))
      op.value = value_of(field(kValue));
    else if (op.kind != OpKind::read)
      return fail(c, kValue, "expected a value to write");
    const bool list = op.kind == OpKind::read && op.value.text.starts_with('[') &&
                      op.value.text.ends_with(']') && !field(kValue).quoted;
    if (list) {
      op.kind = OpKind::read_list;
      split_list(op.value.text, op.elements);
    }
    gathered_.add(txn, std::move(op));
    return true;
  }

  // "[1 5]"
  static void split_list(std::string_view text, std::vector<OwnedValue>& to) {
    text = text.substr(1, text.size() - 2);
    TextCursor c(text);
    for (c.skip_blanks(); !c.done(); c.skip_blanks()) {
      Field f;
      f.text = c.take_while([](char ch) { return ch != ' ' && ch != '\t'; });
      to.push_back(value_of(f));
    }
  }

  Status build_txn(HistoryBuilder& builder, uint32_t t, const GatheredTxns<OwnedOp>::Txn& txn,
                   std::span<const OwnedOp* const> ops) {
    const Outcome& outcome = outcomes_[t];
    TxnHeader header;
    header.session = session_names_[static_cast<size_t>(txn.session)].view();
    header.name = txn_names_[t];
    // Where the table tells ends, a transaction without one was cut off.
    header.status = outcome.status.value_or(ends_told_ && txn.id >= 0 ? TxnStatus::unknown
                                                                      : TxnStatus::committed);
    header.begin = outcome.begin;
    if (header.status != TxnStatus::unknown) header.end = outcome.end;
    header.line = txn.line;
    builder.begin_txn(header);
    std::vector<ValueView> list;
    for (const OwnedOp* op : ops) {
      switch (op->kind) {
        case OpKind::write:
          builder.write(op->key.view(), op->value.view());
          break;
        case OpKind::append:
          builder.append(op->key.view(), op->value.view());
          break;
        case OpKind::remove:
          builder.remove(op->key.view(), op->value.view());
          break;
        case OpKind::read_list:
          list.clear();
          for (const OwnedValue& e : op->elements) list.push_back(e.view());
          builder.read_list(op->key.view(), list);
          break;
        default:
          builder.read(op->key.view(), op->value.view());
      }
    }
    return builder.end_txn();
  }

  Input& input_;
  char separator_ = ',';
  std::array<size_t, kColumns> columns_{};
  std::vector<Field> fields_;
  GatheredTxns<OwnedOp> gathered_;
  std::vector<Outcome> outcomes_;
  std::vector<std::string> txn_names_;
  std::vector<OwnedValue> session_names_;
  std::map<std::pair<std::string, bool>, int64_t> sessions_;
  std::map<std::pair<std::string, bool>, int64_t> ids_;
  int64_t unnamed_ = 0;
  bool ends_told_ = false;
};

Result<History> read_csv(Source& source, Notes&) { return Reader(*source.input).run(); }

}  // namespace

constexpr Format kCsv = {
    .info = {.name = "csv",
             .summary =
                 "a table of an application's operations: session, txn, op, key, value, time",
             .reads = true,
             .writes = false},
    .detect = detect_csv,
    .read = read_csv,
};

}  // namespace assay::formats
