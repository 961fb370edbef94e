// Divides the trace of each connection into transactions.
//
// A transaction begins with the first statement of a connection that has none open. It ends with
// the server's answer: COMMIT with the tag COMMIT is committed; with ROLLBACK, as after an error,
// it is not. A connection on which nothing is open after an error has rolled back, and otherwise
// has committed its single statements. One that is lost while it might have committed leaves a
// transaction of unknown outcome (rule 33).
//
//   BEGIN, UPDATE t …, number 740, COMMIT → "COMMIT"     committed, 740
//   UPDATE t …, idle                                     committed
//   BEGIN, UPDATE t …, COMMIT, close in flight           unknown
//
// The rows of a cursor are reads of its DECLARE, whenever they are fetched, as its snapshot is.
//
// Cost: linear in the trace.
#include "record/seen.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "collect/schedule/observing.h"
#include "collect/schedule/row_history.h"
#include "evidence/test_decoding.h"
#include "record/composite.h"

namespace assay::internal::record {
namespace {

using collect::schedule::row_key;

constexpr size_t kMostCellBytes = 200;  // longer texts are left out of rows

uint64_t number_from(std::string_view text) {
  uint64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

Cell cell_from(const evidence::LoggedCell& logged) {
  if (!logged.text) return {};
  int64_t n = 0;
  const std::string& text = *logged.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (!logged.quoted && error == std::errc() && end == text.data() + text.size())
    return {Cell::Type::integer, n, {}};
  return {Cell::Type::string, 0, text};
}

}  // namespace

class TraceReader::Cut {
 public:
  Status take(const Json& line) {
    if (line.contains("trace")) {
      seen_.header = line;
    } else if (line.contains("table")) {
      take_table(line);
    } else if (line.contains("row")) {
      take_row(line);
    } else if (line.contains("log")) {
      take_log(line.text("log"));
    } else if (line.contains("lost")) {
      seen_.anew.insert(relation_name(line.text("lost")));
    } else if (line.contains("below")) {
      take_below(line);
    } else if (line.contains("marked")) {
      marked_ = logged_count_;
    } else if (line.contains("logged")) {
      take_point(line);
    } else if (line.contains("answered")) {
      seen_.answered = line["answered"].integer();
      sent_since_ = line.contains("since") ? line["since"].integer() : Interval::kUnknown;
    } else if (line.contains("forgotten")) {
      statements_.erase(
          statements_.begin(),
          statements_.upper_bound(static_cast<uint64_t>(line["forgotten"].integer())));
    } else if (line.contains("end")) {
      seen_.end = line["end"].integer();
    } else if (line.contains("s")) {
      take_session(line);
    } else if (line.contains("q")) {
      take_description(line);
    } else {
      return bad_input("expected a line of a trace");
    }
    return Ok{};
  }

  void finish() {
    for (auto& [session, open] : open_)
      if (open.txn) end(session, TxnStatus::unknown, Interval::from(open.last));
  }
  Seen& seen() { return seen_; }
  int64_t open_since() const {
    int64_t since = sent_since_;
    for (const auto& [session, open] : open_)
      if (open.txn) since = std::min(since, open.txn->begin.request);
    return since;
  }

 private:
  // A statement whose rows come little by little.
  struct Cursor {
    size_t place = 0;                  // in the open transaction
    std::optional<std::string> where;  // that all of them satisfy, and no others
    bool outlives = false;
    std::optional<SeenTxn> of;  // that has ended, with nothing but the statement
  };
  struct Open {
    std::string application;
    uint64_t count = 0;  // of transactions
    std::optional<SeenTxn> txn;
    bool failed = false;
    bool has_read = false;
    int64_t last = 0;
    std::string isolation;  // of the session
    std::vector<std::string> rows;
    std::optional<uint32_t> number;  // that came before its statement
    std::map<uint64_t, Cursor> cursors;
  };

