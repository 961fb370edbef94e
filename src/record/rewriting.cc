// Understands statements by PostgreSQL's own parser, and has SELECTs say which versions of which
// rows they read.
//
//   SELECT name FROM doctors d WHERE on_call        SELECT name, ROW(d.tableoid, d.xmin,
//                                                   d.id)::text AS assay_rows FROM doctors d …
//   SELECT count(*) FROM doctors                    SELECT count(*), array_agg(ROW(…)::text)::text
//                                                   AS assay_rows FROM doctors
//
// One column of text, always the last, whatever the statement joins: an outer join leaves its part
// empty, and so do the other arms of UNION ALL. A sub-select in FROM has such values in columns of
// their own, which the outer SELECT has in its row:
//
//   SELECT s.a FROM (SELECT a FROM t) s             SELECT s.a, ROW(s.assay_rows_1, …)::text AS
//                                                   assay_rows FROM (SELECT a, t.tableoid AS
//                                                   assay_rows_1, … FROM t) s
//
// DECLARE and PREPARE have the column for FETCH and EXECUTE.
//
// It is put into the text of the client, which otherwise stays as it is, comments included;
// nothing is written anew from a tree. The text that comes of it is parsed again, and sent only if
// in its tree this column is all that is new.
//
// A SELECT's reads elsewhere, in other sub-selects, functions, views, or behind DISTINCT and UNION,
// are not recorded: then it says why. Statements that change rows are sent unchanged, for the log
// has their writes.
//
// Cost: two parses of a text that was not seen before but for its constants, a look-up of one that
// was.
#include "record/rewriting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/json.h"
#include "collect/schedule/observing.h"
#include "collect/schedule/statements.h"
#include "record/shape.h"

#ifdef ASSAY_PG_QUERY
#include <pg_query.h>
#endif

namespace assay::internal::record {
namespace {

using collect::schedule::in_quotes;
using collect::schedule::Word;
using collect::schedule::words_of;

constexpr size_t kMostTextBytes = 1 << 20;   // that is parsed
constexpr size_t kMostWordBytes = 60;        // of one that is not
constexpr size_t kMostSubSelects = 20;       // within each other
constexpr size_t kMostKeptBytes = 64 << 20;  // of texts and what they are

// The tree as JSON; empty if it does not parse.
std::string parse(std::string_view sql) {
#ifdef ASSAY_PG_QUERY
  const PgQueryParseResult parsed = pg_query_parse(std::string(sql).c_str());
  std::string tree = parsed.error == nullptr ? parsed.parse_tree : "";
  pg_query_free_parse_result(parsed);
  return tree;
#else
  static_cast<void>(sql);
  return {};
#endif
}

// Everything in a tree but what `visit` does not want to be entered.
template <class Visit>
void walk(const Json& root, Visit visit) {
  std::vector<const Json*> left = {&root};
  while (!left.empty()) {
    const Json& node = *left.back();
    left.pop_back();
    for (size_t i = 0; i < node.size(); ++i)
      if (!node.is_object() || visit(node.name(i), node[i])) left.push_back(&node[i]);
  }
}

const std::string& name_in(const Json& node) { return node["String"]["sval"].text(); }

constexpr int64_t kCursorWithHold = 0x20;

// Of which a text, compared with a column, is what it looks like.
bool is_plain_type(std::string_view type) {
  static constexpr std::array<std::string_view, 5> kPlain = {"int2", "int4", "int8", "text",
                                                             "varchar"};
  return std::ranges::count(kPlain, type) > 0;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n;");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n;") + 1 - first);
}

// The SELECTs of UNION ALL, in their order; none if they are put together in another way.
std::vector<const Json*> arms_of(const Json& select) {
  std::vector<const Json*> left = {&select}, arms;
  while (!left.empty()) {
    const Json& s = *left.back();
    left.pop_back();
    if (s.text("op") == "SETOP_NONE") {
      arms.push_back(&s);
      continue;
    }
    if (s.text("op") != "SETOP_UNION" || !s["all"].is_true()) return {};
    left.push_back(&s["rarg"]);
    left.push_back(&s["larg"]);
  }
  return arms;
}

// Whether a SELECT may show, or join by, all columns of something in its FROM.
bool shows_rows_of(const Json& select, const std::string& name) {
  bool shows = false;
  for (const Json& target : select["targetList"]) {
    const Json& fields = target["ResTarget"]["val"]["ColumnRef"]["fields"];
    shows = shows || (fields.size() == 1 && fields[0].contains("A_Star"));
  }
  walk(select, [&](const std::string& type, const Json& node) {
    const Json& fields = node["fields"];
    shows =
        shows || (type == "JoinExpr" && node["isNatural"].is_true()) ||
        (type == "ColumnRef" && fields.size() == 1 && !fields[0].contains("A_Star") &&
         name_in(fields[0]) == name) ||
        (type == "ColumnRef" && fields.size() > 1 && fields[fields.size() - 1].contains("A_Star") &&
         name_in(fields[fields.size() - 2]) == name);
    return true;
  });
  return shows;
}

// Of something in a FROM; empty if it has none.
std::string name_of(const Json& range) {
  const Json& alias = range["alias"];
  return alias.is_object() ? alias.text("aliasname") : range.text("relname");
}

// What WITH names in front of a SELECT; null if that is not a SELECT, or goes round.
const Json* query_of(const Json& select, const std::string& name) {
  const Json& with = select["withClause"];
  if (with["recursive"].is_true()) return nullptr;
  for (const Json& query : with["ctes"]) {
    const Json& s = query["CommonTableExpr"]["ctequery"]["SelectStmt"];
    if (query["CommonTableExpr"].text("ctename") == name && s.is_object()) return &s;
  }
  return nullptr;
}

