// From a schedule to the history that it would leave behind.
//
//   recorded   A: r(x,0) w(x,1)   then B: r(x,1) w(x,2)
//   schedule   A reads, B runs whole, A writes
//   predicted  A: r(x,0) w(x,1)   B: r(x,0) w(x,2), order x: 2 1
//
// What transactions write stays as recorded, whatever they read now; so do the keys that they look
// at. They read what the schedule returns according to the verifier (certify/schedule_verifier.h).
// The state before consists of what the members read and did not write: each key holds what the
// first of them saw of it. A query returns the rows among these keys that satisfy its condition; an
// aggregate is computed from them.
//
// Cost: the operations of the members; for a query the keys that they name.

#include "predict/execution.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "certify/schedule_verifier.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/key_order.h"

namespace assay::internal::predict {
namespace {

using certify::Saw;
using certify::Schedule;

// What a key holds: a version that is not removed, or nothing.
struct Held {
  VersionId version = kNone;  // kNone: absent
};

class PredictedHistory {
 public:
  PredictedHistory(const Schedule& schedule, const History& history, const std::vector<Saw>& saw)
      : schedule_(schedule), h_(history) {
    for (const Saw& s : saw) saw_[{s.op, s.key}] = {s.removed ? kNone : s.version};
    find_state_before();
  }

  Result<History> build(bool states_orders) {
    for (const auto& [key, held] : before_)
      if (held.version != kNone && !h_.version_value(held.version).is_null())
        to_.set_initial(h_.key(key), h_.version_value(held.version));
    for (uint32_t m = 0; m < schedule_.members.size(); ++m)
      if (Status s = add_member(m); !s.ok()) return s.error();
    if (states_orders) add_orders();
    return std::move(to_).finish();
  }

 private:
  TxnId txn(uint32_t member) const { return schedule_.members[member].txn; }

  bool is_member(TxnId t) const {
    return std::ranges::count(schedule_.members, t, &Schedule::Member::txn) > 0;
  }

  // Finds, for each key that a member names, what the first one saw, unless a member wrote that.
  // The same value may also have been there before, which only a read with a stated source tells.
  void find_state_before() {
    std::vector<bool> written(h_.version_count());
    each_op([&](OpId i) {
      if (installs_version(h_.op(i))) written[h_.op(i).version] = true;
    });
    const auto note = [&](KeyId key, VersionId version, TxnId source) {
      const bool tells =
          version != kNone && (!written[version] || (source != kNone && !is_member(source)));
      Held& held = before_[key];
      if (tells && held.version == kNone) held.version = version;
    };
    each_op([&](OpId i) {
      const Observation seen = observation_of(h_, i);
      if (seen.accepts == Accepts::rows)
        each_row(h_, i, [&](VersionId row) { note(h_.version_key(row), row, kNone); });
      else
        note(h_.op(i).key, seen.accepts == Accepts::equals ? seen.version : kNone,
             h_.states_sources() ? h_.stated_source(i) : kNone);
    });
    for (const auto& [key, held] : before_) keys_.push_back(key);
    sort_keys(h_, keys_);
  }
  template <class Visit>
  void each_op(Visit visit) const {
    for (const Schedule::Member& member : schedule_.members)
      for (OpId i = h_.first_op(member.txn); i < h_.end_op(member.txn); ++i) visit(i);
  }

  Status add_member(uint32_t member) {
    const TxnId t = txn(member);
    names_.push_back(h_.name(t));
    TxnHeader header;
    header.session = ValueView::of(static_cast<int64_t>(member));
    header.name = names_.back();
    header.meta = h_.meta(t);
    header.line = h_.line(t);
    header.begin = Interval::point(place_of(member, false));
    header.end = Interval::point(place_of(member, true));
    to_.begin_txn(header);
    own_.clear();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (Status s = add_operation(i); !s.ok()) return s;
    return to_.end_txn();
  }

  // The place of the member's first event, or of its commit.
  int64_t place_of(uint32_t member, bool of_commit) const {
    const auto found = std::ranges::find_if(schedule_.events, [&](const Schedule::Event& e) {
      return e.member == member && (!of_commit || e.what == Schedule::What::commit);
    });
    return found - schedule_.events.begin();
  }

  Status add_operation(OpId i) {
    const Observation observed = observation_of(h_, i);
    const bool changes = installs_version(h_.op(i));
    if (observed.accepts == Accepts::rows) return add_query(i);
    if (observed.accepts == Accepts::equals && !changes) {
      const Held held = seen(i, observed.key);
      to_.add(Op::read(h_.key(observed.key),
                       held.version == kNone ? ValueView::null() : h_.version_value(held.version)));
      return Ok{};
    }
    OpBuffers buffers;
    Op op = h_.outside(i, buffers);
    op.time = {};  // the operation's time is that of the run
    to_.add(op);
    const Install left = install_of(h_, i);
    if (changes) own_[left.key] = {left.removes ? kNone : left.version};
    return Ok{};
  }

