#include "certify/mixed_order_verifier.h"

#include <algorithm>
#include <vector>

#include "certify/commit_order.h"
#include "certify/refusal.h"
#include "certify/replay.h"
#include "certify/weak_order_verifier.h"
#include "history/mixed_levels.h"

namespace assay::internal::certify {
namespace {

class MixedOrder {
 public:
  MixedOrder(const History& history, const Order& order, const CommitOrder& commits)
      : history_(history),
        order_(order),
        commits_(commits),
        replay_(history),
        installer_(history.key_count(), 0),
        began_at_(history.txn_count(), 0) {}

  Status serves() {
    for (uint32_t i = 0; i < order_.events.size(); ++i) {
      const TxnId t = order_.events[i] / 2;
      if (Status s = order_.events[i] % 2 == 0 ? begin(t, i) : commit(t, i); !s.ok()) return s;
    }
    for (const LevelInfo& level : all_levels())
      if (level.events == EventModel::weak)
        if (Status s = serves_readers(level); !s.ok()) return s;
    return Ok{};
  }

 private:
  const LevelInfo& level(TxnId t) const { return level_info(*held_to(history_, t)); }

  // Begins a transaction; one that sees one state reads from the current writer of each key.
  Status begin(TxnId t, uint32_t at) {
    began_at_[t] = at;
    if (level(t).events == EventModel::weak) return Ok{};
    if (Status s = replay_.read(t); !s.ok()) return s;
    for (const ReadFrom& read : commits_.reads(commits_.place(t)))
      if (installer_[read.key] != read.from)
        return refuse("it is ambiguous whose version of {} transaction {} read",
                      history_.key(read.key).to_string(), history_.name(t));
    return Ok{};
  }

  Status commit(TxnId t, uint32_t at) {
    if (level(t).events != EventModel::split && began_at_[t] + 1 != at)
      return refuse("the order separates the reads of transaction {} from its writes",
                    history_.name(t));
    const Place own = commits_.place(t);
    for (const KeyId key : commits_.keys_written(own)) {
      const Place last = installer_[key];
      if (level(t).write_conflict && last != 0 && committed_at_[last - 1] > began_at_[t])
        return refuse("transaction {} installs a version of {} while {}, which writes it, is open",
                      history_.name(commits_.txn(last)), history_.key(key).to_string(),
                      history_.name(t));
      installer_[key] = own;
    }
    committed_at_.push_back(at);
    return replay_.install(t);
  }

  Status serves_readers(const LevelInfo& declared) const {
    std::vector<bool> readers(commits_.count() + 1);
    for (Place p = 1; p <= commits_.count(); ++p)
      readers[p] = level(commits_.txn(p)).id == declared.id;
    if (std::ranges::find(readers, true) == readers.end()) return Ok{};
    return commit_order_serves(declared, history_, commits_, {&readers});
  }

  const History& history_;
  const Order& order_;
  const CommitOrder& commits_;
  Replay replay_;
  std::vector<Place> installer_;        // indexed by key: the last to install a version
  std::vector<uint32_t> began_at_;      // indexed by transaction: the place of its r
  std::vector<uint32_t> committed_at_;  // indexed by place, from 1: the place of its w
};

}  // namespace

Status mixed_order_serves(const Writes& writes, const Order& order) {
  const History& history = writes.history();
  if (!order.split) return refuse("an order for mixed levels has two events per transaction");
  std::vector<TxnId> commits;
  for (const uint32_t event : order.events) {
    const TxnId t = event / 2;
    if (!held_to(history, t))
      return refuse("transaction {} declares no level that can be mixed", history.name(t));
    if (event % 2 == 1) commits.push_back(t);
  }
  const Result<CommitOrder> built = CommitOrder::build(writes, commits);
  if (!built.ok()) return built.error();
  return MixedOrder(history, order, *built).serves();
}

}  // namespace assay::internal::certify