// Where the columns of a SELECT begin.
size_t place_of(const Json& select) {
  return static_cast<size_t>(select["targetList"][0]["ResTarget"]["location"].integer());
}

bool is_of_system(const Json& range) {
  const std::string schema = range.text("schemaname");
  return schema == "pg_catalog" || schema == "information_schema" ||
         (schema.empty() && range.text("relname").starts_with("pg_"));
}

// Columns to put in behind the others of a SELECT, of which the first begins at a place of the
// text.
struct Addition {
  size_t first = 0;
  std::string columns;  // with their names
};

// What a query reads at its own level, below which its sub-selects are.
struct Level {
  bool aggregates = false, sub_selects = false;
};

// A condition in the language of histories (history/condition.h), as far as that has PostgreSQL's
// meaning.
class ConditionWriter {
 public:
  ConditionWriter(const Relation& relation, std::string_view sql, Json& pieces)
      : relation_(relation), sql_(sql), pieces_(pieces) {}

  bool write(const Json& node, int depth = 0) {
    if (depth > kMostDepth || node.size() != 1) return false;
    if (node.contains("BoolExpr")) return write_bool(node["BoolExpr"], depth);
    if (node.contains("A_Expr")) return write_comparison(node["A_Expr"]);
    if (!node.contains("NullTest")) return false;
    const bool is = node["NullTest"].text("nulltesttype") == "IS_NULL";
    add(is ? "(" : "not (");
    if (!write_column(node["NullTest"]["arg"])) return false;
    add(" is null)");
    return true;
  }

 private:
  static constexpr int kMostDepth = 20;

  void add(std::string_view text) { pieces_.push_back(Json(text)); }

  bool write_bool(const Json& s, int depth) {
    const std::string op = s.text("boolop");
    const Json& args = s["args"];
    add(op == "NOT_EXPR" ? "not (" : "((");
    for (size_t i = 0; i < args.size(); ++i) {
      if (i > 0) add(op == "OR_EXPR" ? ") or (" : ") and (");
      if (!write(args[i], depth + 1)) return false;
    }
    add(op == "NOT_EXPR" ? ")" : "))");
    return !args.empty();
  }

  bool write_comparison(const Json& s) {
    const std::string kind = s.text("kind"),
                      op = s["name"].size() == 1 ? name_in(s["name"][0]) : "";
    const bool differs = op == "<>";
    add(differs || kind == "AEXPR_NOT_BETWEEN" ? "not (" : "(");
    if (!write_column(s["lexpr"])) return false;
    const bool orders = op == "<" || op == ">" || op == "<=" || op == ">=";
    bool done = false;
    if (kind == "AEXPR_OP" && (op == "=" || differs || (orders && number_))) {
      add(fmt::format(" {} ", differs ? "=" : op));
      done = write_value(s["rexpr"]);
    } else if (kind == "AEXPR_IN") {
      add(" in (");
      done = write_values(s["rexpr"]["List"]["items"], ", ");
      add(")");
    } else if (number_ && (kind == "AEXPR_BETWEEN" || kind == "AEXPR_NOT_BETWEEN")) {
      add(" between ");
      done = write_values(s["rexpr"]["List"]["items"], " and ");
    }
    add(")");
    return done;
  }

  bool write_values(const Json& values, std::string_view between) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) add(between);
      if (!write_value(values[i])) return false;
    }
    return !values.empty();
  }

  bool write_column(const Json& node) {
    const Json& fields = node["ColumnRef"]["fields"];
    if (fields.empty() || fields.size() > 2) return false;
    const std::string& column = name_in(fields[fields.size() - 1]);
    number_ = std::ranges::count(relation_.numbers, column) > 0;
    if (!number_ && std::ranges::count(relation_.texts, column) == 0) return false;
    add(in_quotes(column, '"'));
    return true;
  }

  // To compare with the column that was written last.
  bool write_value(const Json& node) {
    if (node.contains("ParamRef")) {
      pieces_.push_back(Json::array({node["ParamRef"]["number"], number_ ? "number" : "text"}));
      return true;
    }
    const Json& constant = node["A_Const"];
    if (number_ && constant["ival"].contains("ival"))
      add(std::to_string(constant["ival"]["ival"].integer()));
    else if (number_ && constant.contains("ival") && is_zero(constant["location"].integer()))
      add("0");
    else if (!number_ && constant.contains("sval") && is_ascii(constant["sval"].text("sval")))
      add(in_quotes(constant["sval"].text("sval"), '\''));
    else
      return false;
    return true;
  }

  // The tree omits 0 and negative places in its JSON.
  bool is_zero(int64_t at) const {
    const std::string_view text = sql_.substr(std::min(static_cast<size_t>(at), sql_.size()), 2);
    return text.starts_with('0') && (text.size() == 1 || !collect::schedule::is_digit(text[1]));
  }

  const Relation& relation_;
  std::string_view sql_;
  Json& pieces_;
  bool number_ = false;  // the column that was written last is one
};

class Understanding {
 public:
  // `sql`: the whole text.
  Understanding(const Catalogue& catalogue, const std::set<uint32_t>& readable,
                std::string_view sql, Part& part)
      : catalogue_(catalogue), readable_(readable), sql_(sql), part_(part) {}

  std::vector<Addition> statement(const std::string& type, const Json& s);

