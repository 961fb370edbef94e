// VeriStrong's list text: the number of operations, then "session txn R key n a1 … an" and
// "session txn A key value", one a line.
#include "formats/veristrong.h"

#include <string>
#include <vector>

#include "formats/gathered_txns.h"
#include "formats/json_text.h"
#include "formats/text_lines.h"

namespace assay::internal::formats {
namespace {

struct ListOp {
  bool append = false;
  int64_t key = 0;
  int64_t value = 0;
  std::vector<int64_t> elements;
};

bool detect_veristrong(const Source& source) {
  std::string_view head = source.head();
  const std::string_view count = first_line(head);
  if (count.empty() || count.find_first_not_of("0123456789") != count.npos) return false;
  head.remove_prefix(static_cast<size_t>(count.data() - head.data()) + count.size());
  const std::string_view line = first_line(head);
  TextCursor c(line);
  int64_t number = 0;
  if (c.done()) return count == "0";
  if (!c.integer(number) || !c.accept(" ") || !c.integer(number)) return false;
  return c.accept(" R ") || c.accept(" A ");
}

class VeristrongReader {
 public:
  explicit VeristrongReader(Input& input) : input_(input) {}

  Result<History> run() {
    auto read =
        for_each_line(input_, [&](TextCursor& c) { return counted_ ? read_op(c) : read_count(c); });
    if (!read.ok()) return read.error();
    if (!counted_ || lines_ != expected_)
      return input_.error("the file ends after " + std::to_string(lines_) +
                          " operations, expected " + std::to_string(expected_));
    HistoryBuilder builder;
    builder.limit(input_.budget());
    auto built =
        gathered_.for_each([&](uint32_t, const auto& txn, std::span<const ListOp* const> ops) {
          return build_txn(builder, txn, ops);
        });
    if (!built.ok()) return input_.located(built.error());
    return std::move(builder).finish();
  }

 private:
  bool end_of_line(TextCursor& c) {
    c.skip_blanks();
    return c.done() || c.expected("the end of the line");
  }
  bool number(TextCursor& c, int64_t& to) {
    c.skip_blanks();
    return c.integer(to);
  }

  bool read_count(TextCursor& c) {
    counted_ = true;
    return (c.integer(expected_, "the number of operations") && expected_ >= 0 && end_of_line(c)) ||
           c.expected("the number of operations");
  }

  bool read_op(TextCursor& c) {
    if (lines_ >= expected_) return c.expected("no more operations than the first line says");
    ++lines_;
    int64_t session = 0;
    int64_t txn = 0;
    ListOp op;
    if (!number(c, session) || !number(c, txn)) return false;
    c.skip_blanks();
    op.append = c.accept("A ");
    if (!op.append && !c.accept("R ")) return c.expected("R for a read or A for an append");
    if (!number(c, op.key)) return false;
    if (op.append ? !number(c, op.value) : !read_elements(c, op.elements)) return false;
    if (!end_of_line(c)) return false;
    gathered_.add(gathered_.txn(session, txn, input_.line()), std::move(op));
    return true;
  }

  bool read_elements(TextCursor& c, std::vector<int64_t>& to) {
    int64_t count = 0;
    if (!number(c, count)) return false;
    if (count < 0) return c.expected("the number of elements");
    for (; count > 0; --count)
      if (!number(c, to.emplace_back())) return false;
    return true;
  }

  static Status build_txn(HistoryBuilder& builder, const GatheredTxns<ListOp>::Txn& txn,
                          std::span<const ListOp* const> ops) {
    const std::string name = std::to_string(txn.id);
    TxnHeader header;
    header.session = ValueView::of(txn.session);
    header.name = name;
    header.line = txn.line;
    builder.begin_txn(header);
    std::vector<ValueView> elements;
    for (const ListOp* op : ops) {
      if (op->append) {
        builder.add(Op::append(ValueView::of(op->key), ValueView::of(op->value)));
        continue;
      }
      elements.clear();
      for (int64_t e : op->elements) elements.push_back(ValueView::of(e));
      builder.add(Op::read_list(ValueView::of(op->key), elements));
    }
    return builder.end_txn();
  }

  Input& input_;
  GatheredTxns<ListOp> gathered_;
  bool counted_ = false;
  int64_t expected_ = 0;
  int64_t lines_ = 0;
};

Result<History> read_veristrong(Source& source, Notes&) {
  return VeristrongReader(*source.input).run();
}

// Only committed appends and list reads of integers have a place; a read of null is one of an empty
// list.
class VeristrongWriter {
 public:
  VeristrongWriter(const History& history, Losses& losses) : h_(history), losses_(losses) {}

  void run(Output& out) {
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) != TxnStatus::committed) {
        losses_.add(h_.status(t) == TxnStatus::aborted ? "aborted transactions"
                                                       : "transactions of unknown outcome");
        continue;
      }
      if (h_.first_op(t) == h_.end_op(t)) losses_.add("transactions without operations");
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) write_op(t, i);
    }
    count_losses();
    losses_.keep(static_cast<uint64_t>(lines_));
    out.write_integer(lines_);
    out.write('\n');
    out.write(text_);
  }

 private:
  void write_op(TxnId t, OpId i) {
    const Operation op = h_.op(i);
    const bool null_read = op.kind == OpKind::read && h_.version_value(op.version).is_null();
    if (op.kind != OpKind::append && op.kind != OpKind::read_list && !null_read)
      return losses_.add("operations that are neither appends nor reads of lists");
    const bool append = op.kind == OpKind::append;
    std::string line =
        std::to_string(h_.session(t)) + ' ' + std::to_string(t) + (append ? " A " : " R ");
    bool integers = add_integer(line, h_.key(op.key));
    if (append) {
      line += ' ';
      integers = add_integer(line, h_.version_value(op.version)) && integers;
    } else {
      const auto elements = h_.operands(i);
      line += ' ' + std::to_string(elements.size());
      for (VersionId v : elements) {
        line += ' ';
        integers = add_integer(line, h_.version_value(v)) && integers;
      }
    }
    if (!integers) return losses_.add("operations with keys or values that are no integers");
    text_ += line + '\n';
    ++lines_;
  }
  static bool add_integer(std::string& line, const ValueView& v) {
    line += std::to_string(v.integer);
    return v.type == ValueView::Type::integer;
  }

  void count_losses() {
    losses_.add_annotations(h_);
    if (!h_.initial().is_null() || h_.has_own_initial()) losses_.add("the initial value");
    for (SessionId s = 0; s < h_.session_count(); ++s)
      if (h_.session_name(s) != ValueView::of(int64_t{s})) losses_.add("names of sessions");
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.begin_time(t).known() || h_.end_time(t).known()) losses_.add("times of transactions");
      if (h_.start_ts(t) != Interval::kUnknown || h_.commit_ts(t) != Interval::kUnknown)
        losses_.add("timestamps of transactions");
      if (h_.name(t) != std::to_string(t)) losses_.add("names of transactions");
    }
  }

  const History& h_;
  Losses& losses_;
  std::string text_;
  int64_t lines_ = 0;
};

void write_veristrong(const History& history, Output& out, Losses& losses) {
  VeristrongWriter(history, losses).run(out);
}

}  // namespace

constexpr Format kVeristrong = {
    .info = {.name = "veristrong",
             .summary = "VeriStrong's list text, session txn R or A",
             .reads = true,
             .writes = true},
    .detect = detect_veristrong,
    .read = read_veristrong,
    .write = write_veristrong,
};

}  // namespace assay::internal::formats
