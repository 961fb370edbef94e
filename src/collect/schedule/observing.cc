// How to learn which versions of which rows a statement read and wrote, without an additional read
// of a table in the user's session: that could lock rows, or count for the database's own conflict
// checks.
//
// Writes. Each table has triggers that tell the session about each row that a statement changed,
// before and after, whatever the statement is: a cascade, a function or MERGE. On PostgreSQL they
// raise a notice, on MySQL and MariaDB they append to a variable of the session, on SQLite to a
// temporary table of the connection; none of these is visible to others or locks anything. DuckDB,
// TiDB and H2 have no triggers in SQL, and their reads neither lock nor count, nor do Dolt's: there
// the rows that the session sees before and after are compared. A change finds what the snapshot
// has, but on TiDB and H2 the newest version, which is what other sessions see while the row is
// locked.
//
//   UPDATE test SET value = 11 WHERE id =
//                                                1
//                                                ["U","test","741","(0,1)",{"id":1,"value":10},"743","(0,3)",{"id":1,"value":11}]
//
// Reads are asked for with the statement itself (asking.cc). On PostgreSQL a row says which
// transaction wrote it (xmin), and rows without a key are distinguished by their place (ctid).
//
// Cost: a function call for each row read or changed. Source: PostgreSQL's manual, 5.5 (system
// columns), 39 (triggers).
#include "collect/schedule/observing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "base/json.h"

