#include "certify/commit_order.h"

#include <algorithm>

#include "certify/operations.h"
#include "certify/refusal.h"

namespace assay::internal::certify {
namespace {

// That a key is in some other state, or states of several keys.
bool sees_other_states(const Access& a) {
  return a.is_range() || a.accepts == Accepts::differs || a.accepts == Accepts::present;
}

// kNone is what an insert saw: that the key was absent.
bool is_absence(const History& history, VersionId v) {
  return v == kNone || history.version_value(v).is_null();
}

Error not_own(const History& history, OpId i) {
  const TxnId t = history.txn_of(i);
  return refuse("operation {} of transaction {} does not see the transaction's own last write",
                i - history.first_op(t), history.name(t));
}

}  // namespace

Result<CommitOrder> CommitOrder::build(const History& history, std::span<const TxnId> order,
                                       std::span<const Seen> sources, NotReturned not_returned) {
  CommitOrder built;
  built.not_returned_ = not_returned;
  if (!std::is_sorted(sources.begin(), sources.end()))
    return refuse("the sources are not in the order of the operations");
  built.sources_ = sources;
  built.txn_.push_back(kNone);
  built.txn_.insert(built.txn_.end(), order.begin(), order.end());
  built.place_.assign(history.txn_count(), kNone);
  built.read_begin_.assign(2, 0);
  built.write_begin_.assign(2, 0);
  Installers installers;
  installers.version.assign(history.version_count(), 0);
  installers.absence.assign(history.key_count(), 0);
  installers.key.assign(history.key_count(), 0);
  std::vector<Own> own(history.key_count());
  Lists lists;
  lists.elements.resize(history.key_count());
  lists.places.resize(history.key_count());
  lists.is_register.resize(history.key_count());
  for (Place p = 1; p <= built.count(); ++p) built.place_[built.txn_[p]] = p;
  for (Place p = 1; p <= built.count(); ++p) {
    if (Status s = built.add(history, p, installers, own, lists); !s.ok()) return s.error();
  }
  return built;
}

Status CommitOrder::add(const History& history, Place p, Installers& installers,
                        std::vector<Own>& own, Lists& lists) {
  const TxnId t = txn_[p];
  for (const Access& a : accesses(history, t)) {
    if (!a.is_range() && !a.is_list()) lists.is_register[a.key] = true;
    if (a.is_list() && lists.is_register[a.key])
      return refuse("{} is used as a list and as a register", history.key(a.key).to_string());
    // A read that only says that a key is in some other state must name the source.
    Status s = Ok{};
    if (a.accepts == Accepts::list)
      s = add_list_read(history, p, a.op, lists);
    else if (!given(a.op).empty() || sees_other_states(a))
      s = add_given(history, p, a.op, own, installers);
    else if (a.reads())
      s = add_read(history, p, a, own, installers);
    if (!s.ok()) return s;
    if (!a.writes()) continue;
    if (own[a.key].place != p) writes_.push_back(a.key);
    own[a.key] = {p, a};
  }
  for (const Access& a : accesses(history, t)) {
    if (!a.appends()) continue;
    lists.elements[a.key].push_back(a.version);
    lists.places[a.key].push_back(p);
  }
  std::sort(writes_.begin() + static_cast<ptrdiff_t>(write_begin_.back()), writes_.end());
  for (size_t w = write_begin_.back(); w < writes_.size(); ++w) {
    const Access& last = own[writes_[w]].write;
    installers.version[last.version] = p;
    installers.key[last.key] = p;
    if (is_absent(history, state_after(t, last))) installers.absence[last.key] = p;
  }
  read_begin_.push_back(reads_.size());
  write_begin_.push_back(writes_.size());
  return Ok{};
}

// A read of a register, of its transaction's own last write or from before it.
Status CommitOrder::add_read(const History& history, Place p, const Access& a,
                             const std::vector<Own>& own, const Installers& installers) {
  if (own[a.key].place == p) {
    const State left = state_after(txn_[p], own[a.key].write);
    const bool sees =
        left.version == a.seen || (is_absence(history, a.seen) && is_absent(history, left));
    return sees ? Status(Ok{}) : not_own(history, a.op);
  }
  const TxnId stated = stated_to_be_from(history, a.op);
  const Result<Place> from = stated == kNone ? source(history, p, a.key, a.seen, installers)
                                             : stated_place(history, p, a.op, stated);
  if (!from.ok()) return from.error();
  reads_.push_back({a.key, *from, a.op});
  return Ok{};
}

// What others had appended, as far as the transaction saw it, is what the transactions up to one of those before it
// had appended, none of them in part; that one is its source.
Status CommitOrder::add_list_read(const History& history, Place p, OpId i, const Lists& lists) {
  const KeyId key = access_of(history, i).key;
  const ListSeen seen = list_seen(history, i);
  const std::vector<VersionId>& all = lists.elements[key];
  const size_t count = seen.others.size();
  const bool stands = seen.own_at_end && count <= all.size() &&
                      std::equal(seen.others.begin(), seen.others.end(), all.begin()) &&
                      (count == 0 || count == all.size() ||
                       lists.places[key][count - 1] != lists.places[key][count]);
  if (!stands)
    return refuse(
        "the list that operation {} of transaction {} reads is not what the order has appended",
        i - history.first_op(txn_[p]), history.name(txn_[p]));
  reads_.push_back({key, count == 0 ? Place{0} : lists.places[key][count - 1], i});
  return Ok{};
}

std::span<const Seen> CommitOrder::given(OpId i) const {
  const auto by_op = [](const Seen& seen, OpId op) { return seen.op < op; };
  const auto from = std::lower_bound(sources_.begin(), sources_.end(), i, by_op);
  const auto to = std::lower_bound(from, sources_.end(), i + 1, by_op);
  return {from, to};
}

// An operation whose sources are given: one for each key of which it sees a state that is not its transaction's own.
Status CommitOrder::add_given(const History& history, Place p, OpId i, const std::vector<Own>& own,
                              const Installers& installers) {
  if (!possible_) possible_.emplace(history);
  const std::span<const Seen> sources = given(i);
  const Access a = access_of(history, i);
  const bool range = a.is_range();
  std::vector<KeyId> keys{a.key};
  if (range) keys = possible_->keys_of_range(i);
  const auto possible = [&](KeyId key, TxnId from) {
    return range && own[key].place != p ? possible_->possible_of_others(i, key, from)
                                        : possible_->possible(i, key, from);
  };
  size_t used = 0;
  for (KeyId key : keys) {
    if (used < sources.size() && sources[used].key == key) {
      const Seen& seen = sources[used++];
      const Place from = seen.source == kNone                ? 0
                         : seen.source < history.txn_count() ? place_[seen.source]
                                                             : kNone;
      const bool later =
          not_returned_ == NotReturned::anywhere && range && !returns(history, i, key);
      if (from == kNone || from == p || (from > p && !later) || !possible(key, seen.source))
        return refuse("operation {} of transaction {} cannot have its source",
                      i - history.first_op(txn_[p]), history.name(txn_[p]));
      reads_.push_back({key, from, i});
    } else if (own[key].place == p) {
      if (!possible_->explained_by(own[key].write.op, i, key)) return not_own(history, i);
    } else {
      const std::optional<Place> from = last_to_leave(history, i, key, installers);
      if (!from || !possible(key, *from == 0 ? kNone : txn_[*from]))
        return refuse("operation {} of transaction {} has no source for a key that it sees",
                      i - history.first_op(txn_[p]), history.name(txn_[p]));
      reads_.push_back({key, *from, i});
    }
  }
  if (used != sources.size()) return refuse("operation {} has sources that it cannot have", i);
  return Ok{};
}

// Who last left of the key what a range saw of it: the row, or that there was none; where the range has a condition, and
// passed over or matched a row that it does not tell, who wrote the key last. Nothing for operations that tell only that the
// key was in some other state.
std::optional<Place> CommitOrder::last_to_leave(const History& history, OpId i, KeyId key,
                                                const Installers& installers) {
  if (!access_of(history, i).is_range()) return std::nullopt;
  if (const VersionId row = row_seen(history, i, key); !is_absence(history, row))
    return installers.version[row];
  return history.selected(i).predicate == kNone ? installers.absence[key] : installers.key[key];
}

// Of a read whose source is stated.
Result<Place> CommitOrder::stated_place(const History& history, Place reader, OpId read,
                                        TxnId stated) const {
  if (stated == kInitialTxn) return Place{0};
  if (place_[stated] < reader && left_behind(history, stated, read)) return place_[stated];
  return refuse(
      "transaction {} is stated to have read from transaction {}, which is not before it in the "
      "order or left something else behind",
      history.name(txn_[reader]), history.name(stated));
}

Result<Place> CommitOrder::source(const History& history, Place reader, KeyId key,
                                  VersionId version, const Installers& installers) const {
  const bool absence = is_absence(history, version);
  const Place p = absence ? installers.absence[key] : installers.version[version];
  if (p != 0) return p;
  if (absence ? history.initial(key).is_null() : history.is_initial(version)) return Place{0};
  return refuse(
      "transaction {} reads {}, which no transaction before it in the order installs",
      history.name(txn_[reader]),
      absence ? history.key(key).to_string() + " = null" : show_version(history, version));
}

}  // namespace assay::internal::certify
