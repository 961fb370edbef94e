// The parts of a watch's state, as bytes and back (base/byte_stream.h). Transactions are in a table
// (formats/txn_table.h), and are named by their lines. The caller asks at the end whether all went
// well; an invalid value makes the reader fail.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/byte_stream.h"
#include "formats/txn_table.h"
#include "watch/late_effects.h"
#include "watch/live_state.h"
#include "watch/member.h"

namespace assay::internal::watch {

class StateWriter {
 public:
  StateWriter(StreamWriter& bytes, formats::TxnTableWriter& txns) : to(bytes), txns_(txns) {}

  template <class All, class Put>
  void each(const All& all, Put put) {
    to.number(all.size());
    for (const auto& one : all) put(one);
  }
  void member(const Member& m);
  void members(const std::vector<Member>& all);
  void late(const LateTxn& p);
  void late(const std::vector<LateTxn>& all);
  void entry(const LiveState::Entry& e);
  void changes(const std::vector<LiveState::Change>& all);
  // Masked writes of transactions that are late, or were; those of others are dropped.
  void masked_writes(const std::vector<LateWrite>& all);

  StreamWriter& to;

 private:
  void version(const LiveState::Version& v);

  formats::TxnTableWriter& txns_;
  std::unordered_map<uint64_t, Member> were_late_;  // by number
};

class StateReader {
 public:
  StateReader(StreamReader& bytes, const formats::TxnTable& txns) : from(bytes), txns_(txns) {}

  template <class Take>
  void each(Take take) {
    for (size_t n = from.count(); n > 0 && from.ok(); --n) take();
  }
  Member member();
  std::vector<Member> members();
  LateTxn late();
  std::vector<LateTxn> late_txns();
  LiveState::Entry entry();
  std::vector<LiveState::Change> changes();
  std::vector<LateWrite> masked_writes();

  // More than the number of any transaction.
  uint64_t next_number() const { return next_number_; }

  StreamReader& from;

 private:
  LiveState::Version version();
  // The key that the late transaction `m` writes.
  KeyId written_key(const Member& m);

  const formats::TxnTable& txns_;
  std::unordered_map<uint64_t, uint64_t> lines_;  // by number
  uint64_t next_number_ = 0;
  std::unordered_map<uint64_t, Member> were_late_;  // by number
};

}  // namespace assay::internal::watch
