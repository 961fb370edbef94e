#include <algorithm>
#include <utility>

#include "assay/history.h"
#include "base/huge_pages.h"
#include "base/invariants.h"
#include "base/sort_by.h"
#include "history/accesses.h"
#include "history/passed_rows.h"
#include "history/predicates.h"
#include "history/range_operands.h"
#include "history/settled.h"
#include "history/well_formed.h"

namespace assay {
namespace {

// Growth by less is not checked: the reader asks the budget for every chunk of input.
constexpr uint64_t kLargeBytes = uint64_t{1} << 20;

// The number of operations whose look-ups are overlapped by prefetching.
constexpr size_t kWindow = 64;

}  // namespace

HistoryBuilder::HistoryBuilder() = default;
HistoryBuilder::HistoryBuilder(HistoryBuilder&&) noexcept = default;
HistoryBuilder& HistoryBuilder::operator=(HistoryBuilder&&) noexcept = default;
HistoryBuilder::~HistoryBuilder() = default;

KeyId HistoryBuilder::key_id(const ValueView& v) { return h_.keys_.intern(v); }

VersionId HistoryBuilder::version_id(KeyId key, const ValueView& v) {
  return h_.versions_.intern(key, v);
}

// Returns the transaction of the header: the pending one that this line completes, or a new one.
TxnId HistoryBuilder::place_txn(const TxnHeader& header) {
  const SessionId session = h_.session_names_.intern(header.session);
  if (session == h_.session_txns_.size()) {
    h_.session_txns_.emplace_back();
    pending_.emplace_back();
  }
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

void HistoryBuilder::store_header(TxnId t, const TxnHeader& header) {
  h_.txns_[t].status = header.pending ? TxnStatus::unknown : header.status;
  h_.txns_[t].line = static_cast<uint32_t>(header.line);
  h_.begin_.set(t, header.begin);
  h_.end_.set(t, header.end);
  h_.start_ts_.set(t, header.start_ts);
  h_.commit_ts_.set(t, header.commit_ts);
  h_.level_.set(t, header.level);
  if (!header.snapshot.empty()) h_.txn_snapshot_.emplace_back(t, std::string(header.snapshot));
  if (!header.meta.empty()) h_.txn_meta_.emplace_back(t, std::string(header.meta));
}

// The bytes that adding the batch touches at most, if arrays have to grow.
uint64_t HistoryBuilder::bytes_to_grow(const TxnBatch& batch) const {
  const size_t values = batch.ops_.size() + batch.extra_.size();
  size_t text = batch.text_bytes_, names = 0;
  for (const ValueView& v : batch.extra_) text += v.text.size();
  for (const RawTxn& txn : batch.txns_) names += txn.header.name.size();
  return h_.keys_.bytes_to_grow(values, text) + h_.versions_.bytes_to_grow(values, text) +
         h_.bytes_to_grow(batch.txns_.size(), names, batch.ops_.size(), batch.extra_.size());
}

Status HistoryBuilder::make_room(uint64_t bytes) const {
  if (budget_ == nullptr || bytes < kLargeBytes || budget_->has_room(bytes)) return Ok{};
  return Error{ErrorKind::budget, budget_->reason().detail + " while reading", {}, 0, 0};
}

Status HistoryBuilder::check_limits(const TxnBatch& batch) const {
  uint64_t txns = h_.txns_.size(), names = h_.names_.size(), ops = h_.op_kind_.size();
  const bool all_fit = ops + batch.ops_.size() + batch.extra_.size() <= kMaxOps;
  for (const RawTxn& txn : batch.txns_) {
    const TxnHeader& header = txn.header;
    if (txns++ >= kMaxOps)
      return bad_input("more transactions than the supported 4 billion", header.line);
    if ((names += header.name.size()) >= kNone)
      return bad_input("names of transactions exceed 4 GiB", header.line);
    if (all_fit) continue;
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
  predicates_ = h_.predicates_;  // batches number their predicates directly in the history
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
    known_order(
        order.key,
        std::span(batch.entries_).subspan(order.first_entry, order.end_entry - order.first_entry),
        order.line);
  }
  add_txns(batch, first, batch.txns_.size());
  for (const RawInitial& initial : batch.initial_) store_initial(initial);
  h_.events_.insert(h_.events_.end(), batch.events_.begin(), batch.events_.end());
  if constexpr (internal::kInvariantsChecked) check_invariants();
  return Ok{};
}

void HistoryBuilder::check_invariants() const {
  using internal::check_invariant;
  const size_t ops = h_.op_kind_.size();
  if (ops + h_.txns_.size() + h_.version_count() > internal::kMostChecked) return;
  check_invariant(h_.op_key_.size() == ops && h_.op_version_.size() == ops &&
                      h_.op_effect_.size() == ops && h_.op_operands_.rows().size() <= ops &&
                      h_.op_source_.rows().size() <= ops && h_.op_time_.rows().size() <= ops,
                  "columns of operations are equally long");
  std::vector<uint8_t> taken(ops, 0);
  size_t in_sessions = 0, name_end = 0;
  for (const std::vector<TxnId>& session : h_.session_txns_) in_sessions += session.size();
  check_invariant(in_sessions == h_.txns_.size(), "each transaction is in a session");
  for (TxnId t = 0; t < h_.txns_.size(); ++t) {
    const History::Txn& txn = h_.txns_[t];
    check_invariant(txn.session < h_.session_txns_.size() &&
                        txn.position < h_.session_txns_[txn.session].size() &&
                        h_.session_txns_[txn.session][txn.position] == t,
                    "a transaction has its place in its session");
    check_invariant(name_end <= txn.name_end && txn.name_end <= h_.names_.size(),
                    "names of transactions follow each other");
    name_end = txn.name_end;
    check_invariant(txn.first_op <= txn.end_op && txn.end_op <= ops, "operations exist");
    for (OpId i = txn.first_op; i < txn.end_op; ++i)
      check_invariant(taken[i]++ == 0, "operations of transactions do not overlap");
  }
  for (OpId i = 0; i < ops; ++i) {
    const VersionId version = h_.op_version_[i];
    check_invariant(h_.op_key_[i] == kNone || h_.op_key_[i] < h_.key_count(), "keys exist");
    check_invariant(version == kNone ||
                        (version < h_.version_count() && h_.version_key(version) == h_.op_key_[i]),
                    "an operation has a version of its key");
    check_invariant(h_.op_operands_[i] == 0 || h_.op_operands_[i] < h_.pool_.size(),
                    "operands are in the pool");
    for (const uint32_t operand : h_.operands(i))
      check_invariant(h_.op_kind_[i] == OpKind::range || operand < h_.version_count(),
                      "operands are versions");
  }
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

// Adds the transactions of the batch from `first` to `end`. Operations are looked up in windows
// that reach across the borders of transactions.
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
    h_.txns_[t].first_op = static_cast<OpId>(base + (raw.first_op - first_op));
    h_.txns_[t].end_op = static_cast<OpId>(base + (raw.end_op - first_op));
    store_header(t, raw.header);
  }
  for (size_t i = 0; batch.has_rare_ && i < ops.size(); ++i) {
    h_.op_time_.set(base + i, ops[i].time);
    if (!ops[i].has_source()) continue;
    const ValueView& source = batch.extra_[ops[i].first_extra];
    h_.op_source_.set(base + i, source.is_null() ? kInitialTxn : names_.number(source.text));
  }
}

// Four passes over a few operations: the cache misses of a pass overlap.
void HistoryBuilder::resolve_window(std::span<const RawOp> ops, const TxnBatch& batch) {
  using internal::lengthen;
  const size_t base = h_.op_key_.size();
  lengthen(h_.op_kind_, ops.size());
  lengthen(h_.op_effect_, ops.size());
  lengthen(h_.op_key_, ops.size());
  lengthen(h_.op_version_, ops.size());
  KeyId* const keys = &h_.op_key_[base];
  VersionId* const versions = &h_.op_version_[base];
  uint64_t hashes[kWindow];
  for (size_t i = 0; i < ops.size(); ++i) hashes[i] = h_.keys_.prefetch(ops[i].key);
  for (size_t i = 0; i < ops.size(); ++i) {
    const RawOp& op = ops[i];
    keys[i] = op.key.is_null() ? kNone : h_.keys_.intern(op.key, hashes[i]);
    if (op.kind != OpKind::range) hashes[i] = h_.versions_.prefetch(keys[i], op.value);
  }
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].kind != OpKind::range)
      hashes[i] = h_.versions_.prefetch_entry(keys[i], ops[i].value, hashes[i]);
  for (size_t i = 0; i < ops.size(); ++i) {
    const RawOp& op = ops[i];
    const bool tombstone = op.kind == OpKind::remove && h_.absent_is_never_written_;
    h_.op_kind_[base + i] = tombstone ? OpKind::write : op.kind;
    h_.op_effect_[base + i] = uint8_t{op.effect};
    versions[i] =
        op.kind == OpKind::range ? kNone : h_.versions_.intern(keys[i], op.value, hashes[i]);
    if (op.kind == OpKind::read_list || op.kind == OpKind::range || op.kind == OpKind::cas)
      resolve_operands(op, batch, base + i);
  }
}

