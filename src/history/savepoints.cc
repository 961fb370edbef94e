// Savepoints: what a transaction leaves of the operations that ROLLBACK TO SAVEPOINT undid.
//
//   w(x,1)  SAVEPOINT  w(x,2) r(x,2) r(y,0)  ROLLBACK TO SAVEPOINT  r(x,1)
//
// The write of 2 was never part of the database, whatever the outcome of the transaction: a
// transaction that reads it has read an aborted write. The read of y did happen and counts like any
// other read of the transaction. So the history has two transactions: an aborted one with the
// undone writes, and the transaction itself with everything else,
//
//   { w(x,1) r(y,0) r(x,1) }   { w(x,2) }!
//
// A read of a write that the transaction itself made and undoes later is compared with that write
// at once and omitted. If they differ, the transaction keeps both on a new key ("x@3-17"), where
// they contradict each other as before. A range over keys that the undone part had written is split
// at these keys. history/aborted_reads.h does the same to whole transactions of a finished history;
// here keys have no numbers yet, and a line of any length is one transaction.
//
// Cost: n log n in the operations between savepoint and rollback, and the pieces of ranges.
#include <cassert>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"

namespace assay {

namespace {

constexpr uint64_t kMostPieces = 1'000'000;  // for all ranges of an undone part together

}  // namespace

// Goes through the operations of an undone part in program order.
class TxnBatch::Undoing {
 public:
  Undoing(TxnBatch& batch, size_t savepoint)
      : batch_(batch),
        part_(batch.ops_.begin() + static_cast<ptrdiff_t>(savepoint), batch.ops_.end()) {
    batch_.ops_.erase(batch_.ops_.begin() + static_cast<ptrdiff_t>(savepoint), batch_.ops_.end());
  }

  Status run() {
    for (const RawOp& op : part_) {
      if (op.kind == OpKind::range) {
        if (Status s = range(op); !s.ok()) return s;
      } else if (op.kind == OpKind::read_list) {
        read_list(op);
      } else {
        single(op);
      }
    }
    batch_.undone_.insert(batch_.undone_.end(), live_.begin(), live_.end());
    return Ok{};
  }

 private:
  static bool writes(const RawOp& op) { return changes_data(op.kind) && op.effect; }
  void keep(const RawOp& op) { batch_.ops_.push_back(op); }

  struct KeyLess {
    bool operator()(const ValueView& a, const ValueView& b) const { return key_less(a, b); }
  };
  // The writes to a key so far.
  struct Own {
    std::vector<size_t> writes;  // indices into live_
    bool contradicted = false;
  };
  using OwnKeys = std::map<ValueView, Own, KeyLess>;

  const RawOp* last_write(const ValueView& key) const {
    const auto own = own_.find(key);
    return own == own_.end() ? nullptr : &live_[own->second.writes.back()];
  }

  // An operation on a register, or an append.
  void single(const RawOp& op) {
    const bool looks =
        op.kind != OpKind::write && op.kind != OpKind::remove && op.kind != OpKind::append;
    if (const RawOp* own = looks ? last_write(op.key) : nullptr; own != nullptr) {
      if (!explains(*own, op)) contradict(op);
    } else if (looks) {
      keep(observation(op));
    }
    if (!writes(op)) return;
    RawOp write = op;  // the operation without its observation
    if (looks) {
      write.kind = OpKind::write;
      write.extra_count = 0;
    }
    own_[op.key].writes.push_back(live_.size());
    live_.push_back(write);
  }

  // The observation of an operation, without its write.
  RawOp observation(const RawOp& op) const {
    if (!writes(op)) return op;
    RawOp read = op;
    read.kind = OpKind::read;
    read.value = op.kind == OpKind::cas ? batch_.extra_[op.first_extra] : ValueView::null();
    read.effect = true;
    read.extra_count = 0;
    return read;
  }

  bool explains(const RawOp& own, const RawOp& op) const {
    const bool absent = own.kind == OpKind::remove || own.value.is_null();
    const auto shows = [&](const ValueView& seen) {
      return own.kind != OpKind::append && (own.value == seen || (absent && seen.is_null()));
    };
    if (op.kind == OpKind::read) return shows(op.value);
    if (op.kind == OpKind::cas) return shows(batch_.extra_[op.first_extra]) == op.effect;
    return absent == op.effect;  // insert
  }

  // The elements appended here are at the end of the list, after the ones that the transaction
  // keeps.
  void read_list(const RawOp& op) {
    RawOp kept = op;
    const auto last = [&] { return batch_.extra_[kept.first_extra + kept.extra_count - 1]; };
    if (const auto own = own_.find(op.key); own != own_.end())
      for (size_t i = own->second.writes.size(); i-- > 0;) {
        const RawOp& append = live_[own->second.writes[i]];
        if (append.kind != OpKind::append || kept.extra_count == 0 || last() != append.value)
          return contradict(op);
        --kept.extra_count;
      }
    kept.value = kept.extra_count == 0 ? ValueView::null() : last();
    keep(kept);
  }

