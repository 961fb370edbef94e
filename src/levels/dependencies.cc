// Dependencies in the sense of Adya, from the version orders that a history states.
//
//   s1: { a(l,1) } { a(l,2) }   s2: { r(l,[1]) }   s3: { r(l,[1,2]) }
//   The list [1,2] states the order: T1 -ww-> T2. T1 -wr-> T3, and T3 read what T2 overwrote: T3
//   -rw-> T2.
//
// A pair of neighbours is an edge; pairs further apart are paths, so cycles of the transitive edges
// are cycles of these, with as many anti-dependencies. The initial version precedes every other.
//
// Adya's levels need the whole version order. Lists and known orders state it except for versions
// that were never read: their order can be chosen, since only write dependencies depend on it.
// Nothing else can be chosen: if the order of two versions is not stated and one of them was read,
// the version order is not known. At pl-2 and above, an update orders two versions like a
// statement: were its version before the one that it read, the two writers would be on a cycle.
//
// A range reads the keys that it returned. For any other key, it depends on the last transaction
// that changed whether it selects the key (predicate_reads.cc).
//
// Cost: linear in reads and stated pairs. Many readers of the last version read, times many unread
// versions after it, would be quadratic: some of these edges are omitted, which can only make a
// refutation fail.

#include "levels/dependencies.h"

#include <algorithm>

#include "base/room.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "infer/reads_from.h"
#include "infer/stated_orders.h"
#include "infer/touched_keys.h"

