#include <algorithm>
#include <utility>

#include "assay/history.h"
#include "base/huge_pages.h"
#include "base/sort_by.h"
#include "history/predicates.h"
#include "history/range_operands.h"
#include "history/settled.h"
#include "history/value_hash.h"

namespace assay {
namespace {

// Smaller growth is not asked about: the input asks the budget for every chunk.
constexpr uint64_t kLargeBytes = uint64_t{1} << 20;

// Operations whose lookups are overlapped by prefetching.
constexpr size_t kWindow = 64;

template <class T>
void put_at(std::vector<T>& column, size_t index, size_t count, T value, T missing) {
  if (column.empty() && value == missing) return;
  if (column.size() < count) column.resize(count, missing);
  column[index] = value;
}

}  // namespace

HistoryBuilder::HistoryBuilder() = default;
HistoryBuilder::HistoryBuilder(HistoryBuilder&&) noexcept = default;
HistoryBuilder& HistoryBuilder::operator=(HistoryBuilder&&) noexcept = default;
HistoryBuilder::~HistoryBuilder() = default;

KeyId HistoryBuilder::key_id(const ValueView& v) {
  return h_.keys_.intern(v, internal::hash_value(v));
}

VersionId HistoryBuilder::version_id(KeyId key, const ValueView& v) {
  return h_.versions_.intern(key, v, internal::hash_version(key, v));
}

SessionId HistoryBuilder::session_id(const ValueView& name) {
  const SessionId s = h_.session_names_.intern(name, internal::hash_value(name));
  if (s == h_.session_txns_.size()) {
    h_.session_txns_.emplace_back();
    pending_.emplace_back();
  }
  return s;
}

// The transaction the header speaks of: the pending one it settles, or a new one.
TxnId HistoryBuilder::place_txn(const TxnHeader& header) {
  const SessionId session = session_id(header.session);
  auto& pending = pending_[session];
  if (!pending.empty() && !header.name.empty()) {
    if (const auto it = pending.find(std::string(header.name)); it != pending.end()) {
      const TxnId t = it->second;
      if (!header.pending) pending.erase(it);
      replaced_ = true;
      return t;
    }
  }
  const TxnId t = h_.txn_count();
  auto& txns = h_.session_txns_[session];
  h_.names_.append(header.name);
  h_.txns_.push_back({session, static_cast<uint32_t>(txns.size()), 0, 0, 0,
                      static_cast<uint32_t>(h_.names_.size()), TxnStatus::unknown});
  txns.push_back(t);
  if (header.pending) pending.emplace(header.name, t);
  return t;
}

void HistoryBuilder::store_times(TxnId t, const TxnHeader& header) {
  const size_t count = h_.txns_.size();
  if (header.begin.known() || header.end.known() || !h_.begin_.empty()) {
    h_.begin_.resize(count);
    h_.end_.resize(count);
    h_.begin_[t] = header.begin;
    h_.end_[t] = header.end;
  }
  put_at(h_.start_ts_, t, count, header.start_ts, Interval::kUnknown);
  put_at(h_.commit_ts_, t, count, header.commit_ts, Interval::kUnknown);
  put_at(h_.level_, t, count, header.level, {});
  if (!header.snapshot.empty()) h_.txn_snapshot_.emplace_back(t, std::string(header.snapshot));
  if (!header.meta.empty()) h_.txn_meta_.emplace_back(t, std::string(header.meta));
}

// What adding the transactions touches at most, where arrays have to grow.
uint64_t HistoryBuilder::bytes_to_grow(const TxnBatch& batch) const {
  using internal::growth_bytes;
  const size_t ops = batch.ops_.size();
  const size_t values = ops + batch.extra_.size();
  const size_t txns = batch.txns_.size();
  size_t text = 0, names = 0;
  for (const RawOp& op : batch.ops_) text += op.key.text.size() + op.value.text.size();
  for (const ValueView& v : batch.extra_) text += v.text.size();
  for (const RawTxn& txn : batch.txns_) names += txn.header.name.size();
  uint64_t bytes = h_.keys_.bytes_to_grow(values, text) + h_.versions_.bytes_to_grow(values, text);
  bytes += growth_bytes(h_.op_kind_, ops) + growth_bytes(h_.op_effect_, ops) +
           growth_bytes(h_.op_key_, ops) + growth_bytes(h_.op_version_, ops) +
           growth_bytes(h_.pool_, values + internal::kRangeHead * ops);
  if (!h_.op_operands_.empty()) bytes += growth_bytes(h_.op_operands_, ops);
  if (!h_.op_source_.empty()) bytes += growth_bytes(h_.op_source_, ops);
  if (!h_.op_time_.empty()) bytes += growth_bytes(h_.op_time_, ops);
  bytes += growth_bytes(h_.txns_, txns) + growth_bytes(h_.names_, names);
  if (!h_.begin_.empty()) bytes += growth_bytes(h_.begin_, txns) + growth_bytes(h_.end_, txns);
  if (!h_.start_ts_.empty()) bytes += growth_bytes(h_.start_ts_, txns);
  if (!h_.commit_ts_.empty()) bytes += growth_bytes(h_.commit_ts_, txns);
  if (!h_.level_.empty()) bytes += growth_bytes(h_.level_, txns);
  return bytes;
}

Status HistoryBuilder::make_room(uint64_t bytes) const {
  if (budget_ == nullptr || bytes < kLargeBytes || budget_->has_room(bytes)) return Ok{};
  return Error{ErrorKind::budget, budget_->reason().detail + " while reading", {}, 0, 0};
}

Status HistoryBuilder::check_limits(const TxnBatch& batch) const {
  uint64_t txns = h_.txns_.size(), names = h_.names_.size(), ops = h_.op_kind_.size();
  for (const RawTxn& txn : batch.txns_) {
    const TxnHeader& header = txn.header;
    if (txns++ >= kMaxOps)
      return bad_input("more transactions than the supported 4 billion", header.line);
    if ((names += header.name.size()) >= kNone)
      return bad_input("names of transactions exceed 4 GiB", header.line);
    for (size_t i = txn.first_op; i < txn.end_op; ++i) ops += 1 + batch.ops_[i].extra_count;
    if (ops > kMaxOps)
      return bad_input("more operations than the supported 4 billion", header.line);
  }
  return Ok{};
}

Status HistoryBuilder::end_txn() {
  Status added = TxnBatch::end_txn();
  if (!h_.predicates_) h_.predicates_ = predicates_;
  if (added.ok()) added = add(*this);
  clear();
  predicates_ = h_.predicates_;  // what is taken down here is numbered there at once
  return added;
}

Status HistoryBuilder::add(const TxnBatch& batch) {
  if (Status s = check_limits(batch); !s.ok()) return s;
  if (budget_ != nullptr)
    if (Status s = make_room(bytes_to_grow(batch)); !s.ok()) return s;
  number_predicates(batch);
  size_t first = 0;
  for (const RawOrder& order : batch.orders_) {
    add_txns(batch, first, order.before_txn);
    first = order.before_txn;
    store_order(
        order.key,
        std::span(batch.entries_).subspan(order.first_entry, order.end_entry - order.first_entry),
        order.line);
  }
  add_txns(batch, first, batch.txns_.size());
  for (const RawInitial& initial : batch.initial_) store_initial(initial);
  h_.events_.insert(h_.events_.end(), batch.events_.begin(), batch.events_.end());
  return Ok{};
}

void HistoryBuilder::number_predicates(const TxnBatch& batch) {
  predicate_of_.clear();
  aggregate_of_.clear();
  if (!batch.predicates_ || batch.predicates_ == h_.predicates_) return;
  if (!h_.predicates_) h_.predicates_ = std::make_shared<internal::Predicates>();
  for (PredicateId p = 0; p < batch.predicates_->size(); ++p)
    predicate_of_.push_back(*h_.predicates_->intern(batch.predicates_->text(p)));
  for (uint32_t a = 0; a < batch.predicates_->aggregate_count(); ++a)
    aggregate_of_.push_back(*h_.predicates_->intern(batch.predicates_->query(a)));
}

// Those of the batch from `first` to `end`. Operations are looked up in windows that pass over the borders of transactions.
void HistoryBuilder::add_txns(const TxnBatch& batch, size_t first, size_t end) {
  if (first == end) return;
  const size_t first_op = batch.txns_[first].first_op;
  const auto ops = std::span(batch.ops_).subspan(first_op, batch.txns_[end - 1].end_op - first_op);
  const OpId base = h_.op_count();
  for (size_t i = 0; i < ops.size(); i += kWindow)
    resolve_window(ops.subspan(i, std::min(kWindow, ops.size() - i)), batch);
  for (size_t i = first; i < end; ++i) {
    const RawTxn& raw = batch.txns_[i];
    const TxnId t = place_txn(raw.header);
    History::Txn& txn = h_.txns_[t];
    txn.status = raw.header.pending ? TxnStatus::unknown : raw.header.status;
    txn.line = static_cast<uint32_t>(raw.header.line);
    txn.first_op = static_cast<OpId>(base + (raw.first_op - first_op));
    txn.end_op = static_cast<OpId>(base + (raw.end_op - first_op));
    store_times(t, raw.header);
  }
  store_sources(ops, batch, base);
  store_op_times(ops, base);
}

// Four passes over a few operations, so that the cache misses of a pass overlap.
void HistoryBuilder::resolve_window(std::span<const RawOp> ops, const TxnBatch& batch) {
  using internal::push_back_roomy;
  uint64_t hashes[kWindow];
  for (size_t i = 0; i < ops.size(); ++i) {
    hashes[i] = internal::hash_value(ops[i].key);
    h_.keys_.prefetch(hashes[i]);
  }
  const size_t base = h_.op_key_.size();
  for (size_t i = 0; i < ops.size(); ++i) {
    const RawOp& op = ops[i];
    const KeyId key = op.key.is_null() ? kNone : h_.keys_.intern(op.key, hashes[i]);
    push_back_roomy(h_.op_key_, key);
    hashes[i] = internal::hash_version(key, op.value);
    if (op.kind != OpKind::range) h_.versions_.prefetch(hashes[i]);
  }
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].kind != OpKind::range) h_.versions_.prefetch_entry(hashes[i]);
  for (size_t i = 0; i < ops.size(); ++i) {
    const RawOp& op = ops[i];
    const KeyId key = h_.op_key_[base + i];
    const bool tombstone = op.kind == OpKind::remove && h_.absent_is_never_written_;
    push_back_roomy(h_.op_kind_, tombstone ? OpKind::write : op.kind);
    push_back_roomy(h_.op_effect_, uint8_t{op.effect});
    push_back_roomy(h_.op_version_, op.kind == OpKind::range
                                        ? VersionId{kNone}
                                        : h_.versions_.intern(key, op.value, hashes[i]));
    const bool has_operands =
        op.kind == OpKind::read_list || op.kind == OpKind::range || op.kind == OpKind::cas;
    if (has_operands) resolve_operands(op, batch.extra_.data() + op.first_extra, key);
    if (has_operands || !h_.op_operands_.empty()) h_.op_operands_.resize(h_.op_kind_.size());
  }
}

