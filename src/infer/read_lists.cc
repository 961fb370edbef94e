// Whether a list that was read is possible, and its source.
//
//   A { a(l,1) a(l,2) }   B { a(l,3) }   C { r(l,[1,2,3]) }   C read from B; that A came before B
//                                                             is stated (stated_orders.h)
//   D { r(l,[1,3]) }      what A appended is all there, or not there at all: an intermediate
//                         read
//
// A list shows what others had appended, then the transaction's own elements so far. It is a read
// of the writer of the last element of others. If an element was appended more than once, its
// writer is open (open_lists.h).
//
// Lists of one key are usually beginnings of each other. What was found about one list holds for
// the part that another has in common with it, except for elements that the reader itself appended,
// and is not looked at again.
//
// Cost: a comparison of each element, and once for each version and each list that differs a
// look-up of its origin and of its writer's operations.

#include "infer/read_lists.h"

#include <algorithm>
#include <utility>

#include "history/accesses.h"

namespace assay::internal {
namespace {

ListRead bad_list(Anomaly anomaly, OpId op, OpId other) {
  return {ListRead::Kind::bad, kNone, {anomaly, op, other}};
}

}  // namespace

ReadLists::ReadLists(const History& history, const Problem& problem, const Origins& origins)
    : h_(history), problem_(problem), origins_(origins) {
  if (!origins.any_lists()) return;
  shown_in_.assign(history.version_count(), kNone);
  neighbours_.resize(history.version_count());
  longest_.resize(history.key_count());
  place_.assign(history.version_count(), kNone);
}

bool ReadLists::is_own(OpId append, TxnId reader) const {
  return append != kNone && append >= h_.first_op(reader) && append < h_.end_op(reader);
}

size_t ReadLists::known_part(std::span<const VersionId> elements, KeyId key, TxnId reader) const {
  const std::span<const VersionId> longest = longest_[key];
  size_t known = std::min(elements.size(), longest.size());
  if (!std::equal(longest.begin(), longest.begin() + static_cast<ptrdiff_t>(known),
                  elements.begin()))
    known = static_cast<size_t>(std::mismatch(elements.begin(),
                                              elements.begin() + static_cast<ptrdiff_t>(known),
                                              longest.begin())
                                    .first -
                                elements.begin());
  for (OpId i = h_.first_op(reader); i < h_.end_op(reader); ++i)
    if (install_of(h_, i).appends && h_.op(i).key == key)
      known = std::min<size_t>(known, place_[h_.op(i).version]);
  return known;
}

// Whether each element is from a single append, none is the reader's own, and none occurs twice.
bool ReadLists::tells(std::span<const VersionId> elements, size_t known, TxnId reader, OpId op) {
  const auto rest = elements.subspan(known);
  return std::none_of(rest.begin(), rest.end(), [&](VersionId v) {
    const OpId author = origins_[v].op;
    const bool repeated = std::exchange(shown_in_[v], op) == op || place_[v] < known;
    return repeated || origins_[v].several || (author < op && is_own(author, reader));
  });
}

// A fault if the element was never appended, or only by aborted transactions; otherwise
// Anomaly::none.
BadRead ReadLists::gone(VersionId element, OpId op) const {
  const Origin& origin = origins_[element];
  if (origin.kind == Origin::Kind::nobody) return {Anomaly::thin_air_read, op, kNone};
  if (origin.kind == Origin::Kind::aborted) return {Anomaly::aborted_read, op, origin.op};
  return {};
}

// The element of the append to the same key before (step -1) or after (1) this one in its
// transaction; kNone if there is none.
VersionId ReadLists::neighbour(OpId append, int step) const {
  if (append == kNone) return kNone;
  const TxnId t = h_.txn_of(append);
  for (OpId i = append + step; i + 1 > h_.first_op(t) && i < h_.end_op(t); i += step) {
    if (install_of(h_, i).appends && h_.op(i).key == h_.op(append).key) return h_.op(i).version;
    if (i == 0) break;
  }
  return kNone;
}

// The elements that one transaction appends to a list are adjacent, except for elements that it had
// yet to append. Returns whether this element's neighbours are not where they have to be.
bool ReadLists::torn(std::span<const VersionId> elements, size_t i) {
  Neighbours& of = neighbours_[elements[i]];
  if (!of.known) {
    const OpId append = origins_[elements[i]].op;
    of = {neighbour(append, -1), neighbour(append, 1), true};
  }
  return (of.earlier != kNone && (i == 0 || elements[i - 1] != of.earlier)) ||
         (of.later != kNone && i + 1 < elements.size() && elements[i + 1] != of.later);
}

// Whether the append's transaction appended the same element to the list once more.
bool ReadLists::appended_twice(OpId append) const {
  const Operation one = h_.op(append);
  for (OpId i = h_.first_op(h_.txn_of(append)); i < h_.end_op(h_.txn_of(append)); ++i)
    if (i != append && install_of(h_, i).appends && h_.op(i).version == one.version) return true;
  return false;
}

// Every element of a list must have been appended by a transaction that may count, together with
// what else that transaction appended. Returns the fault, or a read if there is none.
ListRead ReadLists::fault(std::span<const VersionId> elements, size_t known, TxnId reader,
                          OpId op) {
  // The last element of the known part is looked at again, as another element may follow it here.
  for (size_t i = known - std::min<size_t>(known, 1); i < elements.size(); ++i) {
    const OpId append = origins_[elements[i]].op;
    if (const BadRead bad = gone(elements[i], op); bad.anomaly != Anomaly::none)
      return {ListRead::Kind::bad, kNone, bad};
    if (append > op && is_own(append, reader)) return bad_list(Anomaly::future_read, op, append);
    if (!torn(elements, i)) continue;
    if (appended_twice(append)) return {ListRead::Kind::cut};
    return bad_list(Anomaly::intermediate_read, op, append);
  }
  return {};
}

ListRead ReadLists::clean(TxnId reader, OpId op, KeyId key) {
  const auto [elements, missing] = outside_list(h_, op);
  if (origins_.mixed(key)) return {ListRead::Kind::open};
  if (missing != kNone) return bad_list(Anomaly::not_my_own_write, op, missing);
  const size_t known = known_part(elements, key, reader);
  if (!tells(elements, known, reader, op)) {
    for (const VersionId element : elements)
      if (const BadRead bad = gone(element, op); bad.anomaly != Anomaly::none)
        return {ListRead::Kind::bad, kNone, bad};
    return {ListRead::Kind::open};
  }
  ListRead found = fault(elements, known, reader, op);
  if (found.kind != ListRead::Kind::read || elements.empty()) return found;
  found.last = elements.back();
  const Origin& last = origins_[found.last];
  if (last.kind == Origin::Kind::intermediate)
    return bad_list(Anomaly::intermediate_read, op, last.op);
  if (known == longest_[key].size() && elements.size() > known) {
    for (size_t i = known; i < elements.size(); ++i) place_[elements[i]] = static_cast<uint32_t>(i);
    longest_[key] = elements;
  }
  return found;
}

// The list states the order of the elements that stayed; elements that did not take effect are
// skipped.
ListRead ReadLists::dirty(TxnId reader, OpId op, KeyId key) {
  const auto [elements, missing] = outside_list(h_, op);
  if (missing != kNone && !origins_.mixed(key))
    return bad_list(Anomaly::not_my_own_write, op, missing);
  bool telling = !origins_.mixed(key);
  std::vector<VersionId> stood;
  for (const VersionId v : elements) {
    const OpId author = origins_[v].op;
    if (author == kNone) return bad_list(Anomaly::thin_air_read, op, kNone);
    const bool repeated = std::exchange(shown_in_[v], op) == op;
    telling = telling && !origins_[v].several && !is_own(author, reader) && !repeated;
    if (problem_.node[h_.txn_of(author)] != kNone) stood.push_back(v);
  }
  for (size_t i = 0; i < stood.size() && telling; ++i) telling = !torn(stood, i);
  if (!telling) return {ListRead::Kind::open};
  return {ListRead::Kind::read, elements.empty() ? VersionId{kNone} : elements.back()};
}

}  // namespace assay::internal
