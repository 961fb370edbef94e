#include "infer/open_reads.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "infer/replay.h"
#include "infer/stated_sources.h"

namespace assay::internal {
std::span<const TxnId> SourcePool::store(std::span<const TxnId> sources) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < sources.size())
    blocks_.emplace_back().reserve(std::max(kBlock, sources.size()));
  std::vector<TxnId>& block = blocks_.back();
  block.insert(block.end(), sources.begin(), sources.end());
  return std::span(block).last(sources.size());
}

OpenReads::OpenReads(const History& history, bool one_state, const std::vector<PassedOver>* heeded,
                     std::span<const OpId> aggregates)
    : h_(history),
      one_state_(one_state),
      heeded_(heeded),
      lists_(history),
      seen_txns_(history.txn_count()) {
  if (aggregates.empty()) return;
  for (AggregateTerms& terms : decidable_aggregates(history, aggregates))
    aggregates_.push_back({std::move(terms)});
}

void OpenReads::index_writers() {
  keys_.emplace(h_);
  absences_.resize(h_.key_count());
  std::vector<Left> all;
  WrittenKeys written;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    each_install(h_, t, written, [&](const Install& install) {
      if (!install.final) return;
      all.push_back({t, install.state()});
      if (is_absent(h_, install.state())) absences_[install.key].push_back(all.back());
    });
  }
  const auto sort_into = [&](std::vector<Left>& sorted, std::vector<uint32_t>& begin, size_t rows,
                             auto row_of) {
    begin.assign(rows + 1, 0);
    for (const Left& left : all) ++begin[row_of(left) + 1];
    for (size_t i = 0; i < rows; ++i) begin[i + 1] += begin[i];
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    sorted.resize(all.size());
    for (const Left& left : all) sorted[next[row_of(left)]++] = left;
  };
  sort_into(writers_, key_begin_, h_.key_count(),
            [this](const Left& left) { return h_.version_key(left.state.version); });
  sort_into(by_version_, version_begin_, h_.version_count(),
            [](const Left& left) { return left.state.version; });
}

const std::vector<uint32_t>& OpenReads::of(TxnId reader) const {
  static const std::vector<uint32_t> kNothing;
  const auto it = by_reader_.find(reader);
  return it == by_reader_.end() ? kNothing : it->second;
}