void HistoryBuilder::resolve_operands(const RawOp& op, const TxnBatch& batch, size_t index) {
  auto& pool = h_.pool_;
  if (pool.empty()) pool.push_back(0);  // index 0 means none
  h_.op_operands_.set(index, static_cast<uint32_t>(pool.size()));
  const KeyId key = h_.op_key_[index];
  const ValueView* extra = batch.extra_.data() + op.first_extra;
  const size_t count_at = pool.size();
  pool.push_back(0);
  if (op.kind == OpKind::range) {
    pool.push_back(key);
    pool.push_back(op.value.is_null() ? kNone : key_id(op.value));
    const auto here = [](const std::vector<uint32_t>& numbers, uint32_t theirs) {
      return theirs == kNone || numbers.empty() ? theirs : numbers[theirs];
    };
    const RawQuery& query = batch.queries_[op.query];
    for (const uint32_t word : {here(predicate_of_, query.predicate),
                                here(aggregate_of_, query.aggregate), query.rows, query.passed})
      pool.push_back(word);
    const ValueView* end = extra + op.extra_count;
    for (const ValueView* matched = extra + 2 * (query.rows + query.passed); extra < matched;
         extra += 2)
      pool.push_back(version_id(key_id(extra[0]), extra[1]));
    for (; extra < end; ++extra) pool.push_back(key_id(*extra));
  } else if (op.kind == OpKind::read_list &&
             resolve_list(key, {extra, op.extra_count}, batch.ends_with_own(op))) {
    pool[count_at] = static_cast<uint32_t>(op.extra_count) + History::kOfLongest;
    return;
  } else {
    h_.versions_.intern(key, {extra, op.extra_count}, pool);
  }
  pool[count_at] = static_cast<uint32_t>(pool.size() - count_at - 1);
}

