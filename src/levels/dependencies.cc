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
// order of two versions one of which was read is not stated, the version order is not known. From pl-2 on an update orders two
// versions as a statement does: were its version before the one that it read, the two writers would be on a cycle.
//
// A range reads the keys that it returned. Of any other key it depends on the last transaction, up to the version that it saw, that
// changed whether it selects the key (Adya's predicate reads): versions it passed over that match as little as the one before them
// do not count. Which transaction that was is certain where one statement orders all who may have written the key, or where every
// other version matches otherwise.
//
// Cost: linear in reads and stated pairs. Many readers of the last version read, times many versions after it that
// nobody read, would be quadratic: some of these edges are left out, which can only make a refutation fail.

#include "levels/dependencies.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/room.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "infer/reads_from.h"
#include "infer/stated_orders.h"
#include "infer/touched_keys.h"
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
  index_stated();
  if (updates_ == UpdateOrders::known && !add_updates(budget)) return false;
  for (uint32_t i = 0; i < stated_.size(); ++i)
    all_.push_back({stated_[i].before, stated_[i].after, EdgeKind::write_dependency, stated_[i].key,
                    kNone, kNone, true, false, i});
  find_seen_openly();
  return index_reads(budget) && add_anti(budget);
}

void Dependencies::index_stated() {
  by_pair_.resize(stated_.size());
  std::iota(by_pair_.begin(), by_pair_.end(), 0u);
  const auto key_of = [this](uint32_t i) { return stated_[i].key; };
  counting_sort(by_pair_, problem_.nodes(), [this](uint32_t i) { return stated_[i].after; });
  by_after_ = by_pair_;
  counting_sort(by_after_, history_.key_count(), key_of);
  counting_sort(by_pair_, problem_.nodes(), [this](uint32_t i) { return stated_[i].before; });
  counting_sort(by_pair_, history_.key_count(), key_of);
  // What is stated of a key and its writers are both in the order of nodes, so one pass over each will do.
  followers_.assign(problem_.writes.size(), {});
  uint32_t pair = 0;
  for (KeyId key = 0; key < history_.key_count(); ++key)
    for (const WriteId w : problem_.key_writers(key)) {
      const auto of_write = [&] {
        const StatedOrder& stated = stated_[by_pair_[pair]];
        return stated.key == key && stated.before == problem_.writes.node[w];
      };
      followers_[w].first = pair;
      while (pair < by_pair_.size() && of_write()) ++pair;
      followers_[w].second = pair;
    }
}

// Orders by updates of which the source is certain, where nothing states them; and the first two updates of one version.
bool Dependencies::add_updates(Budget& budget) {
  std::vector<StatedOrder> found;
  std::vector<ExternalRead> reads;
  std::vector<ExternalRead> first_update(problem_.writes.size() + problem_.keys(),
                                         ExternalRead{kNone, kNone, kNone});
  if (!budget.has_room(sizeof(ExternalRead) * first_update.size())) return false;
  for (Node n = 0; n < problem_.nodes(); ++n) {
    if (problem_.is_possible(n)) continue;
    external_reads(problem_, n, reads);
    for (const ExternalRead& read : reads) {
      if (problem_.write_of(n, read.key) == kNone || !is_item(read.op, read.key)) continue;
      const bool initial = read.write == kNone;
      ExternalRead& first = first_update[initial ? problem_.writes.size() + read.key : read.write];
      if (first.op == kNone) {
        first = read;
      } else if (!divergence_ && problem_.node_of(history_.txn_of(first.op)) != n) {
        divergence_ = {{first, read}, {problem_.node_of(history_.txn_of(first.op)), n}};
      }
      const bool certain = assumed_of(problem_.assumed, read.op, read.op + 1).empty();
      if (!initial && certain && problem_.writes.node[read.write] != n &&
          statement(read.write, n) == kNone)
        found.push_back({problem_.writes.node[read.write], n, read.key, read.op, true});
    }
  }
  if (found.empty()) return true;
  const size_t all = stated_.size() + found.size();
  if (!budget.has_room((sizeof(StatedOrder) + 2 * sizeof(uint32_t)) * all)) return false;
  stated_and_updates_.reserve(all);
  stated_and_updates_.assign(stated_.begin(), stated_.end());
  stated_and_updates_.insert(stated_and_updates_.end(), found.begin(), found.end());
  stated_ = stated_and_updates_;
  index_stated();
  return true;
}

