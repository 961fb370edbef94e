// Reads `assay` JSON Lines. One simdjson document per line; every line is validated field by field.
// When a line is wrong, its position is found by a second, slow walk (json_text.h).
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "formats/assay_jsonl.h"
#include "formats/assay_jsonl_chunks.h"
#include "formats/assay_jsonl_line.h"
#include "formats/assay_jsonl_scan.h"
#include "formats/json_text.h"
#include "formats/row_json.h"
#include "history/aggregate.h"
#include "history/level_name.h"
#include "history/value_bytes.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;
using JsonKind = json::element_type;
using Path = std::initializer_list<JsonStep>;

constexpr std::string_view kWantJsonlValue = "an integer of 64 bits or a string";
constexpr std::string_view kWantOpTimes = "an array with a time, or null, for each operation";
constexpr std::string_view kWantUndone =
    "an array of [from, to], the places of the first operation that a rollback undid and after the "
    "last";
constexpr std::string_view kWantStored = "an integer of 64 bits or a string, or a row of columns";

// The fields of a line that mean something; all others are ignored.
enum Field : uint32_t {
  kAssay = 1 << 0,
  kMeta = 1 << 1,
  kInitial = 1 << 2,
  kSession = 1 << 3,
  kTxn = 1 << 4,
  kStatus = 1 << 5,
  kBegin = 1 << 6,
  kEnd = 1 << 7,
  kStartTs = 1 << 8,
  kCommitTs = 1 << 9,
  kOps = 1 << 10,
  kEvent = 1 << 11,
  kAt = 1 << 12,
  kKey = 1 << 13,
  kOrder = 1 << 14,
  kAbsent = 1 << 15,
  kUses = 1 << 16,
  kSnapshot = 1 << 17,
  kOpTimes = 1 << 18,
  kAborted = 1 << 19,
  kLevel = 1 << 20,
  kUndone = 1 << 21,
};
constexpr std::pair<std::string_view, Field> kFields[] = {
    {"session", kSession},
    {"txn", kTxn},
    {"status", kStatus},
    {"begin", kBegin},
    {"end", kEnd},
    {"ops", kOps},
    {"meta", kMeta},
    {"start_ts", kStartTs},
    {"commit_ts", kCommitTs},
    {"assay", kAssay},
    {"initial", kInitial},
    {"event", kEvent},
    {"at", kAt},
    {"key", kKey},
    {"order", kOrder},
    {"absent", kAbsent},
    {"uses", kUses},
    {"snapshot", kSnapshot},
    {"op_times", kOpTimes},
    {"aborted", kAborted},
    {"level", kLevel},
    {"undone", kUndone},
};

// What the first line says about all others.
struct JsonlHeader {
  ValueView initial() const { return {initial_type, initial_integer, initial_text}; }

  ValueView::Type initial_type = ValueView::Type::null;
  int64_t initial_integer = 0;
  std::string initial_text;
  bool absent_is_never_written = false;
  std::string meta;
  std::string run;
};

// Reads lines into a batch; several of these objects can work in parallel on the lines of one file.
class JsonlLines {
 public:
  // Reads the lines into the batch. False after storing an error; the lines before the faulty one
  // are in the batch.
  bool read(const Input::Lines& lines) {
    std::string_view rest = lines.text();
    for (line_ = lines.first_line; !rest.empty(); ++line_) {
      const size_t end = rest.find('\n');
      const bool last = end == std::string_view::npos;
      std::string_view text = rest.substr(0, end);
      rest.remove_prefix(last ? rest.size() : end + 1);
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (!read_line(text, !last)) return false;
    }
    return true;
  }

  bool read(const Input::Line& line, uint64_t number) {
    line_ = number;
    return read_line(line.text, line.terminated);
  }

  // Whether no line was read yet: the next one may be a header.
  bool at_start() const { return first_; }
  const JsonlHeader& header() const { return header_; }
  // Prepares for lines that follow others, which begin with this header.
  void start_behind(const JsonlHeader& header) {
    first_ = false;
    header_.run = header.run;
  }

  // Makes transactions without outcome wait for theirs, and names those without a name after their
  // place in the session.
  void read_in_pieces() { in_pieces_ = true; }
  // Treats lines that began before `begin` and still have no outcome as unknown. False after
  // storing an error.
  bool give_up_before(int64_t begin) {
    std::vector<OpenLine> lines;
    std::erase_if(open_, [&](auto& entry) {
      if (entry.second.begin >= begin) return false;
      lines.push_back(std::move(entry.second));
      return true;
    });
    std::ranges::sort(lines, {}, &OpenLine::line);
    settling_ = true;
    bool good = true;
    for (OpenLine& open : lines) {
      const size_t size = open.text.size();
      open.text.append(Input::kPadding, ' ');
      line_ = open.line;
      settled_aborted_ = open.aborted;
      good = good && read_line(std::string_view(open.text).substr(0, size), true);
    }
    settling_ = settled_aborted_ = false;
    return good;
  }

  // Saves what holds for the lines to come.
  void save(StreamWriter& to) const {
    to.flag(first_);
    put_value(to, header_.initial());
    to.flag(header_.absent_is_never_written);
    to.text(header_.run);
    to.number(positions_.size());
    for (const auto& [session, position] : positions_) {
      to.text(session);
      to.number(position);
    }
    to.number(open_.size());
    for (const auto& [place, open] : open_) {
      to.text(place.first);
      to.text(place.second);
      to.integer(open.begin);
      to.number(open.line);
      to.text(open.text);
      to.flag(open.aborted);
    }
  }
  bool load(StreamReader& from) {
    first_ = from.flag();
    const ValueView initial = take_value_view(from);
    header_.initial_type = initial.type;
    header_.initial_integer = initial.integer;
    header_.initial_text = initial.text;
    header_.absent_is_never_written = from.flag();
    header_.run = from.text();
    for (size_t n = from.count(); n > 0; --n) {
      const std::string_view session = from.text();
      positions_.insert_or_assign(std::string(session), from.number());
    }
    for (size_t n = from.count(); n > 0; --n) {
      const std::string_view session = from.text(), name = from.text();
      OpenLine open;
      open.begin = from.integer();
      open.line = from.number();
      open.text = from.text();
      open.aborted = from.flag();
      open_.insert_or_assign({std::string(session), std::string(name)}, std::move(open));
    }
    return from.ok();
  }

