// Verifies a chain (certify/chain.h) against its history, in memory that grows with neither.
//
// The orders of all segments, one after the other, are replayed on an imaginary database that does
// one thing at a time (certify/replay.h does the same with a history that is in memory as a whole).
// Real time needs one number: a transaction that is placed must not have ended before the latest
// begin so far; at session-serializable there is no real time. A transaction is held from when its
// line is read to the segment that names it. Which transactions a later segment may reorder is in
// chain_rivals.h.
//
// A transaction of unknown outcome may turn out to have had an effect long after the order around
// it was verified. So a segment gives the place that it had in this case: its reads are verified
// there at once, and it becomes *late* (chain_late.h). A segment that says that it took effect
// installs its writes, except for keys that were overwritten since; no transaction has read these
// keys in between. A later late transaction that reads one of the keys rules that out, too. A late
// transaction must not share any key with an earlier one that may be moved, nor be passed by one
// that must precede it, nor have read a key with two possible last versions.
//
// Cost: a look-up for each operation. Memory: the keys that were written, the sessions, and the
// transactions that are read and not yet named.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "base/byte_stream.h"
#include "certify/chain.h"
#include "certify/chain_contents.h"
#include "certify/chain_late.h"
#include "certify/chain_rivals.h"
#include "formats/txn_table.h"

namespace assay::internal::certify {

class ChainVerifier {
 public:
  // The verifier for a level. A chain needs a level with one order of transactions that respects
  // real time or the order of each session.
  static Result<ChainVerifier> of(LevelId level);

  // Reads the next transactions of the history, in the order of its lines.
  Status read(const std::shared_ptr<const History>& piece);
  // Whether the line is held: it was read, and no segment has named it.
  bool holds(uint64_t line) const { return waiting_.contains(line); }
  // Verifies a segment. The transactions that it names must have been read.
  Status accept(const Segment& segment);
  // Ends the chain: nothing may follow.
  Status end(const ChainEnd& end);

  // To be called between two segments: saves all that is held; to be loaded into a new verifier of
  // the same level. `assay verify` never continues from such a state; it verifies chains from their
  // beginning.
  void save(StreamWriter& to, formats::TxnTableWriter& txns) const;
  Status load(StreamReader& from, const formats::TxnTable& txns);

  uint64_t left_out() const { return left_out_; }
  uint64_t gaps() const { return contents_.gaps(); }

 private:
  using Piece = ChainContents::Piece;
  using Txn = ChainContents::Txn;
  struct Session {
    uint64_t latest = 0;         // the last line that was placed
    std::set<uint64_t> waiting;  // the lines that are held
  };

  explicit ChainVerifier(LevelId level) : level_(level) {}

  bool keeps_real_time() const { return level_info(level_).real_time == RealTime::transactions; }
  Session& session_of(const Txn& t);
  void hold(uint64_t line, const Txn& t);
  Result<Txn> take(uint64_t line);
  Status place_all(const Segment& segment);
  Status place(uint64_t line, const Txn& t);
  Status keep_real_time(uint64_t line, const Txn& t);
  void note_begin(const Txn& t);
  Status add_late(uint64_t line);
  Status take_effect(uint64_t line);
  Status drop(uint64_t line);
  Status leave_out(uint64_t line);

  LevelId level_;
  LineNumbers lines_;
  uint64_t read_ = 0;
  std::unordered_map<uint64_t, Txn> waiting_;
  std::unordered_map<HeldValue, Session, HeldHash, HeldEqual> sessions_;
  ChainContents contents_;
  LateTxns late_;
  Excuses excuses_;
  ChainSegment segment_;  // the current segment
  uint64_t last_placed_ = 0;
  int64_t latest_begin_ = Interval::kUnknown;
  uint64_t left_out_ = 0;
};

}  // namespace assay::internal::certify
