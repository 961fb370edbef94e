#include "assay/history.h"

#include <algorithm>

#include "base/hash.h"
#include "base/huge_pages.h"
#include "history/level_name.h"
#include "history/predicates.h"
#include "history/range_operands.h"
#include "history/value_hash.h"

namespace assay {

std::string ValueView::to_string() const {
  switch (type) {
    case Type::null:
      return "null";
    case Type::integer:
      return std::to_string(integer);
    case Type::string:
    case Type::row:
      return std::string(text);
  }
  return {};
}

bool key_less(const ValueView& a, const ValueView& b) {
  if (a.type != b.type) return a.type < b.type;
  return a.has_text() ? a.text < b.text : a.integer < b.integer;
}

History::History() = default;
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

void History::keep_stated_orders(double share) {
  uint64_t entry = 0;
  const auto goes = [&] {
    // 53 bits: a double holds no more.
    return static_cast<double>(internal::mix64(++entry) >> 11) >= share * 0x1p53;
  };
  for (KnownOrder& order : known_orders_) {
    size_t kept = 0;
    for (size_t i = 0; i < order.versions.size(); ++i) {
      if (goes()) continue;
      order.versions[kept] = order.versions[i];
      if (!order.txns.empty()) order.txns[kept] = order.txns[i];
      ++kept;
    }
    order.versions.resize(kept);
    if (!order.txns.empty()) order.txns.resize(kept);
  }
  if (share < 1)  // the entries left out must not count as missing in the database
    for (Event& event : events_) event.complete = false;
}

std::string History::name(TxnId t) const {
  const uint32_t begin = t == 0 ? 0 : txns_[t - 1].name_end;
  const uint32_t end = txns_[t].name_end;
  if (begin != end) return names_.substr(begin, end - begin);
  return session_name(txns_[t].session).to_string() + "-" + std::to_string(txns_[t].position);
}

namespace {

// The last text of `t` in a list sorted by transaction.
std::string_view last_of(const std::vector<std::pair<TxnId, std::string>>& texts, TxnId t) {
  const auto next = std::upper_bound(texts.begin(), texts.end(), t,
                                     [](TxnId id, const auto& text) { return id < text.first; });
  if (next == texts.begin() || std::prev(next)->first != t) return {};
  return std::prev(next)->second;
}

}  // namespace

std::string_view History::meta(TxnId t) const { return last_of(txn_meta_, t); }
std::string_view History::snapshot(TxnId t) const { return last_of(txn_snapshot_, t); }

TxnId History::txn_of(OpId i) const {
  const auto it = std::partition_point(txns_.begin(), txns_.end(),
                                       [i](const Txn& txn) { return txn.end_op <= i; });
  return static_cast<TxnId>(it - txns_.begin());
}

std::span<const uint32_t> History::operands(OpId i) const {
  const uint32_t at = op_operands_[i];
  if (at == 0) return {};
  const uint32_t count = pool_[at];
  if (count < kOfLongest) return {&pool_[at] + 1, count};
  return std::span(longest_list_[op_key_[i]]).first(count - kOfLongest);
}

Selected History::selected(OpId range) const {
  const std::span<const uint32_t> all = operands(range);
  const uint32_t rows = all[4], passed = all[5];
  return {all[2],
          all.subspan(internal::kRangeHead, rows),
          all.subspan(internal::kRangeHead + rows, passed),
          all.subspan(internal::kRangeHead + rows + passed),
          op(range).effect,
          all[3]};
}

uint64_t History::stated_source_count() const {
  const std::vector<TxnId>& sources = op_source_.rows();
  return sources.size() - static_cast<uint64_t>(std::ranges::count(sources, kNone));
}

bool History::states_versions() const {
  return states_sources() ||
         std::any_of(known_orders_.begin(), known_orders_.end(),
                     [](const KnownOrder& order) { return !order.versions.empty(); });
}

uint64_t History::op_time_count() const {
  return static_cast<uint64_t>(std::ranges::count_if(op_time_.rows(), &Interval::known));
}

bool History::fully_timed() const {
  for (TxnId t = 0; t < txn_count(); ++t) {
    if (status(t) != TxnStatus::committed) continue;
    if (!begin_time(t).known() || !end_time(t).known()) return false;
  }
  return true;
}

namespace {

// Feeds words to a digest in blocks.
class WordDigest {
 public:
  void add(uint64_t word) {
    words_.push_back(word);
    if (words_.size() == kBlock) flush();
  }
  std::string hex() {
    flush();
    return digest_.hex();
  }

