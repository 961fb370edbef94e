#include "certify/adya_order_verifier.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "certify/commit_order.h"
#include "certify/conditions.h"
#include "certify/operations.h"
#include "certify/refusal.h"
#include "certify/sources.h"

namespace assay::internal::certify {
namespace {

constexpr uint64_t kMostSteps = 100'000'000;

// An anti-dependency: `reader` read what `writer` overwrote.
struct Anti {
  Place reader;
  Place writer;
  char kind;  // as in ForbiddenCycle: a, or p if the read did not return the key
};

// Whether an order serves pl-1: there the source of a read does not matter, only that some
// transaction wrote the value. But lists must be prefixes of the order's appends, possibly with
// elements of transactions that did not take effect in between.
class DirtyOrder {
 public:
  DirtyOrder(const Writes& writes, std::span<const TxnId> order)
      : writes_(writes),
        history_(writes.history()),
        order_(order),
        states_(writes),
        present_author_(history_.version_count()),
        appended_(history_.key_count()) {
    for (const TxnId t : order)
      for (const Access& a : accesses(history_, t)) {
        if (!a.appends()) continue;
        appended_[a.key].push_back(a.version);
        present_author_[a.version] = true;
      }
  }

  Status check() const {
    for (const TxnId t : order_)
      for (const Access& a : accesses(history_, t))
        if (!explained(a)) return refuse("nothing explains {}", show_operation(history_, a.op));
    return Ok{};
  }

 private:
  bool explained(const Access& a) const {
    if (!a.reads()) return true;
    if (a.is_list()) return list_agrees(a);
    if (!a.is_range()) return states_.explained_by_any(a.op, a.key);
    return std::ranges::all_of(states_.keys_of_range(a.op),
                               [&](KeyId key) { return states_.explained_by_any(a.op, key); });
  }

  bool list_agrees(const Access& a) const {
    const std::vector<VersionId> own = appended_by(history_, history_.txn_of(a.op), a.key);
    const ListSeen seen = list_seen(history_, a.op);
    if (!seen.own_at_end) return false;
    const std::vector<VersionId>& all = appended_[a.key];
    size_t at = 0;
    for (const VersionId element : seen.others) {
      if (writes_.of_version(element, Which::all).empty() || std::ranges::count(own, element) > 0)
        return false;
      if (!present_author_[element]) continue;
      if (at == all.size() || all[at] != element) return false;
      ++at;
    }
    return true;
  }

  const Writes& writes_;
  const History& history_;
  const std::span<const TxnId> order_;
  const Sources states_;
  std::vector<bool> present_author_;  // indexed by version: whether a transaction of the order
                                      // appends it
  std::vector<std::vector<VersionId>> appended_;  // indexed by key; in the order
};

class AdyaCheck {
 public:
  AdyaCheck(const History& history, const CommitOrder& order)
      : history_(history),
        conditions_(history),
        order_(order),
        writers_(history, order.txns()),
        left_(history.key_count()) {
    if (has_ranges(history))
      for (KeyId key = 0; key < left_.size(); ++key)
        for (const Place p : writers_.of(key))
          left_[key].push_back(left_by(history, order.txn(p), key));
    sources_.resize(order.count() + 1);
    for (Place p = 1; p <= order.count(); ++p)
      for (const ReadFrom& read : order.reads(p)) {
        add_anti(p, read);
        const Place source = is_item(read) ? read.from : last_change(read);
        if (source != 0 && source != p) sources_[p].push_back(source);
      }
  }

  // Checks that no dependency left by this order is on a cycle that `forbidden` describes.
  Status check(const ForbiddenCycle& forbidden) const {
    if (has(forbidden.any, 'r'))
      if (Status s = check_sources(); !s.ok()) return s;
    if (forbidden.one_key) return check_updates();
    if (forbidden.once.empty()) return check_none_back(forbidden.any);
    return has(forbidden.any, 'a') || has(forbidden.any, 'p') ? check_stretches(forbidden)
                                                              : check_paths(forbidden);
  }

 private:
  void add_anti(Place reader, const ReadFrom& read) {
    const std::span<const Place> all = writers_.of(read.key);
    size_t next = writers_.up_to(read.key, read.from);
    const bool item = is_item(read);
    if (!item) next = next_change(read, next);
    if (next < all.size() && all[next] != reader)
      anti_.push_back({reader, all[next], item ? 'a' : 'p'});
  }
  // The first writer from `next` on that changed whether the range selects the key.
  size_t next_change(const ReadFrom& read, size_t next) const {
    const std::span<const State> left = left_[read.key];
    const State seen = read.from == 0 ? initial_state(history_, read.key) : left[next - 1];
    return next + conditions_.first_change(read.op, read.key, seen, left.subspan(next));
  }
  // The last writer, up to that of the version that was seen, that changed whether the range
  // selects the key; 0 if none did.
  Place last_change(const ReadFrom& read) {
    if (read.from == 0) return 0;
    const auto [known, fresh] =
        last_change_.try_emplace({history_.selected(read.op).predicate, read.key, read.from}, 0);
    if (!fresh) return known->second;
    const size_t until = writers_.up_to(read.key, read.from);
    const size_t at = conditions_.last_change(read.op, initial_state(history_, read.key),
                                              std::span(left_[read.key]).first(until));
    return known->second = at == until ? 0 : writers_.of(read.key)[at];
  }
  bool is_item(const ReadFrom& read) const { return certify::is_item(history_, read.op, read.key); }
  static bool has(std::string_view kinds, char kind) {
    return kinds.find(kind) != std::string_view::npos;
  }
  std::string name(Place p) const { return history_.name(order_.txn(p)); }
  Error overwritten(const Anti& anti) const {
    return refuse("transaction {} overwrote what transaction {} read, and the two are on a cycle",
                  name(anti.writer), name(anti.reader));
  }
  // Checks read dependencies; then they run forwards, as write dependencies do.
  Status check_sources() const {
    for (Place p = 1; p <= order_.count(); ++p)
      for (const Place source : sources_[p])
        if (source > p)
          return refuse("transaction {} depends on transaction {}, which comes later", name(p),
                        name(source));
    return Ok{};
  }

