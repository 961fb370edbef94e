// Reads `.hist`. Each line stands alone, so the reader is a cursor over one line at a time:
//
//   initial VALUE | absent never-written | order KEY: VALUE… | event {…} | meta {…} | SESSION:
//   TRANSACTION…
//
// The mark that says how a transaction ended comes after it, but the builder needs it first, so the
// closing brace is looked up before the operations are read.
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "formats/hist.h"
#include "formats/hist_syntax.h"
#include "formats/json_text.h"
#include "formats/row_json.h"
#include "formats/streamed_builder.h"
#include "formats/text_cursor.h"
#include "formats/utf8.h"
#include "history/aggregate.h"
#include "history/level_name.h"
#include "history/settled.h"

namespace assay::internal::formats {
namespace {

constexpr std::string_view kWantHistValue = "an integer, a word, a \"quoted string\" or null";
constexpr std::string_view kWantKey = "an integer, a word or a \"quoted string\"";

class HistReader {
 public:
  explicit HistReader(Source& source)
      : input_(*source.input), builder_(input_.budget(), source.threads) {}

  Result<History> run() {
    Input::Line line;
    for (;;) {
      auto more = input_.next_line(line);
      if (!more.ok()) return more.error();
      if (!*more) break;
      c_ = TextCursor(line.text);
      strings_.clear();
      if (!read_line()) {
        if (!error_.message.empty()) return input_.located(std::move(error_));
        return input_.error(c_.message(), c_.column());
      }
    }
    return input_.located(std::move(builder_).finish());
  }

 private:
  bool at_line_end() {
    c_.skip_blanks();
    return c_.done() || c_.peek() == '#';
  }
  bool end_of_line() { return at_line_end() || c_.expected("the end of the line"); }

  bool read_line() {
    if (!is_utf8(c_.line())) return invalid_utf8();
    if (at_line_end()) return true;
    std::string_view first;
    bool quoted = false;
    if (!text(first, quoted, kWantKey)) return false;
    if (!quoted && c_.peek() != ':') {
      if (first == "initial") return read_initial();
      if (first == "absent") return read_absent();
      if (first == "order") return read_order();
      if (first == "event") return read_event();
      if (first == "meta") return read_meta();
      c_.skip_blanks();
      if (c_.peek() != ':')
        return c_.expected(
            "':' after the name of a session, or one of initial, absent, order, event, meta");
    }
    c_.seek(0);
    c_.skip_blanks();
    ValueView session;
    if (!value(session, false) || !c_.expect(":")) return false;
    while (!at_line_end())
      if (!read_txn(session)) return false;
    return true;
  }

  bool invalid_utf8() {
    size_t at = 0;
    while (size_t n = utf8_length(c_.line().substr(at))) at += n;
    return c_.fail_at(at, "invalid UTF-8");
  }

  bool read_initial() {
    ValueView initial;
    c_.skip_blanks();
    if (!stored(initial, true)) return false;
    c_.skip_blanks();
    if (c_.peek() == ':') return read_initial_of(initial);
    if (any_txn_) return c_.fail_at(0, "expected the initial value before the first transaction");
    if (!end_of_line()) return false;
    builder_.set_initial(initial);
    return true;
  }

  // Reads the initial value of one key.
  bool read_initial_of(const ValueView& key) {
    ValueView initial;
    if (key.type == ValueView::Type::null || key.type == ValueView::Type::row)
      return c_.expected("a key before ':', an integer or a text");
    c_.accept(":");
    c_.skip_blanks();
    if (!stored(initial, true) || !end_of_line()) return false;
    builder_.set_initial(key, initial, input_.line());
    return true;
  }

  bool read_absent() {
    if (any_txn_)
      return c_.fail_at(0, "expected what an absent key means before the first transaction");
    c_.skip_blanks();
    if (!c_.accept(kNeverWritten) || !end_of_line()) return c_.expected(kNeverWritten);
    builder_.set_absent_is_never_written();
    return true;
  }

  bool read_order() {
    ValueView key;
    c_.skip_blanks();
    if (!value(key, false) || !c_.expect(":")) return false;
    std::vector<StatedVersion> entries;
    while (!at_line_end())
      if (!read_entry(entries.emplace_back())) return false;
    return taken(builder_.known_order(key, entries, input_.line()));
  }