  // Returns what the operation would see of the key.
  Held seen(OpId op, KeyId key) const {
    if (const auto own = own_.find(key); own != own_.end()) return own->second;
    if (const auto found = saw_.find({op, key}); found != saw_.end())
      return found->second.version == kNone ? before(key) : found->second;
    return before(key);
  }
  Held before(KeyId key) const {
    const auto found = before_.find(key);
    return found == before_.end() ? Held() : found->second;
  }

  Status add_query(OpId query) {
    const Selected selected = h_.selected(query);
    const bool aggregates = selected.aggregate != kNone;
    const PredicateId where =
        aggregates ? h_.predicates().aggregate(selected.aggregate).where : selected.predicate;
    std::vector<VersionId> rows;
    for (const KeyId key : keys_) {
      if (!is_within(query, key)) continue;
      const Held held = seen(query, key);
      if (held.version == kNone || h_.version_value(held.version).is_null()) continue;
      const Match match = where == kNone ? Match::yes : h_.predicates().match(where, held.version);
      if (match == Match::yes || (match == Match::open && returned(h_, query, key)))
        rows.push_back(held.version);
    }
    if (aggregates) return add_aggregate(query, rows);
    std::vector<Op::Row> outside;
    for (const VersionId row : rows)
      outside.emplace_back(h_.key(h_.version_key(row)), h_.version_value(row));
    Op op = bounded(query);
    op.rows = outside;
    if (where != kNone) op.where = h_.predicates().text(where);
    op.effect = selected.complete;
    to_.add(op);
    return Ok{};
  }

  bool is_within(OpId query, KeyId key) const {
    const KeyBounds bounds = bounds_of(h_, query);
    return (bounds.from == kNone || !key_less(h_.key(key), h_.key(bounds.from))) &&
           (bounds.to == kNone || !key_less(h_.key(bounds.to), h_.key(key)));
  }
  Op bounded(OpId query) const {
    const KeyBounds bounds = bounds_of(h_, query);
    const auto bound = [&](KeyId k) { return k == kNone ? ValueView::null() : h_.key(k); };
    return Op::range(bound(bounds.from), bound(bounds.to), {});
  }

  Status add_aggregate(OpId query, const std::vector<VersionId>& rows) {
    const Aggregate& aggregate = h_.predicates().aggregate(h_.selected(query).aggregate);
    using Function = AggregateFunction;
    std::optional<int64_t> value;
    if (aggregate.function == Function::count) value = 0;
    for (const VersionId row : rows) {
      const AggregateTerm term = term_of(aggregate, Match::yes, row_of(h_.version_value(row)));
      if (term.kind == AggregateTerm::Kind::open) return is_open();
      if (term.kind == AggregateTerm::Kind::nothing) continue;
      const int64_t had = value.value_or(term.integer);
      if (aggregate.function == Function::min) value = std::min(had, term.integer);
      if (aggregate.function == Function::max) value = std::max(had, term.integer);
      int64_t total = 0;
      if (aggregate.function != Function::count && aggregate.function != Function::sum) continue;
      if (__builtin_add_overflow(value.value_or(0), term.integer, &total)) return is_open();
      value = total;
    }
    Op op = bounded(query);
    op.where =
        aggregate.where == kNone ? std::string_view() : h_.predicates().text(aggregate.where);
    op.aggregate = aggregate.function;
    op.column = aggregate.column;
    op.expected = value ? ValueView::of(*value) : ValueView::null();
    to_.add(op);
    return Ok{};
  }
  static Status is_open() {
    return bad_input(
        "what an aggregate returns then depends on how the database compares and adds");
  }

  // Adds the orders of versions, which are those of the commits.
  void add_orders() {
    std::map<KeyId, std::vector<StatedVersion>> orders;
    for (const Schedule::Event& event : schedule_.events) {
      if (event.what != Schedule::What::commit) continue;
      const TxnId t = txn(event.member);
      std::vector<KeyId> written;
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (installs_version(h_.op(i))) written.push_back(h_.op(i).key);
      std::sort(written.begin(), written.end());
      written.erase(std::unique(written.begin(), written.end()), written.end());
      for (const KeyId key : written)
        orders[key].push_back({.txn = names_[event.member], .final = true});
    }
    for (const auto& [key, entries] : orders)
      if (entries.size() > 1) to_.known_order(h_.key(key), entries);
  }

  const Schedule& schedule_;
  const History& h_;
  std::map<std::pair<OpId, KeyId>, Held> saw_;  // reads that differ from the recorded ones
  std::map<KeyId, Held> before_;                // for all keys that members name
  std::vector<KeyId> keys_;                     // these keys, in the order of ranges
  std::map<KeyId, Held> own_;                   // what the current member has written
  std::vector<std::string> names_;              // indexed by member
  HistoryBuilder to_;
};

}  // namespace

Result<History> predicted_history(const Schedule& schedule, const History& history,
                                  bool states_orders) {
  auto saw = certify::execute_schedule(schedule, history);
  if (!saw.ok()) return saw.error();
  return PredictedHistory(schedule, history, *saw).build(states_orders);
}

}  // namespace assay::internal::predict