  Status check_none_back(std::string_view kinds) const {
    for (const Anti& anti : anti_)
      if (anti.writer < anti.reader && has(kinds, anti.kind)) return overwritten(anti);
    return Ok{};
  }

  // Checks that an update of a key reads the version before its own.
  Status check_updates() const {
    for (Place p = 1; p <= order_.count(); ++p) {
      const auto written = order_.keys_written(p);
      for (const ReadFrom& read : order_.reads(p))
        if (is_item(read) && std::binary_search(written.begin(), written.end(), read.key) &&
            writers_.before(read.key, p) != read.from)
          return refuse("transaction {} overwrites a version of {} that it did not read", name(p),
                        history_.key(read.key).to_string());
    }
    return Ok{};
  }

  // Checks stretches: a transaction on a cycle is between the ends of an edge that runs back.
  Status check_stretches(const ForbiddenCycle& forbidden) const {
    std::vector<uint32_t> back(order_.count() + 2,
                               // first: the number of stretches that begin here, minus those that
                               // end
                               0);
    for (const Anti& anti : anti_) {
      if (anti.writer > anti.reader) continue;
      if (has(forbidden.once, anti.kind)) return overwritten(anti);
      if (!has(forbidden.any, anti.kind)) continue;
      ++back[anti.writer];
      --back[anti.reader];
    }
    std::vector<Place> stretch(order_.count() + 1, 0);
    uint32_t open = 0;
    for (Place p = 1; p <= order_.count(); ++p) {
      stretch[p] = open > 0 ? stretch[p - 1] : p;
      open += back[p];
    }
    for (const Anti& anti : anti_)
      if (has(forbidden.once, anti.kind) && stretch[anti.reader] == stretch[anti.writer])
        return overwritten(anti);
    return Ok{};
  }

  // Checks that no anti-dependency that runs back is closed by a path of write and read
  // dependencies between its ends.
  Status check_paths(const ForbiddenCycle& forbidden) const {
    std::vector<Place> visited(order_.count() + 1, 0), queue;
    uint64_t steps = 0;
    for (size_t i = 0; i < anti_.size();) {  // all of one reader are adjacent
      const Place reader = anti_[i].reader;
      Place earliest = reader;
      size_t end = i;
      for (; end < anti_.size() && anti_[end].reader == reader; ++end)
        if (has(forbidden.once, anti_[end].kind)) earliest = std::min(earliest, anti_[end].writer);
      if (earliest < reader) {
        queue.assign(1, reader);
        const auto meet = [&](Place p) {
          if (p < earliest || p == 0 || visited[p] == reader) return;
          visited[p] = reader;
          queue.push_back(p);
        };
        for (size_t at = 0; at < queue.size(); ++at) {
          if (has(forbidden.any, 'r'))
            for (const Place source : sources_[queue[at]]) meet(source);
          for (const KeyId key : order_.keys_written(queue[at]))
            meet(writers_.before(key, queue[at]));
          steps += sources_[queue[at]].size() + order_.keys_written(queue[at]).size();
          if (steps > kMostSteps) return too_much("there are too many paths to examine");
        }
        for (; i < end; ++i)
          if (has(forbidden.once, anti_[i].kind) && visited[anti_[i].writer] == reader)
            return overwritten(anti_[i]);
      }
      i = end;
    }
    return Ok{};
  }

  const History& history_;
  const Conditions conditions_;
  const CommitOrder& order_;
  const PlacedWriters writers_;
  std::vector<std::vector<State>> left_;     // the states that writers left; filled if there are
                                             // ranges
  std::vector<Anti> anti_;                   // sorted by reader
  std::vector<std::vector<Place>> sources_;  // indexed by reader: the places on which it depends
  // Indexed by condition, key and version that was seen.
  std::map<std::tuple<PredicateId, KeyId, Place>, Place> last_change_;
};

}  // namespace

Status leaves_no_cycle(std::span<const ForbiddenCycle> forbidden, const History& history,
                       const CommitOrder& order) {
  const AdyaCheck check(history, order);
  for (const ForbiddenCycle& cycle : forbidden)
    if (Status s = check.check(cycle); !s.ok()) return s;
  return Ok{};
}

Status dirty_order_serves(const Writes& writes, std::span<const TxnId> order) {
  return DirtyOrder(writes, order).check();
}

}  // namespace assay::internal::certify
