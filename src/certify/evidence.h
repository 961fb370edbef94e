// What a refutation may appeal to, gathered once per certificate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"
#include "certify/blocks.h"
#include "certify/predicate_reads.h"
#include "certify/reads.h"
#include "certify/sources.h"

namespace assay::internal::certify {

class Evidence {
 public:
  Evidence(const Lookups& lookups, ReadRule rule)
      : history(lookups.history()),
        writes(lookups.writes()),
        counting(lookups, rule),
        reads(history),
        blocks(writes),
        predicate_reads(lookups),
        lookups_(lookups),
        rule_(rule) {}
  Evidence(const Evidence&) = delete;  // its parts refer to each other
  Evidence& operator=(const Evidence&) = delete;

  // Checks that the source puts a version of `fact.from` before one of `fact.to`. The source is the
  // known order with this index, or the list that this operation read: there an element of the
  // former precedes an element of the latter, or the latter appended to the list and none of its
  // elements is in it. The reader's own elements do not count, and only versions that exactly one
  // transaction can have written do (stated_orders.h, Writes::only_author).
  Status check_fact(const Literal& fact, uint32_t source, bool source_is_op);

  // Checks that `clause` has every source of what `op` saw of `key`; and, unless the transaction of
  // `op` certainly took effect, that it did not.
  Status check_sources(OpId op, KeyId key, std::span<const Literal> clause, const LevelInfo& level);
  // Checks that `clause` has sources of the keys of the aggregate `op` such that the aggregate
  // gives something else unless it saw one of them; and, unless its transaction certainly took
  // effect, that it did not.
  Status check_aggregate(OpId op, std::span<const Literal> clause, const LevelInfo& level);
  // Checks that `clause` says of a read that its source took effect, if the reader did.
  Status check_effect(std::span<const Literal> clause);

  const History& history;
  const Writes& writes;
  Counting counting;
  ExternalReads reads;
  Blocks blocks;
  PredicateReads predicate_reads;

 private:
  // Checks that every literal says what the operation saw, of this key unless it is kNone, or that
  // its transaction did not take effect; the latter must be there unless the transaction certainly
  // did.
  Status check_seen(OpId op, KeyId key, std::span<const Literal> clause, const LevelInfo& level);
  const Sources& sources();
  struct Span {
    uint32_t first, last;
  };
  // What a source lists.
  struct Listed {
    std::unordered_map<TxnId, Span> places;  // first and last place of the transaction's versions
    std::unordered_set<VersionId> elements;  // the elements of all transactions
  };
  Status check_source(uint32_t source, bool source_is_op);
  const Listed& listed(uint32_t source, bool source_is_op);
  bool appended_elsewhere(TxnId t, KeyId list, const std::unordered_set<VersionId>& elements) const;

  const Lookups& lookups_;
  const ReadRule rule_;
  std::optional<Sources> sources_;               // filled when needed
  std::unordered_map<uint64_t, Listed> listed_;  // by source
};

}  // namespace assay::internal::certify
