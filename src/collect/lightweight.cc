// The concurrency of real databases cannot be set from outside, so its effect on a checker is
// measured on generated histories (MTC, 2025).
//
// First every key is inserted. Then the clock advances in rounds, in each of which every session
// does one operation. Some sessions overlap, all of them with each other: they begin in the first
// half of the round and end in the second. The others follow one by one.
//
//   s1 |----------|              overlapping
//   s2    |----------|
//   s3                   |--|    after them
//
// The overlapping operations of a round take effect in a random order, then the others in their
// order; each compare-and-set expects the value it finds, or, to fail, one that was there before.

#include "collect/lightweight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "collect/workload.h"

namespace assay::internal::collect {
namespace {

constexpr Anomaly kBugs[] = {Anomaly::thin_air_read, Anomaly::lost_update,
                             Anomaly::real_time_violation};
constexpr int64_t kSlot = 1000;  // nanoseconds per session in a round
constexpr uint64_t kMostOperations = 1'000'000'000;

struct Register {
  Value now, before;
  uint64_t replaced_in = 0;  // the round in which `before` was
};

class Rounds {
 public:
  Rounds(const LightweightOptions& options, Sink& sink)
      : options_(options),
        sink_(sink),
        rng_(options.seed),
        values_(0, 1),
        keys_(options.keys),
        numbers_(options.sessions),
        order_(options.sessions) {
    std::iota(order_.begin(), order_.end(), 0u);
    const double share = options.concurrent * options.sessions;
    overlapping_ = static_cast<uint32_t>(std::ceil(share));
  }

  Result<GenerateStats> run() {
    if (Status s = insert_keys(); !s.ok()) return s.error();
    for (round_ = 1; round_ <= options_.txns; ++round_) {
      if (Status s = play(); !s.ok()) return s.error();
      if (options_.progress && round_ % 256 == 0)
        options_.progress(static_cast<double>(round_) / static_cast<double>(options_.txns));
    }
    if (options_.bug != Anomaly::none && planted_ < options_.bug_count)
      return usage_error(fmt::format("{} needs more operations on fewer keys", bug_name()));
    return stats_;
  }

 private:
  std::string_view bug_name() const { return anomaly_info(options_.bug).name; }
  Value key(uint64_t k) const { return Value::of(static_cast<int64_t>(k)); }

  Status insert_keys() {
    for (uint64_t k = 0; k < options_.keys; ++k) {
      TxnRecord record =
          start(static_cast<uint32_t>(k % options_.sessions), now_, now_ + kSlot / 2);
      keys_[k].now = values_.take();
      record.steps.push_back({{.kind = OpKind::insert, .key = key(k), .value = keys_[k].now}, {}});
      now_ += kSlot;
      if (Status s = write(record); !s.ok()) return s;
    }
    return Ok{};
  }

  // Plays a round with all sessions, the overlapping ones first.
  Status play() {
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[rng_.below(i)]);
    const int64_t half = kSlot * static_cast<int64_t>(overlapping_);
    for (uint32_t i = 0; i < options_.sessions; ++i) {
      TxnRecord record = start(order_[i], 0, 0);
      if (i < overlapping_) {
        record.begin = Interval::point(now_ + rng_.between(0, half - 1));
        record.end = Interval::point(now_ + half + rng_.between(0, half - 1));
      } else {
        const int64_t begin = now_ + 2 * half + kSlot * (i - overlapping_);
        record.begin = Interval::point(begin);
        record.end = Interval::point(begin + kSlot / 2);
      }
      operate(record);
      if (Status s = write(record); !s.ok()) return s;
    }
    now_ += 2 * half + kSlot * static_cast<int64_t>(options_.sessions - overlapping_ + 1);
    return Ok{};
  }

  TxnRecord start(uint32_t session, int64_t begin, int64_t end) {
    TxnRecord record;
    record.session = session;
    record.number = numbers_[session]++;
    record.begin = Interval::point(begin);
    record.end = Interval::point(end);
    return record;
  }

