#include "certify/blocks.h"

#include <algorithm>

#include "certify/refusal.h"

namespace assay::internal::certify {
bool Blocks::fits(TxnId t, KeyId key, std::span<const VersionId> list, uint32_t element) const {
  const std::vector<VersionId> block = appended_by(history_, t, key);
  return !block.empty() && element <= list.size() && block.size() <= list.size() - element &&
         std::equal(block.begin(), block.end(), list.begin() + element);
}

bool Blocks::is_list(OpId op, KeyId key) const {
  if (op >= history_.op_count()) return false;
  const Access a = access_of(history_, op);
  return a.accepts == Accepts::list && a.key == key;
}

bool Blocks::ends(const Literal& block, OpId read) {
  if (!is_list(block.op, block.key) || !is_list(read, block.key) ||
      block.from >= history_.txn_count())
    return false;
  const std::span<const VersionId> whole = list_seen(history_, block.op).others,
                                   shown = list_seen(history_, read).others;
  const size_t length = appended_by(history_, block.from, block.key).size();
  return length > 0 && block.element < whole.size() && block.element + length == shown.size() &&
         shown.size() <= whole.size() && std::equal(shown.begin(), shown.end(), whole.begin());
}

Status Blocks::check(const ProofStep& step, Counting& counting) {
  std::vector<Literal> blocks, orders, effects;
  for (const Literal& l : step.clause) {
    if (l.kind == Literal::Kind::seen) return refuse("a clause about blocks names a source");
    (l.kind == Literal::Kind::block   ? blocks
     : l.kind == Literal::Kind::order ? orders
                                      : effects)
        .push_back(l);
  }
  for (const Literal& l : blocks)
    if (!is_list(l.op, l.key) || l.to != history_.txn_of(l.op) || l.from >= history_.txn_count() ||
        l.negated != blocks[0].negated)
      return refuse("a clause about blocks names no list");
  const auto excused = [&](TxnId t) {
    return counting.counts(t) || has(effects, !Literal::effect(t));
  };
  const auto not_excused = [&](TxnId t) {
    return refuse("transaction {} need not have taken effect", history_.name(t));
  };
  if (!blocks.empty() && blocks[0].negated) {
    if (blocks.size() == 2) return check_pair(blocks[0], blocks[1], orders);
    if (blocks.size() != 1) return refuse("the clause is about more than two blocks");
    const Literal block = !blocks[0];
    if (has(effects, Literal::effect(block.from))) return Ok{};
    if (!is_list(step.source, block.key))
      return refuse("operation {} is not a read of the list", step.source);
    if (!excused(history_.txn_of(step.source))) return not_excused(history_.txn_of(step.source));
    return check_whole(block, step.source);
  }
  if (step.source >= history_.op_count() || !is_list(step.source, history_.op(step.source).key))
    return refuse("operation {} is not a read of a list", step.source);
  const TxnId reader = history_.txn_of(step.source);
  if (!excused(reader)) return not_excused(reader);
  for (const Literal& l : blocks)
    if (l.op != step.source) return refuse("the clause is about more than one list");
  if (step.element != kNone) return check_cover(step, blocks);
  if (blocks.empty()) {
    if (!list_seen(history_, step.source).own_at_end) return Ok{};
    return refuse("the clause says nothing about blocks");
  }
  if (!excused(blocks[0].from)) return not_excused(blocks[0].from);
  return check_somewhere(blocks[0], blocks);
}

Status Blocks::check_cover(const ProofStep& step, std::span<const Literal> blocks) {
  const KeyId key = history_.op(step.source).key;
  const TxnId reader = history_.txn_of(step.source);
  const ListSeen seen = list_seen(history_, step.source);
  if (!seen.own_at_end || step.element >= seen.others.size())
    return refuse("the list has no element {}", step.element);
  for (const Write& write : writes_.of_version(seen.others[step.element], Which::counting)) {
    if (write.txn == reader || !access_of(history_, write.op).appends()) continue;
    uint32_t place = 0;  // its index among the elements that the transaction appended to the list
    for (const Access& before : accesses_before(history_, write.op))
      place += before.appends() && before.key == key;
    if (place > step.element || !fits(write.txn, key, seen.others, step.element - place)) continue;
    if (!has(blocks, Literal::block(reader, key, step.source, write.txn, step.element - place)))
      return refuse("element {} may come from transaction {}, but the clause does not say so",
                    step.element, history_.name(write.txn));
  }
  return Ok{};
}

Status Blocks::check_somewhere(const Literal& first, std::span<const Literal> blocks) {
  const std::span<const VersionId> list = list_seen(history_, first.op).others;
  if (appended_by(history_, first.from, first.key).empty())
    return refuse("transaction {} appends nothing to the list", history_.name(first.from));
  for (uint32_t element = 0; element <= list.size(); ++element) {
    const bool may = element == list.size() ||
                     (first.from != first.to && fits(first.from, first.key, list, element));
    if (may && !has(blocks, Literal::block(first.to, first.key, first.op, first.from, element)))
      return refuse(
          "the elements of transaction {} may begin at element {}, but the clause does not say so",
          history_.name(first.from), element);
  }
  return Ok{};
}

// Checks a clause of the form exclusive or ordered.
Status Blocks::check_pair(const Literal& a, const Literal& b, std::span<const Literal> orders) {
  if (a.op != b.op || a.key != b.key) return refuse("the clause is about more than one list");
  const uint32_t n = static_cast<uint32_t>(list_seen(history_, a.op).others.size());
  if (a.from == b.from) {
    if (a.element != b.element) return Ok{};
    return refuse("the clause is about one block");
  }
  const Literal &earlier = a.element <= b.element ? a : b, &later = a.element <= b.element ? b : a;
  if (earlier.element >= n) return refuse("both blocks come after the list");
  if (earlier.element < later.element && has(orders, Literal::order(earlier.from, later.from)))
    return Ok{};
  const size_t end = earlier.element + appended_by(history_, earlier.from, earlier.key).size();
  if (later.element < n && later.element < end) return Ok{};
  return refuse("the two blocks do not exclude each other");
}

Status Blocks::check_whole(const Literal& block, OpId cutting) {
  const std::span<const VersionId> whole = list_seen(history_, block.op).others,
                                   shown = list_seen(history_, cutting).others;
  const size_t end = block.element + appended_by(history_, block.from, block.key).size();
  if (!list_seen(history_, cutting).own_at_end || shown.size() > whole.size() ||
      !std::equal(shown.begin(), shown.end(), whole.begin()))
    return refuse("operation {} does not show how the list begins", cutting);
  const bool own = block.from == history_.txn_of(cutting);
  if (block.element >= whole.size() || block.element >= shown.size() ||
      (end <= shown.size() && !own))
    return refuse("operation {} does not show a part of the block", cutting);
  return Ok{};
}

}  // namespace assay::internal::certify
