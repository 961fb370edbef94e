#include "oracle/adya.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "history/predicates.h"
#include "oracle/conditions.h"

namespace assay::internal::oracle {
namespace {

// What an operation saw of a key was left by one of these writers.
struct VersionsSeen {
  uint32_t key;
  TxnSet writers;
};

// The maximum number of combinations of version orders, and of these with ways to attribute the
// reads.
constexpr uint64_t kMaxChoices = 800;
constexpr uint64_t kMaxTried = 4000;

// [a]: all b with an edge a → b
struct AdyaEdges {
  std::array<TxnSet, kMaxTxns> to{};

  void add(int a, int b) {
    if (a != b) to[a] |= TxnSet{1} << b;
  }
  AdyaEdges with(const AdyaEdges& more) const {
    AdyaEdges sum = *this;
    for (int t = 0; t < kMaxTxns; ++t) sum.to[t] |= more.to[t];
    return sum;
  }
  AdyaEdges closed() const {
    AdyaEdges all = *this;
    for (int via = 0; via < kMaxTxns; ++via) {
      if (all.to[via] == 0) continue;
      for (TxnSet& row : all.to)
        if (contains(row, via)) row |= all.to[via];
    }
    return all;
  }
  bool cyclic() const {
    const AdyaEdges all = closed();
    for (int t = 0; t < kMaxTxns; ++t)
      if (contains(all.to[t], t)) return true;
    return false;
  }
  // Whether there is an edge a → b of this, and a path from b to a.
  bool closed_by(const AdyaEdges& paths) const {
    const AdyaEdges all = paths.closed();
    for (int a = 0; a < kMaxTxns; ++a)
      for (int b = 0; b < kMaxTxns; ++b)
        if (contains(to[a], b) && contains(all.to[b], a)) return true;
    return false;
  }
};

struct Dependencies {
  AdyaEdges write, read, item_anti, predicate_anti;
  bool lost_update = false;
};

// Whether none of the cycles that a row forbids exists: cycles of any dependencies in `any` that
// contain one in `once`.
bool allowed(const LevelInfo& row, const Dependencies& d) {
  const auto edges = [&d](std::string_view kinds) {
    AdyaEdges all;
    for (const char kind : kinds)
      all = all.with(kind == 'w'   ? d.write
                     : kind == 'r' ? d.read
                     : kind == 'a' ? d.item_anti
                                   : d.predicate_anti);
    return all;
  };
  return std::ranges::none_of(row.forbidden, [&](const ForbiddenCycle& cycle) {
    if (cycle.any.empty()) return false;
    if (cycle.one_key) return d.lost_update;
    const AdyaEdges any = edges(cycle.any);
    return cycle.once.empty() ? any.cyclic() : edges(cycle.once).closed_by(any);
  });
}

bool allowed(LevelId level, const Dependencies& d) {
  const AdyaEdges flow = d.write.with(d.read);
  if (flow.cyclic()) return false;
  const AdyaEdges anti = d.item_anti.with(d.predicate_anti);
  switch (level) {
    case LevelId::pl_cs:
      return !d.lost_update;
    case LevelId::pl_2_plus:
      return !anti.closed_by(flow);
    case LevelId::pl_2_99:
      return !d.item_anti.closed_by(flow.with(anti));
    case LevelId::pl_3:
      return !flow.with(anti).cyclic();
    default:
      return true;
  }
}

class VersionOrders {
 public:
  VersionOrders(const History& h, const Footprints& small, TxnSet effective)
      : h_(h), small_(small), effective_(effective), writers_(small.keys.size()) {
    for (int t = 0; t < static_cast<int>(small.txns.size()); ++t) {
      if (!contains(effective, t)) continue;
      for (const Install& put : small.txns[t].installs) writers_[put.key].push_back(t);
    }
  }

  bool too_many() const {
    uint64_t choices = 1;
    for (const auto& list : writers_)
      for (size_t i = 2; i <= list.size() && choices <= kMaxChoices; ++i) choices *= i;
    return choices > kMaxChoices;
  }

  bool exhausted() const { return tried_ > kMaxTried; }

  bool some(LevelId level, Orders orders, const Attribution& attribution) {
    return some([&] {
      return agrees(attribution.write_order) && is_allowed(level, dependencies(attribution)) &&
             (orders == Orders::any || seen_stand(attribution));
    });
  }

