// PolySI text: r(key,value,session,txn) or w(key,value,session,txn) on each line; value 0 is the
// initial one. Operations of a transaction need not be neighbours, so all of them are collected
// first.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "formats/gathered_txns.h"
#include "formats/registers.h"
#include "formats/registry.h"
#include "formats/text_lines.h"

namespace assay::internal::formats {
namespace {

constexpr int64_t kOfAborted = -1;  // replaces a transaction id

struct PolysiLine {
  bool write = false;
  int64_t key = 0;
  int64_t value = 0;
  int64_t session = 0;
  int64_t txn = 0;
};

bool polysi_line(TextCursor& c, PolysiLine& to) {
  to.write = c.peek() == 'w';
  if (!c.accept("r(") && !c.accept("w("))
    return c.expected("an operation like r(key,value,session,txn) or w(key,value,session,txn)");
  if (!c.integer(to.key) || !c.expect(",") || !c.integer(to.value) || !c.expect(",") ||
      !c.integer(to.session) || !c.expect(",") || !c.integer(to.txn) || !c.expect(")"))
    return false;
  c.skip_blanks();
  return c.done() || c.expected("the end of the line");
}

bool detect_polysi(const Source& source) {
  TextCursor c(first_line(source.head()));
  PolysiLine line;
  return !c.done() && polysi_line(c, line);
}

class PolysiReader {
 public:
  PolysiReader(Input& input, Notes& notes) : input_(input), notes_(notes) {}

  Result<History> run() {
    auto read = for_each_line(input_, [&](TextCursor& c) {
      PolysiLine line;
      return polysi_line(c, line) && add(c, line);
    });
    if (!read.ok()) return read.error();
    return build();
  }

 private:
  struct ReadOrWrite {
    bool write;
    int64_t key;
    int64_t value;
  };
  using Gathered = GatheredTxns<ReadOrWrite>;

  bool add(TextCursor& c, const PolysiLine& line) {
    if (gathered_.full()) return c.fail("more than 4 billion operations");
    gathered_.add(txn_of(line), {line.write, line.key, line.value});
    return true;
  }

  // The transaction of a line. Adjacent aborted lines of a session count as one transaction.
  uint32_t txn_of(const PolysiLine& line) {
    const size_t known = gathered_.txns().size();
    const uint32_t last = gathered_.last();
    const bool joins = last != kNone && gathered_.at(last).session == line.session &&
                       gathered_.at(last).id == line.txn;
    if (joins) return last;
    if (line.txn == kOfAborted) {
      ++txns_of_session_[line.session];
      return gathered_.separate_txn(line.session, line.txn, input_.line());
    }
    const uint32_t t = gathered_.txn(line.session, line.txn, input_.line());
    if (gathered_.txns().size() == known) return t;
    ++txns_of_session_[line.session];
    auto [first, is_first] = session_of_id_.try_emplace(line.txn, line.session);
    if (!is_first && first->second != line.session) ++reused_ids_;
    return t;
  }

  // Whether this is the initial state, which some files spell out: a session whose only transaction
  // writes 0 to keys.
  bool is_initial(const Gathered::Txn& txn, std::span<const ReadOrWrite* const> ops) const {
    return txn.id != kOfAborted && txns_of_session_.at(txn.session) == 1 &&
           std::all_of(ops.begin(), ops.end(),
                       [](const ReadOrWrite* op) { return op->write && op->value == 0; });
  }

  Result<History> build() {
    HistoryBuilder builder;
    builder.limit(input_.budget());
    builder.set_initial(ValueView::of(0));
    auto built = gathered_.for_each(
        [&](uint32_t, const Gathered::Txn& txn, std::span<const ReadOrWrite* const> ops) -> Status {
          if (!is_initial(txn, ops)) return build_txn(builder, txn, ops);
          notes_.push_back({txn.line,
                            "a transaction that only writes 0, alone in its session, is "
                            "the initial state"});
          return Ok{};
        });
    if (!built.ok()) return input_.located(built.error());
    if (reused_ids_ > 0)
      notes_.push_back({0, std::to_string(reused_ids_) +
                               " transaction ids appear in several sessions; they were taken for "
                               "different transactions"});
    return std::move(builder).finish();
  }

  static Status build_txn(HistoryBuilder& builder, const Gathered::Txn& txn,
                          std::span<const ReadOrWrite* const> ops) {
    const std::string name = txn.id == kOfAborted ? std::string() : std::to_string(txn.id);
    TxnHeader header;
    header.session = ValueView::of(txn.session);
    header.name = name;
    header.status = txn.id == kOfAborted ? TxnStatus::aborted : TxnStatus::committed;
    header.line = txn.line;
    builder.begin_txn(header);
    for (const ReadOrWrite* op : ops) {
      const ValueView key = ValueView::of(op->key), value = ValueView::of(op->value);
      builder.add(op->write ? Op::write(key, value) : Op::read(key, value));
    }
    return builder.end_txn();
  }

  Input& input_;
  Notes& notes_;
  Gathered gathered_;
  std::unordered_map<int64_t, uint32_t> txns_of_session_;
  std::unordered_map<int64_t, int64_t> session_of_id_;
  uint64_t reused_ids_ = 0;
};

Result<History> read_polysi(Source& source, Notes& notes) {
  return PolysiReader(*source.input, notes).run();
}

void write_polysi(const History& history, Output& out, Losses& losses) {
  Registers registers(history, {.aborted = true, .negative = true}, losses);
  for (const auto& session : registers.sessions()) {
    bool after_aborted = false;
    for (TxnId t : session.txns) {
      const auto& ops = registers.ops(t);
      if (ops.empty()) losses.add("transactions without operations");
      const bool aborted = !registers.committed(t);
      if (aborted && after_aborted)
        losses.add("where an aborted transaction ends and the next begins");
      after_aborted = aborted;
      for (const RegisterOp& op : ops) {
        // Readers treat a first transaction that does nothing else as the initial state.
        if (op.write && op.value == 0)
          losses.add("that writes of the initial value are not the initial state");
        out.write(op.write ? "w(" : "r(");
        out.write_integer(op.key);
        out.write(',');
        out.write_integer(op.value);
        out.write(',');
        out.write_integer(session.name);
        out.write(',');
        out.write_integer(aborted ? kOfAborted : int64_t{t});
        out.write(")\n");
      }
    }
  }
}

}  // namespace

constexpr Format kPolysi = {
    .name = "polysi",
    .summary = "text of PolySI and Plume, r(key,value,session,txn) per line",
    .detect = detect_polysi,
    .read = read_polysi,
    .write = write_polysi,
};

}  // namespace assay::internal::formats
