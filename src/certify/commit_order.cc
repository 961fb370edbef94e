#include "certify/commit_order.h"

#include <algorithm>
#include <optional>

#include "certify/operations.h"
#include "certify/refusal.h"
#include "certify/sources.h"

namespace assay::internal::certify {
namespace {

// Whether the operation sees that a key is in some other state, or sees states of several keys.
bool sees_other_states(const Access& a) {
  return a.is_range() || a.accepts == Accepts::differs || a.accepts == Accepts::present;
}

// kNone is what an insert saw: that the key was absent.
bool is_absence(const History& history, VersionId v) {
  return v == kNone || history.version_value(v).is_null();
}

}  // namespace

PlacedWriters::PlacedWriters(const History& history, std::span<const TxnId> order)
    : writers_(history.key_count()) {
  Place p = 0;
  for (const TxnId t : order) {
    ++p;
    for (const Access& a : accesses(history, t))
      if (a.writes() && (writers_[a.key].empty() || writers_[a.key].back() != p))
        writers_[a.key].push_back(p);
  }
}

class CommitOrder::Builder {
 public:
  Builder(const Writes& writes, std::span<const TxnId> order, std::span<const Seen> sources,
          NotReturned not_returned)
      : writes_(writes),
        history_(writes.history()),
        not_returned_(not_returned),
        sources_(sources.begin(), sources.end()),
        version_(history_.version_count()),
        absence_(history_.key_count()),
        key_(history_.key_count()),
        own_(history_.key_count()),
        lists_(history_.key_count()) {
    built_.txn_.push_back(kNone);
    built_.txn_.insert(built_.txn_.end(), order.begin(), order.end());
    built_.place_.assign(history_.txn_count(), kNone);
    built_.read_begin_.assign(2, 0);
    built_.write_begin_.assign(2, 0);
    for (Place p = 1; p <= built_.count(); ++p) built_.place_[built_.txn_[p]] = p;
    std::sort(sources_.begin(), sources_.end());
  }

  Result<CommitOrder> build() {
    for (Place p = 1; p <= built_.count(); ++p)
      if (Status s = add(p); !s.ok()) return s.error();
    return std::move(built_);
  }

 private:
  // The elements appended to a key along the order, with their transactions.
  struct List {
    std::vector<VersionId> elements;
    std::vector<Place> places;
    bool is_register = false;  // whether something other than appending was done to it
  };
  // The last write of a key by the transaction at `place`.
  struct Own {
    Place place = 0;
    Access write = {};
  };

  Status add(Place p) {
    const TxnId t = built_.txn_[p];
    for (const Access& a : accesses(history_, t)) {
      if (!a.is_range() && !a.is_list()) lists_[a.key].is_register = true;
      if (a.is_list() && lists_[a.key].is_register)
        return refuse("{} is used as a list and as a register", history_.key(a.key).to_string());
      // A read that only says that a key is in some other state must name its source.
      Status s = Ok{};
      if (a.accepts == Accepts::list)
        s = add_list_read(a.op);
      else if (!given(a.op).empty() || sees_other_states(a))
        s = add_given(p, a.op);
      else if (a.reads())
        s = add_read(p, a);
      if (!s.ok()) return s;
      if (!a.writes()) continue;
      if (own_[a.key].place != p) built_.writes_.push_back(a.key);
      own_[a.key] = {p, a};
    }
    for (const Access& a : accesses(history_, t)) {
      if (!a.appends()) continue;
      lists_[a.key].elements.push_back(a.version);
      lists_[a.key].places.push_back(p);
    }
    std::sort(built_.writes_.begin() + static_cast<ptrdiff_t>(built_.write_begin_.back()),
              built_.writes_.end());
    for (size_t w = built_.write_begin_.back(); w < built_.writes_.size(); ++w) {
      const Access& last = own_[built_.writes_[w]].write;
      version_[last.version] = p;
      key_[last.key] = p;
      if (is_absent(history_, state_after(t, last))) absence_[last.key] = p;
    }
    built_.read_begin_.push_back(built_.reads_.size());
    built_.write_begin_.push_back(built_.writes_.size());
    return Ok{};
  }

  // Adds a read of a register, which is from its transaction's own last write or from before it.
  Status add_read(Place p, const Access& a) {
    if (own_[a.key].place == p) {
      const State left = state_after(built_.txn_[p], own_[a.key].write);
      const bool sees =
          left.version == a.seen || (is_absence(history_, a.seen) && is_absent(history_, left));
      return sees ? Status(Ok{}) : not_own(a.op);
    }
    const TxnId stated = stated_to_be_from(history_, a.op);
    const Result<Place> from =
        stated == kNone ? source(p, a.key, a.seen) : stated_place(p, a.op, stated);
    if (!from.ok()) return from.error();
    built_.reads_.push_back({a.key, *from, a.op});
    return Ok{};
  }