  // Whether, for some order, write dependencies are acyclic and each list is a prefix of the
  // appends. If orders have to be known, each operation saw one of the versions in `seen`.
  bool some_shows(const std::vector<std::pair<KeyId, std::vector<VersionId>>>& lists, Orders orders,
                  const std::vector<VersionsSeen>& seen) {
    return some([&] {
      if (!agrees(small_.known_order) || dependencies({}).write.cyclic()) return false;
      return std::all_of(lists.begin(), lists.end(),
                         [this](const auto& list) {
                           const std::vector<VersionId> all = appended(list.first);
                           return list.second.size() <= all.size() &&
                                  std::equal(list.second.begin(), list.second.end(), all.begin());
                         }) &&
             (orders == Orders::any || earliest_stand(lists, seen));
    });
  }

 private:
  template <class Holds>
  bool some(const Holds& holds) {
    for (auto& list : writers_) std::sort(list.begin(), list.end());
    for (bool more = true; more;) {
      if (++tried_ > kMaxTried) return false;
      if (holds()) return true;
      more = false;
      for (auto& list : writers_) {
        more = std::next_permutation(list.begin(), list.end());
        if (more) break;
      }
    }
    return false;
  }

  // Whether the place of each version that was read, relative to every other, follows from the
  // stated orders: directly, through others, or because the opposite order would put a transaction
  // before one that it read from.
  bool seen_stand(const Attribution& attribution) const {
    AdyaEdges stated;
    for (const auto& [a, b] : attribution.write_order)
      if (a != kInitial && contains(effective_, a) && contains(effective_, b)) stated.add(a, b);
    std::vector<TxnSet> seen(writers_.size());
    for (const ReadsFrom& read : attribution.reads) {
      if (read.writer == kInitial) continue;
      seen[read.key] |= TxnSet{1} << read.writer;
      if (is_item(read)) stated.add(read.writer, read.reader);
    }
    return stand(stated.closed(), seen);
  }

  bool stand(const AdyaEdges& stated, const std::vector<TxnSet>& seen) const {
    for (size_t k = 0; k < writers_.size(); ++k)
      for (size_t i = 0; i < writers_[k].size(); ++i)
        for (size_t j = i + 1; j < writers_[k].size(); ++j) {
          const int a = writers_[k][i], b = writers_[k][j];
          if ((contains(seen[k], a) || contains(seen[k], b)) && !contains(stated.to[a], b))
            return false;
        }
    return true;
  }

  // The same at pl-1, where sources of reads say nothing: each operation is taken to have seen the
  // first of its possible versions, since any other would need more statements.
  bool earliest_stand(const std::vector<std::pair<KeyId, std::vector<VersionId>>>& lists,
                      const std::vector<VersionsSeen>& versions) const {
    AdyaEdges stated;
    for (const auto& [a, b] : small_.known_order)
      if (a != kInitial && contains(effective_, a) && contains(effective_, b)) stated.add(a, b);
    std::vector<TxnSet> seen(writers_.size());
    for (const auto& [key, shown] : lists) {
      for (size_t k = 0; k < writers_.size(); ++k) {
        if (small_.keys[k].outside != key) continue;
        size_t at = 0, count = 0;
        for (; at < writers_[k].size() && count < shown.size(); ++at)
          count += small_.txns[writers_[k][at]].install(static_cast<uint32_t>(k))->elements.size();
        if (at == 0) continue;
        seen[k] |= TxnSet{1} << writers_[k][at - 1];
        for (size_t i = 1; i < writers_[k].size(); ++i)
          stated.add(writers_[k][std::min(i, at) - 1], writers_[k][i]);
      }
    }
    for (const VersionsSeen& one : versions)
      for (const int t : writers_[one.key]) {
        if (!contains(one.writers, t)) continue;
        seen[one.key] |= TxnSet{1} << t;
        break;
      }
    return stand(stated.closed(), seen);
  }

  std::vector<VersionId> appended(KeyId key) const {
    std::vector<VersionId> all;
    for (size_t k = 0; k < writers_.size(); ++k) {
      if (small_.keys[k].outside != key) continue;
      for (const int t : writers_[k]) {
        const auto& elements = small_.txns[t].install(static_cast<uint32_t>(k))->elements;
        all.insert(all.end(), elements.begin(), elements.end());
      }
    }
    return all;
  }