  // Reads VALUE, or TRANSACTION=VALUE.
  bool read_entry(StatedVersion& to) {
    if (!stored(to.value, true)) return false;
    if (to.value.type == ValueView::Type::row || !c_.accept("=")) return true;
    to.txn = strings_.emplace_back(to.value.to_string());
    return stored(to.value = {}, true);
  }

  bool taken(const Status& status) {
    if (!status.ok()) error_ = status.error();
    return status.ok();
  }

  // Reads the JSON object that is the rest of the line.
  bool json_object(std::string_view& to) {
    c_.skip_blanks();
    to = c_.rest();
    while (!to.empty() && (to.back() == ' ' || to.back() == '\t')) to.remove_suffix(1);
    if (!to.starts_with('{')) return c_.expected("a JSON object");
    if (auto fault = find_json_fault(to))
      return c_.fail_at(c_.at() + fault->offset, "not valid JSON: " + fault->message);
    return true;
  }

  bool read_event() {
    std::string_view object;
    if (!json_object(object)) return false;
    if (!settled_names(object)) {
      const JsonStep kAborted[] = {JsonStep("aborted")};
      c_.seek(c_.at() + locate_json(object, kAborted));
      return c_.expected("an array of names of transactions");
    }
    int64_t at = Interval::kUnknown;
    const JsonStep kAt[] = {JsonStep("at")};
    if (size_t place = locate_json(object, kAt); place > 0) {
      c_.seek(c_.at() + place);
      if (!c_.integer(at)) return false;
    }
    const bool complete = is_complete_event(object);
    if (complete && at == Interval::kUnknown)
      return c_.expected("a field \"at\" beside \"complete\"");
    return taken(builder_.event(at, std::string(object), complete));
  }

  static bool is_complete_event(std::string_view object) {
    const JsonStep kEvent[] = {JsonStep("event")};
    const size_t place = locate_json(object, kEvent);
    return place > 0 && object.substr(place).starts_with('"' + std::string(kCompleteEvent) + '"');
  }

  bool read_meta() {
    std::string_view object;
    if (!json_object(object)) return false;
    builder_.set_meta(std::string(object));
    return true;
  }

  // Reads a bare word or a quoted string.
  bool text(std::string_view& to, bool& quoted, std::string_view what) {
    quoted = c_.peek() == '"';
    if (quoted) return quoted_string(to);
    to = c_.take_while(is_hist_word);
    return !to.empty() || c_.expected(what);
  }

  bool quoted_string(std::string_view& to) {
    size_t begin = c_.at();
    std::string& s = strings_.emplace_back();
    c_.accept("\"");
    while (!c_.accept("\"")) {
      if (c_.done()) return c_.fail_at(begin, "the string has no closing quote");
      if (c_.peek() != '\\') {
        s += c_.take_while([](char ch) { return ch != '"' && ch != '\\'; });
      } else if (!escape(s)) {
        return false;
      }
    }
    to = s;
    return true;
  }

  bool escape(std::string& to) {
    constexpr std::string_view kWant = "one of \\\\ \\\" \\n \\r \\t \\xHH with HH below 80";
    size_t begin = c_.at();
    c_.accept("\\");
    char kind = c_.peek();
    c_.seek(c_.at() + 1);
    switch (kind) {
      case '\\':
      case '"':
        to += kind;
        return true;
      case 'n':
        to += '\n';
        return true;
      case 'r':
        to += '\r';
        return true;
      case 't':
        to += '\t';
        return true;
      case 'x': {
        unsigned code = 0;
        std::string_view hex = c_.rest().substr(0, 2);
        auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
        if (hex.size() != 2 || error != std::errc{} || end != hex.data() + 2 || code >= 0x80) break;
        to += static_cast<char>(code);
        c_.seek(c_.at() + 2);
        return true;
      }
      default:
        break;
    }
    c_.seek(begin);
    return c_.expected(kWant);
  }