  TxnBatch& batch() { return batch_; }
  // The error, without the name of the input.
  const Error& error() const { return error_; }
  Notes take_notes() { return std::exchange(notes_, {}); }

 private:
  // All functions below return false after storing an error.
  bool fail(std::span<const JsonStep> path, std::string message) {
    return fail_at(std::move(message), locate_json(text_, path) + 1);
  }
  bool fail(Path path, std::string message) {
    return fail(std::span(path.begin(), path.size()), std::move(message));
  }
  bool expected(Path path, std::string_view what) {
    return fail(path, "expected " + std::string(what));
  }
  bool fail_at(std::string message, uint64_t column) {
    error_ = bad_input(std::move(message), line_, column);
    return false;
  }

  bool read_line(std::string_view text, bool terminated) {
    text_ = text;
    if (terminated && scan_line()) return end_txn();
    if (text_.find_first_not_of(" \t") == std::string_view::npos) return true;
    if (parser_.max_depth() != kMaxJsonDepth || parser_.capacity() < text_.size()) {
      if (parser_.allocate(std::max(text_.size(), size_t{1} << 12), kMaxJsonDepth) !=
          simdjson::SUCCESS)
        return fail_at("not enough memory for the line", 0);
    }
    json::element document;
    // The bytes after the line are readable, so nothing needs to be copied.
    if (parser_.parse(text_.data(), text_.size(), false).get(document) != simdjson::SUCCESS)
      return broken_line(terminated);
    json::object object;
    if (document.get_object().get(object) != simdjson::SUCCESS)
      return expected({}, "a JSON object, one per line");
    return read_object(object);
  }

  // Whether the line has the usual shape, in which it is read without the parser, apart from its
  // end.
  bool scan_line() {
    if (first_ || settling_) return false;
    TxnHeader header;
    header.line = line_;
    if (!scan_.header(text_, header)) return false;
    if (in_pieces_ && (header.name.empty() || header.pending || !open_.empty())) return false;
    batch_.begin_txn(header);
    return scan_.operations(batch_);
  }

  bool end_txn() {
    const Status ended = batch_.end_txn();
    if (!ended.ok()) error_ = ended.error();
    return ended.ok();
  }

  bool broken_line(bool terminated) {
    auto fault = find_json_fault(text_);
    if (!fault) return fail_at("not valid JSON: a number is out of range", 1);
    if (fault->cut_off && !terminated) {
      notes_.push_back({line_, "line " + std::to_string(line_) + " is cut off and was ignored"});
      return true;
    }
    return fail_at("not valid JSON: " + fault->message, fault->offset + 1);
  }

  bool read_object(json::object object) {
    uint32_t seen = 0;
    for (json::key_value_pair field : object) {
      for (const auto& [name, bit] : kFields) {
        if (name != field.key) continue;
        if (seen & bit) return fail({name}, "field \"" + std::string(name) + "\" appears twice");
        seen |= bit;
        fields_[std::countr_zero(static_cast<uint32_t>(bit))] = field.value;
        break;
      }
    }
    seen_ = seen;
    bool first = std::exchange(first_, false);
    if (seen & kAssay) return read_header(first);
    if (seen & kEvent) return read_event();
    if (seen & kOps) return has(kInitial) && is_initial_state() ? read_load() : read_txn();
    if (seen & kKey && seen & (kOrder | kInitial))
      return (!has(kInitial) || read_initial()) && (!has(kOrder) || read_order());
    if (seen & kOrder) return read_order();
    return expected(
        {}, "a transaction (session, ops), an event, or a key with its order or initial value");
  }

  bool has(Field f) const { return (seen_ & f) != 0; }
  json::element field(Field f) const { return fields_[std::countr_zero(static_cast<uint32_t>(f))]; }

  bool read_header(bool first) {
    if (!first) return second_header();
    int64_t version = 0;
    if (field(kAssay).get_int64().get(version) != simdjson::SUCCESS || version < 1)
      return expected({"assay"}, "the version of the format, 1");
    if (version != 1)
      return fail({"assay"}, "version " + std::to_string(version) +
                                 " of the format is newer than this program, expected 1");
    if (has(kInitial)) {
      ValueView initial;
      if (!field(kInitial).is_null() && !value({"initial"}, field(kInitial), initial)) return false;
      header_.initial_type = initial.type;
      header_.initial_integer = initial.integer;
      header_.initial_text = initial.text;
    }
    if (has(kAbsent)) {
      std::string_view absent;
      if (field(kAbsent).get_string().get(absent) != simdjson::SUCCESS || absent != kNeverWritten)
        return expected({"absent"}, "\"never-written\"");
      header_.absent_is_never_written = true;
    }
    if (has(kUses) && !read_uses()) return false;
    if (has(kMeta)) {
      if (!field(kMeta).is_object()) return expected({"meta"}, "an object");
      header_.meta = simdjson::minify(field(kMeta));
      header_.run = run_in_header();
    }
    return true;
  }

