// Files that no folder lists: their contents are gone once they are closed, or after a crash.
#pragma once

#include <string>
#include <utility>

#include "assay/result.h"

namespace assay::internal {

// Closes the file when it is destroyed.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();
  int get() const { return fd_; }
  // Gives up the descriptor; the caller closes it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;  // -1: there is none
};

// The folder that TMPDIR names, or /tmp.
std::string temporary_folder();
// A file for writing and reading, on the file system of this folder.
Result<FileDescriptor> temporary_file(const std::string& folder);

}  // namespace assay::internal
