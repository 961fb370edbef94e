// A history as a table of facts, one row for each transaction and key:
//
//   s1: { r(x,null) w(x,1) w(x,2) r(x,2) r(y,7) }
//
//   txn  session_id  place  …  item  reads  seen  writes  written
//   1-0  1           0         x     true         true    2
//   1-0  1           0         y     true   7     false
//
// The operations within a transaction are summarized here, once: its reads of others, its final
// writes, and whether it contradicts itself. So a query about the table needs no more than one
// window over each key. Each transaction also has a place in an order that explains the history, if
// its times are right: see docs/lake.md.
//
// An unknown outcome has no end. An unknown transaction that was read has the place that it would
// have had with the average duration of the others, or just before the first reader; one that was
// not read is omitted, since it need not have had an effect, unless it deletes: an absent key may
// need that.
#include "formats/facts.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "formats/json_text.h"
#include "formats/parquet.h"
#include "formats/text_lines.h"
#include "formats/utf8.h"
#include "history/accesses.h"

namespace assay::internal::formats {
namespace {

constexpr std::array<std::string_view, kFactColumns> kFactNames = {"txn",
                                                                   "session_id",
                                                                   "place",
                                                                   "unknown",
                                                                   "began",
                                                                   "began_by",
                                                                   "ended_from",
                                                                   "ended",
                                                                   "serial_at",
                                                                   "snapshot_at",
                                                                   "commit_at",
                                                                   "item",
                                                                   "reads",
                                                                   "seen",
                                                                   "writes",
                                                                   "written",
                                                                   "contradicts",
                                                                   "expected",
                                                                   "instead",
                                                                   "window_id",
                                                                   "window_from",
                                                                   "window_to",
                                                                   "explained_outside"};

std::optional<int64_t> integer_of(std::string_view text) {
  int64_t v = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, v);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return v;
}

// A cell: an integer; a text as it is or, if it could be mistaken for something else, as a JSON
// string; empty for null.
std::string cell_of(const ValueView& v) {
  if (v.is_null()) return {};
  if (v.type == ValueView::Type::integer) return std::to_string(v.integer);
  std::string json;
  append_json_string(json, v.text);
  const bool plain = json.size() == v.text.size() + 2 && !v.text.empty() && !integer_of(v.text);
  return plain ? std::string(v.text) : json;
}

// What one transaction did, key by key.
class Effects {
 public:
  struct Effect {
    KeyId key = kNone;
    bool reads = false, writes = false, removed = false, contradicts = false;
    VersionId seen = kNone, written = kNone;
    ValueView expected{}, instead{};  // of the first contradiction
  };

  Effects(const History& history, Losses& losses) : h_(history), losses_(losses) {
    place_.assign(h_.key_count(), kNone);
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (h_.op(i).kind == OpKind::remove) tombstones_.insert(h_.op(i).version);
  }

  const std::vector<Effect>& of(TxnId t) {
    for (const Effect& e : effects_) place_[e.key] = kNone;
    effects_.clear();
    told_ = 0;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) add(i);
    uint64_t kept = 0;
    for (const Effect& e : effects_) kept += uint64_t{e.reads} + e.writes;
    losses_.add("operations visible only to their own transaction", told_ - kept);
    return effects_;
  }

 private:
  Effect& at(KeyId key) {
    if (place_[key] == kNone) {
      place_[key] = static_cast<uint32_t>(effects_.size());
      effects_.emplace_back().key = key;
    }
    return effects_[place_[key]];
  }

  void add(OpId i) {
    const Operation op = h_.op(i);
    const Observation seen = observation_of(h_, i);
    switch (seen.accepts) {
      case Accepts::equals:
        see(at(op.key), seen.version);
        break;
      case Accepts::absent:
        see_absent(at(op.key));
        break;
      case Accepts::any:
        break;
      default:
        losses_.add(is_range(op)             ? "range reads"
                    : is_list_operation(op)  ? "lists"
                    : op.kind == OpKind::cas ? "compare-and-sets that failed"
                                             : "inserts that failed");
        return;
    }
    if (op.kind == OpKind::append) return losses_.add("lists");
    told_ += seen.accepts != Accepts::any;
    if (!installs_version(op)) return;
    if (op.kind == OpKind::cas || op.kind == OpKind::insert)
      losses_.add("compare-and-sets and inserts, written as a read and a write");
    ++told_;
    Effect& e = at(op.key);
    e.writes = true;
    e.written = op.version;
    e.removed = op.kind == OpKind::remove;
  }