  // Later versions of this program announce their additions to the format here, so this version
  // does not ignore them.
  bool read_uses() {
    json::array uses;
    if (field(kUses).get_array().get(uses) != simdjson::SUCCESS)
      return expected({"uses"}, "an array of what the file uses of the format");
    size_t i = 0;
    for (json::element use : uses) {
      std::string_view name;
      if (use.get_string().get(name) != simdjson::SUCCESS ||
          (name != kNamedVersions && name != kSources && name != kRows && name != kPredicates &&
           name != kAggregates && name != kUndoneParts && name != kInitialValues))
        return expected(
            {"uses", i},
            "one of \"named-versions\", \"sources\", \"rows\", \"pred\", \"undone\", \"initial\"");
      ++i;
    }
    return true;
  }

  // The run that the line's "meta" names; empty if none.
  std::string_view run_in_header() const {
    std::string_view run;
    if (!has(kMeta) || field(kMeta)["run"].get_string().get(run) != simdjson::SUCCESS) return {};
    return run;
  }

  // Whether the line begins another file of the same run: files may be concatenated.
  bool begins_part(std::string_view run) const {
    uint64_t part = 0;
    return !run.empty() && run == header_.run &&
           field(kMeta)["part"].get_uint64().get(part) == simdjson::SUCCESS && part > 1;
  }

  bool second_header() {
    const std::string_view run = run_in_header();
    if (begins_part(run)) return true;
    const std::string& before = header_.run;
    if (run.empty() || run == before) return fail({"assay"}, "a header may only be the first line");
    return fail({"assay"}, "the file holds two runs, " +
                               (before.empty() ? "one" : "'" + before + "'") +
                               " and from here on '" + std::string(run) + "'; expected one run");
  }

  bool read_event() {
    std::string_view name;
    if (field(kEvent).get_string().get(name) != simdjson::SUCCESS)
      return expected({"event"}, "a string that names the event");
    if (name == "overrun")
      return fail({"event"},
                  "another run prepared the same database while this one was recorded, so the "
                  "history says nothing about the database");
    int64_t at = Interval::kUnknown;
    if (has(kAt) && !integer({"at"}, field(kAt), at)) return false;
    if (name == kCompleteEvent && at == Interval::kUnknown)
      return expected({}, "a field \"at\" beside \"event\":\"complete\"");
    if (name == "settled" && has(kAborted) && !read_aborted()) return false;
    batch_.event(at,
                 std::string(text_.substr(text_.find('{'), text_.rfind('}') + 1 - text_.find('{'))),
                 name == kCompleteEvent);
    return true;
  }

  // Reads the names only; they are looked up when the history is complete.
  bool read_aborted() {
    json::array names;
    if (field(kAborted).get_array().get(names) != simdjson::SUCCESS)
      return expected({"aborted"}, "an array of names of transactions");
    size_t i = 0;
    for (json::element e : names) {
      ValueView name;
      if (!to_value(e, name)) return expected({"aborted", i}, kWantJsonlValue);
      ++i;
      if (open_.empty()) continue;
      const std::string text = name.to_string();
      for (auto& [place, open] : open_) open.aborted = open.aborted || place.second == text;
    }
    return true;
  }

  bool read_initial() {
    ValueView key, initial;
    if (!value({"key"}, field(kKey), key)) return false;
    if (!field(kInitial).is_null() && !to_stored(field(kInitial), initial))
      return expected({"initial"}, "an integer of 64 bits, a string, null, or a row of columns");
    batch_.initial(key, initial, line_);
    return true;
  }

  bool is_initial_state() const {
    bool load = true;
    return field(kInitial).get_bool().get(load) != simdjson::SUCCESS || load;
  }

  // Reads a load of initial values, whose transactions were not recorded.
  bool read_load() {
    if (!field(kInitial).is_bool()) return expected({"initial"}, "true or false");
    if (has(kSession))
      return fail({"session"}, "an initial transaction is before all sessions; expected none");
    std::string_view status;
    if (has(kStatus) && (field(kStatus).get_string().get(status) != simdjson::SUCCESS ||
                         status != status_name(TxnStatus::committed)))
      return expected({"status"}, "\"committed\" of an initial transaction");
    json::array ops;
    if (field(kOps).get_array().get(ops) != simdjson::SUCCESS)
      return expected({"ops"}, "an array of operations");
    size_t i = 0;
    for (json::element op : ops) {
      json::array parts;
      std::string_view kind;
      ValueView key, initial;
      if (op.get_array().get(parts) != simdjson::SUCCESS || parts.size() != 3 ||
          parts.at(0).get_string().get(kind) != simdjson::SUCCESS || kind != "w")
        return expected({"ops", i},
                        "[\"w\", key, value]: an initial transaction writes values and reads none");
      if (!to_value(parts.at(1).value(), key)) return expected({"ops", i, 1}, kWantJsonlValue);
      if (!parts.at(2).is_null() && !to_stored(parts.at(2).value(), initial))
        return expected({"ops", i, 2}, kWantStored);
      batch_.initial(key, initial, line_);
      ++i;
    }
    return true;
  }

  bool read_order() {
    if (!has(kKey)) return expected({}, "a field \"key\" beside \"order\"");
    ValueView key;
    if (!value({"key"}, field(kKey), key)) return false;
    json::array entries;
    if (field(kOrder).get_array().get(entries) != simdjson::SUCCESS)
      return expected({"order"}, "an array of versions");
    stated_.clear();
    for (json::element e : entries)
      if (!read_entry(e, stated_.emplace_back())) return false;
    batch_.known_order(key, stated_, line_);
    return true;
  }

