#include "infer/open_reads.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "infer/replay.h"

namespace assay::internal {
std::span<const TxnId> SourcePool::store(std::span<const TxnId> sources) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < sources.size())
    blocks_.emplace_back().reserve(std::max(kBlock, sources.size()));
  std::vector<TxnId>& block = blocks_.back();
  block.insert(block.end(), sources.begin(), sources.end());
  return std::span(block).last(sources.size());
}

OpenReads::OpenReads(const History& history, bool one_state, const std::vector<SkippedRow>* rows,
                     std::span<const OpId> aggregates)
    : h_(history),
      one_state_(one_state),
      rows_(rows),
      aggregates_(history, aggregates),
      lists_(history),
      seen_txns_(history.txn_count()) {}

void OpenReads::index_history() {
  if (keys_) return;
  keys_.emplace(h_);
  sources_.emplace(h_);
}

const std::vector<uint32_t>& OpenReads::of(TxnId reader) const {
  static const std::vector<uint32_t> kNothing;
  const auto it = by_reader_.find(reader);
  return it == by_reader_.end() ? kNothing : it->second;
}

void OpenReads::add(const Problem& problem, Budget& budget) {
  constexpr uint64_t kAskEvery = 4 << 20;
  std::vector<OpId> open = problem.unresolved;
  for (const OpenAggregate& one : aggregates_.all())
    if (problem.node_of(one.terms.reader()) != kNone) open.push_back(one.terms.op());
  if (open.empty()) return;
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  index_history();
  certain_ = true;
  mixed_ = problem.found.mixed != kNone;
  for (size_t i = 0; i < open.size() && obstacle_.empty();) {
    const TxnId t = h_.txn_of(open[i]);
    size_t end = i + 1;
    while (end < open.size() && open[end] < h_.end_op(t)) ++end;
    if (!seen_txns_[t]) add_txn(t, {open.data() + i, open.data() + end});
    seen_txns_[t] = 1;
    i = end;
    if (listed_ >= kAskEvery && !budget.has_room(std::exchange(listed_, 0)))
      obstacle_ = budget.reason().detail;
  }
}

void OpenReads::add_possible(const Problem& problem, Budget& budget) {
  size_t read = 0, list = 0;
  do {
    for (; read < reads_.size() && obstacle_.empty(); ++read) {
      const std::span<const TxnId> sources = reads_[read].sources;  // a copy, since more reads are
                                                                    // added below
      for (const TxnId t : sources) add_possible_txn(t, problem);
    }
    for (; list < lists_.added() && obstacle_.empty(); ++list)
      for (const TxnId t : lists_.possible_writers(lists_.added(list)))
        add_possible_txn(t, problem);
  } while (obstacle_.empty() && (read < reads_.size() || add_lists_of(problem)));
  std::sort(possible_.begin(), possible_.end());
  const auto counts = [&](TxnId t) {
    return problem.node_of(t) != kNone || std::binary_search(possible_.begin(), possible_.end(), t);
  };
  if (!lists_.finish(counts, budget)) obstacle_ = budget.reason().detail;
}

void OpenReads::add_possible_txn(TxnId t, const Problem& problem) {
  if (t == kNone || problem.node_of(t) != kNone || seen_txns_[t]) return;
  possible_.push_back(t);
  add_all_of(t);
}

// A list whose elements all have certain writers may still lack the append of a transaction that
// only possibly took effect, and may share its beginning with a list that is open. Returns whether
// any new list was added.
bool OpenReads::add_lists_of(const Problem& problem) {
  std::vector<uint8_t> of_key(h_.key_count());
  std::vector<OpId> added;
  for (size_t i = 0; i < lists_.added(); ++i) {
    added.push_back(lists_.added(i));
    of_key[h_.op(added.back()).key] = 1;
  }
  std::sort(added.begin(), added.end());
  for (const TxnId t : possible_)
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (install_of(h_, i).appends) of_key[h_.op(i).key] = 1;
  if (std::none_of(of_key.begin(), of_key.end(), [](uint8_t any) { return any != 0; }))
    return false;
  for (const TxnId t : problem.txn) {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (observation_of(h_, i).accepts != Accepts::list || !of_key[h_.op(i).key] ||
          std::binary_search(added.begin(), added.end(), i))
        continue;
      lists_.add(i, true);
    }
  }
  return lists_.added() > added.size();
}

