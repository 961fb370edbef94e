// Unrecorded operations are listed by table: a conclusion from the absence of an operation may be
// wrong there (docs/formats/assay.md, "unrecorded").
//
//   SELECT * FROM t WHERE id = 7          found t:7, by the whole key: everything
//   SELECT * FROM t WHERE v > now()       the rows that it found, and not those that it passed
//                                         over: reads of t
//   SELECT f()                            reads of any table
//   UPDATE t … → serialization failure    what it would have changed: changes of t
//
// Cost: the statements.
#include "record/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collect/schedule/row_history.h"
#include "collect/schedule/statements.h"
#include "record/shape.h"

namespace assay::internal::record {
namespace {

constexpr size_t kMostStatementBytes = 90;  // in an explanation
constexpr size_t kMostStatements = 8;       // of a transaction there
constexpr size_t kMostReasons = 8;
constexpr size_t kMostWords = 2;  // of a program's name

// Adds a new element, up to this number of them.
void add(std::vector<std::string>& to, std::string what, size_t most) {
  if (to.size() < most + 1 && std::ranges::count(to, what) == 0)
    to.push_back(to.size() < most ? std::move(what) : "…");
}

// Controls the transaction and does nothing else.
bool is_control(const std::string& kind) {
  static constexpr std::array<std::string_view, 4> kControl = {"begin", "commit", "rollback",
                                                               "prepare"};
  return std::ranges::count(kControl, kind) > 0;
}

std::string words_of(const SeenStatement& s) {
  const Statement& statement = *s.of;
  std::string words = fmt::format(
      "`{}`", collect::schedule::in_one_line(without_comments(statement.sql), kMostStatementBytes));
  if (!statement.place.empty()) words += fmt::format(" ({})", statement.place);
  return words;
}

}  // namespace

std::string_view missed_of(const Statement& statement, const SeenStatement& s) {
  if (!statement.missed.empty() || !s.too_large) return statement.missed;
  return "an answer that is too large";
}

std::string without_comments(std::string_view sql) {
  std::string out;
  size_t done = 0;
  for (const collect::schedule::Comment& c : collect::schedule::comments_of(sql)) {
    out += sql.substr(done, c.at - done);
    out += ' ';
    done = c.end;
  }
  out += sql.substr(done);
  const size_t first = out.find_first_not_of(" \t\r\n");
  return first == std::string::npos
             ? ""
             : out.substr(first, out.find_last_not_of(" \t\r\n") + 1 - first);
}

const std::string& ProgramNames::name(const std::string& statements, const std::string& words) {
  const auto [at, fresh] = names_.try_emplace(statements);
  if (fresh) {
    const size_t taken = ++taken_[words];
    at->second = taken == 1 ? words : fmt::format("{} ({})", words, taken);
  }
  return at->second;
}

void Description::miss(const SeenStatement& s, std::string_view why,
                       const std::vector<std::string>& tables) {
  reads_.insert(tables.begin(), tables.end());
  add(why_, fmt::format("{}: {}", words_of(s), why), kMostReasons);
}

void Description::look_at(const SeenStatement& s, bool finds_all) {
  const Statement& statement = *s.of;
  if (!statement.reads || s.failed) return;
  const std::vector<std::string> any = {"*"};
  const std::vector<std::string>& tables = statement.tables.empty() ? any : statement.tables;
  const bool changes = !statement.changed.empty();
  if (const std::string_view missed = missed_of(statement, s); !missed.empty())
    miss(s, missed, tables);
  else if (!finds_all)
    miss(s, "the rows that it did not find", tables);
  else if (changes && (!statement.keyed || s.rows == 0))
    miss(s, "the rows that it did not change", tables);
  if (changes && statement.fires) miss(s, "a trigger", any);
  // Tables that are not in the log.
  const bool unlogged = !statement.missed.empty() && statement.missed.starts_with("a table ");
  if (changes && unlogged) changes_.insert(statement.changed);
}

void Description::miss_origins() {
  reads_.insert("*");
  add(why_,
      "the log has changes that its statements do not count: a trigger, a cascade, a function or a "
      "savepoint",
      kMostReasons);
}

void Description::end(bool logged) {
  if (logged) return;
  const bool committed = txn_.status == TxnStatus::committed;
  if (committed && closed_) return;  // there were none
  // The operations it would have done if it had not been refused.
  const bool refused = txn_.status != TxnStatus::aborted ||
                       std::ranges::any_of(txn_.statements, &SeenStatement::failed);
  if (!refused) return;
  for (const SeenStatement& s : txn_.statements) {
    const Statement& statement = *s.of;
    if (!statement.reads || (!statement.writes && !s.failed)) continue;
    reads_.insert(statement.tables.begin(), statement.tables.end());
    if (!statement.changed.empty())
      changes_.insert(statement.changed);
    else if (statement.writes)
      changes_.insert("*");
    add(why_,
        fmt::format("{}: {}", words_of(s),
                    committed ? "the log was not read to its end"
                              : "it was refused, so what it would have done is unknown"),
        kMostReasons);
  }
}

std::string Description::meta(ProgramNames& programs) const {
  Json meta = Json::object();
  Json sql = Json::array();
  std::vector<std::string> ran, places, reads, changes;
  std::string statements;
  for (const SeenStatement& s : txn_.statements) {
    const Statement& statement = *s.of;
    if (is_control(statement.kind) || s.failed) continue;
    const std::string text = without_comments(statement.sql);
    Json one = {{"text", text}, {"sent", s.time.request}};
    if (!s.values.empty()) one["values"] = s.values;
    if (!statement.place.empty()) one["place"] = statement.place;
    if (!statement.locks.empty()) one["locks"] = statement.locks;
    sql.push_back(std::move(one));
    if (!statement.reads) continue;
    add(ran, words_of(s), kMostStatements);
    const auto shape = shape_of(text);
    const std::string& form = shape ? shape->text : text;
    if (("\n" + statements).find("\n" + form + "\n") != std::string::npos) continue;
    statements += form + "\n";
    const std::string table = statement.tables.empty()
                                  ? ""
                                  : " " + (statement.tables[0] == "*" ? "…" : statement.tables[0]);
    if (!statement.place.empty()) add(places, statement.place, kMostWords);
    // The tables that it only reads say less.
    add(statement.changed.empty() ? reads : changes, statement.kind + table, kMostWords);
  }
  const bool defines = std::ranges::any_of(txn_.statements, [&](const SeenStatement& s) {
    return !s.failed && s.of->kind == "definition";
  });
  if (defines) meta["defines"] = true;
  const std::vector<std::string>& words = !places.empty()    ? places
                                          : !changes.empty() ? changes
                                                             : reads;
  if (!words.empty() && !defines)
    meta["program"] = programs.name(statements, fmt::format("{}", fmt::join(words, ", ")));
  if (!ran.empty()) meta["ran"] = fmt::format("{}", fmt::join(ran, ", "));
  if (!txn_.isolation.empty()) meta["isolation"] = txn_.isolation;
  if (txn_.number) meta["xid"] = *txn_.number;
  if (!txn_.application.empty()) meta["application"] = txn_.application;
  if (!why_.empty()) {
    meta["unrecorded"] = Json::object();
    if (!reads_.empty()) meta["unrecorded"]["reads"] = Json(reads_);
    if (!changes_.empty()) meta["unrecorded"]["changes"] = Json(changes_);
    meta["unrecorded"]["why"] = Json(why_);
  }
  if (!ran.empty()) meta["sql"] = std::move(sql);
  return meta.dump();
}

}  // namespace assay::internal::record
