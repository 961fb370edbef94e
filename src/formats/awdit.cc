// AWDIT's test format: "r key value" and "w key value" a line; a line of dashes ends a transaction,
// a line of equals signs a session. There is no initial value: a file that needs one writes it
// first.
#include "formats/awdit.h"

#include <set>
#include <string>

#include "formats/registers.h"
#include "formats/text_lines.h"

namespace assay::formats {
namespace {

bool is_run_of(std::string_view text, char c) {
  return !text.empty() && text.find_first_not_of(c) == text.npos;
}

struct Line {
  bool write = false;
  int64_t key = 0;
  int64_t value = 0;
};

bool parse(TextCursor& c, Line& to) {
  to.write = c.peek() == 'w';
  if (!c.accept("r ") && !c.accept("w "))
    return c.expected("an operation like r 1 2 or w 1 2, a line of - or a line of =");
  c.skip_blanks();
  if (!c.integer(to.key)) return false;
  if (c.peek() != ' ') return c.expected("a blank and the value");
  c.skip_blanks();
  if (!c.integer(to.value)) return false;
  c.skip_blanks();
  return c.done() || c.expected("the end of the line");
}

bool detect_awdit(const Source& source) {
  const std::string_view line = first_line(source.head());
  TextCursor c(line);
  Line op;
  return is_run_of(line, '=') || is_run_of(line, '-') || (!c.done() && parse(c, op));
}

class Reader {
 public:
  explicit Reader(Input& input) : input_(input) {}

  Result<History> run() {
    auto read = for_each_line(input_, [&](TextCursor& c) { return read_line(c); });
    if (!read.ok()) return read.error();
    TextCursor end{{}};
    if (!end_txn(end)) return input_.error(end.message());
    return std::move(builder_).finish();
  }

 private:
  bool read_line(TextCursor& c) {
    std::string_view rest = c.rest();
    while (rest.ends_with(' ') || rest.ends_with('\t')) rest.remove_suffix(1);
    if (is_run_of(rest, '-')) return end_txn(c);
    if (is_run_of(rest, '=')) {
      ++session_;
      return end_txn(c);
    }
    Line line;
    if (!parse(c, line)) return false;
    if (!open_) {
      TxnHeader header;
      header.session = ValueView::of(session_);
      header.line = input_.line();
      builder_.begin_txn(header);
      open_ = true;
    }
    if (line.write)
      builder_.write(ValueView::of(line.key), ValueView::of(line.value));
    else
      builder_.read(ValueView::of(line.key), ValueView::of(line.value));
    return true;
  }

  bool end_txn(TextCursor& c) {
    if (!open_) return true;
    open_ = false;
    auto s = builder_.end_txn();
    return s.ok() || c.fail(s.error().message);
  }

  Input& input_;
  HistoryBuilder builder_;
  int64_t session_ = 0;
  bool open_ = false;
};

Result<History> read_awdit(Source& source, Notes&) { return Reader(*source.input).run(); }

// Keys of which the initial value is read by something that is written.
std::set<int64_t> keys_read_initially(Registers& registers) {
  std::set<int64_t> keys;
  for (const auto& session : registers.sessions())
    for (TxnId t : session.txns)
      for (const RegisterOp& op : registers.ops(t))
        if (!op.write && op.value == 0) keys.insert(op.key);
  return keys;
}

void write_op(Output& out, const RegisterOp& op) {
  out.write(op.write ? "w " : "r ");
  out.write_integer(op.key);
  out.write(' ');
  out.write_integer(op.value);
  out.write('\n');
}

void write_awdit(const History& history, Output& out, Losses& losses) {
  bool initial = false;
  for (VersionId v = 0; v < history.version_count(); ++v) initial |= history.is_initial(v);
  Registers registers(history, {.initial_zero = initial, .session_names = false}, losses);
  bool first_session = true;
  if (initial) {
    const auto keys = keys_read_initially(registers);
    for (int64_t key : keys) write_op(out, {true, key, 0, false, {}});
    losses.add("initial values, written by a first transaction in a session of its own",
               keys.size());
    first_session = keys.empty();
  }
  for (const auto& session : registers.sessions()) {
    bool first_txn = true;
    for (TxnId t : session.txns) {
      const auto& ops = registers.ops(t);
      if (ops.empty()) {
        losses.add("transactions without operations");
        continue;
      }
      if (!first_txn)
        out.write("-----\n");
      else if (!first_session)
        out.write("=====\n");
      first_txn = first_session = false;
      for (const RegisterOp& op : ops) write_op(out, op);
    }
  }
  if (first_session) out.write("=====\n");  // nothing at all
}

}  // namespace

constexpr Format kAwdit = {
    .info = {.name = "awdit",
             .summary = "AWDIT's test format, r key value and w key value",
             .reads = true,
             .writes = true},
    .detect = detect_awdit,
    .read = read_awdit,
    .write = write_awdit,
};

}  // namespace assay::formats