void HistoryBuilder::resolve_operands(const RawOp& op, const ValueView* extra, KeyId key) {
  auto& pool = h_.pool_;
  if (pool.empty()) pool.push_back(0);  // index 0 means none
  h_.op_operands_.resize(h_.op_kind_.size());
  h_.op_operands_.back() = static_cast<uint32_t>(pool.size());
  const size_t count_at = pool.size();
  pool.push_back(0);
  if (op.kind == OpKind::range) {
    pool.push_back(key);
    pool.push_back(op.value.is_null() ? kNone : key_id(op.value));
    const bool renumbered = op.predicate != kNone && !predicate_of_.empty();
    const PredicateId predicate = renumbered ? predicate_of_[op.predicate] : op.predicate;
    const uint32_t aggregate =
        op.aggregate != kNone && renumbered ? aggregate_of_[op.aggregate] : op.aggregate;
    for (const uint32_t word : {predicate, aggregate, op.rows, op.passed}) pool.push_back(word);
    const ValueView* end = extra + op.extra_count;
    for (const ValueView* matched = extra + 2 * (op.rows + op.passed); extra < matched; extra += 2)
      pool.push_back(version_id(key_id(extra[0]), extra[1]));
    for (; extra < end; ++extra) pool.push_back(key_id(*extra));
  } else {
    const std::span<const ValueView> values(extra, op.extra_count);
    for (size_t i = 0; i < values.size(); i += kWindow) {
      resolve_versions(key, values.subspan(i, std::min(kWindow, values.size() - i)));
    }
  }
  pool[count_at] = static_cast<uint32_t>(pool.size() - count_at - 1);
}