 private:
  void look_everywhere(const Json& s);
  Level look_at_level(const Json& select) const;
  void select(const Json& s);
  bool look_at_arm(const Json& s);
  void add_sub_select(const Json& s, const std::string& name, const Json& outer);
  std::vector<Addition> name(const std::string& type, const Json& s);
  void refer(const std::string& type, const Json& s);
  Json values_of(const Json& params) const;
  void add_from(const Json& select);
  void look_for_condition(const Json& s);
  bool look_for_key(const Json& where, const Relation& relation);
  void look_for_lock(const Json& s);
  void note_table(const Json& range);
  void change(const Json& s);
  void transaction(const Json& s);
  void set(const Json& s);
  void copy(const Json& s);
  void miss(std::string_view why) {
    if (part_.missed.empty()) part_.missed = why;
  }

  const Catalogue& catalogue_;
  const std::set<uint32_t>& readable_;
  std::string_view sql_;
  Part& part_;
  std::set<std::string> queries_;      // that WITH names
  std::multiset<std::string> called_;  // tables and queries, without a schema
  std::vector<std::string> columns_;
  std::vector<Addition> additions_;
  size_t depth_ = 0;  // of sub-selects
  size_t given_ = 0;  // names
};

void Understanding::look_everywhere(const Json& s) {
  walk(s, [&](const std::string& type, const Json& node) {
    if (type == "CommonTableExpr") queries_.insert(node.text("ctename"));
    if (type == "CommonTableExpr" || (type == "RangeVar" && node.text("schemaname").empty()))
      called_.insert(node.text(type == "RangeVar" ? "relname" : "ctename"));
    return true;
  });
  bool writes = false;
  walk(s, [&](const std::string& type, const Json& node) {
    if (type == "RangeVar" && !is_of_system(node) &&
        (!node.text("schemaname").empty() || !queries_.contains(node.text("relname")))) {
      part_.reads = true;
      note_table(node);
    }
    if (type == "FuncCall" && !node["funcname"].empty() &&
        catalogue_.is_users_function(name_in(node["funcname"][node["funcname"].size() - 1]))) {
      part_.reads = part_.may_write = true;
      part_.tables.emplace_back("*");
      miss("a user-defined function");
    }
    part_.is_late = part_.is_late || type == "LockingClause";
    writes = writes || type == "InsertStmt" || type == "UpdateStmt" || type == "DeleteStmt";
    return true;
  });
  if (writes) {
    part_.may_write = true;
    miss("WITH that writes");
  }
}

// Behind a view there may be any.
void Understanding::note_table(const Json& range) {
  const Relation* const relation = catalogue_.find(range.text("schemaname"), range.text("relname"));
  const bool known = relation != nullptr && !relation->refusal.ends_with("view");
  std::string name = known ? relation->name : "*";
  if (std::ranges::count(part_.tables, name) == 0) part_.tables.push_back(std::move(name));
}

Level Understanding::look_at_level(const Json& select) const {
  Level level;
  walk(select, [&](const std::string& type, const Json& node) {
    if (type == "SubLink") level.sub_selects = true;
    if (type == "SelectStmt" || type == "withClause") return false;
    if (type == "FuncCall" && !node.contains("over") && !node["funcname"].empty() &&
        (node.contains("agg_star") || node.contains("agg_distinct") ||
         node.contains("agg_filter") || node.contains("agg_order") ||
         node.contains("agg_within_group") ||
         catalogue_.is_aggregate(name_in(node["funcname"][node["funcname"].size() - 1]))))
      level.aggregates = true;
    return true;
  });
  return level;
}

// The relations of a FROM, in their order.
void Understanding::add_from(const Json& select) {
  const Json& from = select["fromClause"];
  std::vector<const Json*> left;
  for (size_t i = from.size(); i-- > 0;) left.push_back(&from[i]);
  while (!left.empty()) {
    const Json& item = *left.back();
    left.pop_back();
    if (item.contains("JoinExpr")) {
      const Json& join = item["JoinExpr"];
      if (join.contains("alias")) {
        miss("a join with a name");
        continue;
      }
      left.push_back(&join["rarg"]);
      left.push_back(&join["larg"]);
      continue;
    }
    if (item.contains("RangeSubselect")) {
      const Json& range = item["RangeSubselect"];
      add_sub_select(range["subquery"]["SelectStmt"], name_of(range), select);
      continue;
    }
    if (!item.contains("RangeVar")) {
      // A function of the user's was noticed before.
      if (!item.contains("RangeFunction")) miss("FROM with something else");
      continue;
    }
    const Json& range = item["RangeVar"];
    if (is_of_system(range)) continue;
    const std::string schema = range.text("schemaname"), name = range.text("relname");
    if (schema.empty() && queries_.contains(name)) {
      if (const Json* query = called_.count(name) == 2 ? query_of(select, name) : nullptr)
        add_sub_select(*query, name_of(range), select);
      else
        miss("WITH");
      continue;
    }
    const Relation* const relation = catalogue_.find(schema, name);
    const Json& alias = range["alias"];
    if (relation == nullptr)
      miss("a table that is not known");
    else if (!relation->refusal.empty())
      miss(relation->refusal);
    else if (!readable_.contains(relation->oid))
      miss("a table of which the user may not read all");
    else if (!alias["colnames"].empty())
      miss("columns with other names");
    if (relation == nullptr || !relation->refusal.empty() || !readable_.contains(relation->oid) ||
        !alias["colnames"].empty())
      continue;
    const std::string called = in_quotes(alias.is_object() ? alias.text("aliasname") : name, '"');
    columns_.push_back(called + ".tableoid");
    columns_.push_back(called + ".xmin");
    for (const std::string& column : relation->key)
      columns_.push_back(called + "." + in_quotes(column, '"'));
    part_.from.emplace_back(relation->name, relation->key.size() + 2);
  }
}

