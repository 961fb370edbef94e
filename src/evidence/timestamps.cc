// Databases whose sessions learn the timestamp at which their transaction committed: TiDB, and
// programs behind exec: that report a commit_ts. No log is needed: the versions of a key were
// installed in the order of their writers' timestamps.
//
//   3-17 wrote x=1 at 407, 5-2 wrote x=2 at 398        x: 2, 1
//
// The timestamp of a transaction of unknown outcome is unknown, even whether it has one, so the
// orders are complete only if no such transaction wrote.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "collect/left_behind.h"
#include "evidence/log.h"

namespace assay::internal::evidence {
namespace {

class TimestampLog : public Log {
 public:
  std::string source() const override { return "commit timestamps"; }
  Status start() override { return Ok{}; }

  void ended(const collect::TxnRecord& record) override {
    if (record.status == TxnStatus::aborted) return;
    std::vector<Change> changes;
    for (collect::Version& left : collect::left_behind(record))
      changes.push_back({std::move(left.key), std::move(left.value)});
    if (changes.empty()) return;
    const std::lock_guard lock(mutex_);
    if (record.status == TxnStatus::unknown) {
      ++unknown_;
    } else if (record.commit_ts == Interval::kUnknown) {
      ++missed_;
    } else {
      txns_.push_back({record.commit_ts, fmt::format("{}-{}", record.session, record.number),
                       std::move(changes)});
    }
  }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    const std::lock_guard lock(mutex_);
    std::sort(txns_.begin(), txns_.end(),
              [](const Committed& a, const Committed& b) { return a.at < b.at; });
    std::string tied;
    for (size_t from = 0; from < txns_.size() && tied.empty();) {
      size_t to = from + 1;
      while (to < txns_.size() && txns_[to].at == txns_[from].at) ++to;
      tied = tie(from, to);
      for (; tied.empty() && from < to; ++from)
        take({std::move(txns_[from].name),
              {},
              {},  // the history already has the timestamp
              std::move(txns_[from].changes)});
    }
    LogEnd log_end{fmt::format("timestamp {}", txns_.empty() ? 0 : txns_.back().at), tied};
    if (log_end.missing.empty() && missed_ > 0)
      log_end.missing = fmt::format("transactions without a timestamp: {}", missed_);
    if (log_end.missing.empty() && unknown_ > 0)
      log_end.missing = fmt::format("transactions of unknown outcome that wrote: {}", unknown_);
    return log_end;
  }

 private:
  // Two transactions with one timestamp that wrote the same key: later ones are left out.
  // Empty if there are none.
  std::string tie(size_t from, size_t to) const {
    std::unordered_map<Value, size_t, KeyHash> writer;
    for (size_t i = from; to - from > 1 && i < to; ++i)
      for (const Change& change : txns_[i].changes) {
        const auto [other, first] = writer.try_emplace(change.key, i);
        if (!first && other->second != i)
          return fmt::format("{} and {} have the same commit timestamp, {}",
                             txns_[other->second].name, txns_[i].name, txns_[i].at);
      }
    return "";
  }

  struct Committed {
    int64_t at;
    std::string name;
    std::vector<Change> changes;
  };

  std::mutex mutex_;  // of what follows
  std::vector<Committed> txns_;
  uint64_t missed_ = 0, unknown_ = 0;
};

}  // namespace

Result<std::unique_ptr<Log>> open_timestamp_log(const collect::VersionLogOptions&) {
  return std::unique_ptr<Log>(std::make_unique<TimestampLog>());
}

}  // namespace assay::internal::evidence