  // Shows that the transaction wrote this and then saw something else. Once is enough for a key.
  void contradict(const RawOp& op) {
    Own& own = own_.find(op.key)->second;
    if (std::exchange(own.contradicted, true)) return;
    const ValueView key = ValueView::of(
        batch_.keep(ValueView(op.key).to_string() + "@" + std::string(batch_.header_.name)));
    for (const size_t write : own.writes) keep_at(live_[write], key);
    keep_at(op, key);
    if (batch_.ops_.back().has_source()) batch_.ops_.back().extra_count = 0;
  }
  void keep_at(const RawOp& op, const ValueView& key) {
    keep(op);
    batch_.ops_.back().key = key;
  }

  // A range must have returned the transaction's own values of the keys written here; its
  // observation of all others is kept.
  Status range(const RawOp& op) {
    std::vector<ValueView> written;
    auto from = op.key.is_null() ? own_.begin() : own_.lower_bound(op.key);
    for (; from != own_.end() && within(op, from->first); ++from) written.push_back(from->first);
    if (written.empty()) return keep(op), Ok{};
    for (const ValueView& key : written)
      if (key.type != ValueView::Type::integer || batch_.queries_[op.query].predicate != kNone)
        return cannot("is supported only for integer keys and without a condition");
    if ((pieces_ += written.size()) > kMostPieces) return cannot("is one of too many");
    Rows rows;
    for (uint32_t row = 0; row < batch_.queries_[op.query].rows; ++row)
      rows.emplace(batch_.extra_[op.first_extra + 2 * row],
                   batch_.extra_[op.first_extra + 2 * row + 1]);
    for (const ValueView& key : written) look_at_row(op, key, rows);
    cut(op, written, rows);
    return Ok{};
  }
  Error cannot(const char* why) const {
    return bad_input(std::string("a query behind a write to a key in its range, both undone by a "
                                 "rollback to a savepoint, ") +
                         why,
                     batch_.header_.line);
  }

  static bool within(const RawOp& range, const ValueView& key) {
    return (range.key.is_null() || !key_less(key, range.key)) &&
           (range.value.is_null() || !key_less(range.value, key));
  }

  // Rows by key; a key that appears twice contradicts itself.
  using Rows = std::multimap<ValueView, ValueView, KeyLess>;

  // Treats the row as a read of the key.
  void look_at_row(const RawOp& op, const ValueView& key, const Rows& rows) {
    RawOp read = op;
    read.kind = OpKind::read;
    read.effect = true;
    read.key = key;
    read.extra_count = 0;
    const auto [row, end] = rows.equal_range(key);
    read.value = row == end ? ValueView::null() : row->second;
    if (!explains(*last_write(key), read) || std::distance(row, end) > 1) contradict(read);
  }

  // Splits the range at these keys, ascending integers.
  void cut(const RawOp& op, const std::vector<ValueView>& keys, const Rows& rows) {
    ValueView from = op.key;
    for (const ValueView& key : keys) {
      if (key.integer != std::numeric_limits<int64_t>::min())
        piece(op, from, ValueView::of(key.integer - 1), rows);
      // The texts come after the greatest integer.
      from = key.integer == std::numeric_limits<int64_t>::max() ? ValueView::of(std::string_view())
                                                                : ValueView::of(key.integer + 1);
    }
    piece(op, from, op.value, rows);
  }

  void piece(const RawOp& op, const ValueView& lo, const ValueView& hi, const Rows& rows) {
    if (!lo.is_null() && !hi.is_null() && key_less(hi, lo)) return;
    const auto from = lo.is_null() ? rows.begin() : rows.lower_bound(lo);
    const auto to = hi.is_null() ? rows.end() : rows.upper_bound(hi);
    const std::vector<Op::Row> found(from, to);
    Op range = Op::range(lo, hi, found);
    range.time = op.time;
    batch_.add(range);
  }

  TxnBatch& batch_;
  const std::vector<RawOp> part_;
  std::vector<RawOp> live_;  // the undone part's writes so far
  OwnKeys own_;
  uint64_t pieces_ = 0;  // pieces of ranges so far
};

size_t TxnBatch::savepoint() const { return ops_.size(); }

Status TxnBatch::roll_back_to(size_t savepoint) {
  assert(end_of_txns() <= savepoint && savepoint <= ops_.size() && "a place in this transaction");
  return Undoing(*this, savepoint).run();
}

}  // namespace assay
