// Shared by all fuzz targets of formats: no input may crash the reader; a history that was accepted
// must be written without a crash and, if nothing was lost, read back as the same history. Formats
// sorted by time may change the order of transactions of different sessions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/format.h"

namespace assay::internal::formats {

// One line per transaction, each with its session and its place there, sorted.
inline std::vector<std::string> sorted_lines(const History& history) {
  std::string text;
  if (!write_history_text(history, "assay", text).ok()) std::abort();
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

inline void fuzz_round_trip(const std::string& format, const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto read = read_history_text(bytes, "fuzz", {format});
  if (!read.ok()) return;
  std::string text;
  auto losses = write_history_text(read->history, format, text);
  if (!losses.ok()) return;  // the format is only read
  auto again = read_history_text(text, "again", {format});
  if (!again.ok()) {
    std::fprintf(stderr, "%s\n%s\n", again.error().to_string().c_str(), text.c_str());
    std::abort();
  }
  if (losses->empty() && again->history.content_hash() != read->history.content_hash() &&
      sorted_lines(again->history) != sorted_lines(read->history))
    std::abort();
}

}  // namespace assay::internal::formats
