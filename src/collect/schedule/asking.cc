// Makes a statement tell which rows it reads, without changing what its user sees of it.
//
// A plain SELECT gets one more column, the last, which the observer removes from the answer. An
// aggregate is asked for all rows from which it is computed.
//
//   SELECT value FROM test t WHERE id = 1
//   SELECT value, json_array(json_array('test', …, t's columns)) FROM test t WHERE id = 1
//
// On PostgreSQL every other SELECT, wherever it is, in a sub-select, after UNION, WITH, INSERT or
// PREPARE, gets one more condition, which is always true and raises a notice about the row. It is
// declared so costly that the planner evaluates it last; in any case, a row for which it is
// evaluated was there for the statement to see.
//
//   INSERT INTO u SELECT max(n) FROM test WHERE year = 7
//   INSERT INTO u SELECT max(n) FROM test WHERE (year = 7) AND assay_saw(json_array(…))
//
// Everything else, such as views, functions and cursors on other databases, is sent unchanged and
// counted as missed. Only a query of one table that neither locks nor stops at a LIMIT tells which
// rows are not there. An additional column may make the database read a row where the index would
// have been enough: so on MySQL, whose reads may lock, a table with further indexes is not asked.
//
// Cost: linear in the statement's words times the depth of its brackets.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "collect/schedule/observing.h"

namespace assay::internal::collect::schedule {
namespace {

bool is_aggregate(std::string_view word) {
  return is_one_of(word, {"count", "sum", "min", "max", "avg", "bool_and", "bool_or", "array_agg",
                          "string_agg", "group_concat", "total"});
}

// The place of the keyword outside of brackets; words.size() if it is not there.
size_t find_keyword(const std::vector<Word>& words, std::string_view keyword, size_t from = 0) {
  while (from < words.size() && !words[from].is(keyword)) ++from;
  return from;
}

// Whether a list of relations ends here, or a condition.
bool ends_from(const Word& w) {
  return w.depth == 0 && w.kind == Word::Kind::word &&
         is_one_of(w.text, {"where", "group", "order", "limit", "offset", "for", "fetch", "having",
                            "lock", "window", "returning", "conflict"});
}
size_t end_of_clause(const std::vector<Word>& words, size_t from) {
  while (from < words.size() && !ends_from(words[from])) ++from;
  const bool on_conflict = from < words.size() && words[from].is("conflict");
  return on_conflict && words[from - 1].is("on") ? from - 1 : from;
}

// Whether a name in a FROM may be that of one of the schedule's tables.
bool is_of_no_catalogue(const std::vector<Word>& words, size_t at) {
  const std::string& name = words[at].text;
  return words[at].is_name() && !name.starts_with("pg_") && !name.starts_with("sqlite_") &&
         name != "information_schema" && (at + 1 == words.size() || words[at + 1].text != "(");
}

// Whether the value of a condition may change if it is evaluated at the end: it calls something
// that is not known to depend only on the row.
bool depends_on_the_moment(const std::vector<Word>& words, size_t from, size_t end) {
  for (size_t i = from; i < end; ++i) {
    if (words[i].kind != Word::Kind::word) continue;
    const bool called =
        i + 1 < end && words[i + 1].text == "(" && words[i + 1].kind == Word::Kind::sign;
    if (words[i].text.starts_with("current_") ||
        (called && !is_one_of(words[i].text, {"in", "and", "or", "not", "where", "abs", "mod",
                                              "lower", "upper", "length", "coalesce"})))
      return true;
  }
  return false;
}

// The names that WITH gives to queries.
std::set<std::string> names_of_queries(const std::vector<Word>& words) {
  std::set<std::string> names;
  for (size_t i = 0; i + 2 < words.size(); ++i)
    if (words[i].is_name() && words[i + 1].text == "as" && words[i + 2].text == "(")
      names.insert(words[i].text);
  return names;
}

// The words of the SELECT at a place, as if it were alone; including its parts in brackets, but not
// what UNION adds.
std::vector<Word> select_at(const std::vector<Word>& words, size_t at) {
  const int depth = words[at].depth;
  std::vector<Word> select;
  for (size_t i = at; i < words.size() && words[i].depth >= depth; ++i) {
    if (words[i].depth == depth && words[i].kind == Word::Kind::word &&
        is_one_of(words[i].text, {"union", "intersect", "except"}))
      break;
    select.push_back(words[i]);
    select.back().depth -= depth;
  }
  return select;
}

// Why a SELECT is not plain; empty if it is.
std::string_view not_plain(const std::vector<Word>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const Word& w = words[i];
    if (w.kind != Word::Kind::word) continue;
    if (w.text == "select") return w.depth > 0 ? "a sub-select" : "UNION";
    if (w.depth > 0) continue;
    if (is_one_of(w.text, {"union", "intersect", "except"})) return "UNION";
    if (w.text == "distinct" && i == 1) return "DISTINCT";
    if (w.text == "having") return "HAVING";
    if (w.text == "over") return "a window";
    if (w.text == "into") return "SELECT INTO";
    if (w.text == "lateral" || w.text == "tablesample") return "FROM with a function";
  }
  return {};
}

}  // namespace