  void see(Effect& e, VersionId version) {
    if (e.writes)
      return note(e, shows(h_, {e.written, e.removed}, version), h_.version_value(version),
                  version);
    // A deletion leaves no value in the table, so an absent key may be from any deletion.
    if (tombstones_.contains(version)) {
      losses_.add("which deletion a read saw");
      return see_absent(e);
    }
    const bool agrees =
        !e.reads || e.seen == version || (e.seen == kNone && h_.version_value(version).is_null());
    note(e, agrees, h_.version_value(version), version);
  }
  void see_absent(Effect& e) {
    const bool agrees = e.writes
                            ? is_absent(h_, {e.written, e.removed})
                            : !e.reads || e.seen == kNone || h_.version_value(e.seen).is_null();
    note(e, agrees, ValueView::null(), kNone);
  }
  void note(Effect& e, bool agrees, const ValueView& value, VersionId version) {
    if (!agrees && !e.contradicts) {
      e.contradicts = true;
      if (!e.removed) e.expected = value_of(e.writes ? e.written : e.seen);
      e.instead = value;
    }
    if (e.writes || e.reads) return;
    e.reads = true;
    e.seen = version;
  }
  ValueView value_of(VersionId v) const {
    return v == kNone ? ValueView::null() : h_.version_value(v);
  }

  const History& h_;
  Losses& losses_;
  std::vector<uint32_t> place_;  // indexed by key: its place in effects_
  std::vector<Effect> effects_;
  std::unordered_set<VersionId> tombstones_;
  uint64_t told_ = 0;  // how much the transaction's operations observed and installed
};

// The places that the history proposes for its transactions.
class ProposedOrder {
 public:
  ProposedOrder(const History& history, Losses& losses) : h_(history) {
    const uint32_t count = h_.txn_count();
    serial_.resize(count);
    snapshot_.resize(count);
    commit_.resize(count);
    kept_.assign(count, 0);
    bool stamped = true, unknown = false;
    for (TxnId t = 0; t < count; ++t) {
      kept_[t] = h_.status(t) == TxnStatus::committed;
      unknown = unknown || h_.status(t) == TxnStatus::unknown;
      stamped = stamped && (!kept_[t] || (h_.start_ts(t) != Interval::kUnknown &&
                                          h_.commit_ts(t) != Interval::kUnknown));
    }
    const bool timed = h_.fully_timed();
    for (TxnId t = 0; t < count; ++t) {
      snapshot_[t] = timed ? h_.begin_time(t).request : stamped ? h_.start_ts(t) : int64_t{t};
      commit_[t] = timed ? h_.end_time(t).request : stamped ? h_.commit_ts(t) : int64_t{t};
      serial_[t] = commit_[t];
    }
    if (unknown) place_unknown(losses);
  }

  bool kept(TxnId t) const { return kept_[t]; }
  int64_t serial_at(TxnId t) const { return serial_[t]; }
  int64_t snapshot_at(TxnId t) const { return snapshot_[t]; }
  int64_t commit_at(TxnId t) const { return commit_[t]; }

