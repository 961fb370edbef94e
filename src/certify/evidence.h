// What a refutation may appeal to, gathered once per certificate.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"
#include "certify/reads.h"

namespace assay::certify {

class Evidence {
 public:
  explicit Evidence(const History& h, std::span<const Seen> g = {})
      : history(h), given(g), writers(h), counting(h, writers, g), accesses(h) {}

  // The versions that `fact.before` wrote are stated to precede those of `fact.after`, by the known
  // order with this index or by the list that this operation read.
  Status check_fact(const Before& fact, uint32_t source, bool source_is_op);

  const History& history;
  const std::span<const Seen> given;  // sources that are taken for granted, sorted
  const Writers writers;
  Counting counting;
  Accesses accesses;

 private:
  struct Span {
    uint32_t first, last;
  };
  // Per transaction the first and last place of its versions in the source.
  using Places = std::unordered_map<TxnId, Span>;
  Status check_source(uint32_t source, bool source_is_op);
  const Places& places(uint32_t source, bool source_is_op);

  std::unordered_map<uint64_t, Places> places_;  // per source
};

}  // namespace assay::certify
