// dbcop bincode (2019): little-endian, 18 bytes per event, value 0 is the initial one.
#include <algorithm>
#include <string>
#include <unordered_set>

#include "formats/byte_reader.h"
#include "formats/byte_writer.h"
#include "formats/json_text.h"
#include "formats/registers.h"
#include "formats/registry.h"
#include "formats/streamed_builder.h"
#include "formats/utf8.h"

namespace assay::internal::formats {
namespace {

constexpr uint64_t kMaxTextLength = 1 << 16;

bool detect_dbcop(const Source& source) {
  std::string_view head = source.head();
  size_t at = 5 * 8;
  for (int i = 0; i < 3; ++i) {
    if (head.size() < at + 8) return false;
    const uint64_t length = ByteReader::u64(head.substr(at), true);
    at += 8;
    if (length > kMaxTextLength || head.size() < at + length) return false;
    std::string_view text = head.substr(at, length);
    if (!is_utf8(text) || std::any_of(text.begin(), text.end(),
                                      [](char c) { return static_cast<unsigned char>(c) < ' '; }))
      return false;
    at += length;
  }
  // No text file matches: the counts of the header have leading zero bytes.
  return head.size() >= at + 8 && head[15] == 0 && head[at + 7] == 0;
}

class DbcopReader {
 public:
  DbcopReader(Source& source, Notes& notes)
      : input_(*source.input),
        in_(input_),
        notes_(notes),
        builder_(input_.budget(), source.threads) {}

  Result<History> run() {
    builder_.set_initial(ValueView::of(0));
    if (!read_header() || !read_sessions()) return in_.ok() ? error_ : in_.error();
    if (failed_reads_ > 0)
      notes_.push_back({0, "left out " + std::to_string(failed_reads_) + " reads that failed"});
    if (failed_writes_ > 0)
      notes_.push_back({0, std::to_string(failed_writes_) +
                               " writes that failed inside committed transactions were read as "
                               "aborted transactions of their own"});
    return input_.located(std::move(builder_).finish());
  }

 private:
  bool read_header() {
    for (const char* what : {"the id", "the number of nodes", "the number of variables",
                             "the number of transactions", "the number of events"})
      in_.u64_little(what);
    std::string meta = "{";
    for (const char* what : {"info", "start", "end"}) {
      uint64_t at = in_.offset();
      uint64_t length = in_.u64_little(what);
      if (length > kMaxTextLength)
        return in_.refuse("expected the length of a text, at most 65536", at);
      std::string_view text = in_.bytes(length, what);
      if (!is_utf8(text)) return in_.refuse("expected UTF-8", at + 8);
      if (meta.size() > 1) meta += ',';
      append_json_string(meta, what);
      meta += ':';
      append_json_string(meta, text);
    }
    builder_.set_meta(meta + "}");
    return in_.ok();
  }

  bool read_sessions() {
    const uint64_t sessions = in_.u64_little("the number of sessions");
    for (uint64_t s = 0; s < sessions && in_.ok(); ++s) {
      const uint64_t txns = in_.u64_little("the number of transactions of a session");
      for (uint64_t t = 0; t < txns; ++t)
        if (!read_txn(static_cast<int64_t>(s))) return false;
    }
    if (in_.ok() && !in_.at_end()) return in_.refuse("expected the end of the file", in_.offset());
    return in_.ok();
  }

  bool read_txn(int64_t session) {
    ++record_;
    const uint64_t count_at = in_.offset();
    const uint64_t count = in_.u64_little("the number of events of a transaction");
    if (count > HistoryBuilder::kMaxOps)
      return in_.refuse("expected fewer than 4 billion events", count_at);
    events_.clear();
    for (uint64_t i = 0; i < count; ++i)
      if (!read_event()) return false;
    const uint64_t at = in_.offset();
    const uint8_t committed = in_.u8("the outcome of a transaction");
    if (committed > 1) return in_.refuse("expected 0 or 1, whether it committed", at);
    if (!in_.ok()) return false;
    return add_txn(session, committed == 1);
  }