// Or what WITH names, if that is used once. Its columns are ours under names of their own, and the
// outer SELECT has them in its row, unless that would show them elsewhere: SELECT *, to_json(s).
void Understanding::add_sub_select(const Json& s, const std::string& name, const Json& outer) {
  const Level level = look_at_level(s);
  if (depth_ >= kMostSubSelects || name.empty() || shows_rows_of(outer, name) ||
      s.text("op") != "SETOP_NONE" || !s["targetList"].is_array() || s.contains("distinctClause") ||
      level.aggregates || s.contains("groupClause") || s.contains("havingClause"))
    return miss("a sub-select");
  if (level.sub_selects) miss("a sub-select");
  std::vector<std::string> columns = std::exchange(columns_, {});
  ++depth_;
  add_from(s);
  --depth_;
  std::string added;
  for (const std::string& column : std::exchange(columns_, std::move(columns))) {
    const std::string given = fmt::format("{}_{}", kColumn, ++given_);
    added += fmt::format("{}{} AS {}", added.empty() ? "" : ", ", column, given);
    columns_.push_back(fmt::format("{}.{}", in_quotes(name, '"'), given));
  }
  if (!added.empty()) additions_.push_back({place_of(s), added});
}

// The columns of one SELECT; false if there are none.
bool Understanding::look_at_arm(const Json& s) {
  columns_.clear();
  const Json& distinct = s["distinctClause"];
  if (distinct.is_array() && (distinct.empty() || distinct[0].empty()))
    return miss("DISTINCT"), false;
  const Level level = look_at_level(s);
  add_from(s);
  if (level.sub_selects) miss("a sub-select");
  if (s.contains("havingClause")) miss("HAVING");
  return level.aggregates || s.contains("groupClause") || s.contains("havingClause");
}

// The row of an arm of UNION ALL has the columns of all of them, empty where they are others'.
void Understanding::select(const Json& s) {
  part_.kind = Part::Kind::select;
  look_everywhere(s);
  if (!part_.reads) return;
  if (s.contains("intoClause")) {
    part_.kind = Part::Kind::definition;
    part_.may_write = true;
    return miss("SELECT INTO");
  }
  if (part_.missed == "WITH that writes") return;
  const std::vector<const Json*> arms = arms_of(s);
  if (arms.empty()) return miss("UNION");
  struct Arm {
    size_t first = 0;
    std::vector<std::string> columns = {};
    bool aggregated = false;
  };
  std::vector<Arm> all;
  size_t columns = 0;
  for (const Json* arm : arms) {
    if (!(*arm)["targetList"].is_array()) return miss("SELECT of no columns");
    const bool aggregated = look_at_arm(*arm);
    part_.aggregated = part_.aggregated || aggregated;
    columns += columns_.size();
    all.push_back({place_of(*arm), columns_, aggregated});
  }
  if (columns == 0) {
    additions_.clear();
    return miss("FROM of no table");
  }
  if (arms.size() == 1) look_for_condition(s);
  if (arms.size() > 1 &&
      (look_at_level(s["limitCount"]).sub_selects || look_at_level(s["limitOffset"]).sub_selects))
    miss("a sub-select");
  size_t before = 0;
  for (Arm& arm : all) {
    const size_t own = arm.columns.size();
    arm.columns.insert(arm.columns.begin(), before, "NULL");
    arm.columns.resize(columns, "NULL");
    before += own;
    std::string row = fmt::format("ROW({})::pg_catalog.text", fmt::join(arm.columns, ", "));
    if (arm.aggregated) row = fmt::format("pg_catalog.array_agg({})::pg_catalog.text", row);
    if (!arm.aggregated && part_.aggregated) row = fmt::format("ARRAY[{}]::pg_catalog.text", row);
    additions_.push_back({arm.first, fmt::format("{} AS {}", row, kColumn)});
  }
}

// PREPARE and DECLARE. What they name tells, when it is executed or fetched from.
std::vector<Addition> Understanding::name(const std::string& type, const Json& s) {
  part_.kind = Part::Kind::name;
  part_.of_cursor = type == "DeclareCursorStmt";
  part_.called = s.text(part_.of_cursor ? "portalname" : "name");
  part_.outlives = (s["options"].integer() & kCursorWithHold) != 0;
  part_.named = std::make_shared<Plan>();
  Part& named = part_.named->parts.emplace_back();
  named.sql = part_.sql;
  if (!part_.of_cursor) {
    const std::vector<Word> words = words_of(named.sql);
    const auto as = std::ranges::find_if(words, [](const Word& word) { return word.is("as"); });
    if (as != words.end()) named.sql = trimmed(std::string(named.sql.substr(as->end)));
  }
  const Json& query = s["query"];
  if (query.size() != 1) return {};
  std::vector<Addition> additions =
      Understanding(catalogue_, readable_, sql_, named).statement(query.name(0), query[0]);
  named.may_write = named.may_write || !named.missed.empty();
  part_.may_write = part_.of_cursor && named.may_write;
  // A value of another type is not compared as the text that it is sent as.
  for (const Json& of : s["argtypes"]) {
    const Json& names = of["TypeName"]["names"];
    if (names.empty() || !is_plain_type(name_in(names[names.size() - 1]))) named.where = Json();
  }
  return additions;
}

