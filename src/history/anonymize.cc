// What may a verdict depend on? On which operations share a key and a value, on the order of keys,
// on the session of each transaction, and on which moments precede which. All of this is kept, and
// each name is replaced by a number that carries no more information:
//
//   alice: { r("acct-77",120) w("acct-77",80) }        1: { r(2,1) w(2,2) }
//   bob:   { w("acct-12",80) }                         2: { w(1,2) }
//
// Keys are numbered in their order, since a range reaches from one to another. Values are numbered
// as they come, the same value of two keys alike; null stays null, since it means absence. The
// database's start and commit times are numbered together in their order. Times of the clock are
// only shifted: clocks that may differ by some amount are compared by durations. So durations stay
// the same; a user who must hide them has to omit the times.
//
// A condition is about the values themselves, or the columns of rows: no numbering keeps what `like
// 'a%'` or a sum says of them. Such histories are refused. One pass, and the sort of keys and
// times: O(n log n).
#include "history/anonymize.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "history/accesses.h"
#include "history/copy.h"
#include "history/value_numbers.h"

namespace assay::internal {
namespace {

class Anonymizer {
 public:
  explicit Anonymizer(const History& h) : h_(h) {
    number_keys();
    rank_logical_times();
    find_first_moment();
  }

  Result<History> run() {
    builder_.set_initial(value(h_.initial()));
    for (KeyId k = 0; k < h_.key_count(); ++k)
      if (h_.own_initial(k) != kNone) builder_.set_initial(key(k), value(h_.initial(k)));
    if (h_.absent_is_never_written()) builder_.set_absent_is_never_written();
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      begin(t);
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) operation(i);
      if (Status s = builder_.end_txn(); !s.ok()) return s.error();
    }
    for (const KnownOrder& order : h_.known_orders()) stated_order(order);
    if (const int64_t to = h_.orders_complete_to(); to != Interval::kUnknown)
      builder_.event(shifted(to), fmt::format(R"({{"event":"complete","at":{}}})", shifted(to)),
                     true);
    Result<History> history = std::move(builder_).finish();
    if (history.ok()) history->assume_as(h_);
    return history;
  }

 private:
  ValueView value(const ValueView& v) { return v.is_null() ? v : ValueView::of(values_.of(v) + 1); }
  void number_keys() {
    std::vector<KeyId> order(h_.key_count());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); });
    keys_.resize(order.size());
    for (size_t place = 0; place < order.size(); ++place)
      keys_[order[place]] = static_cast<int64_t>(place) + 1;
  }

  void rank_logical_times() {
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (const int64_t time : {h_.start_ts(t), h_.commit_ts(t)})
        if (time != Interval::kUnknown) logical_.push_back(time);
    std::sort(logical_.begin(), logical_.end());
    logical_.erase(std::unique(logical_.begin(), logical_.end()), logical_.end());
  }
  int64_t rank(int64_t time) const {
    if (time == Interval::kUnknown) return time;
    return std::lower_bound(logical_.begin(), logical_.end(), time) - logical_.begin() + 1;
  }

  void find_first_moment() {
    const auto look = [&](const Interval& time) {
      for (const int64_t end : {time.request, time.response})
        if (Interval::is_moment(end)) first_ = std::min(first_, end);
    };
    for (TxnId t = 0; t < h_.txn_count(); ++t) look(h_.begin_time(t)), look(h_.end_time(t));
    for (OpId i = 0; h_.has_op_times() && i < h_.op_count(); ++i) look(h_.op_time(i));
    look(Interval::point(h_.orders_complete_to()));
  }
  // Times that are further apart than 64 bits can tell stay in their order.
  int64_t shifted(int64_t time) const {
    int64_t result = 0;
    if (!Interval::is_moment(time)) return time;
    return __builtin_sub_overflow(time, first_, &result) ? Interval::kOpen - 1 : result;
  }
  Interval shifted(const Interval& time) const {
    return {shifted(time.request), shifted(time.response)};
  }

  ValueView key(KeyId k) const { return ValueView::of(keys_[k]); }
  // The number of the key, as an outside key.
  ValueView bound(KeyId k) const { return k == kNone ? ValueView::null() : key(k); }

  std::string name(TxnId t) const { return fmt::format("t{}", t + 1); }

  void begin(TxnId t) {
    name_ = name(t);
    TxnHeader header;
    header.session = ValueView::of(static_cast<int64_t>(h_.session(t)) + 1);
    header.name = name_;
    header.status = h_.status(t);
    header.begin = shifted(h_.begin_time(t));
    header.end = shifted(h_.end_time(t));
    header.start_ts = rank(h_.start_ts(t));
    header.commit_ts = rank(h_.commit_ts(t));
    header.level = h_.declared_level(t);
    builder_.begin_txn(header);
  }

  void operation(OpId i) {
    if (is_range(h_.op(i))) return range(i);
    Op op = h_.outside(i, buffers_);
    list_.clear();
    for (const ValueView& element : op.list) list_.push_back(value(element));
    op.list = list_;
    op.key = key(h_.op(i).key);
    op.value = value(op.value);
    op.expected = value(op.expected);
    op.time = shifted(op.time);
    if (op.source && !op.source->empty()) op.source = source_ = name(h_.stated_source(i));
    builder_.add(op);
  }

  void range(OpId i) {
    const KeyBounds bounds = bounds_of(h_, i);
    rows_.clear();
    for (const VersionId row : rows_of(h_, i))
      rows_.emplace_back(key(h_.version_key(row)), value(h_.version_value(row)));
    Op op = Op::range(bound(bounds.from), bound(bounds.to), rows_);
    op.effect = h_.op(i).effect;
    op.time = shifted(h_.op_time(i));
    builder_.add(op);
  }

  void stated_order(const KnownOrder& order) {
    std::vector<std::string> names(order.versions.size());
    std::vector<StatedVersion> entries;
    for (size_t i = 0; i < order.versions.size(); ++i) {
      StatedVersion entry{.value = value(h_.version_value(order.versions[i]))};
      if (order.txn(i) != kNone) entry.txn = names[i] = name(order.txn(i));
      entries.push_back(entry);
    }
    builder_.known_order(key(order.key), entries);
  }

  const History& h_;
  HistoryBuilder builder_;
  ValueNumbers values_;
  std::vector<int64_t> keys_;     // the numbers of keys
  std::vector<int64_t> logical_;  // start and commit times, in their order
  int64_t first_ = Interval::kOpen;
  OpBuffers buffers_;
  std::vector<ValueView> list_;
  std::vector<Op::Row> rows_;
  std::string name_, source_;
};

}  // namespace

Result<History> anonymized(const History& history) {
  if (history.has_predicates())
    return bad_input(
        "the history has queries with conditions or aggregates, which depend on values; expected a "
        "history without them, because replaced values would change their results");
  return Anonymizer(history).run();
}

}  // namespace assay::internal
