#include "cli/suggestion.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace assay::internal::cli {
namespace {

// Returns how many letters must be added, dropped, changed, or exchanged with their neighbour
// (Damerau and Levenshtein).
size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  const std::string* closest = nullptr;
  size_t fewest = std::max<size_t>(1, word.size() / 3) + 1;  // with more, it is another word
  for (const std::string& name : names) {
    const size_t edits = edits_between(word, name);
    if (edits >= fewest) continue;
    fewest = edits;
    closest = &name;
  }
  return closest == nullptr ? std::string() : "; did you mean '" + *closest + "'?";
}

}  // namespace assay::internal::cli
