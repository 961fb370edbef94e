// Who may have written what: the verifier's own matching of reads to writers, straight from the
// operations.
//
// A transaction *writes* a version with any operation that takes effect; it *installs* the last
// version it wrote to a key, and that is the only one others may see. Which transactions *may
// count* is known (all but the aborted ones), so "this version has exactly one possible writer" is
// a fact of the history and needs no search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "certify/operations.h"
#include "certify/stated_orders.h"

namespace assay::internal::certify {

// One version that an operation saw. A range query sees one per row, returned or passed over, a list read its last element
// (or null), a successful compare-and-set the value it expected, a successful insert nothing.
struct Observation {
  OpId op = kNone;
  KeyId key = kNone;
  VersionId version = kNone;  // kNone: the key was absent, as if null had been read
  OpId own_write = kNone;     // the transaction's own last write of the key before `op`
  bool initial = false;       // the state before all writes looks like this
  TxnId stated = kNone;       // external: the history says that this one wrote it, or kInitialTxn
  bool left = false;          // `stated` left this behind, if it took effect, and did not abort

  bool external() const { return own_write == kNone; }
};

// What a transaction may have seen of others. clean: what those leave behind that take effect. dirty, where no read dependency may not be on a cycle: what
// anybody ever wrote, aborted and overwritten values too; so that an element of a list may be an aborted one, and nobody
// takes effect for having been read.
enum class ReadRule : uint8_t { clean, dirty };
inline ReadRule read_rule(const LevelInfo& level) {
  const auto heeds_reads = [](const ForbiddenCycle& cycle) {
    return cycle.any.find('r') != std::string_view::npos;
  };
  const bool dirty =
      level.events == EventModel::adya && std::ranges::none_of(level.forbidden, heeds_reads);
  return dirty ? ReadRule::dirty : ReadRule::clean;
}

// The writers of every version. Reading null is reading an absent key, whose writers are those that
// removed it or wrote null.
class Writers {
 public:
  explicit Writers(const History& history, ReadRule rule = ReadRule::clean);

  // Some transaction other than `reader` may count and installs what was seen.
  bool may_be_installed(const Observation& seen, TxnId reader) const {
    return installer_count(seen, reader) > 0;
  }
  // The transaction that `seen` certainly comes from: it is no initial value, and only one
  // transaction can have installed it. kNone otherwise, and for reads of own writes.
  TxnId source(const Observation& seen, TxnId reader) const;
  // `seen` is certainly the initial value.
  bool certainly_initial(const Observation& seen, TxnId reader) const;
  // Some operation of some transaction, aborted ones included, writes what was seen.
  bool ever_written(KeyId key, VersionId version) const {
    return is_absence(version) ? ever_absent_[key] : ever_[version];
  }

  // The only transaction that may count and writes `version`, finally or on the way; with dirty reads aborted ones are
  // among them. kNone if there is none or there are several.
  TxnId only_author(VersionId version) const;
  // Some transaction that may count writes `version`.
  bool has_author(VersionId version) const { return authors_[version].count > 0; }

 private:
  // Up to two different transactions and how many there are, counted up to three.
  struct Few {
    TxnId first = kNone;
    TxnId second = kNone;
    uint32_t count = 0;
    void add(TxnId t);
  };
  void add_transaction(const History& history, TxnId t, ReadRule rule,
                       std::vector<TxnId>& last_writer);
  bool is_absence(VersionId v) const { return v == kNone || null_[v]; }
  const Few& installers(const Observation& seen) const {
    return is_absence(seen.version) ? absent_[seen.key] : installers_[seen.version];
  }
  int installer_count(const Observation& seen, TxnId reader) const;

  std::vector<bool> null_;       // per version: its value is null
  std::vector<Few> installers_;  // per version
  std::vector<Few> authors_;
  std::vector<bool> ever_;
  std::vector<Few> absent_;  // per key: installers of its absence
  std::vector<bool> ever_absent_;
};

// What each transaction observes and writes, indexed when it is first asked for.
class AccessIndex {
 public:
  explicit AccessIndex(const History& history) : history_(history) {}

  // Its observations of `key` that no own write precedes, in program order.
  std::span<const Observation> external_reads(TxnId t, KeyId key);
  bool writes_key(TxnId t, KeyId key);

 private:
  struct Slice {
    std::vector<Observation> reads;  // external ones, by key, then program order
    std::vector<KeyId> written;      // sorted, no duplicates
  };
  const Slice& slice(TxnId t);

  const History& history_;
  std::unordered_map<TxnId, Slice> slices_;
};

// Every observation of the transaction, in program order.
std::vector<Observation> observations(const History& history, TxnId t);

// Which transactions certainly took effect: the committed ones, and those of unknown outcome that a stated order of
// versions names or, with clean reads, that are the only possible source of something a counting transaction saw.
class Counting {
 public:
  Counting(const History& history, const Writers& writers, ReadRule rule = ReadRule::clean)
      : history_(history), writers_(writers), rule_(rule) {}

  bool counts(TxnId t);

 private:
  void close();
  void keep(TxnId t);

  const History& history_;
  const Writers& writers_;
  const ReadRule rule_;
  std::vector<bool> kept_;  // empty until an unknown transaction is asked for
  std::vector<TxnId> work_;
};

}  // namespace assay::internal::certify