namespace assay::internal::collect::schedule {
namespace {

constexpr std::string_view kTold = "INFO:  assay ";
constexpr char kBetween = '\x1e';  // between changes that a variable reports

std::string text_in_quotes(std::string_view text) { return in_quotes(text, '\''); }

constexpr std::string_view kPostgresqlCatalogue =
    "SELECT c.relname, a.attname, coalesce(array_position(i.indkey::int2[], a.attnum), -1), "
    "coalesce((SELECT p.relname FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhparent "
    "WHERE h.inhrelid = c.oid LIMIT 1), ''), CASE WHEN c.relkind IN ('r', 'p') THEN '' ELSE 'a "
    "view' "
    "END "
    "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT "
    "a.attisdropped LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relnamespace = 'assay_play'::regnamespace "
    "ORDER BY c.relname, a.attnum";
constexpr std::string_view kMysqlCatalogue =
    "SELECT c.table_name, c.column_name, coalesce((SELECT max(s.seq_in_index) FROM "
    "information_schema.statistics s WHERE s.table_schema = c.table_schema AND s.table_name = "
    "c.table_name AND s.column_name = c.column_name AND s.index_name = 'PRIMARY'), -1), '', "
    "CASE WHEN EXISTS (SELECT 1 FROM information_schema.views v WHERE v.table_schema = "
    "c.table_schema AND v.table_name = c.table_name) THEN 'a view' "
    "WHEN EXISTS (SELECT 1 FROM information_schema.statistics s WHERE s.table_schema = "
    "c.table_schema AND s.table_name = c.table_name AND s.index_name <> 'PRIMARY') THEN "
    "'a table with further indexes' WHEN EXISTS (SELECT 1 FROM "
    "information_schema.referential_constraints r WHERE r.constraint_schema = c.table_schema AND "
    "r.table_name = c.table_name) THEN 'a table that others cascade to' ELSE '' END "
    "FROM information_schema.columns c WHERE c.table_schema = 'assay_play' AND c.table_name <> "
    "'assay_made_this' "
    "ORDER BY c.table_name, c.ordinal_position";
constexpr std::string_view kDuckdbCatalogue =
    "SELECT c.table_name, c.column_name, coalesce(list_position(k.constraint_column_names, "
    "c.column_name), -1), '', CASE WHEN v.view_name IS NULL THEN '' ELSE 'a view' END "
    "FROM duckdb_columns() c LEFT JOIN duckdb_constraints() k ON k.table_oid = c.table_oid AND "
    "k.constraint_type = 'PRIMARY KEY' LEFT JOIN duckdb_views() v ON v.view_oid = c.table_oid "
    "WHERE c.schema_name = 'assay_play' ORDER BY c.table_name, c.column_index";
constexpr std::string_view kH2Catalogue =
    "SELECT c.table_name, c.column_name, coalesce((SELECT k.ordinal_position FROM "
    "information_schema.key_column_usage k JOIN information_schema.table_constraints p ON "
    "p.constraint_schema = k.constraint_schema AND p.constraint_name = k.constraint_name AND "
    "p.constraint_type = 'PRIMARY KEY' WHERE k.table_schema = c.table_schema AND k.table_name = "
    "c.table_name AND k.column_name = c.column_name), -1), '', CASE t.table_type WHEN 'VIEW' THEN "
    "'a view' ELSE '' END FROM information_schema.columns c JOIN information_schema.tables t ON "
    "t.table_schema = c.table_schema AND t.table_name = c.table_name WHERE c.table_schema = "
    "'assay_play' ORDER BY c.table_name, c.ordinal_position";
constexpr std::string_view kSqliteCatalogue =
    "SELECT m.name, c.name, CASE c.pk WHEN 0 THEN -1 ELSE c.pk END, '', CASE m.type WHEN 'view' "
    "THEN "
    "'a view' ELSE '' END "
    "FROM main.sqlite_master m, pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') AND "
    "m.name NOT "
    "LIKE 'sqlite\\_%' ESCAPE '\\' AND m.name NOT LIKE 'assay\\_%' ESCAPE '\\' ORDER BY m.name, "
    "c.cid";

const std::string& text_of(const Spoken& answer, size_t row, size_t column) {
  static const std::string none;
  const auto& cell = answer.rows[row][column];
  return cell ? *cell : none;
}

// The table's name without its schema and quotes.
std::string bare(std::string_view name) {
  name = name.substr(name.rfind('.') == name.npos ? 0 : name.rfind('.') + 1);
  if (name.size() > 1 && name.front() == '"') name = name.substr(1, name.size() - 2);
  return std::string(name);
}

// A version from [table, writer, place, row]; its table is empty if the row is null, as in an outer
// join.
Version version_from(const Json& told, size_t at) {
  if (!told[at + 3].is_object() || !told[at].is_string()) return {};
  return {bare(told[at].text()), told[at + 3].dump(), told[at + 1].text(),
          told[at + 2].is_integer() ? std::to_string(told[at + 2].integer()) : told[at + 2].text()};
}

// Takes a change from ["U", table, writer, place, row, writer, place, row].
void take_change(std::string_view told, Sight& sight) {
  const Json j = Json::parse(told);
  if (!j.is_array() || j.size() != 8) return;
  const auto half = [&](size_t at) {
    if (!j[at + 2].is_object()) return Version{};
    return Version{bare(j[1].text()), j[at + 2].dump(), j[at].text(),
                   j[at + 1].is_integer() ? std::to_string(j[at + 1].integer()) : j[at + 1].text()};
  };
  sight.changes.push_back({half(2), half(5)});
}

// Whether a change leaves the row alone: InnoDB does so if an UPDATE would not change the row,
// although it is reported as changed.
bool leaves_alone(const Change& c) {
  return c.before.row == c.after.row && c.before.writer.empty() && c.before.place.empty();
}

}  // namespace

Kin kin_of(const Driver& driver) {
  const std::string_view name = driver.dialect().database;
  if (name == "PostgreSQL") return Kin::postgresql;
  if (is_one_of(name, {"MariaDB", "MySQL", "TiDB", "Dolt"})) return Kin::mysql;
  if (name == "H2") return Kin::h2;
  return name == "SQLite" ? Kin::sqlite : name == "DuckDB" ? Kin::duckdb : Kin::keys;
}

Observer::Observer(const Driver& driver) : kin_(kin_of(driver)), compares_(compares(driver)) {}

Observer::Compares Observer::compares(const Driver& driver) {
  const std::string_view name = driver.dialect().database;
  if (name == "TiDB" || name == "H2") return Compares::newest;
  return is_one_of(name, {"DuckDB", "Dolt"}) ? Compares::snapshot : Compares::nothing;
}

const Table* Observer::table(std::string_view name) const {
  for (const Table& t : tables_)
    if (t.name == name) return &t;
  return nullptr;
}

std::vector<std::string> Observer::end_place() const {
  switch (kin_) {
    case Kin::postgresql:
    case Kin::duckdb:
    case Kin::h2:
      return {"DROP SCHEMA IF EXISTS assay_play CASCADE"};
    case Kin::mysql:
      return {"DROP DATABASE IF EXISTS assay_play"};
    case Kin::keys:
      return {};
    case Kin::sqlite:
      break;
  }
  std::vector<std::string> all = {"PRAGMA foreign_keys = OFF"};
  for (const Table& t : tables_)
    all.push_back(fmt::format("DROP {} IF EXISTS main.{}", t.refusal == "a view" ? "VIEW" : "TABLE",
                              in_quotes(t.name, '"')));
  return all;
}

std::vector<std::string> Observer::make_functions() const {
  std::vector<std::string> all = drop_functions();
  if (kin_ == Kin::postgresql) {
    all.emplace_back("CREATE SCHEMA assay_functions");
    all.emplace_back("COMMENT ON SCHEMA assay_functions IS 'made by assay play'");
    all.emplace_back("GRANT USAGE ON SCHEMA assay_functions TO PUBLIC");
    all.emplace_back(
        "CREATE FUNCTION assay_functions.assay_tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF TG_OP = 'INSERT' THEN RAISE INFO USING MESSAGE = 'assay ' || json_build_array('I', "
        "TG_TABLE_NAME, NULL, NULL, NULL, NEW.xmin::text, NEW.ctid::text, to_json(NEW)); "
        "ELSIF TG_OP = 'UPDATE' THEN RAISE INFO USING MESSAGE = 'assay ' || json_build_array('U', "
        "TG_TABLE_NAME, OLD.xmin::text, OLD.ctid::text, to_json(OLD), NEW.xmin::text, "
        "NEW.ctid::text, to_json(NEW)); "
        "ELSE RAISE INFO USING MESSAGE = 'assay ' || json_build_array('D', TG_TABLE_NAME, "
        "OLD.xmin::text, OLD.ctid::text, to_json(OLD), NULL, NULL, NULL); END IF; "
        "RETURN NULL; END $$");
    all.emplace_back(
        "CREATE FUNCTION assay_functions.assay_saw(rows json) RETURNS boolean LANGUAGE plpgsql "
        "PARALLEL "
        "SAFE AS $$ BEGIN RAISE INFO USING MESSAGE = 'assay ' || rows; RETURN true; END $$");
    all.emplace_back("RESET client_min_messages");
  }
  return all;
}

std::vector<std::string> Observer::drop_functions() const {
  if (kin_ != Kin::postgresql) return {};
  return {"SET client_min_messages = warning", "DROP SCHEMA IF EXISTS assay_functions CASCADE"};
}

std::vector<std::string> Observer::begin_place() const {
  std::vector<std::string> all = end_place();
  if (kin_ == Kin::duckdb) all.emplace_back("CREATE SCHEMA assay_play");
  if (kin_ == Kin::postgresql || kin_ == Kin::h2) {
    all.emplace_back("CREATE SCHEMA assay_play");
    all.emplace_back("COMMENT ON SCHEMA assay_play IS 'made by assay play'");
  }
  if (kin_ == Kin::postgresql) all.emplace_back("GRANT ALL ON SCHEMA assay_play TO PUBLIC");
  if (kin_ == Kin::mysql) {
    all.emplace_back("CREATE DATABASE assay_play");
    all.emplace_back("CREATE VIEW assay_play.assay_made_this AS SELECT 1");
  }
  for (const std::string& s : enter()) all.push_back(s);
  return all;
}

std::vector<std::string> Observer::enter() const {
  switch (kin_) {
    case Kin::postgresql:
      // Only this schema: DROP TABLE IF EXISTS at the beginning of a script would find the user's
      // tables.
      return {"SET search_path = assay_play"};
    case Kin::mysql:
      return {"USE assay_play", "SET @assay_told = ''"};
    case Kin::duckdb:
      return {"SET schema = 'assay_play'"};
    case Kin::h2:
      // These words are names of columns in other databases.
      return {"SET SCHEMA assay_play", "SET NON_KEYWORDS DAY, KEY, MONTH, USER, VALUE, YEAR"};
    case Kin::sqlite:
    case Kin::keys:
      break;
  }
  return {};
}

std::vector<std::string> Observer::follow() const {
  std::vector<std::string> all;
  if (kin_ != Kin::sqlite) return all;
  all.emplace_back("CREATE TEMP TABLE IF NOT EXISTS assay_told (told)");
  for (const Table& t : tables_)
    if (t.refusal.empty())
      for (std::string& s : triggers(t)) all.push_back(std::move(s));
  return all;
}

std::string Observer::row_of(const Table& table, std::string_view name) const {
  if (kin_ == Kin::postgresql) return fmt::format("to_json({}.*)", name);
  const char quote = kin_ == Kin::mysql ? '`' : '"';
  std::string out = "json_object(";
  for (const std::string& column : table.columns) {
    const std::string of = fmt::format("{}.{}", name, in_quotes(column, quote));
    // JSON cannot hold bytes.
    const std::string value =
        kin_ == Kin::sqlite
            ? fmt::format("CASE typeof({0}) WHEN 'blob' THEN hex({0}) ELSE {0} END", of)
            : of;
    out += fmt::format("{}{}{} {}", out.ends_with('(') ? "" : ", ", text_in_quotes(column),
                       kin_ == Kin::h2 ? ":" : ",", value);
  }
  return out + ")";
}

std::string Observer::version_of(const Table& table, std::string_view name) const {
  if (kin_ == Kin::postgresql)
    return fmt::format(
        "json_build_array({0}.tableoid::regclass::text, {0}.xmin::text, {0}.ctid::text, "
        "to_json({0}.*))",
        name);
  // A row that is missing in an outer join has no key.
  const char quote = kin_ == Kin::mysql ? '`' : '"';
  const std::string there = in_quotes(table.key.empty() ? "rowid" : table.key[0], quote);
  const std::string place = table.key.empty() ? fmt::format("{}.rowid", name) : "NULL";
  return fmt::format("json_array({}, NULL, {}, CASE WHEN {}.{} IS NOT NULL THEN {} END{})",
                     text_in_quotes(table.name), place, name, there, row_of(table, name),
                     kin_ == Kin::h2 ? " NULL ON NULL" : "");
}

std::vector<std::string> Observer::triggers(const Table& table) const {
  std::vector<std::string> all;
  const std::string name = in_quotes(table.name, kin_ == Kin::mysql ? '`' : '"');
  if (kin_ == Kin::postgresql)
    return {
        fmt::format("CREATE TRIGGER zz_assay AFTER INSERT OR UPDATE OR DELETE ON assay_play.{} "
                    "FOR EACH ROW EXECUTE FUNCTION assay_functions.assay_tell()",
                    name)};
  const auto half = [&](bool there, std::string_view row) {
    const bool has_place = there && kin_ == Kin::sqlite && table.key.empty();
    return fmt::format("NULL, {}, {}", has_place ? fmt::format("{}.rowid", row) : "NULL",
                       there ? row_of(table, row) : "NULL");
  };
  for (const std::string_view event : {"INSERT", "UPDATE", "DELETE"}) {
    const std::string told =
        fmt::format("json_array('{}', {}, {}, {})", event.substr(0, 1), text_in_quotes(table.name),
                    half(event != "INSERT", "OLD"), half(event != "DELETE", "NEW"));
    const std::string trigger =
        in_quotes(fmt::format("assay_{}_{}", event, table.name), kin_ == Kin::mysql ? '`' : '"');
    if (kin_ == Kin::mysql) {
      all.push_back(
          fmt::format("CREATE TRIGGER {} AFTER {} ON {} FOR EACH ROW SET @assay_told = "
                      "CONCAT(@assay_told, CHAR({}), {})",
                      trigger, event, name, static_cast<int>(kBetween), told));
    } else {
      all.push_back("DROP TRIGGER IF EXISTS temp." + trigger);
      all.push_back(
          fmt::format("CREATE TEMP TRIGGER {} AFTER {} ON main.{} BEGIN INSERT INTO "
                      "assay_told VALUES ({}); END",
                      trigger, event, name, told));
    }
  }
  return all;
}

Status Observer::spare(DriverSession& control) {
  // No other process can have a file of DuckDB open.
  if (kin_ == Kin::keys || kin_ == Kin::duckdb) return Ok{};
  if (kin_ == Kin::sqlite) {
    if (Status s = look(control); !s.ok()) return s;
    if (tables_.empty()) return Ok{};
    return usage_error(fmt::format(
        "the SQLite database holds '{}', which would be removed; expected an empty file, or none",
        tables_.front().name));
  }
  const std::vector<std::string> question = {std::string(
      kin_ == Kin::postgresql
          ? "SELECT nspname FROM pg_namespace WHERE nspname IN ('assay_play', 'assay_functions') "
            "AND obj_description(oid, 'pg_namespace') IS DISTINCT FROM 'made by assay play'"
      : kin_ == Kin::h2
          ? "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'assay_play' "
            "AND remarks IS DISTINCT FROM 'made by assay play'"
          : "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'assay_play' "
            "AND NOT EXISTS (SELECT 1 FROM information_schema.views WHERE table_schema = "
            "'assay_play' AND table_name = 'assay_made_this')")};
  std::vector<Spoken> answers;
  if (Status s = control.speak(question, answers); !s.ok()) return s;
  if (answers.empty() || !answers[0].error.empty())
    return io_error("cannot read the catalogue: " + (answers.empty() ? "" : answers[0].error));
  if (!answers[0].rows.empty())
    return usage_error(fmt::format(
        "'{}' was not made by assay play, and would be removed; expected a server without it",
        text_of(answers[0], 0, 0)));
  if (kin_ == Kin::h2) return Ok{};  // H2 has no user locks
  // Held until the connection ends.
  const std::vector<std::string> lock = {std::string(
      kin_ == Kin::postgresql ? "SELECT pg_try_advisory_lock(hashtext('assay play'))::int"
                              : "SELECT GET_LOCK('assay_play', 0)")};
  answers.clear();
  if (Status s = control.speak(lock, answers); !s.ok()) return s;
  if (!answers.empty() && !answers[0].rows.empty() && text_of(answers[0], 0, 0) == "1") return Ok{};
  return usage_error("another assay play is running in this database; expected it to end first");
}

Status Observer::look(DriverSession& control) {
  if (kin_ == Kin::keys) return Ok{};
  const std::string_view question = kin_ == Kin::postgresql ? kPostgresqlCatalogue
                                    : kin_ == Kin::mysql    ? kMysqlCatalogue
                                    : kin_ == Kin::duckdb   ? kDuckdbCatalogue
                                    : kin_ == Kin::h2       ? kH2Catalogue
                                                            : kSqliteCatalogue;
  std::vector<Spoken> answers;
  const std::vector<std::string> sql = {std::string(question)};
  if (Status s = control.speak(sql, answers); !s.ok()) return s;
  if (answers.empty() || !answers[0].error.empty())
    return io_error("cannot read the catalogue: " + (answers.empty() ? "" : answers[0].error));
  tables_.clear();
  std::vector<std::pair<int64_t, std::string>> key;
  const auto end_table = [&] {
    std::sort(key.begin(), key.end());
    for (auto& [at, column] : key) tables_.back().key.push_back(std::move(column));
    key.clear();
    const bool has_places = kin_ == Kin::postgresql || kin_ == Kin::sqlite;
    if (tables_.back().key.empty() && !has_places && tables_.back().refusal.empty())
      tables_.back().refusal = "a table without a primary key";
  };
  for (size_t row = 0; row < answers[0].rows.size(); ++row) {
    const std::string& name = text_of(answers[0], row, 0);
    if (tables_.empty() || tables_.back().name != name) {
      if (!tables_.empty()) end_table();
      tables_.push_back({.name = name, .parent = text_of(answers[0], row, 3)});
      tables_.back().refusal = text_of(answers[0], row, 4);
    }
    const std::string& column = text_of(answers[0], row, 1);
    tables_.back().columns.push_back(column);
    if (const std::string& at = text_of(answers[0], row, 2); at != "-1")
      key.emplace_back(std::stoll(at), column);
  }
  if (!tables_.empty()) end_table();
  return Ok{};
}

Status Observer::watch(DriverSession& control) const {
  std::vector<std::string> all;
  // A partition has the trigger of its parent.
  for (const Table& t : tables_)
    if (t.refusal.empty() && !compares_rows() &&
        (kin_ == Kin::mysql || (kin_ == Kin::postgresql && t.parent.empty())))
      for (std::string& s : triggers(t)) all.push_back(std::move(s));
  std::vector<Spoken> answers;
  if (Status s = control.speak(all, answers); !s.ok()) return s;
  for (const Spoken& answer : answers)
    if (!answer.error.empty()) return io_error("cannot watch the tables: " + answer.error);
  return Ok{};
}

Status Observer::see_rows(DriverSession& session, std::vector<Version>& rows) const {
  if (kin_ == Kin::keys) return Ok{};
  std::vector<std::string> all;
  for (const Table& t : tables_)
    if (t.refusal.empty())
      all.push_back(fmt::format("SELECT {} FROM {}{} AS t", version_of(t, "t"),
                                kin_ == Kin::postgresql ? "ONLY " : "",
                                in_quotes(t.name, kin_ == Kin::mysql ? '`' : '"')));
  std::vector<Spoken> answers;
  if (Status s = session.speak(all, answers); !s.ok()) return s;
  for (const Spoken& answer : answers) {
    if (!answer.error.empty()) return io_error("cannot see the tables: " + answer.error);
    for (const auto& row : answer.rows)
      if (row[0])
        if (Version v = version_from(Json::parse(*row[0]), 0); !v.table.empty())
          rows.push_back(std::move(v));
  }
  return Ok{};
}

void Observer::take_difference(const std::vector<Version>& before,
                               const std::vector<Version>& after, Sight& sight) const {
  std::map<std::pair<std::string, std::vector<std::string>>, Change> rows;
  const auto at = [&](const Version& v) -> Change* {
    const Table* const t = table(v.table);
    const auto key = t == nullptr ? std::nullopt : key_of(v, *t);
    return key ? &rows[{v.table, *key}] : nullptr;
  };
  for (const Version& v : before)
    if (Change* const c = at(v)) c->before = v;
  for (const Version& v : after)
    if (Change* const c = at(v)) c->after = v;
  for (auto& [key, change] : rows)
    if (change.before.row != change.after.row) sight.changes.push_back(std::move(change));
}

void Observer::take_difference(const std::vector<Version>& before,
                               const std::vector<Version>& after,
                               const std::vector<Version>& committed,
                               const std::vector<Version>& own, Sight& sight) const {
  using Place = std::pair<std::string, std::vector<std::string>>;
  const auto place = [&](const Version& v) {
    const Table* const t = table(v.table);
    auto key = t == nullptr ? std::nullopt : key_of(v, *t);
    return key ? Place{v.table, std::move(*key)} : Place{};
  };
  std::set<std::pair<std::string, std::string>> left, seen_by_others;
  for (const Version& v : own) left.emplace(v.table, v.row);
  std::map<Place, const Version*> newest;
  for (const Version& v : committed) {
    newest[place(v)] = &v;
    seen_by_others.emplace(v.table, v.row);
  }
  take_difference(before, after, sight);
  std::erase_if(sight.changes, [&](Change& c) {
    if (left.contains({c.before.table, c.before.row})) return false;
    const auto there = newest.find(place(c.after.table.empty() ? c.before : c.after));
    const bool is_gone = there == newest.end();
    // The change was another transaction's.
    if (c.after.table.empty() ? is_gone : seen_by_others.contains({c.after.table, c.after.row}))
      return true;
    c.before = is_gone ? Version{} : *there->second;
    return false;
  });
}

namespace {

// Whether a statement changes the form of a table. ALTER TABLE of constraints and triggers leaves
// rows as they are.
bool changes_form(const std::vector<Word>& words) {
  bool harmless = false;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i].depth > 0) continue;
    if (is_one_of(words[i].text, {"column", "type", "rename", "set", "attach"})) return true;
    harmless = harmless || is_one_of(words[i].text, {"validate", "enable", "disable", "detach"}) ||
               (is_one_of(words[i].text, {"add", "drop"}) &&
                is_one_of(words[i + 1].text, {"constraint", "foreign", "check", "unique"}));
  }
  return !harmless;
}

}  // namespace

