// Runs the pages whose commands need more than assay: a server, or what a build installs. A page
// says so itself, "<!-- commands run with: postgres -->".
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "pages.h"
#include "places.h"
#include "real/server.h"
#include "workplace.h"

namespace assay::internal::docs {
namespace {

namespace fs = std::filesystem;

int run_pages_with(const std::string& need, const std::string& variables) {
  int count = 0;
  for (const fs::path& page : pages()) {
    if (needs(read_file(page)) != need) continue;
    Workplace(variables).expect_what_is_shown(page);
    ++count;
  }
  return count;
}

TEST(Tutorials, PagesNeedWhatIsKnownHere) {
  for (const fs::path& page : pages()) {
    const std::string need = needs(read_file(page));
    EXPECT_TRUE(need.empty() || need == "postgres" || need == "build") << page << " needs " << need;
  }
}

TEST(Tutorials, OnPostgresql) {
  // Debian's Python, which has Debian's psycopg2.
  const std::string variables = "PATH=/usr/bin:$PATH";
  if (system("PATH=/usr/bin:$PATH python3 -c 'import psycopg2' 2>/dev/null") != 0)
    GTEST_SKIP() << "no psycopg2 here";
  const std::vector<std::string>& urls = server("postgres");
  if (urls.empty()) GTEST_SKIP() << "dev/db cannot have 'postgres' here";
  EXPECT_EQ(run_pages_with("postgres", variables + " URL='" + urls.front() + "'"), 5);
}

TEST(Tutorials, OnABuild) {
  EXPECT_EQ(run_pages_with("build", "BUILD='" + std::string(places::kBuild) + "'"), 1);
}

}  // namespace
}  // namespace assay::internal::docs
