// A file that is there only once it is complete.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "assay/result.h"

namespace assay::internal {

// Written under another name in the same folder, and renamed at the end. What is there already and
// is no regular file, such as a pipe or /dev/stdout, is written as it is, and so is a file in a
// folder that takes no other.
class WholeFile {
 public:
  explicit WholeFile(std::string path) : path_(std::move(path)) {}
  WholeFile(WholeFile&&) = default;
  WholeFile& operator=(WholeFile&&) = delete;
  // Without close() nothing is left, and what was there before stays.
  ~WholeFile();

  // The first creates the file.
  Status write(std::string_view text);
  Status close();

 private:
  struct CloseFile {
    void operator()(FILE* f) const { std::fclose(f); }
  };
  FILE* new_temporary();
  Status open();
  Error failure() const;

  std::string path_;
  std::string target_;     // `path_`, or where it leads as a link
  std::string temporary_;  // empty: written in place
  std::unique_ptr<FILE, CloseFile> file_;
};

}  // namespace assay::internal
