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

std::optional<double> Remaining::seconds(double now, double fraction) {
  constexpr double kLeastTime = 2, kLeastShare = 0.02;
  if (fraction < 0) return std::nullopt;
  if (from_ < 0 || fraction < last_) {
    began_ = now;
    from_ = fraction;
  }
  last_ = fraction;
  if (now - began_ < kLeastTime || fraction - from_ < kLeastShare) return std::nullopt;
  return (now - began_) * std::max(0.0, 1 - fraction) / (fraction - from_);
}

namespace {

// "about 40 s left"; empty if it would be over before it can be read.
std::string left_in_words(double seconds) {
  if (seconds < 1) return "";
  if (seconds < 100) return fmt::format("about {:.0f} s left", seconds);
  if (seconds < 100 * 60) return fmt::format("about {:.0f} min left", seconds / 60);
  return fmt::format("about {:.0f} h left", seconds / 3600);
}

}  // namespace

std::string progress_text(std::string_view label, double fraction, std::optional<double> left,
                          std::string_view text, int width) {
  std::string line(label);
  if (fraction >= 0) {
    const double done = std::min(fraction, 1.0);
    const int filled = static_cast<int>(done * kBarWidth);
    line += fmt::format("  [{:#<{}}{:-<{}}]  {:3.0f} %", "", filled, "", kBarWidth - filled,
                        done * 100);
  }
  if (const std::string words = left ? left_in_words(*left) : ""; !words.empty())
    line += "  " + words;
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
  const double seconds = std::chrono::duration<double>(now.time_since_epoch()).count();
  next_ = now + kInterval;
  // One column stays free: a full last column wraps on some terminals.
  fmt::print(stderr, "\r\033[K{}",
             progress_text(label_, fraction, remaining_.seconds(seconds, fraction), text,
                           terminal_width() - 1));
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
