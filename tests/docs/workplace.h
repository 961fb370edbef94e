// Where the commands of a page are run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::internal::docs {

std::string read_file(const std::filesystem::path& path);
std::vector<std::filesystem::path> pages();
std::string where(const std::filesystem::path& page, int line);

// A folder of its own with the examples in it, where `assay` is on the path.
class Workplace {
 public:
  // `variables` as a shell takes them: "URL='…' BUILD='…'".
  explicit Workplace(std::string variables = "");
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  // What the command prints on standard output and standard error.
  std::string run(const std::string& command) const;
  // Runs the commands of the page, one after the other, and compares what they print with what is
  // shown.
  void expect_what_is_shown(const std::filesystem::path& page) const;

 private:
  std::string variables_;
  std::filesystem::path folder_;
};

}  // namespace assay::internal::docs
