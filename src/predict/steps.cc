// From operations to steps. Neighbours that were sent at the same moment are one statement; if no
// moments are recorded, each operation is a separate statement, which splits a transaction at more
// places than it has: a program that is robust with these is robust.
//
//   r(x,1) sent at 10   r(y,1) sent at 20   w(y,2) sent at 20
//   statements  { r x }  { r y, w y }: the second reads only what it locks, and is one step
//
// A statement that waits for a lock goes on with the new state of the row that it waited for, and
// with the old state of all others: so its reads of rows that it does not lock are a step before
// the rest. It locks the rows that it changes, and the rows that it reads FOR UPDATE or FOR SHARE;
// but if a transaction inserts or removes a row, it may be absent in another order, and then a mere
// read does not lock it.
//
// Cost: the operations, and for each query the keys that it may have read.

#include "predict/steps.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/room.h"
#include "history/accesses.h"
#include "history/key_order.h"
#include "history/statements.h"

namespace assay::internal::predict {

class StepsOf {
 public:
  StepsOf(const History& history, const std::vector<bool>& is_taken, const Gaps& gaps,
          Budget& budget, Steps& steps)
      : h_(history), gaps_(gaps), budget_(budget), steps_(steps), rank_(history.key_count()) {
    sorted_.resize(history.key_count());
    for (KeyId k = 0; k < history.key_count(); ++k) sorted_[k] = k;
    sort_keys(history, sorted_);
    for (uint32_t i = 0; i < sorted_.size(); ++i) rank_[sorted_[i]] = i;
    find_absent(is_taken);
  }

  Status add(TxnId t) {
    written_.clear();
    locks_ = certify::row_locks_of(h_.meta(t));
    add_gap(t);
    for (OpId first = h_.first_op(t), end = first; first < h_.end_op(t); first = end) {
      end = end_of_statement(h_, t, first);
      if (Status s = add_statement(first, end); !s.ok()) return s;
    }
    add_gap(t);
    return end_txn();
  }

  Status end_txn() {
    steps_.first_step_.push_back(static_cast<uint32_t>(steps_.is_plain_.size()));
    gather(steps_.reads_, steps_.first_read_, [](const Touch& t, bool) { return t.reads; });
    gather(steps_.changes_, steps_.first_change_, [](const Touch& t, bool) { return t.changes; });
    gather(steps_.certain_reads_, steps_.first_certain_read_,
           [](const Touch& t, bool) { return t.reads && t.is_certain; });
    gather(steps_.certain_changes_, steps_.first_certain_change_,
           [](const Touch& t, bool) { return t.changes && t.is_certain; });
    gather(steps_.locking_, steps_.first_locking_,
           [](const Touch& t, bool is_plain) { return t.reads && t.is_certain && !is_plain; });
    gather(steps_.locked_, steps_.first_locked_,
           [](const Touch& t, bool) { return t.lock == RowLock::update; });
    gather(steps_.shared_, steps_.first_shared_,
           [](const Touch& t, bool) { return t.lock == RowLock::share; });
    return Ok{};
  }

