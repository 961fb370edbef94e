#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/printable.h"
#include "base/whole_file.h"

namespace assay::internal::cli {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(FILE* f) const { std::fclose(f); }
};

Error system_error(const std::string& path) { return io_error(std::strerror(errno), path); }

}  // namespace

bool colour_on_stdout(Colour when) {
  if (when != Colour::automatic) return when == Colour::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return isatty(STDOUT_FILENO) == 1;
}

size_t columns_of_stdout() {
  constexpr size_t kLeast = 40, kUsual = 80;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::max<size_t>(kLeast, size.ws_col);
}

Status print(std::string_view text) { return print_painted(printable_lines(text)); }

Status print_painted(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) return system_error("standard output");
  return Ok{};
}

void note(std::string_view text) {
  std::fprintf(stderr, "assay: %s\n", printable_lines(text).c_str());
}

Exit fail(const Error& e) {
  note(e.to_string());
  return exit_code(e);
}

Status write_file(const std::string& path, std::string_view text) {
  if (path == "-") return print_painted(text);
  WholeFile file(path);
  if (Status s = file.write(text); !s.ok()) return s;
  return file.close();
}

Status can_write(const std::string& path) {
  if (path == "-") return Ok{};
  std::error_code ec;
  const bool exists = fs::exists(fs::symlink_status(path, ec));
  const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "ab"));
  if (!file) return system_error(path);
  if (!exists) fs::remove(path, ec);
  return Ok{};
}

Status spare_inputs(std::span<const std::string> outputs, std::span<const std::string> inputs) {
  for (const std::string& output : outputs)
    for (const std::string& input : inputs) {
      std::error_code ec;  // files that do not exist are not the same
      if (fs::is_regular_file(output, ec) && fs::equivalent(output, input, ec))
        return usage_error(output + " is read; expected another file to write");
    }
  return Ok{};
}

Result<std::string> read_file(const std::string& path, uint64_t limit) {
  const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return system_error(path);
  std::string text;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
    text.append(buffer, n);
    if (text.size() > limit)
      return Error{ErrorKind::bad_input, "larger than " + std::to_string(limit) + " bytes", path, 0,
                   0};
  }
  if (std::ferror(file.get())) return system_error(path);
  return text;
}

}  // namespace assay::internal::cli
