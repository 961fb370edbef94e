// From a history to what its transactions do in any order. The history is read once, operation by
// operation; no data of the finder is used.
//
//   s1: A { p(value > 5, [x=7]) w(x,8) }, sent together    step 1 reads each key that ever held
//                                                          more than 5, but x step 2 reads and
//                                                          changes x, which is locked then
//
// If a transaction did something unrecorded in table t, two keys represent that: the *blind reads*
// of t, which every transaction that changes a row of t changes, and the *blind changes* of t,
// which every transaction that reads a row of t reads, and every transaction that changes one
// changes. "*" is every table.
//
// A transaction takes part if it did something, did not define tables, and belongs to a program, if
// any transaction does. The others are the load and the last look at all keys; of these only
// transactions with something unrecorded count.
//
// Cost: the operations, and for each query the keys that it may read.

#include "certify/footprints.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/json.h"
#include "certify/conditions.h"
#include "certify/operations.h"
#include "certify/refusal.h"
#include "certify/schedule_verifier.h"
#include "history/key_order.h"
#include "history/predicates.h"

namespace assay::internal::certify {
namespace {

// The meta of a transaction.
struct Meta {
  std::string program;
  bool defines = false;
  std::vector<std::string> read, changed;  // tables with unrecorded operations

  bool is_whole() const { return read.empty() && changed.empty(); }
};

Meta meta_of(std::string_view text) {
  Meta meta;
  const Json json = text.empty() ? Json() : Json::parse(text);
  if (!json.is_object()) return meta;
  const std::string ran = json.text("ran");
  meta.program = json.text("program", ran.substr(0, ran.find(" (")));
  meta.defines = json["defines"].is_true();
  for (const Json& table : json["unrecorded"]["reads"]) meta.read.push_back(table.text());
  for (const Json& table : json["unrecorded"]["changes"]) meta.changed.push_back(table.text());
  return meta;
}

// The keys that represent unrecorded operations.
class BlindKeys {
 public:
  BlindKeys(const std::vector<Meta>& metas, KeyId first) : next_(first) {
    for (const Meta& meta : metas) {
      for (const std::string& table : meta.read) name(table, reads_);
      for (const std::string& table : meta.changed) name(table, changes_);
    }
  }
  KeyId end() const { return next_; }
  bool empty() const { return reads_.empty() && changes_.empty(); }

  // Whether an unrecorded operation may have changed the table.
  bool may_change(const std::string& table) const {
    return changes_.contains(table) || changes_.contains("*");
  }
  // The keys touched by a transaction that reads, or changes, a row of the table, recorded or not.
  void read(std::string_view table, std::vector<Touch>& to) const {
    add(table, changes_, kReads, to);
  }
  void change(std::string_view table, std::vector<Touch>& to) const {
    add(table, changes_, kChanges, to);
    add(table, reads_, kChanges, to);
  }
  void read_blindly(const std::string& table, std::vector<Touch>& to) const {
    to.push_back({reads_.at(table), kReads});
    read(table, to);
  }
  void change_blindly(const std::string& table, std::vector<Touch>& to) const {
    to.push_back({changes_.at(table), kChanges});
    change(table, to);
  }

 private:
  using Keys = std::map<std::string, KeyId, std::less<>>;

  void name(const std::string& table, Keys& keys) {
    if (keys.emplace(table, next_).second) ++next_;
  }
  static void add(std::string_view table, const Keys& keys, Deed deed, std::vector<Touch>& to) {
    const auto put = [&](const auto& named) { to.push_back({named->second, deed}); };
    if (table == "*") {
      for (auto named = keys.begin(); named != keys.end(); ++named) put(named);
      return;
    }
    for (const std::string_view name : {table, std::string_view("*")})
      if (const auto named = keys.find(name); named != keys.end()) put(named);
  }

  Keys reads_, changes_;  // by table
  KeyId next_;
};

}  // namespace

class FootprintReader {
 public:
  explicit FootprintReader(const History& history)
      : h_(history),
        conditions_(history),
        in_order_(all_in_order(history)),
        metas_(all_metas(history, meta_)),
        blind_(metas_, history.key_count()),
        changer_(history.key_count(), kNone) {}

  Result<Footprints> read() {
    find_programs();
    find_absent();
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (takes_part_[t])
        if (Status s = add(t); !s.ok()) return s.error();
      end_txn();
    }
    index();
    return std::move(f_);
  }

 private:
  // Parses each text once; `of`: per transaction, its index in the result.
  static std::vector<Meta> all_metas(const History& h, std::vector<uint32_t>& of) {
    std::vector<Meta> metas;
    std::unordered_map<std::string_view, uint32_t> known;
    for (TxnId t = 0; t < h.txn_count(); ++t) {
      const auto [at, is_new] = known.try_emplace(h.meta(t), static_cast<uint32_t>(metas.size()));
      if (is_new) metas.push_back(meta_of(at->first));
      of.push_back(at->second);
    }
    return metas;
  }

