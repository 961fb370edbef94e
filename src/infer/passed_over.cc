#include "infer/passed_over.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "base/sort_by.h"
#include "history/accesses.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

class AlongOrder {
 public:
  AlongOrder(const History& history, const Order& order, uint32_t reach)
      : h_(history),
        order_(order),
        reach_(reach),
        last_(history.key_count(), kNone),
        queries_(history.predicates().size()),
        apart_(history.key_count(), kNone) {}

  std::vector<PassedOver> run() {
    note_installs();
    count_queries();
    WrittenKeys written;
    for (uint32_t place = 0; place < order_.events.size(); ++place) {
      if (!order_.split || order_.events[place] % 2 == 0) look_from(txn(place), place);
      each_final_install(place, written, [&](const Install& install) { pass(install); });
    }
    for (PredicateId p = 0; p < queries_.size(); ++p)
      if (!queries_[p].later.empty()) look_along(p);
    if (!any_) return {};
    std::sort(near_.begin(), near_.end());
    near_.erase(std::unique(near_.begin(), near_.end()), near_.end());
    return std::move(near_);
  }

 private:
  // A version stands from the event that installs it to the next one of its key.
  struct Stands {
    VersionId version;
    uint32_t from;
    uint32_t until = UINT32_MAX;
  };
  struct Query {
    OpId op;
    OpId first_op;  // of its transaction
    uint32_t place;
  };
  // Of one condition.
  struct Queries {
    uint32_t count = 0;
    std::vector<Query> later;  // in the order, if they are looked at together
  };

  TxnId txn(uint32_t place) const {
    return order_.split ? order_.events[place] / 2 : order_.events[place];
  }

  template <class Visit>
  void each_final_install(uint32_t place, WrittenKeys& written, Visit visit) const {
    if (order_.split && order_.events[place] % 2 == 0) return;
    each_install(h_, txn(place), written, [&](const Install& install) {
      if (install.final) visit(install);
    });
  }

  void note_installs() {
    WrittenKeys written;
    begin_.assign(h_.key_count() + 1, 0);
    for (uint32_t place = 0; place < order_.events.size(); ++place)
      each_final_install(place, written, [&](const Install& install) {
        begin_[install.key + 1] += !install.removes;
      });
    for (KeyId k = 0; k < h_.key_count(); ++k) begin_[k + 1] += begin_[k];
    stands_.resize(begin_.back());
    std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
    std::vector<bool> open(h_.key_count(), false);  // the last version of the key still stands
    for (uint32_t place = 0; place < order_.events.size(); ++place)
      each_final_install(place, written, [&](const Install& install) {
        uint32_t& at = next[install.key];
        if (open[install.key]) stands_[at - 1].until = place;
        open[install.key] = !install.removes;
        if (!install.removes) stands_[at++] = {install.version, place};
      });
    index_by_version();
  }

  void index_by_version() {
    version_begin_.assign(h_.version_count() + 1, 0);
    for (const Stands& one : stands_) ++version_begin_[one.version + 1];
    for (VersionId v = 0; v < h_.version_count(); ++v) version_begin_[v + 1] += version_begin_[v];
    by_version_.resize(stands_.size());
    std::vector<uint32_t> next(version_begin_.begin(), version_begin_.end() - 1);
    for (uint32_t at = 0; at < stands_.size(); ++at) by_version_[next[stands_[at].version]++] = at;
  }

  void count_queries() {
    for (uint32_t place = 0; place < order_.events.size(); ++place) {
      if (order_.split && order_.events[place] % 2 != 0) continue;
      for (OpId i = h_.first_op(txn(place)); i < h_.end_op(txn(place)); ++i)
        if (passes_over(h_, i)) ++queries_[h_.selected(i).predicate].count;
    }
  }

  // The place of the order is behind the install.
  void pass(const Install& install) {
    if (install.removes) return;
    uint32_t& last = last_[install.key];
    last = last == kNone ? begin_[install.key] : last + 1;
  }

