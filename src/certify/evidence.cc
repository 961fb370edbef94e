#include "certify/evidence.h"

#include <span>

#include "certify/refusal.h"

namespace assay::certify {

Status Evidence::check_fact(const Before& fact, uint32_t source, bool source_is_op) {
  if (Status s = check_source(source, source_is_op); !s.ok()) return s;
  const Listed& listed = this->listed(source, source_is_op);
  const auto before = listed.places.find(fact.before), after = listed.places.find(fact.after);
  const bool in_order = before != listed.places.end() && after != listed.places.end() &&
                        before->second.first < after->second.last;
  // A list shows all that was appended before it was read: who appended none of it came later.
  const bool came_later = source_is_op && before != listed.places.end() &&
                          fact.after < history.txn_count() &&
                          appended_elsewhere(fact.after, history.op(source).key, listed.elements);
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

const Evidence::Listed& Evidence::listed(uint32_t source, bool source_is_op) {
  auto [it, fresh] = listed_.try_emplace(uint64_t{source} << 1 | (source_is_op ? 1 : 0));
  Listed& listed = it->second;
  if (!fresh) return listed;
  const auto note = [&listed](TxnId t, uint32_t place) {
    if (t == kNone) return;
    const auto [at, first] = listed.places.try_emplace(t, Span{place, place});
    if (!first) at->second.last = place;
  };
  if (!source_is_op) {
    const std::vector<TxnId>& named = stated_.named(source);
    for (uint32_t i = 0; i < named.size(); ++i) note(named[i], i);
    return listed;
  }
  // Of a list only what others had appended: the reader's own elements stand at the end of what it read, wherever
  // they are installed.
  const std::span<const VersionId> elements = list_seen(history, source).others;
  for (uint32_t i = 0; i < elements.size(); ++i) note(writers.only_author(elements[i]), i);
  listed.elements.insert(elements.begin(), elements.end());
  return listed;
}

// The transaction appends to the list, and none of these elements: whoever else appended them too.
bool Evidence::appended_elsewhere(TxnId t, KeyId list,
                                  const std::unordered_set<VersionId>& elements) const {
  bool appends = false;
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
    const Operation op = history.op(i);
    if (op.kind != OpKind::append || op.key != list) continue;
    if (elements.contains(op.version)) return false;
    appends = true;
  }
  return appends;
}

}  // namespace assay::certify