  bool value(ValueView& to, bool null_allowed) {
    size_t begin = c_.at();
    std::string_view word;
    bool quoted = false;
    if (!text(word, quoted, null_allowed ? kWantHistValue : kWantKey)) return false;
    if (quoted) return to = ValueView::of(word), true;
    if (word == "null") {
      to = ValueView::null();
      return null_allowed || c_.fail_at(begin, "expected " + std::string(kWantKey) + ", not null");
    }
    std::string_view digits = word.substr(word.starts_with('-') ? 1 : 0);
    bool integer = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
    if (!integer) return to = ValueView::of(word), true;
    if (digits.size() > 1 && digits[0] == '0')
      return c_.fail_at(begin, "a number must not start with 0; quote it if it is a string");
    int64_t number = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc{})
      return c_.fail_at(begin, "the integer does not fit into 64 bits; quote it if it is a string");
    to = ValueView::of(number);
    return true;
  }

  // Reads what a key may hold, including a row as a JSON object.
  bool stored(ValueView& to, bool null_allowed) {
    if (c_.peek() != '{') return value(to, null_allowed);
    std::optional<RowText> found = row_at(c_.rest());
    if (!found) return c_.expected("a row, like {\"v\":1}");
    c_.seek(c_.at() + found->length);
    to = ValueView::row(strings_.emplace_back(std::move(found->row)));
    return true;
  }

  bool read_txn(const ValueView& session) {
    TxnHeader header;
    header.session = session;
    header.line = input_.line();
    if (!read_prefix(header) || !c_.expect("{") || !read_status(header)) return false;
    any_txn_ = true;
    builder_.begin_txn(header);
    for (c_.skip_blanks(); !c_.accept("}"); c_.skip_blanks())
      if (!read_op()) return false;
    if (header.status != TxnStatus::committed) c_.seek(c_.at() + 1);
    return taken(builder_.end_txn());
  }

  // [name] [@[begin,end]] [ts[start,commit]] [level[name]]
  bool read_prefix(TxnHeader& header) {
    bool quoted = false;
    size_t begin = c_.at();
    const bool named = c_.peek() != '{' && c_.peek() != '@' && !c_.rest().starts_with("ts[") &&
                       !c_.rest().starts_with("level[");
    if (named) {
      if (!text(header.name, quoted, "a transaction, like { r(x,1) }")) return false;
      if (header.name.empty()) return c_.fail_at(begin, "the name of a transaction is empty");
      c_.skip_blanks();
    }
    if (c_.accept("@")) {
      if (!c_.expect("[") || !time(header.begin) || !c_.expect(",") || !time(header.end) ||
          !c_.expect("]"))
        return false;
      c_.skip_blanks();
    }
    if (c_.accept("ts[")) {
      if (!timestamp(header.start_ts) || !c_.expect(",") || !timestamp(header.commit_ts) ||
          !c_.expect("]"))
        return false;
      c_.skip_blanks();
    }
    return !c_.accept("level[") || level(header.level);
  }

  bool level(std::optional<LevelId>& to) {
    const size_t length = c_.rest().find_first_of("]\n");
    if (length != std::string_view::npos) to = find_level(c_.rest().substr(0, length));
    if (!to) return c_.expected(kWantLevel);
    c_.seek(c_.at() + length);
    return c_.expect("]");
  }

  // _ or 5 or 5~9 or 5~_
  bool time(Interval& to) {
    c_.skip_blanks();
    if (c_.accept("_")) return true;
    int64_t request = 0;
    if (!timestamp(request)) return false;
    to = Interval::point(request);
    if (!c_.accept("~")) return true;
    to.response = Interval::kOpen;
    if (!timestamp(to.response)) return false;
    return to.response >= to.request || c_.fail("the response is before the request");
  }

  bool timestamp(int64_t& to) {
    constexpr std::string_view kWant = "an integer above -2^63, or _ if not known";
    c_.skip_blanks();
    if (c_.accept("_")) return true;
    if (!c_.integer(to, kWant)) return false;
    return to != Interval::kUnknown || c_.expected(kWant);
  }