 private:
  // The average duration of committed transactions.
  int64_t usual_duration() const {
    double sum = 0;
    uint64_t count = 0;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      const int64_t begin = h_.begin_time(t).request, end = h_.end_time(t).request;
      if (h_.status(t) != TxnStatus::committed || !Interval::is_moment(begin) ||
          !Interval::is_moment(end))
        continue;
      sum += static_cast<double>(end) - static_cast<double>(begin);
      ++count;
    }
    return count == 0 ? 0 : static_cast<int64_t>(sum / static_cast<double>(count));
  }

  // Places each unknown transaction that a counting one read, before its first reader. Earlier
  // readers may turn up later: then it is moved, a few times at most, since this is only a
  // proposal.
  void place_unknown(Losses& losses) {
    constexpr uint8_t kMostMoves = 8;
    constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
    const int64_t usual = usual_duration();
    std::unordered_map<VersionId, std::vector<TxnId>> writers;
    std::vector<TxnId> todo;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) == TxnStatus::committed) todo.push_back(t);
      if (h_.status(t) != TxnStatus::unknown) continue;
      bool deletes = false;
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        const Operation op = h_.op(i);
        if (installs_version(op)) writers[op.version].push_back(t);
        deletes = deletes || op.kind == OpKind::remove;
      }
      serial_[t] = commit_[t] = kNever;
      if (deletes) keep(t, todo);
    }
    std::vector<uint8_t> moves(h_.txn_count());
    for (size_t next = 0; next < todo.size(); ++next) {  // the vector grows
      const TxnId reader = todo[next];
      for (OpId i = h_.first_op(reader); i < h_.end_op(reader); ++i) {
        const Observation seen = observation_of(h_, i);
        if (seen.accepts != Accepts::equals) continue;
        const auto found = writers.find(seen.version);
        if (found == writers.end()) continue;
        for (const TxnId t : found->second) {
          if (t == reader || moves[t] == kMostMoves) continue;
          const int64_t begin = h_.begin_time(t).request;  // the smallest number if it is not known
          const int64_t likely = Interval::is_moment(begin) ? begin + usual : kNever;
          const int64_t serial = std::max(begin, std::min(likely, serial_[reader] - 1));
          const int64_t commit = std::max(begin, std::min(likely, snapshot_[reader] - 1));
          if (serial >= serial_[t] && commit >= commit_[t]) continue;
          serial_[t] = std::min(serial, serial_[t]);
          commit_[t] = std::min(commit, commit_[t]);
          ++moves[t];
          keep(t, todo);
        }
      }
    }
    uint64_t unread = 0;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      unread += h_.status(t) == TxnStatus::unknown && !kept_[t];
      if (serial_[t] == kNever) serial_[t] = commit_[t] = h_.begin_time(t).request;
      if (h_.status(t) == TxnStatus::unknown) snapshot_[t] = std::min(snapshot_[t], commit_[t]);
    }
    losses.add("transactions of unknown outcome that nothing read", unread);
  }

  void keep(TxnId t, std::vector<TxnId>& todo) {
    kept_[t] = 1;
    todo.push_back(t);
  }

  const History& h_;
  std::vector<int64_t> serial_, snapshot_, commit_;
  std::vector<uint8_t> kept_;
};

class FactsWriter {
 public:
  FactsWriter(const History& history, Output& out, Losses& losses)
      : h_(history),
        out_(out),
        losses_(losses),
        effects_(history, losses),
        order_(history, losses) {}

  void run() {
    count_losses();
    losses_.keep(0);
    for (size_t i = 0; i < kWholeFactColumns; ++i) {
      if (i > 0) out_.write(',');
      out_.write(kFactNames[i]);
    }
    out_.write('\n');
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (order_.kept(t)) write_txn(t);
  }

 private:
  void count_losses() {
    if (!h_.initial().is_null()) losses_.add("the initial value");
    if (h_.has_own_initial()) losses_.add("initial values of single keys");
    losses_.add_annotations(h_);
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) == TxnStatus::aborted) losses_.add("aborted transactions");
      if (h_.start_ts(t) != Interval::kUnknown) losses_.add("timestamps of transactions");
      if (h_.status(t) == TxnStatus::unknown && h_.end_time(t).known())
        losses_.add("ends of transactions of unknown outcome");
    }
  }

  void write_txn(TxnId t) {
    const std::vector<Effects::Effect>& effects = effects_.of(t);
    if (effects.empty()) return losses_.add("transactions without operations");
    const bool unknown = h_.status(t) == TxnStatus::unknown;
    std::string head;
    append_csv_field(head, h_.name(t));
    head += ',';
    put(head, h_.session_name(h_.session(t)));
    head += std::to_string(h_.position(t)) + (unknown ? ",true," : ",false,");
    put_times(head, h_.begin_time(t));
    put_times(head, unknown ? Interval{} : h_.end_time(t));
    put_time(head, order_.serial_at(t));
    put_time(head, order_.snapshot_at(t));
    put_time(head, order_.commit_at(t));
    std::string row;
    for (const Effects::Effect& e : effects) {
      row = head;
      put(row, h_.key(e.key));
      row += e.reads ? "true," : "false,";
      put(row, e.seen == kNone ? ValueView::null() : value(e.seen));
      row += e.writes ? "true," : "false,";
      put(row, !e.writes || e.removed ? ValueView::null() : value(e.written));
      row += e.contradicts ? "true," : "false,";
      put(row, e.expected);
      put(row, e.instead);
      row.back() = '\n';
      out_.write(row);
      losses_.keep(1);
    }
  }

  ValueView value(VersionId v) const { return h_.version_value(v); }

  static void put(std::string& to, const ValueView& v) {
    if (const std::string cell = cell_of(v); !cell.empty()) append_csv_field(to, cell);
    to += ',';
  }
  static void put_times(std::string& to, const Interval& when) {
    put_time(to, when.request);
    put_time(to, when.response);
  }
  static void put_time(std::string& to, int64_t t) {
    if (t != Interval::kUnknown) to += std::to_string(t);
    to += ',';
  }

  const History& h_;
  Output& out_;
  Losses& losses_;
  Effects effects_;
  ProposedOrder order_;
};

