// A prefix holds the first n events of each chain, with an n for each. An event may be appended if
// every completion of the prefix that begins with it can still satisfy every read:
//
//   reads    every key it reads holds the version it read
//   writes   no transaction is left that has to read the version it overwrites
//   SI       no transaction that has begun and not committed writes a key that it will write: from
//            begin to commit a transaction owns the keys that it writes
//
//   s1: { r(x,0) w(x,1) }  s2: { r(x,0) w(x,2) }
//   serializable, snapshot isolation: T1 may not overwrite x while T2 has to read it, nor T2 while
//   T1 has prefix: r(T1) r(T2) w(T1) w(T2); serializable with one reader less
//
// Session order, known orders and real time are conditions of the same kind: something must have
// happened. Each test costs as much as the transaction has operations; real time as much as there
// are chains.
//
// A *free* event can be moved to the front of every completion, so no other event need be tried in
// its place. Free are: an event that only reads; a write of a key that no other transaction is left
// to write; and under SI every commit, since no other writer can have begun in between. This, and a
// state that is only a vector of positions, make the search polynomial for a fixed number of chains
// (Biswas and Enea, OOPSLA 2019, sections 4 and 5).

#include "prefix_search/frontier.h"

#include <algorithm>

namespace assay::internal {
namespace {

// A transaction of unknown outcome that is counted took effect at some time after it began.
Interval commit_time(const History& history, TxnId t) {
  if (history.status(t) == TxnStatus::committed) return history.end_time(t);
  const Interval begin = history.begin_time(t);
  if (!begin.known()) return {};
  return {begin.request, std::numeric_limits<int64_t>::max()};
}

}  // namespace

Frontier::Frontier(const Problem& problem, const LevelInfo& level)
    : problem_(problem),
      level_(level),
      split_(level.events == EventModel::split),
      per_node_(split_ ? 2 : 1),
      events_(per_node_ * problem.nodes()),
      current_(problem.keys(), kNone),
      writers_to_come_(problem.keys()),
      lock_(problem.keys(), kNone) {
  index_chains();
  index_write_orders();
  if (level.real_time != RealTime::none) index_times();
  position_.assign(chains(), 0);
  for (WriteId w = 0; w < problem.writes.size(); ++w) {
    unread_versions_.push_back(static_cast<uint32_t>(problem.readers[w].size()));
  }
  unread_initial_.resize(problem.keys());
  for (KeyId key = 0; key < problem.keys(); ++key) {
    writers_to_come_[key] = static_cast<uint32_t>(problem.writes.of_key[key].size());
    if (key < problem.initial_readers.rows()) {
      unread_initial_[key] = static_cast<uint32_t>(problem.initial_readers[key].size());
    }
  }
}

// A transaction of unknown outcome follows its session's earlier transactions, and no transaction
// waits for it: it is a separate chain.
void Frontier::index_chains() {
  chains_.also_after.assign(problem_.nodes(), kNone);
  chains_.of.assign(problem_.nodes(), 0);
  chains_.place.assign(problem_.nodes(), 0);
  const auto close_chain = [&] {
    const uint32_t begin = chains_.nodes.begin.back();
    const auto length = static_cast<uint32_t>(chains_.nodes.items.size()) - begin;
    if (length == 0) return;
    for (uint32_t i = 0; i < length; ++i) {
      chains_.of[chains_.nodes.items[begin + i]] = chains();
      chains_.place[chains_.nodes.items[begin + i]] = i;
    }
    chains_.nodes.begin.push_back(begin + length);
    end_.push_back(length * per_node_);
  };
  std::vector<Node> alone;
  for (const std::vector<Node>& session : problem_.sessions) {
    Node before = kNone;
    for (Node n : session) {
      const bool committed = problem_.history->status(problem_.txn[n]) == TxnStatus::committed;
      if (level_.session_order && committed) {
        chains_.nodes.items.push_back(n);
        before = n;
      } else {
        alone.push_back(n);
        if (level_.session_order) chains_.also_after[n] = before;
      }
    }
    close_chain();
  }
  for (Node n : alone) {
    chains_.nodes.items.push_back(n);
    close_chain();
  }
}

// Indexes the known orders, and the orders that the reads force.
void Frontier::index_write_orders() {
  std::vector<std::pair<Node, Node>> stated, pairs;
  for (const StatedOrder& order : problem_.stated) stated.emplace_back(order.before, order.after);
  const bool ordered = !split_ || level_.write_conflict;
  for (const auto& [before, after] : stated) pairs.emplace_back(after, before);
  for (const auto& [before, after] : forced_orders(problem_, chains_, std::move(stated), ordered))
    pairs.emplace_back(after, before);
  std::sort(pairs.begin(), pairs.end());
  written_before_ = collect_rows(problem_.nodes(), pairs);
}

void Frontier::index_times() {
  const History& history = *problem_.history;
  most_overlap_ = std::max<int64_t>(history.clock_drift(), 1) - 1;
  for (const TxnId t : problem_.txn) session_.push_back(history.session(t));
  read_start_.assign(problem_.nodes(), -kNever);
  write_start_.assign(problem_.nodes(), -kNever);
  least_begin_.assign(chains_.nodes.items.size(), kNever);
  least_commit_ = least_begin_;
  for (uint32_t chain = 0; chain < chains(); ++chain) {
    int64_t begin = kNever, commit = kNever;
    for (uint32_t at = chains_.nodes.begin[chain + 1]; at-- > chains_.nodes.begin[chain];) {
      const Node n = chains_.nodes.items[at];
      const TxnId t = problem_.txn[n];
      const Interval begins = history.begin_time(t);
      const Interval commits = commit_time(history, t);
      if (begins.known()) {
        read_start_[n] = begins.request;
        begin = std::min(begin, begins.response);
      }
      if (commits.known()) {
        write_start_[n] = commits.request;
        if (history.status(t) == TxnStatus::committed) commit = std::min(commit, commits.response);
      }
      least_begin_[at] = begin;
      least_commit_[at] = commit;
    }
  }
}

bool Frontier::has_written(Node n) const {
  return position_[chains_.of[n]] >= (chains_.place[n] + 1) * per_node_;
}

bool Frontier::reads_current(Node n) const {
  return std::all_of(problem_.reads[n].begin(), problem_.reads[n].end(),
                     [&](const ExternalRead& read) { return current_[read.key] == read.write; });
}

bool Frontier::may_overwrite(Node n) const {
  for (const WriteId w : problem_.writes.of(n)) {
    const KeyId key = problem_.writes.key[w];
    const WriteId held = current_[key];
    uint32_t readers = held == kNone ? unread_initial_[key] : unread_versions_[held];
    if (!split_ && readers == 1) {  // perhaps only `n` itself
      const auto own = [&](const ExternalRead& read) { return read.key == key; };
      readers -= std::any_of(problem_.reads[n].begin(), problem_.reads[n].end(), own);
    }
    if (readers != 0) return false;
  }
  const auto before = written_before_[n];
  return std::all_of(before.begin(), before.end(), [&](Node b) { return has_written(b); });
}

bool Frontier::keys_are_unlocked(Node n) const {
  for (const WriteId w : problem_.writes.of(n)) {
    if (lock_[problem_.writes.key[w]] != kNone) return false;
  }
  return true;
}

bool Frontier::is_sole_writer(Node n) const {
  for (const WriteId w : problem_.writes.of(n)) {
    if (writers_to_come_[problem_.writes.key[w]] != 1) return false;
  }
  return true;
}

// Whether everything that was over before the event started has happened.
bool Frontier::time_has_come(Node n, bool reads, bool writes) const {
  int64_t begin = kNever, commit = kNever;
  for (uint32_t chain = 0; chain < chains(); ++chain) {
    if (finished(chain)) continue;
    const uint32_t place = position_[chain] / per_node_;
    const uint32_t at = chains_.nodes.begin[chain] + place;
    const bool same_session = session_[chains_.nodes.items[at]] == session_[n];
    const auto over = [&](int64_t response) {
      const int64_t more = same_session ? 0 : most_overlap_;
      return response > kNever - more ? kNever : response + more;
    };
    commit = std::min(commit, over(least_commit_[at]));
    const uint32_t begins = at + position_[chain] % per_node_;  // the next begin to come
    if (begins < chains_.nodes.begin[chain + 1])
      begin = std::min(begin, over(least_begin_[begins]));
  }
  switch (level_.real_time) {
    case RealTime::none:
      return true;
    case RealTime::transactions:
      return commit >= read_start_[n];
    case RealTime::into_commits:
      return !writes || std::min(begin, commit) >= write_start_[n];
    case RealTime::all_but_begins:
      return (!reads || commit >= read_start_[n]) &&
             (!writes || std::min(begin, commit) >= write_start_[n]);
  }
  return false;
}

bool Frontier::may_happen(uint32_t chain) const {
  const Node n = next_node(chain);
  const bool writes = next_writes(chain);
  const bool reads = !split_ || !writes;
  if (reads) {
    if (chains_.also_after[n] != kNone && !has_written(chains_.also_after[n])) return false;
    if (!reads_current(n)) return false;
    if (level_.write_conflict && !keys_are_unlocked(n)) return false;
  }
  if (writes && !may_overwrite(n)) return false;
  return level_.real_time == RealTime::none || time_has_come(n, reads, writes);
}

bool Frontier::is_free(uint32_t chain) const {
  const bool writes = next_writes(chain);
  if (split_ && level_.write_conflict == writes) return true;
  return is_sole_writer(next_node(chain));
}

// How far in a chain is_stuck looks.
uint32_t Frontier::horizon(uint32_t chain) const {
  constexpr uint32_t kEvents = 64;
  return std::min(end_[chain], position_[chain] + kEvents);
}

// Whether the node's reads, or its writes, are among the events that come about or beyond the
// horizon, where anything may come about.
bool Frontier::comes_about(Node n, bool written) const {
  const uint32_t chain = chains_.of[n];
  const uint32_t event = chains_.place[n] * per_node_ + (split_ && written ? 1 : 0);
  return event < reached_[chain] || event >= horizon(chain);
}

// The event waits for the sources of its reads; and, before it overwrites the current version, for
// all readers of that version.
Frontier::Wait Frontier::wait_of(uint32_t chain) const {
  constexpr size_t kMostReaders = 256;
  const Node n = chains_.nodes[chain][reached_[chain] / per_node_];
  const bool writes = !split_ || reached_[chain] % 2 == 1;
  const bool reads = !split_ || !writes;
  if (reads) {
    for (const ExternalRead& read : problem_.reads[n]) {
      if (read.write == kNone) continue;
      const Node source = problem_.writes.node[read.write];
      if (!comes_about(source, true)) return {source};
    }
    for (WriteId w = problem_.writes.begin[n];
         level_.write_conflict && w < problem_.writes.begin[n + 1]; ++w) {
      const Node holder = lock_[problem_.writes.key[w]];
      if (holder != kNone && holder != n && !comes_about(holder, true)) return {holder, holder};
    }
  }
  for (WriteId w = problem_.writes.begin[n]; writes && w < problem_.writes.begin[n + 1]; ++w) {
    const KeyId key = problem_.writes.key[w];
    const WriteId held = current_[key];
    if ((held == kNone ? unread_initial_[key] : unread_versions_[held]) == 0) continue;
    const std::span<const Node> readers =
        held == kNone ? problem_.initial_readers[key] : problem_.readers[held];
    if (readers.size() > kMostReaders) continue;
    for (const Node reader : readers)
      if (reader != n && !comes_about(reader, false))
        return {reader, held == kNone ? kNone : problem_.writes.node[held]};
  }
  for (const Node before : written_before_[n])
    if (writes && !comes_about(before, true)) return {before};
  return {};
}

bool Frontier::is_stuck(std::vector<TooEarly>& why) {
  reached_ = position_;
  uint32_t idle = 0;
  for (uint32_t chain = 0; idle < chains(); chain = chain + 1 == chains() ? 0 : chain + 1) {
    ++idle;
    while (reached_[chain] < horizon(chain) && wait_of(chain).node == kNone) {
      ++reached_[chain];
      idle = 0;
    }
  }
  uint32_t chain = 0;
  while (chain < chains() && reached_[chain] >= horizon(chain)) ++chain;
  if (chain == chains()) return false;
  // The event waited for is in a chain that cannot go on either, so following the waits leads into
  // a cycle.
  const auto next = [this](uint32_t c) { return chains_.of[wait_of(c).node]; };
  uint32_t met = chain, steps = 0, most = 1;  // Brent's cycle detection
  for (chain = next(chain); chain != met; chain = next(chain)) {
    if (++steps < most) continue;
    met = chain;
    steps = 0;
    most *= 2;
  }
  why.clear();
  uint32_t at = chain;
  do {
    const Wait wait = wait_of(at);
    if (wait.overwrites != kNone)
      why.push_back({wait.overwrites, chains_.nodes[at][reached_[at] / per_node_]});
    at = chains_.of[wait.node];
  } while (at != chain);
  return true;
}

uint32_t& Frontier::unread(KeyId key, WriteId version) {
  return version == kNone ? unread_initial_[key] : unread_versions_[version];
}

void Frontier::happen(uint32_t chain) {
  const Node n = next_node(chain);
  trail_.push_back({chain, static_cast<uint32_t>(overwritten_.size())});
  if (!split_ || !next_writes(chain)) {
    for (const ExternalRead& read : problem_.reads[n]) --unread(read.key, read.write);
    for (WriteId w = problem_.writes.begin[n];
         level_.write_conflict && w < problem_.writes.begin[n + 1]; ++w) {
      lock_[problem_.writes.key[w]] = n;
    }
  }
  if (next_writes(chain)) {
    for (const WriteId w : problem_.writes.of(n)) {
      const KeyId key = problem_.writes.key[w];
      overwritten_.push_back(current_[key]);
      current_[key] = w;
      --writers_to_come_[key];
      lock_[key] = kNone;
    }
  }
  ++position_[chain];
}

void Frontier::rewind(size_t length) {
  while (trail_.size() > length) {
    const Step step = trail_.back();
    trail_.pop_back();
    --position_[step.chain];
    const Node n = next_node(step.chain);
    const bool writes = next_writes(step.chain);
    if (writes) {
      for (const WriteId w : problem_.writes.of(n)) {
        const KeyId key = problem_.writes.key[w];
        current_[key] = overwritten_[step.overwritten + w - problem_.writes.begin[n]];
        ++writers_to_come_[key];
        if (level_.write_conflict) lock_[key] = n;
      }
      overwritten_.resize(step.overwritten);
    }
    if (!split_ || !writes) {
      for (const ExternalRead& read : problem_.reads[n]) ++unread(read.key, read.write);
      for (const WriteId w : problem_.writes.of(n)) {
        lock_[problem_.writes.key[w]] = kNone;
      }
    }
  }
}

std::vector<uint32_t> Frontier::events() const {
  std::vector<uint32_t> events, place(chains(), 0);
  events.reserve(trail_.size());
  for (const Step& step : trail_) {
    const uint32_t at = place[step.chain]++;
    const TxnId t = problem_.txn[chains_.nodes[step.chain][at / per_node_]];
    events.push_back(split_ ? 2 * t + at % 2 : t);
  }
  return events;
}

}  // namespace assay::internal
