#include "certify/stated_orders.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "certify/operations.h"

namespace assay::internal::certify {
namespace {

// What a transaction that may have taken effect wrote of a version.
struct Writing {
  TxnId txn = kNone;   // nobody wrote it
  OpId op = kNone;     // the first of its operations that did
  bool again = false;  // another one did too, so that no single version is meant
};

class Reading {
 public:
  explicit Reading(const History& history)
      : h_(history),
        only_(history.version_count()),
        several_(history.version_count()),
        listed_(history.op_count()),
        value_listed_(history.version_count()),
        deletion_listed_(history.key_count()) {
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (h_.status(t) != TxnStatus::aborted) note_writes(t);
  }

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

  void note_writes(TxnId t) {
    for (const Access& a : accesses(h_, t)) {
      if (!a.writes()) continue;
      Writing& only = only_[a.version];
      if (only.txn == t) {
        only.again = true;
      } else {
        several_[a.version] = only.txn != kNone;
        only = {t, a.op, false};
      }
    }
  }

  // Some transaction that may have taken effect deletes the key, or writes null.
  bool is_emptied(KeyId key) {
    if (emptied_.empty()) {
      emptied_.resize(h_.key_count());
      for (TxnId t = 0; t < h_.txn_count(); ++t)
        if (h_.status(t) != TxnStatus::aborted)
          for (const Access& a : accesses(h_, t))
            if (a.writes() && is_absent(h_, state_after(t, a))) emptied_[a.key] = true;
    }
    return emptied_[key];
  }

  void add(const KnownOrder& line, size_t place) {
    const TxnId txn = line.txn(place);
    const VersionId version = line.versions[place];
    if (txn == kNone) {
      value_listed_[version] = true;
      if (h_.version_value(version).is_null()) deletion_listed_[line.key] = true;
    }
    const Writing meant = txn == kNone ? by_value(line.key, place, version) : by_name(txn, version);
    named_.push_back(meant.txn);
    if (meant.txn == kNone) return;
    named_again_ = named_again_ || (!meant.again && listed_[meant.op]);
    listed_[meant.op] = true;
  }

  Writing by_value(KeyId key, size_t place, VersionId version) {
    if (place == 0 && h_.is_initial(version)) return {};
    if (h_.version_value(version).is_null() && is_emptied(key)) return {};
    if (several_[version]) return {};
    if (only_[version].txn == kNone)
      contradict("the stated order of {} names {}, which nobody can have installed there",
                 h_.key(key).to_string(), h_.version_value(version).to_string());
    return only_[version];
  }

  Writing by_name(TxnId txn, VersionId version) {
    const Writing meant = written_by(txn, version);
    if (meant.txn == kNone)
      contradict("a stated order names {} of transaction {}, which nobody can have installed there",
                 h_.version_value(version).to_string(), h_.name(txn));
    return meant;
  }

  Writing written_by(TxnId t, VersionId version) const {
    if (!several_[version]) return only_[version].txn == t ? only_[version] : Writing{};
    Writing writing;
    if (h_.status(t) == TxnStatus::aborted) return writing;
    for (const Access& a : accesses(h_, t)) {
      if (!a.writes() || a.version != version) continue;
      if (writing.txn == kNone)
        writing = {t, a.op, false};
      else
        writing.again = true;
    }
    return writing;
  }

  template <class... Args>
  void contradict(fmt::format_string<Args...> format, Args&&... args) {
    if (contradiction_.empty()) contradiction_ = fmt::format(format, std::forward<Args>(args)...);
  }

  std::span<TxnId> line(size_t i) {
    return std::span(named_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }

  // Each operation before the next that the same line names: f(from, to).
  template <class F>
  void each_arc(F f) {
    for (size_t i = 0; i + 1 < begin_.size(); ++i) {
      OpId before = kNone;
      for (size_t k = 0; k < line(i).size(); ++k) {
        if (line(i)[k] == kNone) continue;
        const Writing meant = written_by(line(i)[k], h_.known_orders()[i].versions[k]);
        if (meant.again) continue;
        if (before != kNone) f(before, meant.op);
        before = meant.op;
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
    std::vector<uint32_t> preceded(h_.op_count());  // by this many arcs
    std::vector<size_t> end(h_.op_count() + 1);     // of its arcs in `after`
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

  // What a transaction leaves behind of a key is its last write of it, and every element that it appends to a list.
  void look_for_lost_commits(int64_t complete_to) {
    std::vector<OpId> last(h_.key_count(), kNone);
    for (TxnId t = 0; t < h_.txn_count() && contradiction_.empty(); ++t) {
      const Interval end = h_.end_time(t);
      if (h_.status(t) != TxnStatus::committed || !end.known() || end.response > complete_to)
        continue;
      for (const Access& a : accesses(h_, t))
        if (a.writes()) last[a.key] = a.op;
      for (const Access& a : accesses(h_, t)) {
        const bool stays = a.appends() || (a.writes() && last[a.key] == a.op);
        if (stays && !is_listed(t, a))
          contradict("lost-commit: the complete orders lack {} of transaction {}",
                     h_.version_value(a.version).to_string(), h_.name(t));
      }
    }
  }

  bool is_listed(TxnId t, const Access& write) const {
    if (value_listed_[write.version]) return true;
    if (write.removes() && deletion_listed_[write.key]) return true;
    const Writing writing = written_by(t, write.version);
    return writing.txn != kNone && listed_[writing.op];
  }

  const History& h_;
  std::vector<Writing> only_;          // per version: the writer, of several the last
  std::vector<bool> several_;          // per version: transactions wrote it
  std::vector<bool> emptied_;          // see is_emptied; empty until somebody asks
  std::vector<size_t> begin_{0};       // per line, and the end
  std::vector<TxnId> named_;           // of all lines
  std::vector<bool> listed_;           // per operation: an entry means it
  std::vector<bool> value_listed_;     // per version: an entry that names nobody
  std::vector<bool> deletion_listed_;  // per key: an entry that is null and names nobody
  bool named_again_ = false;           // an operation is meant twice
  std::string contradiction_;
};

}  // namespace

StatedOrders::StatedOrders(const History& history) {
  if (history.known_orders().empty() && history.orders_complete_to() == Interval::kUnknown) return;
  Reading reading(history);
  reading.run();
  named_ = reading.take_named();
  begin_ = reading.take_begins();
  contradiction_ = reading.take_contradiction();
}

}  // namespace assay::internal::certify
