#include "certify/adya_order_verifier.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "certify/commit_order.h"
#include "certify/reads.h"
#include "certify/refusal.h"
#include "certify/sources.h"

namespace assay::certify {
namespace {

constexpr uint64_t kMostSteps = 100'000'000;

// An anti-dependency: `reader` read what `writer` overwrote.
struct Anti {
  Place reader;
  Place writer;
  bool item;  // the read returned the key
};

// pl-1 does not care who read what. But lists must show beginnings of what the order appends.
Status check_lists(const History& history, std::span<const TxnId> order) {
  std::vector<std::vector<VersionId>> appended(history.key_count());
  for (const TxnId t : order)
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (history.op(i).kind == OpKind::append)
        appended[history.op(i).key].push_back(history.op(i).version);
  for (const TxnId t : order) {
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
      if (history.op(i).kind != OpKind::read_list) continue;
      const ListSeen seen = list_seen(history, i);
      const std::vector<VersionId>& all = appended[history.op(i).key];
      const bool stands = seen.own_at_end && seen.others.size() <= all.size() &&
                          std::equal(seen.others.begin(), seen.others.end(), all.begin());
      if (!stands)
        return refuse("transaction {} reads a list that the order does not append",
                      history.name(t));
    }
  }
  return Ok{};
}

// Reads of pl-1 may be of what was aborted or overwritten, and of what comes later in the order: it only must be
// somebody's work.
class WrittenSomewhere {
 public:
  WrittenSomewhere(const History& history, std::span<const TxnId> order)
      : history_(history),
        order_(order),
        present_(history.txn_count()),
        explains_(history.version_count()) {
    for (const TxnId t : order) present_[t] = true;
    std::vector<TxnId> last_writer(history.key_count(), kNone);
    for (TxnId t = 0; t < history.txn_count(); ++t) {
      for (OpId i = history.end_op(t); i-- > history.first_op(t);) {
        const Operation op = history.op(i);
        if (!writes(op)) continue;
        const bool final_write = last_writer[op.key] != t;
        last_writer[op.key] = t;
        const bool aborted = history.status(t) == TxnStatus::aborted;
        if (present_[t] || aborted || !final_write) explains_[op.version].push_back(t);
      }
    }
  }

  Status check() {
    for (const TxnId t : order_) {
      seen_ = observations(history_, t);
      for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i)
        if (!explained(i, t))
          return refuse("nothing explains operation {} of transaction {}", i - history_.first_op(t),
                        history_.name(t));
    }
    return Ok{};
  }

 private:
  bool explained(OpId i, TxnId t) {
    const Operation op = history_.op(i);
    if (op.kind == OpKind::write || op.kind == OpKind::remove || op.kind == OpKind::append ||
        op.kind == OpKind::read_list)
      return true;
    const auto seen =
        std::find_if(seen_.begin(), seen_.end(), [i](const Observation& o) { return o.op == i; });
    const bool plain = op.kind == OpKind::read || (op.kind == OpKind::cas && op.effect);
    if (plain && seen != seen_.end() && explained(*seen, t)) return true;
    if (!states_) states_.emplace(history_);
    if (op.kind != OpKind::range) return left_by_somebody(i, op.key);
    for (const KeyId key : states_->keys_of_range(i))
      if (!left_by_somebody(i, key)) return false;
    return true;
  }

  bool explained(const Observation& seen, TxnId reader) const {
    if (!seen.external()) return history_.op(seen.own_write).version == seen.version;
    if (seen.initial) return true;
    if (seen.version == kNone) return false;
    const std::vector<TxnId>& by = explains_[seen.version];
    return std::any_of(by.begin(), by.end(), [reader](TxnId t) { return t != reader; });
  }

  // The state of the key that the operation saw is the own one of its transaction, the initial one, or that of a
  // transaction of the order.
  bool left_by_somebody(OpId i, KeyId key) const {
    const TxnId t = history_.txn_of(i);
    for (OpId own = i; own-- > history_.first_op(t);)
      if (writes(history_.op(own)) && history_.op(own).key == key)
        return states_->explained_by(own, i, key);
    const Result<std::vector<TxnId>> all = states_->of(i, key, false);
    return all.ok() && std::any_of(all->begin(), all->end(),
                                   [&](TxnId s) { return s == kNone || present_[s]; });
  }

  const History& history_;
  const std::span<const TxnId> order_;
  std::vector<bool> present_;
  std::vector<std::vector<TxnId>> explains_;  // per version: whose writes of it may have been read
  std::vector<Observation> seen_;             // of one transaction
  std::optional<Sources> states_;             // once an operation needs it
};

class AdyaCheck {
 public:
  AdyaCheck(const History& history, const CommitOrder& order)
      : history_(history), order_(order), writers_(history.key_count()) {
    for (Place p = 1; p <= order.count(); ++p)
      for (const KeyId key : order.keys_written(p)) writers_[key].push_back(p);
    for (Place p = 1; p <= order.count(); ++p)
      for (const ReadFrom& read : order.reads(p)) add_anti(p, read);
  }