// Versions of one key to the pool, again so that the cache misses overlap.
void HistoryBuilder::resolve_versions(KeyId key, std::span<const ValueView> values) {
  uint64_t hashes[kWindow];
  for (size_t i = 0; i < values.size(); ++i) {
    hashes[i] = internal::hash_version(key, values[i]);
    h_.versions_.prefetch(hashes[i]);
  }
  for (size_t i = 0; i < values.size(); ++i) h_.versions_.prefetch_entry(hashes[i]);
  for (size_t i = 0; i < values.size(); ++i)
    internal::push_back_roomy(h_.pool_, h_.versions_.intern(key, values[i], hashes[i]));
}

void HistoryBuilder::known_order(ValueView key, std::span<const ValueView> values) {
  std::vector<StatedVersion> entries;
  entries.reserve(values.size());
  for (const ValueView& v : values) entries.push_back({v});
  store_order(key, entries, 0);
}

void HistoryBuilder::known_order(ValueView key, std::span<const StatedVersion> entries,
                                 uint64_t line) {
  store_order(key, entries, line);
}

void HistoryBuilder::store_initial(const RawInitial& initial) {
  const KeyId key = key_id(initial.key);
  if (!h_.versions_.set_own_initial(version_id(key, initial.value)) && !initial_fault_)
    initial_fault_ = bad_input("key " + initial.key.to_string() +
                                   " has another initial value already; expected one for a key",
                               initial.line);
}

