#include "lake/dialect.h"

namespace assay::internal::lake {

constexpr Dialect kDialects[] = {
    {"duckdb", LastKnown::inside, "BIGINT", "BOOLEAN", "VARCHAR"},
    {"spark", LastKnown::outside, "BIGINT", "BOOLEAN", "STRING"},
    {"postgresql", LastKnown::missing, "bigint", "boolean", "text"},
    {"bigquery", LastKnown::inside, "INT64", "BOOL", "STRING"},
    {"snowflake", LastKnown::outside, "BIGINT", "BOOLEAN", "VARCHAR"},
};

std::span<const Dialect> all_dialects() { return kDialects; }

const Dialect* find_dialect(std::string_view name) {
  for (const Dialect& d : kDialects)
    if (d.name == name) return &d;
  return nullptr;
}

}  // namespace assay::internal::lake
