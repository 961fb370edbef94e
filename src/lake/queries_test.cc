#include "lake/queries.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::internal::lake {
namespace {

std::string accepting(LevelId level) {
  QueryOptions options;
  options.level = level;
  options.dialect = find_dialect("duckdb");
  return query(Part::accept, options);
}
bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A generalized snapshot may be as old as it likes, one of strong snapshot isolation is not older
// than the begin.
TEST(LakeQueries, TimesAreThoseOfTheLevel) {
  const std::string generalized = accepting(LevelId::generalized_si);
  EXPECT_TRUE(holds(generalized, "snapshot_at <= began_by"));
  EXPECT_FALSE(holds(generalized, "snapshot_at >= began"));
  const std::string strong = accepting(LevelId::strong_si);
  EXPECT_TRUE(holds(strong, "snapshot_at <= began_by"));
  EXPECT_TRUE(holds(strong, "snapshot_at >= began"));
  EXPECT_FALSE(holds(accepting(LevelId::adya_si), "began"));
}

}  // namespace
}  // namespace assay::internal::lake