  // Reads what follows the closing brace that belongs to the opening one just read.
  bool read_status(TxnHeader& header) {
    std::string_view rest = c_.rest();
    char quote = '\0';
    int rows = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (quote != '\0') {
        if (rest[i] == '\\' && quote == '"')
          ++i;
        else if (rest[i] == quote)
          quote = '\0';
      } else if (rest[i] == '"' || rest[i] == '\'') {
        quote = rest[i];
      } else if (rest[i] == '{') {
        ++rows;
      } else if (rest[i] == '}' && rows-- == 0) {
        char mark = i + 1 < rest.size() ? rest[i + 1] : '\0';
        if (mark == '!') header.status = TxnStatus::aborted;
        if (mark == '?') header.status = TxnStatus::unknown;
        return true;
      }
    }
    return c_.fail_at(c_.at() - 1, "the transaction has no closing '}'");
  }

  bool read_op() {
    size_t begin = c_.at();
    std::string_view word = c_.take_while(is_hist_word);
    if (word == kHistPredicate) return read_pred();
    if (word == kHistAggregate) return read_aggregate();
    for (const HistOp& op : kHistOps) {
      if (op.word != word) continue;
      if (!c_.expect("(")) return false;
      c_.skip_blanks();
      return op.kind == OpKind::range ? read_range() : read_key_op(op.kind);
    }
    return c_.fail_at(begin, "expected an operation (r, w, a, d, range, cas, ins, p, agg) or '}'");
  }

  bool read_key_op(OpKind kind) {
    Op op{.kind = kind};
    const bool reads = kind == OpKind::read;
    if (!value(op.key, false) || !c_.expect(",")) return false;
    c_.skip_blanks();
    if (reads && c_.accept("[")) return read_list(op.key);
    if (kind == OpKind::cas) {
      if (!stored(op.expected, true) || !c_.expect(",")) return false;
      c_.skip_blanks();
    }
    if (!(kind == OpKind::append ? value(op.value, false) : stored(op.value, reads))) return false;
    if (reads && op.value.type != ValueView::Type::row && c_.accept("="))
      return read_from(op.key, op.value);
    if (!c_.expect(")")) return false;
    if (kind == OpKind::cas || kind == OpKind::insert) op.effect = !c_.accept("!");
    return builder_.add(op);
  }

  // Reads the rest of a read after TRANSACTION=, or null= for the initial state.
  bool read_from(const ValueView& key, const ValueView& source) {
    ValueView v;
    if (!source.is_null() && source.to_string().empty())
      return c_.expected("the name of a transaction before '='");
    if (!stored(v, true) || !c_.expect(")")) return false;
    return builder_.add(Op::read_from(key, v, source.is_null() ? "" : source.to_string()));
  }

  // Whether another element of a list follows, after the opening bracket or an element.
  bool next_element(bool first, bool& ended) {
    c_.skip_blanks();
    ended = first ? c_.accept("]") : false;
    if (first || ended) return true;
    ended = c_.accept("]");
    if (ended) return true;
    if (!c_.accept(",")) return c_.expected("',' or ']'");
    c_.skip_blanks();
    return true;
  }

  bool read_list(const ValueView& key) {
    elements_.clear();
    for (bool ended = false;;) {
      if (!next_element(elements_.empty(), ended)) return false;
      if (ended) break;
      if (!value(elements_.emplace_back(), true)) return false;
    }
    if (!c_.expect(")")) return false;
    return builder_.add(Op::read_list(key, elements_));
  }

  // lo..hi,[key=value,…])
  bool read_range() {
    ValueView lo, hi;
    if (!c_.accept("..")) {
      if (!value(lo, false) || !c_.expect("..")) return false;
    }
    c_.skip_blanks();
    if (c_.peek() != ',' && !value(hi, false)) return false;
    if (!c_.expect(",") || !read_rows(rows_) || !c_.expect(")")) return false;
    return builder_.add(Op::range(lo, hi, rows_));
  }

  // [key=value,…]
  bool read_rows(std::vector<Op::Row>& to) {
    if (!c_.expect("[")) return false;
    to.clear();
    for (bool ended = false;;) {
      if (!next_element(to.empty(), ended)) return false;
      if (ended) return true;
      auto& row = to.emplace_back();
      if (!value(row.first, false) || !c_.expect("=")) return false;
      c_.skip_blanks();
      if (!stored(row.second, true)) return false;
    }
  }

