// dev/db, where it is asked to have nothing built: what takes minutes is not begun behind a test's
// back.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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

// A number that was noted may belong to any process after the system was started again.
TEST(DevDb, EndsNoProcessThatItDidNotStart) {
  std::string folder = (fs::temp_directory_path() / "assay-dev-db-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const pid_t stranger = fork();
  ASSERT_GE(stranger, 0);
  if (stranger == 0) {
    pause();
    _exit(0);
  }
  fs::create_directories(folder + "/redis");
  std::ofstream(folder + "/redis/pid") << stranger << '\n';
  std::ofstream(folder + "/redis/began") << 1 << '\n';
  const std::string command =
      "ASSAY_DB_DIR=" + folder + " " + std::string(places::kSource) + "/dev/db down redis";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(waitpid(stranger, nullptr, WNOHANG), 0) << "it has ended";
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace assay::internal
