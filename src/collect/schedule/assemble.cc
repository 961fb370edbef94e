// Makes a history of what statements were seen to read and write.
//
// A transaction begins with the first statement of a session that is in none, and ends with the
// statement after which none is open; a transaction that failed there, was rolled back, or never
// ended has aborted. The rows that were there before are initial values.
//
//   s1: UPDATE test SET value = value + 1 WHERE id = 1
//       r(test:1,{"id":1,"value":10}) from …  w(test:1,{"id":1,"value":11})
//   s2: SELECT * FROM test WHERE value > 10
//       p("value > 10" = 1, [test:1 = …])  r(test:1, …) from s1
//
// A row is a key: its table and the values of its primary key; without a primary key, on PostgreSQL
// and SQLite, the chain of the places in which its versions were stored. A row that changes its key
// is deleted and inserted. An UPDATE or DELETE read the version that it replaced only where what it
// did depended on it (spec: rule 35). The writer of a version is stated if the database gave its
// number and it was seen to write exactly this row; a version without a known writer is left out,
// since a missing read cannot cause a violation. Versions of a key were installed in the order in
// which their writers were answered, as each held the row's lock until it ended.
//
// A condition is a separate column, which each version of the table has, and which says whether the
// database finds that the version satisfies it. If the database contradicts what the query
// returned, only rows are recorded.
//
// Cost: linear in the observations, times the conditions of a table.
#include "collect/schedule/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "collect/schedule/row_history.h"
#include "history/condition.h"
#include "history/value.h"

namespace assay::internal::collect::schedule {
namespace {

constexpr size_t kMostWords = 70;  // bytes of a statement that an explanation shows
constexpr size_t kNobody = SIZE_MAX;
constexpr size_t kBefore = SIZE_MAX - 1;  // for the rows that were there first

struct Txn {
  size_t session = 0;
  std::vector<size_t> statements;
  TxnStatus status = TxnStatus::aborted;  // unless it is seen to end differently
  Interval begin, end;
  std::string name;
  std::vector<std::string> steps;
};

// The savepoint of a ROLLBACK TO, which ends nothing.
std::optional<std::string> rolls_back_to(std::string_view sql) {
  const std::vector<Word> words = words_of(sql);
  for (size_t i = 1; i + 1 < words.size(); ++i)
    if (words[0].is("rollback") && words[i].is("to")) return words.back().text;
  return std::nullopt;
}

class Assembler {
 public:
  Assembler(const File& file, const Performance& played, const std::string& database)
      : file_(file), played_(played), tables_(played.tables) {
    rows_.set_meta(
        fmt::format("{{\"database\":{},\"played\":{},\"permutation\":{},\"outcome\":{}}}", database,
                    Json(file.path).dump(), Json(played.permutation).dump(),
                    Json(outcome(file, played)).dump()));
  }

  Result<Assembled> run() {
    leave_out_merged();
    find_conditions();
    cut_transactions();
    leave_out_unseen();
    name_transactions();
    note_rows();
    count();
    for (const auto& [key, row] : initial_) rows_.initial(key, row);
    for (size_t t = 0; t < txns_.size(); ++t)
      if (Status s = add(t); !s.ok()) return s.error();
    state_orders();
    auto history = rows_.finish();
    if (!history.ok()) return history.error();
    out_.history = std::move(*history);
    return std::move(out_);
  }

 private:
  // Leaves out what two transactions that changed columns of one row were seen to leave, if the
  // database keeps both changes: that was never a version.
  void leave_out_merged() {
    if (!played_.compared) return;
    std::set<std::pair<std::string, std::string>> known;
    for (const Version& v : played_.first_rows) known.emplace(v.table, v.row);
    for (const Statement& s : played_.statements)
      for (const Change& c : s.sight.changes) known.emplace(c.after.table, c.after.row);
    const auto look = [&](const Version& v) {
      if (v.table.empty() || known.contains({v.table, v.row})) return;
      for (Table& t : tables_)
        if (t.name == v.table) t.refusal = "a table whose rows the database merges";
    };
    for (const Version& v : played_.last_rows) look(v);
    for (const Statement& s : played_.statements) {
      for (const Version& v : s.sight.rows) look(v);
      for (const Change& c : s.sight.changes) look(c.before);
    }
  }

