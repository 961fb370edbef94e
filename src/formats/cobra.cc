// Cobra logs: big-endian records, one file per session.
//
// A write is identified by its write id; the hash of the value only identifies equal contents. Logs
// made with duplicate values on purpose have reads that name no writer ("any writer"): then the
// hash is all there is, and the whole directory is read again with hashes as values.
#include "formats/cobra.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/byte_writer.h"
#include "formats/directory.h"
#include "formats/registers.h"
#include "formats/utf8.h"

namespace assay::internal::formats {
namespace {

constexpr std::string_view kPrefix = "T";

// Reserved ids, in place of a transaction or write that was read from.
constexpr uint64_t kCobraInitial = 0xbebeebee;  // loaded before the run
constexpr uint64_t kNull = 0xdeadbeef;          // the key was absent
constexpr uint64_t kMissing = 0xadeafbee;       // the key was absent, in Viper
constexpr uint64_t kCollected1 = 0x23332333;    // the log of the writer was collected as garbage
constexpr uint64_t kCollected2 = 0x66666666;
constexpr uint64_t kAnyWriter = 0xabddefee;  // any write of the same value

bool either(uint64_t txn, uint64_t write, std::initializer_list<uint64_t> ids) {
  return std::any_of(ids.begin(), ids.end(), [&](uint64_t id) { return txn == id || write == id; });
}

// The parts that a log's records have in addition to their ids.
struct Layout {
  bool times = false;      // S and C: a time
  bool text_keys = false;  // W and R: the key as text, preceded by its length, in place of its hash
};
// The first layout that fits is used.
constexpr Layout kLayouts[] = {{false, false}, {true, false}, {false, true}, {true, true}};

// Whether the bytes are whole records; a record that is cut off at the end counts, too.
bool are_records(std::string_view bytes, Layout layout) {
  constexpr size_t kNumber = 8;
  constexpr size_t kLength = 4;
  size_t at = 0;
  while (at < bytes.size()) {
    const char kind = bytes[at++];
    if (kind == 'S' || kind == 'C' || kind == 'A') {
      at += kNumber + (layout.times && kind != 'A' ? kNumber : 0);
      continue;
    }
    if (kind != 'W' && kind != 'R') return false;
    at += kind == 'W' ? kNumber : 2 * kNumber;
    if (layout.text_keys) {
      if (at + kLength > bytes.size()) return true;
      const uint32_t length = ByteReader::u32_big(bytes.substr(at, kLength));
      if (length > HistoryBuilder::kMaxTextBytes) return false;
      at += kLength + length + kNumber;
    } else {
      at += 2 * kNumber;
    }
  }
  return true;
}

class CobraReader {
 public:
  CobraReader(HistoryBuilder& builder, bool by_hash) : builder_(builder), by_hash_(by_hash) {}

  // Returns false if the log must be read again by hash, or if reading failed; then error() is set.
  bool read(Input& input, int64_t session) {
    ByteReader in(input);
    if (auto s = input.fill(kHeadBytes); !s.ok()) return fail(s.error());
    layout_ = {};
    for (const Layout& layout : kLayouts) {
      if (!are_records(input.window().substr(0, kHeadBytes), layout)) continue;
      layout_ = layout;
      break;
    }
    session_ = session;
    open_ = false;
    while (!in.at_end() && in.ok())
      if (!read_record(in)) return in.ok() ? false : fail(in.error());
    if (!in.ok()) return fail(in.error());
    // The log ends before the outcome: the commit may or may not have succeeded.
    return !open_ || end_txn(TxnStatus::unknown);
  }

  bool failed() const { return failed_; }
  const Error& error() const { return error_; }
  bool wants_hashes() const { return wants_hashes_; }
  uint64_t collected() const { return collected_; }

 private:
  // A key, by its hash, or as a part of texts_.
  struct Key {
    uint64_t hash = 0;
    size_t begin = 0;
    size_t size = 0;
  };

  bool fail(Error e) {
    error_ = std::move(e);
    failed_ = true;
    return false;
  }

  bool read_record(ByteReader& in) {
    const uint64_t at = in.offset();
    switch (in.u8("a record")) {
      case 'S':
        return begin(in, at);
      case 'C':
        return end(in, at, TxnStatus::committed);
      case 'A':
        return end(in, at, TxnStatus::aborted);
      case 'W':
        return write(in, at);
      case 'R':
        return read_op(in, at);
      default:
        return in.refuse("expected a record S, C, A, W or R", at);
    }
  }

