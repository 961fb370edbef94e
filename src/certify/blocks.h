// What lists are made of, if the same element was appended more than once.
//
//   A { a(l,1) }   B { a(l,1) }   C { a(l,2) }   R: r(l,[1,2])
//   Element 0 is A's or B's. If it is A's, B appended after R read; and A before C before B.
//
// A transaction appends to a list in one piece, its *block*. So a list that was read, without the
// reader's own elements, is a sequence of blocks, of exactly the transactions that appended to it
// until then, in the order of the versions. The clauses that say so, for the list of operation R
// and its `n` elements (a `block` literal says where one begins; n: later):
//
//   cover      for one element: it belongs to one of the blocks that fit there
//   somewhere  for one transaction: its block begins at one of the places where it fits, or at n.
//              unless it did not take effect
//   exclusive  two blocks do not overlap, and a block has one place
//   ordered    of two blocks, the earlier one's transaction wrote before the other's
//   whole      another list of the key, which shows the first m elements: no block begins before m
//              and ends after it, and that of its own reader does not begin before m
//   effect     the transaction whose block is in the list took effect
//   own        the list does not end in what its reader had appended, so the reader did not take
//              effect
//
// `cover` and `somewhere` hold only if the reader took effect, `whole` if the reader of the other
// list did. Cost: for `cover`, the writers of the element; for `somewhere`, the length of the list.
#pragma once

#include <algorithm>
#include <span>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"
#include "certify/reads.h"

namespace assay::internal::certify {

inline bool has(std::span<const Literal> literals, const Literal& literal) {
  return std::ranges::count(literals, literal) > 0;
}

class Blocks {
 public:
  explicit Blocks(const Writes& writes) : writes_(writes), history_(writes.history()) {}

  // Checks that the clause of the step has one of these forms.
  Status check(const ProofStep& step, Counting& counting);
  // Whether operation `read` of a list shows what the operation of `block` showed up to the end of
  // this block, and no more: so it read from the writer of the block.
  bool ends(const Literal& block, OpId read);

 private:
  bool fits(TxnId t, KeyId key, std::span<const VersionId> list, uint32_t element) const;
  bool is_list(OpId op, KeyId key) const;
  Status check_cover(const ProofStep& step, std::span<const Literal> blocks);
  Status check_somewhere(const Literal& first, std::span<const Literal> blocks);
  Status check_pair(const Literal& a, const Literal& b, std::span<const Literal> orders);
  Status check_whole(const Literal& block, OpId cutting);

  const Writes& writes_;
  const History& history_;
};

}  // namespace assay::internal::certify