// FETCH, MOVE, CLOSE, EXECUTE, DEALLOCATE, and what needs a prepared statement unchanged.
void Understanding::refer(const std::string& type, const Json& s) {
  using Kind = Part::Kind;
  const Json& query = s["query"]["ExecuteStmt"];
  if (query.is_object()) {
    part_.plainly = query.text("name");
    part_.reads = true;
    part_.tables = {"*"};
    return miss("CREATE TABLE AS EXECUTE");
  }
  part_.of_cursor = type == "FetchStmt" || type == "ClosePortalStmt";
  part_.called = s.text(part_.of_cursor ? "portalname" : "name");
  if (type == "ClosePortalStmt" || type == "DeallocateStmt") {
    part_.kind = Kind::forget;
    return;
  }
  part_.kind = part_.of_cursor ? Kind::fetch : Kind::execute;
  part_.reads = part_.may_write = true;
  part_.tables = {"*"};
  miss(part_.of_cursor ? "an unknown cursor" : "an unknown prepared statement");
  part_.values = values_of(s["params"]);
  if (s.text("direction") == "FETCH_FORWARD" && s["howMany"].integer() > 0 &&
      !s["ismove"].is_true())
    part_.next_rows = static_cast<uint64_t>(s["howMany"].integer());
}

Json Understanding::values_of(const Json& params) const {
  Json values;
  for (const Json& param : params) {
    const Json& constant = param["A_Const"];
    const auto at =
        std::min(static_cast<size_t>(constant["location"].integer()), sql_.size());  // of a number
    int64_t number = 0;
    if (constant["isnull"].is_true())
      values.push_back(Json());
    else if (constant.contains("sval") && sql_.substr(at).starts_with('\''))
      values.push_back(Json(constant["sval"].text("sval")));
    else if (constant.contains("ival") &&
             std::from_chars(sql_.data() + at, sql_.data() + sql_.size(), number).ec == std::errc())
      values.push_back(Json(std::to_string(number)));
    else
      values.push_back(Json(false));
  }
  return values;
}

// Only a query of one table that neither locks, stops, nor leaves out rows says which rows are not
// there.
void Understanding::look_for_condition(const Json& s) {
  const Json& from = s["fromClause"];
  if (!part_.missed.empty() || from.size() != 1 || !from[0].contains("RangeVar")) return;
  const Json& range = from[0]["RangeVar"];
  const Relation* const relation = catalogue_.find(range.text("schemaname"), range.text("relname"));
  if (relation == nullptr || !relation->whole) return;
  if (look_for_key(s["whereClause"], *relation)) look_for_lock(s);
  for (const char* clause : {"limitCount", "limitOffset", "lockingClause", "distinctClause"})
    if (s.contains(clause)) return;
  // A function may return several rows, or none.
  bool calls = false;
  walk(s["targetList"], [&](const std::string& type, const Json& node) {
    calls =
        calls || (type == "FuncCall" && !(part_.aggregated && node["funcname"].size() == 1 &&
                                          catalogue_.is_aggregate(name_in(node["funcname"][0]))));
    return true;
  });
  if (calls) return;
  Json pieces = Json::array();
  if (!s.contains("whereClause") ||
      ConditionWriter(*relation, sql_, pieces).write(s["whereClause"]))
    part_.where = std::move(pieces);
}

// A SELECT with a locking clause waits for the locks of its rows and takes them. FOR KEY SHARE and
// the like, which admit some changes of the row, do not count.
void Understanding::look_for_lock(const Json& s) {
  const Json& clauses = s["lockingClause"];
  if (clauses.size() != 1 || s.contains("limitCount") || s.contains("limitOffset")) return;
  const Json& clause = clauses[0]["LockingClause"];
  const std::string strength = clause.text("strength");
  if (clause.text("waitPolicy") == "LockWaitSkip") return;
  if (strength == "LCS_FORUPDATE" || strength == "LCS_FORNOKEYUPDATE") part_.locks = "update";
  if (strength == "LCS_FORSHARE") part_.locks = "share";
}

// Looks for an equation of each column of the key among conditions that all hold. True if there are
// no other conditions.
bool Understanding::look_for_key(const Json& where, const Relation& relation) {
  std::set<std::string> named;
  size_t conditions = 0;
  const auto look = [&](const Json& condition) {
    ++conditions;
    const Json& equals = condition["A_Expr"];
    if (equals.text("kind") != "AEXPR_OP" || equals["name"].empty() ||
        name_in(equals["name"][0]) != "=")
      return;
    for (const auto& [column, value] : {std::pair("lexpr", "rexpr"), std::pair("rexpr", "lexpr")}) {
      const Json& fields = equals[column]["ColumnRef"]["fields"];
      const Json& other =
          equals[value].contains("TypeCast") ? equals[value]["TypeCast"]["arg"] : equals[value];
      if (!fields.empty() && (other.contains("ParamRef") || other.contains("A_Const")))
        named.insert(name_in(fields[fields.size() - 1]));
    }
  };
  if (where["BoolExpr"].text("boolop") == "AND_EXPR")
    for (const Json& condition : where["BoolExpr"]["args"]) look(condition);
  else
    look(where);
  part_.keyed =
      !relation.key.empty() &&
      std::ranges::all_of(relation.key, [&](const std::string& k) { return named.contains(k); });
  return part_.keyed && conditions == relation.key.size();
}

