#include "collect/simulated/script.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace assay::internal::collect {
namespace {

bool single_operations(LevelId level) { return level_info(level).single_operations; }

}  // namespace

uint32_t Script::sessions_needed() const {
  uint32_t needed = 1;
  for (uint32_t txn = 0; txn < kTxns; ++txn)
    if (text.find(static_cast<char>('1' + txn)) != std::string_view::npos)
      needed = std::max(needed, sessions[txn] + 1);
  return needed;
}

Script ground_for(const Script& script) {
  return {.text = script.two_keys() ? "b1 w1x w1y c1" : "b1 w1x c1", .faulty = {}};
}

Script find_script(Anomaly bug, LevelId level, uint32_t replica_count) {
  if (single_operations(level)) {
    switch (bug) {
      case Anomaly::thin_air_read:
        return {.text = "b1 r1x c1", .faulty = "1"};
      case Anomaly::aborted_read:
        return {.text = "b1 w1x a1 b2 r2x c2", .faulty = "2"};
      case Anomaly::lost_update:
        return {.text = "b1 w1x c1 b2 u2x c2 b3 u3x c3", .faulty = "3", .lag = 1};
      case Anomaly::real_time_violation:
        // The value that was read was certainly overwritten; the one before might be from an
        // unknown outcome.
        return {.text = "b1 w1x c1 b2 w2x c2 b3 r3x c3", .faulty = "3", .lag = 1};
      default:
        return {};
    }
  }
  switch (bug) {
    case Anomaly::thin_air_read:
      return {.text = "b1 r1x c1", .faulty = "1"};
    case Anomaly::aborted_read:
      return {.text = "b1 r1x w1x a1 b2 r2x c2", .faulty = "2"};
    case Anomaly::future_read:
      return {.text = "b1 r1x w1x c1", .faulty = "1"};
    case Anomaly::not_my_last_write:
      return {.text = "b1 r1x w1x w1x r1x c1", .faulty = "1"};
    case Anomaly::not_my_own_write:
      return {.text = "b1 r1x w1x r1x c1", .faulty = "1"};
    case Anomaly::intermediate_read:
      return {.text = "b1 r1x w1x w1x c1 b2 r2x c2", .faulty = "2"};
    case Anomaly::non_repeatable_read:
      return {.text = "b1 r1x b2 r2x w2x c2 r1x c1", .faulty = "1"};
    case Anomaly::session_guarantee_violation:
      return {.text = "b1 r1x w1x c1 b2 r2x w2x c2 b3 r3x c3",
              .faulty = "3",
              .sessions = {0, 1, 1},
              .lag = 1};
    case Anomaly::non_monotonic_read:
      return {.text = "b1 r1x w1x c1 b2 r2x r2y w2x w2y c2 b3 r3y r3x c3", .faulty = "3", .lag = 1};
    case Anomaly::fractured_read:
      return {.text = "b2 r2y b1 r1x r1y w1x w1y c1 r2x c2", .faulty = "2"};
    case Anomaly::causality_violation:
      return {.text = "b1 r1x w1x c1 b2 r2x r2y w2y c2 b3 r3y r3x c3", .faulty = "3", .hidden = 1};
    case Anomaly::long_fork:
      // A writer and a reader at each of two replicas.
      return {.text = level_info(level).events == EventModel::single
                          ? "b3 b4 b1 b2 r1x w1x r2y w2y c1 c2 r3x r3y r4y r4x c3 c4"
                          : "b1 b2 r1x w1x r2y w2y c1 c2 b3 b4 r3x r3y r4y r4x c3 c4",
              .faulty = "1234",
              .sessions = {0, 1, replica_count, replica_count + 1},
              .apart = true};
    case Anomaly::lost_update:
      return {.text = "b1 b2 r1x r2x w1x w2x c1 c2", .faulty = "2"};
    case Anomaly::write_skew:
      return {.text = "b1 b2 r1x r1y r2x r2y w1x w2y c1 c2", .faulty = "2"};
    // Both insert a row, or make one satisfy the condition, that the other's query did not find.
    case Anomaly::g2:
      return {.text = "b1 b2 q1 q2 w1x w2y c1 c2", .faulty = "2"};
    case Anomaly::phantom:
      return {.text = "b1 q1 b2 w2x c2 q1 c1", .faulty = "1"};
    case Anomaly::g1c:
      return {.text = "b1 b2 w1x w2y r1y r2x c1 c2", .faulty = "12"};
    case Anomaly::real_time_violation:
      // SI levels: a snapshot newer than its begin. Serializable levels: a stale one.
      if (level_info(level).events == EventModel::split)
        return {.text = "b2 b1 r1x w1x c1 r2x c2", .faulty = "2"};
      return {.text = "b1 r1x w1x c1 b2 r2x c2", .faulty = "2", .lag = 1};
    default:
      return {};
  }
}

