#include "infer/open_reads.h"

#include <algorithm>

namespace assay {
namespace {

// More than this many (read, writer) pairs are not listed.
constexpr uint64_t kMostSources = 4'000'000;

}  // namespace

OpenReads::OpenReads(const History& history, bool one_state)
    : h_(history), one_state_(one_state), seen_txns_(history.txn_count()) {}

void OpenReads::index_writers() {
  writers_.resize(h_.key_count());
  list_.assign(h_.key_count(), 0);
  std::vector<uint8_t> touched(h_.key_count());
  std::vector<TxnId> last(h_.key_count(), kNone);
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h_.end_op(t); i-- > h_.first_op(t);) {
      const Operation op = h_.op(i);
      if (op.kind == OpKind::range) {
        for (VersionId row : h_.operands(i).subspan(2)) touched[h_.version_key(row)] = 1;
        continue;
      }
      touched[op.key] = 1;
      if (op.kind == OpKind::append || op.kind == OpKind::read_list) list_[op.key] = 1;
      if (!installs_version(op) || last[op.key] == t) continue;
      last[op.key] = t;
      writers_[op.key].push_back({t, op.version, op.kind == OpKind::remove});
    }
  }
  for (KeyId k = 0; k < h_.key_count(); ++k)
    if (touched[k]) sorted_.push_back(k);
  std::sort(sorted_.begin(), sorted_.end(),
            [this](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); });
}

const std::vector<uint32_t>& OpenReads::of(TxnId reader) const {
  static const std::vector<uint32_t> kNothing;
  const auto it = by_reader_.find(reader);
  return it == by_reader_.end() ? kNothing : it->second;
}

void OpenReads::add(const ReadsFrom& rf) {
  const std::vector<OpId>& open = rf.unresolved;
  if (open.empty()) return;
  if (writers_.empty()) index_writers();
  for (size_t i = 0; i < open.size() && obstacle_.empty();) {
    const TxnId t = h_.txn_of(open[i]);
    size_t end = i + 1;
    while (end < open.size() && open[end] < h_.end_op(t)) ++end;
    if (!seen_txns_[t]) add_txn(t, {open.data() + i, open.data() + end});
    seen_txns_[t] = 1;
    i = end;
  }
}

void OpenReads::add_txn(TxnId t, std::span<const OpId> unresolved) {
  std::unordered_map<KeyId, State> own;
  std::unordered_map<KeyId, Group> groups;
  std::vector<KeyId> order;
  const auto flush = [&] {
    for (KeyId key : order) {
      Group& group = groups.at(key);
      if (group.read.ops.empty()) continue;
      group.read.op = group.read.ops.front();
      group.read.key = key;
      group.read.reader = t;
      find_sources(group);
      by_reader_[t].push_back(static_cast<uint32_t>(reads_.size()));
      reads_.push_back(std::move(group.read));
    }
    order.clear();
    groups.clear();
  };
  for (OpId i = h_.first_op(t); i < h_.end_op(t) && obstacle_.empty(); ++i) {
    add_op(i, std::binary_search(unresolved.begin(), unresolved.end(), i), own, groups, order);
    if (!one_state_) flush();
  }
  flush();
}

void OpenReads::add_op(OpId i, bool open, std::unordered_map<KeyId, State>& own,
                       std::unordered_map<KeyId, Group>& groups, std::vector<KeyId>& order) {
  const Operation op = h_.op(i);
  const bool lists = op.kind == OpKind::append || op.kind == OpKind::read_list ||
                     (op.kind != OpKind::range && list_[op.key]);
  if (open && lists) {
    obstacle_ = "it reads a list";
  } else if (!lists && op.kind != OpKind::write && op.kind != OpKind::remove) {
    std::vector<KeyId> keys;
    keys_of(i, keys);
    for (KeyId key : keys) add_seen(i, key, open, own, groups, order);
  }
  if (installs_version(op)) own[op.key] = {h_.txn_of(i), op.version, op.kind == OpKind::remove};
}

