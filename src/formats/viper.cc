// Viper's directories: one log per session, one committed transaction per line. In JSON,
// J<number>.log, whose operations are arrays or objects, or in EDN, Jep<number>.log.
//
// A read carries only the hash of its value, even if that was loaded before the run. So the logs
// are read twice: first the versions that were written, then the transactions, where the first read
// value of a key that was never written is the initial one. A second such value stays, and is out
// of thin air.
#include "formats/viper.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/directory.h"
#include "formats/registers.h"
#include "formats/viper_records.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;
constexpr std::string_view kJson = "J";  // the beginning of the names of files
constexpr std::string_view kEdn = "Jep";
constexpr std::string_view kNil = "nil";
constexpr int64_t kMillisecond = 1'000'000;
constexpr std::string_view kWantViperValue = "an integer of 64 bits or a string";

// The forms of an operation with named fields, with the fields in the order of the array form.
struct Form {
  std::string_view kind;
  std::array<std::string_view, 5> fields;
};
constexpr Form kForms[] = {
    {"r", {"key", "value", "isDead"}},
    {"w", {"key", "value", "succ"}},
    {"i", {"key", "value", "readValue", "isDead", "succ"}},
    {"d", {"key", "value", "readValue", "isDead", "succ"}},
    {"range", {"key1", "key2", "liveKVs", "deadKVs"}},
};

constexpr Form kUnknownForm = {};

class ViperReader {
 public:
  ViperReader(std::vector<SessionLog> logs, Notes& notes) : logs_(std::move(logs)), notes_(notes) {}

  Result<History> run() {
    // Collectors never delete: a tombstone stays, so an absent key was never written.
    builder_.set_absent_is_never_written();
    for (bool collecting : {true, false}) {
      collecting_ = collecting;
      for (const SessionLog& log : logs_)
        if (auto s = read_log(log); !s.ok()) return s.error();
    }
    if (initial_reads_ > 0 && !has_initial_txn_)
      notes_.push_back(
          {0, std::to_string(initial_reads_) +
                  " reads saw a value that was never written; as the only such value of its "
                  "key, it was taken as the initial value"});
    return std::move(builder_).finish();
  }

 private:
  Status read_log(const SessionLog& log) {
    auto input = log.open();
    if (!input.ok()) return input.error();
    builder_.limit(input->budget());
    ViperRecords records(*input);
    records_ = &records;
    json::element record;
    for (;;) {
      auto more = records.next(record);
      if (!more.ok()) return more.error();
      if (!*more) return Ok{};
      if (auto s = read_txn(record, log.session); !s.ok()) return s;
    }
  }

  Status read_txn(json::element record, int64_t session) {
    json::object txn;
    json::element field;
    json::array ops;
    if (record.get_object().get(txn) != simdjson::SUCCESS)
      return records_->expected({}, "a transaction, an object");
    std::string_view type;
    if (json_field(txn, "type", field) &&
        (field.get_string().get(type) != simdjson::SUCCESS || type != "ok"))
      return records_->expected({"type"}, "ok: these logs contain only what committed");
    if (!json_field(txn, "value", field) || field.get_array().get(ops) != simdjson::SUCCESS)
      return records_->expected({"value"}, "a field \"value\", an array of operations");
    bool initial = false;
    if (json_field(txn, "isInitial", field) && field.get_bool().get(initial) != simdjson::SUCCESS)
      return records_->expected({"isInitial"}, "true or false");
    TxnHeader header;
    header.session = ValueView::of(session);
    header.line = records_->line();
    if (auto s = read_time(txn, "preBeginTS", "postBeginTS", header.begin); !s.ok()) return s;
    if (auto s = read_time(txn, "preCommitTS", "postCommitTS", header.end); !s.ok()) return s;
    builder_.begin_txn(header);
    failed_.clear();
    initial_txn_ = initial;
    size_t i = 0;
    for (json::element op : ops)
      if (auto s = read_op(op, i++); !s.ok()) return s;
    has_initial_txn_ = has_initial_txn_ || initial;
    return collecting_ || initial ? Ok{} : end_txn();
  }

  // Ends a transaction. Failed writes had no effect: they count as undone, and a read of one is a
  // read of aborted data.
  Status end_txn() {
    const size_t done = builder_.savepoint();
    for (const auto& [key, value] : failed_) builder_.add(Op::write(key, value));
    Status s = builder_.roll_back_to(done);
    if (s.ok()) s = builder_.end_txn();
    return s.ok() ? s : records_->located(s.error());
  }

