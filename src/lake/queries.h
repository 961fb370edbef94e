// Queries that decide a history in an SQL engine that has the table of facts
// (docs/formats/facts.md). See queries.cc for why they are right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/level.h"
#include "assay/result.h"
#include "lake/dialect.h"

namespace assay::internal::lake {

struct QueryOptions {
  LevelId level = LevelId::strict_serializable;
  const Dialect* dialect = nullptr;
  std::string facts = "facts";  // names of tables
  std::string operations = "ops";
  std::string placed = "placed";
  std::string initial;     // an SQL literal; empty: null
  bool deletions = false;  // the history may have deletions
  int64_t margin = 0;      // amount by which windows are widened on both sides
};

// The steps of deciding, each of which is a query.
enum class Part : uint8_t {
  table,    // the table that the others query
  facts,    // that table, made of one row for each operation
  accept,   // rows that speak against the order; if there are none, the level is satisfied
  refute,   // transactions that violate the level by themselves, by rules for one key
  residue,  // the transactions around what `accept` returns, for `assay residue`
  splice,   // the table with the places that `assay residue` gives
};
struct PartInfo {
  Part part;
  std::string_view name;
  std::string_view summary;
};
std::span<const PartInfo> all_parts();

// Why no query decides the level; nullopt if one does.
std::optional<std::string> obstacle(LevelId level);

// The query, with a comment in front. `options.level` must have no obstacle.
std::string query(Part part, const QueryOptions& options);

}  // namespace assay::internal::lake
