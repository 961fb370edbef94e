// What happened in a permutation, as PostgreSQL's isolation tester prints it.
#pragma once

#include <string>

#include "collect/schedule/file.h"
#include "collect/schedule/play.h"

namespace assay::internal::collect::schedule {

// From "starting permutation:" on.
std::string transcript(const File& file, const Permutation& permutation, const Performance& played);

}  // namespace assay::internal::collect::schedule