  void look_from(TxnId t, uint32_t place) {
    own_.clear();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (passes_over(h_, i)) look_from({i, h_.first_op(t), place});
      if (installs_version(h_.op(i))) own_[h_.op(i).key] = install_of(h_, i).state();
    }
  }

  void look_from(const Query& query) {
    const PredicateId predicate = h_.selected(query.op).predicate;
    each_named_key(h_, query.op, [&](KeyId key) { apart_[key] = query.op; });
    // What its own transaction wrote, a query has to return, wherever it stands.
    for (const auto& [key, written] : own_) {
      if (apart_[key] != query.op && !written.removed &&
          h_.predicates().match(predicate, written.version) == Match::yes)
        note(query.op, key, 0);
      apart_[key] = query.op;
    }
    const std::span<const KeyId> keys = h_.predicates().keys(predicate);
    Queries& all = queries_[predicate];
    // One by one, as long as that is no more than looking at all versions that satisfy the condition once.
    if (uint64_t{all.count} * keys.size() > h_.predicates().certain(predicate).size())
      return all.later.push_back(query);
    for (const KeyId key : keys)
      if (apart_[key] != query.op) look_at_key(query, predicate, key);
  }

  // What stands at the place of the query or nearby.
  void look_at_key(const Query& query, PredicateId predicate, KeyId key) {
    const uint32_t next = last_[key] == kNone ? begin_[key] : last_[key] + 1;
    const auto look = [&](const Stands& one) {
      if (h_.predicates().match(predicate, one.version) == Match::yes) look_at(query, one);
    };
    for (uint32_t at = next; at-- > begin_[key] && is_over(stands_[at], query) <= reach_;)
      look(stands_[at]);
    for (uint32_t at = next; at < begin_[key + 1] && how_far(stands_[at].from, query) <= reach_;
         ++at)
      look(stands_[at]);
  }

  // The queries of one condition, in order, each against the versions that satisfy it and stand there or nearby.
  void look_along(PredicateId predicate) {
    std::vector<Stands> coming;
    for (const VersionId v : h_.predicates().certain(predicate))
      for (uint32_t at = version_begin_[v]; at < version_begin_[v + 1]; ++at)
        coming.push_back(stands_[by_version_[at]]);
    stable_sort_by(coming, [](const Stands& s) { return s.from; });
    std::vector<Stands> standing;
    size_t next = 0;
    for (const Query& query : queries_[predicate].later) {
      for (; next < coming.size() && how_far(coming[next].from, query) <= reach_; ++next)
        standing.push_back(coming[next]);
      std::erase_if(standing, [&](const Stands& one) { return is_over(one, query) > reach_; });
      if (!standing.empty()) set_apart(query);
      for (const Stands& one : standing)
        if (apart_[h_.version_key(one.version)] != query.op) look_at(query, one);
    }
  }

  // By how many events the query would have to stand later to see what is installed at `from`: where a transaction is one
  // event, it does not see what it installs itself.
  static uint32_t how_far(uint32_t from, const Query& query) {
    return query.place > from ? 0 : from - query.place + 1;
  }
  // By how many events it would have to stand earlier to see it.
  static uint32_t is_over(const Stands& one, const Query& query) {
    return query.place > one.until ? query.place - one.until : 0;
  }

  // The keys that the query names, and those of which it sees what its own transaction wrote.
  void set_apart(const Query& query) {
    each_named_key(h_, query.op, [&](KeyId key) { apart_[key] = query.op; });
    for (OpId i = query.first_op; i < query.op; ++i)
      if (installs_version(h_.op(i))) apart_[h_.op(i).key] = query.op;
  }

  void look_at(const Query& query, const Stands& one) {
    note(query.op, h_.version_key(one.version),
         std::max(is_over(one, query), how_far(one.from, query)));
  }

  void note(OpId query, KeyId key, uint32_t off) {
    if (!within(query, key)) return;
    any_ = any_ || off == 0;
    near_.push_back({query, key});
  }

  bool within(OpId query, KeyId key) const {
    const auto [from, to] = bounds_of(h_, query);
    return (from == kNone || !key_less(h_.key(key), h_.key(from))) &&
           (to == kNone || !key_less(h_.key(to), h_.key(key)));
  }

  const History& h_;
  const Order& order_;
  const uint32_t reach_;
  std::vector<Stands> stands_;               // by key, then by time
  std::vector<uint32_t> begin_;              // per key and one more, into stands_
  std::vector<uint32_t> by_version_;         // into stands_
  std::vector<uint32_t> version_begin_;      // per version and one more, into by_version_
  std::vector<uint32_t> last_;               // per key, into stands_: installed last so far
  std::vector<Queries> queries_;             // per condition
  std::unordered_map<KeyId, KeyState> own_;  // what the transaction has written so far
  std::vector<OpId> apart_;                  // per key, the last query for which it is set apart
  std::vector<PassedOver> near_;
  bool any_ = false;
};

}  // namespace

bool passes_over(const History& history, OpId op) {
  if (!is_range(history.op(op))) return false;
  const Selected selected = history.selected(op);
  return selected.predicate != kNone && selected.complete &&
         !history.predicates().matches_initially(selected.predicate);
}

std::vector<PassedOver> contradicted(const History& history, const Order& order, uint32_t reach) {
  if (!history.has_predicates()) return {};
  return AlongOrder(history, order, reach).run();
}

}  // namespace assay::internal
