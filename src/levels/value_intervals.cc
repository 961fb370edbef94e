// Reads of a key that returned a value which the key did not hold while they ran; many operations
// may have written the value.
//
//   w(x,1) [0,1]   w(x,1) [2,3]   w(x,2) [4,5]   w(x,1) [9,10]   r(x,1) [6,8]
//
// A write is in force from its request until, at the latest, another one has been requested after
// its response and has responded. Here each of the first two writes of 1 is over at 5, and the
// third does not begin before 9: no write of the value was in force. So the question for a read is
// whether some write of its value was requested by the time of the read's response, and not over at
// its request. The latter holds if the write responded no sooner than the latest request among the
// writes that responded before the read began.
//
//   the writes, by response, with the latest request so far       what is over when a read begins
//   the writes of each value, by response from the last, with
//   the earliest request so far                                   whether one that is not over
//                                                                 began in time
//
// Thus the value is refuted without naming a source. The proof rules out one writer of the value
// after another, each by one or two cycles: it began too late, or another write came between it and
// the read.
//
// These are the zones of Gibbons and Korach (1997), for a value with many writers. Cost: O(n log
// n), and the writers of one value for the proof.

#include "levels/value_intervals.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "history/accesses.h"
#include "infer/stated_sources.h"

namespace assay::internal {
namespace {

class ValueIntervals {
 public:
  ValueIntervals(const History& history, const OperationTimes& times,
                 std::span<const TxnId> certain, std::span<const TxnId> possible)
      : history_(history), times_(times) {
    for (const std::span<const TxnId> txns : {certain, possible})
      for (const TxnId t : txns) note_write(t);
    const auto by_response = [this](TxnId a, TxnId b) { return times_[a].end < times_[b].end; };
    std::ranges::stable_sort(certain_writes_, by_response);
    latest_.assign(1, kNone);
    for (const TxnId t : certain_writes_)
      latest_.push_back(latest_.back() == kNone || times_[t].begin > times_[latest_.back()].begin
                            ? t
                            : latest_.back());
    for (auto& [version, value] : values_) {
      std::ranges::stable_sort(value.writers, [&](TxnId a, TxnId b) { return by_response(b, a); });
      for (const TxnId t : value.writers)
        value.earliest.push_back(std::min(
            value.earliest.empty() ? times_[t].begin : value.earliest.back(), times_[t].begin));
    }
  }

  std::optional<Proof> refute(std::span<const TxnId> certain) const {
    for (const TxnId t : certain) {
      const Observation seen = observation_of(history_, history_.first_op(t));
      if (seen.accepts != Accepts::equals || history_.version_value(seen.version).is_null())
        continue;
      if (history_.states_sources() && stated_source(history_, seen.op) != kNone) continue;
      if (!was_there(t, seen)) return proof(t, seen);
    }
    return std::nullopt;
  }

 private:
  struct Value {
    std::vector<TxnId> writers;     // the last response first
    std::vector<int64_t> earliest;  // indexed like writers: the earliest request up to that one
  };

  void note_write(TxnId t) {
    const OpId i = history_.first_op(t);
    if (!installs_version(history_.op(i))) return;
    const Install install = install_of(history_, i);
    values_[install.version].writers.push_back(t);  // a removal may have a value, too
    if (history_.status(t) == TxnStatus::committed) certain_writes_.push_back(t);
  }

  // The write that was requested last, among the writes that responded before the read began; kNone
  // if there is none.
  TxnId latest_before(TxnId read) const {
    const auto over = std::ranges::partition_point(
        certain_writes_, [&](TxnId t) { return times_[t].end < times_[read].begin; });
    return latest_[static_cast<size_t>(over - certain_writes_.begin())];
  }
  bool is_initial(const Observation& seen) const {
    return shows(history_, initial_state(history_, seen.key), seen.version);
  }
  bool is_over(TxnId write, TxnId latest) const {
    return latest != kNone && times_[write].end < times_[latest].begin;
  }

