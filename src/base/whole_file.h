// A file that exists only once it is complete.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "assay/result.h"

namespace assay::internal {

// Written under another name in the same folder, and renamed at the end. An existing file that is
// not regular, such as a pipe or /dev/stdout, is written directly, and so is a file in a folder
// that accepts no new file.
class WholeFile {
 public:
  explicit WholeFile(std::string path) : path_(std::move(path)) {}
  WholeFile(WholeFile&&) = default;
  WholeFile& operator=(WholeFile&&) = delete;
  // Without close() the new file is removed, and an existing one stays.
  ~WholeFile();

  // Writes text; the first call creates the file.
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
  std::string target_;     // `path_`, or where it leads if it is a link
  std::string temporary_;  // empty: written in place
  std::unique_ptr<FILE, CloseFile> file_;
};

}  // namespace assay::internal