void write_facts(const History& history, Output& out, Losses& losses) {
  FactsWriter(history, out, losses).run();
}

bool detect_facts(const Source& source) {
  if (is_parquet(source.head())) return true;
  const std::string_view line = first_line(source.head());
  TextCursor c(line);
  std::vector<CsvField> fields;
  if (!split_csv_line(c, ',', fields)) return false;
  const auto has = [&](FactColumn column) {
    return std::ranges::find(fields, fact_column_name(column), &CsvField::text) != fields.end();
  };
  return has(FactColumn::txn) && has(FactColumn::session_id) && has(FactColumn::item) &&
         has(FactColumn::seen) && has(FactColumn::written);
}

Result<History> read_facts(Source& source, Notes&) {
  if (is_parquet(source.head())) return read_parquet(source.name, source.budget, source.threads);
  auto rows = read_rows(*source.input);
  if (!rows.ok()) return rows.error();
  auto history = history_of_facts(std::move(rows->facts), rows->lines, source.budget);
  if (!history.ok()) return source.input->located(history.error());
  return history;
}

}  // namespace

std::string_view fact_column_name(FactColumn column) {
  return kFactNames[static_cast<size_t>(column)];
}

Result<bool> FactsReader::next(Fact& fact) {
  for (;;) {
    Input::Line line;
    auto more = input_.next_line(line);
    if (!more.ok() || !*more) return more;
    TextCursor c(line.text);
    c.skip_blanks();
    if (c.done()) continue;
    c.seek(0);
    if (!is_utf8(line.text)) return input_.error("invalid UTF-8", 1);
    const bool header = !std::exchange(started_, true);
    if (!(header ? read_header(c) : read_row(c, fact)))
      return input_.error(c.message(), c.column());
    if (!header) return true;
  }
}

Result<FactRows> read_rows(Input& input) {
  FactsReader reader(input);
  FactRows rows;
  for (;;) {
    Fact fact;
    const Result<bool> more = reader.next(fact);
    if (!more.ok()) return more.error();
    if (!*more) return rows;
    rows.facts.push_back(std::move(fact));
    rows.lines.push_back(reader.line());
  }
}

Error FactsReader::error(FactColumn column, std::string message) const {
  const CsvField* f = field(column);
  return input_.error(std::move(message), f == nullptr ? 1 : f->at + 1);
}

bool FactsReader::read_header(TextCursor& c) {
  if (!split_csv_line(c, ',', fields_)) return false;
  places_.fill(std::string::npos);
  for (size_t i = 0; i < fields_.size(); ++i)
    for (size_t column = 0; column < kFactColumns; ++column)
      if (fields_[i].text == kFactNames[column]) places_[column] = i;
  for (const FactColumn column : {FactColumn::txn, FactColumn::session_id, FactColumn::item})
    if (places_[static_cast<size_t>(column)] == std::string::npos)
      return c.fail_at(
          0,
          "expected a header with the columns txn, session_id, item, reads, seen, writes, written");
  return true;
}

const CsvField* FactsReader::field(FactColumn column) const {
  const size_t place = places_[static_cast<size_t>(column)];
  return place < fields_.size() ? &fields_[place] : nullptr;
}

bool FactsReader::fail(TextCursor& c, FactColumn column, std::string message) const {
  const CsvField* f = field(column);
  return c.fail_at(f == nullptr ? c.line().size() : f->at, std::move(message));
}

bool FactsReader::read_value(TextCursor& c, FactColumn column, Value& to) {
  const CsvField* f = field(column);
  return read_cell(f == nullptr ? std::string_view() : f->text, to) ||
         fail(c, column, "expected a JSON string, as the text begins with a quote");
}