  // Reads [key,…] into elements_.
  bool read_keys() {
    if (!c_.expect("[")) return false;
    elements_.clear();
    for (bool ended = false;;) {
      if (!next_element(elements_.empty(), ended)) return false;
      if (ended) return true;
      if (!value(elements_.emplace_back(), false)) return false;
    }
  }

  // The condition goes up to ",[", bounds of keys to ':'; in a condition both occur only in quotes.
  // `begin`: where the condition begins. Also takes the comma after it.
  bool read_where(Op& to, size_t& begin) {
    to.kind = OpKind::range;
    const std::string_view rest = c_.rest();
    const size_t colon = find_unquoted(rest, ":"), end = find_unquoted(rest, ",[");
    if (end == rest.npos) return c_.expected("a condition, then ',[' and the returned rows");
    if (colon < end) {
      c_.skip_blanks();
      if (!c_.rest().starts_with("..") && !value(to.key, false)) return false;
      if (!c_.expect("..")) return false;
      c_.skip_blanks();
      if (c_.peek() != ':' && !value(to.value, false)) return false;
      if (!c_.expect(":")) return false;
    }
    begin = c_.at();
    to.where = c_.rest().substr(0, find_unquoted(c_.rest(), ",["));
    c_.seek(begin + to.where->size() + 1);
    return true;
  }

  // (count, CONDITION,[VALUE]) or (sum COLUMN, CONDITION,[VALUE])
  bool read_aggregate() {
    Op to;
    AggregateFunction function = AggregateFunction::count;
    ValueView column;
    size_t begin = 0;
    if (!c_.expect("(")) return false;
    c_.skip_blanks();
    if (!is_aggregate_name(c_.take_while(is_hist_word), function))
      return c_.expected("count, sum, min or max");
    if (function != AggregateFunction::count) {
      c_.skip_blanks();
      if (!value(column, false)) return false;
      if (column.type != ValueView::Type::string)
        return c_.expected("the name of a column before ','");
      to.column = column.text;
    }
    if (!c_.expect(",") || !read_where(to, begin) || !c_.expect("[")) return false;
    c_.skip_blanks();
    const size_t at = c_.at();
    if (!value(to.expected, true)) return false;
    if (!may_return(function, to.expected))
      return c_.fail_at(at, "expected " + std::string(wanted_of(function)));
    if (!c_.expect("]") || !c_.expect(")")) return false;
    to.aggregate = function;
    return add_query(to, begin);
  }

  // Adds a query whose condition begins there.
  bool add_query(const Op& op, size_t begin) {
    return builder_.add(op) ||
           c_.fail_at(begin + builder_.fault().column - 1, builder_.fault().message);
  }

  bool read_pred() {
    Op op;
    size_t begin = 0;
    if (!c_.expect("(")) return false;
    if (!read_where(op, begin)) return false;
    passed_.clear();
    elements_.clear();
    if (!read_rows(rows_)) return false;
    while (c_.accept(",")) {
      const size_t at = c_.at();
      const std::string_view word = c_.take_while(is_hist_word);
      if (word == kHistPassed && read_rows(passed_)) continue;
      if (word == kHistMatched && read_keys()) continue;
      if (word != kHistFound) return c_.fail_at(at, "expected passed[…], matched[…] or found");
      op.effect = false;
    }
    if (!c_.expect(")")) return false;
    op.rows = rows_;
    op.passed = passed_;
    op.list = elements_;
    return add_query(op, begin);
  }

  static size_t find_unquoted(std::string_view text, std::string_view what) {
    char quote = '\0';
    for (size_t i = 0; i < text.size(); ++i) {
      if (quote != '\0') {
        if (text[i] == quote) quote = '\0';
      } else if (text.substr(i).starts_with(what)) {
        return i;
      } else if (text[i] == '"' || text[i] == '\'') {
        quote = text[i];
      }
    }
    return text.npos;
  }

  Input& input_;
  StreamedBuilder builder_;
  TextCursor c_{{}};
  std::deque<std::string> strings_;  // unescaped strings of the line
  std::vector<ValueView> elements_;
  std::vector<Op::Row> rows_, passed_;
  bool any_txn_ = false;
  Error error_;
};

}  // namespace

Result<History> read_hist(Source& source, Notes&) { return HistReader(source).run(); }

}  // namespace assay::internal::formats
