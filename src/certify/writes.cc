#include "certify/writes.h"

#include <numeric>

namespace assay::internal::certify {
namespace {

// Calls `visit` with each write and whether it stays, the last one of the history first.
template <class Visit>
void each_write_backwards(const History& h, Visit visit) {
  std::vector<TxnId> last_writer(h.key_count(), kNone);
  for (TxnId t = static_cast<TxnId>(h.txn_count()); t-- > 0;)
    for (OpId i = h.end_op(t); i-- > h.first_op(t);) {
      const Access a = access_of(h, i);
      if (!a.writes()) continue;
      const bool last = last_writer[a.key] != t;
      last_writer[a.key] = t;
      visit(t, a,
            h.status(t) == TxnStatus::aborted ? Which::all
            : last                            ? Which::staying
                                              : Which::counting);
    }
}

std::span<const Write> by(TxnId txn, std::span<const Write> part) {
  const auto from = std::ranges::lower_bound(part, txn, {}, &Write::txn);
  return {from, std::ranges::upper_bound(part, txn, {}, &Write::txn)};
}

}  // namespace

// `group_of` returns the group of a write; kNone if it is in none.
template <class GroupOf>
Writes::Groups::Groups(const History& h, size_t count, GroupOf group_of) : begin_(3 * count + 1) {
  const auto each = [&](auto visit) {
    each_write_backwards(h, [&](TxnId t, const Access& a, Which part) {
      const uint32_t group = group_of(t, a);
      if (group != kNone) visit(3 * size_t{group} + static_cast<size_t>(part), Write{t, a.op});
    });
  };
  each([&](size_t part, const Write&) { ++begin_[part]; });
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  writes_.resize(begin_.back());
  each([&](size_t part, const Write& write) { writes_[--begin_[part]] = write; });
}

std::span<const Write> Writes::of_key(KeyId key, Which which) const {
  const auto sort = [&] {
    return Groups(history_, history_.key_count(), [](TxnId, const Access& a) { return a.key; });
  };
  return of_key_.get(sort).of(key, which);
}

std::span<const Write> Writes::of_version(VersionId version, Which which) const {
  const auto sort = [&] {
    return Groups(history_, history_.version_count(),
                  [](TxnId, const Access& a) { return a.version; });
  };
  return of_version_.get(sort).of(version, which);
}

std::span<const Write> Writes::emptying(KeyId key, Which which) const {
  const auto sort = [&] {
    return Groups(history_, history_.key_count(), [&](TxnId t, const Access& a) {
      return is_absent(history_, state_after(t, a)) ? a.key : KeyId{kNone};
    });
  };
  return emptying_.get(sort).of(key, which);
}

std::span<const Write> Writes::showing(KeyId key, VersionId version, Which which) const {
  const bool absent = version == kNone || history_.version_value(version).is_null();
  return absent ? emptying(key, which) : of_version(version, which);
}

const Write* Writes::left_by(TxnId txn, KeyId key) const {
  const std::span<const Write> left = by(txn, of_key(key, Which::staying));
  return left.empty() ? nullptr : &left.front();
}

Writes::Made Writes::made_by(TxnId txn, VersionId version) const {
  const size_t staying = of_version(version, Which::staying).size();
  const std::span<const Write> all = of_version(version, Which::counting);
  const std::span<const Write> last = by(txn, all.first(staying)),
                               others = by(txn, all.subspan(staying));
  if (last.empty() && others.empty()) return {};
  return {others.empty() ? last.front().op : others.front().op, last.size() + others.size()};
}

TxnId Writes::only_author(VersionId version, ReadRule rule) const {
  TxnId only = kNone;
  size_t begin = 0;
  for (const Which which : {Which::staying, Which::counting, Which::all}) {
    if (which == Which::all && rule == ReadRule::clean) break;
    const std::span<const Write> part = of_version(version, which).subspan(begin);
    begin += part.size();
    if (part.empty()) continue;
    if (only == kNone) only = part.front().txn;
    if (part.front().txn != only || part.back().txn != only) return kNone;
  }
  return only;
}

}  // namespace assay::internal::certify