  void take_table(const Json& line) {
    Relation r;
    r.name = line.text("table");
    r.oid = static_cast<uint32_t>(line["oid"].integer());
    r.logged = line.text("logged");
    for (const Json& column : line["key"]) r.key.push_back(column.text());
    r.file = line["file"].integer();
    if (const auto known = logged_.find(r.logged);
        known != logged_.end() && (known->second.oid != r.oid || known->second.file != r.file))
      seen_.anew.insert(r.name);
    logged_[r.logged] = r;
    by_oid_[r.oid] = std::move(r);
  }

  void take_row(const Json& line) {
    std::vector<std::string> key;
    for (const Json& k : line["key"]) key.push_back(k.text());
    Row row;
    const Json& is = line["is"];
    for (size_t i = 0; i < is.size(); ++i) {
      Cell cell = collect::schedule::cell_of(is[i]);
      if (cell.text.size() <= kMostCellBytes) row.emplace_back(is.name(i), std::move(cell));
    }
    seen_.first_rows[row_key(line.text("row"), key)] = {
        static_cast<uint32_t>(line["xmin"].integer()), row_text(std::move(row))};
  }

  void take_description(const Json& line) {
    Statement s;
    s.kind = line.text("kind");
    s.sql = line.text("sql");
    s.missed = line.text("missed");
    s.changed = line.text("changed");
    s.isolation = line.text("isolation");
    s.session_isolation = line.text("session_isolation");
    s.place = line.text("place");
    s.locks = line.text("locks");
    s.reads = line["reads"].is_true();
    s.writes = line["writes"].is_true();
    s.aggregated = line["aggregated"].is_true();
    s.depends = line["depends"].is_true();
    s.keyed = line["keyed"].is_true();
    s.fires = line["fires"].is_true();
    for (const Json& table : line["tables"]) s.tables.push_back(table.text());
    if (!line.contains("tables")) s.tables = {"*"};
    s.tells = line.contains("from");
    for (const Json& from : line["from"])
      s.cells.push_back(from.size() == 2 ? static_cast<size_t>(from[1].integer()) : 0);
    if (s.cells.size() == 1 && line["from"][0].size() == 2) s.table = line["from"][0][0].text();
    s.where = line.value("where");
    statements_[static_cast<uint64_t>(line["q"].integer())] =
        std::make_shared<const Statement>(std::move(s));
  }

  void take_session(const Json& line) {
    const uint64_t session = static_cast<uint64_t>(line["s"].integer());
    Open& open = open_[session];
    if (line.contains("q")) {
      take_statement(session, open, line);
    } else if (line.contains("rows")) {
      for (const Json& row : line["rows"]) open.rows.push_back(row.text());
    } else if (line.contains("isolation")) {
      if (!open.txn) return;
      open.txn->may_have_number = false;
      if (line.contains("xid"))
        open.txn->number = static_cast<uint32_t>(number_from(line.text("xid")));
      open.txn->isolation = line.text("isolation");
    } else if (line.contains("idle")) {
      const int64_t at = line["idle"].integer();
      if (open.txn)
        end(session, open.failed ? TxnStatus::aborted : TxnStatus::committed, {open.last, at});
    } else if (line.contains("close")) {
      if (open.txn)
        end(session, line["in_flight"].is_true() ? TxnStatus::unknown : TxnStatus::aborted,
            Interval::from(open.last), line["close"].integer());
      open_.erase(session);
    } else if (line.contains("open")) {
      open.application = line.text("program");
    } else if (line.contains("closed")) {
      open.cursors.erase(static_cast<uint64_t>(line["closed"].integer()));
    }
  }