  bool was_there(TxnId read, const Observation& seen) const {
    const TxnId latest = latest_before(read);
    if (latest == kNone && is_initial(seen)) return true;
    const auto found = values_.find(seen.version);
    if (found == values_.end()) return false;
    const Value& value = found->second;
    const auto in_force =
        std::ranges::partition_point(value.writers, [&](TxnId t) { return !is_over(t, latest); });
    const auto count = static_cast<size_t>(in_force - value.writers.begin());
    return count > 0 && value.earliest[count - 1] <= times_[read].end;
  }

  Proof proof(TxnId read, const Observation& seen) const {
    Proof proof;
    ProofStep sources;
    sources.kind = ProofStep::Kind::sources;
    sources.source = seen.op;
    sources.key = seen.key;
    const TxnId latest = latest_before(read);
    std::vector<uint32_t> hints;
    std::vector<TxnId> writers;
    if (const auto found = values_.find(seen.version); found != values_.end())
      writers = found->second.writers;
    std::ranges::sort(writers);
    if (is_initial(seen)) writers.push_back(kNone);
    for (const TxnId writer : writers) {
      const Literal saw = Literal::seen(read, seen.key, writer);
      sources.clause.push_back(saw);
      if (writer == kNone || is_over(writer, latest)) {
        rule_out_overwritten(saw, latest, seen.op, proof);
      } else {
        rule_out_late(saw, seen.op, proof);
      }
      const auto steps = static_cast<uint32_t>(proof.steps.size());
      if (writer != kNone && is_over(writer, latest)) hints.push_back(steps - 2);
      hints.push_back(steps - 1);
    }
    hints.push_back(static_cast<uint32_t>(proof.steps.size()));
    proof.steps.push_back(std::move(sources));
    derive({}, std::move(hints), proof);
    return proof;
  }

  static ProofStep cycle(std::vector<Edge> edges, std::vector<Literal> given) {
    ProofStep step;
    step.cycle = std::move(edges);
    step.given = std::move(given);
    return step;
  }
  static void derive(std::vector<Literal> clause, std::vector<uint32_t> hints, Proof& proof) {
    ProofStep step;
    step.kind = ProofStep::Kind::derived;
    step.clause = std::move(clause);
    step.hints = std::move(hints);
    proof.steps.push_back(std::move(step));
  }

  // Refutes the source when the clock says writer < over and over < read.
  static void rule_out_overwritten(const Literal& saw, TxnId over, OpId op, Proof& proof) {
    const TxnId writer = saw.from, read = saw.to;
    if (writer != kNone)
      proof.steps.push_back(cycle({Edge::write_dependency(over, writer, saw.key),
                                   Edge::real_time(writer, true, over, false)},
                                  {}));
    proof.steps.push_back(cycle({Edge::anti_dependency(read, over, saw.key, writer, op),
                                 Edge::real_time(over, true, read, false)},
                                {saw}));
  }

  // Refutes the source when the clock says read < writer.
  void rule_out_late(const Literal& saw, OpId op, Proof& proof) const {
    const TxnId writer = saw.from, read = saw.to;
    const std::vector<Edge> edges = {Edge::read_dependency(writer, read, saw.key, op),
                                     Edge::real_time(read, true, writer, false)};
    if (history_.status(writer) == TxnStatus::committed) {
      proof.steps.push_back(cycle(edges, {saw}));
      return;
    }
    const auto first = static_cast<uint32_t>(proof.steps.size());
    proof.steps.push_back(cycle(edges, {saw, Literal::effect(writer)}));
    ProofStep effect;
    effect.kind = ProofStep::Kind::effect;
    effect.clause = {!saw, Literal::effect(writer)};
    proof.steps.push_back(std::move(effect));
    derive({!saw}, {first, first + 1}, proof);
  }

  const History& history_;
  const OperationTimes& times_;
  std::vector<TxnId> certain_writes_;  // sorted by response
  std::vector<TxnId> latest_;          // indexed by how many of the first writes are considered:
                                       // the one requested last
  std::unordered_map<VersionId, Value> values_;
};

}  // namespace

std::optional<Proof> refute_by_intervals(const History& history, const OperationTimes& times,
                                         std::span<const TxnId> certain,
                                         std::span<const TxnId> possible) {
  return ValueIntervals(history, times, certain, possible).refute(certain);
}

}  // namespace assay::internal
