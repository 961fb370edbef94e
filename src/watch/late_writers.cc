#include "watch/late_writers.h"

#include <algorithm>

#include "history/value_hash.h"

namespace assay::internal::watch {

void LateWriters::add(const Member& m, int64_t until) {
  const History& h = *m.piece;
  End end{until, m.number, {}};
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
    if (!installs_version(h.op(i))) continue;
    const Install install = install_of(h, i);
    end.keys.push_back(hash_value(h.key(install.key)));
    writes_[end.keys.back()].push_back(
        {m.number, hash_value(h.version_value(install.version)), install.removes});
  }
  if (!end.keys.empty()) ends_.push_back(std::move(end));
}

void LateWriters::forget_before(int64_t begin) {
  for (; !ends_.empty() && ends_.front().at < begin; ends_.pop_front()) remove(ends_.front());
}

void LateWriters::remove(const End& end) {
  for (const uint64_t key : end.keys) {
    const auto it = writes_.find(key);
    if (it == writes_.end()) continue;
    std::erase_if(it->second, [&](const Write& w) { return w.number == end.number; });
    if (it->second.empty()) writes_.erase(it);
  }
}

void LateWriters::remove(uint64_t number) {
  const auto end = std::ranges::find(ends_, number, &End::number);
  if (end == ends_.end()) return;
  remove(*end);
  ends_.erase(end);
}

bool LateWriters::may_explain(const History& h, const Observation& seen,
                              const std::unordered_set<uint64_t>& except) const {
  const auto it = writes_.find(hash_value(h.key(seen.key)));
  if (it == writes_.end()) return false;
  const auto explains = [&](const Write& w) {
    if (except.contains(w.number)) return false;
    if (seen.accepts != Accepts::equals) return true;
    const ValueView value = h.version_value(seen.version);
    return w.value == hash_value(value) || (w.removes && value.is_null());
  };
  return std::ranges::any_of(it->second, explains);
}

}  // namespace assay::internal::watch
