#include "history/projection.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "history/accesses.h"
#include "history/copy.h"
#include "history/kept_writes.h"
#include "history/key_order.h"
#include "history/logged.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

// The part of an operation that stays.
struct Copy {
  OpKind kind = OpKind::read;
  std::vector<VersionId> versions = {};  // elements of a list, rows of a range
  std::vector<VersionId> passed = {};    // range: the rows passed over
  std::vector<KeyId> matched = {};
  KeyId lo = kNone, hi = kNone;
  uint32_t aggregate = kNone;
};

// What a range says of one key, and whether that stays.
struct RangeKey {
  KeyId key = kNone;
  VersionId version = kNone;  // returned, or skipped
  bool passed = false, matched = false;
  bool stays = true;
};

// The run with the most rows, and among those the most keys.
std::optional<Copy> longest_run(const std::vector<RangeKey>& rows, KeyId lo, KeyId hi) {
  if (rows.empty()) return Copy{.kind = OpKind::range, .lo = lo, .hi = hi};
  Copy best{.kind = OpKind::range};
  size_t best_keys = 0;
  for (size_t from = 0; from < rows.size();) {
    size_t to = from;
    Copy run{.kind = OpKind::range, .lo = from == 0 ? lo : rows[from].key};
    for (; to < rows.size() && rows[to].stays; ++to) {
      if (rows[to].matched) run.matched.push_back(rows[to].key);
      if (rows[to].version != kNone)
        (rows[to].passed ? run.passed : run.versions).push_back(rows[to].version);
    }
    if (to > from) run.hi = to == rows.size() ? hi : rows[to - 1].key;
    if (std::pair(run.versions.size(), to - from) > std::pair(best.versions.size(), best_keys)) {
      best = std::move(run);
      best_keys = to - from;
    }
    from = to + 1;
  }
  if (best_keys == 0) return std::nullopt;
  return best;
}

class Projection {
 public:
  Projection(const History& h, const std::vector<bool>& keep)
      : h_(h), keep_(keep), writes_(h, keep) {
    for (OpId i = 0; i < h_.op_count() && !has_ranges_; ++i) has_ranges_ = is_range(h_.op(i));
  }

  Result<History> run(std::vector<OpId>* origins) {
    copy_settings(h_, builder_);
    builder_.set_meta(h_.meta());
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (const Status s = copy_txn(t); !s.ok()) return s.error();
    copy_events();
    for (const KnownOrder& order : h_.known_orders()) copy_order(order);
    Result<History> part = std::move(builder_).finish();
    if (part.ok()) part->assume_as(h_);
    if (origins != nullptr) *origins = std::move(origins_);
    return part;
  }

 private:
  // Leaves out the events that say that the orders are complete, as the orders lose versions, and
  // those that say where omitted transactions are in the log.
  void copy_events() {
    std::set<std::string, std::less<>> names;
    for (const OpId op : origins_) names.insert(h_.name(h_.txn_of(op)));
    for (const Event& event : h_.events()) {
      const std::string_view logged = logged_name(event);
      if (!event.complete && (logged.empty() || names.contains(logged)))
        builder_.event(event.at, event.json);
    }
  }

  bool is_null(VersionId v) const { return h_.version_value(v).is_null(); }
  bool absent_initially(KeyId key) const { return h_.initial(key).is_null(); }

  // --- the transaction that is being copied

  // Whether the write leaves this version.
  bool leaves(OpId write, VersionId v) const {
    const Operation op = h_.op(write);
    return op.version == v || (op.kind == OpKind::remove && is_null(v));
  }
  bool leaves_nothing(OpId write) const {
    const Operation op = h_.op(write);
    return op.kind == OpKind::remove || is_null(op.version);
  }

