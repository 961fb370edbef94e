#include "infer/skipped_rows.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "base/sort_by.h"
#include "history/accesses.h"
#include "history/predicates.h"
#include "infer/replay.h"
#include "infer/rows.h"
#include "infer/touched_keys.h"

namespace assay::internal {
namespace {

// A version lasts from the event that installs it to the next event that writes its key; so does
// the absence that a delete leaves.
struct Stay {
  KeyId key;
  KeyState state;
  uint32_t from;
  uint32_t until = UINT32_MAX;
};

struct Query {
  OpId op;
  OpId first_op;  // the first of its transaction
  uint32_t place;
};

// The places of queries along an order, and the first place of each version that they may have
// skipped.
struct NotesPlaces : ReplayVisitor {
  const History& h;
  const bool split;
  uint32_t place = 0;
  std::vector<Stay> stays = {};
  std::vector<Query> queries = {};
  WrittenKeys written = {};

  NotesPlaces(const History& history, bool splits) : h(history), split(splits) {}
  bool reads(TxnId t, const KeysHeld&) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (skips_rows(h, i)) queries.push_back({i, h.first_op(t), place});
    place += split;
    return true;
  }
  bool installed(TxnId t, const KeysHeld&) {
    each_install(h, t, written, [&](const Install& install) {
      if (install.final) stays.push_back({install.key, install.state(), place});
    });
    ++place;
    return true;
  }
};

class Contradictions {
 public:
  Contradictions(const History& history, const Order& order, uint32_t reach)
      : h_(history),
        reach_(reach),
        conditions_(history.predicates().size()),
        apart_(history.key_count(), kNone) {
    NotesPlaces along(h_, order.split);
    replay(h_, order, along);
    all_ = std::move(along.queries);
    for (const Query& query : all_) ++conditions_[condition_of(query)].queries;
    of_key_ = collect_rows<Stay>(h_.key_count(), [&](auto add) {
      for (const Stay& stay : along.stays) add(stay.key, stay);
    });
    std::vector<Stay>& stays = of_key_.items;
    for (size_t at = 1; at < stays.size(); ++at)
      if (stays[at].key == stays[at - 1].key) stays[at - 1].until = stays[at].from;
    of_version_ = collect_rows<Stay>(h_.version_count(), [&](auto add) {
      for (const Stay& stay : stays)
        if (!stay.state.removed) add(stay.state.version, stay);
    });
  }

  std::vector<SkippedRow> find() {
    OpId first = kNone, at = kNone;  // the first operation of the transaction; its writes before
                                     // `at` are noted
    for (const Query& query : all_) {
      if (query.first_op != first) own_.clear();
      if (query.first_op != first) first = at = query.first_op;
      for (; at < query.op; ++at)
        if (installs_version(h_.op(at))) own_[h_.op(at).key] = install_of(h_, at).state();
      look_from(query);
    }
    for (PredicateId p = 0; p < conditions_.size(); ++p)
      if (!conditions_[p].later.empty()) look_along(p);
    if (!any_) return {};
    std::sort(near_.begin(), near_.end());
    near_.erase(std::unique(near_.begin(), near_.end()), near_.end());
    return std::move(near_);
  }

 private:
  struct Asked {
    uint32_t queries = 0;      // number of queries with this condition
    std::vector<Query> later;  // these queries, in the order, if they are examined together
  };

  PredicateId condition_of(const Query& query) const { return h_.selected(query.op).predicate; }

  void look_from(const Query& query) {
    const PredicateId predicate = condition_of(query);
    each_named_key(h_, query.op, [&](KeyId key) { apart_[key] = query.op; });
    // A query has to return its own transaction's writes, wherever its place is.
    for (const auto& [key, written] : own_) {
      if (apart_[key] != query.op && !written.removed &&
          h_.predicates().match(predicate, written.version) == Match::yes)
        note(query.op, key, 0);
      apart_[key] = query.op;
    }
    const std::span<const KeyId> keys = h_.predicates().keys(predicate);
    Asked& asked = conditions_[predicate];
    // Examines the queries one by one, if that costs no more than examining all versions that
    // satisfy the condition once.
    if (uint64_t{asked.queries} * keys.size() > h_.predicates().certain(predicate).size())
      return asked.later.push_back(query);
    for (const KeyId key : keys)
      if (apart_[key] != query.op) look_at_key(query, predicate, key);
  }