  // Turns conditions into columns, unless what the database says cannot be relied on.
  void find_conditions() {
    for (const auto& [query, truths] : played_.conditions) {
      std::string name = query.where;
      std::erase(name, '"');
      std::set<std::string> satisfied;
      for (const auto& [row, truth] : truths)
        if (truth) satisfied.insert(row);
      if (!contradicted(query, satisfied))
        conditions_[query.table].push_back({query.where, query.name, name, std::move(satisfied)});
    }
  }
  bool contradicted(const Query& query, const std::set<std::string>& satisfied) const {
    for (const Statement& s : played_.statements)
      if (s.sight.query && s.sight.query->where == query.where &&
          s.sight.query->table == query.table && s.sight.query->name == query.name)
        for (const Version& v : found_by(s))
          if (!satisfied.contains(v.row)) return true;
    return false;
  }
  // The rows that a query returned, or that the condition of a change found.
  static std::vector<Version> found_by(const Statement& s) {
    if (s.sight.kind != Sight::Kind::write) return s.sight.rows;
    std::vector<Version> found = s.sight.left_alone;
    for (const Change& c : s.sight.changes)
      if (c.before.table == s.sight.query->table) found.push_back(c.before);
    return found;
  }

  void cut_transactions() {
    std::vector<size_t> open(file_.sessions.size(), kNobody);
    of_statement_.assign(played_.statements.size(), kNobody);
    std::vector<bool> has_read;  // indexed by transaction
    for (size_t i = 0; i < played_.statements.size(); ++i) {
      const Statement& s = played_.statements[i];
      size_t& now = open[s.session];
      const std::string word = first_word(s.sql);
      // MySQL commits an open transaction before it begins another.
      if (now != kNobody && s.answer.tag.empty() && s.answer.error.empty() &&
          (word == "begin" || word == "start") && !txns_[now].statements.empty())
        end(std::exchange(now, kNobody), TxnStatus::committed, s.time);
      if (now == kNobody) {
        now = txns_.size();
        Txn& fresh = txns_.emplace_back();
        fresh.session = s.session;
        fresh.begin = s.time;
        has_read.push_back(false);
      }
      Txn& t = txns_[now];
      of_statement_[i] = now;
      t.statements.push_back(i);
      // The snapshot is taken at the latest by the first read.
      if (!has_read[now]) t.begin.response = s.time.response;
      has_read[now] = has_read[now] || (s.sight.kind == Sight::Kind::read && s.sight.query &&
                                        s.answer.error.empty());
      if (s.answer.open) continue;
      const bool undone = !s.answer.error.empty() || s.answer.tag == "ROLLBACK" ||
                          word == "rollback" || word == "abort";
      const bool unknown = s.answer.tag == "PREPARE TRANSACTION" || (played_.lost && undone);
      end(std::exchange(now, kNobody),
          unknown  ? TxnStatus::unknown
          : undone ? TxnStatus::aborted
                   : TxnStatus::committed,
          s.time);
    }
  }
  void end(size_t t, TxnStatus status, Interval at) {
    txns_[t].status = status;
    txns_[t].end = at;
  }

  // If changes find the newest versions, each found what the previous one left, and the last one is
  // there at the end. If not, a change was not seen: a DELETE of a row that the transaction's
  // snapshot lacks.
  void leave_out_unseen() {
    if (!played_.changes_newest) return;
    std::map<std::string, Version> now;  // by key; one that is missing has no row
    std::set<std::string> unseen;        // tables
    for (const Version& v : played_.first_rows) now[key_of_version(v)] = v;
    for (size_t i = 0; i < played_.statements.size(); ++i)
      for (const Change& c : played_.statements[i].sight.changes) {
        if (txns_[of_statement_[i]].status != TxnStatus::committed) continue;
        const Version& any = c.after.table.empty() ? c.before : c.after;
        Version& of_key = now[key_of_version(any)];
        if (of_key.row != c.before.row) unseen.insert(any.table);
        of_key = {.table = any.table, .row = c.after.row, .writer = {}};
      }
    for (const Version& v : played_.last_rows)
      if (std::exchange(now[key_of_version(v)], {}).row != v.row) unseen.insert(v.table);
    for (const auto& [key, left] : now)
      if (!left.row.empty()) unseen.insert(left.table);
    for (Table& t : tables_)
      if (t.refusal.empty() && unseen.contains(t.name))
        t.refusal = "a table with changes that were not all seen";
  }