  Status run(LevelId level) const {
    switch (level) {
      case LevelId::pl_2:
        return Ok{};
      case LevelId::pl_cs:
        return check_updates();
      case LevelId::pl_2_plus:
        return check_one_anti();
      case LevelId::pl_2_99:
        return check_items();
      default:
        return check_none_back();
    }
  }

 private:
  void add_anti(Place reader, const ReadFrom& read) {
    const std::vector<Place>& all = writers_[read.key];
    const auto next = std::upper_bound(all.begin(), all.end(), read.from);
    if (next != all.end() && *next != reader) anti_.push_back({reader, *next, is_item(read)});
  }
  bool is_item(const ReadFrom& read) const {
    if (history_.op(read.op).kind != OpKind::range) return true;
    const std::span<const uint32_t> rows = history_.operands(read.op).subspan(2);
    return std::any_of(rows.begin(), rows.end(),
                       [&](VersionId row) { return history_.version_key(row) == read.key; });
  }
  std::string name(Place p) const { return history_.name(order_.txn(p)); }
  Error overwritten(const Anti& anti) const {
    return refuse("transaction {} overwrote what transaction {} read, and the two are on a cycle",
                  name(anti.writer), name(anti.reader));
  }
  // The writer of the key before `p`; 0 if there is none.
  Place previous_writer(KeyId key, Place p) const {
    const std::vector<Place>& all = writers_[key];
    const auto at = std::lower_bound(all.begin(), all.end(), p);
    return at == all.begin() ? 0 : *(at - 1);
  }

  Status check_none_back() const {
    for (const Anti& anti : anti_)
      if (anti.writer < anti.reader) return overwritten(anti);
    return Ok{};
  }

  Status check_updates() const {
    for (Place p = 1; p <= order_.count(); ++p) {
      const auto written = order_.keys_written(p);
      for (const ReadFrom& read : order_.reads(p))
        if (is_item(read) && std::binary_search(written.begin(), written.end(), read.key) &&
            previous_writer(read.key, p) != read.from)
          return refuse("transaction {} overwrites another version of {} than it read", name(p),
                        history_.key(read.key).to_string());
    }
    return Ok{};
  }

  Status check_items() const {
    std::vector<uint32_t> back(order_.count() + 2,
                               0);  // first: how many stretches begin here, less those that end
    for (const Anti& anti : anti_) {
      if (anti.writer > anti.reader) continue;
      if (anti.item) return overwritten(anti);
      ++back[anti.writer];
      --back[anti.reader];
    }
    std::vector<Place> stretch(order_.count() + 1, 0);
    uint32_t open = 0;
    for (Place p = 1; p <= order_.count(); ++p) {
      stretch[p] = open > 0 ? stretch[p - 1] : p;
      open += back[p];
    }
    for (const Anti& anti : anti_)
      if (anti.item && stretch[anti.reader] == stretch[anti.writer]) return overwritten(anti);
    return Ok{};
  }

  Status check_one_anti() const {
    std::vector<Place> visited(order_.count() + 1, 0), queue;
    uint64_t steps = 0;
    for (size_t i = 0; i < anti_.size();) {  // all of one reader are neighbours
      const Place reader = anti_[i].reader;
      Place earliest = reader;
      size_t end = i;
      for (; end < anti_.size() && anti_[end].reader == reader; ++end)
        earliest = std::min(earliest, anti_[end].writer);
      if (earliest < reader) {
        queue.assign(1, reader);
        const auto meet = [&](Place p) {
          if (p < earliest || p == 0 || visited[p] == reader) return;
          visited[p] = reader;
          queue.push_back(p);
        };
        for (size_t at = 0; at < queue.size(); ++at) {
          for (const ReadFrom& read : order_.reads(queue[at])) meet(read.from);
          for (const KeyId key : order_.keys_written(queue[at]))
            meet(previous_writer(key, queue[at]));
          steps += order_.reads(queue[at]).size() + order_.keys_written(queue[at]).size();
          if (steps > kMostSteps) return refuse("there are too many paths to look at");
        }
        for (; i < end; ++i)
          if (visited[anti_[i].writer] == reader) return overwritten(anti_[i]);
      }
      i = end;
    }
    return Ok{};
  }

  const History& history_;
  const CommitOrder& order_;
  std::vector<std::vector<Place>> writers_;  // per key
  std::vector<Anti> anti_;                   // by reader
};

}  // namespace

Status adya_order_serves(LevelId level, const History& history, std::span<const TxnId> order,
                         std::span<const Seen> sources) {
  Result<CommitOrder> built = CommitOrder::build(history, order, sources);
  if (built.ok()) return level == LevelId::pl_1 ? Ok{} : AdyaCheck(history, *built).run(level);
  if (level != LevelId::pl_1) return built.error();
  if (Status s = WrittenSomewhere(history, order).check(); !s.ok()) return s;
  return check_lists(history, order);
}

}  // namespace assay::certify
