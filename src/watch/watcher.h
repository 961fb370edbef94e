// Decides a history without end, window by window, in memory that does not grow with it.
//
//   s1: { w(x,1) }      { r(x,2) }            { r(x,1) }
//   s2:        { w(x,2) }      | forgotten so far: state x = 2
//
// The mark is a moment such that every transaction that began before it has been reported: a
// transaction that ended before the mark is sealed, as all that are still to be reported run after
// it. The transactions that began before the mark are checked as a history after the live state
// (window.h). If there is an order, its first part, as far as all are sealed, is settled: it is
// applied to the live state. The last settled part is kept, because it was a choice: two writers
// that overlapped may have come the other way round. When a window is rejected the choices are
// taken back, more and more of them, until there is an order; or until the transactions alone, a
// projection of the history, violate the level, which is an alarm with a certificate; or until
// nothing is left to take back, which is unknown. After an alarm or an unknown, one transaction is
// left out, the one of the explanation that ended last, with all reads of its writes, and watching
// goes on.
//
// Cost: each transaction is checked once, and again for each window that is taken back and while
// transactions that ran at the same time are open. Memory: the keys that were written, the
// transactions from the oldest open one on, and those kept. Source: the locality lemma of
// docs/architecture.md; Aion (2504.01477) does the same with timestamps of the database.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/audit.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "base/byte_stream.h"
#include "certify/chain.h"
#include "formats/txn_table.h"
#include "watch/late_effects.h"
#include "watch/late_writers.h"
#include "watch/left_out_writes.h"
#include "watch/live_state.h"
#include "watch/member.h"
#include "watch/order_accesses.h"
#include "watch/rivals.h"
#include "watch/watch.h"
#include "watch/window.h"

namespace assay::internal::watch {

class Watcher final : public Watch {
 public:
  Watcher(const WatchOptions& options, WatchListener& listener)
      : options_(options), listener_(listener) {}

  Status add(const std::shared_ptr<const History>& piece) override { return add(piece, {}); }
  // Used with fences: `ran` says when each transaction of the piece ran. Its own times are those of
  // a likely order, which need not be kept.
  Status add(const std::shared_ptr<const History>& piece, std::span<const Interval> ran);
  Status decide_sealed() override { return decide(mark()); }
  Status finish() override;
  const Progress& progress() override;
  int64_t overdue() const override;

  // To be called between two calls of the other functions: saves all that is kept; to be loaded
  // into a new watcher with the same options, except for how much it decides at once and keeps.
  // That one then reports and decides what this one would.
  void save(StreamWriter& to, formats::TxnTableWriter& txns) const;
  Status load(StreamReader& from, const formats::TxnTable& txns);
  // Notes a report that was made after this state was saved, which must not be repeated.
  void note_reported(const Omission& said);
  // Notes that transactions reported between here and the next line are lost: nothing is known
  // about any undecided transaction, nor about those concurrent with them. Lines are counted anew.
  void note_loss();
  // The same, and these sessions report nothing more.
  void note_loss(std::span<const HeldValue> sessions) override;

 private:
  struct Session {
    int64_t next = Interval::kUnknown;  // the earliest begin that may still be reported
    int64_t over = Interval::kUnknown;  // its reported transactions were not over before this
    std::vector<uint64_t>
        looking;  // numbers of those of unknown outcome since the last that committed, by begin
  };
  // A stretch of transactions whose order is settled.
  struct Settled {
    std::vector<Member> members;
    size_t ordered = 0;  // this many members, the first ones, are in the order
    std::vector<certify::Segment::Rival> rivals;
    // Transactions of unknown outcome that got a place, that were touched, and that took effect
    // after all.
    std::vector<LateTxn> late, touched, took_effect;
    std::vector<LateWrite> masked_writes;
    std::vector<LiveState::Change> changes;
    int64_t latest_begin_before = Interval::kUnknown;  // before this stretch was settled
    uint64_t last_line_before = 0;                     // of the order before this stretch
    int64_t latest_end = Interval::kUnknown;
    bool loses_writers =
        false;  // some of its members had no effect in the order, and may still be read from
    bool ends = false;  // whether it is the last stretch of a part that was settled together

    bool empty() const {
      return members.empty() && late.empty() && touched.empty() && took_effect.empty();
    }
  };
  // How the candidates are divided once an order of them is found. Numbers are their places.
  struct Parting {
    std::vector<TxnId> order;    // the settled part
    std::vector<uint32_t> idle;  // without effect, settled as well
    std::vector<uint32_t> late;  // of unknown outcome, still without a place
    std::vector<uint32_t> left;  // left for later
  };
  // A transaction of unknown outcome that becomes late, after this many transactions of an order.
  struct PlacedLate {
    uint32_t behind;
    LateTxn late;
  };
  struct LateFates {
    std::vector<PlacedLate> late;  // sorted by their places
    std::vector<Member> without_effect;
    std::vector<Member> open;     // those for which a place may still come
    std::set<uint64_t> gave_way;  // numbers of those that were late before
  };
  struct Judgement {
    Window window;
    CheckResult result;

