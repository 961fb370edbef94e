// What happened in a permutation, as PostgreSQL's isolation tester prints it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/schedule/file.h"
#include "collect/schedule/play.h"

namespace assay::internal::collect::schedule {

// The transcript from "starting permutation:" on.
std::string transcript(const File& file, const Permutation& permutation, const Performance& played);

// The lines of a text without blanks, as PostgreSQL's tests compare them; empty lines are left out.
std::vector<std::string> lines_to_compare(std::string_view text);

}  // namespace assay::internal::collect::schedule
