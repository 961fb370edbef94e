#include "certify/evidence.h"

#include <span>

#include "certify/refusal.h"

namespace assay::certify {

Status Evidence::check_fact(const Before& fact, uint32_t source, bool source_is_op) {
  if (Status s = check_source(source, source_is_op); !s.ok()) return s;
  const Places& listed = places(source, source_is_op);
  const auto before = listed.find(fact.before), after = listed.find(fact.after);
  const bool in_order =
      before != listed.end() && after != listed.end() && before->second.first < after->second.last;
  // A list shows all that was appended before it was read: who is not in it came later.
  const bool came_later = source_is_op && before != listed.end() && after == listed.end() &&
                          fact.after < history.txn_count() &&
                          accesses.writes_key(fact.after, history.op(source).key);
  if (fact.before == fact.after || !(in_order || came_later))
    return refuse(
        "the source of the fact does not put a version of one transaction before one of the "
        "other");
  for (TxnId t : {fact.before, fact.after})
    if (!counting.counts(t))
      return refuse("transaction {} of a fact need not have taken effect", history.name(t));
  return Ok{};
}

Status Evidence::check_source(uint32_t source, bool source_is_op) {
  if (!source_is_op) {
    if (source >= history.known_orders().size())
      return refuse("the history states no order of versions with index {}", source);
    return Ok{};
  }
  if (source >= history.op_count() || history.op(source).kind != OpKind::read_list)
    return refuse("operation {} is no read of a list", source);
  if (!counting.counts(history.txn_of(source)))
    return refuse("the list was read by transaction {}, which need not have taken effect",
                  history.name(history.txn_of(source)));
  return Ok{};
}

const Evidence::Places& Evidence::places(uint32_t source, bool source_is_op) {
  auto [it, fresh] = places_.try_emplace(uint64_t{source} << 1 | (source_is_op ? 1 : 0));
  if (!fresh) return it->second;
  const std::span<const VersionId> versions =
      source_is_op ? history.operands(source)
                   : std::span<const VersionId>(history.known_orders()[source].versions);
  for (uint32_t i = 0; i < versions.size(); ++i) {
    if (source_is_op && history.is_initial(versions[i])) continue;
    const TxnId t = writers.only_author(versions[i]);
    if (t == kNone) continue;
    const auto [place, first] = it->second.try_emplace(t, Span{i, i});
    if (!first) place->second.last = i;
  }
  return it->second;
}

}  // namespace assay::certify