  bool begin(ByteReader& in, uint64_t at) {
    if (open_) return in.refuse("expected the end of the transaction before the next begins", at);
    txn_ = in.u64_big("the id of a transaction");
    header_ = {};
    if (layout_.times) header_.begin = time(in);
    open_ = true;
    ops_.clear();
    texts_.clear();
    return in.ok();
  }

  bool end(ByteReader& in, uint64_t at, TxnStatus status) {
    if (!open_) return in.refuse("expected the begin of a transaction, S, before its end", at);
    if (in.u64_big("the id of a transaction") != txn_)
      return in.refuse("expected the end of transaction " + std::to_string(txn_), at);
    if (layout_.times && status == TxnStatus::committed) header_.end = time(in);
    return in.ok() && end_txn(status);
  }

  static Interval time(ByteReader& in) {
    const auto t = static_cast<int64_t>(in.u64_big("a time"));
    return t == Interval::kUnknown ? Interval{} : Interval::point(t);
  }

  bool write(ByteReader& in, uint64_t at) {
    if (!open_) return in.refuse("expected the begin of a transaction, S, before a write", at);
    const uint64_t id = in.u64_big("a write");
    const Key key = read_key(in);
    const uint64_t hash = in.u64_big("a write");
    ops_.push_back({true, key, false, by_hash_ ? hash : id});
    return in.ok();
  }

  Key read_key(ByteReader& in) {
    Key key;
    if (!layout_.text_keys) {
      key.hash = in.u64_big("a key");
      return key;
    }
    const uint64_t at = in.offset();
    const size_t length = ByteReader::u32_big(in.bytes(4, "the length of a key"));
    if (length > HistoryBuilder::kMaxTextBytes) {
      in.refuse("expected the length of a key, below 16 MiB", at);
      return key;
    }
    const std::string_view text = in.bytes(length, "a key");
    if (in.ok() && !is_utf8(text)) in.refuse("expected a key in UTF-8", at + 4);
    key.begin = texts_.size();
    key.size = text.size();
    texts_ += text;
    return key;
  }

  bool read_op(ByteReader& in, uint64_t at) {
    if (!open_) return in.refuse("expected the begin of a transaction, S, before a read", at);
    const uint64_t writer = in.u64_big("a read");
    const uint64_t id = in.u64_big("a read");
    const Key key = read_key(in);
    const uint64_t hash = in.u64_big("a read");
    if (!in.ok()) return false;
    if (either(writer, id, {kCollected1, kCollected2})) {
      ++collected_;
      return true;
    }
    if (either(writer, id, {kAnyWriter}) && !by_hash_) {
      wants_hashes_ = true;
      return false;
    }
    ops_.push_back(
        {false, key, either(writer, id, {kCobraInitial, kNull, kMissing}), by_hash_ ? hash : id});
    return true;
  }

  bool end_txn(TxnStatus status) {
    open_ = false;
    const std::string name = std::to_string(txn_);
    header_.session = ValueView::of(session_);
    header_.name = name;
    header_.status = status;
    builder_.begin_txn(header_);
    for (const CobraOp& op : ops_) {
      const ValueView key =
          layout_.text_keys
              ? ValueView::of(std::string_view(texts_).substr(op.key.begin, op.key.size))
              : ValueView::of(static_cast<int64_t>(op.key.hash));
      ValueView value =
          op.initial ? ValueView::null() : ValueView::of(static_cast<int64_t>(op.value));
      builder_.add(op.write ? Op::write(key, value) : Op::read(key, value));
    }
    if (auto s = builder_.end_txn(); !s.ok()) return fail(s.error());
    return true;
  }