  // Reads a value, or an object that names the transaction.
  bool read_entry(json::element e, StatedVersion& to) {
    constexpr std::string_view kWant =
        "an integer of 64 bits, a string, null, or an object with \"txn\" and perhaps \"value\" or "
        "\"deleted\"";
    const size_t i = stated_.size() - 1;
    if (to_value(e, to.value) || e.is_null()) return true;
    json::object object;
    if (e.get_object().get(object) != simdjson::SUCCESS) return expected({"order", i}, kWant);
    bool deleted = false, has_value = false;
    for (json::key_value_pair part : object) {
      if (part.key == "txn") {
        ValueView name;
        if (!to_value(part.value, name)) return expected({"order", i, "txn"}, kWantJsonlValue);
        to.txn = name_of(name);
      } else if (part.key == "value") {
        has_value = to_stored(part.value, to.value);
        if (!has_value) return expected({"order", i, "value"}, kWantStored);
      } else if (part.key == "deleted") {
        deleted = part.value.get_bool().get(deleted) == simdjson::SUCCESS && deleted;
        if (!deleted) return expected({"order", i, "deleted"}, "true");
      }
    }
    const bool row = to.value.type == ValueView::Type::row;
    if (to.txn.empty() && !row) return expected({"order", i}, kWant);
    to.final = !deleted && !has_value;
    return true;
  }

  bool read_txn() {
    if (!has(kSession)) return expected({}, "a field \"session\" beside \"ops\"");
    TxnHeader header;
    header.line = line_;
    if (!value({"session"}, field(kSession), header.session)) return false;
    if (has(kTxn) && !read_name(header)) return false;
    if (has(kStatus) && !read_status(header)) return false;
    if (in_pieces_ && header.name.empty()) name_by_position(header);
    if (has(kBegin) && !time({"begin"}, field(kBegin), header.begin)) return false;
    if (has(kEnd) && !time({"end"}, field(kEnd), header.end)) return false;
    if (has(kStartTs) && !integer({"start_ts"}, field(kStartTs), header.start_ts)) return false;
    if (has(kCommitTs) && !integer({"commit_ts"}, field(kCommitTs), header.commit_ts)) return false;
    if (has(kLevel) && !read_level(header)) return false;
    if (has(kSnapshot) && field(kSnapshot).get_string().get(header.snapshot) != simdjson::SUCCESS)
      return expected({"snapshot"}, "a string");
    header.snapshot = batch_.keep(header.snapshot);
    if (has(kMeta)) {
      if (!field(kMeta).is_object()) return expected({"meta"}, "an object");
      header.meta = batch_.keep(simdjson::minify(field(kMeta)));
    }
    json::array ops;
    if (field(kOps).get_array().get(ops) != simdjson::SUCCESS)
      return expected({"ops"}, "an array of operations");
    if (in_pieces_ && !settling_ && waits_for_outcome(header)) return true;
    if (settled_aborted_) {
      header.pending = false;
      header.status = TxnStatus::aborted;
    }
    if (has(kOpTimes) && !read_op_times()) return false;
    undone_.clear();
    if (has(kUndone) && !read_undone(ops.size())) return false;
    batch_.begin_txn(header);
    size_t i = 0;
    auto rollback = undone_.begin();
    for (json::element op : ops) {
      if (has(kUndone)) savepoints_.push_back(batch_.savepoint());
      time_ = has(kOpTimes) && i < op_times_.size() ? op_times_[i] : Interval{};
      if (!read_op(op, i)) return false;
      ++i;
      for (; rollback != undone_.end() && rollback->end == i; ++rollback)
        if (!roll_back_to(savepoints_[rollback->first])) return false;
    }
    if (has(kOpTimes) && i != op_times_.size()) return expected({"op_times"}, kWantOpTimes);
    return end_txn();
  }

  // Reads into undone_.
  bool read_undone(size_t ops) {
    json::array parts;
    if (field(kUndone).get_array().get(parts) != simdjson::SUCCESS)
      return expected({"undone"}, kWantUndone);
    savepoints_.clear();
    std::vector<UndonePart> outermost;
    size_t at = 0;
    for (json::element e : parts) {
      json::array ends;
      uint64_t first = 0, end = 0;
      if (e.get_array().get(ends) != simdjson::SUCCESS || ends.size() != 2 ||
          ends.at(0).get_uint64().get(first) != simdjson::SUCCESS ||
          ends.at(1).get_uint64().get(end) != simdjson::SUCCESS)
        return expected({"undone", at}, kWantUndone);
      if (first >= end || end > ops)
        return expected(
            {"undone", at},
            "places of operations, the second after the first and at most their number");
      // Among the earlier parts, the ones that are not inside a later part.
      const bool later = undone_.empty() || undone_.back().end <= end;
      while (!outermost.empty() && outermost.back().first >= first) outermost.pop_back();
      if (!later || (!outermost.empty() && outermost.back().end > first))
        return expected({"undone", at},
                        "a rollback after the ones before it, to a savepoint that was still there");
      outermost.push_back({first, end});
      undone_.push_back({first, end});
      ++at;
    }
    return true;
  }

  bool roll_back_to(size_t savepoint) {
    if (Status s = batch_.roll_back_to(savepoint); !s.ok()) {
      error_ = s.error();
      return false;
    }
    return true;
  }

  bool read_level(TxnHeader& header) {
    std::string_view name;
    if (field(kLevel).get_string().get(name) == simdjson::SUCCESS) header.level = find_level(name);
    return header.level || expected({"level"}, kWantLevel);
  }

  // Reads into op_times_.
  bool read_op_times() {
    json::array times;
    if (field(kOpTimes).get_array().get(times) != simdjson::SUCCESS)
      return expected({"op_times"}, kWantOpTimes);
    op_times_.clear();
    for (json::element e : times) {
      Interval& to = op_times_.emplace_back();
      if (!e.is_null() && !time({"op_times", op_times_.size() - 1}, e, to)) return false;
    }
    return true;
  }

  // Names the transaction by its position in the session, which in a piece differs from that in the
  // whole.
  void name_by_position(TxnHeader& header) {
    const std::string session = header.session.to_string();
    header.name = batch_.keep(session + "-" + std::to_string(positions_[session]++));
  }

