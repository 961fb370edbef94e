// Reads of lists, compared with the appends of their elements. See read_lists.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/origins.h"
#include "infer/problem.h"

namespace assay::internal {

// What a read of a list turns out to be.
struct ListRead {
  // read: a read from the writer of `last`. open: it is uncertain which transactions appended the
  // elements. cut: so it is, and also whether the appends of one transaction are all there or all
  // missing. bad: no order explains the list.
  enum class Kind : uint8_t { read, open, cut, bad };
  Kind kind = Kind::read;
  VersionId last = kNone;  // the last element that others had appended; kNone: there is none
  BadRead bad = {};
};

// Reads the lists of one problem, whose counting transactions must be known. It finds nothing for a
// key used both as a list and as a register.
class ReadLists {
 public:
  ReadLists(const History& history, const Problem& problem, const Origins& origins);

  ListRead clean(TxnId reader, OpId op, KeyId key);
  // The same at a level where the list may show anything that was ever appended.
  ListRead dirty(TxnId reader, OpId op, KeyId key);

 private:
  bool is_own(OpId append, TxnId reader) const;
  // The elements that one transaction appended before and after an element to the same list.
  struct Neighbours {
    VersionId earlier = kNone, later = kNone;  // kNone: none
    bool known = false;
  };

  // The number of elements at the beginning that `longest_` has at its beginning, too, and that the
  // reader itself did not append.
  size_t known_part(std::span<const VersionId> elements, KeyId key, TxnId reader) const;
  bool tells(std::span<const VersionId> elements, size_t known, TxnId reader, OpId op);
  BadRead gone(VersionId element, OpId op) const;
  ListRead fault(std::span<const VersionId> elements, size_t known, TxnId reader, OpId op);
  bool appended_twice(OpId append) const;
  VersionId neighbour(OpId append, int step) const;
  bool torn(std::span<const VersionId> elements, size_t i);

  const History& h_;
  const Problem& problem_;
  const Origins& origins_;
  // All of these are empty if no key is a list.
  std::vector<OpId> shown_in_;          // indexed by version: the last list with it
  std::vector<Neighbours> neighbours_;  // indexed by version
  // Per key the longest list without a fault that was read of it, and per version its place there.
  std::vector<std::span<const VersionId>> longest_;
  std::vector<uint32_t> place_;
};

}  // namespace assay::internal