  static std::vector<KeyId> all_in_order(const History& h) {
    std::vector<KeyId> keys(h.key_count());
    std::iota(keys.begin(), keys.end(), KeyId{0});
    sort_keys(h, keys);
    return keys;
  }

  void find_programs() {
    const bool named =
        std::ranges::any_of(metas_, [](const Meta& meta) { return !meta.program.empty(); });
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      const Meta& meta = metas_[meta_[t]];
      const bool acted = h_.first_op(t) != h_.end_op(t) || !meta.is_whole();
      const bool is_of_none = named && meta.program.empty();
      takes_part_.push_back(acted && !meta.defines && (!is_of_none || !meta.is_whole()));
      f_.has_unrecorded_.push_back(takes_part_[t] && !meta.is_whole());
      f_.program_.push_back(kNone);
      if (!takes_part_[t] || is_of_none) continue;
      const auto [at, is_new] =
          f_.programs_.try_emplace(meta.program, static_cast<uint32_t>(f_.txns_of_.size()));
      if (is_new) f_.txns_of_.emplace_back();
      f_.program_[t] = at->second;
      f_.txns_of_[at->second].push_back(t);
    }
  }

  // Finds the rows that may be absent. A row is always there if it was there at first, and no
  // transaction that takes part inserts, removes or misses it. It was there at first if it has an
  // initial value, a transaction that does not take part wrote it, or a transaction read a value
  // that was never written.
  void find_absent() {
    std::vector<bool> written(h_.version_count());
    std::vector<bool> was_there(h_.key_count()), goes(h_.key_count());
    for (KeyId k = 0; k < h_.key_count(); ++k) was_there[k] = !is_absent(h_, initial_state(h_, k));
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (const Access& a : accesses(h_, t)) {
        if (a.is_range()) continue;
        if (a.writes()) written[a.version] = true;
        if (a.writes() && !takes_part_[t]) was_there[a.key] = true;
        const bool misses = a.accepts == Accepts::equals && h_.version_value(a.seen).is_null();
        const bool inserts = a.accepts == Accepts::absent || a.accepts == Accepts::present;
        if (takes_part_[t] && (a.removes() || misses || inserts)) goes[a.key] = true;
      }
    for (const Access& a : all_accesses(h_))
      if (a.accepts == Accepts::equals && !h_.version_value(a.seen).is_null() && !written[a.seen])
        was_there[a.key] = true;
    may_be_absent_.resize(h_.key_count());
    for (KeyId k = 0; k < h_.key_count(); ++k)
      may_be_absent_[k] = !was_there[k] || goes[k] || blind_.may_change(table_of(k));
  }
  std::string table_of(KeyId key) const {
    const std::string name = h_.key(key).to_string();
    return name.substr(0, name.find(':'));
  }

  Status add(TxnId t) {
    add_unrecorded(t);
    for (const Step& step : steps_of(h_, t))
      if (Status s = add_step(t, step); !s.ok()) return s;
    add_unrecorded(t);
    return Ok{};
  }

  void add_unrecorded(TxnId t) {
    if (!f_.has_unrecorded_[t]) return;
    for (const std::string& table : metas_[meta_[t]].read) blind_.read_blindly(table, step_);
    for (const std::string& table : metas_[meta_[t]].changed) blind_.change_blindly(table, step_);
    end_step(true);
  }

  // Adds a step: its reads of keys that its statement does not change, or its other operations, or
  // all.
  Status add_step(TxnId t, const Step& step) {
    std::vector<KeyId> changed, locked;
    for (const Access a : Accesses(h_, step.first, step.end)) {
      if (a.writes()) changed.push_back(a.key);
      if (step.lock == RowLock::none || !a.reads()) continue;
      if (!a.is_range()) locked.push_back(a.key);
      if (a.is_range())
        each_named(h_, a.op, [&](const Named& named) {
          if (named.selected) locked.push_back(named.key);
        });
    }
    locked.insert(locked.end(), changed.begin(), changed.end());
    std::sort(locked.begin(), locked.end());
    const auto is_meant = [&](KeyId key) {
      return step.part == Step::Part::whole ||
             std::ranges::binary_search(locked, key) == (step.part == Step::Part::locked);
    };
    const bool locks = step.lock != RowLock::none, is_plain = changed.empty() && !locks;
    const uint8_t certainly =
        kReads | kCertainlyReads | (is_plain ? 0 : static_cast<uint8_t>(kSharesAtInnodb));
    const uint8_t lock = step.lock == RowLock::share    ? kShares
                         : step.lock == RowLock::update ? kLocks
                                                        : 0;
    for (const Access a : Accesses(h_, step.first, step.end)) {
      if (a.is_list())
        return refuse("{}: the content of a list in another order is not known",
                      show_operation(h_, a.op));
      if (a.is_range()) {
        each_read(a.op, [&](KeyId key) {
          if (is_meant(key)) touch(t, key, kReads);
        });
        if (f_.touches_.size() + step_.size() > kMostTouches)
          return too_much("the queries read too many keys");
        continue;
      }
      if (!is_meant(a.key)) continue;
      if (a.reads()) touch(t, a.key, certainly | (may_be_absent_[a.key] ? 0 : lock));
      if (!a.writes()) continue;
      touch(t, a.key, kChanges | kCertainlyChanges);
      changer_[a.key] = t;
    }
    end_step(is_plain);
    return Ok{};
  }

  // Notes what the transaction does to a key. A read of a key that it has changed concerns no other
  // transaction.
  void touch(TxnId t, KeyId key, uint8_t deeds) {
    const bool reads = (deeds & kReads) != 0;
    if (reads && changer_[key] == t) return;
    step_.push_back({key, deeds});
    if (blind_.empty()) return;
    const std::string table = table_of(key);
    reads ? blind_.read(table, step_) : blind_.change(table, step_);
  }

  void end_step(bool is_plain) {
    f_.touches_.insert(f_.touches_.end(), step_.begin(), step_.end());
    f_.first_touch_.push_back(f_.touches_.size());
    f_.is_plain_.push_back(is_plain);
    step_.clear();
  }

  void end_txn() {
    const uint64_t first = f_.first_touch_[f_.first_step_.back()];
    f_.first_step_.push_back(static_cast<uint32_t>(f_.is_plain_.size()));
    std::vector<Touch> all(f_.touches_.begin() + static_cast<ptrdiff_t>(first), f_.touches_.end());
    std::ranges::sort(all, {}, &Touch::key);
    for (const Touch& touch : all) {
      const bool is_new =
          f_.all_.size() == f_.first_of_txn_.back() || f_.all_.back().key != touch.key;
      if (is_new)
        f_.all_.push_back(touch);
      else
        f_.all_.back().deeds |= touch.deeds;
    }
    f_.first_of_txn_.push_back(f_.all_.size());
  }

  // Visits the keys that a query may read in some order.
  template <class Visit>
  void each_read(OpId query, Visit visit) {
    const Selected selected = h_.selected(query);
    const PredicateId where = selected.aggregate == kNone
                                  ? selected.predicate
                                  : h_.predicates().aggregate(selected.aggregate).where;
    for (const KeyId key : named_keys(h_, query)) visit(key);
    if (where == kNone || conditions_.match_initial(where) != Match::no) {
      const std::span<const uint32_t> bounds = h_.operands(query).first(2);
      const auto before = [&](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); };
      auto at = in_order_.begin(), end = in_order_.end();
      if (bounds[0] != kNone) at = std::lower_bound(at, end, bounds[0], before);
      if (bounds[1] != kNone) end = std::upper_bound(at, end, bounds[1], before);
      while (at != end) visit(*at++);
      return;
    }
    const std::vector<KeyId>& keys = keys_of(where);
    for (const KeyId key : keys)
      if (covers(h_, query, key)) visit(key);
  }

  // The keys that have a version which may satisfy the condition.
  const std::vector<KeyId>& keys_of(PredicateId where) {
    const auto [at, is_new] = matching_.try_emplace(where);
    std::vector<KeyId>& keys = at->second;
    if (!is_new) return keys;
    const Predicates& all = h_.predicates();
    for (const auto versions : {all.certain(where), all.open(where)})
      for (const VersionId v : versions)
        if (conditions_.match(where, v) != Match::no) keys.push_back(h_.version_key(v));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }

  void index() {
    f_.first_of_key_.assign(size_t{blind_.end()} + 1, 0);
    for (const Touch& touch : f_.all_) ++f_.first_of_key_[touch.key + 1];
    for (size_t k = 1; k < f_.first_of_key_.size(); ++k)
      f_.first_of_key_[k] += f_.first_of_key_[k - 1];
    f_.doers_.resize(f_.all_.size());
    std::vector<uint64_t> next(f_.first_of_key_.begin(), f_.first_of_key_.end() - 1);
    f_.is_locked_.resize(blind_.end());
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (const Touch& touch : f_.touches(t)) {
        f_.doers_[next[touch.key]++] = {t, touch.deeds};
        if ((touch.deeds & (kShares | kLocks)) != 0) f_.is_locked_[touch.key] = true;
      }
  }

  static constexpr size_t kMostTouches = size_t{1} << 30;

  const History& h_;
  const Conditions conditions_;
  const std::vector<KeyId> in_order_;  // all keys
  std::vector<uint32_t> meta_;         // indexed by transaction
  const std::vector<Meta> metas_;
  const BlindKeys blind_;
  std::vector<bool> takes_part_;  // indexed by transaction
  std::map<PredicateId, std::vector<KeyId>> matching_;
  std::vector<bool> may_be_absent_;  // indexed by key
  std::vector<TxnId> changer_;       // indexed by key: the last transaction so far that changed it
  std::vector<Touch> step_;          // touches of the step under way
  Footprints f_;
};

Result<Footprints> Footprints::of(const History& history) {
  return FootprintReader(history).read();
}

}  // namespace assay::internal::certify
