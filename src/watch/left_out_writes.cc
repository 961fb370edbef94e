#include "watch/left_out_writes.h"

#include <algorithm>

#include "history/value_hash.h"

namespace assay::internal::watch {

void LeftOutWrites::add(const Member& m) {
  const History& h = *m.piece;
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
    if (!installs_version(h.op(i))) continue;
    const Install left = install_of(h, i);
    std::vector<uint64_t>& values = values_[hash_value(h.key(left.key))];
    values.push_back(hash_value(h.version_value(left.version)));
    if (left.removes) values.push_back(hash_value(ValueView{}));
  }
}

bool LeftOutWrites::explain(const History& h, const Observation& seen) const {
  if (seen.accepts != Accepts::equals || values_.empty()) return false;
  const auto it = values_.find(hash_value(h.key(seen.key)));
  return it != values_.end() &&
         std::ranges::count(it->second, hash_value(h.version_value(seen.version))) > 0;
}

}  // namespace assay::internal::watch