// Most lists that are read are the beginning of the longest that was read of the key, or continue
// it: they need no stored elements of their own. Returns false if this list differs.
bool HistoryBuilder::resolve_list(KeyId key, std::span<const ValueView> elements,
                                  bool ends_with_own) {
  if (elements.empty()) return false;
  if (h_.longest_list_.size() <= key) h_.longest_list_.resize(key + 1);
  std::vector<VersionId>& longest = h_.longest_list_[key];
  if (ends_with_own && elements.size() > longest.size()) return false;
  const size_t known = std::min(elements.size(), longest.size());
  for (size_t i = 0; i < known; ++i)
    if (!(h_.versions_.value(longest[i]) == elements[i])) return false;
  h_.versions_.intern(key, elements.subspan(known), longest);
  return true;
}

void HistoryBuilder::known_order(ValueView key, std::span<const ValueView> values) {
  std::vector<StatedVersion> entries;
  entries.reserve(values.size());
  for (const ValueView& v : values) entries.push_back({v});
  known_order(key, entries);
}

void HistoryBuilder::known_order(ValueView key, std::span<const StatedVersion> entries,
                                 uint64_t line) {
  names_.add_order(h_, {key_id(key), {}, {}}, entries, line);
}

void HistoryBuilder::store_initial(const RawInitial& initial) {
  const KeyId key = key_id(initial.key);
  if (!h_.versions_.set_own_initial(version_id(key, initial.value)) && !initial_fault_)
    initial_fault_ = bad_input("key " + initial.key.to_string() +
                                   " already has another initial value; expected one per key",
                               initial.line);
}

