#include "formats/unique_values.h"

#include <vector>

#include "history/accesses.h"

namespace assay::internal::formats {

Status check_unique_values(const History& h, const std::string& file) {
  const auto place = [&](TxnId t) {
    const bool known = !file.empty() && h.line(t) > 0;
    return h.name(t) + (known ? " (line " + std::to_string(h.line(t)) + ")" : "");
  };
  std::vector<OpId> written(h.version_count(), kNone);
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const VersionId version = h.op(i).version;
      if (!installs_version(h.op(i))) continue;
      if (written[version] == kNone) {
        written[version] = i;
        continue;
      }
      const TxnId first = h.txn_of(written[version]);
      Error e = bad_input(h.name(t) + " writes " + h.version_value(version).to_string() +
                          " to key " + h.key(h.op(i).key).to_string() + ", which " +
                          (first == t ? "it has written before" : place(first) + " writes too") +
                          "; expected every write of a key to have a unique value");
      e.file = file;
      if (!file.empty()) e.line = h.line(t);
      return e;
    }
  }
  return Ok{};
}

}  // namespace assay::internal::formats
