// dev/db, where it is asked to have nothing built: what takes minutes is not begun behind a test's back.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "measure.h"
#include "places.h"

namespace assay::internal {
namespace {

namespace fs = std::filesystem;

TEST(DevDb, BuildsNothingUnasked) {
  std::string folder = (fs::temp_directory_path() / "assay-dev-db-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  for (const char* name : {"cassandra", "cassandra-cluster@6", "dolt", "tidb", "tidb@3.0"}) {
    const std::string command =
        "ASSAY_DB_BUILD=0 ASSAY_DB_CACHE=" + folder + "/cache ASSAY_DB_DIR=" + folder +
        "/servers " + std::string(places::kSource) + "/dev/db up " + name + " >/dev/null 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 5) << name;
    EXPECT_TRUE(fs::is_empty(folder)) << name;
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace assay::internal