// INSERT, UPDATE and DELETE.
void Understanding::change(const Json& s) {
  part_.reads = part_.may_write = true;
  const Json& range = s["relation"];
  const Relation* const relation = catalogue_.find(range.text("schemaname"), range.text("relname"));
  note_table(range);
  if (relation == nullptr) {
    miss("a table that is not known");
  } else {
    part_.changed = relation->name;
    part_.fires = relation->fires;
    if (!relation->refusal.empty()) miss(relation->refusal);
    if (part_.kind == Part::Kind::insert)
      part_.keyed = !s.contains("onConflictClause");
    else
      look_for_key(s["whereClause"], *relation);
  }
  walk(s, [&](const std::string& type, const Json& node) {
    if (type == "SubLink" || type == "RangeVar" || type == "withClause")
      miss("what a change reads elsewhere");
    if (type == "RangeVar" && !is_of_system(node)) note_table(node);
    if (type == "FuncCall" && !node["funcname"].empty() &&
        catalogue_.is_users_function(name_in(node["funcname"][node["funcname"].size() - 1]))) {
      part_.tables.emplace_back("*");
      miss("a user-defined function");
    }
    if (type == "returningList") return false;
    if (type != "ColumnRef") return true;
    const Json& fields = node["fields"];
    const std::string& column = name_in(fields[fields.size() - 1]);
    const bool proposed = fields.size() > 1 && name_in(fields[0]) == "excluded";
    const bool of_key = relation != nullptr && std::ranges::count(relation->key, column) > 0;
    if (!proposed && !of_key) part_.depends_on_rows = true;
    return true;
  });
}

void Understanding::transaction(const Json& s) {
  const std::string kind = s.text("kind");
  if (kind == "TRANS_STMT_BEGIN" || kind == "TRANS_STMT_START") part_.kind = Part::Kind::begin;
  if (kind == "TRANS_STMT_COMMIT") part_.kind = Part::Kind::commit;
  if (kind == "TRANS_STMT_ROLLBACK") part_.kind = Part::Kind::rollback;
  if (kind == "TRANS_STMT_ROLLBACK_TO") part_.kind = Part::Kind::rollback_to;
  if (kind == "TRANS_STMT_PREPARE") part_.kind = Part::Kind::prepare;
  for (const Json& option : s["options"])
    if (option["DefElem"].text("defname") == "transaction_isolation")
      part_.isolation = option["DefElem"]["arg"]["A_Const"]["sval"].text("sval");
}

void Understanding::set(const Json& s) {
  const std::string name = s.text("name");
  part_.for_session = name == "SESSION CHARACTERISTICS" || name == "default_transaction_isolation";
  part_.changes_user = name == "role" || name == "session_authorization";
  for (const Json& arg : s["args"]) {
    if (arg["DefElem"].text("defname") == "transaction_isolation")
      part_.isolation = arg["DefElem"]["arg"]["A_Const"]["sval"].text("sval");
    if (name == "default_transaction_isolation" || name == "transaction_isolation")
      part_.isolation = arg["A_Const"]["sval"].text("sval");
  }
}

void Understanding::copy(const Json& s) {
  part_.reads = true;
  const Json& range = s["relation"];
  if (s["is_from"].is_true()) {
    part_.may_write = true;
    note_table(range);
    if (const auto* r = catalogue_.find(range.text("schemaname"), range.text("relname")))
      part_.changed = r->name;
  } else {
    look_everywhere(s);
    miss("COPY");
  }
}

std::vector<Addition> Understanding::statement(const std::string& type, const Json& s) {
  using Kind = Part::Kind;
  static constexpr std::array<std::string_view, 8> kHarmless = {
      "VariableShowStmt", "ListenStmt", "UnlistenStmt",   "NotifyStmt",
      "DiscardStmt",      "LockStmt",   "CheckPointStmt", "ConstraintsSetStmt"};
  static constexpr std::array<std::string_view, 4> kReferring = {"FetchStmt", "ClosePortalStmt",
                                                                 "ExecuteStmt", "DeallocateStmt"};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kUnknown = {
      {{"CallStmt", "a procedure"},
       {"DoStmt", "DO"},
       {"MergeStmt", "what MERGE reads"},
       {"ExplainStmt", "EXPLAIN"}}};
  if (type == "SelectStmt") return select(s), std::move(additions_);
  if (type == "PrepareStmt" || type == "DeclareCursorStmt") return name(type, s);
  const bool refers = std::ranges::count(kReferring, type) > 0;
  if (refers || s["query"].contains("ExecuteStmt")) refer(type, s);
  if (refers) return {};
  if (type == "TransactionStmt") return transaction(s), additions_;
  if (type == "VariableSetStmt") return set(s), additions_;
  if (type == "CopyStmt") return copy(s), additions_;
  if (type == "InsertStmt" || type == "UpdateStmt" || type == "DeleteStmt") {
    part_.kind = type == "InsertStmt"   ? Kind::insert
                 : type == "UpdateStmt" ? Kind::update
                                        : Kind::remove;
    return change(s), additions_;
  }
  if (std::ranges::count(kHarmless, type) > 0) return {};
  part_.may_write = true;
  for (const auto& [name, why] : kUnknown) {
    if (type != name) continue;
    look_everywhere(s);
    if (type == "CallStmt" || type == "DoStmt") {
      part_.reads = true;
      part_.tables.emplace_back("*");
    }
    part_.missed = why;
    if (type == "MergeStmt") part_.kind = Kind::merge;
    return {};
  }
  if (type == "TruncateStmt") return {};
  part_.kind = Kind::definition;
  walk(s, [&](const std::string& name, const Json& node) {
    if ((name == "relation" || name == "rel") && node.text("relpersistence") == "t")
      part_.temporary.push_back(node.text("relname"));
    return true;
  });
  return {};
}

// In any brackets.
bool is_keyword(const Word& word, std::string_view keyword) {
  return word.kind == Word::Kind::word && word.text == keyword;
}

