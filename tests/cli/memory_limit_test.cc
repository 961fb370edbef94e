// `assay check --memory` keeps to its limit within 5 %, on shapes that take a multiple of it
// without one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

#include "base/rng.h"
#include "formats/temporary_folder.h"
#include "places.h"

namespace assay::internal {
namespace {

struct ShapeOfFile {
  const char* name;
  // A line of the file, of `count`.
  std::function<std::string(uint64_t line, Rng& rng)> line;
  uint64_t count;
};

std::string number(uint64_t n) { return std::to_string(n); }

const ShapeOfFile kFiles[] = {
    {"one register, a session for each transaction, fifty values",
     [](uint64_t i, Rng& rng) {
       return R"({"session":)" + number(i) + R"(,"ops":[[")" + (rng.chance(0.5) ? "w" : "r") +
              R"(","x",)" + number(rng.below(50)) + "]]}\n";
     },
     20'000},
    {"queries that pass over most of 200 keys",
     [](uint64_t i, Rng& rng) {
       std::string op = R"(["w","k)" + number(rng.below(200)) + R"(",)" + number(i) + "]";
       if (rng.chance(0.5))
         op = R"(["pred","value > )" + number(i / 2) + " and value < " + number(i / 2 + 5) +
              R"(",[]])";
       const std::string header = i == 0 ? "{\"assay\":1,\"uses\":[\"pred\"]}\n" : "";
       return header + R"({"session":)" + number(i % 20) + R"(,"ops":[)" + op + "]}\n";
     },
     15'000},
    {"one list",
     [](uint64_t i, Rng&) {
       return R"({"session":)" + number(i % 8) + R"(,"ops":[["append","l",)" + number(i) + "]]}\n";
     },
     600'000},
};

// The most memory that the program held.
uint64_t memory_of_check(const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    execl(places::kProgram, places::kProgram, "check", file.c_str(), "--memory", "200M", "--effort",
          "3000000", nullptr);
    _exit(127);
  }
  int status = 0;
  rusage used{};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 2) << status;
  return static_cast<uint64_t>(used.ru_maxrss) * 1024;
}

TEST(MemoryLimit, IsKeptWithinFivePercent) {
  constexpr uint64_t kLimit = uint64_t{200} << 20;
  const formats::TemporaryFolder dir;
  uint64_t most = 0;
  for (const ShapeOfFile& shape : kFiles) {
    Rng rng(5);
    const std::string path = dir.path("history.jsonl");
    std::ofstream out(path, std::ios::trunc);
    for (uint64_t i = 0; i < shape.count; ++i) out << shape.line(i, rng);
    out.close();
    const uint64_t bytes = memory_of_check(path);
    EXPECT_LE(bytes, kLimit + kLimit / 20) << shape.name;
    most = std::max(most, bytes);
  }
  EXPECT_GT(most, kLimit / 2);  // else no shape takes what is forbidden
}

}  // namespace
}  // namespace assay::internal
