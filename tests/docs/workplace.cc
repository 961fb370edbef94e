#include "workplace.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "pages.h"
#include "places.h"

namespace assay::internal::docs {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found = {fs::path(places::kSource) / "README.md",
                                 fs::path(places::kSource) / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(places::kSource) / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

std::string where(const fs::path& page, int line) {
  return fs::relative(page, places::kSource).string() + ":" + std::to_string(line);
}

Workplace::Workplace(std::string variables) : variables_(std::move(variables)) {
  std::string pattern = testing::TempDir() + "assay_docs_XXXXXX";
  folder_ = mkdtemp(pattern.data());
  fs::copy(fs::path(places::kSource) / "examples", folder_ / "examples",
           fs::copy_options::recursive);
}

Workplace::~Workplace() { fs::remove_all(folder_); }

std::string Workplace::run(const std::string& command) const {
  const std::string whole = "cd '" + folder_.string() + "' && PATH='" +
                            fs::path(places::kProgram).parent_path().string() + "':'" +
                            places::kSource + "/tests/cli/bin':$PATH NO_COLOR=1 " + variables_ +
                            " && export PATH NO_COLOR && { " + command + "\n} 2>&1 </dev/null";
  FILE* pipe = popen(whole.c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  std::string output;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  pclose(pipe);
  return output;
}

void Workplace::expect_what_is_shown(const fs::path& page) const {
  for (const Session& session : sessions(read_file(page))) {
    const std::string output = run(session.command);
    EXPECT_TRUE(matches(session.output, output))
        << where(page, session.line) << ": $ " << session.command << "\nshown:\n"
        << session.output << "printed:\n"
        << output;
  }
}

}  // namespace assay::internal::docs