  // The initial version is before all others without being stated.
  bool agrees(const std::vector<std::pair<int, int>>& write_order) const {
    for (const auto& [a, b] : write_order) {
      if (a == kInitial || !contains(effective_, a) || !contains(effective_, b)) continue;
      for (const auto& list : writers_) {
        const auto at_a = std::find(list.begin(), list.end(), a);
        const auto at_b = std::find(list.begin(), list.end(), b);
        if (at_a != list.end() && at_b != list.end() && at_b < at_a) return false;
      }
    }
    return true;
  }

  bool is_item(const ReadsFrom& read) const {
    const OpId op = h_.first_op(small_.txns[read.reader].txn) + read.step;
    if (h_.op(op).kind != OpKind::range) return true;
    for (const VersionId row : h_.selected(op).rows)
      if (h_.version_key(row) == small_.keys[read.key].outside) return true;
    return false;
  }

  // Whether what the writer left of the key satisfies the condition of the range.
  Match match(const ReadsFrom& read, int writer) const {
    const KeyId key = small_.keys[read.key].outside;
    const OpId op = h_.first_op(small_.txns[read.reader].txn) + read.step;
    const PredicateId predicate = h_.selected(op).predicate;
    ValueView value = h_.initial(key);
    if (writer != kInitial) {
      const TxnId t = small_.txns[writer].txn;
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (const Operation put = h_.op(i); put.key == key && installs_version(put))
          value = put.kind == OpKind::remove ? ValueView::null() : h_.version_value(put.version);
    }
    if (predicate != kNone) return condition_match(h_.predicates().condition(predicate), value);
    return value.is_null() ? Match::no : Match::yes;
  }

  // Whether the version that the range saw matches. If the condition leaves that open, the range's
  // recorded result decides.
  Match match_seen(const ReadsFrom& read) const {
    const Match match = this->match(read, read.writer);
    if (match != Match::open) return match;
    const OpId op = h_.first_op(small_.txns[read.reader].txn) + read.step;
    for (const KeyId key : h_.selected(op).matched)
      if (key == small_.keys[read.key].outside) return Match::yes;
    return Match::no;
  }

  // For the rows that a range did not return, only a change of whether the row satisfies the
  // condition counts (Adya's "changes the matches"). A change to an unknown match may be one, but
  // is not counted.
  bool changes(const ReadsFrom& read, int writer) const {
    const Match after = match(read, writer);
    return after != Match::open && after != match_seen(read);
  }

  // Returns the writer of the last change, at or before the version that a range saw, of whether
  // the condition selects the key; kInitial if there is none. The first version after one that may
  // or may not satisfy the condition is not counted as a change.
  int last_to_change(const ReadsFrom& read, const std::vector<int>& list) const {
    const Match was = match(read, read.writer);
    auto at = std::find(list.begin(), list.end(), read.writer);
    if (was == Match::open || at == list.end()) return kInitial;
    while (at != list.begin() && match(read, *(at - 1)) == was) --at;
    const Match before = match(read, at == list.begin() ? kInitial : *(at - 1));
    return before == was || before == Match::open ? kInitial : *at;
  }

  bool is_allowed(LevelId level, const Dependencies& d) const {
    return level == LevelId::defined ? allowed(h_.level(level), d) : allowed(level, d);
  }

  Dependencies dependencies(const Attribution& attribution) const {
    Dependencies d;
    for (const auto& list : writers_)
      for (size_t i = 1; i < list.size(); ++i) d.write.add(list[i - 1], list[i]);
    for (const ReadsFrom& read : attribution.reads) {
      const auto& list = writers_[read.key];
      const int source = is_item(read) ? read.writer : last_to_change(read, list);
      if (source != kInitial) d.read.add(source, read.reader);
      auto next = std::find(list.begin(), list.end(), read.writer);
      next = next == list.end() ? list.begin() : next + 1;
      const bool item = is_item(read);
      while (!item && next != list.end() && !changes(read, *next)) ++next;
      if (next == list.end()) continue;
      (item ? d.item_anti : d.predicate_anti).add(read.reader, *next);
      if (item && *next != read.reader && std::find(next, list.end(), read.reader) != list.end())
        d.lost_update = true;
    }
    return d;
  }

  const History& h_;
  const Footprints& small_;
  const TxnSet effective_;
  std::vector<std::vector<int>> writers_;  // per key, in version order
  uint64_t tried_ = 0;
};

// pl-1: a transaction may see anything that any other ever wrote, in any order; only the order of
// versions matters, which lists show.
class DirtyReads {
 public:
  DirtyReads(const History& h, const Footprints& small, TxnSet effective)
      : h_(h), small_(small), effective_(effective) {}

