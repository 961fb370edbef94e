// What distinguishes one run from another: in the header of its history, in the history's name, and
// in the database that it prepared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::internal::collect {

// Random and never 0; 48 bits fit into the numbers of every language.
uint64_t draw_run_id();
// Twelve hexadecimal digits.
std::string run_id_text(uint64_t id);
// 0 if the text is not a run id.
uint64_t parse_run_id(std::string_view text);

// What a run leaves in the database that it prepared. A run that was killed never says that it has
// finished.
struct RunMark {
  uint64_t run = 0;  // 0: there is no mark
  bool finished = true;
  std::string began;  // ISO 8601, UTC; empty if it is not known
};
RunMark begin_mark(uint64_t run);
// At most 40 characters: "0123456789ab open 2026-01-02T03:04:05Z".
std::string mark_text(const RunMark& mark);
RunMark parse_mark(std::string_view text);

}  // namespace assay::internal::collect
