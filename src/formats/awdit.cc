// AWDIT's test format: "r key value" or "w key value" per line; a line of dashes ends a
// transaction, a line of equals signs a session. There is no initial value: a file that needs one
// writes it first.
#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "formats/registers.h"
#include "formats/registry.h"
#include "formats/text_lines.h"

namespace assay::internal::formats {
namespace {

constexpr int64_t kAwditInitial = 0;

bool is_run_of(std::string_view text, char c) {
  return !text.empty() && text.find_first_not_of(c) == text.npos;
}

struct AwditLine {
  bool write = false;
  int64_t key = 0;
  int64_t value = 0;
};

bool awdit_line(TextCursor& c, AwditLine& to) {
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
  AwditLine op;
  return is_run_of(line, '=') || is_run_of(line, '-') || (!c.done() && awdit_line(c, op));
}

// Files have no initial state, so they write it first: a transaction that is alone in the first
// session and writes 0, which no other transaction writes, to every key. Otherwise this transaction
// would not be known to precede the transactions that overwrite it.
class AwditReader {
 public:
  AwditReader(Input& input, Notes& notes) : input_(input), notes_(notes) {}

  Result<History> run() {
    auto read = for_each_line(input_, [&](TextCursor& c) { return read_line(c); });
    if (!read.ok()) return read.error();
    end_txn();
    HistoryBuilder builder;
    builder.limit(input_.budget());
    const bool initial = starts_with_initial_state();
    if (initial) {
      builder.set_initial(ValueView::of(kAwditInitial));
      notes_.push_back({txns_.front().line,
                        "the first transaction, alone in its session, was taken "
                        "for the initial state"});
    }
    for (size_t t = initial ? 1 : 0; t < txns_.size(); ++t)
      if (auto s = add_txn(builder, txns_[t], initial); !s.ok()) return input_.located(s.error());
    return std::move(builder).finish();
  }

 private:
  struct Txn {
    int64_t session;
    uint64_t line;
    size_t begin, end;  // indices into ops_
  };

  bool read_line(TextCursor& c) {
    std::string_view rest = c.rest();
    while (rest.ends_with(' ') || rest.ends_with('\t')) rest.remove_suffix(1);
    if (is_run_of(rest, '-')) return end_txn();
    if (is_run_of(rest, '=')) {
      end_txn();
      ++session_;
      return true;
    }
    AwditLine line;
    if (!awdit_line(c, line)) return false;
    if (!open_) txns_.push_back({session_, input_.line(), ops_.size(), ops_.size()});
    open_ = true;
    ops_.push_back(line);
    return true;
  }

  bool end_txn() {
    if (open_) txns_.back().end = ops_.size();
    open_ = false;
    return true;
  }

  bool starts_with_initial_state() const {
    if (txns_.size() < 2 || txns_[0].session == txns_[1].session) return false;
    std::unordered_set<int64_t> keys;
    for (size_t i = 0; i < txns_[0].end; ++i)
      if (!ops_[i].write || ops_[i].value != kAwditInitial || !keys.insert(ops_[i].key).second)
        return false;
    return std::all_of(ops_.begin() + static_cast<ptrdiff_t>(txns_[0].end), ops_.end(),
                       [&](const AwditLine& op) {
                         return keys.contains(op.key) && !(op.write && op.value == kAwditInitial);
                       });
  }

  // Adds a transaction. Sessions are counted from 0 without the session of the initial state.
  Status add_txn(HistoryBuilder& builder, const Txn& txn, bool initial) const {
    TxnHeader header;
    header.session = ValueView::of(txn.session - (initial ? 1 : 0));
    header.line = txn.line;
    builder.begin_txn(header);
    for (size_t i = txn.begin; i < txn.end; ++i) {
      const AwditLine& op = ops_[i];
      const ValueView key = ValueView::of(op.key), value = ValueView::of(op.value);
      builder.add(op.write ? Op::write(key, value) : Op::read(key, value));
    }
    return builder.end_txn();
  }

  Input& input_;
  Notes& notes_;
  std::vector<Txn> txns_;
  std::vector<AwditLine> ops_;
  int64_t session_ = 0;
  bool open_ = false;
};

Result<History> read_awdit(Source& source, Notes& notes) {
  return AwditReader(*source.input, notes).run();
}

// All keys, if the initial value of one is read by a transaction that is written; otherwise none.
std::set<int64_t> keys_of_initial_state(Registers& registers) {
  std::set<int64_t> keys;
  bool read = false;
  for (const auto& session : registers.sessions())
    for (TxnId t : session.txns)
      for (const RegisterOp& op : registers.ops(t)) {
        keys.insert(op.key);
        read = read || (!op.write && op.value == kAwditInitial);
      }
  return read ? keys : std::set<int64_t>();
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
    const auto keys = keys_of_initial_state(registers);
    for (int64_t key : keys) write_op(out, {true, key, kAwditInitial, false, {}});
    losses.add("initial values, written by a first transaction in a session of its own",
               keys.size());
    first_session = keys.empty();
  }
  if (first_session && !history.initial().is_null())
    losses.add("an initial value that is never read");
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
  if (first_session) out.write("=====\n");  // there are no sessions
}

}  // namespace

constexpr Format kAwdit = {
    .name = "awdit",
    .summary = "AWDIT's test format, r key value and w key value",
    .detect = detect_awdit,
    .read = read_awdit,
    .write = write_awdit,
};

}  // namespace assay::internal::formats
