// Dependencies in the sense of Adya, from the version orders that a history states.
//
//   s1: { a(l,1) } { a(l,2) }   s2: { r(l,[1]) }   s3: { r(l,[1,2]) }
//   The list [1,2] states the order: T1 -ww-> T2. T1 -wr-> T3, and T3 read what T2 overwrote: T3 -rw-> T2.
//
// A pair of neighbours is an edge; pairs further apart are paths, so cycles of closed edges are cycles of these, with
// as many anti-dependencies. The initial version precedes every other.
//
// Adya's levels ask for the whole version order. Lists and known orders state it except for versions that were never
// read: their order can be chosen, for nothing but write dependencies depends on it. The rest is as it is; where the
// order of two versions one of which was read is not stated, the version order is not known.
//
// Cost: linear in reads and stated pairs. Many readers of the last version read, times many versions after it that
// nobody read, would be quadratic: some of these edges are left out, which can only make a refutation fail.

#include "levels/dependencies.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/room.h"
#include "history/accesses.h"
#include "infer/reads_from.h"
#include "infer/stated_orders.h"
#include "levels/counting_sort.h"

namespace assay::internal {
namespace {

constexpr uint64_t kMostPairs = 10'000;  // of readers of one version and writers of the next
constexpr size_t kFewWriters = 4;

// Turns (row, item) pairs, in any order, into rows.
Rows<NodeRead> to_rows(size_t rows, const std::vector<std::pair<uint32_t, NodeRead>>& pairs) {
  Rows<NodeRead> out;
  out.begin.assign(rows + 1, 0);
  for (const auto& [row, read] : pairs) ++out.begin[row + 1];
  for (size_t i = 0; i < rows; ++i) out.begin[i + 1] += out.begin[i];
  out.items.resize(pairs.size());
  std::vector<uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (const auto& [row, read] : pairs) out.items[next[row]++] = read;
  return out;
}

// The writers that get edges.
std::span<const Node> few(std::span<const NodeRead> readers, std::span<const Node> writers) {
  if (readers.size() * writers.size() <= kMostPairs) return writers;
  return writers.first(std::min(writers.size(), kFewWriters));
}

size_t most_anti(std::span<const NodeRead> readers, std::span<const Node> writers) {
  return readers.size() * few(readers, writers).size();
}

}  // namespace

uint64_t bytes_of_version_orders(const Problem& problem) {
  return sizeof(uint32_t) * (problem.nodes() + problem.writes.size() + problem.keys());
}

bool states_version_orders(const Problem& problem, std::span<const Node> order, unsigned threads) {
  std::vector<uint32_t> place(problem.nodes(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  // Of each write the last one that is stated to come before it. Where it is not the one right before it, nothing states that.
  std::vector<Node> stated_before(problem.writes.size(), kNone);
  each_stated(problem, threads, [&](const StatedOrder& stated, WriteId after) {
    Node& last = stated_before[after];
    if (last == kNone || place[last] < place[stated.before]) last = stated.before;
  });
  std::vector<Node> newest(problem.keys(), kNone);  // that wrote a key so far
  for (const Node n : order)
    for (const WriteId w : problem.writes.of(n)) {
      Node& before = newest[problem.writes.key[w]];
      if (before != kNone && stated_before[w] != before) return false;
      before = n;
    }
  return true;
}

bool Dependencies::find(Budget& budget) {
  if (!budget.has_room((2 * sizeof(uint32_t) + sizeof(Dependency)) * stated_.size())) return false;
  by_pair_.resize(stated_.size());
  std::iota(by_pair_.begin(), by_pair_.end(), 0u);
  const auto key_of = [this](uint32_t i) { return stated_[i].key; };
  counting_sort(by_pair_, problem_.nodes(), [this](uint32_t i) { return stated_[i].after; });
  by_after_ = by_pair_;
  counting_sort(by_after_, history_.key_count(), key_of);
  counting_sort(by_pair_, problem_.nodes(), [this](uint32_t i) { return stated_[i].before; });
  counting_sort(by_pair_, history_.key_count(), key_of);
  for (uint32_t i = 0; i < stated_.size(); ++i)
    all_.push_back({stated_[i].before, stated_[i].after, EdgeKind::write_dependency, stated_[i].key,
                    kNone, kNone, true, false, i});
  return index_reads(budget) && add_anti(budget);
}

bool Dependencies::index_reads(Budget& budget) {
  using Read = std::pair<uint32_t, NodeRead>;
  std::vector<Read> of_writes, of_initial;
  std::vector<ExternalRead> reads;
  const size_t count = problem_.reads.items.size();
  if (!room_to_grow(all_, count, budget) ||
      !budget.has_room((sizeof(Read) + sizeof(NodeRead)) * count +
                       2 * sizeof(uint32_t) * (problem_.writes.size() + history_.key_count())))
    return false;
  of_writes.reserve(count);
  of_initial.reserve(count);
  for (Node n = 0; n < problem_.nodes(); ++n) {
    external_reads(problem_, n, reads);
    for (const ExternalRead& read : reads) {
      if (read.write == kNone) {
        of_initial.push_back({read.key, {n, read.op}});
        continue;
      }
      of_writes.push_back({read.write, {n, read.op}});
      all_.push_back({problem_.writes.node[read.write], n, EdgeKind::read_dependency, read.key,
                      kNone, read.op});
    }
  }
  readers_ = to_rows(problem_.writes.size(), of_writes);
  initial_readers_ = to_rows(history_.key_count(), of_initial);
  return true;
}

// A range reads the keys it returns; that others are absent it learns from its predicate.
bool Dependencies::is_item(OpId op, KeyId key) const {
  if (!is_range(history_.op(op))) return true;
  return returned(history_, op, key);
}

// What is stated of a key and its writers are both in the order of nodes, so one pass over each will do.
bool Dependencies::add_anti(Budget& budget) {
  followers_.resize(problem_.writes.size());
  uint32_t pair = 0;
  std::vector<Node> next;
  for (KeyId key = 0; key < history_.key_count(); ++key)
    for (const WriteId read : problem_.key_writers(key)) {
      const Node before = problem_.writes.node[read];
      const uint32_t begin = pair;
      next.clear();
      for (; pair < by_pair_.size(); ++pair) {
        const StatedOrder& stated = stated_[by_pair_[pair]];
        if (stated.key != key || stated.before != before) break;
        if (next.empty() || next.back() != stated.after) next.push_back(stated.after);
      }
      followers_[read] = {begin, pair};
      if (next.empty()) continue;
      if (!room_to_grow(all_, most_anti(readers_[read], next), budget)) return false;
      add_anti(readers_[read], read, next, key);
    }
  return add_anti_of_initial(budget);
}

// What the initial readers of a key read is overwritten by those that nobody is stated to come before.
bool Dependencies::add_anti_of_initial(Budget& budget) {
  uint32_t at = 0;
  std::vector<Node> next;
  for (KeyId key = 0; key < history_.key_count(); ++key) {
    next.clear();
    for (const WriteId w : problem_.key_writers(key)) {
      const Node node = problem_.writes.node[w];
      const uint32_t begin = at;
      for (; at < by_after_.size(); ++at)
        if (stated_[by_after_[at]].key != key || stated_[by_after_[at]].after != node) break;
      if (at == begin) next.push_back(node);
    }
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

Match Dependencies::match(OpId range, KeyId key, WriteId write) const {
  return match_of_state(history_, write == kNone ? initial_state(history_, key) : left_[write],
                        history_.selected(range).predicate);
}

void Dependencies::find_states_left() {
  if (!left_.empty()) return;
  for (WriteId w = 0; w < problem_.writes.size(); ++w)
    left_.push_back(
        state_left_by(history_, problem_.txn[problem_.writes.node[w]], problem_.writes.key[w]));
}

// What a range did not return is overwritten, in the sense of Adya, by the first that changes whether it selects the key:
// from each of those that follow at once on to that.
void Dependencies::add_changes(const NodeRead& reader, WriteId read, std::span<const Node> writers,
                               KeyId key) {
  struct Reached {
    Node writer;
    uint32_t from;    // index of the one before; kNone: the version read
    uint32_t stated;  // what states it
  };
  find_states_left();
  const Match was = match(reader.op, key, read);
  if (was == Match::open) return;
  std::vector<Reached> reached;
  bool branches = writers.size() > 1;  // else nobody is met twice
  const auto reach = [&](Node writer, uint32_t from, uint32_t stated) {
    const auto known = [&](const Reached& r) { return r.writer == writer; };
    if (!branches || std::none_of(reached.begin(), reached.end(), known))
      reached.push_back({writer, from, stated});
  };
  const auto index_of = [&](Node before, Node after) {
    return static_cast<uint32_t>(statement(before, after, key) - stated_.data());
  };
  for (const Node writer : writers)
    reach(writer, kNone, read == kNone ? kNone : index_of(problem_.writes.node[read], writer));
  for (uint32_t at = 0; at < reached.size(); ++at) {
    const Reached here = reached[at];
    const Match is = match(reader.op, key, problem_.write_of(here.writer, key));
    if (is == was || is == Match::open) {
      const std::span<const uint32_t> followers = stated_after(problem_.write_of(here.writer, key));
      branches = branches || followers.size() > 1;
      for (const uint32_t i : followers) reach(stated_[i].after, at, i);
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

// The same where the order of those that come later is assumed.
void Dependencies::assume_change(const NodeRead& reader, WriteId read,
                                 std::span<const WriteId> later, KeyId key) {
  find_states_left();
  const Match was = match(reader.op, key, read);
  for (const WriteId w : later) {
    const Node writer = problem_.writes.node[w];
    const Match is = match(reader.op, key, w);
    if (is == was || is == Match::open || was == Match::open) continue;
    Dependency anti{reader.reader, writer, EdgeKind::anti_dependency, key, read, reader.op, false};
    anti.assumed = true;
    if (writer != reader.reader) all_.push_back(anti);
    return;
  }
}

std::span<const uint32_t> Dependencies::stated_after(WriteId before) const {
  const auto [begin, end] = followers_[before];
  return std::span(by_pair_).subspan(begin, end - begin);
}

const StatedOrder* Dependencies::statement(Node before, Node after, KeyId key) const {
  return statement(problem_.write_of(before, key), after);
}

const StatedOrder* Dependencies::statement(WriteId before, Node after) const {
  const std::span<const uint32_t> following = stated_after(before);
  const auto it =
      std::lower_bound(following.begin(), following.end(), after,
                       [this](uint32_t i, Node node) { return stated_[i].after < node; });
  return it != following.end() && stated_[*it].after == after ? &stated_[*it] : nullptr;
}

std::span<const uint32_t> Dependencies::stated_before(KeyId key, Node after) const {
  const auto of = [this](uint32_t i) { return std::tie(stated_[i].key, stated_[i].after); };
  const std::tuple wanted(key, after);
  const auto begin = std::lower_bound(by_after_.begin(), by_after_.end(), wanted,
                                      [&](uint32_t i, const auto& w) { return of(i) < w; });
  const auto end = std::upper_bound(begin, by_after_.end(), wanted,
                                    [&](const auto& w, uint32_t i) { return w < of(i); });
  return {begin, end};
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
    auto unread = end;  // from here on nobody read
    while (unread != begin && readers_[*(unread - 1)].empty()) --unread;
    for (auto w = begin; w != end; ++w) {
      const Node node = problem_.writes.node[*w];
      if (w == begin || (w > unread && unread == begin)) continue;
      const WriteId last = w > unread ? *(unread - 1) : *(w - 1);  // read last
      const uint32_t last_place = place[problem_.writes.node[last]];
      const bool known = w <= unread
                             ? statement(last, node) != nullptr
                             : std::ranges::any_of(stated_before(key, node), [&](uint32_t i) {
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
  for (KeyId key = 0; key < versions.rows(); ++key) {
    const std::span<const WriteId> writers = versions[key];
    for (size_t i = 0; i < writers.size(); ++i) {
      const Node node = problem_.writes.node[writers[i]];
      const std::span<const NodeRead> readers =
          i == 0 ? initial_readers_[key] : readers_[writers[i - 1]];
      const bool stated = i == 0 || statement(writers[i - 1], node) != nullptr;
      if (!stated)
        all_.push_back(
            {problem_.writes.node[writers[i - 1]], node, EdgeKind::write_dependency, key});
      const WriteId read = i == 0 ? kNone : writers[i - 1];
      for (const NodeRead& r : readers)
        if (!is_item(r.op, key)) assume_change(r, read, writers.subspan(i), key);
      const bool left_out = readers.size() * (writers.size() - i) > kMostPairs;
      if (left_out) add_anti(readers, i == 0 ? kNone : writers[i - 1], {&node, 1}, key);
    }
  }
  return all_.size() > known;
}

}  // namespace assay::internal
