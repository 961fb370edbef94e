#include "infer/passed_over.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "history/accesses.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

class AlongOrder {
 public:
  AlongOrder(const History& history, const Order& order, uint32_t reach)
      : h_(history), order_(order), reach_(reach) {
    note_installs();
  }

  std::vector<PassedOver> run() {
    for (uint32_t place = 0; place < order_.events.size(); ++place)
      if (!order_.split || order_.events[place] % 2 == 0) look_at(txn(place), place);
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

  void look_at(TxnId t, uint32_t place) {
    own_.clear();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (passes_over(h_, i)) look_at_query(i, place);
      if (installs_version(h_.op(i))) own_.push_back(install_of(h_, i));
    }
  }

  void look_at_query(OpId query, uint32_t place) {
    named_.clear();
    each_named_key(h_, query, [&](KeyId key) { named_.push_back(key); });
    std::sort(named_.begin(), named_.end());
    for (const VersionId v : h_.predicates().certain(h_.selected(query).predicate)) {
      const uint32_t off = how_far(v, place);
      if (off > reach_) continue;
      const KeyId key = h_.version_key(v);
      if (std::binary_search(named_.begin(), named_.end(), key) || !within(query, key)) continue;
      any_ = any_ || off == 0;
      near_.push_back({query, key});
    }
  }

  // By how many events the query would have to stand elsewhere to see this version.
  uint32_t how_far(VersionId v, uint32_t place) const {
    if (!own_.empty()) {
      const auto own = std::find_if(own_.rbegin(), own_.rend(), [&](const Install& install) {
        return install.key == h_.version_key(v);
      });
      if (own != own_.rend()) return own->version == v && !own->removes ? 0 : UINT32_MAX;
    }
    uint32_t least = UINT32_MAX;
    // Where a transaction is one event, it does not see what it installs.
    for (uint32_t i = begin_[v]; i < begin_[v + 1]; ++i) {
      const Stands& one = stands_[i];
      const uint32_t off = place <= one.from    ? one.from - place + 1
                           : place <= one.until ? 0
                                                : place - one.until;
      least = std::min(least, off);
    }
    return least;
  }

  bool within(OpId query, KeyId key) const {
    const auto [from, to] = bounds_of(h_, query);
    return (from == kNone || !key_less(h_.key(key), h_.key(from))) &&
           (to == kNone || !key_less(h_.key(to), h_.key(key)));
  }

  const History& h_;
  const Order& order_;
  const uint32_t reach_;
  std::vector<Stands> stands_;   // by version, then by time
  std::vector<uint32_t> begin_;  // per version and one more, into stands_
  std::vector<Install> own_;     // scratch: what a transaction has written so far
  std::vector<KeyId> named_;     // scratch
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
