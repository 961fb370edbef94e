// Whatever the bytes: no crash, and what was read can be played: each turn refers to a step, each
// step to a session.
#include <cstdlib>

#include "collect/schedule/file.h"
#include "collect/schedule/statements.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::internal::collect::schedule;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = parse(text, "fuzz.spec");
  if (!file.ok()) return 0;
  for (const Step& step : file->steps) {
    if (step.session >= file->sessions.size()) std::abort();
    for (const std::string_view statement : statements_of(step.sql))
      if (words_of(statement).empty()) std::abort();
  }
  for (const auto& permutations : {file->permutations, interleavings(*file, 10, 1)})
    for (const Permutation& p : permutations)
      for (const Turn& turn : p.turns)
        if (turn.step >= file->steps.size()) std::abort();
  return 0;
}