  // Adds a read of a list. What others had appended, as far as the transaction saw it, must be all
  // that the transactions up to one of those before it had appended; that one is the source.
  Status add_list_read(OpId i) {
    const KeyId key = access_of(history_, i).key;
    const ListSeen seen = list_seen(history_, i);
    const std::vector<VersionId>& all = lists_[key].elements;
    const size_t count = seen.others.size();
    const bool stands = seen.own_at_end && count <= all.size() &&
                        std::equal(seen.others.begin(), seen.others.end(), all.begin()) &&
                        (count == 0 || count == all.size() ||
                         lists_[key].places[count - 1] != lists_[key].places[count]);
    if (!stands)
      return refuse("the list that {} reads is not what the order has appended",
                    show_operation(history_, i));
    built_.reads_.push_back({key, count == 0 ? Place{0} : lists_[key].places[count - 1], i});
    return Ok{};
  }

  std::span<const Seen> given(OpId i) const {
    const auto by_op = [](const Seen& seen, OpId op) { return seen.op < op; };
    const auto from = std::lower_bound(sources_.begin(), sources_.end(), i, by_op);
    const auto to = std::lower_bound(from, sources_.end(), i + 1, by_op);
    return {from, to};
  }

  // Adds an operation whose sources are given: one for each key of which it sees another
  // transaction's state.
  Status add_given(Place p, OpId i) {
    if (!possible_) possible_.emplace(writes_);
    const std::span<const Seen> sources = given(i);
    const Access a = access_of(history_, i);
    const bool range = a.is_range();
    std::vector<KeyId> keys{a.key};
    if (range) keys = possible_->keys_of_range(i);
    const auto possible = [&](KeyId key, TxnId from) {
      return range && own_[key].place != p ? possible_->possible_external(i, key, from)
                                           : possible_->possible(i, key, from);
    };
    size_t used = 0;
    for (KeyId key : keys) {
      if (used < sources.size() && sources[used].key == key) {
        const Seen& seen = sources[used++];
        const Place from = seen.source == kNone                 ? 0
                           : seen.source < history_.txn_count() ? built_.place_[seen.source]
                                                                : kNone;
        const bool later =
            not_returned_ == NotReturned::anywhere && range && !returns(history_, i, key);
        if (from == kNone || from == p || (from > p && !later) || !possible(key, seen.source))
          return refuse("{} cannot have read from its source", show_operation(history_, i));
        built_.reads_.push_back({key, from, i});
      } else if (own_[key].place == p) {
        if (!possible_->explained_by(own_[key].write.op, i, key)) return not_own(i);
      } else {
        const std::optional<Place> from = last_to_leave(i, key);
        if (!from || !possible(key, *from == 0 ? kNone : built_.txn_[*from]))
          return refuse("{} has no source for a key that it sees", show_operation(history_, i));
        built_.reads_.push_back({key, *from, i});
      }
    }
    if (used != sources.size()) return refuse("operation {} has impossible sources", i);
    return Ok{};
  }

  // The last transaction that left the key in the state that a range saw: the row, or its absence;
  // if the range has a condition, and skipped the row or matched one that it does not give, the
  // last writer of the key. nullopt for operations that only exclude one state of the key.
  std::optional<Place> last_to_leave(OpId i, KeyId key) const {
    if (!access_of(history_, i).is_range()) return std::nullopt;
    if (const VersionId row = row_seen(history_, i, key); !is_absence(history_, row))
      return version_[row];
    return history_.selected(i).predicate == kNone ? absence_[key] : key_[key];
  }

  // The place of a read's stated source.
  Result<Place> stated_place(Place reader, OpId read, TxnId stated) const {
    if (stated == kInitialTxn) return Place{0};
    if (built_.place_[stated] < reader && left_behind(history_, stated, read))
      return built_.place_[stated];
    return refuse(
        "transaction {} is stated to have read from transaction {}, which is not before it in the "
        "order or left another state",
        history_.name(built_.txn_[reader]), history_.name(stated));
  }

  Result<Place> source(Place reader, KeyId key, VersionId version) const {
    const bool absence = is_absence(history_, version);
    const Place p = absence ? absence_[key] : version_[version];
    if (p != 0) return p;
    if (absence ? history_.initial(key).is_null() : history_.is_initial(version)) return Place{0};
    return refuse(
        "transaction {} reads {}, which no transaction before it in the order installs",
        history_.name(built_.txn_[reader]),
        absence ? history_.key(key).to_string() + " = null" : show_version(history_, version));
  }

  Error not_own(OpId i) const {
    return refuse("{} does not see the transaction's own last write", show_operation(history_, i));
  }

  const Writes& writes_;
  const History& history_;
  const NotReturned not_returned_;
  std::vector<Seen> sources_;  // sorted
  CommitOrder built_;
  // Indexed by version or key, along the order: the last to install each version, to leave each key
  // absent, and to write each key. 0: none.
  std::vector<Place> version_, absence_, key_;
  std::vector<Own> own_;             // indexed by key
  std::vector<List> lists_;          // indexed by key
  std::optional<Sources> possible_;  // set if sources are given
};

Result<CommitOrder> CommitOrder::build(const Writes& writes, std::span<const TxnId> order,
                                       std::span<const Seen> sources, NotReturned not_returned) {
  return Builder(writes, order, sources, not_returned).build();
}

}  // namespace assay::internal::certify