void OpenReads::add_seen(OpId i, KeyId key, bool open, const std::unordered_map<KeyId, State>& own,
                         std::unordered_map<KeyId, Group>& groups, std::vector<KeyId>& order) {
  if (open && list_[key]) obstacle_ = "it reads a range with lists in it";
  const auto [it, fresh] = groups.try_emplace(key);
  if (fresh) order.push_back(key);
  Group& group = it->second;
  if (const auto written = own.find(key); written != own.end()) {
    if (!open || fits(i, key, written->second)) return;
    // Not what it wrote itself: nobody explains that.
    OpenRead unexplained;
    unexplained.op = i;
    unexplained.key = key;
    unexplained.reader = h_.txn_of(i);
    unexplained.ops = {i};
    by_reader_[unexplained.reader].push_back(static_cast<uint32_t>(reads_.size()));
    reads_.push_back(std::move(unexplained));
    return;
  }
  group.external.push_back(i);
  if (open) group.read.ops.push_back(i);
}

// The keys that an operation sees a state of.
void OpenReads::keys_of(OpId i, std::vector<KeyId>& keys) const {
  const Operation op = h_.op(i);
  if (op.kind != OpKind::range) {
    keys.push_back(op.key);
    return;
  }
  const std::span<const uint32_t> operands = h_.operands(i);
  const auto less = [this](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); };
  auto from = sorted_.begin(), to = sorted_.end();
  if (operands[0] != kNone) from = std::lower_bound(from, to, operands[0], less);
  if (operands[1] != kNone) to = std::upper_bound(from, to, operands[1], less);
  keys.assign(from, to);
  for (VersionId row : operands.subspan(2)) keys.push_back(h_.version_key(row));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

bool OpenReads::shows(const State& state, VersionId version) const {
  if (state.writer == kNone) return h_.is_initial(version);
  return state.version == version || (state.removed && h_.version_value(version).is_null());
}

bool OpenReads::absent(const State& state) const {
  if (state.writer == kNone) return h_.initial().is_null();
  return state.removed || h_.version_value(state.version).is_null();
}

// Whether the operation returned what it had to if it met this state of the key.
bool OpenReads::fits(OpId i, KeyId key, const State& state) const {
  const Operation op = h_.op(i);
  switch (op.kind) {
    case OpKind::read:
      return shows(state, op.version);
    case OpKind::cas:
      return shows(state, h_.operands(i)[0]) == op.effect;
    case OpKind::insert:
      return absent(state) == op.effect;
    case OpKind::range:
      break;
    default:
      return true;
  }
  const std::span<const uint32_t> operands = h_.operands(i);
  const auto is_less = [this](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); };
  const bool outside = (operands[0] != kNone && is_less(key, operands[0])) ||
                       (operands[1] != kNone && is_less(operands[1], key));
  VersionId row = kNone;
  for (VersionId version : operands.subspan(2)) {
    if (h_.version_key(version) != key) continue;
    if (row != kNone || outside) return false;
    row = version;
  }
  return row == kNone ? absent(state) : shows(state, row);
}

void OpenReads::find_sources(Group& group) {
  const KeyId key = group.read.key;
  const std::vector<State>& writers = writers_[key];
  sources_ += writers.size() + 1;
  if (sources_ > kMostSources) {
    obstacle_ = "there are too many writers to choose from";
    return;
  }
  const auto fit = [&](const State& state) {
    return std::all_of(group.external.begin(), group.external.end(),
                       [&](OpId i) { return fits(i, key, state); });
  };
  for (const State& state : writers)
    if (state.writer != group.read.reader && fit(state)) group.read.sources.push_back(state.writer);
  if (fit(State{})) group.read.sources.push_back(kNone);
}

BadRead OpenReads::dirty_read(const OpenRead& read) const {
  const OpId first = h_.first_op(read.reader), end = h_.end_op(read.reader);
  for (const OpId i : read.ops) {
    for (OpId own = first; own < i; ++own)
      if (h_.op(own).key == read.key && installs_version(h_.op(own))) return {};
    const std::vector<State>& writers = writers_[read.key];
    const bool clean = fits(i, read.key, State{}) ||
                       std::any_of(writers.begin(), writers.end(), [&](const State& state) {
                         return state.writer != read.reader && fits(i, read.key, state);
                       });
    // Nobody who counts left what it saw: any other write of it is aborted or overwritten.
    for (OpId w = 0; w < h_.op_count() && !clean; ++w) {
      const Operation op = h_.op(w);
      if ((w >= first && w < end) || op.key != read.key || !installs_version(op)) continue;
      const TxnId writer = h_.txn_of(w);
      if (!fits(i, read.key, {writer, op.version, op.kind == OpKind::remove})) continue;
      const bool aborted = h_.status(writer) == TxnStatus::aborted;
      return {aborted ? Anomaly::aborted_read : Anomaly::intermediate_read, i, w};
    }
  }
  return {};
}

}  // namespace assay