void OpenReads::add(const Problem& problem, Budget& budget) {
  constexpr uint64_t kAskEvery = 4 << 20;
  std::vector<OpId> open = problem.unresolved;
  for (const OpenAggregate& one : aggregates_)
    if (problem.node_of(one.terms.reader()) != kNone) open.push_back(one.terms.op());
  if (open.empty()) return;
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  if (!keys_) index_writers();
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
      const std::span<const TxnId> sources = reads_[read].sources;  // more reads are added below
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

// A list that shows whose every element is may still lack what somebody who is only possible appended, and begin as
// another one does of which more is open. True if there are any that are new.
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

OpenAggregate* OpenReads::aggregate(OpId i) {
  const auto found = std::ranges::lower_bound(
      aggregates_, i, {}, [](const OpenAggregate& one) { return one.terms.op(); });
  return found == aggregates_.end() || found->terms.op() != i ? nullptr : &*found;
}

std::span<const OpenAggregate> OpenReads::aggregates_of(TxnId t) const {
  const auto of = [](const OpenAggregate& one) { return one.terms.op(); };
  const auto first = std::ranges::lower_bound(aggregates_, h_.first_op(t), {}, of);
  return {first, std::ranges::lower_bound(first, aggregates_.end(), h_.end_op(t), {}, of)};
}

bool OpenReads::observes(OpId op, KeyId key) const {
  const std::span<const OpenAggregate> own = aggregates_of(h_.txn_of(op));
  return std::ranges::none_of(own, [&](const OpenAggregate& one) {
    return one.terms.op() == op && std::ranges::binary_search(one.unclaimed, key);
  });
}

// What they may have held is as open as what a query passed over.
void OpenReads::add_keys_of(OpenAggregate& aggregate, std::vector<Observation>& seen) const {
  const OpId op = aggregate.terms.op();
  std::vector<KeyId> claimed;
  for (const Observation& one : seen) claimed.push_back(one.key);
  std::sort(claimed.begin(), claimed.end());
  aggregate.unclaimed.clear();
  for (const KeyId key : keys_->that_may_satisfy(op, aggregate.terms.where()))
    if (!std::ranges::binary_search(claimed, key)) {
      seen.push_back({op, key, kNone, Accepts::any});
      aggregate.unclaimed.push_back(key);
    }
  std::sort(aggregate.unclaimed.begin(), aggregate.unclaimed.end());
}

// Where a transaction sees one state of each key there is one read of it.
void OpenReads::note_reads_of_aggregates(TxnId t) {
  std::unordered_map<KeyId, uint32_t> read_of;
  for (OpenAggregate& one : aggregates_) {
    if (one.terms.reader() != t) continue;
    if (read_of.empty())
      for (const uint32_t read : of(t)) read_of.emplace(reads_[read].key, read);
    one.reads.clear();
    for (const KeyId key : one.terms.keys()) {
      const auto found = read_of.find(key);
      const bool open = one.terms.own(key) == nullptr && found != read_of.end();
      one.reads.push_back(open ? found->second : kNone);
      if (!open) continue;
      aggregated_.resize(std::max<size_t>(aggregated_.size(), found->second + 1));
      aggregated_[found->second] = 1;
    }
  }
}

bool OpenReads::is_open(TxnId reader, KeyId key) const {
  return std::ranges::any_of(of(reader), [&](uint32_t read) { return reads_[read].key == key; });
}

// Those that are not among the reads.
std::vector<PassedOver> OpenReads::missing(std::span<const PassedOver> rows) const {
  std::vector<PassedOver> more;
  std::ranges::copy_if(rows, std::back_inserter(more), [this](const PassedOver& row) {
    return std::ranges::none_of(of(h_.txn_of(row.query)), [&](uint32_t read) {
      return reads_[read].key == row.key &&
             std::ranges::find(reads_[read].ops, row.query) != reads_[read].ops.end();
    });
  });
  return more;
}

bool OpenReads::add_rows(std::span<const PassedOver> passed_over, const Problem& problem) {
  if (!keys_) index_writers();
  const size_t first = reads_.size();
  const std::vector<PassedOver> rows = missing(passed_over);
  if (std::ranges::any_of(
          rows, [this](const PassedOver& row) { return is_open(h_.txn_of(row.query), row.key); }))
    return false;
  const std::vector<PassedOver>* const before = std::exchange(heeded_, &rows);
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
  heeded_ = before;
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
  if (!keys_) index_writers();
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
    if (OpenAggregate* const one = aggregate(i)) add_keys_of(*one, all);
    for (const Observation& seen : all) add_seen(seen, open, own, groups, order);
  }
  if (installs_version(op)) own[op.key] = install_of(h_, i).state();
}

