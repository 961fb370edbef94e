#include "infer/passed_over.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "history/accesses.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

class AlongOrder {
 public:
  AlongOrder(const History& history, const Order& order, uint32_t reach)
      : h_(history), order_(order), reach_(reach), queries_(history.predicates().size()) {}

  std::vector<PassedOver> run() {
    note_installs();
    for (uint32_t place = 0; place < order_.events.size(); ++place)
      if (!order_.split || order_.events[place] % 2 == 0) note_queries(txn(place), place);
    for (PredicateId p = 0; p < queries_.size(); ++p)
      if (!queries_[p].empty()) look_along(p);
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
    uint32_t place;
  };

  TxnId txn(uint32_t place) const {
    return order_.split ? order_.events[place] / 2 : order_.events[place];
  }

  void note_installs() {
    std::vector<uint32_t> last(h_.key_count(), kNone);  // into stands_
    WrittenKeys written;
    for (uint32_t place = 0; place < order_.events.size(); ++place) {
      if (order_.split && order_.events[place] % 2 == 0) continue;
      each_install(h_, txn(place), written, [&](const Install& install) {
        if (!install.final) return;
        if (uint32_t& at = last[install.key]; at != kNone)
          stands_[std::exchange(at, kNone)].until = place;
        if (install.removes) return;
        last[install.key] = static_cast<uint32_t>(stands_.size());
        stands_.push_back({install.version, place});
      });
    }
    std::sort(stands_.begin(), stands_.end(), [](const Stands& a, const Stands& b) {
      return std::pair(a.version, a.from) < std::pair(b.version, b.from);
    });
    begin_.assign(h_.version_count() + 1, 0);
    for (const Stands& one : stands_) ++begin_[one.version + 1];
    for (VersionId v = 0; v < h_.version_count(); ++v) begin_[v + 1] += begin_[v];
  }

  // What its own transaction wrote, a query has to return, wherever it stands.
  void note_queries(TxnId t, uint32_t place) {
    own_.clear();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (passes_over(h_, i)) {
        const PredicateId predicate = h_.selected(i).predicate;
        queries_[predicate].push_back({i, place});
        for (const auto& [key, written] : own_)
          if (!written.removed && h_.predicates().match(predicate, written.version) == Match::yes)
            note(i, key, 0);
      }
      if (installs_version(h_.op(i))) own_[h_.op(i).key] = install_of(h_, i).state();
    }
  }

  // The queries of one condition, in order, each against the versions that satisfy it and stand there or nearby.
  void look_along(PredicateId predicate) {
    std::vector<Stands> coming;
    for (const VersionId v : h_.predicates().certain(predicate))
      coming.insert(coming.end(), stands_.begin() + begin_[v], stands_.begin() + begin_[v + 1]);
    std::sort(coming.begin(), coming.end(),
              [](const Stands& a, const Stands& b) { return a.from < b.from; });
    std::vector<Stands> standing;
    size_t next = 0;
    for (const Query& query : queries_[predicate]) {
      for (; next < coming.size() && how_far(coming[next].from, query) <= reach_; ++next)
        standing.push_back(coming[next]);
      std::erase_if(standing, [&](const Stands& one) {
        return query.place > one.until && query.place - one.until > reach_;
      });
      for (const Stands& one : standing) look_at(query, one);
    }
  }

  // By how many events the query would have to stand later to see what is installed at `from`: where a transaction is one
  // event, it does not see what it installs itself.
  static uint32_t how_far(uint32_t from, const Query& query) {
    return query.place > from ? 0 : from - query.place + 1;
  }

  void look_at(const Query& query, const Stands& one) {
    const KeyId key = h_.version_key(one.version);
    for (OpId i = h_.first_op(h_.txn_of(query.op)); i < query.op; ++i)
      if (h_.op(i).key == key && installs_version(h_.op(i))) return;  // it sees its own
    const uint32_t early = query.place > one.until ? query.place - one.until : 0;
    note(query.op, key, std::max(early, how_far(one.from, query)));
  }

  void note(OpId query, KeyId key, uint32_t off) {
    bool named = false;
    each_named_key(h_, query, [&](KeyId one) { named = named || one == key; });
    if (named || !within(query, key)) return;
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
  std::vector<Stands> stands_;               // by version, then by time
  std::vector<uint32_t> begin_;              // per version and one more, into stands_
  std::vector<std::vector<Query>> queries_;  // per condition, in the order
  std::unordered_map<KeyId, KeyState> own_;  // scratch: what a transaction has written so far
  std::vector<PassedOver> near_;
  bool any_ = false;
};

}  // namespace

bool passes_over(const History& history, OpId op) {
  if (!is_range(history.op(op))) return false;
  const Selected selected = history.selected(op);
  return selected.predicate != kNone && selected.complete &&
         (history.initial().is_null() ||
          history.predicates().match_initial(selected.predicate) == Match::no);
}

std::vector<PassedOver> contradicted(const History& history, const Order& order, uint32_t reach) {
  if (!history.has_predicates()) return {};
  return AlongOrder(history, order, reach).run();
}

}  // namespace assay::internal