std::optional<std::vector<Observer::Relation>> Observer::relations(const std::vector<Word>& words,
                                                                   size_t from, size_t end) const {
  std::vector<Relation> all;
  bool expects = true, in_condition = false;
  for (size_t i = from; i < end; ++i) {
    const Word& w = words[i];
    if (w.depth > 0) continue;
    if (w.kind == Word::Kind::sign && w.text == ",") {
      expects = true;
      in_condition = false;
      continue;
    }
    if (w.is("join")) {
      expects = true;
      in_condition = false;
      continue;
    }
    if (w.is("on") || w.is("using")) in_condition = true;
    if (in_condition || !expects) continue;
    if (w.is("only")) continue;
    if (!w.is_name()) return std::nullopt;
    // SCHEMA.NAME [AS] ALIAS
    size_t name = i;
    while (name + 2 < end && words[name + 1].text == "." && words[name + 2].is_name()) name += 2;
    const bool function = name + 1 < end && words[name + 1].text == "(";
    if (function && is_one_of(words[name].text, {"generate_series", "unnest"})) {
      expects = false;
      continue;
    }
    const Table* const t = table(words[name].text);
    if (t == nullptr || function) return std::nullopt;
    size_t next = name + 1;
    if (next < end && words[next].is("as")) ++next;
    const bool aliased =
        next < end && words[next].is_name() &&
        !(words[next].kind == Word::Kind::word &&
          is_one_of(words[next].text, {"join", "inner", "left", "right", "full", "cross", "natural",
                                       "on", "using", "straight_join"}));
    const Word& called = aliased ? words[next] : words[name];
    const char quote = kin_ == Kin::mysql ? '`' : '"';
    all.push_back({t, in_quotes(called.text, quote)});
    expects = false;
    i = aliased ? next : name;
  }
  return all;
}

// Looks at WHERE …, in a query of one table: what it asks for.
void Observer::look_at_condition(std::string_view statement, const std::vector<Word>& words,
                                 const Relation& relation, size_t from, size_t end,
                                 Sight& sight) const {
  Query query{.table = relation.table->name, .name = relation.name, .where = {}, .key = {}};
  if (from < words.size() && words[from].is("where")) {
    size_t last = from + 1;
    while (last < end && !ends_from(words[last])) ++last;
    if (last == from + 1 || depends_on_the_moment(words, from + 1, last)) return;
    query.where = statement.substr(words[from + 1].at, words[last - 1].end - words[from + 1].at);
    const bool constant = last == from + 4 && (words[from + 3].kind == Word::Kind::number ||
                                               words[from + 3].kind == Word::Kind::text);
    const std::vector<std::string>& key = relation.table->key;
    if (constant && key.size() == 1 && words[from + 1].text == key[0] &&
        words[from + 2].text == "=")
      query.key = words[from + 3].text;
  }
  sight.query = std::move(query);
}

