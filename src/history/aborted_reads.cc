#include "history/aborted_reads.h"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "history/accesses.h"
#include "history/copy.h"
#include "history/key_order.h"

namespace assay::internal {
namespace {

class Companions {
 public:
  explicit Companions(const History& h) : h_(h) {}

  Result<CountedReads> run() {
    copy_settings(h_, builder_);
    builder_.set_meta(h_.meta());
    for (TxnId t = 0; t < h_.txn_count(); ++t) names_.insert(h_.name(t));
    for (SessionId s = 0; s < h_.session_count(); ++s)
      names_.insert(h_.session_name(s).to_string());
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) != TxnStatus::committed)
        if (Status s = add_companion(t); !s.ok()) return s.error();
      // The times of a session do not run backwards, and the times of aborted transactions say
      // nothing.
      copier_.begin(h_, t, h_.status(t) != TxnStatus::aborted);
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) copier_.operation(h_, i);
      if (Status s = builder_.end_txn(); !s.ok()) return s.error();
    }
    for (const Event& event : h_.events()) builder_.event(event.at, event.json, event.complete);
    OrderCopier entries;
    for (const KnownOrder& order : h_.known_orders())
      builder_.known_order(h_.key(order.key), entries.of(h_, order));
    if (not_understood_) return *not_understood_;
    Result<History> counted = std::move(builder_).finish();
    if (!counted.ok()) return counted.error();
    counted->assume_as(h_);
    return CountedReads{std::move(*counted), companions_};
  }

 private:
  Status add_companion(TxnId t) {
    txn_ = t;
    begun_ = false;
    own_.clear();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      look(i);
      if (installs_version(h_.op(i))) own_[h_.op(i).key] = install_of(h_, i).state();
    }
    Status added = begun_ ? builder_.end_txn() : Ok{};
    keys_of_its_own_.clear();
    return added;
  }

  // Begins the companion of the transaction with the first thing that the transaction saw.
  HistoryBuilder& companion() {
    if (begun_) return builder_;
    begun_ = true;
    ++companions_;
    name_ = h_.name(txn_) + ":reads";
    while (!names_.insert(name_).second) name_ += "'";
    TxnHeader header;
    header.session = h_.session_name(h_.session(txn_));
    header.name = name_;
    header.begin = h_.begin_time(txn_);
    header.end = h_.end_time(txn_);
    header.level = h_.declared_level(txn_);
    header.line = h_.line(txn_);
    if (h_.status(txn_) == TxnStatus::unknown) {
      header.session = ValueView::of(std::string_view(name_));
      header.end = header.begin.known() ? Interval::from(header.begin.request) : Interval{};
    }
    builder_.begin_txn(header);
    return builder_;
  }

  void look(OpId i) {
    const Observation seen = observation_of(h_, i);
    if (seen.accepts == Accepts::any) return;
    if (seen.accepts == Accepts::rows) return look_at_range(i);
    const auto own = own_.find(seen.key);
    if (own == own_.end()) return observe(i);
    if (seen.accepts == Accepts::list) return look_at_list(i);
    if (!fits(h_, seen, own->second)) contradict(seen, own->second);
  }

  // Copies what an operation that also writes observed.
  void observe(OpId i) {
    companion();
    if (!installs_version(h_.op(i))) return copier_.operation(h_, i);
    Op seen = h_.outside(i, buffers_);
    seen = {.key = seen.key, .value = seen.expected, .time = seen.time};
    builder_.add(seen);
  }

  void look_at_list(OpId i) {
    const OutsideList outside = outside_list(h_, i);
    companion();
    if (outside.missing == kNone) return copier_.list(h_, i, outside.elements);
    const ValueView key = key_of_its_own(h_.op(i).key);
    for (OpId j = h_.first_op(txn_); j < i; ++j)
      if (install_of(h_, j).appends && h_.op(j).key == h_.op(i).key)
        builder_.add(Op::append(key, h_.version_value(h_.op(j).version)));
    builder_.add(Op::read_list(key, h_.outside(i, buffers_).list));
  }

  void look_at_range(OpId i) {
    const KeyBounds bounds = bounds_of(h_, i);
    if (!key_order_) key_order_.emplace(h_);
    const std::span<const KeyId> keys = key_order_->between(bounds.from, bounds.to);
    if (is_open(h_, i) &&
        std::any_of(keys.begin(), keys.end(), [&](KeyId k) { return own_.contains(k); }))
      not_understood_ = bad_input("transaction " + h_.name(txn_) +
                                      " did not commit and has an aggregate over keys that it had "
                                      "written; expected none where "
                                      "the reads of such transactions count",
                                  h_.line(txn_));
    const std::vector<Observation> rows = observations_of_range(h_, i, keys);
    bool whole = true;
    for (const Observation& row : rows) {
      if (row.accepts == Accepts::nothing) return observe(i);  // the result contradicts itself
      whole = whole && !own_.contains(row.key);
    }
    if (whole) return observe(i);
    for (const Observation& row : rows)
      if (const auto own = own_.find(row.key); own != own_.end() && !fits(h_, row, own->second))
        contradict(row, own->second);
    for (size_t from = 0; from < keys.size();) {
      size_t to = from;
      while (to < keys.size() && !own_.contains(keys[to])) ++to;
      if (to > from)
        copy_range(i, from == 0 ? bounds.from : keys[from],
                   to == keys.size() ? bounds.to : keys[to - 1], keys.subspan(from, to - from));
      from = to + 1;
    }
  }

  // Copies what the range says of these keys, which are adjacent.
  void copy_range(OpId i, KeyId lo, KeyId hi, std::span<const KeyId> keys) {
    const std::unordered_set<KeyId> inside(keys.begin(), keys.end());
    const Selected all = h_.selected(i);
    std::vector<VersionId> rows, passed;
    std::vector<KeyId> matched;
    for (const VersionId v : all.rows)
      if (inside.contains(h_.version_key(v))) rows.push_back(v);
    for (const VersionId v : all.passed)
      if (inside.contains(h_.version_key(v))) passed.push_back(v);
    for (const KeyId key : all.matched)
      if (inside.contains(key)) matched.push_back(key);
    companion();
    copier_.range(h_, i, lo, hi, {all.predicate, rows, passed, matched, all.complete});
  }

  // Returns a new key at each call, which no other transaction uses.
  ValueView key_of_its_own(KeyId key) {
    if (keys_.empty())
      for (KeyId k = 0; k < h_.key_count(); ++k) keys_.insert(h_.key(k).to_string());
    std::string name = h_.key(key).to_string() + "@" + h_.name(txn_);
    while (!keys_.insert(name).second) name += "'";
    return ValueView::of(std::string_view(keys_of_its_own_.emplace_back(std::move(name))));
  }

  // Shows in the companion that the transaction wrote `own` and then saw something else.
  void contradict(const Observation& seen, const KeyState& own) {
    companion();
    const ValueView key = key_of_its_own(seen.key), value = h_.version_value(own.version);
    if (own.removed) {
      builder_.add(Op::remove(key, value));
    } else {
      builder_.add(Op::write(key, value));
    }
    const bool gone = is_absent(h_, own);
    switch (seen.accepts) {
      case Accepts::equals:
        builder_.add(Op::read(key, h_.version_value(seen.version)));
        break;
      case Accepts::differs:  // the key does not hold the value written
        builder_.add(Op::cas(key, h_.version_value(seen.version), value, false));
        break;
      default:
        builder_.add(gone ? Op::insert(key, value, false) : Op::read(key, ValueView::null()));
    }
  }

  const History& h_;
  HistoryBuilder builder_;
  TxnCopier copier_{builder_};
  OpBuffers buffers_;
  std::unordered_set<std::string> names_;  // names of transactions and sessions
  std::unordered_set<std::string> keys_;   // filled when the first companion needs a new key
  std::optional<KeyOrder> key_order_;      // set once there is a range
  uint64_t companions_ = 0;
  std::optional<Error> not_understood_;
  // The next members belong to the transaction under way.
  TxnId txn_ = kNone;
  bool begun_ = false;
  std::string name_;                         // the name of the companion
  std::unordered_map<KeyId, KeyState> own_;  // the transaction's writes so far
  std::deque<std::string> keys_of_its_own_;
};

}  // namespace

Result<CountedReads> count_aborted_reads(const History& history) {
  return Companions(history).run();
}

}  // namespace assay::internal
