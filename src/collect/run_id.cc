#include "collect/run_id.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <random>

namespace assay::internal::collect {

uint64_t draw_run_id() {
  std::random_device random;
  const uint64_t id = (uint64_t{random()} << 32 | random()) & 0xFFFF'FFFF'FFFF;
  return id == 0 ? 1 : id;
}

std::string run_id_text(uint64_t id) { return fmt::format("{:012x}", id); }

uint64_t parse_run_id(std::string_view text) {
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return error == std::errc() && end == text.data() + text.size() ? id : 0;
}

RunMark begin_mark(uint64_t run) {
  return {run, false, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))};
}

std::string mark_text(const RunMark& mark) {
  return fmt::format("{} {} {}", run_id_text(mark.run), mark.finished ? "done" : "open",
                     mark.began);
}

RunMark parse_mark(std::string_view text) {
  const auto word = [&text] {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return first;
  };
  RunMark mark;
  mark.run = parse_run_id(word());
  mark.finished = word() != "open";
  mark.began = word();
  return mark;
}

}  // namespace assay::internal::collect