void OpenReads::note_reads_of_aggregates(TxnId t) {
  if (aggregates_.of(t).empty()) return;
  std::unordered_map<KeyId, uint32_t> read_of;
  for (const uint32_t read : of(t)) read_of.emplace(reads_[read].key, read);
  aggregates_.note_reads(t, read_of);
}

bool OpenReads::is_open(TxnId reader, KeyId key) const {
  return std::ranges::any_of(of(reader), [&](uint32_t read) { return reads_[read].key == key; });
}

// Returns the rows that are not among the reads.
std::vector<SkippedRow> OpenReads::missing(std::span<const SkippedRow> rows) const {
  std::vector<SkippedRow> more;
  std::ranges::copy_if(rows, std::back_inserter(more), [this](const SkippedRow& row) {
    return std::ranges::none_of(of(h_.txn_of(row.query)), [&](uint32_t read) {
      return reads_[read].key == row.key &&
             std::ranges::find(reads_[read].ops, row.query) != reads_[read].ops.end();
    });
  });
  return more;
}

bool OpenReads::add_rows(std::span<const SkippedRow> skipped, const Problem& problem) {
  index_history();
  const size_t first = reads_.size();
  const std::vector<SkippedRow> rows = missing(skipped);
  if (std::ranges::any_of(
          rows, [this](const SkippedRow& row) { return is_open(h_.txn_of(row.query), row.key); }))
    return false;
  const std::vector<SkippedRow>* const before = std::exchange(rows_, &rows);
  std::vector<OpId> queries;
  std::vector<KeyId> keys;
  only_ = &keys;
  for (size_t i = 0; i < rows.size();) {
    const TxnId t = h_.txn_of(rows[i].query);
    queries.clear();
    keys.clear();
    for (; i < rows.size() && rows[i].query < h_.end_op(t); ++i) {
      if (queries.empty() || queries.back() != rows[i].query) queries.push_back(rows[i].query);
      keys.push_back(rows[i].key);
    }
    std::sort(keys.begin(), keys.end());
    add_txn(t, queries);
  }
  only_ = nullptr;
  rows_ = before;
  const auto counts = [&](TxnId t) { return t == kNone || problem.node_of(t) != kNone; };
  const bool all = std::all_of(
      reads_.begin() + static_cast<std::ptrdiff_t>(first), reads_.end(), [&](const OpenRead& read) {
        return !read.sources.empty() && std::ranges::all_of(read.sources, counts);
      });
  if (!all) drop_from(first);
  return reads_.size() > first && obstacle_.empty();
}

void OpenReads::drop_from(size_t first) {
  for (; reads_.size() > first; reads_.pop_back()) by_reader_[reads_.back().reader].pop_back();
}

void OpenReads::add_all_of(TxnId t) {
  index_history();
  seen_txns_[t] = 1;
  certain_ = false;
  std::vector<OpId> all;
  for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) all.push_back(i);
  add_txn(t, all);
}