  Status read_time(json::object txn, const char* request, const char* response, Interval& to) {
    json::element a, b;
    int64_t from = 0;
    int64_t until = 0;
    if (!json_field(txn, request, a) || !json_field(txn, response, b)) return Ok{};
    constexpr int64_t kMost = INT64_MAX / kMillisecond;
    if (a.get_int64().get(from) != simdjson::SUCCESS || from < 0 || from > kMost)
      return records_->expected({request}, "a time in milliseconds");
    if (b.get_int64().get(until) != simdjson::SUCCESS || until < from || until > kMost)
      return records_->expected({response},
                                "a time in milliseconds, not before " + std::string(request));
    to = {from * kMillisecond, until * kMillisecond};
    return Ok{};
  }

  // Reads what a key held: a hash, or null for "nil", nil and 0.
  static bool version(json::element e, ValueView& to) {
    to = ValueView::null();
    if (e.is_null()) return true;
    if (!json_value(e, to)) return false;
    if (to == ValueView::of(kNil) || to == ValueView::of(0)) to = ValueView::null();
    return true;
  }

  static std::string pair_text(const ValueView& key, const ValueView& value) {
    std::string text;
    append_json_value(text, key);
    text += ' ';
    append_json_value(text, value);
    return text;
  }

  void add_write(const ValueView& key, const ValueView& value, bool ok, bool tombstone) {
    if (collecting_) {
      if (initial_txn_) {
        std::string name;
        append_json_value(name, key);
        initial_.try_emplace(std::move(name), pair_text(key, value));
      } else {
        written_.insert(pair_text(key, value));
      }
      return;
    }
    if (!ok)
      failed_.emplace_back(key, value);
    else if (tombstone)
      builder_.add(Op::remove(key, value));
    else
      builder_.add(Op::write(key, value));
  }

  // The version that was seen, with null instead of the initial value.
  ValueView seen(const ValueView& key, const ValueView& value) {
    if (collecting_ || value.is_null()) return value;
    std::string text = pair_text(key, value);
    if (written_.contains(text)) return value;
    std::string name;
    append_json_value(name, key);
    auto it = initial_.find(name);
    if (it == initial_.end()) {
      if (has_initial_txn_) return value;
      it = initial_.try_emplace(std::move(name), text).first;
    }
    if (it->second != text) return value;
    ++initial_reads_;
    return ValueView::null();
  }
  void add_read(const ValueView& key, const ValueView& value) {
    if (!collecting_) builder_.add(Op::read(key, seen(key, value)));
  }

  Status read_op(json::element e, size_t i) {
    constexpr std::string_view kWant = "an operation like [\"r\",5,123,false]";
    json::array array;
    json::object object;
    form_ = nullptr;
    part_.clear();
    if (e.get_array().get(array) == simdjson::SUCCESS) {
      for (json::element p : array) part_.push_back(p);
    } else if (e.get_object().get(object) != simdjson::SUCCESS || !name_parts(object)) {
      return records_->expected({"value", i}, kWant);
    }
    std::string_view kind;
    if (part_.empty() || part_[0].get_string().get(kind) != simdjson::SUCCESS)
      return records_->expected({"value", i}, kWant);
    if (kind == "range") return read_range(i);
    if (kind == "r" || kind == "w") return read_access(kind == "w", i);
    if (kind == "i" || kind == "d") return read_change(kind == "d", i);
    return records_->expected({"value", i, step(0)}, "one of r, w, i, d, range");
  }

  // Makes the array equivalent to {"opType":"r","key":5,…}, up to the first missing field.
  bool name_parts(json::object object) {
    json::element field;
    std::string_view kind;
    if (!json_field(object, "opType", field) || field.get_string().get(kind) != simdjson::SUCCESS)
      return false;
    part_.push_back(field);
    form_ = &kUnknownForm;
    for (const Form& form : kForms)
      if (form.kind == kind) form_ = &form;
    for (size_t f = 0; f < form_->fields.size() && !form_->fields[f].empty(); ++f) {
      if (!json_field(object, form_->fields[f], field)) break;
      part_.push_back(field);
    }
    return true;
  }
  // The path step to a part of the operation: an index, or a field.
  JsonStep step(size_t part) const {
    if (!form_) return JsonStep(part);
    return part == 0 ? JsonStep("opType") : JsonStep(form_->fields[part - 1]);
  }