  bool read_event() {
    const uint64_t at = in_.offset();
    std::string_view b = in_.bytes(18, "an event");
    if (!in_.ok()) return false;
    Event e{b[0] == 1, b[17] == 1, ByteReader::u64(b.substr(1), true),
            ByteReader::u64(b.substr(9), true)};
    if (static_cast<uint8_t>(b[0]) > 1)
      return in_.refuse("expected 0 for a read, 1 for a write", at);
    if (static_cast<uint8_t>(b[17]) > 1)
      return in_.refuse("expected 0 or 1, whether it succeeded", at + 17);
    if (e.value >> 63) return in_.refuse("expected a value below 2^63", at + 9);
    events_.push_back(e);
    return true;
  }

  // A write that failed inside a committed transaction had no effect, and must not be read: it
  // counts as undone.
  bool add_txn(int64_t session, bool committed) {
    TxnHeader header;
    header.session = ValueView::of(session);
    header.status = committed ? TxnStatus::committed : TxnStatus::aborted;
    header.line = record_;
    builder_.begin_txn(header);
    for (const Event& e : events_) {
      if (!e.write && !e.success) ++failed_reads_;
      if (e.success || (e.write && !committed)) add(e);
    }
    const size_t done = builder_.savepoint();
    for (const Event& e : events_) {
      if (!committed || e.success || !e.write) continue;
      ++failed_writes_;
      add(e);
    }
    return taken(builder_.roll_back_to(done)) && taken(builder_.end_txn());
  }

  struct Event {
    bool write;
    bool success;
    uint64_t key;
    uint64_t value;
  };
  void add(const Event& e) {
    ValueView key = ValueView::of(static_cast<int64_t>(e.key));
    // Keys may be 64-bit hashes; one that does not fit an integer becomes a text of the same
    // digits.
    if (e.key >> 63) {
      key = ValueView::of(std::string_view(*large_keys_.insert(std::to_string(e.key)).first));
    }
    ValueView value = ValueView::of(static_cast<int64_t>(e.value));
    builder_.add(e.write ? Op::write(key, value) : Op::read(key, value));
  }
  bool taken(const Status& s) {
    if (!s.ok()) error_ = input_.located(s.error());
    return s.ok();
  }

  Input& input_;
  ByteReader in_;
  Notes& notes_;
  StreamedBuilder builder_;
  std::vector<Event> events_;
  std::unordered_set<std::string> large_keys_;
  uint64_t record_ = 0;
  uint64_t failed_reads_ = 0;
  uint64_t failed_writes_ = 0;
  Error error_;
};

Result<History> read_dbcop(Source& source, Notes& notes) {
  return DbcopReader(source, notes).run();
}

void write_dbcop(const History& history, Output& out, Losses& losses) {
  Registers registers(history, {.aborted = true, .session_names = false}, losses);
  uint64_t most_txns = 0;
  uint64_t most_ops = 0;
  for (const auto& session : registers.sessions())
    most_txns = std::max<uint64_t>(most_txns, session.txns.size());
  for (TxnId t = 0; t < history.txn_count(); ++t)
    most_ops = std::max<uint64_t>(most_ops, history.end_op(t) - history.first_op(t));
  ByteWriter w(out);
  w.u64_little(0);
  w.u64_little(registers.sessions().size());
  w.u64_little(history.key_count());
  w.u64_little(most_txns);
  w.u64_little(most_ops);
  for (int i = 0; i < 3; ++i) w.u64_little(0);  // info, start, end
  w.u64_little(registers.sessions().size());
  for (const auto& session : registers.sessions()) {
    w.u64_little(session.txns.size());
    for (TxnId t : session.txns) {
      const auto& ops = registers.ops(t);
      w.u64_little(ops.size());
      for (const RegisterOp& op : ops) {
        w.u8(op.write ? 1 : 0);
        w.u64_little(static_cast<uint64_t>(op.key));
        w.u64_little(static_cast<uint64_t>(op.value));
        w.u8(1);
      }
      w.u8(registers.committed(t) ? 1 : 0);
    }
  }
}

}  // namespace

constexpr Format kDbcop = {
    .name = "dbcop",
    .summary = "dbcop's history.bincode (2019), also of PolySI",
    .detect = detect_dbcop,
    .read = read_dbcop,
    .write = write_dbcop,
};

}  // namespace assay::internal::formats