  void take_statement(uint64_t session, Open& open, const Json& line) {
    const auto at = statements_.find(static_cast<uint64_t>(line["q"].integer()));
    if (at == statements_.end() || line["t"].size() != 2) return;
    const Statement& s = *at->second;
    const int64_t sent = line["t"][0].integer(), answered = line["t"][1].integer();
    const std::string tag = line.text("tag");
    const bool failed = line.contains("error");
    const auto cursor = static_cast<uint64_t>(line["cursor"].integer());
    if (const auto known = open.cursors.find(cursor); known != open.cursors.end())
      return take_more(open, known->second, line);
    if (!open.txn) {
      open.txn.emplace();
      open.txn->id = {session, ++open.count};
      open.txn->application = open.application;
      open.txn->begin = {sent, answered};
      open.txn->isolation = open.isolation;
      open.failed = open.has_read = false;
    }
    // The snapshot is taken by the first statement that reads or changes something, at the latest.
    if (!open.has_read) open.txn->begin.response = answered;
    open.has_read = open.has_read || s.reads;
    const bool first = open.txn->statements.empty();
    // Those of one message were sent together.
    const int64_t own = first ? sent : std::max(sent, open.txn->statements.back().time.request + 1);
    open.last = sent;
    if (!s.isolation.empty() && !failed) open.txn->isolation = s.isolation;
    if (!s.session_isolation.empty() && !failed) open.isolation = s.session_isolation;
    SeenStatement seen;
    seen.of = at->second;
    seen.failed = failed;
    seen.too_large = line["untold"].is_true();
    seen.time = {own, std::max(own, answered)};
    seen.values = line.value("p");
    seen.rows = number_from(std::string_view(tag).substr(tag.rfind(' ') + 1));
    take_rows(open, line, seen);
    // Its own writes come after its reads.
    if (s.where.is_array() && !failed && !open.txn->wrote && !seen.too_large &&
        !line["partly"].is_true()) {
      seen.where = condition_of(s.where, line["p"]);
      seen.table = s.table;
    }
    if (cursor != 0 && !failed) {
      open.cursors[cursor] = {
          open.txn->statements.size(), seen.where, line["outlives"].is_true(), {}};
      if (!line["whole"].is_true()) seen.where.reset();
    }
    open.txn->wrote = open.txn->wrote || s.writes;
    open.txn->statements.push_back(std::move(seen));
    open.failed = open.failed || failed;
    open.txn->may_have_number = open.txn->may_have_number || s.writes;
    if (failed && s.kind == "commit") return;  // nothing is open behind it
    if (s.kind == "commit")
      end(session, tag == "COMMIT" ? TxnStatus::committed : TxnStatus::aborted, {sent, answered});
    else if (s.kind == "prepare" && !failed)
      end(session, TxnStatus::unknown, Interval::from(sent));
    else if (s.kind == "rollback")
      end(session, TxnStatus::aborted, {sent, answered});
    else if (s.kind == "rollback_to" && !failed)
      open.failed = false, open.txn->undoes = true;
  }

  void take_rows(Open& open, const Json& line, SeenStatement& to) {
    for (const Json& row : line["rows"]) open.rows.push_back(row.text());
    for (const std::string& row : std::exchange(open.rows, {}))
      if (!line.contains("error")) take_versions(*to.of, row, to.read);
    to.too_large = to.too_large || line["untold"].is_true();
  }

  // Rows that a statement before has found: they are of its snapshot, and come before whatever its
  // transaction has written since. Behind the end of that, they are read as if by a transaction of
  // their own at the same place.
  void take_more(Open& open, Cursor& cursor, const Json& line) {
    const Interval time{line["t"][0].integer(), line["t"][1].integer()};
    const bool failed = line.contains("error");
    if (cursor.of) {
      SeenTxn held = *cursor.of;
      held.held = ++cursor.of->held;
      held.end = time;
      held.over = time.response;
      take_rows(open, line, held.statements[0]);
      if (!failed) seen_.txns.push_back(std::move(held));
    } else if (open.txn) {
      SeenStatement& s = open.txn->statements[cursor.place];
      take_rows(open, line, s);
      if (line["whole"].is_true() && !s.too_large) s.where = cursor.where;
    }
    if (!open.txn) return;
    open.last = time.request;
    open.failed = open.failed || failed;
  }

