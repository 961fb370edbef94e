#include "collect/left_behind.h"

#include <unordered_map>

namespace assay::internal::collect {
namespace {

// The value that a step put into a register, if it did.
const Value* installed(const Step& step) {
  static const Value kDeleted;
  const OpKind kind = step.request.kind;
  if (!changes_data(kind) || kind == OpKind::append) return nullptr;
  if (kind != OpKind::write && !step.reply.effect) return nullptr;
  return kind == OpKind::remove ? &kDeleted : &step.request.value;
}

}  // namespace

std::vector<Version> left_behind(const TxnRecord& record) {
  std::unordered_map<Value, const Step*, KeyHash> last;
  for (const Step& step : record.steps)
    if (installed(step) != nullptr) last[step.request.key] = &step;
  std::vector<Version> left;
  for (const Step& step : record.steps) {
    if (step.request.kind == OpKind::append) left.push_back({step.request.key, step.request.value});
    if (const Value* value = installed(step); value != nullptr && last[step.request.key] == &step)
      left.push_back({step.request.key, *value});
  }
  return left;
}

}  // namespace assay::internal::collect
