// From the transactions of a log to lines {"key":…,"order":[…]}.
//
//   log: 3-17 writes x=1; 5-2 writes x=2
//                                                   y=7
//                                                   {"key":"x","order":[{"txn":"3-17","value":1},{"txn":"5-2","value":2}]}
//                                                   {"key":"y","order":[{"txn":"5-2","value":7}]}
//
// The entries of a key are in the order of the log. A transaction without a known name is entered
// by its values alone: they still identify it if only one transaction wrote them. At the end an
// event states the time up to which the orders are complete, unless the log may lack something. If
// a complete log lacks a transaction of unknown outcome that wrote something, and no remaining
// session can still commit it, an event states that it did not commit:
// {"event":"settled","aborted":["3-18"]}. If the log identifies transactions by the numbers that
// snapshots use, the rows that queries skipped are stated too (evidence/version_sets.h).
#include <fmt/format.h>

#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "collect/left_behind.h"
#include "evidence/log.h"
#include "evidence/version_sets.h"

namespace assay::internal::evidence {
namespace {

class VersionOrders : public collect::VersionLog {
 public:
  explicit VersionOrders(std::unique_ptr<Log> log) : log_(std::move(log)) {}

  Status start() override { return log_->start(); }
  std::string begins() const override { return log_->begins(); }
  Status resume(const std::string& begins) override { return log_->resume(begins); }

  void ended(const collect::TxnRecord& record) override {
    log_->ended(record);
    sets_.ended(record);
    if (record.status != TxnStatus::unknown || collect::left_behind(record).empty()) return;
    const std::lock_guard lock(mutex_);
    unknown_.insert(fmt::format("{}-{}", record.session, record.number));
  }

  Result<collect::VersionLogReport> write(int64_t now, collect::Sink& sink) override {
    collect::VersionLogReport report{.source = log_->source()};
    Status written = Ok{};
    Result<LogEnd> end = log_->read([&](LoggedTxn txn) {
      unknown_.erase(txn.name);
      if (txn.changes.empty()) return;
      if (written.ok() && !txn.name.empty() && !txn.position.empty())
        written = sink.event(Interval::kUnknown, logged(txn));
      add(std::move(txn), report);
    });
    if (!written.ok()) return written.error();
    if (!end.ok()) return end.error();
    report.position = end->position;
    report.missing = end->missing;
    for (const OrderedVersions& key : keys_) {
      report.versions += key.order.entries.size();
      if (Status s = sink.order(key.order); !s.ok()) return s.error();
    }
    report.queries = sets_.queries();
    if (end->numbers_name_txns && report.missing.empty())
      report.resolved_queries = sets_.write(keys_, names_, [&](const std::string& event) {
        if (written.ok()) written = sink.event(Interval::kUnknown, event);
      });
    if (!written.ok()) return written.error();
    Json event = {{"event", report.missing.empty() ? "complete" : "incomplete"},
                  {"at", now},
                  {"source", report.source},
                  {"position", report.position}};
    if (!report.missing.empty()) event["missing"] = report.missing;
    if (Status s = sink.event(now, event.dump()); !s.ok()) return s.error();
    // The absence of a transaction needs a complete log of names.
    if (!end->sessions_ended || !report.missing.empty() || report.unnamed > 0 || unknown_.empty())
      return report;
    report.not_committed = unknown_.size();
    const Json settled = {
        {"event", "settled"}, {"at", now}, {"source", report.source}, {"aborted", unknown_}};
    if (Status s = sink.event(now, settled.dump()); !s.ok()) return s.error();
    return report;
  }

 private:
  // Where to look for it on the server.
  static std::string logged(const LoggedTxn& txn) {
    Json event = {{"event", "logged"}, {"txn", txn.name}};
    if (!txn.server_id.empty()) event["xid"] = txn.server_id;
    event["position"] = txn.position;
    return event.dump();
  }

  void add(LoggedTxn txn, collect::VersionLogReport& report) {
    ++report.txns;
    report.unnamed += txn.name.empty();
    for (Change& change : txn.changes) {
      const auto [at, fresh] = places_.try_emplace(change.key, keys_.size());
      if (fresh) keys_.push_back({{change.key, {}}, {}});
      keys_[at->second].order.entries.push_back({std::move(change.value), txn.name});
      keys_[at->second].writers.push_back(static_cast<uint32_t>(names_.size()));
    }
    names_.push_back({std::move(txn.name), std::move(txn.server_id)});
  }

  std::unique_ptr<Log> log_;
  std::vector<OrderedVersions> keys_;
  std::vector<LoggedName> names_;                      // in the order of the log
  std::unordered_map<Value, size_t, KeyHash> places_;  // in keys_
  VersionSets sets_;
  std::mutex mutex_;
  std::set<std::string> unknown_;  // of unknown outcome, having written something
};

}  // namespace

std::unique_ptr<collect::VersionLog> version_orders_of(std::unique_ptr<Log> log) {
  return std::make_unique<VersionOrders>(std::move(log));
}

Result<std::unique_ptr<collect::VersionLog>> open_version_log(
    const collect::VersionLogOptions& options) {
  const std::string scheme = options.urls.front().substr(0, options.urls.front().find(':'));
  for (const LogInfo& info : all_logs()) {
    if (scheme != info.scheme && (info.alias.empty() || scheme != info.alias)) continue;
    if (!options.row_tables.empty() && !info.reads_rows)
      return usage_error(fmt::format(
          "--version-order with --sql reads only PostgreSQL's log, not that of {}; expected one of "
          "the two",
          scheme));
    Result<std::unique_ptr<Log>> log = info.open(options);
    if (!log.ok()) return log.error();
    return version_orders_of(std::move(*log));
  }
  std::string known;
  for (const LogInfo& info : all_logs())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", info.scheme);
  return usage_error(
      fmt::format("'{}' provides no version order; expected one of {}", scheme, known));
}

}  // namespace assay::internal::evidence