  // Whether an observation stays: the writes in `explaining` may explain it; so may the initial
  // state, if `initially`, or an earlier write of the transaction itself for which `explains`
  // holds.
  template <class Explains>
  bool stays(OpId i, KeyId key, const WriteTally& explaining, bool initially,
             Explains explains) const {
    // If a transaction that read and overwrote a key kept only the read, another transaction would
    // overwrite it: an anti-dependency would replace a write dependency. pl-2.99 allows a cycle of
    // an anti-dependency and a row that a range did not find, but not one of a write dependency and
    // such a row.
    if (has_ranges_ && writes_.loses_one(txn_, key)) return false;
    if (const OpId own = writes_.before(txn_, i, key); own != kNone)
      return keep_[own] && (explains(own) || explaining.stay());
    return explaining.stay() || (initially && writes_.untouched_by_others(txn_, key));
  }
  bool sees_version(OpId i, VersionId v) const {
    return stays(i, h_.version_key(v), writes_.showing(v), h_.is_initial(v),
                 [&](OpId own) { return leaves(own, v); });
  }
  bool sees_another_version(OpId i, VersionId v) const {
    const KeyId key = h_.version_key(v);
    return stays(i, key, writes_.of(key) - writes_.showing(v), !h_.is_initial(v),
                 [&](OpId own) { return !leaves(own, v); });
  }
  bool sees_absence(OpId i, KeyId key) const {
    return stays(i, key, writes_.absence(key), absent_initially(key),
                 [&](OpId own) { return leaves_nothing(own); });
  }
  bool sees_presence(OpId i, KeyId key) const {
    return stays(i, key, writes_.of(key) - writes_.absence(key), !absent_initially(key),
                 [&](OpId own) { return !leaves_nothing(own); });
  }

  std::optional<Copy> copy_of(OpId i) const {
    if (!keep_[i]) return std::nullopt;
    const Operation op = h_.op(i);
    const Observation seen = observation_of(h_, i);
    bool explained = false;
    switch (seen.accepts) {
      case Accepts::list:
        return list_of(i);
      case Accepts::rows:
        return range_of(i);
      case Accepts::equals:
        explained = sees_version(i, seen.version);
        break;
      case Accepts::differs:
        explained = sees_another_version(i, seen.version);
        break;
      case Accepts::absent:
        explained = sees_absence(i, op.key);
        break;
      case Accepts::present:
        explained = sees_presence(i, op.key);
        break;
      default:
        explained = true;
    }
    if (explained) return Copy{.kind = op.kind};
    return installs_version(op) ? std::optional(Copy{.kind = OpKind::write}) : std::nullopt;
  }

  // The transaction that the list was read from: the one whose element is the last that others had
  // appended, kNone if there is none. The reader's own elements are those that it had appended
  // before.
  TxnId source_of_list(OpId i, std::span<const VersionId> elements) const {
    const auto own = [&](VersionId v) {
      for (OpId earlier = h_.first_op(txn_); earlier < i; ++earlier)
        if (h_.op(earlier).kind == OpKind::append && h_.op(earlier).version == v) return true;
      return false;
    };
    while (!elements.empty() && own(elements.back()))
      elements = elements.first(elements.size() - 1);
    return elements.empty() ? kNone : writes_.author(elements.back());
  }

  // A list may lose elements as long as it is read from the same transaction: otherwise, at the
  // levels that depend on sources, it would show more of another transaction than before.
  std::optional<Copy> list_of(OpId i) const {
    Copy list{.kind = OpKind::read_list};
    for (const VersionId v : h_.operands(i)) {
      const WriteTally& writes = writes_.of_version(v);
      if (writes.go()) continue;
      if (!writes.stay()) return std::nullopt;
      list.versions.push_back(v);
    }
    const TxnId source = source_of_list(i, list.versions);
    if (source != kNone && source != source_of_list(i, h_.operands(i))) return std::nullopt;
    return list;
  }

  RangeKey row_of(OpId i, const Selected& selected, RangeKey row) const {
    const KeyId key = row.key;
    if (row.version != kNone && sees_version(i, row.version)) return row;
    if (row.version == kNone && !row.matched && !selected.complete) return row;
    if (row.version == kNone && !row.matched && selected.predicate == kNone) {
      row.stays = sees_absence(i, key);
    } else if (row.version == kNone) {
      row.stays = sees_match(i, key, selected.predicate, row.matched ? Match::yes : Match::no);
    } else if (writes_.before(txn_, i, key) == kNone && writes_.untouched_by_others(txn_, key) &&
               absent_initially(key)) {
      row = {.key = key};  // no write of the key is left
    } else {
      row.stays = false;
    }
    return row;
  }