bool FactsReader::read_integer(TextCursor& c, FactColumn column, int64_t& to) {
  const CsvField* f = field(column);
  if (f == nullptr || f->text.empty()) return true;
  const auto integer = integer_of(f->text);
  if (!integer) return fail(c, column, "expected an integer of 64 bits");
  to = *integer;
  return true;
}

// If only one of the two is given, it is a moment.
bool FactsReader::read_times(TextCursor& c, FactColumn from, FactColumn to, Interval& when) {
  when = {};
  if (!read_integer(c, from, when.request) || !read_integer(c, to, when.response)) return false;
  if (when.request == Interval::kUnknown) when.request = when.response;
  if (when.response == Interval::kUnknown) when.response = when.request;
  return when.request <= when.response ||
         fail(c, to, "expected a time that is not before " + std::string(fact_column_name(from)));
}

bool FactsReader::read_bool(TextCursor& c, FactColumn column, bool& to) {
  const CsvField* f = field(column);
  if (f == nullptr || f->text.empty()) return true;
  const std::string_view text = f->text;
  to = text == "true" || text == "t" || text == "1";
  if (to || text == "false" || text == "f" || text == "0") return true;
  return fail(c, column, "expected true or false");
}

bool FactsReader::read_row(TextCursor& c, Fact& fact) {
  if (!split_csv_line(c, ',', fields_)) return false;
  fact = {};
  using enum FactColumn;
  if (const CsvField* name = field(FactColumn::txn); name != nullptr) fact.txn = name->text;
  if (fact.txn.empty()) return fail(c, FactColumn::txn, "expected the name of a transaction");
  if (!read_value(c, session_id, fact.session) || !read_value(c, item, fact.item) ||
      !read_value(c, seen, fact.seen) || !read_value(c, written, fact.written) ||
      !read_value(c, expected, fact.expected) || !read_value(c, instead, fact.instead))
    return false;
  if (fact.session.is_null()) return fail(c, session_id, "expected a session");
  if (fact.item.is_null()) return fail(c, item, "expected a key");
  return read_integer(c, place, fact.place) && read_bool(c, unknown, fact.unknown) &&
         read_times(c, began, began_by, fact.begin) && read_times(c, ended_from, ended, fact.end) &&
         read_integer(c, serial_at, fact.serial_at) &&
         read_integer(c, snapshot_at, fact.snapshot_at) &&
         read_integer(c, commit_at, fact.commit_at) && read_bool(c, reads, fact.reads) &&
         read_bool(c, writes, fact.writes) && read_bool(c, contradicts, fact.contradicts) &&
         read_integer(c, window_id, fact.window) &&
         read_integer(c, window_from, fact.window_from) &&
         read_integer(c, window_to, fact.window_to) &&
         read_bool(c, explained_outside, fact.explained_outside);
}

bool read_cell(std::string_view cell, Value& to) {
  to.type = ValueView::Type::null;
  to.integer = 0;
  to.text.clear();
  if (cell.empty()) return true;
  if (const auto integer = integer_of(cell)) {
    to.type = ValueView::Type::integer;
    to.integer = *integer;
    return true;
  }
  to.type = ValueView::Type::string;
  to.text = cell;
  if (!cell.starts_with('"')) return true;
  const auto json = Json::parse(cell);
  if (json.is_string()) to.text = json.text();
  return json.is_string();
}

std::string tombstone_of(const Fact& fact) { return "deleted by " + fact.txn; }

Op write_of(const Fact& fact, const Value& value, const std::string& tombstone) {
  const ValueView item = fact.item.view();
  return value.is_null() ? Op::remove(item, ValueView::of(std::string_view(tombstone)))
                         : Op::write(item, value.view());
}

namespace {

// Whether a row says what contradicts what.
bool is_contradiction(const Fact& fact) {
  return fact.expected.view() != fact.instead.view() &&
         fact.instead.view() != ValueView::of(std::string_view(tombstone_of(fact)));
}

// Adds the two operations that contradict each other. The last write follows if it is known to be
// another one.
void add_contradiction(const Fact& fact, const std::string& tombstone, HistoryBuilder& builder) {
  const bool own = fact.writes && (!fact.reads || fact.expected.view() != fact.seen.view());
  builder.add(own ? write_of(fact, fact.expected, tombstone)
                  : Op::read(fact.item.view(), fact.expected.view()));
  builder.add(Op::read(fact.item.view(), fact.instead.view()));
  if (fact.writes && !fact.written.is_null() && fact.written.view() != fact.expected.view())
    builder.add(Op::write(fact.item.view(), fact.written.view()));
}

}  // namespace

