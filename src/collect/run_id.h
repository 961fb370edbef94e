// What tells one run from another: in the header of its history, in the history's name, and in the database that it
// prepared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::collect {

// Random and never 0; of 48 bits, so that every language can hold it in its numbers.
uint64_t draw_run_id();
// Twelve hexadecimal digits.
std::string run_id_text(uint64_t id);
// 0 if it is none.
uint64_t parse_run_id(std::string_view text);

}  // namespace assay::collect
