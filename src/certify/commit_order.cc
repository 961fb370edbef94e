#include "certify/commit_order.h"

#include <algorithm>

#include "certify/reads.h"
#include "certify/refusal.h"
#include "certify/stated_sources.h"

namespace assay::internal::certify {
namespace {

bool sees_other_states(const Operation& op) {
  return op.kind == OpKind::range ||
         (!op.effect && (op.kind == OpKind::cas || op.kind == OpKind::insert));
}

// kNone is what an insert saw: that the key was absent.
bool is_absence(const History& history, VersionId v) {
  return v == kNone || history.version_value(v).is_null();
}

bool leaves_nothing(const History& history, const Operation& op) {
  return op.kind == OpKind::remove || is_absence(history, op.version);
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
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
    const Operation op = history.op(i);
    const bool on_list = op.kind == OpKind::append || op.kind == OpKind::read_list;
    if (op.kind != OpKind::range && !on_list) lists.is_register[op.key] = true;
    if (on_list && lists.is_register[op.key])
      return refuse("{} is used as a list and as a register", history.key(op.key).to_string());
    if (op.kind == OpKind::read_list) {
      if (Status s = add_list_read(history, p, i, lists); !s.ok()) return s;
      continue;
    }
    // A read that only says that a key is in some other state must name the source.
    const bool given = !this->given(i).empty() || sees_other_states(op);
    if (given) {
      if (Status s = add_given(history, p, i, own, installers); !s.ok()) return s;
    }
    const bool reads = !given && !on_list && op.kind != OpKind::write && op.kind != OpKind::remove;
    const VersionId seen = op.kind == OpKind::read  ? op.version
                           : op.kind == OpKind::cas ? history.operands(i)[0]
                                                    : kNone;
    if (reads && own[op.key].place == p) {
      const Operation last = history.op(own[op.key].op);
      if (last.version != seen && !(is_absence(history, seen) && leaves_nothing(history, last)))
        return refuse(
            "operation {} of transaction {} does not see the transaction's own last write",
            i - history.first_op(t), history.name(t));
    } else if (reads) {
      const TxnId stated = history.states_sources() ? stated_to_be_from(history, i) : kNone;
      Result<Place> from = stated == kNone ? source(history, p, op.key, seen, installers)
                                           : stated_place(history, p, i, stated);
      if (!from.ok()) return from.error();
      reads_.push_back({op.key, *from, i});
    }
    if (!writes(op)) continue;
    if (own[op.key].place != p) writes_.push_back(op.key);
    own[op.key] = {p, i};
  }
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
    const Operation op = history.op(i);
    if (op.kind != OpKind::append) continue;
    lists.elements[op.key].push_back(op.version);
    lists.places[op.key].push_back(p);
  }
  std::sort(writes_.begin() + static_cast<ptrdiff_t>(write_begin_.back()), writes_.end());
  for (size_t w = write_begin_.back(); w < writes_.size(); ++w) {
    const Operation last = history.op(own[writes_[w]].op);
    installers.version[last.version] = p;
    installers.key[last.key] = p;
    if (leaves_nothing(history, last)) installers.absence[last.key] = p;
  }
  read_begin_.push_back(reads_.size());
  write_begin_.push_back(writes_.size());
  return Ok{};
}

// What others had appended, as far as the transaction saw it, is what the transactions up to one of those before it
// had appended, none of them in part; that one is its source.
Status CommitOrder::add_list_read(const History& history, Place p, OpId i, const Lists& lists) {
  const KeyId key = history.op(i).key;
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
  std::vector<KeyId> keys{history.op(i).key};
  const bool range = history.op(i).kind == OpKind::range;
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
      if (!possible_->explained_by(own[key].op, i, key))
        return refuse(
            "operation {} of transaction {} does not see the transaction's own last write",
            i - history.first_op(txn_[p]), history.name(txn_[p]));
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
  if (history.op(i).kind != OpKind::range) return std::nullopt;
  const Selected selected = history.selected(i);
  for (const auto& rows : {selected.rows, selected.passed})
    for (const VersionId row : rows)
      if (history.version_key(row) == key && !is_absence(history, row))
        return installers.version[row];
  return selected.predicate == kNone ? installers.absence[key] : installers.key[key];
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
