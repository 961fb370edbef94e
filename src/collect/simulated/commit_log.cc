#include "collect/simulated/commit_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::internal::collect {
namespace {

// The value that a step put into a register, if it did.
const Value* installed(const Step& step) {
  static const Value kDeleted;
  switch (step.request.kind) {
    case OpKind::write:
      return &step.request.value;
    case OpKind::remove:
      return step.reply.effect ? &kDeleted : nullptr;
    case OpKind::insert:
    case OpKind::cas:
      return step.reply.effect ? &step.request.value : nullptr;
    case OpKind::read:
    case OpKind::read_list:
    case OpKind::range:
    case OpKind::append:
      break;
  }
  return nullptr;
}

}  // namespace

void CommitLog::add(const TxnRecord& record, const Value* key) {
  const std::string name = fmt::format("{}-{}", record.session, record.number);
  const auto put = [&](const Value& at, const Value& value) {
    const auto [place, fresh] = places_.try_emplace(at, orders_.size());
    if (fresh) orders_.push_back({at, {}});
    orders_[place->second].entries.push_back({value, name});
  };
  if (txns_.empty() || txns_.back() != name) txns_.push_back(name);
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const Step& step = record.steps[i];
    if (key != nullptr && !(step.request.key == *key)) continue;
    if (step.request.kind == OpKind::append) put(step.request.key, step.request.value);
    const Value* value = installed(step);
    const auto overwrites = [&](const Step& later) {
      return later.request.key == step.request.key && installed(later) != nullptr;
    };
    if (value != nullptr && std::none_of(record.steps.begin() + static_cast<ptrdiff_t>(i) + 1,
                                         record.steps.end(), overwrites))
      put(step.request.key, *value);
  }
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