  void name_transactions() {
    std::vector<size_t> count(file_.sessions.size()), number(file_.sessions.size());
    const auto acts = [&](const Txn& t) {
      return std::ranges::any_of(t.statements, [&](size_t i) {
        const Sight& sight = played_.statements[i].sight;
        return !sight.rows.empty() || !sight.changes.empty() || sight.query;
      });
    };
    for (const Txn& t : txns_) count[t.session] += acts(t) ? 1 : 0;
    for (Txn& t : txns_) {
      if (!acts(t)) continue;
      const std::string& session = file_.sessions[t.session].name;
      t.name = count[t.session] == 1 ? session : fmt::format("{}.{}", session, ++number[t.session]);
      for (const size_t i : t.statements)
        if (const Statement& s = played_.statements[i];
            s.step != SIZE_MAX && s.sight.kind != Sight::Kind::other)
          t.steps.push_back(in_words(s));
    }
  }

  // "rx1 `SELECT …`", as in the file.
  std::string in_words(const Statement& s) const {
    return fmt::format("{} `{}`", file_.steps[s.step].name, in_one_line(s.asked, kMostWords));
  }

  std::string refusal_of(const std::string& table) const {
    for (const Table& t : tables_)
      if (t.name == table) return t.refusal;
    return {};
  }
  const Table* table_of(const Version& v) const {
    for (const Table& t : tables_)
      if (t.name == v.table) return t.refusal.empty() ? &t : nullptr;
    return nullptr;
  }

  // The key of a version; empty if that is not known.
  std::string key_of_version(const Version& v) const {
    const Table* const table = table_of(v);
    if (table == nullptr) return {};
    if (!table->key.empty()) {
      const auto key = key_of(v, *table);
      return key ? row_key(v.table, *key) : "";
    }
    const auto at = chains_.find(v.table + ' ' + v.place + ' ' + v.writer);
    return at == chains_.end() ? "" : at->second;
  }
  // Follows the versions of a row without a key; such rows are numbered.
  void follow_chain(const Version& before, const Version& after) {
    const Version& any = after.table.empty() ? before : after;
    const Table* const table = table_of(any);
    if (table == nullptr || !table->key.empty() || after.table.empty()) return;
    std::string key = before.table.empty() ? "" : key_of_version(before);
    if (key.empty()) key = fmt::format("{}:#{}", any.table, ++numbered_[any.table]);
    chains_[after.table + ' ' + after.place + ' ' + after.writer] = key;
  }

  void note_rows() {
    for (const Version& v : played_.first_rows) {
      follow_chain({}, v);
      const std::string key = key_of_version(v);
      if (key.empty()) continue;
      initial_.emplace(key, with_conditions(v));
      writers_.emplace(std::tuple(v.writer, key, v.row), kBefore);
    }
    for (size_t i = 0; i < played_.statements.size(); ++i)
      for (const Change& c : played_.statements[i].sight.changes) {
        follow_chain(c.before, c.after);
        if (const std::string key = key_of_version(c.after); !key.empty())
          writers_[std::tuple(c.after.writer, key, c.after.row)] = of_statement_[i];
      }
  }

  std::string with_conditions(const Version& v) const {
    Row row;
    const Json columns = Json::parse(v.row);
    for (size_t i = 0; i < columns.size(); ++i)
      row.emplace_back(columns.name(i), cell_of(columns[i]));
    if (const auto of = conditions_.find(v.table); of != conditions_.end())
      for (const Condition& c : of->second)
        row.emplace_back(c.column, Cell{Cell::Type::integer, c.satisfied.contains(v.row), {}});
    return row_text(std::move(row));
  }