  // Whether the line states no outcome. If an earlier line stated none, it is forgotten.
  bool waits_for_outcome(const TxnHeader& header) {
    if (!header.pending && open_.empty()) return false;
    std::pair place{header.session.to_string(), std::string(header.name)};
    if (!header.pending) return open_.erase(place), false;
    open_.insert_or_assign(std::move(place),
                           OpenLine{header.begin.request, line_, std::string(text_), false});
    return true;
  }

  bool read_name(TxnHeader& header) {
    ValueView name;
    if (!value({"txn"}, field(kTxn), name)) return false;
    header.name = name_of(name);
    return true;
  }

  // The name of a transaction may be an integer; it lives as long as the batch.
  std::string_view name_of(const ValueView& name) {
    return name.type == ValueView::Type::string ? name.text : batch_.keep(name.to_string());
  }

  bool read_status(TxnHeader& header) {
    std::string_view status;
    if (field(kStatus).get_string().get(status) == simdjson::SUCCESS) {
      if (status == "committed") return true;
      if (status == "aborted") return header.status = TxnStatus::aborted, true;
      if (status == "unknown") return header.status = TxnStatus::unknown, true;
      if (status == "pending") return header.pending = true;
    }
    return expected({"status"}, "\"committed\", \"aborted\", \"unknown\" or \"pending\"");
  }

  bool time(Path path, json::element e, Interval& to) {
    constexpr std::string_view kWant =
        "a time in nanoseconds or [request, response] with request not after response, which may "
        "be null";
    int64_t t = 0;
    if (e.get_int64().get(t) == simdjson::SUCCESS && t != Interval::kUnknown) {
      to = Interval::point(t);
      return true;
    }
    json::array pair;
    if (e.get_array().get(pair) != simdjson::SUCCESS || pair.size() != 2)
      return expected(path, kWant);
    to.response = Interval::kOpen;
    if (pair.at(0).get_int64().get(to.request) != simdjson::SUCCESS ||
        (!pair.at(1).is_null() && pair.at(1).get_int64().get(to.response) != simdjson::SUCCESS) ||
        to.request == Interval::kUnknown || to.request > to.response)
      return expected(path, kWant);
    return true;
  }

  bool integer(Path path, json::element e, int64_t& to) {
    if (e.get_int64().get(to) == simdjson::SUCCESS) return true;
    return expected(path, "an integer of 64 bits");
  }

  // The text of `to` lives as long as the batch.
  bool to_value(json::element e, ValueView& to) {
    switch (e.type()) {
      case JsonKind::INT64:
        to = ValueView::of(e.get_int64().value_unsafe());
        return true;
      case JsonKind::STRING:
        to = ValueView::of(batch_.keep(e.get_string().value_unsafe()));
        return true;
      default:
        return false;
    }
  }

  // Reads what a key may hold, including a row.
  bool to_stored(json::element e, ValueView& to) {
    json::object object;
    if (e.get_object().get(object) != simdjson::SUCCESS) return to_value(e, to);
    to = ValueView::row(batch_.keep(row_of_json(object)));
    return true;
  }

  bool value(Path path, json::element e, ValueView& to) {
    return to_value(e, to) || expected(path, kWantJsonlValue);
  }

  // Reads into elements_.
  bool read_list(Path path, json::element list) {
    json::array array;
    if (list.get_array().get(array) != simdjson::SUCCESS) return expected(path, "an array");
    elements_.clear();
    for (json::element e : array) {
      ValueView v;
      if (!to_value(e, v)) {
        std::vector<JsonStep> place(path);
        place.push_back(elements_.size());
        return fail(place, "expected " + std::string(kWantJsonlValue));
      }
      elements_.push_back(v);
    }
    return true;
  }

  bool read_op(json::element op, size_t i) {
    json::array parts;
    if (op.get_array().get(parts) != simdjson::SUCCESS)
      return expected({"ops", i}, "an operation like [\"r\",\"x\",1]");
    // The parts: at most five, and one more to notice a surplus.
    json::element part[6];
    size_t count = 0;
    for (json::element e : parts) {
      part[count++] = e;
      if (count == 6) break;
    }
    std::string_view kind;
    if (count == 0 || part[0].get_string().get(kind) != simdjson::SUCCESS)
      return expected({"ops", i}, "an operation like [\"r\",\"x\",1]");
    if (kind == "r") return read_read(part, count, i);
    if (kind == "w" || kind == "d" || kind == "append") return read_write(kind, part, count, i);
    if (kind == "cas") return read_cas(part, count, i);
    if (kind == "insert") return read_insert(part, count, i);
    if (kind == "range") return read_range(part, count, i);
    if (kind == "pred") return read_pred(part, count, i);
    if (kind == "agg") return read_aggregate(part, count, i);
    if (kind == "pupd" || kind == "pdel") return read_predicate_write(kind, part, count, i);
    return expected({"ops", i, size_t{0}},
                    "one of r, w, append, d, range, cas, insert, pred, agg, pupd, pdel");
  }

  bool add(Op op) {
    op.time = time_;
    return batch_.add(op);
  }

  // Whether an operation has as many parts as it needs.
  bool arity(size_t count, size_t want, size_t i, std::string_view form) {
    return count == want || expected({"ops", i}, form);
  }

  bool read_read(const json::element* part, size_t count, size_t i) {
    ValueView key, v;
    const bool has_source = count == 4;
    if (!has_source && !arity(count, 3, i, "[\"r\", key, value]")) return false;
    if (!to_value(part[1], key)) return expected({"ops", i, size_t{1}}, kWantJsonlValue);
    if (part[2].is_array() && !has_source) {
      if (!read_list({"ops", i, size_t{2}}, part[2])) return false;
      add(Op::read_list(key, elements_));
      return true;
    }
    if (!to_stored(part[2], v) && !part[2].is_null())
      return expected({"ops", i, size_t{2}},
                      has_source
                          ? "an integer of 64 bits, a string or null, as its source is stated"
                          : "an integer of 64 bits, a string, null or an array");
    if (has_source) return read_source(key, v, part[3], i);
    return add(Op::read(key, v));
  }