 private:
  // Finds rows that may have been absent at first, and rows that a transaction inserts, removes or
  // misses. A write alone may be an insert.
  void find_absent(const std::vector<bool>& is_taken) {
    std::vector<bool> written(h_.version_count());
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (installs_version(h_.op(i))) written[h_.op(i).version] = true;
    may_be_absent_.resize(h_.key_count());
    for (KeyId k = 0; k < h_.key_count(); ++k)
      may_be_absent_[k] = is_absent(h_, initial_state(h_, k));
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        const Observation seen = observation_of(h_, i);
        const bool is_foreign = seen.accepts == Accepts::equals && !written[seen.version] &&
                                !h_.version_value(seen.version).is_null();
        const bool is_loaded = !is_taken[t] && installs_version(h_.op(i));
        if (is_foreign || is_loaded) may_be_absent_[h_.op(i).key] = false;
      }
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t) && is_taken[t]; ++i) {
        const Observation seen = observation_of(h_, i);
        const bool misses =
            seen.accepts == Accepts::absent || seen.accepts == Accepts::present ||
            (seen.accepts == Accepts::equals && h_.version_value(seen.version).is_null());
        if (seen.accepts != Accepts::rows && (misses || install_of(h_, i).removes))
          may_be_absent_[h_.op(i).key] = true;
      }
    for (KeyId k = 0; k < h_.key_count() && !gaps_.empty(); ++k)
      if (!gaps_.met_with(k).empty()) may_be_absent_[k] = true;
  }

  // Adds the unrecorded operations of the transaction, as a step.
  void add_gap(TxnId t) {
    if (gaps_.is_whole(t)) return;
    std::vector<Touch> touched;
    for (const KeyId k : gaps_.reads(t)) touched.push_back({k, true, false, false, false});
    for (const KeyId k : gaps_.changes(t)) touched.push_back({k, false, true, false, false});
    merge(touched);
    put(
        touched, [](const Touch&) { return true; }, true);
  }
  // Adds the unrecorded operations of others that the touches may meet.
  void meet_gaps(std::vector<Touch>& touched) {
    if (gaps_.empty()) return;
    for (size_t i = 0, count = touched.size(); i < count; ++i) {
      const Touch t = touched[i];
      if (steps_.is_of_gap(t.key)) continue;
      for (const KeyId k : gaps_.met_with(t.key))
        touched.push_back({k, t.reads, t.changes, false, false});
      if (!t.changes) continue;
      for (const KeyId k : gaps_.changed_with(t.key))
        touched.push_back({k, false, true, false, false});
    }
    merge(touched);
  }

  Status add_statement(OpId first, OpId end) {
    std::vector<Touch> touched;
    bool has_query = false;
    const Interval sent = h_.op_time(first);
    const auto told = sent.known() ? locks_.find(sent.request) : locks_.end();
    const RowLock lock = told == locks_.end() ? RowLock::none : told->second;
    for (OpId i = first; i < end; ++i) {
      const Observation seen = observation_of(h_, i);
      const Install left = install_of(h_, i);
      if (seen.accepts == Accepts::list || left.appends)
        return bad_input(
            "transactions on lists cannot be predicted: the content of a list depends on the order "
            "of all appends");
      if (seen.accepts == Accepts::rows) {
        has_query = true;
        if (!read_keys(i, lock != RowLock::none, touched))
          return Error{ErrorKind::budget, "the queries read too many keys", {}, 0, 0};
        continue;
      }
      const bool changes = installs_version(h_.op(i));
      const bool reads = seen.accepts != Accepts::any;
      const bool may_lock = reads && !may_be_absent_[left.key];
      touched.push_back({left.key, reads, changes, changes && seen.accepts == Accepts::absent, true,
                         may_lock ? lock : RowLock::none, reads && lock != RowLock::none});
    }
    merge(touched);
    const auto is_locked = [](const Touch& t) { return t.changes || t.is_locked; };
    const bool locks = std::ranges::any_of(touched, is_locked);
    const bool has_unlocked = has_query || !std::ranges::all_of(touched, is_locked);
    leave_out_own(touched);
    if (locks && has_unlocked) {
      put(
          touched, [&](const Touch& t) { return !is_locked(t); }, false);
      put(touched, is_locked, false);
    } else {
      put(
          touched, [](const Touch&) { return true; }, !locks && lock == RowLock::none);
    }
    return budget_.exhausted() ? Status(Error{ErrorKind::budget, "out of time", {}, 0, 0}) : Ok{};
  }

  // Merges the touches of each key into one, with all that is done to the key.
  void merge(std::vector<Touch>& touched) {
    std::ranges::stable_sort(touched, {}, &Touch::key);
    size_t kept = 0;
    for (size_t i = 0; i < touched.size(); ++i) {
      Touch& t = touched[i];
      if (kept > 0 && touched[kept - 1].key == t.key) {
        Touch& before = touched[kept - 1];
        before.reads = before.reads || (t.reads && (!before.changes || steps_.is_of_gap(t.key)));
        if (!before.changes) before.lock = std::max(before.lock, t.lock);
        before.changes = before.changes || t.changes;
        before.inserts = before.inserts || t.inserts;
        before.is_certain = before.is_certain || t.is_certain;
        before.is_locked = before.is_locked || t.is_locked;
        continue;
      }
      touched[kept++] = t;
    }
    touched.resize(kept);
  }

  // Leaves out keys that the transaction has written before: they are not read from others.
  void leave_out_own(std::vector<Touch>& touched) {
    for (Touch& t : touched)
      if (std::ranges::binary_search(written_, t.key)) {
        t.reads = false;
        t.lock = RowLock::none;
      }
    for (const Touch& t : touched)
      if (const auto at = std::ranges::lower_bound(written_, t.key);
          t.changes && (at == written_.end() || *at != t.key))
        written_.insert(at, t.key);
    std::erase_if(touched, [](const Touch& t) { return !t.reads && !t.changes; });
  }

  template <class Is>
  void put(const std::vector<Touch>& touched, Is is, bool is_plain) {
    std::vector<Touch> step;
    std::ranges::copy_if(touched, std::back_inserter(step), is);
    meet_gaps(step);
    steps_.touches_.insert(steps_.touches_.end(), step.begin(), step.end());
    steps_.first_touch_.push_back(steps_.touches_.size());
    steps_.is_plain_.push_back(is_plain);
  }

  // Adds the keys that the query names, and the keys that may have held a row that it selects.
  bool read_keys(OpId query, bool locks, std::vector<Touch>& touched) {
    const Selected selected = h_.selected(query);
    const KeyBounds bounds = bounds_of(h_, query);
    const uint32_t from = bounds.from == kNone ? 0 : rank_[bounds.from];
    const uint32_t to = bounds.to == kNone ? h_.key_count() : rank_[bounds.to] + 1;
    const auto add = [&](KeyId k) { touched.push_back({k, true, false, false, false}); };
    each_named_key(h_, query, add);
    if (locks) {
      for (const VersionId row : selected.rows)
        touched.push_back({h_.version_key(row), true, false, false, false, RowLock::none, true});
      for (const KeyId k : selected.matched)
        touched.push_back({k, true, false, false, false, RowLock::none, true});
    }
    const PredicateId where = selected.aggregate == kNone
                                  ? selected.predicate
                                  : h_.predicates().aggregate(selected.aggregate).where;
    const bool every = where == kNone || h_.predicates().matches_initially(where);
    const size_t most = every ? to - std::min(from, to) : h_.predicates().keys(where).size();
    if (!room_to_grow(touched, most, budget_)) return false;
    if (every)
      for (uint32_t i = from; i < to; ++i) add(sorted_[i]);
    else
      for (const KeyId k : h_.predicates().keys(where))
        if (rank_[k] >= from && rank_[k] < to) add(k);
    return room_to_grow(steps_.touches_, touched.size(), budget_);
  }

  // Gathers the keys of all steps of the last transaction, for those touches that are meant.
  template <class IsMeant>
  void gather(std::vector<KeyId>& keys, std::vector<uint64_t>& first, IsMeant is_meant) {
    const size_t begin = keys.size(), txns = steps_.first_step_.size();
    for (size_t s = steps_.first_step_[txns - 2]; s < steps_.first_step_[txns - 1]; ++s)
      for (size_t i = steps_.first_touch_[s]; i < steps_.first_touch_[s + 1]; ++i)
        if (is_meant(steps_.touches_[i], steps_.is_plain_[s]))
          keys.push_back(steps_.touches_[i].key);
    const auto own = keys.begin() + static_cast<ptrdiff_t>(begin);
    std::sort(own, keys.end());
    keys.erase(std::unique(own, keys.end()), keys.end());
    first.push_back(keys.size());
  }

  const History& h_;
  const Gaps& gaps_;
  Budget& budget_;
  Steps& steps_;
  std::vector<KeyId> sorted_;         // in the order of ranges
  std::vector<uint32_t> rank_;        // indexed by key: its place in sorted_
  std::vector<KeyId> written_;        // by the transaction so far, ascending
  std::vector<bool> may_be_absent_;   // indexed by key
  std::map<int64_t, RowLock> locks_;  // of the transaction's statements
};

bool Steps::locks_first(TxnId t) const {
  return count(t) > 0 && std::ranges::any_of(touches(t, 0), [&](const Touch& touch) {
           return touch.lock != RowLock::none ||
                  (touch.changes && touch.is_certain && is_locked_[touch.key]);
         });
}

Result<Steps> Steps::of(const History& history, const std::vector<bool>& is_taken, const Gaps& gaps,
                        Budget& budget) {
  Steps steps;
  steps.keys_ = history.key_count();
  StepsOf of(history, is_taken, gaps, budget, steps);
  for (TxnId t = 0; t < history.txn_count(); ++t)
    if (Status s = is_taken[t] ? of.add(t) : of.end_txn(); !s.ok()) return s.error();
  steps.is_locked_.resize(history.key_count());
  for (const auto* keys : {&steps.locked_, &steps.shared_})
    for (const KeyId k : *keys) steps.is_locked_[k] = true;
  return steps;
}

}  // namespace assay::internal::predict
