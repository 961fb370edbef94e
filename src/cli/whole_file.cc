#include "cli/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace assay::internal::cli {

namespace fs = std::filesystem;

WholeFile::~WholeFile() {
  if (file_ && !temporary_.empty()) std::remove(temporary_.c_str());
}

Error WholeFile::failure() const { return io_error(std::strerror(errno), path_); }

Status WholeFile::open() {
  std::error_code ec;
  const fs::file_status now = fs::status(path_, ec);
  target_ = fs::is_symlink(path_, ec) ? fs::weakly_canonical(path_, ec).string() : path_;
  if (!fs::exists(now) || fs::is_regular_file(now))
    temporary_ = target_ + ".part-" + std::to_string(getpid());
  if (!temporary_.empty()) file_.reset(std::fopen(temporary_.c_str(), "wb"));
  if (file_) return Ok{};
  temporary_.clear();  // the folder takes no other file
  errno = 0;
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

}  // namespace assay::internal::cli