  void operate(TxnRecord& record) {
    const uint64_t k = rng_.below(options_.keys);
    Register& r = keys_[k];
    if (bug_due() && plant(record, k)) return;
    const double draw = rng_.unit();
    if (draw < options_.read_share) return read(record, k, r.now);
    if (draw < options_.read_share + options_.failed_share && !r.before.is_null())
      return compare_and_set(record, k, r.before, false);
    const bool lost = draw > 1 - options_.unknown_share;
    compare_and_set(record, k, r.now, true);
    if (lost) {
      record.status = TxnStatus::unknown;
      record.end = {};
      if (rng_.chance(0.5)) return;  // the request did not arrive either
    }
    r.before = r.now;
    r.now = record.steps[0].request.value;
    r.replaced_in = round_;
  }

  void read(TxnRecord& record, uint64_t k, const Value& value) const {
    Step step{{.kind = OpKind::read, .key = key(k)}, {}};
    step.reply.value = value;
    record.steps.push_back(std::move(step));
  }

  void compare_and_set(TxnRecord& record, uint64_t k, const Value& expected, bool effect) {
    Step step{{.kind = OpKind::cas, .key = key(k), .value = values_.take(), .expected = expected},
              {}};
    step.reply.effect = effect;
    record.steps.push_back(std::move(step));
  }

  bool bug_due() const {
    if (options_.bug == Anomaly::none || planted_ >= options_.bug_count) return false;
    return round_ > options_.txns / (options_.bug_count + 1) * (planted_ + 1);
  }

  // Returns false if the bug cannot be planted now: the replaced value must have been replaced in
  // an earlier round.
  bool plant(TxnRecord& record, uint64_t k) {
    const Register& r = keys_[k];
    if (options_.bug == Anomaly::thin_air_read) {
      read(record, k, values_.take());
    } else if (r.before.is_null() || r.replaced_in == round_) {
      return false;
    } else if (options_.bug == Anomaly::lost_update) {
      compare_and_set(record, k, r.before, true);
    } else {
      read(record, k, r.before);
    }
    ++planted_;
    return true;
  }

  Status write(const TxnRecord& record) {
    ++stats_.operations;
    ++(record.status == TxnStatus::committed ? stats_.committed : stats_.unknown);
    return sink_.transaction(record);
  }

  const LightweightOptions& options_;
  Sink& sink_;
  Rng rng_;
  WrittenValues values_;
  std::vector<Register> keys_;
  std::vector<uint64_t> numbers_;  // indexed by session
  std::vector<uint32_t> order_;    // the sessions in the order of the round
  uint32_t overlapping_ = 0;
  int64_t now_ = 0;
  uint64_t round_ = 0;
  uint32_t planted_ = 0;
  GenerateStats stats_;
};

Status check_options(const LightweightOptions& o) {
  const auto share = [](double s) { return s >= 0 && s <= 1; };
  if (o.sessions == 0 || o.txns == 0 || o.keys == 0)
    return usage_error("there must be at least one session, operation and key");
  if (o.txns > kMostOperations / o.sessions || o.keys > kMostOperations)
    return usage_error(fmt::format("there may be at most {} operations and keys", kMostOperations));
  if (!share(o.concurrent) || !share(o.read_share) || !share(o.failed_share) ||
      !share(o.unknown_share) || o.read_share + o.failed_share + o.unknown_share > 1)
    return usage_error("shares, and the sum of those of operations, must be between 0 and 1");
  if (o.bug != Anomaly::none && std::count(std::begin(kBugs), std::end(kBugs), o.bug) == 0)
    return usage_error(
        fmt::format("{} cannot be planted in lightweight transactions", anomaly_info(o.bug).name));
  return Ok{};
}

}  // namespace

std::span<const Anomaly> lightweight_bugs() { return kBugs; }

Result<GenerateStats> generate_lightweight(const LightweightOptions& options, Sink& sink) {
  if (Status s = check_options(options); !s.ok()) return s.error();
  const std::string meta = fmt::format(
      R"({{"tool":"assay generate","lightweight":true,"concurrent":{},"bug":{},"seed":{},)"
      R"("sessions":{},"txns":{},"keys":{},"read_share":{}}})",
      options.concurrent,
      options.bug == Anomaly::none ? "null" : fmt::format("\"{}\"", anomaly_info(options.bug).name),
      options.seed, options.sessions, options.txns, options.keys, options.read_share);
  if (Status s = sink.header(meta); !s.ok()) return s.error();
  Result<GenerateStats> stats = Rounds(options, sink).run();
  if (!stats.ok()) return stats;
  if (Status s = sink.finish(); !s.ok()) return s.error();
  return stats;
}

}  // namespace assay::internal::collect