  // Reads whether the write of an operation worked; if nothing is said, it did.
  Status read_ok(size_t i, size_t at, bool& ok) {
    if (at < part_.size() && part_[at].get_bool().get(ok) != simdjson::SUCCESS)
      return records_->expected({"value", i, step(at)}, "true or false");
    return Ok{};
  }

  Status read_access(bool write, size_t i) {
    ValueView key, value;
    if (part_.size() < 3)
      return records_->expected({"value", i},
                                "[\"r\", key, value, dead] or [\"w\", key, value, ok]");
    if (!json_value(part_[1], key))
      return records_->expected({"value", i, step(1)}, kWantViperValue);
    if (!version(part_[2], value) || (write && value.is_null()))
      return records_->expected({"value", i, step(2)}, kWantViperValue);
    bool ok = true;
    if (auto s = read_ok(i, 3, ok); !s.ok()) return s;
    if (write)
      add_write(key, value, ok, false);
    else
      add_read(key, value);
    return Ok{};
  }

  // Reads an insert or delete: the old value, then the new value or the tombstone.
  Status read_change(bool remove, size_t i) {
    ValueView key, value, before;
    if (part_.size() < 6)
      return records_->expected({"value", i}, "[\"i\" or \"d\", key, value, read value, dead, ok]");
    if (!json_value(part_[1], key))
      return records_->expected({"value", i, step(1)}, kWantViperValue);
    if (!version(part_[2], value))
      return records_->expected({"value", i, step(2)}, kWantViperValue);
    if (!version(part_[3], before))
      return records_->expected({"value", i, step(3)}, kWantViperValue);
    bool ok = true;
    if (auto s = read_ok(i, 5, ok); !s.ok()) return s;
    add_read(key, before);
    if (!value.is_null()) add_write(key, value, ok, remove);
    return Ok{};
  }

  Status read_range(size_t i) {
    ValueView bound[2];
    if (part_.size() < 4)
      return records_->expected({"value", i}, "[\"range\", low, high, [live], [dead]]");
    for (size_t b = 0; b < 2; ++b) {
      if (!part_[b + 1].is_null() && !json_value(part_[b + 1], bound[b]))
        return records_->expected({"value", i, step(b + 1)}, "a key or \"nil\"");
      // With named fields, the smallest or largest integer is an open end.
      if (bound[b] == ValueView::of(kNil) ||
          (form_ && bound[b] == ValueView::of(b == 0 ? INT64_MIN : INT64_MAX)))
        bound[b] = ValueView::null();
    }
    rows_.clear();
    for (size_t list = 3; list < std::min<size_t>(part_.size(), 5); ++list) {
      json::array rows;
      if (list == 4 && part_[list].is_bool()) break;  // "final", if there are no dead rows
      if (part_[list].get_array().get(rows) != simdjson::SUCCESS)
        return records_->expected({"value", i, step(list)}, "an array of {\"id\":…,\"val\":…}");
      size_t n = 0;
      for (json::element row : rows) {
        json::object object;
        json::element id, val;
        ValueView key, value;
        if (row.get_object().get(object) != simdjson::SUCCESS || !json_field(object, "id", id) ||
            !json_field(object, "val", val) || !json_value(id, key) || !version(val, value))
          return records_->expected({"value", i, step(list), n}, "{\"id\":key,\"val\":value}");
        ++n;
        // A key that was seen to be absent was not found.
        if (ValueView v = seen(key, value); !v.is_null() || list == 3) rows_.emplace_back(key, v);
      }
    }
    if (!collecting_) builder_.add(Op::range(bound[0], bound[1], rows_));
    return Ok{};
  }

  std::vector<SessionLog> logs_;
  Notes& notes_;
  HistoryBuilder builder_;
  ViperRecords* records_ = nullptr;
  bool collecting_ = false;
  bool initial_txn_ = false;
  bool has_initial_txn_ = false;
  uint64_t initial_reads_ = 0;
  std::unordered_set<std::string> written_;               // pairs of key and value
  std::unordered_map<std::string, std::string> initial_;  // key to pair of key and value
  std::vector<json::element> part_;
  const Form* form_ = nullptr;  // the form of an operation with named fields
  std::vector<std::pair<ValueView, ValueView>> failed_;
  std::vector<std::pair<ValueView, ValueView>> rows_;
};

