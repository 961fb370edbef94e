// What every fuzz target of a format asks: bytes never crash the reader; a history that was
// accepted is written without a crash, and where nothing was lost it is read back as the same
// history.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "assay/format.h"

namespace assay::formats {

inline void fuzz_round_trip(const std::string& format, const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto read = read_history_text(bytes, "fuzz", {format});
  if (!read.ok()) return;
  std::string text;
  auto losses = write_history_text(read->history, format, text);
  if (!losses.ok()) return;  // a format that is only read
  auto again = read_history_text(text, "again", {format});
  if (!again.ok()) {
    std::fprintf(stderr, "%s\n%s\n", again.error().to_string().c_str(), text.c_str());
    std::abort();
  }
  if (losses->empty() && again->history.content_hash() != read->history.content_hash())
    std::abort();
}

}  // namespace assay::formats