  bool read_source(const ValueView& key, const ValueView& v, json::element stated, size_t i) {
    json::element from;
    ValueView name;
    if (stated["from"].get(from) != simdjson::SUCCESS ||
        !(to_value(from, name) || from.is_null()) || (!from.is_null() && name.to_string().empty()))
      return expected(
          {"ops", i, size_t{3}},
          "an object with \"from\", the name of the transaction that wrote the value, or "
          "null for the initial state");
    return add(Op::read_from(key, v, from.is_null() ? "" : name_of(name)));
  }

  bool read_write(std::string_view kind, const json::element* part, size_t count, size_t i) {
    ValueView key, v;
    if (!arity(count, 3, i, "[\"" + std::string(kind) + "\", key, value]")) return false;
    if (!to_value(part[1], key)) return expected({"ops", i, size_t{1}}, kWantJsonlValue);
    if (!(kind == "append" ? to_value(part[2], v) : to_stored(part[2], v)))
      return expected({"ops", i, size_t{2}}, kind == "append" ? kWantJsonlValue : kWantStored);
    return add(kind == "w"   ? Op::write(key, v)
               : kind == "d" ? Op::remove(key, v)
                             : Op::append(key, v));
  }

  bool read_cas(const json::element* part, size_t count, size_t i) {
    ValueView key, before, after;
    bool effect = false;
    if (!arity(count, 5, i, "[\"cas\", key, expected, value, true or false]")) return false;
    if (!to_value(part[1], key)) return expected({"ops", i, size_t{1}}, kWantJsonlValue);
    if (!to_stored(part[2], before) && !part[2].is_null())
      return expected({"ops", i, size_t{2}}, "an integer of 64 bits, a string, a row or null");
    if (!to_stored(part[3], after)) return expected({"ops", i, size_t{3}}, kWantStored);
    if (part[4].get_bool().get(effect) != simdjson::SUCCESS)
      return expected({"ops", i, size_t{4}}, "true or false, whether it took effect");
    return add(Op::cas(key, before, after, effect));
  }

  bool read_insert(const json::element* part, size_t count, size_t i) {
    ValueView key, v;
    bool effect = false;
    if (!arity(count, 4, i, "[\"insert\", key, value, true or false]")) return false;
    if (!to_value(part[1], key)) return expected({"ops", i, size_t{1}}, kWantJsonlValue);
    if (!to_stored(part[2], v)) return expected({"ops", i, size_t{2}}, kWantStored);
    if (part[3].get_bool().get(effect) != simdjson::SUCCESS)
      return expected({"ops", i, size_t{3}}, "true or false, whether it took effect");
    return add(Op::insert(key, v, effect));
  }

  bool read_range(const json::element* part, size_t count, size_t i) {
    ValueView bound[2];
    if (!arity(count, 4, i, "[\"range\", low, high, [[key, value], …]]")) return false;
    for (size_t b = 0; b < 2; ++b)
      if (!to_value(part[b + 1], bound[b]) && !part[b + 1].is_null())
        return expected({"ops", i, b + 1}, "an integer of 64 bits, a string, or null if open");
    if (!read_rows(part[3], {"ops", i, size_t{3}}, rows_)) return false;
    return add(Op::range(bound[0], bound[1], rows_));
  }

  // Reads an array of [key, value]; with `absent`, null means an absent row.
  bool read_rows(json::element e, Path path, std::vector<Op::Row>& to, bool absent = false) {
    const auto at = [&](std::initializer_list<size_t> steps) {
      std::vector<JsonStep> place(path);
      for (const size_t step : steps) place.push_back(step);
      return place;
    };
    json::array rows;
    if (e.get_array().get(rows) != simdjson::SUCCESS)
      return expected(path, "an array of [key, value]");
    to.clear();
    for (json::element row : rows) {
      json::array pair;
      ValueView key, v;
      if (row.get_array().get(pair) != simdjson::SUCCESS || pair.size() != 2)
        return fail(at({to.size()}), "expected [key, value]");
      if (!to_value(pair.at(0).value_unsafe(), key))
        return fail(at({to.size(), 0}), "expected " + std::string(kWantJsonlValue));
      const json::element stored = pair.at(1).value_unsafe();
      if (!to_stored(stored, v) && !(absent && stored.is_null()))
        return fail(at({to.size(), 1}), "expected " + std::string(kWantStored));
      to.emplace_back(key, v);
    }
    return true;
  }

  // Adds a query, which has a condition.
  bool add_query(const Op& op, size_t i) {
    if (add(op)) return true;
    const Error& fault = batch_.fault();
    return fail({"ops", i, size_t{1}},
                fault.message + ", at its character " + std::to_string(fault.column));
  }

  bool read_where(const json::element& part, size_t i, Op& to) {
    to.kind = OpKind::range;
    return part.get_string().get(to.where.emplace()) == simdjson::SUCCESS ||
           expected({"ops", i, size_t{1}}, "a condition, like \"v >= 10 and v < 20\"");
  }

  bool read_pred(const json::element* part, size_t count, size_t i) {
    Op op;
    if (count != 4 && !arity(count, 3, i, "[\"pred\", condition, [[key, value], …]]")) return false;
    if (!read_where(part[1], i, op) || !read_rows(part[2], {"ops", i, size_t{2}}, rows_))
      return false;
    op.rows = rows_;
    passed_.clear();
    elements_.clear();
    if (count == 4 && !read_claims(part[3], i, op)) return false;
    op.passed = passed_;
    op.list = elements_;
    return add_query(op, i);
  }