  void count() {
    for (const Statement& s : played_.statements) {
      if (s.sight.kind == Sight::Kind::other || !s.answer.error.empty()) continue;
      std::string missed = s.sight.missed;
      if (missed.empty() && s.sight.query) missed = refusal_of(s.sight.query->table);
      for (const Change& c : s.sight.changes)
        if (missed.empty())
          missed = refusal_of(c.after.table.empty() ? c.before.table : c.after.table);
      for (const Version& v : s.sight.rows)
        if (missed.empty() && (key_of_version(v).empty() || !has_writer(v)))
          missed = "a row whose writer is unknown";
      count_one(s, s.sight.kind == Sight::Kind::read, missed);
      if (s.sight.elsewhere) count_one(s, true, *s.sight.elsewhere);
    }
  }
  void count_one(const Statement& s, bool read, const std::string& missed) {
    ++(read ? out_.reads : out_.writes);
    if (missed.empty()) {
      ++(read ? out_.reads_observed : out_.writes_observed);
      return;
    }
    const bool of_step = s.step != SIZE_MAX;
    out_.missed.push_back(fmt::format(
        "{}: {}", of_step ? file_.steps[s.step].name : file_.sessions[s.session].name, missed));
  }
  // Whether the writer is known: if the database does not give numbers, the values have to tell the
  // writer.
  bool has_writer(const Version& v) const {
    return v.writer.empty() || writers_.contains(std::tuple(v.writer, key_of_version(v), v.row));
  }

  void add_read(const Version& v, size_t t, std::vector<RowOperation>& ops) {
    const std::string key = key_of_version(v);
    if (key.empty() || !has_writer(v)) return;
    RowOperation op{.key = key, .row = with_conditions(v)};
    if (!v.writer.empty()) {
      const size_t writer = writers_.at(std::tuple(v.writer, key, v.row));
      if (writer != t) op.stated = true;
      if (writer != kBefore) op.source = txns_[writer].name;
    }
    ops.push_back(std::move(op));
  }

  void add_query(const Statement& s, std::vector<RowOperation>& ops) {
    const Query& query = *s.sight.query;
    if (!refusal_of(query.table).empty()) return;
    const std::vector<Version> found = found_by(s);
    const bool known = std::ranges::all_of(found, [&](const Version& v) {
      return v.table == query.table && !key_of_version(v).empty() && has_writer(v);
    });
    const bool asks_key = !query.key.empty();
    if (asks_key && found.empty())
      ops.push_back({.kind = RowOperation::Kind::absent, .key = row_key(query.table, {query.key})});
    const bool told = query.where.empty() || find_condition(query) != nullptr;
    if (asks_key || !known || !told) return;
    RowOperation op{.kind = RowOperation::Kind::query, .table = query.table};
    if (const Condition* c = find_condition(query)) op.where = fmt::format("\"{}\" = 1", c->column);
    for (const Version& v : found) op.rows.emplace_back(key_of_version(v), with_conditions(v));
    ops.push_back(std::move(op));
  }

  // Whether the statement found its rows in one state of the table. An update or delete looks at
  // the newest versions of rows, and looks a second time at rows for which it had to wait. While no
  // other statement runs, these are from one state.
  bool found_in_one_state(const Statement& s) const {
    return std::ranges::none_of(played_.statements, [&](const Statement& other) {
      return other.session != s.session && other.time.request < s.time.response &&
             s.time.request < other.time.response;
    });
  }

  void add_changes(const Statement& s, size_t t, std::vector<RowOperation>& ops) {
    for (const Change& c : s.sight.changes) {
      const std::string before = key_of_version(c.before), after = key_of_version(c.after);
      if (s.sight.depends_on_rows && !before.empty()) add_read(c.before, t, ops);
      if (!before.empty() && before != after)
        ops.push_back({.kind = RowOperation::Kind::remove, .key = before});
      if (!after.empty())
        ops.push_back(
            {.kind = RowOperation::Kind::write, .key = after, .row = with_conditions(c.after)});
    }
  }

