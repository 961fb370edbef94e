#include "collect/simulated/commit_log.h"

#include <fmt/format.h>

#include "collect/left_behind.h"

namespace assay::internal::collect {
void CommitLog::add(const TxnRecord& record, const Value* key) {
  const std::string name = fmt::format("{}-{}", record.session, record.number);
  const auto put = [&](const Value& at, const Value& value) {
    const auto [place, fresh] = places_.try_emplace(at, orders_.size());
    if (fresh) orders_.push_back({at, {}});
    orders_[place->second].entries.push_back({value, name});
  };
  if (txns_.empty() || txns_.back() != name) txns_.push_back(name);
  for (const Version& left : left_behind(record))
    if (key == nullptr || left.key == *key) put(left.key, left.value);
}

Status CommitLog::write(Sink& sink, int64_t now) {
  for (size_t i = 0; i < txns_.size(); ++i) {
    const std::string event =
        fmt::format(R"({{"event":"logged","txn":"{}","position":"{}"}})", txns_[i], i + 1);
    if (Status s = sink.event(Interval::kUnknown, event); !s.ok()) return s;
  }
  for (const OrderRecord& order : orders_)
    if (Status s = sink.order(order); !s.ok()) return s;
  const std::string event = fmt::format(
      R"({{"event":"complete","at":{},"source":"simulated commit log","position":"{}"}})", now,
      txns_.size());
  orders_.clear();
  places_.clear();
  txns_.clear();
  return sink.event(now, event);
}

}  // namespace assay::internal::collect
