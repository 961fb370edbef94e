// Watches a history without end at a level without real time, up to a stated horizon: every N
// consecutive transactions, in the order of lines, must satisfy the level by themselves.
//
//   N = 2:  { w(x,1) }  { r(x,1) w(x,2) }  { r(x,1) w(x,3) }
//   The last two violate serializability together with the first. No two of these violate it: of
//   the last two nobody wrote x = 1.
//
// Without real time a transaction may see a version of any age, so nothing could ever be forgotten.
// Windows of 2N lines are decided, each N lines further on: every N consecutive ones lie in one of
// them; all violations of a window are reported, even if they take more than N. An observation that
// no transaction in the window explains is left out, as one beyond may explain it: the rest is a
// projection of the whole history, so an alarm is a violation of the whole. This assumes that no
// value is written twice to one key by transactions further apart than a window, nor the initial
// one again, and that no key found absent is deleted later by the first delete of the history.
//
// Cost: each transaction is checked twice, and a window again for each alarm. Memory: 2N
// transactions, the lines that were read with them, and the names of the sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "history/held_value.h"
#include "watch/member.h"
#include "watch/watch.h"
#include "watch/window.h"

namespace assay::internal::watch {

class HorizonWatcher final : public Watch {
 public:
  HorizonWatcher(const WatchOptions& options, WatchListener& listener)
      : options_(options), listener_(listener) {}

  Status add(const std::shared_ptr<const History>& piece) override;
  Status decide_sealed() override { return decide(false); }
  Status finish() override { return decide(true); }
  const Progress& progress() override;
  int64_t overdue() const override;
  void note_loss(std::span<const HeldValue> sessions) override;

 private:
  struct Session {
    uint32_t line = 0;                   // the last line
    int64_t begin = Interval::kUnknown;  // the latest begin
    bool is_over = false;
  };

  Status take(const std::shared_ptr<const History>& piece, TxnId t);
  static bool has_lost_its_place(const History& h, TxnId t, const Session& session);
  Status take_event(const Event& event);
  Status decide(bool last);
  Result<bool> raise_alarm(Window window);
  void end_window();
  void drop(std::string reason);
  void report(std::string about, std::string reason, bool resumed);
  bool sessions_are_over() const;

  WatchOptions options_;
  WatchListener& listener_;
  Progress progress_;
  std::unordered_map<HeldValue, Session, HeldHash, HeldEqual> sessions_;
  std::vector<Member> members_;  // members of the window, in the order of lines
  size_t fresh_ = 0;             // number of the last ones, which are in no decided window yet
  uint64_t next_number_ = 0;
  int64_t now_ = Interval::kUnknown;
  bool whole_ = true;  // no transaction has been forgotten
  bool deletes_ = false;
  bool reported_ambiguous_ = false;
};

}  // namespace assay::internal::watch