  bool read_keys(json::element e, const std::vector<JsonStep>& place, ValueView& lo,
                 ValueView& hi) {
    json::array pair;
    if (e.get_array().get(pair) != simdjson::SUCCESS || pair.size() != 2)
      return fail(place, "expected [low, high], either null if open");
    for (size_t b = 0; b < 2; ++b)
      if (const json::element bound = pair.at(b).value_unsafe();
          !to_value(bound, b == 0 ? lo : hi) && !bound.is_null())
        return fail(place, "expected integers of 64 bits or strings, or null if open");
    return true;
  }

  // ["agg", condition, {"sum":12,"of":"v","keys":[low,high]}]
  bool read_aggregate(const json::element* part, size_t count, size_t i) {
    constexpr const char* kWhat =
        "one of \"count\", \"sum\", \"min\", \"max\", and \"of\", \"keys\"";
    Op to;
    AggregateFunction function = AggregateFunction::count;
    if (!arity(count, 3, i, "[\"agg\", condition, {\"count\": value}]")) return false;
    if (!read_where(part[1], i, to)) return false;
    json::object object;
    if (part[2].get_object().get(object) != simdjson::SUCCESS)
      return expected({"ops", i, size_t{2}}, std::string("an object of ") + kWhat);
    bool named = false, has_column = false;
    for (const json::key_value_pair field : object) {
      const std::string_view name = field.key;
      if (name == "keys") {
        if (!read_keys(field.value, {"ops", i, size_t{2}, name}, to.key, to.value)) return false;
      } else if (name == "of") {
        has_column = field.value.get_string().get(to.column) == simdjson::SUCCESS;
        if (!has_column) return expected({"ops", i, size_t{2}, name}, "the name of a column");
      } else if (named || !is_aggregate_name(name, function)) {
        return expected({"ops", i, size_t{2}, name}, kWhat);
      } else {
        named = true;
        if ((!to_value(field.value, to.expected) && !field.value.is_null()) ||
            !may_return(function, to.expected))
          return expected({"ops", i, size_t{2}, name}, std::string(wanted_of(function)));
      }
    }
    if (!named) return expected({"ops", i, size_t{2}}, std::string("an object of ") + kWhat);
    if (has_column != (function != AggregateFunction::count))
      return expected({"ops", i, size_t{2}},
                      has_column ? "no \"of\", as rows are counted" : "\"of\", a column, besides");
    to.aggregate = function;
    return add_query(to, i);
  }

  // The fields after the rows: {"keys":[low,high],"passed":…,"matched":…,"claims":…}.
  bool read_claims(json::element e, size_t i, Op& to) {
    constexpr size_t kPlace = 3;
    json::object object;
    if (e.get_object().get(object) != simdjson::SUCCESS)
      return expected({"ops", i, kPlace},
                      "an object of \"keys\", \"passed\", \"matched\", \"claims\"");
    for (const json::key_value_pair field : object) {
      const std::string_view name = field.key;
      if (name == "keys") {
        json::array pair;
        ValueView* bounds[] = {&to.key, &to.value};
        if (field.value.get_array().get(pair) != simdjson::SUCCESS || pair.size() != 2)
          return expected({"ops", i, kPlace, name}, "[low, high], either null if open");
        for (size_t b = 0; b < 2; ++b)
          if (const json::element bound = pair.at(b).value_unsafe();
              !to_value(bound, *bounds[b]) && !bound.is_null())
            return expected({"ops", i, kPlace, name, b},
                            "an integer of 64 bits, a string, or null if open");
      } else if (name == "passed") {
        if (!read_rows(field.value, {"ops", i, kPlace, name}, passed_, true)) return false;
      } else if (name == "matched") {
        if (!read_list({"ops", i, kPlace, name}, field.value)) return false;
      } else if (name == "claims") {
        std::string_view claim;
        if (field.value.get_string().get(claim) != simdjson::SUCCESS ||
            (claim != "complete" && claim != "found"))
          return expected({"ops", i, kPlace, name}, "\"complete\" or \"found\"");
        to.effect = claim == "complete";
      } else {
        return expected({"ops", i, kPlace, name},
                        "\"keys\", \"passed\", \"matched\" or \"claims\"");
      }
    }
    return true;
  }

  // Reads the rows that satisfied the condition, and the value that replaced them: a value or a
  // tombstone.
  bool read_predicate_write(std::string_view kind, const json::element* part, size_t count,
                            size_t i) {
    Op op;
    if (!arity(count, 3, i, "[\"" + std::string(kind) + "\", condition, [[key, value], …]]"))
      return false;
    if (!read_where(part[1], i, op) || !read_rows(part[2], {"ops", i, size_t{2}}, rows_))
      return false;
    elements_.clear();
    for (const auto& [key, value] : rows_) elements_.push_back(key);
    op.list = elements_;
    if (!add_query(op, i)) return false;
    for (const auto& [key, value] : rows_)
      kind == "pupd" ? add(Op::write(key, value)) : add(Op::remove(key, value));
    return true;
  }

  TxnBatch batch_;
  JsonlHeader header_;
  LineScan scan_;
  json::parser parser_{kMaxLineBytes};
  std::string_view text_;  // the current line
  uint64_t line_ = 0;      // its number
  json::element fields_[std::size(kFields)];
  uint32_t seen_ = 0;
  bool first_ = true;
  std::vector<ValueView> elements_;
  std::vector<StatedVersion> stated_;
  std::vector<Op::Row> rows_, passed_;
  std::vector<Interval> op_times_;  // of the operations of the line
  Interval time_;                   // of the current operation
  // A part that a rollback undid: the place of its first operation, and the place after its last.
  struct UndonePart {
    uint64_t first, end;
  };
  std::vector<UndonePart> undone_;  // in the order of the rollbacks
  std::vector<size_t> savepoints_;  // one before each operation
  Error error_;
  Notes notes_;
  // A line of a history in pieces that has no outcome yet.
  struct OpenLine {
    int64_t begin = Interval::kUnknown;
    uint64_t line = 0;
    std::string text = {};
    bool aborted = false;  // whether an event says that it aborted
  };
  bool in_pieces_ = false;
  bool settling_ = false;
  bool settled_aborted_ = false;                                  // the same for the current line
  std::unordered_map<std::string, uint64_t> positions_;           // by session, for sessions
                                                                  // without names
  std::map<std::pair<std::string, std::string>, OpenLine> open_;  // by session and name
};

