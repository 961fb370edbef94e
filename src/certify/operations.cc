#include "certify/operations.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::internal::certify {

OpId last_write(const History& h, OpId first, OpId end, KeyId key) {
  while (end-- > first)
    if (const Access a = access_of(h, end); a.writes() && a.key == key) return end;
  return kNone;
}

OpId own_write_before(const History& h, OpId op, KeyId key) {
  return last_write(h, h.first_op(h.txn_of(op)), op, key);
}

State left_by(const History& h, TxnId t, KeyId key) {
  return state_after(t, access_of(h, last_write(h, h.first_op(t), h.end_op(t), key)));
}

bool is_overwritten(const History& h, OpId write) {
  return last_write(h, write + 1, h.end_op(h.txn_of(write)), access_of(h, write).key) != kNone;
}

ListSeen list_seen(const History& h, OpId op) {
  ListSeen seen{h.operands(op), true};
  const KeyId list = access_of(h, op).key;
  const OpId first = h.first_op(h.txn_of(op));
  for (OpId i = op; i-- > first;) {
    const Access own = access_of(h, i);
    if (!own.appends() || own.key != list) continue;
    if (seen.others.empty() || seen.others.back() != own.version) return {{}, false};
    seen.others = seen.others.first(seen.others.size() - 1);
  }
  return seen;
}

std::vector<VersionId> appended_by(const History& h, TxnId t, KeyId list) {
  std::vector<VersionId> elements;
  for (const Access& a : accesses(h, t))
    if (a.appends() && a.key == list) elements.push_back(a.version);
  return elements;
}

std::vector<KeyId> named_keys(const History& h, OpId range) {
  std::vector<KeyId> keys;
  each_named(h, range, [&](const Named& named) { keys.push_back(named.key); });
  return keys;
}

bool returns(const History& h, OpId range, KeyId key) {
  return std::ranges::any_of(h.selected(range).rows,
                             [&](VersionId row) { return h.version_key(row) == key; });
}

VersionId row_seen(const History& h, OpId range, KeyId key) {
  VersionId seen = kNone;
  each_named(h, range, [&](const Named& named) {
    if (named.key == key && named.row != kNone) seen = named.row;
  });
  return seen;
}

bool covers(const History& h, OpId range, KeyId key) {
  const std::span<const uint32_t> bounds = h.operands(range).first(2);
  return (bounds[0] == kNone || !key_less(h.key(key), h.key(bounds[0]))) &&
         (bounds[1] == kNone || !key_less(h.key(bounds[1]), h.key(key)));
}

bool has_ranges(const History& h) {
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) != TxnStatus::aborted)
      for (const Access& a : accesses(h, t))
        if (a.is_range()) return true;
  return false;
}

namespace {

// Whether the write puts what the read returned.
bool puts(const History& h, const Access& write, OpId read) {
  const VersionId seen = access_of(h, read).seen;
  return write.version == seen || (write.removes() && h.version_value(seen).is_null());
}

bool ever_put(const History& h, TxnId writer, OpId read) {
  for (const Access& a : accesses(h, writer))
    if (a.writes() && a.key == access_of(h, read).key && puts(h, a, read)) return true;
  return false;
}

bool can_be_right(const History& h, OpId read) {
  const TxnId source = h.stated_source(read), reader = h.txn_of(read);
  const Access a = access_of(h, read);
  if (own_write_before(h, read, a.key) != kNone) return source == reader;
  if (source == kInitialTxn) return h.is_initial(a.seen);
  return source != reader && ever_put(h, source, read);
}

}  // namespace

TxnId stated_to_be_from(const History& h, OpId read) {
  const TxnId source = h.stated_source(read);
  const bool outside =
      source != kNone && own_write_before(h, read, access_of(h, read).key) == kNone;
  return outside && can_be_right(h, read) ? source : kNone;
}

bool left_behind(const History& h, TxnId writer, OpId read) {
  if (h.status(writer) == TxnStatus::aborted) return false;
  const OpId last = last_write(h, h.first_op(writer), h.end_op(writer), access_of(h, read).key);
  return last != kNone && puts(h, access_of(h, last), read);
}

std::string source_contradiction(const History& h) {
  if (!h.states_sources()) return {};
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (h.stated_source(i) != kNone && !can_be_right(h, i))
        return fmt::format("operation {} of transaction {} cannot have read from its stated source",
                           i - h.first_op(t), h.name(t));
  }
  return {};
}

}  // namespace assay::internal::certify
