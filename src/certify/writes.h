// Which transactions wrote which versions: the writes of each key and of each version, and the
// writes that leave a key absent. It is the room's only index of writers; places in an order have a
// separate one (PlacedWriters, commit_order.h).
//
//   s1: A { w(x,1) w(x,2) }   s2: B { w(x,2) }!
//   x: A's second write stays, its first was overwritten, B's is of a transaction that aborted
//
// A transaction *writes* a version with any operation that takes effect; the last one that it
// writes to a key *stays*: it is the only one that others may see. A transaction *may count* if it
// did not abort, so "this version has exactly one possible writer" is a fact of the history and
// needs no search. Cost: each of the three is sorted once, when it is first asked for, by counting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "certify/once.h"
#include "certify/operations.h"

namespace assay::internal::certify {

// What a transaction may have seen of others. clean: what transactions that take effect leave.
// dirty, if the level forbids no cycle with a read dependency: what any transaction ever wrote,
// including aborted and overwritten values. So an element of a list may be an aborted one, and no
// transaction takes effect because it was read.
enum class ReadRule : uint8_t { clean, dirty };
inline ReadRule read_rule(const LevelInfo& level) {
  const auto forbids_reads = [](const ForbiddenCycle& cycle) {
    return cycle.any.find('r') != std::string_view::npos;
  };
  const bool dirty =
      level.events == EventModel::adya && std::ranges::none_of(level.forbidden, forbids_reads);
  return dirty ? ReadRule::dirty : ReadRule::clean;
}

struct Write {
  TxnId txn = kNone;
  OpId op = kNone;
};

// Which writes are meant: the writes that stay, all writes of transactions that may count, or all.
// A span begins with the writes that stay, continues with the others that may count and ends with
// those of aborted transactions; each part is in the order of the history.
enum class Which : uint8_t { staying, counting, all };

class Writes {
 public:
  explicit Writes(const History& history) : history_(history) {}
  const History& history() const { return history_; }

  std::span<const Write> of_key(KeyId key, Which which) const;
  std::span<const Write> of_version(VersionId version, Which which) const;
  // The writes that leave the key absent: removals, and null.
  std::span<const Write> emptying(KeyId key, Which which) const;
  // The writes whose state shows as this version of the key; kNone: as absent.
  std::span<const Write> showing(KeyId key, VersionId version, Which which) const;

  State left(const Write& write) const {
    return state_after(write.txn, access_of(history_, write.op));
  }
  // The write of the key that the transaction leaves behind; null if there is none.
  const Write* left_by(TxnId txn, KeyId key) const;
  // All writes of the version that the transaction made, if it may count.
  struct Made {
    OpId first = kNone;
    size_t count = 0;
  };
  Made made_by(TxnId txn, VersionId version) const;
  // The only transaction that may count and writes the version, finally or on the way; with dirty
  // reads aborted ones are included. kNone if there is none or there are several.
  TxnId only_author(VersionId version, ReadRule rule = ReadRule::clean) const;

 private:
  // Writes in groups, each in three parts.
  class Groups {
   public:
    template <class GroupOf>
    Groups(const History& h, size_t count, GroupOf group_of);
    std::span<const Write> of(size_t group, Which which) const {
      return std::span(writes_).subspan(begin_[3 * group], end(group, which) - begin_[3 * group]);
    }

   private:
    size_t end(size_t group, Which which) const {
      return begin_[3 * group + static_cast<size_t>(which) + 1];
    }
    std::vector<uint32_t> begin_;  // indexed by part, and the end
    std::vector<Write> writes_;
  };

  const History& history_;
  Once<Groups> of_key_, of_version_, emptying_;
};

}  // namespace assay::internal::certify
