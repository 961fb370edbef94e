#include "record/catalogue.h"

#include <fmt/format.h>

#include "base/json.h"
#include "collect/schedule/observing.h"

namespace assay::internal::record {
namespace {

// No function here waits for a lock: a session that changes a table may be waiting for an answer
// through this very program.
constexpr std::string_view kRelations =
    "SELECT json_build_object('oid', c.oid::bigint, 'schema', n.nspname, 'name', c.relname, "
    "'kind', "
    "c.relkind, 'persistence', c.relpersistence, 'root_schema', rn.nspname, 'root', r.relname, "
    "'logged', quote_ident(n.nspname) || '.' || quote_ident(c.relname), 'key', (SELECT "
    "json_agg(a.attname ORDER BY array_position(i.indkey::int2[], a.attnum)) FROM pg_index i JOIN "
    "pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = c.oid "
    "AND "
    "i.indisprimary), 'numbers', (SELECT json_agg(a.attname) FROM pg_attribute a WHERE a.attrelid "
    "= c.oid "
    "AND a.attnum > 0 AND a.atttypid IN (20, 21, 23)), 'texts', (SELECT json_agg(a.attname) FROM "
    "pg_attribute a JOIN pg_collation l ON l.oid = a.attcollation WHERE a.attrelid = c.oid AND "
    "a.attnum > 0 AND a.atttypid IN (25, 1043) AND l.collisdeterministic), 'whole', r.oid = c.oid "
    "AND "
    "NOT c.relrowsecurity AND c.relreplident IN ('d', 'f'), 'fires', c.relhasrules OR EXISTS "
    "(SELECT 1 "
    "FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal), 'file', "
    "c.relfilenode::bigint) FROM "
    "pg_class c JOIN pg_namespace n ON "
    "n.oid = c.relnamespace JOIN pg_class "
    "r "
    "ON r.oid = coalesce(pg_partition_root(c.oid), c.oid) JOIN pg_namespace rn ON rn.oid = "
    "r.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN "
    "('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)' ORDER BY c.oid";
constexpr std::string_view kFunctions =
    "SELECT DISTINCT p.proname, p.prokind = 'a', n.nspname NOT IN ('pg_catalog', "
    "'information_schema') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE "
    "p.prokind = 'a' OR n.nspname NOT IN ('pg_catalog', 'information_schema')";

// Each row of the system's own tables has another number when it was changed.
constexpr std::string_view kState =
    "SELECT concat_ws(' ', (SELECT sum(hashtext(oid || ' ' || xmin || ' ' || "
    "coalesce(relacl::text, "
    "''))) FROM pg_class), (SELECT sum(hashtext(attrelid || ' ' || attnum || ' ' || xmin)) FROM "
    "pg_attribute WHERE attnum > 0), (SELECT sum(hashtext(indexrelid || ' ' || xmin)) FROM "
    "pg_index), (SELECT sum(hashtext(oid || ' ' || xmin)) FROM pg_trigger), "
    "(SELECT sum(hashtext(oid || ' ' || xmin)) FROM pg_proc WHERE oid >= 16384))";

std::string refusal_of(const Json& told) {
  const std::string kind = told.text("kind"), persistence = told.text("persistence");
  if (kind == "v") return "a view";
  if (kind == "m") return "a materialized view";
  if (kind == "f") return "a foreign table";
  if (persistence != "p") return "a table that is not logged";
  if (!told["key"].is_array()) return "a table without a primary key";
  return {};
}

}  // namespace

Result<Catalogue> Catalogue::read(evidence::PostgresqlSlot& connection) {
  Catalogue all;
  const auto relations = connection.ask(std::string(kRelations));
  if (!relations.ok()) return relations.error();
  for (const auto& row : *relations) {
    const Json told = Json::parse(row[0]);
    if (!told.is_object()) continue;
    Relation r;
    r.oid = static_cast<uint32_t>(told["oid"].integer());
    r.name = told.text("root_schema") == "public"
                 ? told.text("root")
                 : told.text("root_schema") + "." + told.text("root");
    r.logged = told.text("logged");
    for (const Json& column : told["key"]) r.key.push_back(column.text());
    for (const Json& column : told["numbers"]) r.numbers.push_back(column.text());
    for (const Json& column : told["texts"]) r.texts.push_back(column.text());
    r.whole = told["whole"].is_true();
    r.fires = told["fires"].is_true();
    r.file = told["file"].integer();
    r.refusal = refusal_of(told);
    all.by_name_.emplace(told.text("name"), all.relations_.size());
    all.by_qualified_name_.emplace(told.text("schema") + '\0' + told.text("name"),
                                   all.relations_.size());
    all.relations_.push_back(std::move(r));
  }
  const auto functions = connection.ask(std::string(kFunctions));
  if (!functions.ok()) return functions.error();
  for (const auto& row : *functions) {
    if (row[1] == "t") all.aggregates_.insert(row[0]);
    if (row[2] == "t") all.functions_.insert(row[0]);
  }
  return all;
}

Result<std::string> Catalogue::state(evidence::PostgresqlSlot& connection) {
  const auto rows = connection.ask(std::string(kState));
  if (!rows.ok()) return rows.error();
  return (*rows)[0][0];
}

Result<std::set<uint32_t>> Catalogue::readable(evidence::PostgresqlSlot& connection,
                                               std::string_view user) {
  const auto rows = connection.ask(
      fmt::format("SELECT c.oid FROM pg_class c, pg_roles u WHERE u.rolname = {} AND c.relkind IN "
                  "('r', 'p') AND has_table_privilege(u.oid, c.oid, 'SELECT')",
                  collect::schedule::in_quotes(user, '\'')));
  if (!rows.ok()) return rows.error();
  std::set<uint32_t> oids;
  for (const auto& row : *rows) oids.insert(static_cast<uint32_t>(std::stoul(row[0])));
  return oids;
}

const Relation* Catalogue::find(std::string_view schema, std::string_view name) const {
  if (!schema.empty()) {
    const auto at = by_qualified_name_.find(std::string(schema) + '\0' + std::string(name));
    return at == by_qualified_name_.end() ? nullptr : &relations_[at->second];
  }
  const auto [first, last] = by_name_.equal_range(std::string(name));
  if (first == last || std::next(first) != last) return nullptr;
  return &relations_[first->second];
}

bool Catalogue::is_aggregate(std::string_view function) const {
  return aggregates_.contains(function);
}
bool Catalogue::is_users_function(std::string_view function) const {
  return functions_.contains(function);
}

}  // namespace assay::internal::record
