#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace assay::internal {

namespace fs = std::filesystem;

WholeFile::~WholeFile() {
  if (file_ && !temporary_.empty()) std::remove(temporary_.c_str());
}

Error WholeFile::failure() const { return io_error(std::strerror(errno), path_); }

// Creates a new file next to the target; never opens a file left by a killed process, and never
// follows a link.
FILE* WholeFile::new_temporary() {
  constexpr int kMostLeftBehind = 100;
  for (int i = 0; i < kMostLeftBehind; ++i) {
    temporary_ =
        fmt::format("{}.part-{}{}", target_, getpid(), i == 0 ? "" : fmt::format("-{}", i));
    const int fd =
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0) return ::fdopen(fd, "wb");
    if (errno != EEXIST) break;
  }
  temporary_.clear();
  return nullptr;
}

Status WholeFile::open() {
  std::error_code ec;
  const fs::file_status now = fs::status(path_, ec);
  target_ = fs::is_symlink(path_, ec) ? fs::weakly_canonical(path_, ec).string() : path_;
  if (!fs::exists(now) || fs::is_regular_file(now)) file_.reset(new_temporary());
  if (file_) return Ok{};
  errno = 0;  // the folder accepts no new file
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) return failure();
  return Ok{};
}

Status WholeFile::write(std::string_view text) {
  if (!file_)
    if (Status s = open(); !s.ok()) return s;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) return failure();
  return Ok{};
}

Status WholeFile::close() {
  if (Status s = write({}); !s.ok()) return s;
  errno = 0;
  const bool flushed = std::fflush(file_.get()) == 0;
  if (!flushed || (!temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0))
    return failure();
  file_.reset();
  return Ok{};
}

}  // namespace assay::internal