// Of what an aggregate computed it is open which versions of the keys it looked at.
void Dependencies::find_seen_openly() {
  const bool aggregates = history_.has_predicates() && history_.predicates().aggregate_count() > 0;
  if (problem_.seen_openly.empty() && !aggregates) return;
  seen_openly_.resize(problem_.keys());
  for (const KeyId key : problem_.seen_openly) seen_openly_[key] = 1;
  if (!aggregates) return;
  const TouchedKeys keys(history_);
  for (const TxnId t : problem_.txn)
    for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i)
      if (is_range(history_.op(i)) && looks_at_more(history_, i)) {
        const Aggregate& aggregate =
            history_.predicates().aggregate(history_.selected(i).aggregate);
        for (const KeyId key : keys.that_may_satisfy(i, aggregate.where)) seen_openly_[key] = 1;
      }
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
      add_read(n, read);
    }
  }
  readers_ = to_rows(problem_.writes.size(), of_writes);
  initial_readers_ = to_rows(history_.key_count(), of_initial);
  return true;
}

void Dependencies::add_read(Node reader, const ExternalRead& read) {
  WriteId of = read.write;
  if (!is_item(read.op, read.key)) {
    const std::optional<WriteId> change = certainly_last_to_change(read.op, read.write);
    if (!change || *change == kNone) return;
    of = *change;
  }
  if (problem_.writes.node[of] != reader)
    all_.push_back({problem_.writes.node[of], reader, EdgeKind::read_dependency, read.key,
                    of == read.write ? kNone : read.write, read.op});
}

// A range reads the keys it returns; that others are absent it learns from its predicate.
bool Dependencies::is_item(OpId op, KeyId key) const {
  if (!is_range(history_.op(op))) return true;
  return returned(history_, op, key);
}