namespace assay::internal {
namespace {

constexpr uint64_t kMostPairs = 10'000;  // pairs of a reader of one version and a writer of the
                                         // next
constexpr size_t kFewWriters = 4;

// The writers to which edges are added.
std::span<const Node> few(std::span<const NodeRead> readers, std::span<const Node> writers) {
  if (readers.size() * writers.size() <= kMostPairs) return writers;
  return writers.first(std::min(writers.size(), kFewWriters));
}

size_t most_anti(std::span<const NodeRead> readers, std::span<const Node> writers) {
  return readers.size() * few(readers, writers).size();
}

// Per key: whether it is in Problem::seen_openly, or aggregates looked at it, for which it is open
// what versions they saw. Empty: there is no such key.
std::vector<uint8_t> seen_openly(const Problem& problem) {
  const History& history = *problem.history;
  const bool aggregates = history.has_predicates() && history.predicates().aggregate_count() > 0;
  if (problem.seen_openly.empty() && !aggregates) return {};
  std::vector<uint8_t> openly(problem.keys());
  for (const KeyId key : problem.seen_openly) openly[key] = 1;
  if (!aggregates) return openly;
  const TouchedKeys keys(history);
  for (const TxnId t : problem.txn)
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (is_range(history.op(i)) && looks_at_more(history, i)) {
        const Aggregate& aggregate = history.predicates().aggregate(history.selected(i).aggregate);
        for (const KeyId key : keys.that_may_satisfy(i, aggregate.where)) openly[key] = 1;
      }
  return openly;
}

}  // namespace

uint64_t bytes_of_version_orders(const Problem& problem) {
  return sizeof(uint32_t) * (problem.nodes() + problem.writes.size() + problem.keys());
}

bool states_version_orders(const Problem& problem, std::span<const Node> order, unsigned threads) {
  std::vector<uint32_t> place(problem.nodes(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  // For each write, the last write that is stated to come before it. Their order is stated only if
  // that one is right before it.
  std::vector<Node> stated_before(problem.writes.size(), kNone);
  each_stated(problem, threads, [&](const StatedOrder& stated, WriteId after) {
    Node& last = stated_before[after];
    if (last == kNone || place[last] < place[stated.before]) last = stated.before;
  });
  std::vector<Node> newest(problem.keys(), kNone);  // the last node that wrote the key so far
  for (const Node n : order)
    for (const WriteId w : problem.writes.of(n)) {
      Node& before = newest[problem.writes.key[w]];
      if (before != kNone && stated_before[w] != before) return false;
      before = n;
    }
  return true;
}

bool Dependencies::find(Budget& budget) {
  if (!budget.has_room((2 * sizeof(uint32_t) + sizeof(Dependency)) * stated_.all().size()))
    return false;
  stated_.index();
  if (updates_ == UpdateOrders::known && !add_updates(budget)) return false;
  for (uint32_t i = 0; i < stated_.all().size(); ++i)
    all_.push_back({stated_[i].before, stated_[i].after, EdgeKind::write_dependency, stated_[i].key,
                    kNone, kNone, true, false, i});
  seen_openly_ = seen_openly(problem_);
  return index_reads(budget) && add_anti(budget);
}

// Adds the orders that follow from updates with a certain source and are not stated, and notes the
// first two updates of one version.
bool Dependencies::add_updates(Budget& budget) {
  std::vector<StatedOrder> found;
  std::vector<ExternalRead> first_update(problem_.writes.size() + problem_.keys(),
                                         ExternalRead{kNone, kNone, kNone});
  if (!budget.has_room(sizeof(ExternalRead) * first_update.size())) return false;
  each_external_read(problem_, [&](Node n, const ExternalRead& read) {
    if (problem_.is_possible(n) || problem_.write_of(n, read.key) == kNone ||
        !is_item(read.op, read.key))
      return;
    const bool initial = read.write == kNone;
    ExternalRead& first = first_update[initial ? problem_.writes.size() + read.key : read.write];
    if (first.op == kNone) {
      first = read;
    } else if (!divergence_ && problem_.node_of(history_.txn_of(first.op)) != n) {
      divergence_ = {{first, read}, {problem_.node_of(history_.txn_of(first.op)), n}};
    }
    const bool certain = assumed_of(problem_.assumed, read.op, read.op + 1).empty();
    if (!initial && certain && problem_.writes.node[read.write] != n &&
        stated_.between(read.write, n) == kNone)
      found.push_back({problem_.writes.node[read.write], n, read.key, read.op, true});
  });
  return stated_.add(found, budget);
}

bool Dependencies::index_reads(Budget& budget) {
  using Read = std::pair<uint32_t, NodeRead>;
  std::vector<Read> of_writes, of_initial;
  const size_t count = problem_.reads.items.size();
  if (!room_to_grow(all_, count, budget) ||
      !budget.has_room((sizeof(Read) + sizeof(NodeRead)) * count +
                       2 * sizeof(uint32_t) * (problem_.writes.size() + history_.key_count())))
    return false;
  of_writes.reserve(count);
  of_initial.reserve(count);
  each_external_read(problem_, [&](Node n, const ExternalRead& read) {
    if (read.write == kNone) return of_initial.push_back({read.key, {n, read.op}});
    of_writes.push_back({read.write, {n, read.op}});
    add_read(n, read);
  });
  readers_ = collect_rows(problem_.writes.size(), of_writes);
  initial_readers_ = collect_rows(history_.key_count(), of_initial);
  return true;
}

void Dependencies::add_read(Node reader, const ExternalRead& read) {
  WriteId of = read.write;
  if (!is_item(read.op, read.key)) {
    const std::optional<WriteId> change =
        predicate_reads_.certainly_last_to_change(read.op, read.write);
    if (!change || *change == kNone) return;
    of = *change;
  }
  if (problem_.writes.node[of] != reader)
    all_.push_back({problem_.writes.node[of], reader, EdgeKind::read_dependency, read.key,
                    of == read.write ? kNone : read.write, read.op});
}

// Whether the read is of a single item: a range reads the keys it returns; that others are absent
// it learns from its predicate.
bool Dependencies::is_item(OpId op, KeyId key) const {
  return !is_range(history_.op(op)) || returned(history_, op, key);
}

bool Dependencies::add_anti(Budget& budget) {
  std::vector<Node> next;
  for (KeyId key = 0; key < history_.key_count(); ++key)
    for (const WriteId read : problem_.key_writers(key)) {
      next.clear();
      for (const uint32_t i : stated_.after(read))
        if (next.empty() || next.back() != stated_[i].after) next.push_back(stated_[i].after);
      if (next.empty()) continue;
      if (!room_to_grow(all_, most_anti(readers_[read], next), budget)) return false;
      add_anti(readers_[read], read, next, key);
    }
  return add_anti_of_initial(budget);
}

// The version that the initial readers of a key read is overwritten by all writers without a stated
// predecessor.
bool Dependencies::add_anti_of_initial(Budget& budget) {
  std::vector<Node> next;
  for (KeyId key = 0; key < history_.key_count(); ++key) {
    next.clear();
    for (const WriteId w : problem_.key_writers(key))
      if (stated_.before(w).empty()) next.push_back(problem_.writes.node[w]);
    const std::span<const NodeRead> readers = initial_readers_[key];
    if (readers.empty()) continue;
    if (!room_to_grow(all_, most_anti(readers, next), budget)) return false;
    add_anti(readers, kNone, next, key);
  }
  return true;
}

void Dependencies::add_anti(std::span<const NodeRead> readers, WriteId read,
                            std::span<const Node> writers, KeyId key) {
  const std::span<const Node> nearest = few(readers, writers);
  for (const NodeRead& r : readers) {
    if (!is_item(r.op, key)) {
      add_changes(r, read, writers, key);
      continue;
    }
    for (const Node writer : nearest)
      if (writer != r.reader)
        all_.push_back({r.reader, writer, EdgeKind::anti_dependency, key, read, r.op});
  }
}

// A range that did not return a row has an anti-dependency, in the sense of Adya, on the first
// write that changes whether the row is selected: each of the immediate successors is followed up
// to such a write.
void Dependencies::add_changes(const NodeRead& reader, WriteId read, std::span<const Node> writers,
                               KeyId key) {
  struct Reached {
    Node writer;
    uint32_t from;    // index of the previous one; kNone: the version read
    uint32_t stated;  // index of the statement
  };
  const Match was = predicate_reads_.match_seen(reader.op, key, read);
  std::vector<Reached> reached;
  reached_for_.resize(problem_.nodes());
  ++reads_looked_at_;
  const auto reach = [&](Node writer, uint32_t from, uint32_t stated) {
    // Statements may branch, and may contradict each other in a cycle.
    if (std::exchange(reached_for_[writer], reads_looked_at_) != reads_looked_at_)
      reached.push_back({writer, from, stated});
  };
  for (const Node writer : writers)
    reach(writer, kNone, read == kNone ? kNone : stated_.between(read, writer));
  for (uint32_t at = 0; at < reached.size(); ++at) {
    const Reached here = reached[at];
    const WriteId write = problem_.write_of(here.writer, key);
    const Match is = predicate_reads_.match(reader.op, key, write);
    if (is == was || is == Match::open) {
      for (const uint32_t i : stated_.after(write)) reach(stated_[i].after, at, i);
      continue;
    }
    if (here.writer == reader.reader) continue;
    Dependency anti{reader.reader, here.writer, EdgeKind::anti_dependency, key, read,
                    reader.op,     false};
    if (read != kNone && here.from != kNone) {
      anti.chain = static_cast<uint32_t>(chains_.size());
      std::vector<uint32_t>& chain = chains_.emplace_back();
      for (uint32_t r = at; r != kNone; r = reached[r].from) chain.push_back(reached[r].stated);
      std::reverse(chain.begin(), chain.end());
    }
    all_.push_back(anti);
  }
}

// For an assumed order of versions: `until` ends with the version that was read.
void Dependencies::assume_read(const NodeRead& reader, std::span<const WriteId> until,
                               PredicateReads::LastChanges& known) {
  if (predicate_reads_.certainly_last_to_change(reader.op, until.back())) return;
  const WriteId change = predicate_reads_.last_to_change(reader.op, until, known);
  if (change == kNone || problem_.writes.node[change] == reader.reader) return;
  Dependency read{problem_.writes.node[change],
                  reader.reader,
                  EdgeKind::read_dependency,
                  problem_.writes.key[change],
                  change == until.back() ? kNone : until.back(),
                  reader.op};
  read.assumed = true;
  all_.push_back(read);
}

// The same for an assumed order of the later writes.
void Dependencies::assume_change(const NodeRead& reader, WriteId read,
                                 std::span<const WriteId> later, KeyId key) {
  const Match was = predicate_reads_.match_seen(reader.op, key, read);
  for (const WriteId w : later) {
    const Node writer = problem_.writes.node[w];
    const Match is = predicate_reads_.match(reader.op, key, w);
    if (is == was || is == Match::open) continue;
    Dependency anti{reader.reader, writer, EdgeKind::anti_dependency, key, read, reader.op, false};
    anti.assumed = true;
    if (writer != reader.reader) all_.push_back(anti);
    return;
  }
}

bool Dependencies::version_orders(const std::vector<Node>& order, Rows<WriteId>& versions,
                                  std::string& unstated) const {
  std::vector<uint32_t> place(problem_.nodes());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  versions = problem_.writes.of_key;
  for (KeyId key = 0; key < versions.rows(); ++key) {
    const auto begin = versions.items.begin() + versions.begin[key];
    const auto end = versions.items.begin() + versions.begin[key + 1];
    std::sort(begin, end, [&](WriteId a, WriteId b) {
      return place[problem_.writes.node[a]] < place[problem_.writes.node[b]];
    });
    auto unread = end;  // where the versions that were never read begin
    const bool openly = !seen_openly_.empty() && seen_openly_[key] != 0;
    while (!openly && unread != begin && readers_[*(unread - 1)].empty()) --unread;
    for (auto w = begin; w != end; ++w) {
      const Node node = problem_.writes.node[*w];
      if (w == begin || (w > unread && unread == begin)) continue;
      const WriteId last = w > unread ? *(unread - 1) : *(w - 1);  // the last version that was read
      const uint32_t last_place = place[problem_.writes.node[last]];
      const bool known = w <= unread ? stated_.between(last, node) != kNone
                                     : std::ranges::any_of(stated_.before(*w), [&](uint32_t i) {
                                         return place[stated_[i].before] >= last_place;
                                       });
      if (known) continue;
      unstated = "the history does not state which version of " + history_.key(key).to_string() +
                 " came first, that of " +
                 history_.name(problem_.txn[problem_.writes.node[*(w - 1)]]) + " or that of " +
                 history_.name(problem_.txn[node]);
      return false;
    }
  }
  return true;
}

bool Dependencies::assume(const Rows<WriteId>& versions) {
  const size_t known = all_.size();
  PredicateReads::LastChanges last_changes;
  for (KeyId key = 0; key < versions.rows(); ++key) {
    const std::span<const WriteId> writers = versions[key];
    for (size_t i = 0; i < writers.size(); ++i) {
      const Node node = problem_.writes.node[writers[i]];
      const std::span<const NodeRead> readers =
          i == 0 ? initial_readers_[key] : readers_[writers[i - 1]];
      const bool stated = i == 0 || stated_.between(writers[i - 1], node) != kNone;
      if (!stated)
        all_.push_back(
            {problem_.writes.node[writers[i - 1]], node, EdgeKind::write_dependency, key});
      const WriteId read = i == 0 ? kNone : writers[i - 1];
      for (const NodeRead& r : readers)
        if (!is_item(r.op, key)) assume_change(r, read, writers.subspan(i), key);
      for (const NodeRead& r : readers_[writers[i]])
        if (!is_item(r.op, key)) assume_read(r, writers.first(i + 1), last_changes);
      const bool left_out = readers.size() * (writers.size() - i) > kMostPairs;
      if (left_out) add_anti(readers, i == 0 ? kNone : writers[i - 1], {&node, 1}, key);
    }
  }
  return all_.size() > known;
}

}  // namespace assay::internal