Asked Observer::ask_select(std::string_view statement, const std::vector<Word>& words) const {
  Asked asked{.statement = std::string(statement),
              .sql = std::string(statement),
              .has_rows = false,
              .sight = {}};
  const size_t from = find_keyword(words, "from");
  if (from == words.size()) return asked;
  asked.sight.kind = Sight::Kind::read;
  const size_t end = end_of_clause(words, from);
  const auto found = relations(words, from + 1, end);
  if (!found) {
    asked.sight.missed = "FROM with a function or brackets";
    return asked;
  }
  bool aggregated = false;
  for (size_t i = 1; i + 1 < from; ++i)
    aggregated = aggregated || (is_aggregate(words[i].text) && words[i + 1].text == "(");
  const bool grouped = find_keyword(words, "group") < words.size();
  std::string versions;
  for (const Relation& r : *found) {
    if (!r.table->refusal.empty()) {
      asked.sight.missed = r.table->refusal;
      return asked;
    }
    versions += (versions.empty() ? "" : ", ") + version_of(*r.table, r.name);
  }
  if (kin_ == Kin::keys) {
    look_at_condition(statement, words, (*found)[0], end, words.size(), asked.sight);
    return asked;
  }
  const bool postgresql = kin_ == Kin::postgresql;
  std::string column =
      fmt::format("{}({})", postgresql ? "json_build_array" : "json_array", versions);
  if (aggregated || grouped)
    column = fmt::format("{}({})",
                         postgresql                              ? "json_agg"
                         : kin_ == Kin::mysql || kin_ == Kin::h2 ? "json_arrayagg"
                                                                 : "json_group_array",
                         column);
  if (postgresql) column += "::text";
  asked.sql = fmt::format("{}, {} AS assay_rows {}", statement.substr(0, words[from - 1].end),
                          column, statement.substr(words[from].at));
  asked.has_rows = true;
  // Only a query of one table that neither locks nor stops tells which rows are not there.
  bool complete = found->size() == 1 && relations(words, from + 1, end)->size() == 1;
  for (size_t i = end; i < words.size(); ++i)
    complete = complete && !(words[i].depth == 0 && words[i].kind == Word::Kind::word &&
                             is_one_of(words[i].text, {"limit", "offset", "for", "fetch", "lock"}));
  for (size_t i = from; i < end; ++i) complete = complete && !words[i].is("only");
  // Rows in partitions have the names of the partitions.
  if (complete)
    for (const Table& t : tables_) complete = complete && t.parent != (*found)[0].table->name;
  if (complete) look_at_condition(statement, words, (*found)[0], end, words.size(), asked.sight);
  return asked;
}

// Notes whether what an UPDATE or DELETE does depends on columns that are not the key, and what its
// condition asks for. If rows are compared, it is not known which of them the statement found.
void Observer::look_at_change(std::string_view statement, const std::vector<Word>& words,
                              Sight& sight) const {
  const Table* of = nullptr;
  for (const Word& w : words)
    if (of == nullptr && w.is_name()) of = table(w.text);
  if (of == nullptr) {
    sight.missed = "a table that is not known";
    return;
  }
  sight.missed = of->refusal;
  const bool reads = words[0].is("update") || words[0].is("delete") || words[0].is("with");
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].is("returning")) break;
    if (!reads || !words[i].is_name()) continue;
    const bool assigned = i + 1 < words.size() && words[i + 1].text == "=" &&
                          (words[i - 1].is("set") || words[i - 1].text == ",") &&
                          i < find_keyword(words, "where");
    const bool column = std::ranges::count(of->columns, words[i].text) > 0;
    if (column && !assigned && std::ranges::count(of->key, words[i].text) == 0)
      sight.depends_on_rows = true;
  }
  if (sight.missed.empty() && changes_tell_conditions_ && !compares_rows() && kin_ != Kin::keys)
    look_at_condition_of_change(statement, words, *of, sight);
}

// Looks at the condition of a plain UPDATE or DELETE that sees more of its rows than their keys, or
// asks for one key.
void Observer::look_at_condition_of_change(std::string_view statement,
                                           const std::vector<Word>& words, const Table& of,
                                           Sight& sight) const {
  const bool updates = words[0].is("update");
  const bool plain =
      (updates || words[0].is("delete")) && std::ranges::none_of(words, [&](const Word& w) {
        return w.kind == Word::Kind::word &&
               (is_one_of(w.text, {"select", "using", "limit", "order", "join", "only"}) ||
                (updates && w.is("from")));
      });
  const size_t where = find_keyword(words, "where");
  const bool has_partitions =
      std::ranges::any_of(tables_, [&](const Table& t) { return t.parent == of.name; });
  if (!plain || has_partitions || where == words.size()) return;
  const auto found =
      relations(words, updates ? 1 : 2, updates ? find_keyword(words, "set") : where);
  if (!found || found->size() != 1) return;
  look_at_condition(statement, words, (*found)[0], where, words.size(), sight);
  const bool sees_versions =
      std::any_of(words.begin() + static_cast<ptrdiff_t>(where), words.end(), [&](const Word& w) {
        return w.is_name() && std::ranges::count(of.columns, w.text) > 0 &&
               std::ranges::count(of.key, w.text) == 0;
      });
  if (sight.query && sight.query->key.empty() && !sees_versions) sight.query.reset();
}