// A list that nobody has appended to is empty.
Status HistoryBuilder::check_initial() const {
  if (initial_fault_) return *initial_fault_;
  if (!h_.has_own_initial()) return Ok{};
  for (TxnId t = 0; t < h_.txn_count(); ++t)
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if ((op.kind == OpKind::append || op.kind == OpKind::read_list) &&
          !h_.initial(op.key).is_null() && h_.own_initial(op.key) != kNone)
        return bad_input("key " + h_.key(op.key).to_string() +
                             " is used as a list, but has an initial value; expected none",
                         h_.line(t));
    }
  return Ok{};
}

void HistoryBuilder::store_order(ValueView key, std::span<const StatedVersion> entries,
                                 uint64_t line) {
  order_lines_.push_back(static_cast<uint32_t>(line));
  KnownOrder& order = h_.known_orders_.emplace_back(KnownOrder{key_id(key), {}, {}});
  order.versions.reserve(entries.size());
  for (size_t first = 0; first < entries.size(); first += kWindow)
    resolve_entries(order, entries.subspan(first, std::min(kWindow, entries.size() - first)));
  const auto index = static_cast<uint32_t>(h_.known_orders_.size() - 1);
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].txn.empty()) continue;
    order.txns.resize(entries.size(), kNone);
    order.txns[i] = stated_name(entries[i].txn);
    if (entries[i].final || entries[i].value.is_null())
      unsettled_.push_back({index, i, entries[i].final});
  }
}

// The versions of a few entries, so that the cache misses overlap.
void HistoryBuilder::resolve_entries(KnownOrder& order, std::span<const StatedVersion> entries) {
  uint64_t hashes[kWindow];
  const auto value = [&](size_t i) {
    return entries[i].final ? ValueView::null() : entries[i].value;
  };
  for (size_t i = 0; i < entries.size(); ++i) {
    hashes[i] = internal::hash_version(order.key, value(i));
    h_.versions_.prefetch(hashes[i]);
    if (!entries[i].txn.empty())
      stated_names_.prefetch(internal::hash_value(ValueView::of(entries[i].txn)));
  }
  for (size_t i = 0; i < entries.size(); ++i) h_.versions_.prefetch_entry(hashes[i]);
  for (size_t i = 0; i < entries.size(); ++i)
    order.versions.push_back(h_.versions_.intern(order.key, value(i), hashes[i]));
}

