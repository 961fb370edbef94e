#include "certify/evidence.h"

#include <algorithm>
#include <span>

#include "certify/aggregates.h"
#include "certify/refusal.h"

namespace assay::internal::certify {

Status Evidence::check_fact(const Literal& fact, uint32_t source, bool source_is_op) {
  if (Status s = check_source(source, source_is_op); !s.ok()) return s;
  const Listed& listed = this->listed(source, source_is_op);
  const auto before = listed.places.find(fact.from), after = listed.places.find(fact.to);
  const bool in_order = before != listed.places.end() && after != listed.places.end() &&
                        before->second.first < after->second.last;
  // A list shows all elements appended before it was read: a transaction that appended none of them
  // came later.
  const bool came_later = source_is_op && before != listed.places.end() &&
                          fact.to < history.txn_count() &&
                          appended_elsewhere(fact.to, history.op(source).key, listed.elements);
  if (fact.from == fact.to || !(in_order || came_later))
    return refuse("the source of the fact does not order the versions of the two transactions");
  for (TxnId t : {fact.from, fact.to})
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
  if (source >= history.op_count() || access_of(history, source).accepts != Accepts::list)
    return refuse("operation {} is not a read of a list", source);
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
    const std::span<const TxnId> named = lookups_.stated().named(source);
    for (uint32_t i = 0; i < named.size(); ++i) note(named[i], i);
    return listed;
  }
  // In a list only the elements of other transactions count: the reader's own are at its end,
  // wherever they are installed.
  const std::span<const VersionId> elements = list_seen(history, source).others;
  for (uint32_t i = 0; i < elements.size(); ++i) note(writes.only_author(elements[i], rule_), i);
  listed.elements.insert(elements.begin(), elements.end());
  return listed;
}

// Whether the transaction appends to the list, but none of these elements, even if others appended
// them, too.
bool Evidence::appended_elsewhere(TxnId t, KeyId list,
                                  const std::unordered_set<VersionId>& elements) const {
  const std::vector<VersionId> own = appended_by(history, t, list);
  return !own.empty() &&
         std::ranges::none_of(own, [&](VersionId v) { return elements.contains(v); });
}

const Sources& Evidence::sources() {
  if (!sources_) sources_.emplace(writes);
  return *sources_;
}

Status Evidence::check_seen(OpId op, KeyId key, std::span<const Literal> clause,
                            const LevelInfo& level) {
  if (op >= history.op_count()) return refuse("the operation is not in the history");
  const TxnId reader = history.txn_of(op);
  bool excepted = counting.counts(reader);
  for (const Literal& literal : clause) {
    const bool seen = literal.kind == Literal::Kind::seen && !literal.negated &&
                      literal.to == reader && (key == kNone || literal.key == key) &&
                      (literal.op == op || (literal.op == kNone && one_state(level)));
    if (!seen && literal != !Literal::effect(reader))
      return refuse("the clause does not say what the operation saw of the key");
    excepted = excepted || !seen;
  }
  if (!excepted) return refuse("transaction {} need not have taken effect", history.name(reader));
  return Ok{};
}

Status Evidence::check_aggregate(OpId op, std::span<const Literal> clause, const LevelInfo& level) {
  if (Status s = check_seen(op, kNone, clause, level); !s.ok()) return s;
  return check_gives_otherwise(sources(), writes, op, level, clause);
}

Status Evidence::check_sources(OpId op, KeyId key, std::span<const Literal> clause,
                               const LevelInfo& level) {
  if (key >= history.key_count()) return refuse("the key is not in the history");
  if (Status s = check_seen(op, key, clause, level); !s.ok()) return s;
  const auto possible = sources().of(op, key, one_state(level));
  if (!possible.ok()) return possible.error();
  if (read_rule(level) == ReadRule::dirty) {
    // Any source would do; there must be none.
    if (sources().explained_by_any(op, key))
      return refuse("operation {} may have read a write, committed or not", op);
    return Ok{};
  }
  for (const TxnId source : *possible)
    if (std::none_of(clause.begin(), clause.end(), [&](const Literal& literal) {
          return literal.kind == Literal::Kind::seen && literal.from == source;
        }))
      return refuse("operation {} may have seen what {} left, but the clause does not say so", op,
                    source == kNone ? "the initial state" : "transaction " + history.name(source));
  return Ok{};
}

Status Evidence::check_effect(std::span<const Literal> clause) {
  const auto seen = std::find_if(clause.begin(), clause.end(), [](const Literal& l) {
    return l.kind == Literal::Kind::seen && l.negated;
  });
  if (seen == clause.end()) return refuse("the clause does not name the source of the read");
  const TxnId source = seen->from, reader = seen->to;
  if (source >= history.txn_count() || reader >= history.txn_count())
    return refuse("the clause names nothing in the history");
  if (!has(clause, Literal::effect(source)))
    return refuse("the clause does not say that transaction {} took effect", history.name(source));
  if (!counting.counts(reader) && !has(clause, !Literal::effect(reader)))
    return refuse("transaction {} need not have taken effect", history.name(reader));
  return Ok{};
}

}  // namespace assay::internal::certify