  std::vector<RowOperation> operations_of(size_t t) {
    std::vector<RowOperation> ops;
    std::vector<std::pair<std::string, size_t>> savepoints;
    for (const size_t i : txns_[t].statements) {
      const Statement& s = played_.statements[i];
      if (first_word(s.sql) == "savepoint" && s.answer.error.empty())
        savepoints.emplace_back(words_of(s.sql).back().text, ops.size());
      // Later operations are left out: no other transaction saw them.
      if (const auto to = rolls_back_to(s.sql); to && s.answer.error.empty())
        for (size_t n = savepoints.size(); n-- > 0;)
          if (savepoints[n].first == *to) {
            ops.resize(std::min(ops.size(), savepoints[n].second));
            break;
          }
      if (!s.answer.error.empty()) continue;
      const bool changes = s.sight.kind == Sight::Kind::write;
      if (s.sight.query && (!changes || found_in_one_state(s))) add_query(s, ops);
      for (const Version& v : s.sight.rows) add_read(v, t, ops);
      add_changes(s, t, ops);
    }
    return ops;
  }

  Status add(size_t t) {
    Txn& txn = txns_[t];
    if (txn.name.empty()) return Ok{};
    Json meta = Json::object();
    meta["ran"] = fmt::format("{}", fmt::join(txn.steps, ", "));
    const RowTxn row_txn = {.session = file_.sessions[txn.session].name,
                            .name = txn.name,
                            .status = txn.status,
                            .begin = txn.begin,
                            .end = txn.end,
                            .meta = meta.dump(),
                            .ops = operations_of(t)};
    for (const RowOperation& op : row_txn.ops)
      if (op.kind == RowOperation::Kind::write || op.kind == RowOperation::Kind::remove)
        note_install(op.key, t);
    return rows_.add(row_txn);
  }

  struct Condition {
    std::string where, name, column;
    std::set<std::string> satisfied;  // rows
  };
  const Condition* find_condition(const Query& query) const {
    const auto of = conditions_.find(query.table);
    if (of == conditions_.end() || query.where.empty()) return nullptr;
    for (const Condition& c : of->second)
      if (c.where == query.where && c.name == query.name) return &c;
    return nullptr;
  }

  void note_install(const std::string& key, size_t t) {
    auto& order = installed_[key];
    if (txns_[t].status == TxnStatus::committed) order.insert(t);
  }

  // States the orders of versions, by the time of each row's last change.
  void state_orders() {
    for (const auto& [key, writers] : installed_) {
      if (writers.size() < 2) continue;
      std::vector<std::pair<size_t, size_t>> order;
      for (const size_t t : writers) order.emplace_back(last_change(key, t), t);
      std::sort(order.begin(), order.end());
      std::vector<RowHistory::Version> versions;
      for (const auto& [at, t] : order) versions.push_back({.txn = txns_[t].name});
      rows_.order(key, versions);
    }
  }
  size_t last_change(const std::string& key, size_t t) const {
    size_t last = 0;
    for (const size_t i : txns_[t].statements)
      for (const Change& c : played_.statements[i].sight.changes)
        if (key_of_version(c.after) == key || key_of_version(c.before) == key) last = i;
    return last;
  }

  const File& file_;
  const Performance& played_;
  std::vector<Table> tables_;
  RowHistory rows_;
  Assembled out_;
  std::vector<Txn> txns_;
  std::vector<size_t> of_statement_;
  std::map<std::string, std::vector<Condition>> conditions_;
  std::map<std::string, std::string> chains_;
  std::map<std::string, uint64_t> numbered_;
  std::map<std::string, std::string> initial_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> writers_;
  std::map<std::string, std::set<size_t>> installed_;
};

}  // namespace

Result<Assembled> assemble(const File& file, const Performance& played,
                           const std::string& database) {
  return Assembler(file, played, database).run();
}

}  // namespace assay::internal::collect::schedule