bool detect_viper(const Source& source) { return !session_logs(source, kJson).empty(); }
bool detect_viper_edn(const Source& source) { return !session_logs(source, kEdn).empty(); }

Result<History> read_directory(Source& source, std::string_view prefix, Notes& notes) {
  std::vector<SessionLog> logs = session_logs(source, prefix);
  if (logs.empty()) return no_logs(prefix);
  return ViperReader(std::move(logs), notes).run();
}
Result<History> read_viper(Source& source, Notes& notes) {
  return read_directory(source, kJson, notes);
}
Result<History> read_viper_edn(Source& source, Notes& notes) {
  return read_directory(source, kEdn, notes);
}

// Whether a value was read that was never written. The reader would mistake it for the initial
// value, unless the logs say that they have an initial state.
bool reads_out_of_thin_air(Registers& registers) {
  std::set<std::pair<int64_t, int64_t>> unwritten;
  for (bool reads : {true, false})
    for (const auto& session : registers.sessions())
      for (TxnId t : session.txns)
        for (const RegisterOp& op : registers.ops(t)) {
          if (reads && !op.write && op.value != 0) unwritten.emplace(op.key, op.value);
          if (!reads && op.write) unwritten.erase({op.key, op.value});
        }
  return !unwritten.empty();
}

// What differs between the two notations.
struct Notation {
  std::string_view prefix;
  std::string_view initial;
  std::string_view open;
  std::string_view write, read;
  std::string_view nil;
  char gap;
};
constexpr Notation kJsonNotation = {
    kJson, "{\"isInitial\":true,\"value\":[]}\n", "{\"value\":[", "[\"w\",", "[\"r\",", "\"nil\"",
    ','};
constexpr Notation kEdnNotation = {
    kEdn, "{:isInitial true, :value []}\n", "{:type :ok :f :txn :value [", "[:w ", "[:r ", "nil",
    ' '};

Status write_directory(const History& history, const std::string& path, const Notation& n,
                       Losses& losses) {
  if (auto s = make_empty_directory(path); !s.ok()) return s;
  Registers registers(history, {.negative = true}, losses);
  std::string line;
  bool initial_state = reads_out_of_thin_air(registers);
  for (const auto& session : registers.sessions()) {
    if (session.txns.empty()) continue;
    auto out = Output::open(session_path(path, n.prefix, session.name));
    if (!out.ok()) return out.error();
    if (std::exchange(initial_state, false)) out->write(n.initial);
    for (TxnId t : session.txns) {
      line = n.open;
      const size_t start = line.size();
      for (const RegisterOp& op : registers.ops(t)) {
        if (op.write && op.value == 0) {
          losses.add("writes of the initial value");
          continue;
        }
        if (line.size() > start) line += n.gap;
        line += op.write ? n.write : n.read;
        (line += std::to_string(op.key)) += n.gap;
        line += op.value == 0 ? std::string(n.nil) : std::to_string(op.value);
        ((line += n.gap) += op.write ? "true" : "false") += ']';
      }
      line += "]}\n";
      out->write(line);
    }
    if (auto s = out->close(); !s.ok()) return s;
  }
  return Ok{};
}
Status write_viper(const History& history, const std::string& path, Losses& losses) {
  return write_directory(history, path, kJsonNotation, losses);
}
Status write_viper_edn(const History& history, const std::string& path, Losses& losses) {
  return write_directory(history, path, kEdnNotation, losses);
}

}  // namespace

Result<History> read_viper_log(std::string_view bytes, const std::string& name) {
  Notes notes;
  return ViperReader({log_of(bytes, name)}, notes).run();
}

constexpr Format kViper = {
    .name = "viper",
    .summary = "Viper's JSON directory, one J<number>.log per session",
    .detect = detect_viper,
    .read = read_viper,
    .write_directory = write_viper,
};

constexpr Format kViperEdn = {
    .name = "viper-edn",
    .summary = "Viper's EDN directory, one Jep<number>.log per session",
    .detect = detect_viper_edn,
    .read = read_viper_edn,
    .write_directory = write_viper_edn,
};

}  // namespace assay::internal::formats