// Asks in every SELECT. Returns why not all of them tell; empty if they do, nullopt if they are of
// no table.
std::optional<std::string> Observer::ask_everywhere(std::string_view statement,
                                                    const std::vector<Word>& words,
                                                    Asked& asked) const {
  const std::set<std::string> queries = names_of_queries(words);
  std::vector<std::pair<size_t, std::string>> additions;
  bool reads = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].kind != Word::Kind::word || words[i].text != "select") continue;
    const std::vector<Word> select = select_at(words, i);
    const size_t from = find_keyword(select, "from");
    if (from == select.size()) continue;
    const size_t end = end_of_clause(select, from);
    // A nested query tells for itself.
    if (from + 2 < select.size() && select[from + 1].text == "(" &&
        select[from + 2].text == "select")
      continue;
    if (end == from + 2 && queries.contains(select[from + 1].text)) continue;
    const auto found = relations(select, from + 1, end);
    std::string versions;
    if (!found) return "FROM with a function or brackets";
    if (found->empty()) continue;
    reads = true;
    for (const Relation& r : *found) {
      if (!r.table->refusal.empty()) return r.table->refusal;
      versions += (versions.empty() ? "" : ", ") + version_of(*r.table, r.name);
    }
    const std::string saw =
        fmt::format("assay_functions.assay_saw(json_build_array({}))", versions);
    if (end == select.size() || !select[end].is("where")) {
      additions.emplace_back(select[end - 1].end, " WHERE " + saw);
      continue;
    }
    const size_t last = end_of_clause(select, end + 1);
    additions.emplace_back(select[end + 1].at, "(");
    additions.emplace_back(select[last - 1].end, ") AND " + saw);
  }
  std::sort(additions.begin(), additions.end());
  asked.sql.clear();
  size_t done = 0;
  for (const auto& [at, text] : additions) {
    asked.sql += statement.substr(done, at - done);
    asked.sql += text;
    done = at;
  }
  asked.sql += statement.substr(done);
  if (!reads) return std::nullopt;
  return "";
}

Asked Observer::ask(std::string_view statement) const {
  const std::vector<Word> words = words_of(statement);
  Asked asked{.statement = std::string(statement),
              .sql = std::string(statement),
              .has_rows = false,
              .sight = {}};
  if (words.empty()) return asked;
  const bool about_tables = std::ranges::any_of(
      words, [&](const Word& w) { return w.is_name() && table(w.text) != nullptr; });
  const std::string& first = words[0].text;
  const auto changes = [](const Word& w) {
    return w.kind == Word::Kind::word &&
           is_one_of(w.text, {"insert", "update", "delete", "merge", "replace", "copy"});
  };
  const bool selects = std::ranges::any_of(
      words, [](const Word& w) { return w.kind == Word::Kind::word && w.text == "select"; });
  if (changes(words[0]) || (first == "with" && std::ranges::any_of(words, changes))) {
    asked.sight.kind = Sight::Kind::write;
    look_at_change(statement, words, asked.sight);
    if (selects && kin_ == Kin::postgresql)
      asked.sight.elsewhere = ask_everywhere(statement, words, asked);
    else if (selects)
      asked.sight.elsewhere = "a sub-select of a change";
    return asked;
  }
  const size_t from = find_keyword(words, "from");
  if (first == "select" && !about_tables && from + 1 < words.size() &&
      is_of_no_catalogue(words, from + 1)) {
    asked.sight.kind = Sight::Kind::read;
    asked.sight.missed = "a table that is not known";
    return asked;
  }
  const bool reads = about_tables && is_one_of(first, {"select", "with", "declare", "prepare"});
  if (reads && first == "select" && not_plain(words).empty()) return ask_select(statement, words);
  if (reads) {
    asked.sight.kind = Sight::Kind::read;
    asked.sight.missed = kin_ == Kin::postgresql
                             ? ask_everywhere(statement, words, asked).value_or("")
                         : first == "select" ? std::string(not_plain(words))
                                             : "WITH";
    if (first == "declare" || first == "prepare") asked.sight.kind = Sight::Kind::other;
  } else if (is_one_of(first, {"execute", "fetch", "call", "table"})) {
    asked.sight.kind = Sight::Kind::read;
    asked.sight.told_later = true;
    asked.sight.missed = first == "fetch"     ? "a cursor"
                         : first == "execute" ? "a prepared statement"
                         : first == "call"    ? "a procedure"
                                              : "TABLE";
  }
  return asked;
}

}  // namespace assay::internal::collect::schedule