bool Dependencies::add_anti(Budget& budget) {
  std::vector<Node> next;
  for (KeyId key = 0; key < history_.key_count(); ++key)
    for (const WriteId read : problem_.key_writers(key)) {
      next.clear();
      for (const uint32_t i : stated_after(read))
        if (next.empty() || next.back() != stated_[i].after) next.push_back(stated_[i].after);
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

// Whether the version that the range saw, without returning it, matches. If the condition leaves that open, the range tells: it
// matches if the range names the key as matched, else it does not.
Match Dependencies::match_seen(OpId range, KeyId key, WriteId write) const {
  const Match of = match(range, key, write);
  if (of != Match::open) return of;
  const std::span<const KeyId> matched = history_.selected(range).matched;
  return std::ranges::find(matched, key) != matched.end() ? Match::yes : Match::no;
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
  const Match was = match_seen(reader.op, key, read);
  std::vector<Reached> reached;
  reached_for_.resize(problem_.nodes());
  ++reads_looked_at_;
  const auto reach = [&](Node writer, uint32_t from, uint32_t stated) {
    // What is stated may branch, and contradict itself in a circle.
    if (std::exchange(reached_for_[writer], reads_looked_at_) != reads_looked_at_)
      reached.push_back({writer, from, stated});
  };
  for (const Node writer : writers)
    reach(writer, kNone, read == kNone ? kNone : statement(read, writer));
  for (uint32_t at = 0; at < reached.size(); ++at) {
    const Reached here = reached[at];
    const Match is = match(reader.op, key, problem_.write_of(here.writer, key));
    if (is == was || is == Match::open) {
      const std::span<const uint32_t> followers = stated_after(problem_.write_of(here.writer, key));
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

// Who wrote what, and whether one statement orders it all.
void Dependencies::find_whole_orders() {
  if (!may_be_left_.empty()) return;
  may_be_left_.resize(history_.key_count());
  whole_orders_.resize(history_.key_count());
  whole_place_.assign(problem_.writes.size(), kNone);
  WrittenKeys written;
  for (TxnId t = 0; t < history_.txn_count(); ++t)
    if (history_.status(t) != TxnStatus::aborted)
      each_install(history_, t, written, [&](const Install& install) {
        if (install.final) may_be_left_[install.key].push_back(install.state());
      });
  std::vector<WriteId> order;
  const auto& named = problem_.found.known.named;
  for (size_t line = 0; line < named.size(); ++line) {
    const KnownOrder& known = history_.known_orders()[line];
    if (!whole_orders_[known.key].empty()) continue;
    order.clear();
    bool once = true;
    for (size_t i = 0; i < named[line].size(); ++i) {
      if (named[line][i] == kNone) continue;
      const WriteId w = problem_.write_of(problem_.node_of(named[line][i]), known.key);
      if (w == kNone || problem_.writes.version[w] != known.versions[i]) continue;
      once = once && whole_place_[w] == kNone;
      whole_place_[w] = static_cast<uint32_t>(order.size());
      order.push_back(w);
    }
    if (once && order.size() == may_be_left_[known.key].size())
      whole_orders_[known.key] = order;
    else
      for (const WriteId w : order) whole_place_[w] = kNone;
  }
}

// Of all that may have been there no other version matches as the one that was read does.
bool Dependencies::others_all_differ(OpId range, WriteId read) {
  const PredicateId predicate = history_.selected(range).predicate;
  const KeyId key = problem_.writes.key[read];
  const auto [counts, fresh] = matches_.try_emplace({predicate, key});
  if (fresh) {
    for (const KeyState& state : may_be_left_[key])
      ++counts->second[static_cast<size_t>(match_of_state(history_, state, predicate))];
    ++counts->second[static_cast<size_t>(
        match_of_state(history_, initial_state(history_, key), predicate))];
  }
  const std::array<uint32_t, 3>& of = counts->second;
  return of[static_cast<size_t>(match(range, key, read))] == 1 &&
         of[static_cast<size_t>(Match::open)] == 0;
}

// The last of `until`, which ends with the version that a range saw, that changed whether the range selects the key: kNone if none
// did, or perhaps another.
WriteId Dependencies::last_to_change(OpId range, std::span<const WriteId> until,
                                     LastChanges& known) const {
  const PredicateId predicate = history_.selected(range).predicate;
  const KeyId key = problem_.writes.key[until.back()];
  const Match was = match(range, key, until.back());
  if (was == Match::open) return kNone;
  WriteId change = kNone;
  size_t at = until.size() - 1;
  for (;; --at) {
    if (const auto it = known.find({predicate, until[at]}); it != known.end()) {
      change = it->second;
      break;
    }
    const Match before = match(range, key, at == 0 ? kNone : until[at - 1]);
    if (before != was && before != Match::open) change = until[at];
    if (before != was || at == 0) break;
  }
  for (size_t i = at; i < until.size(); ++i) known.try_emplace({predicate, until[i]}, change);
  return change;
}

// Nothing where that depends on what is not stated.
std::optional<WriteId> Dependencies::certainly_last_to_change(OpId range, WriteId read) {
  find_whole_orders();
  find_states_left();
  const std::vector<WriteId>& whole = whole_orders_[problem_.writes.key[read]];
  if (!whole.empty())
    return last_to_change(range, std::span(whole).first(whole_place_[read] + 1), last_change_);
  if (others_all_differ(range, read)) return read;
  return std::nullopt;
}

// Where the order of versions is assumed: `until` ends with the one that was read.
void Dependencies::assume_read(const NodeRead& reader, std::span<const WriteId> until,
                               LastChanges& known) {
  if (certainly_last_to_change(reader.op, until.back())) return;
  const WriteId change = last_to_change(reader.op, until, known);
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

// The same where the order of those that come later is assumed.
void Dependencies::assume_change(const NodeRead& reader, WriteId read,
                                 std::span<const WriteId> later, KeyId key) {
  find_states_left();
  const Match was = match_seen(reader.op, key, read);
  for (const WriteId w : later) {
    const Node writer = problem_.writes.node[w];
    const Match is = match(reader.op, key, w);
    if (is == was || is == Match::open) continue;
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

uint32_t Dependencies::statement(WriteId before, Node after) const {
  const std::span<const uint32_t> following = stated_after(before);
  const auto it =
      std::lower_bound(following.begin(), following.end(), after,
                       [this](uint32_t i, Node node) { return stated_[i].after < node; });
  return it != following.end() && stated_[*it].after == after ? *it : kNone;
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
    const bool openly = !seen_openly_.empty() && seen_openly_[key] != 0;
    while (!openly && unread != begin && readers_[*(unread - 1)].empty()) --unread;
    for (auto w = begin; w != end; ++w) {
      const Node node = problem_.writes.node[*w];
      if (w == begin || (w > unread && unread == begin)) continue;
      const WriteId last = w > unread ? *(unread - 1) : *(w - 1);  // read last
      const uint32_t last_place = place[problem_.writes.node[last]];
      const bool known = w <= unread
                             ? statement(last, node) != kNone
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
  LastChanges last_changes;
  for (KeyId key = 0; key < versions.rows(); ++key) {
    const std::span<const WriteId> writers = versions[key];
    for (size_t i = 0; i < writers.size(); ++i) {
      const Node node = problem_.writes.node[writers[i]];
      const std::span<const NodeRead> readers =
          i == 0 ? initial_readers_[key] : readers_[writers[i - 1]];
      const bool stated = i == 0 || statement(writers[i - 1], node) != kNone;
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
