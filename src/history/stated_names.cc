// Transactions by their names, and the versions that orders state through them.
//
//   order x: 1 null@s2-1     x = 1, and then what s2-1 left when it deleted x
//
// An order may come before the transactions that it names, so names are numbered, and looked up
// once the history is complete. A deletion has no value, and the last version of a transaction need
// not be given: the transaction's operations determine it. A version that the transaction did not
// install is kept as stated, or as (key, null) if the statement has no value.
//
// Cost: linear in the entries, and in the names of all transactions if any name is stated.

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "assay/history.h"
#include "history/accesses.h"

namespace assay {
namespace {

constexpr uint32_t kAtOnce = 256;     // values that are looked up together
constexpr size_t kMostSearched = 64;  // entries of one transaction, searched one by one

// The last version of each key that a transaction installed.
class LastVersions {
 public:
  LastVersions(const History& h, TxnId t) : txn_(t) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!installs_version(h.op(i))) continue;
      const internal::KeyState left = internal::install_of(h, i).state();
      Of& of = of_[h.op(i).key];
      of.version = left.version;
      if (internal::is_absent(h, left)) of.deletion = left.version;
    }
  }
  TxnId txn() const { return txn_; }
  // The last version of the key or, unless `any`, its last deletion; kNone if there is none.
  VersionId of(KeyId key, bool any) const {
    const auto at = of_.find(key);
    return at == of_.end() ? kNone : any ? at->second.version : at->second.deletion;
  }

 private:
  struct Of {
    VersionId version = kNone, deletion = kNone;
  };
  TxnId txn_;
  std::unordered_map<KeyId, Of> of_;
};

}  // namespace

uint32_t HistoryBuilder::StatedNames::number(std::string_view name) {
  return names_.intern(ValueView::of(name));
}

void HistoryBuilder::StatedNames::add_order(History& h, KnownOrder order,
                                            std::span<const StatedVersion> entries, uint64_t line) {
  const auto index = static_cast<uint32_t>(h.known_orders_.size());
  order.versions.reserve(entries.size());
  std::vector<ValueView> values;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const StatedVersion& entry = entries[i];
    values.push_back(entry.final ? ValueView::null() : entry.value);
    if (i % kAtOnce == kAtOnce - 1 || i + 1 == entries.size()) {
      h.versions_.intern(order.key, values, order.versions);
      values.clear();
    }
    if (entry.txn.empty()) continue;
    order.txns.resize(entries.size(), kNone);
    order.txns[i] = number(entry.txn);
    if (entry.final || entry.value.is_null()) unresolved_.push_back({index, i, entry.final});
  }
  h.known_orders_.push_back(std::move(order));
  order_lines_.push_back(static_cast<uint32_t>(line));
}

// Finds the transaction of each name; kNone if there is none.
Status HistoryBuilder::StatedNames::find_txns(const History& h, std::vector<TxnId>& txns) {
  txns.assign(names_.size(), kNone);
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const std::string name = h.name(t);
    const uint32_t found = number(name);
    if (found == txns.size()) txns.push_back(kNone);
    if (const TxnId other = std::exchange(txns[found], t); other != kNone)
      return bad_input("another transaction, of line " + std::to_string(h.line(other)) +
                           ", is called " + name +
                           " too; expected unique names, because a version order or the source of "
                           "a read uses names",
                       h.line(t));
  }
  return Ok{};
}

Status HistoryBuilder::StatedNames::resolve(History& h) {
  if (names_.size() == 0) return Ok{};
  std::vector<TxnId> txns;
  if (Status s = find_txns(h, txns); !s.ok()) return s;
  for (size_t i = 0; i < h.known_orders_.size(); ++i)
    for (TxnId& t : h.known_orders_[i].txns) {
      if (t == kNone) continue;
      if (txns[t] == kNone)
        return bad_input("the order names transaction " + names_.view(t).to_string() +
                             ", which is not in the history",
                         order_lines_[i]);
      t = txns[t];
    }
  std::ranges::stable_sort(unresolved_, {}, [&](const Unresolved& entry) {
    return h.known_orders_[entry.order].txns[entry.entry];
  });
  std::optional<LastVersions> last;  // of the last transaction that has many entries
  for (size_t i = 0; i < unresolved_.size(); ++i) {
    const Unresolved& entry = unresolved_[i];
    KnownOrder& order = h.known_orders_[entry.order];
    const TxnId t = order.txns[entry.entry];
    const size_t later = i + kMostSearched;
    const bool many = later < unresolved_.size() &&
                      h.known_orders_[unresolved_[later].order].txns[unresolved_[later].entry] == t;
    if (many && (!last || last->txn() != t)) last.emplace(h, t);
    if (!last || last->txn() != t)
      resolve(entry, h);
    else if (const VersionId v = last->of(order.key, entry.final); v != kNone)
      order.versions[entry.entry] = v;
  }
  for (OpId i = 0; i < h.op_source_.rows().size(); ++i) {
    const TxnId source = h.op_source_[i];
    if (source == kNone || source == kInitialTxn) continue;
    if (txns[source] == kNone)
      return bad_input("a read is stated to be from transaction " +
                           names_.view(source).to_string() + ", which is not in the history",
                       h.line(h.txn_of(i)));
    h.op_source_.set(i, txns[source]);
  }
  return Ok{};
}

void HistoryBuilder::StatedNames::resolve(const Unresolved& entry, History& h) {
  KnownOrder& order = h.known_orders_[entry.order];
  const TxnId t = order.txns[entry.entry];
  for (OpId i = h.end_op(t); i-- > h.first_op(t);) {
    if (h.op(i).key != order.key || !installs_version(h.op(i))) continue;
    const internal::KeyState left = internal::install_of(h, i).state();
    if (!entry.final && !internal::is_absent(h, left)) continue;
    order.versions[entry.entry] = left.version;
    return;
  }
}

}  // namespace assay