// Behind the columns of a SELECT without FROM.
bool is_end_of_columns(const Word& word, int depth) {
  static constexpr std::array<std::string_view, 6> kWords = {"where", "union",  "order",
                                                             "limit", "offset", "for"};
  return word.depth == depth && word.kind == Word::Kind::word &&
         std::ranges::count(kWords, word.text) > 0;
}

// The place after a SELECT's columns where another may be inserted; 0 if it is not found. `first`:
// where the first of them begins.
size_t end_of_columns(const std::vector<Word>& words, size_t first) {
  size_t i = 0;
  while (i < words.size() && words[i].at < first) ++i;
  while (i > 0 && !is_keyword(words[i - 1], "select")) --i;
  if (i == 0 || i == words.size()) return 0;
  const int depth = words[i - 1].depth;
  const auto is = [&](size_t n, std::string_view keyword) {
    return words[n].depth == depth && is_keyword(words[n], keyword);
  };
  for (; i < words.size() && words[i].depth >= depth; ++i) {
    const bool compares = is(i - 1, "distinct") && i > 1 && (is(i - 2, "is") || is(i - 2, "not"));
    if ((is(i, "from") && !compares) || is_end_of_columns(words[i], depth)) return words[i - 1].end;
  }
  return words[i - 1].end;
}

// A tree without the places in the text that it names.
std::string without_places(std::string_view tree) {
  std::string out;
  for (size_t i = 0; i < tree.size();) {
    bool place = false;
    for (const std::string_view name :
         {",\"location\":", "\"location\":", ",\"stmt_location\":", ",\"stmt_len\":"})
      if (tree.substr(i).starts_with(name)) {
        i += name.size();
        while (i < tree.size() && (tree[i] == '-' || collect::schedule::is_digit(tree[i]))) ++i;
        place = true;
        break;
      }
    if (!place) out += tree[i++];
  }
  return out;
}

// Takes out of a tree the last columns of ours; false if there is one where none can be.
bool take_out_columns(std::string& tree) {
  const std::string begin = fmt::format(",{{\"ResTarget\":{{\"name\":\"{}", kColumn);
  for (size_t at = tree.find(begin); at != std::string::npos; at = tree.find(begin, at)) {
    size_t end = at + 1, depth = 0;
    bool inside = false;
    for (; end < tree.size(); ++end) {
      if (inside && tree[end] == '\\') {
        ++end;
      } else if (tree[end] == '"') {
        inside = !inside;
      } else if (!inside && tree[end] == '{') {
        ++depth;
      } else if (!inside && tree[end] == '}' && --depth == 0) {
        break;
      }
    }
    if (end + 1 >= tree.size() ||
        (tree[end + 1] != ']' && tree.compare(end + 1, begin.size(), begin) != 0))
      return false;
    tree.erase(at, end + 1 - at);
  }
  return true;
}

// Whether the columns are all that is new, as PostgreSQL sees it.
bool differs_by_columns_alone(const std::string& tree, const std::string& sent) {
  std::string other = without_places(parse(sent));
  return !other.empty() && take_out_columns(other) && other == without_places(tree);
}

// The one of which rows tell.
Part& teller(Part& part) { return part.named ? part.named->parts[0] : part; }

Part unknown_part(std::string_view sql, std::string_view why) {
  Part part;
  part.sql = sql;
  part.reads = part.may_write = true;
  part.tables = {"*"};
  part.missed = why;
  return part;
}

Plan understand(const Catalogue& catalogue, const std::set<uint32_t>& readable,
                std::string_view sql) {
  Plan plan;
  const std::string tree = parse(sql);
  const Json parsed = Json::parse(tree);
  if (!parsed.is_object()) {
    plan.parts.push_back(unknown_part(sql, "a statement that does not parse"));
    return plan;
  }
  std::vector<std::pair<size_t, std::string>> additions;
  for (const Json& s : parsed["stmts"]) {
    const size_t at =
        std::min<size_t>(static_cast<size_t>(s["stmt_location"].integer()), sql.size());
    const size_t length = static_cast<size_t>(s["stmt_len"].integer());
    const std::string_view text = sql.substr(at, length == 0 ? std::string_view::npos : length);
    Part& part = plan.parts.emplace_back();
    part.sql = trimmed(text);
    if (s["stmt"].size() != 1) continue;
    const std::vector<Addition> of =
        Understanding(catalogue, readable, sql, part).statement(s["stmt"].name(0), s["stmt"][0]);
    // An unseen relation, as behind a view, may be a function that writes.
    part.may_write = part.may_write || !part.missed.empty();
    teller(part).tells = !of.empty();
    if (of.empty()) continue;
    const std::vector<Word> words = words_of(text);
    for (const Addition& one : of) {
      const size_t place = end_of_columns(words, one.first - std::min(one.first, at));
      additions.emplace_back(place == 0 ? 0 : at + place, fmt::format(", {} ", one.columns));
    }
  }
  if (additions.empty()) return plan;
  std::ranges::sort(additions);
  // In one text, a statement is needed plainly before it can be made so again.
  const bool placed =
      additions.front().first > 0 && sql.find(kColumn) == std::string_view::npos &&
      std::ranges::all_of(plan.parts, [](const Part& part) { return part.plainly.empty(); });
  std::string sent;
  size_t done = 0;
  for (const auto& [place, added] : additions) {
    if (!placed) break;
    sent += sql.substr(done, place - done);
    plan.added.emplace_back(sent.size(), added.size());
    sent += added;
    done = place;
  }
  sent += sql.substr(done);
  if (placed && differs_by_columns_alone(tree, sent)) {
    plan.sql = std::move(sent);
    return plan;
  }
  for (Part& part : plan.parts) {
    Part& of = teller(part);
    if (of.tells) of.missed = "a SELECT of an unusual form";
    of.tells = false;
  }
  plan.added.clear();
  return plan;
}