  struct CobraOp {
    bool write;
    Key key;
    bool initial;
    uint64_t value;
  };
  HistoryBuilder& builder_;
  bool by_hash_;
  Layout layout_;
  int64_t session_ = 0;
  bool open_ = false;
  uint64_t txn_ = 0;
  TxnHeader header_;
  std::vector<CobraOp> ops_;
  std::string texts_;  // keys of the open transaction
  bool wants_hashes_ = false;
  uint64_t collected_ = 0;
  bool failed_ = false;
  Error error_;
};

bool detect_cobra(const Source& source) { return !session_logs(source, kPrefix).empty(); }

Result<History> read_logs(const std::vector<SessionLog>& logs, Budget* budget, Notes& notes) {
  for (bool by_hash : {false, true}) {
    HistoryBuilder builder;
    builder.limit(budget);
    CobraReader reader(builder, by_hash);
    for (const SessionLog& log : logs) {
      auto input = log.open();
      if (!input.ok()) return input.error();
      if (!reader.read(*input, log.session)) break;
    }
    if (reader.failed()) return reader.error();
    if (reader.wants_hashes()) continue;
    if (reader.collected() > 0)
      notes.push_back({0, "left out " + std::to_string(reader.collected()) +
                              " reads whose writer was collected as garbage"});
    return std::move(builder).finish();
  }
  return bad_input("contradictory marks of reads");
}

Result<History> read_cobra(Source& source, Notes& notes) {
  const std::vector<SessionLog> logs = session_logs(source, kPrefix);
  return logs.empty() ? no_logs(kPrefix) : read_logs(logs, source.budget, notes);
}

// Writes one file per session. A read names the transaction and the write that it returned, so the
// writers are numbered before anything is written.
class CobraWriter {
 public:
  CobraWriter(const History& history, Losses& losses)
      : registers_(history, {.negative = true}, losses), losses_(losses) {}

  Status write(const std::string& path) {
    if (auto s = make_empty_directory(path); !s.ok()) return s;
    number_writes();
    uint64_t next_write = 1;
    for (const auto& session : registers_.sessions()) {
      if (session.txns.empty()) continue;
      auto out = Output::open(session_path(path, kPrefix, session.name));
      if (!out.ok()) return out.error();
      ByteWriter w(*out);
      for (TxnId t : session.txns) {
        w.u8('S');
        w.u64_big(uint64_t{t} + 1);
        for (const RegisterOp& op : registers_.ops(t)) write_op(w, op, next_write);
        w.u8('C');
        w.u64_big(uint64_t{t} + 1);
      }
      if (auto s = out->close(); !s.ok()) return s;
    }
    return Ok{};
  }

 private:
  struct Place {
    uint64_t txn;
    uint64_t write;
  };
  struct Version {
    int64_t key;
    int64_t value;
    bool operator==(const Version&) const = default;
  };
  struct VersionHash {
    size_t operator()(const Version& v) const {
      return std::hash<int64_t>()(v.key) * 0x9E3779B97F4A7C15u ^ std::hash<int64_t>()(v.value);
    }
  };

  // Numbers the writes. A read names its writer; of several that wrote its value, the first.
  void number_writes() {
    uint64_t next = 1;
    uint64_t repeated = 0;
    for (const auto& session : registers_.sessions())
      for (TxnId t : session.txns)
        for (const RegisterOp& op : registers_.ops(t))
          if (op.write) repeated += !number(op, Place{uint64_t{t} + 1, next++});
    losses_.add("that values were written twice and reads could be of either", repeated);
  }

  // Returns false if the value was written before, or if it is the initial one.
  bool number(const RegisterOp& op, Place place) {
    return places_.try_emplace({op.key, op.value}, place).second && op.value != 0;
  }

  void write_op(ByteWriter& w, const RegisterOp& op, uint64_t& next_write) {
    if (op.write) {
      w.u8('W');
      w.u64_big(next_write++);
    } else {
      // A value that was never written keeps an id that no write has.
      Place place{kCobraInitial, kCobraInitial};
      auto it = places_.find({op.key, op.value});
      if (it == places_.end() && op.value != 0)
        it = places_.try_emplace({op.key, op.value}, Place{0, unwritten_--}).first;
      if (it != places_.end()) place = it->second;
      w.u8('R');
      w.u64_big(place.txn);
      w.u64_big(place.write);
    }
    w.u64_big(static_cast<uint64_t>(op.key));
    w.u64_big(static_cast<uint64_t>(op.value));
  }

  Registers registers_;
  Losses& losses_;
  uint64_t unwritten_ = ~uint64_t{0};
  std::unordered_map<Version, Place, VersionHash> places_;
};

Status write_cobra(const History& history, const std::string& path, Losses& losses) {
  losses.add("values, replaced by the ids of their writes", history.version_count());
  return CobraWriter(history, losses).write(path);
}

}  // namespace

Result<History> read_cobra_log(std::string_view bytes, const std::string& name) {
  Notes notes;
  return read_logs({log_of(bytes, name)}, nullptr, notes);
}

constexpr Format kCobra = {
    .name = "cobra",
    .summary = "Cobra's log directory, one T<number>.log per session",
    .detect = detect_cobra,
    .read = read_cobra,
    .write_directory = write_cobra,
};

}  // namespace assay::internal::formats