void HistoryBuilder::event(int64_t at, std::string json, bool complete) {
  h_.events_.push_back({at, std::move(json), complete});
}

// Makes the operations of every transaction adjacent again after pending lines were replaced.
void HistoryBuilder::drop_replaced_ops() {
  std::vector<OpId> staying;
  staying.reserve(h_.op_count());
  for (History::Txn& txn : h_.txns_) {
    const OpId first = static_cast<OpId>(staying.size());
    for (OpId i = txn.first_op; i < txn.end_op; ++i) staying.push_back(i);
    txn.first_op = first;
    txn.end_op = static_cast<OpId>(staying.size());
  }
  const auto move_together = [&](auto& column) {
    std::remove_reference_t<decltype(column)> moved;
    moved.reserve(staying.size());
    for (const OpId i : staying) moved.push_back(column[i]);
    column = std::move(moved);
  };
  move_together(h_.op_kind_);
  move_together(h_.op_effect_);
  move_together(h_.op_key_);
  move_together(h_.op_version_);
  h_.op_operands_.keep(staying);
  h_.op_source_.keep(staying);
  h_.op_time_.keep(staying);
}

// A read_list of no elements has the version (key, null) and no operands, just as the read of null
// has.
void HistoryBuilder::turn_nulls_into_lists() {
  std::vector<uint8_t> list(h_.key_count()), reg(h_.key_count());
  const auto is_null_read = [&](OpId i) {
    return h_.op_kind_[i] == OpKind::read && h_.version_value(h_.op_version_[i]).is_null();
  };
  for (OpId i = 0; i < h_.op_count(); ++i) {
    const Operation op = h_.op(i);
    if (internal::is_range(op) || is_null_read(i)) continue;
    (internal::is_list_operation(op) ? list : reg)[op.key] = 1;
  }
  for (OpId i = 0; i < h_.op_count(); ++i) {
    const KeyId key = h_.op_key_[i];
    if (is_null_read(i) && list[key] && !reg[key]) h_.op_kind_[i] = OpKind::read_list;
  }
}

// If only one version has the least or greatest value that an aggregate returned, that version is
// known: the aggregate's claim returns it.
void HistoryBuilder::include_least_rows() {
  const internal::Predicates& known = *h_.predicates_;
  const std::vector<VersionId> only = known.only_versions(h_);
  for (OpId i = 0; i < h_.op_count(); ++i) {
    if (h_.op_kind_[i] != OpKind::range) continue;
    const Selected selected = h_.selected(i);
    if (selected.aggregate == kNone || only[selected.aggregate] == kNone) continue;
    const std::span<const uint32_t> was = h_.operands(i);
    const uint32_t words[] = {
        internal::kRangeHead + 1, was[0], was[1], known.aggregate(selected.aggregate).including,
        selected.aggregate,       1,      0,      only[selected.aggregate]};
    h_.op_operands_.set(i, static_cast<uint32_t>(h_.pool_.size()));
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
  if (initial_fault_) return *initial_fault_;
  if (Status s = internal::lists_begin_empty(h_); !s.ok()) return s.error();
  if (Status named = names_.resolve(h_); !named.ok()) return named.error();
  internal::PassedRows passed(h_);
  const uint64_t bytes = internal::settled_bytes(h_.events_) + passed.bytes();
  if (Status s = make_room(bytes); !s.ok()) return s.error();
  const auto settled = internal::settled_transactions(h_, names_.order_lines());
  if (!settled.ok()) return settled.error();
  for (const TxnId t : *settled) h_.txns_[t].status = TxnStatus::aborted;
  if (Status s = passed.add(); !s.ok()) return s.error();
  for (auto* texts : {&h_.txn_meta_, &h_.txn_snapshot_})
    internal::stable_sort_by(*texts, [](const auto& text) { return text.first; });
  if (Status s = internal::sessions_run_forwards(h_); !s.ok()) return s.error();
  if (h_.predicates_)
    if (Status s = h_.predicates_->index(h_, budget_); !s.ok()) return s.error();
  if (h_.predicates_) include_least_rows();
  if constexpr (internal::kInvariantsChecked) check_invariants();
  for (auto* values : {&h_.keys_, &h_.session_names_}) values->release_slots();
  h_.versions_.release_slots();
  return std::move(h_);
}

}  // namespace assay
