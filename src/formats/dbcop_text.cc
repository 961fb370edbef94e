// dbcop text (2025): transactions in brackets, `[x:=1 y==2 z==?]`, `!` after one that did not
// commit, a line of dashes between sessions, `//` comments.
#include <algorithm>
#include <string>
#include <vector>

#include "formats/registers.h"
#include "formats/registry.h"
#include "formats/streamed_builder.h"
#include "formats/text_lines.h"

namespace assay::internal::formats {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_letter(c) || is_digit(c); }

bool detect_dbcop_text(const Source& source) {
  std::string_view head = source.head();
  while (!head.empty()) {
    const std::string_view line = first_line(head);
    if (!line.starts_with("//") && !line.starts_with("---")) {
      TextCursor c(line);
      if (!c.accept("[")) return false;
      c.skip_blanks();
      const bool named = !c.take_while(is_name).empty();
      return named ? c.accept(":=") || c.accept("==") : c.accept("]");
    }
    head.remove_prefix(static_cast<size_t>(line.data() - head.data()) + line.size());
  }
  return false;
}

class DbcopTextReader {
 public:
  explicit DbcopTextReader(Source& source)
      : input_(*source.input), builder_(input_.budget(), source.threads) {}

  Result<History> run() {
    auto read = for_each_line(input_, [&](TextCursor& c) { return read_line(c); });
    if (!read.ok()) return read.error();
    return std::move(builder_).finish();
  }

 private:
  struct Event {
    bool write;
    std::string_view name;
    ValueView version;
  };

  bool read_line(TextCursor& c) {
    if (c.rest().starts_with("---")) {
      c.take_while([](char ch) { return ch == '-'; });
      ++session_;
    }
    for (;;) {
      c.skip_blanks();
      if (c.done() || c.accept("//")) return true;
      if (!c.accept("["))
        return c.expected("a transaction like [x:=1 y==2], --- between sessions, or a comment");
      if (!read_txn(c)) return false;
    }
  }

  bool read_txn(TextCursor& c) {
    events_.clear();
    for (c.skip_blanks(); !c.accept("]"); c.skip_blanks())
      if (!read_event(c)) return false;
    TxnHeader header;
    header.session = ValueView::of(session_);
    header.line = input_.line();
    if (c.accept("!")) header.status = TxnStatus::aborted;
    builder_.begin_txn(header);
    for (const Event& e : events_) {
      const ValueView key = ValueView::of(e.name);
      builder_.add(e.write ? Op::write(key, e.version) : Op::read(key, e.version));
    }
    auto s = builder_.end_txn();
    return s.ok() || c.fail(s.error().message);
  }

  bool read_event(TextCursor& c) {
    if (!is_letter(c.peek())) return c.expected("an event like x:=1, x==1 or x==?, or ']'");
    Event e{false, c.take_while(is_name), ValueView::null()};
    e.write = c.accept(":=");
    if (!e.write && !c.accept("==")) return c.expected("':=' or '=='");
    if (!e.write && c.accept("?")) return events_.push_back(e), true;
    int64_t version = 0;
    const std::string_view want =
        e.write ? "a version, an integer below 2^63" : "a version, an integer below 2^63, or ?";
    if (!is_digit(c.peek())) return c.expected(want);
    if (!c.integer(version, want)) return false;
    e.version = ValueView::of(version);
    events_.push_back(e);
    return true;
  }

  Input& input_;
  StreamedBuilder builder_;
  int64_t session_ = 0;
  std::vector<Event> events_;
};

Result<History> read_dbcop_text(Source& source, Notes&) { return DbcopTextReader(source).run(); }

// The names of keys, unchanged if all of them are allowed; otherwise a new name for each.
std::vector<std::string> key_names(const History& history, Losses& losses) {
  std::vector<std::string> names;
  for (KeyId k = 0; k < history.key_count(); ++k) {
    const ValueView key = history.key(k);
    const bool named = key.type == ValueView::Type::string && !key.text.empty() &&
                       is_letter(key.text[0]) &&
                       std::all_of(key.text.begin(), key.text.end(), is_name);
    if (!named) break;
    names.emplace_back(key.text);
  }
  if (names.size() == history.key_count()) return names;
  names.clear();
  for (KeyId k = 0; k < history.key_count(); ++k) names.push_back('k' + std::to_string(k));
  losses.add("keys, replaced by names", history.key_count());
  return names;
}

void write_dbcop_text(const History& history, Output& out, Losses& losses) {
  Registers registers(history, {.aborted = true, .any_key = true, .session_names = false}, losses);
  const std::vector<std::string> names = key_names(history, losses);
  bool first = true;
  std::string line;
  for (const auto& session : registers.sessions()) {
    if (!first) out.write("---\n");
    first = false;
    for (TxnId t : session.txns) {
      line = "[";
      for (const RegisterOp& op : registers.ops(t)) {
        if (line.size() > 1) line += ' ';
        line += names[static_cast<size_t>(op.key)] + (op.write ? ":=" : "==");
        if (op.write && op.value == 0)
          losses.add("writes of the initial value, which is read as ?");
        line += !op.write && op.value == 0 ? "?" : std::to_string(op.value);
      }
      line += registers.committed(t) ? "]\n" : "]!\n";
      out.write(line);
    }
  }
  if (history.txn_count() == 0) out.write("// no transactions\n");
}

}  // namespace

constexpr Format kDbcopText = {
    .name = "dbcop-text",
    .summary = "dbcop's text (2025), [x:=1 y==2] a transaction",
    .detect = detect_dbcop_text,
    .read = read_dbcop_text,
    .write = write_dbcop_text,
};

}  // namespace assay::internal::formats
