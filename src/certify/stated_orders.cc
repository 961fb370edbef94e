#include "certify/stated_orders.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "certify/operations.h"

namespace assay::internal::certify {
namespace {

class Reading {
 public:
  explicit Reading(const Writes& writes)
      : writes_(writes),
        h_(writes.history()),
        listed_(h_.op_count()),
        value_listed_(h_.version_count()),
        deletion_listed_(h_.key_count()) {}

  void run() {
    named_.reserve(entries());
    for (const KnownOrder& line : h_.known_orders()) {
      for (size_t i = 0; i < line.versions.size(); ++i) add(line, i);
      begin_.push_back(named_.size());
    }
    if (named_again_) drop_opposites();
    if (const int64_t end = h_.orders_complete_to(); end != Interval::kUnknown)
      look_for_lost_commits(end);
  }

  std::vector<size_t> take_begins() { return std::move(begin_); }
  std::vector<TxnId> take_named() { return std::move(named_); }
  std::string take_contradiction() { return std::move(contradiction_); }

 private:
  size_t entries() const {
    size_t count = 0;
    for (const KnownOrder& line : h_.known_orders()) count += line.versions.size();
    return count;
  }

  void add(const KnownOrder& line, size_t place) {
    const TxnId txn = line.txn(place);
    const VersionId version = line.versions[place];
    if (txn == kNone) {
      value_listed_[version] = true;
      if (h_.version_value(version).is_null()) deletion_listed_[line.key] = true;
    }
    const TxnId meant = txn == kNone ? by_value(line.key, place, version) : txn;
    const Writes::Made made = meant == kNone ? Writes::Made() : writes_.made_by(meant, version);
    if (txn != kNone && made.count == 0)
      contradict("a stated order names {} of transaction {}, which cannot have installed it there",
                 h_.version_value(version).to_string(), h_.name(txn));
    named_.push_back(made.count == 0 ? kNone : meant);
    if (made.count == 0) return;
    named_again_ = named_again_ || (made.count == 1 && listed_[made.first]);
    listed_[made.first] = true;
  }

  TxnId by_value(KeyId key, size_t place, VersionId version) {
    if (place == 0 && h_.is_initial(version)) return kNone;
    const bool null = h_.version_value(version).is_null();
    if (null && !writes_.emptying(key, Which::counting).empty()) return kNone;
    if (writes_.of_version(version, Which::counting).empty())
      contradict("the stated order of {} names {}, which no transaction installed there",
                 h_.key(key).to_string(), h_.version_value(version).to_string());
    return writes_.only_author(version);
  }

  template <class... Args>
  void contradict(fmt::format_string<Args...> format, Args&&... args) {
    if (contradiction_.empty()) contradiction_ = fmt::format(format, std::forward<Args>(args)...);
  }

  std::span<TxnId> line(size_t i) {
    return std::span(named_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }

  // Calls f(from, to) for each operation and the next one that the same line names.
  template <class F>
  void each_arc(F f) {
    for (size_t i = 0; i + 1 < begin_.size(); ++i) {
      OpId before = kNone;
      for (size_t k = 0; k < line(i).size(); ++k) {
        if (line(i)[k] == kNone) continue;
        const Writes::Made made = writes_.made_by(line(i)[k], h_.known_orders()[i].versions[k]);
        if (made.count > 1) continue;
        if (before != kNone) f(before, made.first);
        before = made.first;
      }
    }
  }

  void drop_opposites() {
    const std::vector<bool> opposite = keys_with_opposites();
    for (KeyId key = 0; key < h_.key_count(); ++key)
      if (opposite[key])
        contradict("the stated orders of {} put two versions in opposite orders",
                   h_.key(key).to_string());
    for (size_t i = 0; i + 1 < begin_.size(); ++i)
      if (opposite[h_.known_orders()[i].key])
        for (TxnId& t : line(i)) t = kNone;
  }

  std::vector<bool> keys_with_opposites() {
    std::vector<uint32_t> preceded(h_.op_count());  // number of arcs that lead to it
    std::vector<size_t> end(h_.op_count() + 1);     // end of its arcs in `after`
    each_arc([&](OpId from, OpId to) {
      ++preceded[to];
      ++end[from + 1];
    });
    for (OpId i = 0; i < h_.op_count(); ++i) end[i + 1] += end[i];
    std::vector<OpId> after(end.back());
    each_arc([&](OpId from, OpId to) { after[end[from]++] = to; });
    std::vector<OpId> first;
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (preceded[i] == 0) first.push_back(i);
    for (size_t taken = 0; taken < first.size(); ++taken) {
      const OpId from = first[taken];
      for (size_t k = from == 0 ? 0 : end[from - 1]; k < end[from]; ++k)
        if (--preceded[after[k]] == 0) first.push_back(after[k]);
    }
    std::vector<bool> keys(h_.key_count());
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (preceded[i] > 0) keys[h_.op(i).key] = true;
    return keys;
  }

  // A transaction leaves behind its last write of a key, and every element that it appends to a
  // list.
  void look_for_lost_commits(int64_t complete_to) {
    for (TxnId t = 0; t < h_.txn_count() && contradiction_.empty(); ++t) {
      const Interval end = h_.end_time(t);
      if (h_.status(t) != TxnStatus::committed || !end.known() || end.response > complete_to)
        continue;
      for (const Access& a : accesses(h_, t)) {
        const bool stays = a.appends() || (a.writes() && writes_.left_by(t, a.key)->op == a.op);
        if (stays && !is_listed(t, a))
          contradict("lost-commit: the complete orders lack {} of transaction {}",
                     h_.version_value(a.version).to_string(), h_.name(t));
      }
    }
  }

  bool is_listed(TxnId t, const Access& write) const {
    if (value_listed_[write.version]) return true;
    if (write.removes() && deletion_listed_[write.key]) return true;
    return listed_[writes_.made_by(t, write.version).first];
  }

  const Writes& writes_;
  const History& h_;
  std::vector<size_t> begin_{0};       // indexed by line, and the end
  std::vector<TxnId> named_;           // of all lines together
  std::vector<bool> listed_;           // indexed by operation: whether an entry means it
  std::vector<bool> value_listed_;     // indexed by version: whether an entry without a transaction
                                       // has it
  std::vector<bool> deletion_listed_;  // indexed by key: whether it has a null entry without a
                                       // transaction
  bool named_again_ = false;           // whether an operation is meant twice
  std::string contradiction_;
};

}  // namespace

StatedOrders::StatedOrders(const Writes& writes) {
  const History& history = writes.history();
  if (history.known_orders().empty() && history.orders_complete_to() == Interval::kUnknown) return;
  Reading reading(writes);
  reading.run();
  named_ = reading.take_named();
  begin_ = reading.take_begins();
  contradiction_ = reading.take_contradiction();
}

}  // namespace assay::internal::certify