  // Examines the versions of the key at the place of the query or nearby.
  void look_at_key(const Query& query, PredicateId predicate, KeyId key) {
    const std::span<const Stay> stays = of_key_[key];
    const auto next =
        std::ranges::partition_point(stays, [&](const Stay& s) { return s.from < query.place; });
    const auto look = [&](const Stay& one) {
      if (match_of_state(h_, one.state, predicate) == Match::yes) look_at(query, one);
    };
    for (auto at = next; at != stays.begin() && is_over(*(at - 1), query) <= reach_; --at)
      look(*(at - 1));
    for (auto at = next; at != stays.end() && how_far(at->from, query) <= reach_; ++at) look(*at);
  }

  // Examines the queries with one condition, in order, each against the versions that satisfy it at
  // its place or nearby.
  void look_along(PredicateId predicate) {
    std::vector<Stay> coming;
    for (const VersionId v : h_.predicates().certain(predicate))
      coming.insert(coming.end(), of_version_[v].begin(), of_version_[v].end());
    stable_sort_by(coming, [](const Stay& s) { return s.from; });
    std::vector<Stay> standing;
    size_t next = 0;
    for (const Query& query : conditions_[predicate].later) {
      for (; next < coming.size() && how_far(coming[next].from, query) <= reach_; ++next)
        standing.push_back(coming[next]);
      std::erase_if(standing, [&](const Stay& one) { return is_over(one, query) > reach_; });
      if (!standing.empty()) set_apart(query);
      for (const Stay& one : standing)
        if (apart_[one.key] != query.op) look_at(query, one);
    }
  }

  // Returns by how many events the query would have to be later to see a version installed at
  // `from`: if a transaction is one event, it does not see its own installs.
  static uint32_t how_far(uint32_t from, const Query& query) {
    return query.place > from ? 0 : from - query.place + 1;
  }
  // Returns by how many events the query would have to be earlier to see the version.
  static uint32_t is_over(const Stay& one, const Query& query) {
    return query.place > one.until ? query.place - one.until : 0;
  }

  // Sets apart the keys that the query names, and those of which it sees what its own transaction
  // wrote.
  void set_apart(const Query& query) {
    each_named_key(h_, query.op, [&](KeyId key) { apart_[key] = query.op; });
    for (OpId i = query.first_op; i < query.op; ++i)
      if (installs_version(h_.op(i))) apart_[h_.op(i).key] = query.op;
  }

  void look_at(const Query& query, const Stay& one) {
    note(query.op, one.key, std::max(is_over(one, query), how_far(one.from, query)));
  }

  void note(OpId query, KeyId key, uint32_t off) {
    if (!is_within(h_, query, key)) return;
    any_ = any_ || off == 0;
    near_.push_back({query, key});
  }

  const History& h_;
  const uint32_t reach_;
  Rows<Stay> of_key_, of_version_;  // in time order, by key and by version
  std::vector<Query> all_;          // sorted by place in the order
  std::vector<Asked> conditions_;
  std::unordered_map<KeyId, KeyState> own_;  // what the transaction has written so far
  std::vector<OpId> apart_;                  // indexed by key: the last query for which it is set
                                             // apart
  std::vector<SkippedRow> near_;
  bool any_ = false;
};

}  // namespace

bool skips_rows(const History& history, OpId op) {
  if (!is_range(history.op(op))) return false;
  const Selected selected = history.selected(op);
  return selected.predicate != kNone && selected.complete &&
         !history.predicates().matches_initially(selected.predicate);
}

std::vector<SkippedRow> contradicted(const History& history, const Order& order, uint32_t reach) {
  if (!history.has_predicates()) return {};
  return Contradictions(history, order, reach).find();
}

}  // namespace assay::internal
