#include "base/sort_by.h"

namespace assay::internal {

void sort_numbered(std::vector<Numbered>& numbered) {
  if (std::is_sorted(numbered.begin(), numbered.end())) return;  // as times often are
  std::sort(numbered.begin(), numbered.end());
}

}  // namespace assay::internal
