#include "base/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace assay::internal {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::string temporary_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

// The file has no name from the beginning, if the file system supports that.
Result<FileDescriptor> temporary_file(const std::string& folder) {
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return FileDescriptor(unnamed);
  std::string path = folder + "/assay-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0)
    return io_error(std::string("cannot write temporary files: ") + strerror(errno), folder);
  ::unlink(path.c_str());
  return FileDescriptor(fd);
}

}  // namespace assay::internal