  // Whether the observation stays that the key satisfied the condition or, by `match`, did not. If
  // nothing that the key ever held certainly satisfies the condition, a row passed over observed
  // nothing of the key.
  bool sees_match(OpId i, KeyId key, PredicateId predicate, Match match) const {
    const auto may_be = [&](Match of) { return of == match || of == Match::open; };
    const Match initial = match_of_state(h_, initial_state(h_, key), predicate);
    bool anything = match == Match::no && may_be(initial);
    WriteTally explaining;
    for (const VersionId v : versions_of(key)) {
      const bool explains = may_be(h_.predicates().match(predicate, v));
      if (explains) explaining = explaining + writes_.of_version(v);
      anything = anything && explains;
    }
    if (anything) return true;
    if (match == Match::no) explaining = explaining + writes_.removing(key);
    return stays(i, key, explaining, may_be(initial), [&](OpId own) {
      return may_be(leaves_nothing(own) ? Match::no
                                        : h_.predicates().match(predicate, h_.op(own).version));
    });
  }

  // The versions of the key, without tombstones.
  std::span<const VersionId> versions_of(KeyId key) const {
    if (of_one_key_.empty()) {
      of_one_key_.resize(h_.key_count());
      std::vector<bool> is_value(h_.version_count(), true);
      for (OpId i = 0; i < h_.op_count(); ++i)
        if (const Operation op = h_.op(i); op.kind == OpKind::remove) is_value[op.version] = false;
      for (VersionId v = 0; v < h_.version_count(); ++v)
        if (is_value[v]) of_one_key_[h_.version_key(v)].push_back(v);
    }
    return of_one_key_[key];
  }

  std::optional<Copy> range_of(OpId i) const {
    const std::span<const uint32_t> operands = h_.operands(i);
    const Selected selected = h_.selected(i);
    const Copy whole{OpKind::range,
                     {selected.rows.begin(), selected.rows.end()},
                     {selected.passed.begin(), selected.passed.end()},
                     {selected.matched.begin(), selected.matched.end()},
                     operands[0],
                     operands[1]};
    const std::span<const KeyId> keys = key_order().between(operands[0], operands[1]);
    std::unordered_map<KeyId, RangeKey> named;
    bool sound = true;
    const auto name = [&](RangeKey row) {
      const bool inside =
          std::binary_search(keys.begin(), keys.end(), row.key,
                             [this](KeyId x, KeyId y) { return key_less(h_.key(x), h_.key(y)); });
      sound = sound && inside && named.try_emplace(row.key, row).second;
    };
    for (const VersionId v : selected.rows) name({.key = h_.version_key(v), .version = v});
    for (const VersionId v : selected.passed)
      name({.key = h_.version_key(v), .version = v, .passed = true});
    for (const KeyId key : selected.matched) name({.key = key, .matched = true});
    for (const Observation& seen : observations_of_range(h_, i, {}))
      sound = sound && seen.accepts != Accepts::nothing;
    if (selected.aggregate != kNone && keeps_all(operands, selected.aggregate))
      return Copy{.kind = OpKind::range,
                  .lo = operands[0],
                  .hi = operands[1],
                  .aggregate = selected.aggregate};
    if (selected.aggregate != kNone && !selected.complete) return std::nullopt;
    // A result that contradicts itself is explained by nothing, and stays as it is.
    if (!sound) return whole;
    std::vector<RangeKey> rows;
    for (const KeyId key : keys) {
      const auto row = named.find(key);
      rows.push_back(row_of(i, selected, row == named.end() ? RangeKey{.key = key} : row->second));
    }
    return longest_run(rows, operands[0], operands[1]);
  }

