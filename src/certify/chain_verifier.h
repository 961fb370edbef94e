// Verifies a chain (certify/chain.h) beside its history, in memory that grows with neither.
//
// The orders of all segments, one after the other, are replayed on an imaginary database that does one thing at a time
// (certify/replay.h does the same with a history that is in memory as a whole). Real time needs one number: whoever comes next
// must not have ended before the latest begin so far; at session-serializable there is no real time. A transaction is held from its line to the segment that names it.
//
//   order so far: s1: { w(x,1) }  s2: { w(x,2) }      both at the same time, x is not read
//   next:         s3: { r(x,1) }
//
// A later segment may show that s2 was before s1, when that order is long verified. So a segment says who may stand
// elsewhere, a rival: s1 behind s2. That is verified at once. Whoever is moved must not share a key with those it passes, but
// for blind writes of the one key; must not have ended before one of them began, nor be of its session; and nobody may be moved
// behind one who may be moved himself. Then those who stay keep their order, whoever conflicts with one who moves comes
// after the place he moves to, and any choice of one rival for each key is an order too. Whoever looks at the key chooses among them.
//
// A transaction of unknown outcome may turn out to have had an effect just as late. So a segment says where it stands if it had
// one: that what it saw is there is verified at once, and it waits, parked, until somebody looks at what it wrote. A segment that
// says that it took effect installs what it wrote, but for keys that were overwritten since; nobody has looked in between. Whoever is
// parked later and looked at it ends that, too. It must not share any key with one who may be moved and came before it, nor be passed by one who must come
// first, nor have seen a key of which two may have come last.
//
// Cost: a look-up for each operation, and for each rival the transactions it passes. Memory: the keys that were written,
// the sessions, and the transactions that are read and not yet named.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "base/byte_stream.h"
#include "certify/chain.h"
#include "certify/operations.h"
#include "formats/txn_table.h"
#include "history/held_map.h"

namespace assay::internal::certify {

// What a register holds: states are kept beyond the history that they come from, so they are values here.
struct RegisterState {
  ValueView value;
  bool removed = false;  // a removal left it; it reads as null
};

class ChainVerifier {
 public:
  // Levels that a chain can be of: those that ask for one order of transactions, which keeps real time or that of each session.
  static Result<ChainVerifier> of(LevelId level);

  // The next transactions of the history, in the order of its lines.
  Status read(const std::shared_ptr<const History>& piece);
  // Whether the line is held: it was read, and no segment has named it.
  bool holds(uint64_t line) const { return waiting_.contains(line); }
  // What it names must have been read.
  Status accept(const Segment& segment);
  // Nothing follows.
  Status end(const ChainEnd& end);

  // Between two segments: all that is held, and into a verifier that is new and of the same level. `assay verify` never goes on
  // from such a state; it verifies chains from their beginning.
  void save(StreamWriter& to, formats::TxnTableWriter& txns) const;
  Status load(StreamReader& from, const formats::TxnTable& txns);

  uint64_t left_out() const { return left_out_; }
  uint64_t gaps() const { return gaps_; }

 private:
  struct Version {
    HeldValue value;
    bool removed = false;
    RegisterState state() const { return {value.view(), removed}; }
  };
  static Version held(const RegisterState& s) { return {HeldValue(s.value), s.removed}; }
  // What a key holds, once it was written.
  struct Content {
    Version last;
    uint64_t writer = 0;  // its line
    bool looked = false;  // at what `writer` left
    std::unique_ptr<std::vector<Version>> rivals = nullptr;
  };
  // A piece of the history, with what is looked up once for each of its keys.
  struct Piece {
    struct Key {
      Content* content = nullptr;  // null: not written as yet
      TxnId owner = kNone;         // whose write of it follows
      OpId write = kNone;
    };
    std::shared_ptr<const History> history;
    std::vector<Key> keys;
    uint64_t gaps = 0;  // when `keys` was looked up
  };
  struct Txn {
    std::shared_ptr<Piece> piece;
    TxnId txn = kNone;
  };
  // One of the order, and what it did with its keys.
  struct Placed {
    uint64_t line = 0;
    Txn txn;
    std::vector<OpId> excused = {};  // what it saw of those that were left out
  };
  struct Touch {
    Content* key;    // what it holds
    KeyId in_piece;  // in the history of its transaction
    bool looked = false, wrote = false;
    bool is_blind() const { return wrote && !looked; }
  };
  // Of unknown outcome, and where it stands in the segment at hand.
  struct Late {
    Txn txn;
    size_t place;
  };
  struct Session {
    uint64_t latest = 0;         // line that was placed
    std::set<uint64_t> waiting;  // lines that are held
  };
  class Rivals;
  friend class Rivals;

  explicit ChainVerifier(LevelId level) : level_(level) {}

  bool keeps_real_time() const { return level_info(level_).real_time == RealTime::transactions; }

  static void put(StreamWriter& to, const Version& v);
  static Version take_version(StreamReader& from);
  std::vector<uint64_t> take_held_lines(StreamReader& from) const;
  Result<Txn> take(uint64_t line);
  Status place(Placed p);
  Status keep_real_time(uint64_t line, const History& h, TxnId t);
  void took_place(const History& h, TxnId t);
  Status place_all(const Segment& segment);
  Status park(uint64_t line);
  Status can_park(const Txn& t) const;
  bool is_there_for_good(const History& h, const Access& seen) const;
  void look_at_parked(const ValueView& key);
  void look_at_parked_by(const Txn& t);
  void overwrite_parked(const ValueView& key, uint64_t before);
  std::vector<KeyId> shown_keys(uint64_t line) const;
  void release(uint64_t line);
  Status take_effect(uint64_t line);
  Status replay(Placed& p);
  Status look(Placed& p, const Access& seen);
  bool explains(const History& h, const Access& seen, Content* content) const;
  static bool narrow(const History& h, const Access& seen, Content& content);
  bool excused(const History& h, const Access& seen) const;
  template <class Shows>
  void install(const Txn& t, uint64_t line, Shows shows);
  void refresh(Piece& piece) const;
  Content* content_of(Piece& piece, KeyId key);
  Status drop(uint64_t line);
  Status leave_out(uint64_t line);
  Status know_rivals(const std::vector<Segment::Rival>& rivals);
  void forget();

  LevelId level_;
  LineNumbers lines_;
  std::unordered_map<uint64_t, Txn> waiting_;
  uint64_t read_ = 0;
  HeldMap<Content> contents_;
  std::unordered_map<HeldValue, Session, HeldHash, HeldEqual> sessions_;
  // By key: the lines whose write of it shows, by their places.
  std::unordered_map<HeldValue, std::vector<uint64_t>, HeldHash, HeldEqual> parked_keys_;
  std::unordered_set<uint64_t> parked_;
  uint64_t last_placed_ = 0;
  int64_t latest_begin_ = Interval::kUnknown;
  // What was left out wrote these, by key.
  std::unordered_map<HeldValue, std::unordered_set<HeldValue, HeldHash, HeldEqual>, HeldHash,
                     HeldEqual>
      excused_;
  uint64_t left_out_ = 0;
  uint64_t gaps_ = 0;
  std::vector<Placed> placed_;  // by the segment at hand
  std::vector<Late> lates_;     // likewise
};

}  // namespace assay::internal::certify
