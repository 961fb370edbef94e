#include "collect/workloads/integer_keys.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace assay::internal::collect {

std::vector<Request> read_integer_keys(uint64_t keys, uint64_t limit, Rng& rng) {
  std::vector<Request> reads;
  const auto add = [&](uint64_t key) {
    Request& read = reads.emplace_back();
    read.kind = OpKind::read;
    read.key = Value::of(static_cast<int64_t>(key));
  };
  if (keys <= limit) {
    for (uint64_t key = 0; key < keys; ++key) add(key);
    return reads;
  }
  // Floyd's sample: `limit` draws give `limit` different keys.
  std::set<uint64_t> chosen;
  for (uint64_t last = keys - limit; last < keys; ++last)
    if (!chosen.insert(rng.below(last + 1)).second) chosen.insert(last);
  for (uint64_t key : chosen) add(key);
  return reads;
}

Status check_key_options(const WorkloadOptions& options) {
  if (options.keys == 0 || options.keys > uint64_t{std::numeric_limits<uint32_t>::max()})
    return usage_error("the number of keys must be between 1 and 4294967295");
  return Ok{};
}

Status check_key_and_operation_options(const WorkloadOptions& options, uint32_t most) {
  if (options.ops == 0 || options.ops > most)
    return usage_error("a transaction must have between 1 and " + std::to_string(most) +
                       " operations");
  return check_key_options(options);
}

}  // namespace assay::internal::collect