uint32_t HistoryBuilder::stated_name(std::string_view name) {
  const ValueView v = ValueView::of(name);
  return stated_names_.intern(v, internal::hash_value(v));
}

// Of operations whose first is `first_op`.
void HistoryBuilder::store_sources(std::span<const RawOp> ops, const TxnBatch& batch,
                                   size_t first_op) {
  const bool stated =
      std::any_of(ops.begin(), ops.end(), [](const RawOp& op) { return op.has_source(); });
  if (!stated && h_.op_source_.empty()) return;
  h_.op_source_.resize(first_op + ops.size(), kNone);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].has_source()) continue;
    const ValueView& source = batch.extra_[ops[i].first_extra];
    h_.op_source_[first_op + i] = source.is_null() ? kInitialTxn : stated_name(source.text);
  }
}

// Of operations whose first is `first_op`.
void HistoryBuilder::store_op_times(std::span<const RawOp> ops, size_t first_op) {
  const bool timed =
      std::any_of(ops.begin(), ops.end(), [](const RawOp& op) { return op.time.known(); });
  if (!timed && h_.op_time_.empty()) return;
  h_.op_time_.resize(first_op + ops.size());
  for (size_t i = 0; i < ops.size(); ++i) h_.op_time_[first_op + i] = ops[i].time;
}

// The transaction of each stated name; kNone where there is none.
Status HistoryBuilder::find_named_txns(std::vector<TxnId>& txns) {
  txns.assign(stated_names_.size(), kNone);
  std::string text;
  uint32_t begin = 0;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    const uint32_t end = h_.txns_[t].name_end;
    std::string_view name = std::string_view(h_.names_).substr(begin, end - begin);
    begin = end;
    if (name.empty()) name = text = h_.name(t);
    const uint32_t number = stated_name(name);
    if (number == txns.size()) txns.push_back(kNone);
    if (const TxnId other = std::exchange(txns[number], t); other != kNone)
      return bad_input("another transaction, of line " + std::to_string(h_.line(other)) +
                           ", is called " + std::string(name) +
                           " too; expected names that differ, as transactions are named by an "
                           "order of versions or the source of a read",
                       h_.line(t));
  }
  return Ok{};
}

// Puts transactions where their names are stated, and where only a deletion or the last version of one is stated, which
// version that is.
Status HistoryBuilder::resolve_names() {
  if (stated_names_.size() == 0) return Ok{};
  std::vector<TxnId> txns;
  if (Status s = find_named_txns(txns); !s.ok()) return s;
  for (size_t i = 0; i < h_.known_orders_.size(); ++i) {
    for (TxnId& t : h_.known_orders_[i].txns) {
      if (t == kNone) continue;
      if (txns[t] == kNone)
        return bad_input("the order names transaction " + stated_names_.view(t).to_string() +
                             ", which is not in the history",
                         order_lines_[i]);
      t = txns[t];
    }
  }
  for (const UnsettledEntry& unsettled : unsettled_) resolve_version(unsettled);
  return resolve_sources(txns);
}

Status HistoryBuilder::resolve_sources(std::span<const TxnId> txns) {
  for (OpId i = 0; i < h_.op_source_.size(); ++i) {
    TxnId& source = h_.op_source_[i];
    if (source == kNone || source == kInitialTxn) continue;
    if (txns[source] == kNone)
      return bad_input("a read is said to be from transaction " +
                           stated_names_.view(source).to_string() + ", which is not in the history",
                       h_.line(h_.txn_of(i)));
    source = txns[source];
  }
  return Ok{};
}

// One that its transaction did not install stays what is stated, (key, null) if that is no value.
void HistoryBuilder::resolve_version(const UnsettledEntry& unsettled) {
  KnownOrder& order = h_.known_orders_[unsettled.order];
  const TxnId t = order.txns[unsettled.entry];
  VersionId& version = order.versions[unsettled.entry];
  for (OpId i = h_.end_op(t); i-- > h_.first_op(t);) {
    const Operation op = h_.op(i);
    if (op.key != order.key || !installs_version(op)) continue;
    const bool deletes = op.kind == OpKind::remove || h_.version_value(op.version).is_null();
    if (!unsettled.final && !deletes) continue;
    version = op.version;
    return;
  }
}