  // What a transaction leaves behind.
  static void keep_cursors(Open& open) {
    const SeenTxn& txn = *open.txn;
    for (auto at = open.cursors.begin(); at != open.cursors.end();) {
      Cursor& cursor = at->second;
      const bool lasts = cursor.of || (cursor.outlives && txn.status == TxnStatus::committed);
      if (lasts && !cursor.of) {
        SeenTxn& kept = cursor.of.emplace();
        kept.id = txn.id;
        kept.application = txn.application;
        kept.status = txn.status;
        kept.begin = txn.begin;
        kept.isolation = txn.isolation;
        kept.may_have_number = txn.may_have_number;
        kept.statements = {txn.statements[cursor.place]};
        kept.statements[0].read.clear();
        kept.statements[0].where.reset();
      }
      at = lasts ? std::next(at) : open.cursors.erase(at);
    }
  }

  static std::optional<std::string> condition_of(const Json& pieces, const Json& values) {
    std::string all;
    for (const Json& piece : pieces) {
      if (piece.is_string()) {
        all += piece.text();
        continue;
      }
      const size_t n = piece.size() == 2 ? static_cast<size_t>(piece[0].integer()) : 0;
      if (n == 0 || n > values.size() || !values[n - 1].is_string()) return std::nullopt;
      const std::string& value = values[n - 1].text();
      if (piece[1].text() == "text") {
        if (!is_ascii(value)) return std::nullopt;  // its encoding is unknown
        all += collect::schedule::in_quotes(value, '\'');
        continue;
      }
      int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
      all += std::to_string(number);
    }
    return all;
  }

  void take_versions(const Statement& s, const std::string& told, std::vector<SeenVersion>& to) {
    std::vector<std::string> rows = {told};
    if (s.aggregated) rows = elements_of_array(told).value_or(std::vector<std::string>());
    for (const std::string& row : rows) {
      const auto cells = cells_of_row(row);
      if (!cells) continue;
      size_t at = 0;
      for (const size_t n : s.cells) {
        const size_t first = std::exchange(at, at + n);
        if (n < 3 || at > cells->size()) break;
        if ((*cells)[first])
          take_version({cells->begin() + static_cast<std::ptrdiff_t>(first), n}, to);
      }
    }
  }

  void take_version(std::span<const std::optional<std::string>> cells,
                    std::vector<SeenVersion>& to) {
    const auto table = by_oid_.find(static_cast<uint32_t>(number_from(cells[0].value_or(""))));
    if (table == by_oid_.end() || table->second.key.size() + 2 != cells.size()) return;
    std::vector<std::string> key;
    for (size_t i = 2; i < cells.size(); ++i) key.push_back(cells[i].value_or(""));
    to.push_back({row_key(table->second.name, key),
                  static_cast<uint32_t>(number_from(cells[1].value_or("")))});
  }

  void end(uint64_t session, TxnStatus status, Interval at, std::optional<int64_t> over = {}) {
    Open& open = open_[session];
    open.txn->status = status;
    open.txn->end = at;
    open.txn->over = over.value_or(at.response);
    keep_cursors(open);
    seen_.txns.push_back(std::move(*open.txn));
    open.txn.reset();
    open.failed = false;
  }

  // Of a snapshot as PostgreSQL writes it: 731:740:733,735.
  void take_point(const Json& line) {
    LogPoint point{
        .at = line["logged"].integer(), .seen = line["seen"].integer(), .logged = marked_};
    const std::string text = line.text("snapshot");
    std::string_view snapshot = text;
    const auto number = [&](char before) {
      snapshot.remove_prefix(std::min(snapshot.find(before), snapshot.size() - 1) + 1);
      return static_cast<uint32_t>(number_from(snapshot));
    };
    if (std::ranges::count(snapshot, ':') != 2) return;
    point.next = number(':');
    if (!snapshot.ends_with(':')) point.going_on.insert(number(':'));
    while (snapshot.find(',') != std::string_view::npos) point.going_on.insert(number(','));
    seen_.points.push_back(std::move(point));
  }

  std::string relation_name(const std::string& logged) const {
    const auto at = logged_.find(logged);
    return at == logged_.end() ? logged : at->second.name;
  }

