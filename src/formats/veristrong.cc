// VeriStrong's list text: the number of operations, then "session txn R key n a1 … an" or "session
// txn A key value" on each line.
#include <string>
#include <vector>

#include "formats/gathered_txns.h"
#include "formats/registers.h"
#include "formats/registry.h"
#include "formats/text_lines.h"

namespace assay::internal::formats {
namespace {

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
        gathered_.for_each([&](uint32_t, const auto& txn, std::span<const RegisterOp* const> ops) {
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
    if (lines_ >= expected_) return c.expected("no more operations than the first line states");
    ++lines_;
    int64_t session = 0;
    int64_t txn = 0;
    RegisterOp op;
    op.list = true;
    if (!number(c, session) || !number(c, txn)) return false;
    c.skip_blanks();
    op.write = c.accept("A ");
    if (!op.write && !c.accept("R ")) return c.expected("R for a read or A for an append");
    if (!number(c, op.key)) return false;
    if (op.write ? !number(c, op.value) : !read_elements(c, op.elements)) return false;
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

  static Status build_txn(HistoryBuilder& builder, const GatheredTxns<RegisterOp>::Txn& txn,
                          std::span<const RegisterOp* const> ops) {
    const std::string name = std::to_string(txn.id);
    TxnHeader header;
    header.session = ValueView::of(txn.session);
    header.name = name;
    header.line = txn.line;
    builder.begin_txn(header);
    std::vector<ValueView> elements;
    for (const RegisterOp* op : ops) {
      if (op->write) {
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
  GatheredTxns<RegisterOp> gathered_;
  bool counted_ = false;
  int64_t expected_ = 0;
  int64_t lines_ = 0;
};

Result<History> read_veristrong(Source& source, Notes&) {
  return VeristrongReader(*source.input).run();
}

void write_veristrong(const History& history, Output& out, Losses& losses) {
  Registers registers(history,
                      {.negative = true, .initial_zero = false, .lists = true, .registers = false},
                      losses);
  if (!history.initial().is_null() || history.has_own_initial()) losses.add("the initial value");
  std::string text;
  int64_t lines = 0;
  for (const auto& session : registers.sessions())
    for (TxnId t : session.txns) {
      const auto& ops = registers.ops(t);
      if (ops.empty()) losses.add("transactions without operations");
      for (const RegisterOp& op : ops) {
        text += std::to_string(session.name) + ' ' + std::to_string(t);
        text += (op.write ? " A " : " R ") + std::to_string(op.key) + ' ';
        text += op.write ? std::to_string(op.value) : std::to_string(op.elements.size());
        for (int64_t e : op.elements) text += ' ' + std::to_string(e);
        text += '\n';
        ++lines;
      }
    }
  out.write_integer(lines);
  out.write('\n');
  out.write(text);
}

}  // namespace

constexpr Format kVeristrong = {
    .name = "veristrong",
    .summary = "VeriStrong's list text, session txn R or A",
    .detect = detect_veristrong,
    .read = read_veristrong,
    .write = write_veristrong,
};

}  // namespace assay::internal::formats
