// Runs every file of cases/, see case.h.
#include "case.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/memory.h"
#include "places.h"

namespace assay::internal::cli_cases {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Case> all_cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(places::kSource) / "tests/cli/cases"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const fs::path& f : files) cases.push_back(parse_case(f.stem().string(), read_file(f)));
  return cases;
}

class Folder {
 public:
  Folder() {
    std::string pattern = testing::TempDir() + "assay_cli_XXXXXX";
    path_ = mkdtemp(pattern.data());
    fs::create_directory(path_ / "home");
    fs::copy(fs::path(places::kSource) / "examples", path_ / "home/examples",
             fs::copy_options::recursive);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  Outcome run(const Step& step) const {
    std::ofstream(path_ / "in") << step.input;
    const std::string bin = fs::path(places::kProgram).parent_path().string();
    const std::string tools = std::string(places::kSource) + "/tests/cli/bin";
    const std::string command = "cd '" + (path_ / "home").string() + "' && export PATH='" + bin +
                                "':'" + tools + "':\"$PATH\" && unset NO_COLOR && { " +
                                step.command + "\n} <../in >../out 2>../err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(path_ / "out"),
            read_file(path_ / "err")};
  }

 private:
  fs::path path_;
};

class Cli : public testing::TestWithParam<Case> {};

TEST_P(Cli, Case) {
  const Case& c = GetParam();
  if (kSanitizerMemory && c.name.ends_with("-memory"))
    GTEST_SKIP() << "a sanitizer's own memory counts too";
  ASSERT_EQ(c.mistake, "");
  const Folder folder;
  for (const Step& step : c.steps) {
    const Outcome o = folder.run(step);
    for (const std::string& fault : faults(step, o))
      ADD_FAILURE() << "$ " << step.command << "\n"
                    << fault << "\nstandard output:\n"
                    << o.out.substr(0, 4000) << "\nstandard error:\n"
                    << o.err.substr(0, 4000);
  }
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char ch) { return !isalnum(ch); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, Cli, testing::ValuesIn(all_cases()), test_name);

TEST(CliCanary, AWrongExpectationIsFound) {
  const Case c = parse_case("canary", "$ x\nexit 1\nout b\nout a\nout! c\nerr\njson k.1 2\n");
  ASSERT_EQ(c.mistake, "");
  EXPECT_EQ(faults(c.steps[0],
                   {
                       0,
                       "a\nb\nc\n",
                       "e",
                   })
                .size(),
            5u);
  const Case good = parse_case("good", "$ x\nexit 0\nerr e\njson k.1 2\n");
  EXPECT_TRUE(faults(good.steps[0], {0, "{\"k\":[1,2]}\n", "e"}).empty());
}

}  // namespace
}  // namespace assay::internal::cli_cases
