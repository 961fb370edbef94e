#include "infer/open_reads.h"

#include <algorithm>

namespace assay {
OpenReads::OpenReads(const History& history, bool one_state)
    : h_(history), one_state_(one_state), seen_txns_(history.txn_count()) {}

void OpenReads::index_writers() {
  list_.assign(h_.key_count(), 0);
  absences_.resize(h_.key_count());
  std::vector<uint8_t> touched(h_.key_count());
  std::vector<TxnId> last(h_.key_count(), kNone);
  std::vector<State> states;
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
      states.push_back({t, op.version, op.kind == OpKind::remove});
      if (absent(states.back())) absences_[op.key].push_back(states.back());
    }
  }
  const auto sort_into = [&](std::vector<State>& sorted, std::vector<uint32_t>& begin, size_t rows,
                             auto row_of) {
    begin.assign(rows + 1, 0);
    for (const State& state : states) ++begin[row_of(state) + 1];
    for (size_t i = 0; i < rows; ++i) begin[i + 1] += begin[i];
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    sorted.resize(states.size());
    for (const State& state : states) sorted[next[row_of(state)]++] = state;
  };
  sort_into(writers_, key_begin_, h_.key_count(),
            [this](const State& state) { return h_.version_key(state.version); });
  sort_into(by_version_, version_begin_, h_.version_count(),
            [](const State& state) { return state.version; });
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
  if (list_.empty()) index_writers();
  for (size_t i = 0; i < open.size() && obstacle_.empty();) {
    const TxnId t = h_.txn_of(open[i]);
    size_t end = i + 1;
    while (end < open.size() && open[end] < h_.end_op(t)) ++end;
    if (!seen_txns_[t]) add_txn(t, {open.data() + i, open.data() + end});
    seen_txns_[t] = 1;
    i = end;
  }
}

void OpenReads::add_possible(const ReadsFrom& rf) {
  for (size_t read = 0; read < reads_.size() && obstacle_.empty(); ++read) {
    const std::vector<TxnId> sources = reads_[read].sources;  // more reads are added below
    for (const TxnId t : sources) {
      if (t == kNone || rf.node[t] != kNone || seen_txns_[t]) continue;
      possible_.push_back(t);
      add_all_of(t);
    }
  }
  std::sort(possible_.begin(), possible_.end());
}

void OpenReads::add_all_of(TxnId t) {
  if (list_.empty()) index_writers();
  seen_txns_[t] = 1;
  std::vector<OpId> all;
  for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) all.push_back(i);
  add_txn(t, all);
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
  const bool blind =
      op.kind == OpKind::write || op.kind == OpKind::remove || op.kind == OpKind::append;
  if (open && lists && !blind) {
    obstacle_ = "it reads a list";
  } else if (!lists && !blind) {
    for (const KeySeen& seen : seen_by(i)) add_seen(i, seen, open, own, groups, order);
  }
  if (installs_version(op)) own[op.key] = {h_.txn_of(i), op.version, op.kind == OpKind::remove};
}

void OpenReads::add_seen(OpId i, const KeySeen& seen, bool open,
                         const std::unordered_map<KeyId, State>& own,
                         std::unordered_map<KeyId, Group>& groups, std::vector<KeyId>& order) {
  if (open && list_[seen.key]) obstacle_ = "it reads a range with lists in it";
  const auto [it, fresh] = groups.try_emplace(seen.key);
  if (fresh) order.push_back(seen.key);
  Group& group = it->second;
  if (const auto written = own.find(seen.key); written != own.end()) {
    if (!open || fits(seen.accepts, written->second)) return;
    // Not what it wrote itself: nobody explains that.
    OpenRead unexplained;
    unexplained.op = i;
    unexplained.key = seen.key;
    unexplained.reader = h_.txn_of(i);
    unexplained.ops = {i};
    by_reader_[unexplained.reader].push_back(static_cast<uint32_t>(reads_.size()));
    reads_.push_back(std::move(unexplained));
    return;
  }
  group.external.push_back(seen.accepts);
  if (open) group.read.ops.push_back(i);
}

// Of each key that an operation sees, what it may have been.
std::vector<OpenReads::KeySeen> OpenReads::seen_by(OpId i) const {
  using enum Accepts::Kind;
  const Operation op = h_.op(i);
  switch (op.kind) {
    case OpKind::read:
      return {{op.key, {equals, op.version}}};
    case OpKind::cas:
      return {{op.key, {op.effect ? equals : differs, h_.operands(i)[0]}}};
    case OpKind::insert:
      return {{op.key, {op.effect ? absent : present, kNone}}};
    case OpKind::range:
      return seen_by_range(i);
    default:
      return {};
  }
}