void Observer::leave_out_altered(std::string_view statement) {
  const std::vector<Word> words = words_of(statement);
  if (words.empty()) return;
  const bool alters = is_one_of(words[0].text, {"drop", "truncate", "refresh"}) ||
                      (words[0].is("alter") && changes_form(words));
  const bool replaces = kin_ == Kin::sqlite &&
                        (words[0].is("replace") || (words.size() > 2 && words[2].is("replace")));
  if (!alters && !replaces) return;
  std::set<std::string> names;
  for (const Word& w : words)
    if (w.is_name()) names.insert(w.text);
  const std::string_view why =
      alters ? "a table that a step alters" : "a table in which rows are replaced";
  // Partitions come and go with their parent.
  for (size_t pass = 0; pass < tables_.size(); ++pass)
    for (Table& t : tables_)
      if (t.refusal.empty() && (names.contains(t.name) || names.contains(t.parent))) {
        t.refusal = why;
        names.insert(t.name);
      }
}

void Observer::note_made(std::string_view statement) {
  const std::vector<Word> words = words_of(statement);
  const bool makes = !words.empty() && words[0].is("create");
  for (size_t i = 1; makes && i < std::min<size_t>(words.size(), 5); ++i)
    if (is_one_of(words[i].text, {"trigger", "rule", "policy"})) changes_tell_conditions_ = false;
}