  void take_log(std::string_view line) {
    if (line.starts_with("BEGIN ")) {
      logging_.emplace();
      logging_->number = static_cast<uint32_t>(number_from(line.substr(6)));
    } else if (line.starts_with("COMMIT")) {
      if (logging_ && !logging_->changes.empty()) {
        seen_.log.push_back(std::move(*logging_));
        ++logged_count_;
      }
      logging_.reset();
    } else if (const auto row = evidence::logged_row(line); row && logging_) {
      if (row->kind == evidence::LoggedRow::Kind::truncate)
        take_truncate(std::string(row->table));
      else
        take_change(*row);
    }
  }

  // A transaction that changed nothing here is not in the log.
  void take_below(const Json& line) {
    const auto number = static_cast<uint32_t>(line["xid"].integer());
    const auto at =
        std::ranges::find(seen_.log.rbegin(), seen_.log.rend(), number, &LoggedChanges::number);
    if (at == seen_.log.rend()) return;
    std::string_view below = line["below"].text();
    while (below.find(' ') != std::string_view::npos) {
      below.remove_prefix(below.find(' ') + 1);
      at->below.push_back(static_cast<uint32_t>(number_from(below)));
    }
  }

  static std::optional<std::string> key_among(const Relation& r,
                                              const std::vector<evidence::LoggedCell>& cells) {
    std::vector<std::string> key;
    for (const std::string& column : r.key) {
      const auto at = std::ranges::find(cells, column, &evidence::LoggedCell::column);
      if (at == cells.end() || !at->text) return std::nullopt;
      key.push_back(*at->text);
    }
    return row_key(r.name, key);
  }

  void take_change(const evidence::LoggedRow& logged) {
    const auto at = logged_.find(std::string(logged.table));
    if (at == logged_.end() || at->second.key.empty()) return;
    const auto key = key_among(at->second, logged.cells);
    if (!key) {  // the row is unknown
      seen_.anew.insert(at->second.name);
      return;
    }
    LoggedChange change;
    using Kind = evidence::LoggedRow::Kind;
    change.kind = logged.kind == Kind::insert   ? LoggedChange::Kind::insert
                  : logged.kind == Kind::update ? LoggedChange::Kind::update
                                                : LoggedChange::Kind::remove;
    change.table = at->second.name;
    change.key = *key;
    if (const auto old = key_among(at->second, logged.old_key); old && *old != *key)
      change.old_key = *old;
    Row row;
    for (const evidence::LoggedCell& cell : logged.cells)
      if (!cell.unchanged && (!cell.text || cell.text->size() <= kMostCellBytes))
        row.emplace_back(cell.column, cell_from(cell));
    change.row = row_text(std::move(row));
    logging_->changes.push_back(std::move(change));
  }

  void take_truncate(const std::string& tables) {
    const std::string all = ", " + tables + ", ";
    for (const auto& [name, relation] : logged_) {
      if (all.find(", " + name + ", ") == std::string::npos) continue;
      logging_->changes.push_back({LoggedChange::Kind::truncate, relation.name, {}, {}, {}});
    }
  }

  Seen seen_;
  std::map<uint64_t, Open> open_;  // by session
  std::map<uint32_t, Relation> by_oid_;
  std::map<std::string, Relation> logged_;
  std::map<uint64_t, std::shared_ptr<const Statement>> statements_;
  int64_t sent_since_ = Interval::kUnknown;
  std::optional<LoggedChanges> logging_;
  size_t logged_count_ = 0, marked_ = 0;
};

TraceReader::TraceReader() : cut_(std::make_unique<Cut>()) {}
TraceReader::~TraceReader() = default;
Status TraceReader::take(const Json& line) { return cut_->take(line); }
void TraceReader::finish() { cut_->finish(); }
Seen& TraceReader::seen() { return cut_->seen(); }
int64_t TraceReader::open_since() const { return cut_->open_since(); }

std::string ClientTxn::name() const { return fmt::format("{}-{}", session, nth); }

std::string SeenTxn::name() const {
  return held == 0 ? id.name() : fmt::format("{}.{}", id.name(), held);
}

}  // namespace assay::internal::record
