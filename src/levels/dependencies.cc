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

bool Dependencies::find(Budget& budget) {
  if (!budget.has_room((2 * sizeof(uint32_t) + sizeof(Dependency)) * stated_.size())) return false;
  by_pair_.resize(stated_.size());
  std::iota(by_pair_.begin(), by_pair_.end(), 0u);
  by_after_ = by_pair_;
  std::sort(by_pair_.begin(), by_pair_.end(), [this](uint32_t a, uint32_t b) {
    const StatedOrder &x = stated_[a], &y = stated_[b];
    return std::tie(x.key, x.before, x.after, a) < std::tie(y.key, y.before, y.after, b);
  });
  std::sort(by_after_.begin(), by_after_.end(), [this](uint32_t a, uint32_t b) {
    const StatedOrder &x = stated_[a], &y = stated_[b];
    return std::tie(x.key, x.after, a) < std::tie(y.key, y.after, b);
  });
  for (uint32_t i = 0; i < stated_.size(); ++i)
    all_.push_back({stated_[i].before, stated_[i].after, EdgeKind::write_dependency, stated_[i].key,
                    kNone, kNone, true, i});
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

bool Dependencies::add_anti(Budget& budget) {
  std::vector<Node> next;
  for (size_t i = 0; i < by_pair_.size();) {  // one version and those stated to follow it
    const StatedOrder& first = stated_[by_pair_[i]];
    next.clear();
    for (; i < by_pair_.size() && stated_[by_pair_[i]].key == first.key &&
           stated_[by_pair_[i]].before == first.before;
         ++i)
      if (next.empty() || next.back() != stated_[by_pair_[i]].after)
        next.push_back(stated_[by_pair_[i]].after);
    const WriteId read = problem_.write_of(first.before, first.key);
    if (!room_to_grow(all_, most_anti(readers_[read], next), budget)) return false;
    add_anti(readers_[read], read, next, first.key);
  }
  for (KeyId key = 0; key < initial_readers_.rows(); ++key) {
    if (initial_readers_[key].empty()) continue;
    next.clear();
    for (const WriteId w : problem_.key_writers(key))
      if (stated_before(key, problem_.writes.node[w]).empty())
        next.push_back(problem_.writes.node[w]);
    if (!room_to_grow(all_, most_anti(initial_readers_[key], next), budget)) return false;
    add_anti(initial_readers_[key], kNone, next, key);
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

Match Dependencies::match(OpId range, WriteId write) const {
  return match_of_state(history_, write == kNone ? KeyState{} : left_[write],
                        history_.selected(range).predicate);
}

void Dependencies::index_followers() {
  if (!left_.empty()) return;
  for (WriteId w = 0; w < problem_.writes.size(); ++w)
    left_.push_back(
        state_left_by(history_, problem_.txn[problem_.writes.node[w]], problem_.writes.key[w]));
  followers_.resize(problem_.writes.size());
  for (uint32_t i = 0; i < by_pair_.size();) {
    const StatedOrder& first = stated_[by_pair_[i]];
    const uint32_t begin = i;
    while (i < by_pair_.size() && stated_[by_pair_[i]].key == first.key &&
           stated_[by_pair_[i]].before == first.before)
      ++i;
    followers_[problem_.write_of(first.before, first.key)] = {begin, i};
  }
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
  index_followers();
  const Match was = match(reader.op, read);
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
    const Match is = match(reader.op, problem_.write_of(here.writer, key));
    if (is == was || is == Match::open) {
      const std::span<const uint32_t> followers = stated_after(key, here.writer);
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
  index_followers();
  const Match was = match(reader.op, read);
  for (const WriteId w : later) {
    const Node writer = problem_.writes.node[w];
    const Match is = match(reader.op, w);
    if (is == was || is == Match::open || was == Match::open) continue;
    Dependency anti{reader.reader, writer, EdgeKind::anti_dependency, key, read, reader.op, false};
    anti.assumed = true;
    if (writer != reader.reader) all_.push_back(anti);
    return;
  }
}

std::span<const uint32_t> Dependencies::stated_after(KeyId key, Node before) const {
  const auto [begin, end] = followers_[problem_.write_of(before, key)];
  return std::span(by_pair_).subspan(begin, end - begin);
}

const StatedOrder* Dependencies::statement(Node before, Node after, KeyId key) const {
  const auto it = std::lower_bound(by_pair_.begin(), by_pair_.end(), std::tuple(key, before, after),
                                   [this](uint32_t i, const auto& pair) {
                                     return std::tie(stated_[i].key, stated_[i].before,
                                                     stated_[i].after) < pair;
                                   });
  if (it == by_pair_.end()) return nullptr;
  const StatedOrder& found = stated_[*it];
  return found.key == key && found.before == before && found.after == after ? &found : nullptr;
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
      const Node last = problem_.writes.node[w > unread ? *(unread - 1) : *(w - 1)];  // read last
      const std::span<const uint32_t> before = stated_before(key, node);
      const bool known = w <= unread ? statement(last, node, key) != nullptr
                                     : std::any_of(before.begin(), before.end(), [&](uint32_t i) {
                                         return place[stated_[i].before] >= place[last];
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
      const bool stated =
          i == 0 || statement(problem_.writes.node[writers[i - 1]], node, key) != nullptr;
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