Status FactsBuilder::add(Fact& fact, uint64_t line) {
  if (count_ > 0 && fact.txn != rows_[0].txn)
    if (Status s = end_txn(); !s.ok()) return s;
  if (count_ == rows_.size()) rows_.emplace_back();
  lines_.resize(rows_.size());
  lines_[count_] = line;
  std::swap(rows_[count_++], fact);
  return Ok{};
}

// Each item has one row.
Status FactsBuilder::check_items() {
  const auto item = [this](size_t i) {
    const ValueView v = rows_[i].item.view();
    return std::tuple(v.type, v.type == ValueView::Type::integer ? v.integer : 0, v.text,
                      lines_[i]);
  };
  by_item_.resize(count_);
  std::iota(by_item_.begin(), by_item_.end(), size_t{0});
  std::ranges::sort(by_item_, {}, item);
  for (size_t i = 1; i < count_; ++i)
    if (rows_[by_item_[i - 1]].item.view() == rows_[by_item_[i]].item.view())
      return bad_input("transaction " + rows_[0].txn + " has two rows of one item",
                       lines_[by_item_[i]]);
  return Ok{};
}

Status FactsBuilder::end_txn() {
  const Fact& first = rows_[0];
  TxnHeader header;
  header.session = first.session.view();
  header.name = first.txn;
  header.line = lines_[0];
  if (first.unknown) header.status = TxnStatus::unknown;
  header.begin = first.begin;
  header.end = first.end;
  builder_.begin_txn(header);
  const std::string tombstone = tombstone_of(first);
  for (size_t i = 0; i < count_; ++i) {
    const Fact& fact = rows_[i];
    if (fact.session.view() != first.session.view() || fact.place != first.place)
      return bad_input("transaction " + fact.txn + " appears in two sessions or places", lines_[i]);
    if (fact.contradicts && !is_contradiction(fact))
      return bad_input(
          "expected different values in instead and expected, because the row contradicts itself",
          lines_[i]);
    if (fact.contradicts) {
      add_contradiction(fact, tombstone, builder_);
      continue;
    }
    if (fact.reads) builder_.add(Op::read(fact.item.view(), fact.seen.view()));
    if (fact.writes) builder_.add(write_of(fact, fact.written, tombstone));
  }
  if (Status s = check_items(); !s.ok()) return s;
  count_ = 0;
  return builder_.end_txn();
}

Result<History> FactsBuilder::finish() && {
  if (count_ > 0)
    if (Status s = end_txn(); !s.ok()) return s.error();
  return std::move(builder_).finish();
}

bool FactsOrder::goes_on(const Fact& fact) {
  if (!known_.empty() && fact.txn == current_) return true;
  current_ = fact.txn;
  const auto [session, fresh] = last_place_.try_emplace(fact.session, fact.place);
  const bool forward = fresh || session->second <= fact.place;
  session->second = fact.place;
  return known_.insert(hash_bytes(fact.txn)).second && forward;
}

Result<History> history_of_facts(std::vector<Fact> facts, const std::vector<uint64_t>& lines,
                                 Budget* budget) {
  std::vector<size_t> rows(facts.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  FactsOrder order;
  if (!std::ranges::all_of(facts, [&](const Fact& fact) { return order.goes_on(fact); })) {
    std::unordered_map<std::string, size_t> first;  // row of each transaction
    for (size_t i = 0; i < facts.size(); ++i) first.try_emplace(facts[i].txn, i);
    std::ranges::sort(
        rows, {}, [&](size_t i) { return std::tuple(facts[i].place, first.at(facts[i].txn), i); });
  }
  FactsBuilder builder(budget);
  for (const size_t i : rows)
    if (Status s = builder.add(facts[i], lines[i]); !s.ok()) return s.error();
  return std::move(builder).finish();
}

constexpr Format kFacts = {
    .name = "facts",
    .summary = "a table for SQL: a row for each transaction and key, with a proposed order",
    .detect = detect_facts,
    .read = read_facts,
    .write = write_facts,
};

}  // namespace assay::internal::formats