class JsonlReader {
 public:
  JsonlReader(Input& input, Notes& notes) : input_(input), notes_(notes) {
    builder_.limit(input.budget());
  }

  // Blocks of lines are parsed in parallel and looked up one after the other, so the history is the
  // same for every number of threads.
  Result<History> run(unsigned threads) {
    if (Status s = read_first_line(); !s.ok()) return s.error();
    threads = std::min(threads, kMostThreads);
    std::vector<Block> blocks(threads == 1 ? 1 : 2 * threads);
    for (Block& block : blocks) block.parser.start_behind(lines_.header());
    Status status = Ok{};
    const auto fill = [&](Block& block) {
      auto more = input_.next_lines(block.lines, kBlockBytes);
      if (!more.ok()) status = more.error();
      return more.ok() && *more;
    };
    const auto parse = [](Block& block) { block.good = block.parser.read(block.lines); };
    const auto take = [&](Block& block) {
      if (Status s = take_from(block.parser, block.good); !s.ok()) status = s;
      return status.ok();
    };
    OrderedStream(std::span(blocks), threads, fill, parse, take).run();
    if (!status.ok()) return status.error();
    return finish();
  }

  // A history of the next lines, at most `lines` and at least one; transactions without outcome
  // wait for theirs, in later pieces. See JsonlChunks.
  Result<JsonlChunks::Chunk> next(size_t lines) {
    lines_.read_in_pieces();
    JsonlChunks::Chunk chunk;
    for (size_t read = 0; read < lines; ++read) {
      if (read > 0 && input_.would_wait()) break;
      Input::Line line;
      auto more = input_.next_line(line);
      if (!more.ok() && read > 0 && more.error().kind == ErrorKind::budget) break;
      if (!more.ok()) return more.error();
      chunk.end = !*more;
      if (chunk.end) break;
      if (Status s = take_line(line); !s.ok()) return s.error();
    }
    if (chunk.end)
      if (Status s = give_up_before(Interval::kOpen); !s.ok()) return s.error();
    auto history = finish();
    if (!history.ok()) return history.error();
    chunk.history = std::move(*history);
    start_piece();
    return chunk;
  }

  Status give_up_before(int64_t begin) { return take_from(lines_, lines_.give_up_before(begin)); }

  void save(StreamWriter& to) const { lines_.save(to); }
  Status load(StreamReader& from) {
    if (!lines_.load(from)) return bad_input("the saved state of the reader is invalid");
    start_piece();
    return Ok{};
  }

 private:
  // The size of the text that is parsed at a time: large enough that handing it over costs nothing,
  // small enough for the caches.
  static constexpr size_t kBlockBytes = size_t{1} << 18;

  // Looking up, which one thread does, takes as long as parsing on two.
  static constexpr unsigned kMostThreads = 4;

  struct Block {
    Input::Lines lines;
    JsonlLines parser;
    bool good = false;
  };

  Status take_line(const Input::Line& line) {
    const bool start = lines_.at_start();
    const bool good = lines_.read(line, input_.line());
    if (good && start && !lines_.at_start()) apply_header();
    return take_from(lines_, good);
  }

  // Reads the first line, and blank ones before it.
  Status read_first_line() {
    Input::Line line;
    while (lines_.at_start()) {
      auto more = input_.next_line(line);
      if (!more.ok()) return more.error();
      if (!*more) break;
      if (Status s = take_line(line); !s.ok()) return s;
    }
    return Ok{};
  }

  void apply_header() {
    const JsonlHeader& header = lines_.header();
    builder_.set_initial(header.initial());
    if (header.absent_is_never_written) builder_.set_absent_is_never_written();
    builder_.set_meta(header.meta);
  }

  // Takes over the transactions, up to the faulty line if there is one.
  Status take_from(JsonlLines& lines, bool good) {
    const Status added = builder_.add(lines.batch());
    lines.batch().clear();
    for (ReadNote& note : lines.take_notes()) notes_.push_back(std::move(note));
    if (!added.ok()) return input_.located(added.error());
    if (!good) return input_.located(lines.error());
    return Ok{};
  }

  Result<History> finish() { return input_.located(std::move(builder_).finish()); }

  // Prepares for the next piece: what the header said about values holds for it, too.
  void start_piece() {
    builder_ = HistoryBuilder();
    builder_.limit(input_.budget());
    builder_.set_initial(lines_.header().initial());
    if (lines_.header().absent_is_never_written) builder_.set_absent_is_never_written();
  }

  Input& input_;
  Notes& notes_;
  HistoryBuilder builder_;
  JsonlLines lines_;  // reads lines one by one
};

}  // namespace

struct JsonlChunks::Reader : JsonlReader {
  using JsonlReader::JsonlReader;
};

JsonlChunks::JsonlChunks(Input& input, std::vector<ReadNote>& notes)
    : reader_(std::make_unique<Reader>(input, notes)) {}
JsonlChunks::~JsonlChunks() = default;

Result<JsonlChunks::Chunk> JsonlChunks::next(size_t lines) { return reader_->next(lines); }

Status JsonlChunks::give_up_before(int64_t begin) { return reader_->give_up_before(begin); }

void JsonlChunks::save(StreamWriter& to) const { reader_->save(to); }

Status JsonlChunks::load(StreamReader& from) { return reader_->load(from); }

Result<History> read_assay_jsonl(Source& source, Notes& notes) {
  return JsonlReader(*source.input, notes).run(source.threads);
}

}  // namespace assay::internal::formats