std::vector<Observation> OpenReads::seen_by(OpId i) const {
  if (heeded_ == nullptr || !passes_over(h_, i)) return keys_->seen_by(i);
  std::vector<KeyId> keys;
  for (auto one = std::lower_bound(heeded_->begin(), heeded_->end(), PassedOver{i, 0});
       one != heeded_->end() && one->query == i; ++one)
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
    // Not what it wrote itself: nobody explains that.
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

// What writers left that may fit: the fewest that one of the observations allows.
std::span<const OpenReads::Left> OpenReads::candidates(
    KeyId key, std::span<const Observation> external) const {
  bool must_be_absent = false;
  for (const Observation& seen : external) {
    const bool equals = seen.accepts == Accepts::equals;
    if (equals && !h_.version_value(seen.version).is_null())
      return {by_version_.data() + version_begin_[seen.version],
              by_version_.data() + version_begin_[seen.version + 1]};
    must_be_absent = must_be_absent || equals || seen.accepts == Accepts::absent;
  }
  if (must_be_absent) return absences_[key];
  return {writers_.data() + key_begin_[key], writers_.data() + key_begin_[key + 1]};
}

// Whether what is stated of the observations allows this source.
bool OpenReads::may_be_from(TxnId source, std::span<const Observation> external) const {
  if (!h_.states_sources()) return true;
  return std::all_of(external.begin(), external.end(), [&](const Observation& seen) {
    if (h_.stated_source(seen.op) == kNone) return true;
    const TxnId stated = stated_source(h_, seen.op);
    return stated == kNone || stated == source;
  });
}

// Of a key that a condition passed over, which nothing else was seen of: the most reads by far where there are conditions,
// and all writers of the key but those whose row it would have returned.
void OpenReads::find_who_missed(const OpenRead& read, PredicateId predicate) {
  const Predicates& predicates = h_.predicates();
  const auto satisfies = [&](const KeyState& state) {
    return !state.removed && predicates.match(predicate, state.version) == Match::yes;
  };
  const std::span<const Left> all{writers_.data() + key_begin_[read.key],
                                  writers_.data() + key_begin_[read.key + 1]};
  found_.resize(all.size());
  size_t count = 0;
  for (const Left& left : all) {
    found_[count] = left.writer;
    count += left.writer != read.reader && !satisfies(left.state) ? 1 : 0;
  }
  found_.resize(count);
}

void OpenReads::find_sources(Group& group) {
  const std::vector<Observation>& external = group.external;
  const auto explains_all = [&](const KeyState& state) {
    if (external.size() == 1) return fits(h_, external[0], state);
    return std::all_of(external.begin(), external.end(),
                       [&](const Observation& seen) { return fits(h_, seen, state); });
  };
  found_.clear();
  if (external.size() == 1 && external[0].accepts == Accepts::misses && !h_.states_sources()) {
    find_who_missed(group.read, external[0].predicate);
  } else {
    for (const Left& left : candidates(group.read.key, external))
      if (left.writer != group.read.reader && explains_all(left.state) &&
          may_be_from(left.writer, external))
        found_.push_back(left.writer);
  }
  if (explains_all(initial_state(h_, group.read.key)) && may_be_from(kInitialTxn, external))
    found_.push_back(kNone);
  group.read.sources = pool_->store(found_);
  group.read.alone = external.size() == 1;
  // With its operations, and its place among those of its reader.
  constexpr uint64_t kBytesARead = 160;
  listed_ += kBytesARead + sizeof(TxnId) * group.read.sources.size();
}

BadRead OpenReads::dirty_read(const OpenRead& read) const {
  const OpId first = h_.first_op(read.reader), end = h_.end_op(read.reader);
  for (const OpId i : read.ops) {
    for (OpId own = first; own < i; ++own)
      if (h_.op(own).key == read.key && installs_version(h_.op(own))) return {};
    Observation here;
    here.accepts = Accepts::nothing;
    for (const Observation& seen : seen_by(i))
      if (seen.key == read.key) here = seen;
    const std::span<const Left> all = candidates(read.key, {&here, 1});
    const bool clean = fits(h_, here, initial_state(h_, read.key)) ||
                       std::any_of(all.begin(), all.end(), [&](const Left& left) {
                         return left.writer != read.reader && fits(h_, here, left.state);
                       });
    // Nobody who counts left what it saw: any other write of it is aborted or overwritten.
    for (OpId w = 0; w < h_.op_count() && !clean; ++w) {
      const Operation op = h_.op(w);
      if ((w >= first && w < end) || op.key != read.key || !installs_version(op)) continue;
      const TxnId writer = h_.txn_of(w);
      if (!fits(h_, here, install_of(h_, w).state())) continue;
      const bool aborted = h_.status(writer) == TxnStatus::aborted;
      return {aborted ? Anomaly::aborted_read : Anomaly::intermediate_read, i, w};
    }
  }
  return {};
}

namespace {

// Stops at the first read that meets something else.
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
        if (open.observes(op, r.key)) seen.push_back({op, r.key, held[r.key].writer});
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