    const Verdict& verdict() const { return result.verdicts.at(0); }
    const std::vector<TxnId>& order() const {
      return result.certificates[verdict().certificate].order.events;
    }
  };

  // That transactions are kept in the order of their lines, that nothing is being decided, and that
  // what is settled has places. Holds between two calls of the public functions.
  void check_invariants() const;

  struct Bytes;  // defined in watcher_state.cc

  Status take(const std::shared_ptr<const History>& piece, TxnId t, const Interval& begin,
              const Interval& end);
  void bound_looks(const Member& m, Session& session);
  Status take_event(const Event& event);
  Status apply_settled(const History& piece);
  Result<std::vector<uint64_t>> named_by(const std::vector<std::string>& names) const;
  bool had_effect(uint64_t number) const;
  Status make_aborted(uint64_t number);
  int64_t mark() const;
  Status decide(int64_t mark);
  Status decide_candidates(int64_t mark);
  void gather(int64_t mark);
  Past past() const;
  bool is_late(const Member& m) const;
  void take_back(size_t windows);
  void take_back_for_late();
  size_t settled_since(const Window::UnexplainedRead& read) const;
  size_t provable_since(const Window::UnexplainedRead& read) const;
  size_t handle_unexplained(std::span<const Window::UnexplainedRead> unexplained);
  Judgement judge(Window window) const;
  bool keeps_fences(const Judgement& found) const;
  Result<Judgement> judge_by_fences(int64_t mark) const;
  Result<bool> raise_alarm(int64_t mark);
  bool give_up_one(const Judgement& rejected);
  void settle(const Judgement& found, int64_t mark);
  size_t settled_part(const Window& window, const std::vector<uint32_t>& places,
                      int64_t mark) const;
  bool may_be_late(const Member& m, int64_t mark) const;
  Parting part(const Judgement& found, int64_t mark) const;
  LateFates find_late_places(const OrderAccesses& accesses, const Parting& p,
                             std::span<const RivalVersion> rivals, std::span<const LateTxn> touched,
                             int64_t mark) const;
  Settled apply_order(const Judgement& found, std::span<const TxnId> part,
                      std::span<const RivalVersion> rivals, std::span<const PlacedLate> late,
                      Settled first);
  Settled begin_settled() const;
  void choose_rivals(const Judgement& found, const OrderAccesses& accesses, Settled& to);
  void choose_late(const Judgement& found, Settled& to);
  void mask(const ValueView& key, uint64_t place, Settled& to);
  void take_touched(const OrderAccesses& order, Settled& to);
  void add_late(LateTxn p, Settled& to);
  void add_settled(const Member& m, Settled& to);
  void apply(const Member& m, Settled& to);
  void install(const Member& m, OpId write, Settled& to);
  void forget();
  void give_up_late(const std::vector<Member>& late);
  void seal(const Settled& s);
  void hand_over_segment();
  void seal_gap();
  void leave_out(uint32_t place, bool alarm);
  void note_left_out(const Member& m);
  void report(std::string about, std::string reason, bool resumed);
  void resume(std::string reason);
  void end_loss(int64_t first_begin);

  WatchOptions options_;
  WatchListener& listener_;
  Progress progress_;
  std::unordered_map<HeldValue, Session, HeldHash, HeldEqual> sessions_;
  std::deque<Member> waiting_;      // transactions not yet decided, in the order of lines
  std::vector<Member> candidates_;  // transactions that are being decided
  std::deque<Settled> settled_;     // the stretches that are kept, the oldest first
  LiveState state_;
  LateWriters late_writers_;
  LeftOutWrites left_out_writes_;
  LateEffects late_effects_;
  certify::Segment segment_;  // the segment that is sealed next
  certify::LineNumbers lines_;
  uint64_t next_number_ = 0;
  int64_t now_ = Interval::kUnknown;
  int64_t last_begin_ = Interval::kUnknown;     // of all reported transactions
  int64_t latest_begin_ = Interval::kUnknown;   // of the settled transactions
  uint64_t last_line_ = 0;                      // of the settled order
  uint64_t next_place_ = 1;                     // of the next late transaction
  int64_t forgotten_end_ = Interval::kUnknown;  // of the forgotten transactions
  int64_t alarm_mark_ = Interval::kUnknown;     // the latest mark at which an alarm was raised
  int64_t dropped_before_ = Interval::kUnknown;
  // What another watcher reported (note_reported): lines to come that are left out, and the marks
  // of alarms by the lines that had been read by then.
  std::set<uint64_t> said_;
  std::map<uint64_t, int64_t> said_marks_;
  bool gap_ = false;
  bool lost_ = false;  // transactions before the next line are lost
  bool lost_writers_ = false;
  size_t postponed_ = 0;  // decide again only after this many more have come
};

}  // namespace assay::internal::watch