void HistoryBuilder::event(int64_t at, std::string json, bool complete) {
  h_.events_.push_back({at, std::move(json), complete});
}

// Moves the operations of every transaction together again after pending lines were replaced.
void HistoryBuilder::drop_replaced_ops() {
  std::vector<OpKind> kind;
  std::vector<uint8_t> effect;
  std::vector<KeyId> key;
  std::vector<VersionId> version;
  std::vector<uint32_t> operands, sources;
  std::vector<Interval> times;
  for (History::Txn& txn : h_.txns_) {
    const OpId first = static_cast<OpId>(kind.size());
    for (OpId i = txn.first_op; i < txn.end_op; ++i) {
      kind.push_back(h_.op_kind_[i]);
      effect.push_back(h_.op_effect_[i]);
      key.push_back(h_.op_key_[i]);
      version.push_back(h_.op_version_[i]);
      if (!h_.op_operands_.empty()) operands.push_back(h_.op_operands_[i]);
      if (!h_.op_source_.empty()) sources.push_back(h_.op_source_[i]);
      if (!h_.op_time_.empty()) times.push_back(h_.op_time_[i]);
    }
    txn.first_op = first;
    txn.end_op = static_cast<OpId>(kind.size());
  }
  h_.op_kind_ = std::move(kind);
  h_.op_effect_ = std::move(effect);
  h_.op_key_ = std::move(key);
  h_.op_version_ = std::move(version);
  h_.op_operands_ = std::move(operands);
  h_.op_source_ = std::move(sources);
  h_.op_time_ = std::move(times);
}

// A read_list of no elements has the version (key, null) and no operands, as the read of null has.
void HistoryBuilder::turn_nulls_into_lists() {
  std::vector<uint8_t> list(h_.key_count()), reg(h_.key_count());
  const auto is_null_read = [&](OpId i) {
    return h_.op_kind_[i] == OpKind::read && h_.version_value(h_.op_version_[i]).is_null();
  };
  for (OpId i = 0; i < h_.op_count(); ++i) {
    const OpKind kind = h_.op_kind_[i];
    if (kind == OpKind::range || is_null_read(i)) continue;
    const bool of_list = kind == OpKind::append || kind == OpKind::read_list;
    (of_list ? list : reg)[h_.op_key_[i]] = 1;
  }
  for (OpId i = 0; i < h_.op_count(); ++i) {
    const KeyId key = h_.op_key_[i];
    if (is_null_read(i) && list[key] && !reg[key]) h_.op_kind_[i] = OpKind::read_list;
  }
}

// The events of a session happened one after the other, each within its interval: intervals may
// overlap as long as each event has a moment left that is not before those of the events before it.
// The earliest such moments are tried.
Status HistoryBuilder::validate_times(SessionId session) const {
  int64_t now = Interval::kUnknown;  // the earliest moment at which the events so far were over
  TxnId last = kNone;
  for (TxnId t : h_.session_txns_[session]) {
    const Interval begin = h_.begin_time(t);
    const Interval end = h_.end_time(t);
    const bool backwards = (begin.known() && begin.request > begin.response) ||
                           (end.known() && end.request > end.response) ||
                           (begin.known() && end.known() && begin.request > end.response);
    if (backwards) {
      return bad_input("transaction " + h_.name(t) + " ends before it begins", h_.line(t));
    }
    for (const bool ends : {false, true}) {
      const Interval& event = ends ? end : begin;
      if (!event.known()) continue;
      if (event.response < now) {
        return bad_input("transaction " + h_.name(t) + (ends ? " ends at " : " begins at ") +
                             std::to_string(event.response) + ", before transaction " +
                             h_.name(last) + " of the same session ended at " +
                             std::to_string(now) +
                             "; expected the times of a session not to run backwards",
                         h_.line(t));
      }
      now = std::max(now, event.request);
    }
    if (begin.known() || end.known()) last = t;
  }
  return Ok{};
}