// The keys it covers and those of its rows, which a range that is right covers, once each.
std::vector<OpenReads::KeySeen> OpenReads::seen_by_range(OpId i) const {
  using enum Accepts::Kind;
  const std::span<const uint32_t> operands = h_.operands(i);
  const auto less = [this](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); };
  auto from = sorted_.begin(), to = sorted_.end();
  if (operands[0] != kNone) from = std::lower_bound(from, to, operands[0], less);
  if (operands[1] != kNone) to = std::upper_bound(from, to, operands[1], less);
  std::vector<KeySeen> seen;
  seen.reserve(static_cast<size_t>(to - from));
  for (VersionId row : operands.subspan(2)) {
    const KeyId key = h_.version_key(row);
    const bool outside = (operands[0] != kNone && less(key, operands[0])) ||
                         (operands[1] != kNone && less(operands[1], key));
    seen.push_back({key, {outside ? nothing : equals, row}});
  }
  const size_t rows = seen.size();
  const auto by_key = [](const KeySeen& a, const KeySeen& b) { return a.key < b.key; };
  std::sort(seen.begin(), seen.end(), by_key);
  for (size_t k = 1; k < rows; ++k)  // a key is listed once
    if (seen[k].key == seen[k - 1].key) seen[k].accepts.kind = seen[k - 1].accepts.kind = nothing;
  for (; from != to; ++from) {
    const KeySeen unlisted{*from, {absent, kNone}};
    const auto end = seen.begin() + static_cast<std::ptrdiff_t>(rows);
    if (!std::binary_search(seen.begin(), end, unlisted, by_key)) seen.push_back(unlisted);
  }
  std::sort(seen.begin(), seen.end(), by_key);
  seen.erase(std::unique(seen.begin(), seen.end(),
                         [](const KeySeen& a, const KeySeen& b) { return a.key == b.key; }),
             seen.end());
  return seen;
}

bool OpenReads::shows(const State& state, VersionId version) const {
  if (state.writer == kNone) return h_.is_initial(version);
  return state.version == version || (state.removed && is_null(version));
}

bool OpenReads::absent(const State& state) const {
  if (state.writer == kNone) return h_.initial().is_null();
  return state.removed || is_null(state.version);
}

// Whether an operation returned what it had to if it met this state of the key.
bool OpenReads::fits(const Accepts& accepts, const State& state) const {
  switch (accepts.kind) {
    case Accepts::Kind::equals:
      return shows(state, accepts.version);
    case Accepts::Kind::differs:
      return !shows(state, accepts.version);
    case Accepts::Kind::absent:
      return absent(state);
    case Accepts::Kind::present:
      return !absent(state);
    case Accepts::Kind::nothing:
      break;
  }
  return false;
}

// What writers left that may fit: the fewest that one of the observations allows.
std::span<const OpenReads::State> OpenReads::candidates(KeyId key,
                                                        std::span<const Accepts> external) const {
  bool must_be_absent = false;
  for (const Accepts& accepts : external) {
    if (accepts.kind == Accepts::Kind::equals && !is_null(accepts.version))
      return {by_version_.data() + version_begin_[accepts.version],
              by_version_.data() + version_begin_[accepts.version + 1]};
    must_be_absent = must_be_absent || accepts.kind == Accepts::Kind::absent ||
                     accepts.kind == Accepts::Kind::equals;
  }
  if (must_be_absent) return absences_[key];
  return {writers_.data() + key_begin_[key], writers_.data() + key_begin_[key + 1]};
}

void OpenReads::find_sources(Group& group) {
  const auto fit = [&](const State& state) {
    return std::all_of(group.external.begin(), group.external.end(),
                       [&](const Accepts& accepts) { return fits(accepts, state); });
  };
  for (const State& state : candidates(group.read.key, group.external))
    if (state.writer != group.read.reader && fit(state)) group.read.sources.push_back(state.writer);
  if (fit(State{})) group.read.sources.push_back(kNone);
}

BadRead OpenReads::dirty_read(const OpenRead& read) const {
  const OpId first = h_.first_op(read.reader), end = h_.end_op(read.reader);
  for (const OpId i : read.ops) {
    for (OpId own = first; own < i; ++own)
      if (h_.op(own).key == read.key && installs_version(h_.op(own))) return {};
    Accepts accepts;
    for (const KeySeen& seen : seen_by(i))
      if (seen.key == read.key) accepts = seen.accepts;
    const std::span<const State> left = candidates(read.key, {&accepts, 1});
    const bool clean =
        fits(accepts, State{}) || std::any_of(left.begin(), left.end(), [&](const State& state) {
          return state.writer != read.reader && fits(accepts, state);
        });
    // Nobody who counts left what it saw: any other write of it is aborted or overwritten.
    for (OpId w = 0; w < h_.op_count() && !clean; ++w) {
      const Operation op = h_.op(w);
      if ((w >= first && w < end) || op.key != read.key || !installs_version(op)) continue;
      const TxnId writer = h_.txn_of(w);
      if (!fits(accepts, {writer, op.version, op.kind == OpKind::remove})) continue;
      const bool aborted = h_.status(writer) == TxnStatus::aborted;
      return {aborted ? Anomaly::aborted_read : Anomaly::intermediate_read, i, w};
    }
  }
  return {};
}

bool order_explains(const History& history, const OpenReads& open, const Order& order) {
  std::vector<TxnId> current(history.key_count(), kNone);
  for (const uint32_t event : order.events) {
    const TxnId t = order.split ? event / 2 : event;
    if (!order.split || event % 2 == 0) {
      for (const uint32_t read : open.of(t)) {
        const OpenRead& r = open.all()[read];
        if (!std::binary_search(r.sources.begin(), r.sources.end(), current[r.key])) return false;
      }
    }
    if (order.split && event % 2 == 0) continue;
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (const Operation op = history.op(i); installs_version(op)) current[op.key] = t;
  }
  return true;
}

}  // namespace assay