  // Whether every operation, except reads of lists, saw a version that some transaction wrote.
  bool explained() const {
    for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t) {
      if (!contains(effective_, t)) continue;
      const TxnId txn = small_.txns[t].txn;
      if (!small_.txns[t].contradiction.empty()) return false;
      for (OpId i = h_.first_op(txn); i < h_.end_op(txn); ++i)
        if (!explained(txn, i)) return false;
    }
    return true;
  }

  // Returns what each list shows of the transactions that took effect, without the reader's own
  // elements. nullopt if an element may belong to more than one of them.
  std::optional<std::vector<std::pair<KeyId, std::vector<VersionId>>>> lists() const {
    std::vector<std::pair<KeyId, std::vector<VersionId>>> all;
    for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t) {
      if (!contains(effective_, t)) continue;
      const TxnId txn = small_.txns[t].txn;
      size_t own = 0;
      for (OpId i = h_.first_op(txn); i < h_.end_op(txn); ++i) {
        if (h_.op(i).kind != OpKind::read_list) continue;
        own = 0;
        for (OpId a = h_.first_op(txn); a < i; ++a)
          own += h_.op(a).kind == OpKind::append && h_.op(a).key == h_.op(i).key;
        const auto elements = h_.operands(i).first(h_.operands(i).size() - own);
        auto& shown = all.emplace_back(h_.op(i).key, std::vector<VersionId>{}).second;
        for (const VersionId v : elements) {
          const std::vector<TxnId> authors = appended_by(v);
          if (authors.size() != 1) return std::nullopt;
          if (is_effective(authors[0])) shown.push_back(v);
        }
      }
    }
    return all;
  }