void Observer::take(const Asked& asked, Spoken& answer, Sight& sight) const {
  const auto take_rows = [&](const Json& relations) {
    for (const Json& r : relations)
      if (r.is_array() && r.size() == 4)
        if (Version v = version_from(r, 0); !v.table.empty()) sight.rows.push_back(std::move(v));
  };
  std::erase_if(answer.notices, [&](const std::string& notice) {
    if (!notice.starts_with(kTold)) return false;
    const std::string_view told = std::string_view(notice).substr(kTold.size());
    if (told.starts_with("[["))
      take_rows(Json::parse(told));
    else
      take_change(told, sight);
    return true;
  });
  // The statement that was prepared before has now said what it read.
  if (asked.sight.told_later && (!sight.rows.empty() || !sight.changes.empty()))
    sight.missed.clear();
  if (!asked.has_rows || answer.columns.empty()) return;
  answer.columns.pop_back();
  for (auto& row : answer.rows) {
    const Json told = Json::parse(row.back() ? *row.back() : "");
    row.pop_back();
    if (!told.is_array() || told.empty()) continue;
    // For an aggregate, an array of what a row has.
    if (told[0].is_array() && !told[0].empty() && told[0][0].is_array())
      for (const Json& relations : told) take_rows(relations);
    else
      take_rows(told);
  }
}