  // An aggregate is about all rows between the bounds, and stays if all possible writers of such
  // rows do.
  bool keeps_all(std::span<const KeyId> bounds, uint32_t aggregate) const {
    const Predicates& known = h_.predicates();
    const PredicateId where = known.aggregate(aggregate).where;
    if (known.match_initial(where) != Match::no) return false;
    const auto outside = [&](KeyId k) {
      return (bounds[0] != kNone && key_less(h_.key(k), h_.key(bounds[0]))) ||
             (bounds[1] != kNone && key_less(h_.key(bounds[1]), h_.key(k)));
    };
    const auto keys = known.keys(where);
    return std::all_of(keys.begin(), keys.end(),
                       [&](KeyId k) { return outside(k) || writes_.of(k).stay(); });
  }

  const KeyOrder& key_order() const {
    if (!key_order_) key_order_.emplace(h_);
    return *key_order_;
  }

  Status copy_txn(TxnId t) {
    txn_ = t;
    std::vector<std::pair<OpId, Copy>> copies;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (std::optional<Copy> copy = copy_of(i)) copies.emplace_back(i, std::move(*copy));
    if (copies.empty()) return Ok{};
    copier_.begin(h_, t);
    for (const auto& [op, copy] : copies) {
      if (copy.kind == OpKind::range) {
        const Selected all = h_.selected(op);
        copier_.range(h_, op, copy.lo, copy.hi,
                      {all.predicate, copy.versions, copy.passed, copy.matched, all.complete,
                       copy.aggregate});
      } else {
        copier_.operation(h_, op, copy.kind, copy.versions, source_stays(op));
      }
      origins_.push_back(op);
    }
    return builder_.end_txn();
  }

  // A stated source stays if the source's transaction still writes the value that was read.
  bool source_stays(OpId i) const {
    const TxnId source = h_.stated_source(i);
    if (source == kNone || source == kInitialTxn || source == h_.txn_of(i)) return true;
    for (OpId w = h_.first_op(source); w < h_.end_op(source); ++w)
      if (keep_[w] && installs_version(h_.op(w)) && h_.op(w).key == h_.op(i).key &&
          leaves(w, h_.op(i).version))
        return true;
    return false;
  }

  // The writes that an entry may mean.
  WriteTally meant(const KnownOrder& order, size_t entry) const {
    const TxnId t = order.txn(entry);
    if (t == kNone) return writes_.showing(order.versions[entry]);
    WriteTally writes;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (installs_version(h_.op(i)) && h_.op(i).version == order.versions[entry])
        writes.add(keep_[i]);
    return writes;
  }

  void copy_order(const KnownOrder& order) {
    // For most keys nothing stays, and their orders may be as long as the history.
    if (writes_.of(order.key).kept == 0 && !writes_.is_never_written(order.key)) return;
    std::vector<bool> keep;
    for (size_t i = 0; i < order.versions.size(); ++i) {
      const VersionId v = order.versions[i];
      const bool named = order.txn(i) != kNone;
      const WriteTally writes = meant(order, i);
      const bool initial = i == 0 && h_.is_initial(v) && !named;
      keep.push_back(initial || (writes.stay() && (writes.all > 0 || (!is_null(v) && !named))));
    }
    if (std::count(keep.begin(), keep.end(), true) > 1)
      builder_.known_order(h_.key(order.key), entries_.of(h_, order, keep));
  }

  const History& h_;
  const std::vector<bool>& keep_;
  const KeptWrites writes_;
  bool has_ranges_ = false;
  mutable std::vector<std::vector<VersionId>> of_one_key_;  // for conditions; filled once there is
                                                            // one
  mutable std::optional<KeyOrder> key_order_;               // for ranges; set once there is one
  TxnId txn_ = kNone;                                       // the transaction that is being copied
  std::vector<OpId> origins_;
  HistoryBuilder builder_;
  TxnCopier copier_{builder_};
  OrderCopier entries_;
};

}  // namespace

Result<History> project(const History& history, const std::vector<bool>& keep,
                        std::vector<OpId>* origins) {
  return Projection(history, keep).run(origins);
}

}  // namespace assay::internal