  // Returns the operations whose observation only writes explain: not the initial state, nor a
  // version that was never installed.
  std::vector<VersionsSeen> versions_seen() const {
    std::vector<VersionsSeen> all;
    for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t) {
      if (!contains(effective_, t)) continue;
      const TxnId reader = small_.txns[t].txn;
      for (OpId i = h_.first_op(reader); i < h_.end_op(reader); ++i)
        for (uint32_t k = 0; k < small_.keys.size(); ++k)
          if (sees(i, small_.keys[k].outside) && !small_.keys[k].is_list)
            if (const TxnSet writers = installed(reader, i, k); writers != 0)
              all.push_back({k, writers});
    }
    return all;
  }

  // Whether some element of a list was never appended, or only later by the reader itself.
  bool bad_element() const {
    for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t) {
      if (!contains(effective_, t)) continue;
      const TxnId txn = small_.txns[t].txn;
      for (OpId i = h_.first_op(txn); i < h_.end_op(txn); ++i) {
        if (h_.op(i).kind != OpKind::read_list) continue;
        for (const VersionId v : h_.operands(i)) {
          bool possible = false;
          for (OpId a = 0; a < h_.op_count(); ++a)
            possible |= h_.op(a).kind == OpKind::append && h_.op(a).version == v &&
                        (h_.txn_of(a) != txn || a < i);
          if (!possible) return true;
        }
      }
    }
    return false;
  }

 private:
  bool is_effective(TxnId txn) const {
    for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t)
      if (small_.txns[t].txn == txn) return contains(effective_, t);
    return false;
  }

  std::vector<TxnId> appended_by(VersionId v) const {
    std::vector<TxnId> authors;
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (h_.op(i).kind == OpKind::append && h_.op(i).version == v) authors.push_back(h_.txn_of(i));
    return authors;
  }

  // Whether the operation fits the state of the key that write `w` left (nullopt: the initial
  // state).
  bool fits(OpId i, KeyId key, std::optional<OpId> w) const {
    const ValueView value = w ? h_.version_value(h_.op(*w).version) : h_.initial(key);
    const bool removed = w && h_.op(*w).kind == OpKind::remove;
    const bool absent = removed || value.is_null();
    const auto shows = [&](VersionId v) {
      return h_.version_value(v) == value || (removed && h_.version_value(v).is_null());
    };
    const Operation op = h_.op(i);
    if (op.kind == OpKind::read) return shows(op.version);
    if (op.kind == OpKind::cas) return shows(h_.operands(i)[0]) == op.effect;
    if (op.kind == OpKind::insert) return absent == op.effect;
    const Selected selected = h_.selected(i);
    const auto satisfies = [&](const ValueView& v) {
      if (selected.predicate != kNone)
        return condition_match(h_.predicates().condition(selected.predicate), v);
      return v.is_null() ? Match::no : Match::yes;
    };
    const Match here = satisfies(removed ? ValueView::null() : value);
    for (const VersionId row : selected.rows)
      if (h_.version_key(row) == key)
        return shows(row) &&
               (selected.predicate == kNone || satisfies(h_.version_value(row)) != Match::no);
    for (const VersionId row : selected.passed)
      if (h_.version_key(row) == key) return shows(row) && here != Match::yes;
    for (const KeyId one : selected.matched)
      if (one == key) return here != Match::no;
    return !selected.complete || here != Match::yes;
  }

  bool sees(OpId i, KeyId key) const {
    const Operation op = h_.op(i);
    if (op.kind == OpKind::range) return in_range(h_, i, key);
    return op.key == key &&
           (op.kind == OpKind::read || op.kind == OpKind::cas || op.kind == OpKind::insert);
  }

  // Returns the transactions that took effect and left the state of the key that the operation saw;
  // none if it may have been another state, or the transaction's own.
  TxnSet installed(TxnId reader, OpId i, uint32_t k) const {
    const KeyId key = small_.keys[k].outside;
    const TxnId stated = h_.op(i).kind == OpKind::read ? h_.stated_source(i) : kNone;
    if (stated == kInitialTxn || (stated == kNone && fits(i, key, std::nullopt))) return 0;
    TxnSet writers = 0;
    for (OpId w = 0; w < h_.op_count(); ++w) {
      if (!installs_version(h_.op(w)) || h_.op(w).key != key) continue;
      if (h_.txn_of(w) == reader) {
        if (w < i) return 0;
        continue;
      }
      if (!fits(i, key, w) || (stated != kNone && h_.txn_of(w) != stated)) continue;
      bool last = true;
      for (OpId later = w + 1; later < h_.end_op(h_.txn_of(w)); ++later)
        last = last && !(installs_version(h_.op(later)) && h_.op(later).key == key);
      if (!last || !is_effective(h_.txn_of(w))) return 0;
      for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t)
        if (small_.txns[t].txn == h_.txn_of(w)) writers |= TxnSet{1} << t;
    }
    return writers;
  }

  // Whether the operation is explained. An earlier own write determines what it sees; that is
  // judged with the transaction itself.
  bool explained(TxnId reader, OpId i) const {
    for (const KeyStates& k : small_.keys) {
      const KeyId key = k.outside;
      if (!sees(i, key)) continue;
      bool fit = fits(i, key, std::nullopt), own = false;
      for (OpId w = 0; w < h_.op_count(); ++w) {
        if (!installs_version(h_.op(w)) || h_.op(w).key != key) continue;
        if (h_.txn_of(w) == reader)
          own |= w < i;
        else
          fit |= fits(i, key, w);
      }
      if (!fit && !own) return false;
    }
    return true;
  }

  static bool in_range(const History& h, OpId i, KeyId key) {
    const auto operands = h.operands(i);
    return (operands[0] == kNone || !key_less(h.key(key), h.key(operands[0]))) &&
           (operands[1] == kNone || !key_less(h.key(operands[1]), h.key(key)));
  }

  const History& h_;
  const Footprints& small_;
  const TxnSet effective_;
};

}  // namespace

Outcome version_order_exists(const History& h, const Footprints& small, LevelId level, Orders known,
                             TxnSet effective) {
  VersionOrders orders(h, small, effective);
  if (orders.too_many()) return Outcome::unknown;
  bool exhausted = false;
  const auto holds = [&](const Attribution& a) { return orders.some(level, known, a); };
  if (any_attribution(small, effective, Granularity::operation, holds, &exhausted))
    return Outcome::satisfied;
  return exhausted || orders.exhausted() ? Outcome::unknown : Outcome::violated;
}

Outcome dirty_version_order_exists(const History& h, const Footprints& small, Orders known,
                                   TxnSet effective) {
  const DirtyReads reads(h, small, effective);
  if (!reads.explained() || reads.bad_element()) return Outcome::violated;
  const auto lists = reads.lists();
  VersionOrders orders(h, small, effective);
  if (!lists || orders.too_many()) return Outcome::unknown;
  if (orders.some_shows(*lists, known, reads.versions_seen())) return Outcome::satisfied;
  return orders.exhausted() ? Outcome::unknown : Outcome::violated;
}

}  // namespace assay::internal::oracle