// What of a statement does not depend on its constants.
bool is_shaped(Part::Kind kind) {
  return kind == Part::Kind::select || kind == Part::Kind::insert || kind == Part::Kind::update ||
         kind == Part::Kind::remove;
}

// A condition in which the constants are back; null where one is not of the column's type.
Json with_constants(const Json& where, const std::vector<std::string>& constants) {
  if (!where.is_array()) return {};
  Json pieces = Json::array();
  for (const Json& piece : where) {
    const size_t n = piece.size() == 2 ? static_cast<size_t>(piece[0].integer()) : 0;
    if (n < Shape::kFirst || n - Shape::kFirst >= constants.size()) {
      pieces.push_back(piece);
      continue;
    }
    const std::string& constant = constants[n - Shape::kFirst];
    const bool text = constant.starts_with('\''),
               number = constant.find('.') == std::string::npos && constant.size() < 18;
    if (piece[1].text() == "text" ? !text || !is_ascii(constant) : text || !number) return {};
    pieces.push_back(Json(constant));
  }
  return pieces;
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::ranges::none_of(text,
                              [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; });
}

bool Rewriter::is_possible() {
#ifdef ASSAY_PG_QUERY
  return true;
#else
  return false;
#endif
}

std::string_view Rewriter::grammar() {
#ifdef ASSAY_PG_QUERY
  return PG_MAJORVERSION;
#else
  return "none";
#endif
}

std::shared_ptr<const Plan> Rewriter::kept(std::string_view sql) {
  const auto known = plans_.find(std::string(sql));
  if (known != plans_.end()) return known->second;
  if (bytes_ > kMostKeptBytes) {
    plans_.clear();
    bytes_ = 0;
  }
  auto plan = std::make_shared<Plan>(understand(*catalogue_, readable_, sql));
  plan->number = ++made_;
  for (const Part& part : plan->parts)
    if (part.named) part.named->number = ++made_;
  bytes_ += 4 * sql.size() + 1000;
  plans_.emplace(std::string(sql), plan);
  return plan;
}

// Of which nothing is kept but its first words.
std::shared_ptr<const Plan> Rewriter::too_long(std::string_view sql) {
  auto plan = std::make_shared<Plan>();
  plan->number = ++made_;
  const std::string_view words = sql.substr(0, kMostWordBytes);
  plan->parts.push_back(unknown_part(
      fmt::format("{} …", trimmed(words.substr(0, words.find_first_of("'\"$\\-+.(0123456789")))),
      "a statement of over 1 MB"));
  return plan;
}

std::shared_ptr<const Plan> Rewriter::plan(std::string_view sql) {
  if (sql.size() > kMostTextBytes) return too_long(sql);
  const auto shape = shape_of(sql);
  if (!shape || shape->constants.empty()) return kept(sql);
  const std::shared_ptr<const Plan> general = kept(shape->text);
  if (general->parts.size() != 1 || !is_shaped(general->parts[0].kind)) return kept(sql);
  auto plan = std::make_shared<Plan>(*general);
  plan->number = ++made_;
  Part& part = plan->parts[0];
  part.sql = trimmed(sql);
  part.where = with_constants(part.where, shape->constants);
  if (!part.tells) return plan;
  size_t before = 0;  // that was put in
  plan->sql = sql;
  for (auto& [at, size] : plan->added) {
    const auto place = shape->place(at - before);
    if (!place) return kept(sql);
    const std::string_view added = std::string_view(general->sql).substr(at, size);
    at = *place + before;
    plan->sql.insert(at, added);
    before += size;
  }
  return plan;
}

bool Rewriter::hides(const std::string& name) const {
  return std::ranges::any_of(catalogue_->relations(),
                             [&](const Relation& r) { return r.name.ends_with(name); });
}

namespace {

// Values in such comments are escaped as in URLs.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 3], code, 16).ptr == &text[i + 3]) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string place_in_code(std::string_view sql) {
  for (const collect::schedule::Comment& c : collect::schedule::comments_of(sql)) {
    std::string_view text = sql.substr(c.at + 2, c.end - c.at - 2);
    if (!c.to_end_of_line && text.size() >= 2) text.remove_suffix(2);
    const auto value = [&](std::string_view name) -> std::string {
      for (const char* form : {"='", ":"}) {
        const size_t at = text.find(fmt::format("{}{}", name, form));
        if (at == std::string_view::npos || (at > 0 && std::isalnum(text[at - 1]) != 0)) continue;
        const std::string_view rest = text.substr(at + name.size() + std::string_view(form).size());
        return unescaped(rest.substr(0, rest.find(*form == '=' ? '\'' : ',')));
      }
      return {};
    };
    for (const std::string_view name : {"file", "code.filepath", "source_location", "caller"}) {
      const std::string file = value(name), line = value("line");
      if (!file.empty()) return line.empty() ? file : file + ":" + line;
    }
    if (const std::string controller = value("controller"); !controller.empty())
      return controller + "#" + value("action");
    if (std::string route = value("route"); !route.empty()) return route;
    // A comment that is nothing but a place.
    text = trimmed(text);
    const size_t colon = text.rfind(':');
    if (colon != std::string_view::npos && colon > 0 && colon + 1 < text.size() &&
        text.find(' ') == std::string_view::npos &&
        text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos)
      return std::string(text);
  }
  return {};
}

}  // namespace assay::internal::record