 private:
  static constexpr size_t kBlock = 4096;
  void flush() {
    digest_.add(words_.data(), words_.size() * sizeof(uint64_t));
    words_.clear();
  }
  internal::Digest digest_;
  std::vector<uint64_t> words_;
};

uint64_t hash_typed(const ValueView& v) {
  return internal::hash_value(v) + static_cast<uint64_t>(v.type);
}

}  // namespace

int64_t History::orders_complete_to() const {
  int64_t latest = Interval::kUnknown;  // less than every time
  for (const Event& event : events_)
    if (event.complete) latest = std::max(latest, event.at);
  return latest;
}

std::string History::content_hash() const {
  std::vector<uint64_t> key_hash(key_count());
  for (KeyId k = 0; k < key_count(); ++k) key_hash[k] = hash_typed(key(k));
  std::vector<uint64_t> version_hash(version_count());
  for (VersionId v = 0; v < version_count(); ++v) {
    version_hash[v] = internal::mix64(key_hash[version_key(v)] ^ hash_typed(version_value(v)));
  }
  const auto version_word = [&](uint32_t v) { return v == kNone ? 0 : version_hash[v]; };
  const auto key_word = [&](uint32_t k) { return k == kNone ? 0 : key_hash[k]; };

  const auto add_range = [&](OpId i, WordDigest& out) {
    const Selected selected = this->selected(i);
    out.add(2 + selected.rows.size() + selected.passed.size() + selected.matched.size());
    for (const KeyId bound : operands(i).first(2)) out.add(key_word(bound));
    for (const VersionId v : selected.rows) out.add(version_word(v));
    if (selected.predicate == kNone) return;
    out.add(internal::hash_bytes(predicates().text(selected.predicate)));
    if (selected.aggregate != kNone)
      out.add(internal::hash_bytes(predicates().aggregate_text(selected.aggregate)));
    for (const VersionId v : selected.passed) out.add(version_word(v));
    for (const KeyId k : selected.matched) out.add(key_word(k));
  };
  WordDigest out;
  out.add(hash_typed(initial()));
  if (has_own_initial()) {
    std::vector<KeyId> keys;
    for (KeyId k = 0; k < key_count(); ++k)
      if (own_initial(k) != kNone) keys.push_back(k);
    std::sort(keys.begin(), keys.end(),
              [this](KeyId a, KeyId b) { return key_less(key(a), key(b)); });
    out.add(keys.size());
    for (const KeyId k : keys) out.add(version_word(own_initial(k)));
  }
  out.add(txn_count());
  for (TxnId t = 0; t < txn_count(); ++t) {
    out.add(hash_typed(session_name(session(t))));
    out.add(static_cast<uint64_t>(status(t)));
    for (const Interval time : {begin_time(t), end_time(t)}) {
      out.add(static_cast<uint64_t>(time.request));
      out.add(static_cast<uint64_t>(time.response));
    }
    if (const auto level = declared_level(t)) out.add(internal::hashed_as(*level));
    out.add(end_op(t) - first_op(t));
    for (OpId i = first_op(t); i < end_op(t); ++i) {
      const Operation o = op(i);
      out.add(static_cast<uint64_t>(o.kind) << 1 | static_cast<uint64_t>(o.effect));
      out.add(o.kind == OpKind::range ? key_word(o.key) : version_word(o.version));
      const std::span<const uint32_t> more = operands(i);
      if (o.kind == OpKind::range) {
        add_range(i, out);
      } else {
        if (o.kind == OpKind::read_list) out.add(more.size());
        for (const VersionId v : more) out.add(version_word(v));
      }
      if (const TxnId source = stated_source(i); source != kNone) out.add(uint64_t{source} + 1);
    }
  }
  for (const KnownOrder& order : known_orders_) {
    out.add(key_word(order.key));
    for (VersionId v : order.versions) out.add(version_word(v));
    for (TxnId t : order.txns) out.add(t == kNone ? 0 : uint64_t{t} + 1);
  }
  if (const int64_t to = orders_complete_to(); to != Interval::kUnknown)
    out.add(static_cast<uint64_t>(to));
  return out.hex();
}

uint64_t History::bytes_to_grow(size_t txns, size_t names, size_t ops, size_t operands) const {
  using internal::growth_bytes;
  const auto of_all = [](size_t more, const auto&... columns) {
    return (growth_bytes(columns, more) + ...);
  };
  const auto of_rare = [](size_t more, const auto&... columns) {
    return ((columns.empty() ? 0 : growth_bytes(columns.rows(), more)) + ...);
  };
  return of_all(ops, op_kind_, op_effect_, op_key_, op_version_) + of_all(txns, txns_) +
         of_all(names, names_) + of_all(ops + operands + internal::kRangeHead * ops, pool_) +
         of_rare(ops, op_operands_, op_source_, op_time_) +
         of_rare(txns, begin_, end_, start_ts_, commit_ts_, level_);
}

uint64_t History::memory_bytes() const {
  uint64_t bytes = keys_.memory_bytes() + versions_.memory_bytes() + session_names_.memory_bytes();
  for (const auto& txns : session_txns_) bytes += txns.capacity() * sizeof(TxnId);
  bytes += txns_.capacity() * sizeof(Txn);
  const auto of_rare = [](const auto&... columns) {
    return ((columns.rows().capacity() * sizeof(columns[0])) + ...);
  };
  bytes += of_rare(begin_, end_, start_ts_, commit_ts_, level_, op_operands_, op_source_, op_time_);
  bytes += names_.capacity();
  for (const KnownOrder& order : known_orders_)
    bytes += sizeof order + order.versions.capacity() * 4 + order.txns.capacity() * 4;
  for (const auto& elements : longest_list_)
    bytes += sizeof(std::vector<VersionId>) + elements.capacity() * 4;
  bytes += op_kind_.capacity() + op_effect_.capacity() + op_key_.capacity() * 4;
  return bytes + op_version_.capacity() * 4 + pool_.capacity() * 4;
}

}  // namespace assay
