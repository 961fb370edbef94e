#include "base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace assay::internal {
namespace {

constexpr int kBarWidth = 20;
constexpr auto kInterval = std::chrono::milliseconds(100);

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// Cuts to a number of bytes without splitting a UTF-8 character.
void cut(std::string& text, size_t bytes) {
  if (text.size() <= bytes) return;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
}

}  // namespace

bool terminal_on_stderr() {
  if (!isatty(STDERR_FILENO)) return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) != "dumb";
}

std::string progress_text(std::string_view label, double fraction, std::string_view text,
                          int width) {
  std::string line(label);
  if (fraction >= 0) {
    const double done = std::min(fraction, 1.0);
    const int filled = static_cast<int>(done * kBarWidth);
    line += fmt::format("  [{:#<{}}{:-<{}}]  {:3.0f} %", "", filled, "", kBarWidth - filled,
                        done * 100);
  }
  if (!text.empty()) line += fmt::format("  {}", text);
  cut(line, static_cast<size_t>(std::max(width, 0)));
  return line;
}

ProgressLine::ProgressLine(std::string label, bool enabled)
    : label_(std::move(label)), enabled_(enabled) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(double fraction, std::string_view text) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  // One column stays free: a full last column wraps on some terminals.
  fmt::print(stderr, "\r\033[K{}", progress_text(label_, fraction, text, terminal_width() - 1));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
  next_ = {};
}

}  // namespace assay::internal