void OpenReads::add_txn(TxnId t, std::span<const OpId> unresolved) {
  std::unordered_map<KeyId, KeyState> own;
  std::unordered_map<KeyId, Group> groups;
  std::vector<KeyId> order;
  const auto flush = [&] {
    for (KeyId key : order) {
      Group& group = groups.at(key);
      if (group.read.ops.empty() || !wants(key)) continue;
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
  note_reads_of_aggregates(t);
}

void OpenReads::add_op(OpId i, bool open, std::unordered_map<KeyId, KeyState>& own,
                       std::unordered_map<KeyId, Group>& groups, std::vector<KeyId>& order) {
  const Operation op = h_.op(i);
  const Accepts accepts = observation_of(h_, i).accepts;
  const bool lists = is_list_operation(op) || (accepts != Accepts::rows && keys_->is_list(op.key));
  if (open && accepts == Accepts::list && !mixed_) {
    lists_.add(i, certain_);
  } else if (open && lists && accepts != Accepts::any) {
    obstacle_ = "it reads a list";
  } else if (!lists) {
    std::vector<Observation> all = seen_by(i);
    aggregates_.add_unclaimed(i, *keys_, all);
    for (const Observation& seen : all) add_seen(seen, open, own, groups, order);
  }
  if (installs_version(op)) own[op.key] = install_of(h_, i).state();
}

std::vector<Observation> OpenReads::seen_by(OpId i) const {
  if (rows_ == nullptr || !skips_rows(h_, i)) return keys_->seen_by(i);
  std::vector<KeyId> keys;
  for (auto one = std::lower_bound(rows_->begin(), rows_->end(), SkippedRow{i, 0});
       one != rows_->end() && one->query == i; ++one)
    keys.push_back(one->key);
  return observations_of_range(h_, i, keys);
}

void OpenReads::add_seen(const Observation& seen, bool open,
                         const std::unordered_map<KeyId, KeyState>& own,
                         std::unordered_map<KeyId, Group>& groups, std::vector<KeyId>& order) {
  if (open && keys_->is_list(seen.key)) {
    obstacle_ = "it reads a range with lists in it";
    return;
  }
  const auto [it, fresh] = groups.try_emplace(seen.key);
  if (fresh) order.push_back(seen.key);
  Group& group = it->second;
  if (const auto written = own.find(seen.key); written != own.end()) {
    if (!open || !wants(seen.key) || fits(h_, seen, written->second)) return;
    // The read does not return the transaction's own write, which no other transaction can explain.
    OpenRead unexplained;
    unexplained.op = seen.op;
    unexplained.key = seen.key;
    unexplained.reader = h_.txn_of(seen.op);
    unexplained.ops = {seen.op};
    by_reader_[unexplained.reader].push_back(static_cast<uint32_t>(reads_.size()));
    reads_.push_back(std::move(unexplained));
    return;
  }
  group.external.push_back(seen);
  if (open) group.read.ops.push_back(seen.op);
}

void OpenReads::find_sources(Group& group) {
  OpenRead& read = group.read;
  read.sources = pool_->store(sources_->find(read.reader, read.key, group.external));
  read.alone = group.external.size() == 1;
  // Including the read's operations, and its index in the list of its reader.
  constexpr uint64_t kBytesARead = 160;
  listed_ += kBytesARead + sizeof(TxnId) * read.sources.size();
}

BadRead OpenReads::dirty_read(const OpenRead& read) const {
  for (const OpId i : read.ops) {
    for (OpId own = h_.first_op(read.reader); own < i; ++own)
      if (h_.op(own).key == read.key && installs_version(h_.op(own))) return {};
    Observation here;
    here.accepts = Accepts::nothing;
    for (const Observation& seen : seen_by(i))
      if (seen.key == read.key) here = seen;
    const BadRead found = sources_->dirty_read(read.reader, i, read.key, here);
    if (found.anomaly != Anomaly::none) return found;
  }
  return {};
}

namespace {

// Stops at the first read that does not meet a state it may have seen.
struct ExplainsReads : ReplayVisitor {
  const OpenReads& open;
  AppendedLists lists{open.lists()};
  bool explains = true;

  explicit ExplainsReads(const OpenReads& reads_to_explain) : open(reads_to_explain) {}
  bool reads(TxnId t, const KeysHeld& held) {
    explains =
        std::ranges::all_of(open.of(t),
                            [&](uint32_t read) {
                              const OpenRead& r = open.all()[read];
                              return std::ranges::binary_search(r.sources, held[r.key].writer);
                            }) &&
        std::ranges::all_of(open.lists().reads_of(t),
                            [&](OpenLists::Place read) { return lists.shows(read); });
    return explains;
  }
  bool installed(TxnId t, const KeysHeld&) {
    lists.append(t);
    return true;
  }
};

struct NotesSources : ReplayVisitor {
  const OpenReads& open;
  std::vector<Seen> seen = {};

  explicit NotesSources(const OpenReads& reads_to_note) : open(reads_to_note) {}
  bool reads(TxnId t, const KeysHeld& held) {
    for (const uint32_t read : open.of(t)) {
      const OpenRead& r = open.all()[read];
      for (const OpId op : r.ops)
        if (open.aggregates().observes(op, r.key)) seen.push_back({op, r.key, held[r.key].writer});
    }
    return true;
  }
};

}  // namespace

bool order_explains(const History& history, const OpenReads& open, const Order& order) {
  ExplainsReads visitor(open);
  replay(history, order, visitor);
  return visitor.explains;
}

std::vector<Seen> seen_along(const History& history, const OpenReads& open, const Order& order) {
  NotesSources visitor(open);
  replay(history, order, visitor);
  std::sort(visitor.seen.begin(), visitor.seen.end());
  visitor.seen.erase(std::unique(visitor.seen.begin(), visitor.seen.end()), visitor.seen.end());
  return std::move(visitor.seen);
}

std::vector<TxnId> writers_in_order(const Order& order) {
  if (!order.split) return order.events;
  std::vector<TxnId> txns;
  txns.reserve(order.events.size() / 2);
  for (const uint32_t event : order.events)
    if (event % 2 == 1) txns.push_back(event / 2);
  return txns;
}

}  // namespace assay::internal