Script blind(Script script, Anomaly bug) {
  if (bug == Anomaly::non_repeatable_read) script.text = "b1 r1x b2 w2x c2 r1x c1";
  if (bug == Anomaly::fractured_read) script.text = "b2 r2y b1 w1x w1y c1 r2x c2";
  if (bug == Anomaly::long_fork)
    script.text = script.text.starts_with("b3") ? "b3 b4 b1 b2 w1x w2y c1 c2 r3x r3y r4y r4x c3 c4"
                                                : "b1 b2 w1x w2y c1 c2 b3 b4 r3x r3y r4y r4x c3 c4";
  return script;
}

void ScriptRun::begin(uint32_t txn) {
  TxnRecord& record = txns_[txn].record;
  record.session = script_.sessions[txn];
  ViewOptions view;
  view.faulty = script_.faulty.find(static_cast<char>('1' + txn)) != std::string_view::npos;
  view.lag = view.faulty ? script_.lag : 0;
  view.hidden = view.faulty && script_.hidden > 0 ? txns_[script_.hidden - 1].commit : 0;
  engine_.begin(record.session, view);
}

const Request& ScriptRun::read_of(std::string_view word) const {
  if (word[0] == 'q') return query_;
  return word[2] == 'x' ? x_ : y_;
}

Request ScriptRun::request(uint32_t session, char what, const Request& how) {
  if (what == 'r' || what == 'q') return how;
  const bool list = how.kind == OpKind::read_list;
  Request request{.kind = list ? OpKind::append : OpKind::write,
                  .key = how.key,
                  .value = std::exchange(foreseen_, {})};
  if (what == 'u') {
    Reply seen;
    engine_.call(session, {.kind = OpKind::read, .key = how.key}, seen);
    request.kind = OpKind::cas;
    request.expected = seen.value;
  }
  return request;
}

void ScriptRun::operate(uint32_t txn, char what, const Request& how) {
  TxnRecord& record = txns_[txn].record;
  if (foreseen_.is_null()) foreseen_ = values_.take_unique();
  // Harmless unless the bug is to read it.
  const Value foreseen = foreseen_;
  Step step;
  step.request = request(record.session, what, how);
  engine_.call(record.session, step.request, step.reply, foreseen);
  record.steps.push_back(std::move(step));
}

Result<int64_t> ScriptRun::run(int64_t start, const std::function<Status(TxnRecord&)>& finished) {
  engine_.replicate_all();
  engine_.set_apart(script_.apart);
  if (script_.queries()) {
    query_ = {.kind = OpKind::range};
    WrittenValues ahead = values_;
    query_.least = ahead.take_unique();
    query_.most = ahead.take_unique();
  }
  int64_t now = start;
  std::string_view rest = script_.text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const auto txn = static_cast<uint32_t>(word[1] - '1');
    TxnRecord& record = txns_[txn].record;
    const uint32_t session = script_.sessions[txn];
    const char what = word[0];
    if (what == 'b') clock_.begin(session);
    const int64_t at = clock_.send(session, now + 1);
    if (what == 'b') begin(txn);
    if (what == 'q' || word.size() == 3) operate(txn, what, read_of(word));
    if (what == 'a') engine_.abort(session);
    if (what == 'c') {
      const std::optional<Commit> commit = engine_.commit(session);
      assert(commit);  // the script runs alone, so nothing conflicts
      txns_[txn].commit = commit.value_or(0);
      if (!script_.apart) engine_.replicate_all();
    }
    const Interval answer = clock_.answer(session, at);
    now = clock_.answered(session);
    if (what == 'b') record.begin = answer;
    if (what != 'a' && what != 'c') continue;
    record.end = answer;
    record.status = what == 'c' ? TxnStatus::committed : TxnStatus::aborted;
    if (Status s = finished(record); !s.ok()) return s.error();
  }
  engine_.set_apart(false);
  return now;
}

}  // namespace assay::internal::collect