std::vector<std::string> Observer::told_afterwards() const {
  if (compares_rows()) return {};
  if (kin_ == Kin::mysql) return {"SELECT @assay_told", "SET @assay_told = ''"};
  if (kin_ == Kin::sqlite)
    return {"SELECT told FROM temp.assay_told", "DELETE FROM temp.assay_told"};
  return {};
}

void Observer::take_told(const Spoken& told, Sight& sight) {
  for (const auto& row : told.rows) {
    std::string_view all = row[0] ? std::string_view(*row[0]) : std::string_view();
    while (!all.empty()) {
      const size_t end = std::min(all.find(kBetween), all.size());
      take_change(all.substr(0, end), sight);
      all.remove_prefix(std::min(end + 1, all.size()));
    }
    std::erase_if(sight.changes, [&](const Change& c) {
      if (!leaves_alone(c)) return false;
      sight.left_alone.push_back(c.before);
      return true;
    });
  }
}

std::string in_quotes(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) out += c == quote ? std::string(2, quote) : std::string(1, c);
  return out + quote;
}

std::optional<std::string> literals_of(const Version& version, const Table& table) {
  const Json row = Json::parse(version.row);
  std::string all;
  for (const std::string& column : table.columns) {
    const Json* const value = row.find(column);
    if (value == nullptr || value->is_array() || value->is_object()) return std::nullopt;
    all += (all.empty() ? "" : ", ") +
           (value->is_string() ? text_in_quotes(value->text()) : value->dump());
  }
  return all;
}

std::optional<std::vector<std::string>> key_of(const Version& version, const Table& table) {
  const Json row = Json::parse(version.row);
  std::vector<std::string> key;
  for (const std::string& column : table.key) {
    const Json* const value = row.find(column);
    if (value == nullptr) return std::nullopt;
    key.push_back(value->is_string() ? value->text() : value->dump());
  }
  return key;
}

}  // namespace assay::internal::collect::schedule