// Of a least or greatest value that one version alone has, the version is known: the claim of the aggregate returns it.
void HistoryBuilder::include_least_rows() {
  const internal::Predicates& known = *h_.predicates_;
  if (known.aggregate_count() == 0) return;
  std::vector<bool> written(h_.version_count()), removed(h_.version_count());
  for (OpId i = 0; i < h_.op_count(); ++i)
    if (const Operation op = h_.op(i); installs_version(op) && op.kind != OpKind::remove)
      written[op.version] = true;
  for (KeyId k = 0; k < h_.key_count(); ++k)
    if (const VersionId own = h_.own_initial(k); own != kNone) written[own] = true;
  for (OpId i = 0; i < h_.op_count(); ++i)  // which would show as the row as well
    if (const Operation op = h_.op(i); op.kind == OpKind::remove) removed[op.version] = true;
  std::vector<VersionId> only(known.aggregate_count(), kNone);
  for (uint32_t a = 0; a < only.size(); ++a) only[a] = known.only_version(h_, a, written);
  for (VersionId& v : only)
    if (v != kNone && removed[v]) v = kNone;
  for (OpId i = 0; i < h_.op_count(); ++i) {
    if (h_.op_kind_[i] != OpKind::range) continue;
    const Selected selected = h_.selected(i);
    if (selected.aggregate == kNone || only[selected.aggregate] == kNone) continue;
    const std::span<const uint32_t> was = h_.operands(i);
    const uint32_t words[] = {
        internal::kRangeHead + 1, was[0], was[1], known.aggregate(selected.aggregate).including,
        selected.aggregate,       1,      0,      only[selected.aggregate]};
    h_.op_operands_[i] = static_cast<uint32_t>(h_.pool_.size());
    h_.pool_.insert(h_.pool_.end(), std::begin(words), std::end(words));
  }
}

Result<History> HistoryBuilder::finish() && {
  if (replaced_) {
    constexpr uint64_t kBytesOfOp = sizeof(OpKind) + 1 + sizeof(KeyId) + sizeof(VersionId);
    if (Status s = make_room(2 * kBytesOfOp * h_.op_count()); !s.ok()) return s.error();
    drop_replaced_ops();
  }
  if (null_is_empty_list_) turn_nulls_into_lists();
  if (Status s = check_initial(); !s.ok()) return s.error();
  if (Status named = resolve_names(); !named.ok()) return named.error();
  constexpr uint64_t kBytesOfSettled = 40;  // per byte of the event
  if (const uint64_t bytes = internal::settled_bytes(h_.events_); bytes > 0)
    if (Status s = make_room(kBytesOfSettled * bytes); !s.ok()) return s.error();
  const auto settled = internal::settled_transactions(h_, order_lines_);
  if (!settled.ok()) return settled.error();
  for (const TxnId t : *settled) h_.txns_[t].status = TxnStatus::aborted;
  for (auto* texts : {&h_.txn_meta_, &h_.txn_snapshot_})
    internal::stable_sort_by(*texts, [](const auto& text) { return text.first; });
  const size_t count = h_.txns_.size();
  if (!h_.begin_.empty()) {
    h_.begin_.resize(count);
    h_.end_.resize(count);
  }
  if (!h_.start_ts_.empty()) h_.start_ts_.resize(count, Interval::kUnknown);
  if (!h_.commit_ts_.empty()) h_.commit_ts_.resize(count, Interval::kUnknown);
  if (!h_.level_.empty()) h_.level_.resize(count);
  if (!h_.op_operands_.empty()) h_.op_operands_.resize(h_.op_count());
  if (!h_.begin_.empty()) {
    for (SessionId s = 0; s < h_.session_count(); ++s) {
      if (Status times = validate_times(s); !times.ok()) return times.error();
    }
  }
  if (h_.predicates_)
    if (Status s = h_.predicates_->index(h_, budget_); !s.ok()) return s.error();
  if (h_.predicates_) include_least_rows();
  h_.keys_.release_slots();
  h_.versions_.release_slots();
  h_.session_names_.release_slots();
  return std::move(h_);
}

}  // namespace assay
