// For histories in which values repeat: finds an order by what the keys hold, with a beam search
// over prefixes of sessions.
//
//   s1: A { w(x,1) }  B { r(y,2) w(x,1) }     s2: C { w(x,2) w(y,2) }  D { r(x,1) r(y,2) }
//
//   A C B and C A B end with the same values, x = 1 and y = 2, and with the sessions equally far.
//   Whatever can follow the one can follow the other, whoever wrote that 1: they are one *state*. D
//   can go next.
//
// A search that chooses writers has to choose, for each read, among all writers of its value. Here
// a transaction may go next if the keys hold the values it read, which rarely happens by chance;
// the only choice is which of the fitting transactions goes first. The search proceeds in layers,
// one transaction each, and keeps the best states of each layer (a *beam*). For every read of the
// next three transactions of a session it counts how many transactions of some other session have
// to be executed before the value is there; the best states are those where these numbers are
// small. A state is dropped if it lacks a value that is still to be read and will not be written
// again. If no state of a layer has a successor, the search returns to an earlier layer, and keeps
// four times as many states until it is past that place.
//
// If reads and writes are two events, a transaction begins when the keys hold the values it read,
// at the latest right before a commit that changes one of them. Under snapshot isolation it then
// locks the keys that it writes until it commits. A transaction that only reads commits as it
// begins, as soon as it fits.
//
// The search finds orders of what a database really did; it cannot refute a level. Cost: layers ×
// states × transactions that fit × the reads that it looks at. Sources: dbcop (OOPSLA 2019) for
// prefixes, Lowerre (1976) for beams.

#include "prefix_search/value_beam.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <unordered_set>

#include "base/hash.h"
#include "infer/scheduler.h"
#include "prefix_search/value_chains.h"

namespace assay::internal {
namespace {

constexpr uint32_t kMostSessions = 64;  // bits of State::begun

// A score is the sum of: how far away each value is that the next transactions of a session read;
// for each session, the square of its distance from where it would be if all sessions advanced
// evenly; a term for each transaction that has begun; and a random term, to tell equal states
// apart.
constexpr uint32_t kLook = 3;
constexpr std::array<double, kLook> kWeight = {1, 0.8, 0.64};
constexpr double kUneven = 0.002, kBegun = 0.3, kNoise = 0.01;

// The number of states kept per layer: kWidth, times 4^n after n failures in a row near one place.
constexpr uint32_t kWidth = 256, kWidenBits = 2, kMostWidth = 1 << 16;
// The number of layers from one checkpoint to the next, and how many to go back at the first
// failure.
constexpr uint32_t kCheckpoint = 32, kFirstReturn = 48;
constexpr size_t kMostCheckpoints = 64;

// A prefix of the execution, as far as it matters for what follows; it refers to rows of a layer.
struct State {
  const uint32_t* at;     // per chain: transactions that are over
  const uint32_t* value;  // per key: its current value
  uint64_t begun;         // chains whose next transaction has begun
};

bool has(uint64_t chains, uint32_t chain) { return (chains >> chain & 1) != 0; }

// Holds, per chain and place, the next place at which each value is written, for the places that
// states have now: these are neighbouring places, and the row of each differs little from that of
// the one before.
class NextWrites {
 public:
  explicit NextWrites(const ValueChains& txns)
      : t_(txns),
        place_(size_t{txns.chains()} * kPlaces, kNone),
        next_(place_.size() * txns.values()) {}
  static uint64_t bytes(const ValueChains& txns) {
    return uint64_t{txns.chains()} * kPlaces * txns.values() * sizeof(uint32_t);
  }

  // Returns a row indexed by value; kNone: never.
  const uint32_t* of(uint32_t chain, uint32_t place) {
    const size_t row = row_of(chain, place);
    if (place_[row] != place) fill(row, chain, place);
    return &next_[row * t_.values()];
  }

 private:
  static constexpr uint32_t kPlaces = 64;  // a power of two

  size_t row_of(uint32_t chain, uint32_t place) const {
    return size_t{chain} * kPlaces + place % kPlaces;
  }
  void fill(size_t row, uint32_t chain, uint32_t place) {
    uint32_t* next = &next_[row * t_.values()];
    place_[row] = place;
    if (place > 0 && place_[row_of(chain, place - 1)] == place - 1) {
      std::copy_n(&next_[row_of(chain, place - 1) * t_.values()], t_.values(), next);
      for (const KeyValue& write : t_.writes(chain, place - 1))
        next[write.value] = t_.next_write(chain, write.value, place);
      return;
    }
    for (uint32_t v = 0; v < t_.values(); ++v) next[v] = t_.next_write(chain, v, place);
  }

  const ValueChains& t_;
  std::vector<uint32_t> place_;  // per row
  std::vector<uint32_t> next_;   // rows
};

// How long a state has to wait for the values that its sessions read next: each row has a distance
// for each of these reads.
class Distances {
 public:
  static constexpr uint16_t kNever = UINT16_MAX;

  explicit Distances(const ValueChains& txns) : t_(txns), next_writes_(txns) {
    for (uint32_t c = 0; c < t_.chains(); ++c)
      for (uint32_t p = 0; p < t_.length(c); ++p)
        slots_ = std::max(slots_, t_.reads(c, p, look(c, p)).size());
  }
  size_t row() const { return t_.chains() * slots_; }
  // Sets the row of a state, and adds to its score. `before`: the row of the state that it came
  // from when the next transaction of `moved` was over; null: measures all. Returns false if a
  // value that is still to be read will never be there.
  bool measure(const State& s, uint32_t moved, const uint16_t* before, uint16_t* row,
               double& score) {
    for (uint32_t c = 0; c < t_.chains(); ++c) next_[c] = next_writes_.of(c, s.at[c]);
    for (uint32_t c = 0; c < t_.chains(); ++c) {
      const uint16_t* known = before == nullptr || c == moved ? nullptr : before + c * slots_;
      if (s.at[c] < t_.length(c) && !measure_chain(s, c, moved, known, row + c * slots_, score))
        return false;
    }
    return true;
  }

 private:
  uint32_t look(uint32_t chain, uint32_t place) const {
    return std::min(kLook, t_.length(chain) - place);
  }
  bool measure_chain(const State& s, uint32_t chain, uint32_t moved, const uint16_t* before,
                     uint16_t* distances, double& score) const {
    const uint32_t place = s.at[chain];
    uint32_t slot = 0;
    for (uint32_t ahead = 0; ahead < look(chain, place); ++ahead) {
      const bool counts =
          !t_.txn(chain, place + ahead).optional && (ahead > 0 || !has(s.begun, chain));
      const std::span<const uint32_t> own = t_.own_writers(chain, place + ahead);
      const std::span<const KeyValue> reads = t_.reads(chain, place + ahead);
      for (size_t i = 0; i < reads.size(); ++i, ++slot) {
        distances[slot] = 0;
        const auto [key, value] = reads[i];
        if (!counts || s.value[key] == value || (own[i] != kNone && own[i] >= place)) continue;
        const bool known = before != nullptr && before[slot] != 0;
        const uint32_t now = known ? std::min<uint32_t>(before[slot], distance(s, moved, value))
                                   : least_distance(s, chain, value);
        if (now >= kNever) return false;
        distances[slot] = static_cast<uint16_t>(now);
        if (now > ahead + 1) score += kWeight[ahead] * (now - ahead - 1);
      }
    }
    return true;
  }
  // How many transactions of a chain have to be executed until the value is there.
  uint32_t distance(const State& s, uint32_t chain, uint32_t value) const {
    const uint32_t place = next_[chain][value];
    return place == kNone ? kNone : place - s.at[chain] + 1;
  }
  uint32_t least_distance(const State& s, uint32_t reader, uint32_t value) const {
    uint32_t least = kNone;
    for (uint32_t c = 0; c < t_.chains(); ++c)
      if (c != reader) least = std::min(least, distance(s, c, value));
    return least;
  }

  const ValueChains& t_;
  size_t slots_ = 1;  // per chain
  NextWrites next_writes_;
  std::array<const uint32_t*, kMostSessions> next_;  // per chain, for the state that is measured
};

// Which transactions may go next in a state.
class Moves {
 public:
  Moves(const ValueChains& txns, const LevelInfo& level) : t_(txns), level_(level) {}

  // Whether the keys hold the values that the next transaction of the chain read.
  bool fits(const State& s, uint32_t chain) const {
    return std::ranges::all_of(t_.reads(chain, s.at[chain]),
                               [&](KeyValue read) { return s.value[read.key] == read.value; });
  }
  bool only_reads(const State& s, uint32_t chain) const {
    return t_.writes(chain, s.at[chain]).empty();
  }
  // Whether the next transaction of one of the chains `holders` holds a key that the next
  // transaction of `chain` writes.
  bool held(const State& s, uint64_t holders, uint32_t chain) const {
    for (uint32_t c = 0; level_.write_conflict && c < t_.chains(); ++c)
      if (c != chain && has(holders, c) && meet(s, c, chain)) return true;
    return false;
  }

  // The sets of chains whose next transactions may begin right before that of `chain` commits, and
  // could not afterwards. Returns all such sets if the chains are few; otherwise only the empty
  // set, a maximal set without conflicts of keys, and this set with each chain left out once.
  const std::vector<uint64_t>& beginnings(const State& s, uint32_t chain) {
    find_starters(s, chain);
    beginnings_ = {0};
    if (starters_.size() > kFew) {
      beginnings_.push_back(begin_all_but(s, kNone));
      for (const uint32_t c : starters_) beginnings_.push_back(begin_all_but(s, c));
      return beginnings_;
    }
    for (const uint32_t c : starters_)
      for (size_t i = 0, sets = beginnings_.size(); i < sets; ++i)
        if (!held(s, beginnings_[i], c)) beginnings_.push_back(beginnings_[i] | uint64_t{1} << c);
    return beginnings_;
  }
  // Whether beginnings() last returned all sets.
  bool were_all() const { return starters_.size() <= kFew; }

 private:
  static constexpr size_t kFew = 3;

  bool meet(const State& s, uint32_t a, uint32_t b) const {
    return std::ranges::any_of(t_.writes(a, s.at[a]), [&](KeyValue write) {
      return std::ranges::count(t_.writes(b, s.at[b]), write.key, &KeyValue::key) > 0;
    });
  }
  bool spoils(const State& s, uint32_t writer, uint32_t reader) const {
    return std::ranges::any_of(t_.writes(writer, s.at[writer]), [&](KeyValue write) {
      return std::ranges::any_of(t_.reads(reader, s.at[reader]), [&](KeyValue read) {
        return read.key == write.key && read.value != write.value;
      });
    });
  }
  void find_starters(const State& s, uint32_t chain) {
    starters_.clear();
    for (uint32_t c = 0; level_.events == EventModel::split && c < t_.chains(); ++c) {
      if (c == chain || s.at[c] == t_.length(c) || has(s.begun, c) || only_reads(s, c)) continue;
      if (spoils(s, chain, c) && fits(s, c) && !held(s, s.begun | uint64_t{1} << chain, c))
        starters_.push_back(c);
    }
  }
  uint64_t begin_all_but(const State& s, uint32_t left) const {
    uint64_t begin = 0;
    for (const uint32_t c : starters_)
      if (c != left && !held(s, begin, c)) begin |= uint64_t{1} << c;
    return begin;
  }

  const ValueChains& t_;
  const LevelInfo& level_;
  std::vector<uint32_t> starters_;
  std::vector<uint64_t> beginnings_;
};

class ValueBeam {
 public:
  ValueBeam(const ValueChains& txns, const LevelInfo& level, uint64_t most_states, Budget& budget)
      : t_(txns),
        level_(level),
        most_states_(most_states),
        budget_(budget),
        moves_(txns, level),
        distances_(txns),
        steps_(txns.txns() + 1) {}

  bool run() {
    start();
    while (done_ < t_.txns()) {
      if (done_ % kCheckpoint == 0) keep_checkpoint();
      expand();
      if (spent_ > most_states_ || budget_.exhausted()) return false;
      if (children_.empty() ? !go_back() : !keep_best()) return false;
    }
    return true;
  }

  // Requires that run() returned true.
  ValueOrder order() const {
    std::vector<uint32_t> place(t_.chains());
    for (uint32_t c = 0; c < t_.chains(); ++c) place[c] = t_.length(c);
    ValueOrder order;
    const Events events(level_);
    uint32_t state = 0;
    // Backwards from the end, so a commit is met before its begin.
    for (uint32_t layer = t_.txns(); layer > 0; --layer) {
      const Step& step = steps_[layer][state];
      const Node n = t_.txn(step.chain, --place[step.chain]).node;
      if (!step.left_out) {
        if (t_.txn(step.chain, place[step.chain]).optional) order.effective.push_back(n);
        order.events.push_back(events.write_event(n));
        if (events.split && !step.had_begun) order.events.push_back(events.read_event(n));
      }
      for (uint32_t c = 0; c < t_.chains(); ++c)
        if (has(step.began, c)) order.events.push_back(events.read_event(t_.txn(c, place[c]).node));
      state = step.parent;
    }
    std::reverse(order.events.begin(), order.events.end());
    std::sort(order.effective.begin(), order.effective.end());
    return order;
  }

 private:
  // The states of a layer: those after the same number of transactions. Each state is a row of
  // every table.
  struct Layer {
    uint32_t size = 0;
    std::vector<uint32_t> at, value;
    std::vector<uint16_t> distance;
    std::vector<uint64_t> begun, hash;
  };
  // How a state came from one of the layer before.
  struct Step {
    uint64_t began = 0;      // chains whose next transaction begins right before this step
    uint32_t parent = 0;     // the state that it came from
    uint16_t chain = 0;      // its next transaction is over now
    bool had_begun = false;  // that transaction had begun before
    bool left_out = false;   // it takes no effect
  };
  struct Child {
    Step step;
    uint64_t begun = 0;
    uint64_t hash = 0;
    double score = 0;  // lower is better
    uint32_t row = 0;  // in children_distance_
  };

  State state(uint32_t s) const {
    return {&layer_.at[size_t{s} * t_.chains()], &layer_.value[size_t{s} * t_.keys()],
            layer_.begun[s]};
  }

  void start() {
    layer_.size = 1;
    layer_.at.assign(t_.chains(), 0);
    layer_.value.assign(t_.initial().begin(), t_.initial().end());
    layer_.begun = layer_.hash = {0};
    layer_.distance.assign(distances_.row(), 0);
    double score = 0;
    if (!distances_.measure(state(0), kNone, nullptr, layer_.distance.data(), score))
      layer_.size = 0;
  }

  void expand() {
    children_.clear();
    children_distance_.clear();
    seen_.clear();
    for (parent_ = 0; parent_ < layer_.size; ++parent_) {
      if (add_reader()) continue;
      for (uint32_t c = 0; c < t_.chains(); ++c)
        if (state(parent_).at[c] < t_.length(c)) add_next_of(c);
    }
  }
  // Executes a transaction that only reads as soon as it fits, since it delays no other.
  bool add_reader() {
    const State s = state(parent_);
    for (uint32_t c = 0; c < t_.chains(); ++c) {
      if (s.at[c] == t_.length(c) || !moves_.only_reads(s, c)) continue;
      const bool left_out = t_.txn(c, s.at[c]).optional;
      if (!left_out && !moves_.fits(s, c)) continue;
      add({.parent = parent_, .chain = static_cast<uint16_t>(c), .left_out = left_out});
      return true;
    }
    return false;
  }

  void add_next_of(uint32_t chain) {
    const State s = state(parent_);
    Step step{
        .parent = parent_, .chain = static_cast<uint16_t>(chain), .had_begun = has(s.begun, chain)};
    if (t_.txn(chain, s.at[chain]).optional && !step.had_begun) {
      step.left_out = true;
      add(step);
      step.left_out = false;
    }
    if (!step.had_begun && !moves_.fits(s, chain)) return;
    if (moves_.held(s, s.begun, chain)) return;
    for (const uint64_t began : moves_.beginnings(s, chain)) {
      step.began = began;
      add(step);
    }
    cut_ = cut_ || !moves_.were_all();
  }

  // Adds the state after a step, unless it is there already or leads nowhere.
  void add(const Step& step) {
    ++spent_;
    Child child{.step = step};
    child.begun = (layer_.begun[parent_] | step.began) & ~(uint64_t{1} << step.chain);
    child.hash = hash_after(step, child.begun);
    if (!seen_.insert(child.hash).second) return;
    if (!step.left_out && loses_value(step.chain, child.begun)) return;
    child.row = static_cast<uint32_t>(children_.size());
    children_distance_.resize((children_.size() + 1) * distances_.row());
    if (!go(child)) return;
    child.score += kNoise * static_cast<double>(mix64(child.hash) % 1024) / 1024;
    children_.push_back(child);
  }

  uint64_t hash_after(const Step& step, uint64_t begun) const {
    const auto of_chain = [](uint64_t chain, uint64_t place) { return mix64(place << 8 | chain); };
    const auto of_value = [](uint64_t value) { return mix64(~value); };
    const auto of_begun = [](uint64_t chains) { return mix64(mix64(chains)); };
    const State s = state(parent_);
    uint64_t hash = layer_.hash[parent_] ^ of_begun(s.begun) ^ of_begun(begun) ^
                    of_chain(step.chain, s.at[step.chain]) ^
                    of_chain(step.chain, s.at[step.chain] + 1);
    if (step.left_out) return hash;
    for (const auto [key, value] : t_.writes(step.chain, s.at[step.chain]))
      hash ^= of_value(s.value[key]) ^ of_value(value);
    return hash;
  }

  // Whether the next transaction of the chain overwrites a value that is still to be read and will
  // not be written again.
  bool loses_value(uint32_t chain, uint64_t begun) const {
    const State s = state(parent_);
    return std::ranges::any_of(t_.writes(chain, s.at[chain]), [&](KeyValue write) {
      const uint32_t old = s.value[write.key];
      bool wanted = false, comes = old == write.value;
      for (uint32_t c = 0; c < t_.chains() && !comes; ++c) {
        wanted |= t_.reads_later(c, old, s.at[c] + (c == chain || has(begun, c) ? 1 : 0));
        comes = t_.writes_later(c, old, s.at[c] + (c == chain ? 1 : 0));
      }
      return wanted && !comes;
    });
  }

  // Makes the step in the state that it starts from, measures the result, and takes the step back.
  // False if a value that is to be read will never be there.
  bool go(Child& child) {
    const uint32_t chain = child.step.chain;
    uint32_t* at = &layer_.at[size_t{parent_} * t_.chains()];
    uint32_t* value = &layer_.value[size_t{parent_} * t_.keys()];
    const std::span<const KeyValue> writes =
        child.step.left_out ? std::span<const KeyValue>() : t_.writes(chain, at[chain]);
    overwritten_.clear();
    for (const KeyValue& write : writes)
      overwritten_.push_back(std::exchange(value[write.key], write.value));
    ++at[chain];
    const uint16_t* before = &layer_.distance[parent_ * distances_.row()];
    const bool possible =
        distances_.measure({at, value, child.begun}, chain, child.step.left_out ? nullptr : before,
                           &children_distance_[child.row * distances_.row()], child.score);
    child.score += kBegun * std::popcount(child.begun);
    for (uint32_t c = 0; c < t_.chains(); ++c) {
      const double even = static_cast<double>(t_.length(c)) / t_.txns() * (done_ + 1);
      if (at[c] < t_.length(c)) child.score += kUneven * (at[c] - even) * (at[c] - even);
    }
    --at[chain];
    for (size_t i = 0; i < writes.size(); ++i) value[writes[i].key] = overwritten_[i];
    return possible;
  }

  // Makes the best children the next layer. False if there is no room.
  bool keep_best() {
    const uint32_t width = done_ < wide_until_ ? width_ : kWidth;
    if (children_.size() > width) {
      cut_ = true;
      std::nth_element(children_.begin(), children_.begin() + width, children_.end(),
                       [](const Child& a, const Child& b) { return a.score < b.score; });
      children_.resize(width);
    }
    Layer next;
    next.size = static_cast<uint32_t>(children_.size());
    if (!budget_.has_room(next.size * bytes_a_state() +
                          2 * sizeof(uint16_t) * children_distance_.size()))
      return false;
    next.at.resize(next.size * t_.chains());
    next.value.resize(next.size * t_.keys());
    next.distance.resize(next.size * distances_.row());
    std::vector<Step>& steps = steps_[++done_];
    steps.clear();
    for (uint32_t i = 0; i < next.size; ++i) {
      const Child& child = children_[i];
      const uint32_t chain = child.step.chain;
      const State from = state(child.step.parent);
      uint32_t* at = &next.at[size_t{i} * t_.chains()];
      uint32_t* value = &next.value[size_t{i} * t_.keys()];
      std::copy_n(from.at, t_.chains(), at);
      std::copy_n(from.value, t_.keys(), value);
      if (!child.step.left_out)
        for (const KeyValue& write : t_.writes(chain, at[chain])) value[write.key] = write.value;
      ++at[chain];
      std::copy_n(&children_distance_[child.row * distances_.row()], distances_.row(),
                  &next.distance[i * distances_.row()]);
      next.begun.push_back(child.begun);
      next.hash.push_back(child.hash);
      steps.push_back(child.step);
    }
    layer_ = std::move(next);
    constexpr uint64_t kCopiedForOneState = 256;  // words; copying them takes as long as a state
    spent_ += uint64_t{layer_.size} * (t_.chains() + t_.keys()) / kCopiedForOneState;
    return true;
  }
  uint64_t bytes_a_state() const {
    return sizeof(uint32_t) * (t_.chains() + t_.keys()) + sizeof(uint16_t) * distances_.row() +
           2 * sizeof(uint64_t) + sizeof(Step);
  }

  void keep_checkpoint() {
    checkpoints_.push_back({done_, layer_});
    if (checkpoints_.size() > kMostCheckpoints) checkpoints_.pop_front();
  }
  // Called if no state can go on. False if going back is useless, because no state was left out or
  // too many would be kept.
  bool go_back() {
    if (!cut_) return false;
    failures_ = done_ <= furthest_ + kCheckpoint ? failures_ + 1 : 1;
    furthest_ = std::max(furthest_, done_);
    width_ = kWidth << (kWidenBits * failures_);
    wide_until_ = furthest_ + kCheckpoint;
    if (width_ > kMostWidth) return false;
    const uint32_t back = kFirstReturn << (failures_ - 1);
    const uint32_t to = done_ > back ? done_ - back : 0;
    while (checkpoints_.size() > 1 && checkpoints_.back().done > to) checkpoints_.pop_back();
    done_ = checkpoints_.back().done;
    layer_ = std::move(checkpoints_.back().layer);
    checkpoints_.pop_back();
    return true;
  }

  struct Checkpoint {
    uint32_t done;
    Layer layer;
  };

  const ValueChains& t_;
  const LevelInfo& level_;
  const uint64_t most_states_;
  Budget& budget_;
  Moves moves_;
  Distances distances_;
  std::vector<std::vector<Step>> steps_;  // per layer
  Layer layer_;
  uint32_t done_ = 0;      // transactions that are over in the layer
  bool cut_ = false;       // some layer had more states than were kept
  uint64_t spent_ = 0;     // states looked at, and copying counted as such
  uint32_t failures_ = 0;  // consecutive ones near the furthest layer
  uint32_t furthest_ = 0;  // the last layer whose states could not go on
  uint32_t width_ = kWidth, wide_until_ = 0;
  std::deque<Checkpoint> checkpoints_;

  // The next members belong to the layer that is expanded.
  uint32_t parent_ = 0;
  std::vector<Child> children_;
  std::vector<uint16_t> children_distance_;
  std::unordered_set<uint64_t> seen_;
  std::vector<uint32_t> overwritten_;
};

}  // namespace

std::optional<ValueOrder> search_by_values(const Problem& problem, const LevelInfo& level,
                                           uint64_t most_states, Budget& budget) {
  if (problem.has_lists || !problem.stated.empty() || problem.sessions.size() > kMostSessions)
    return std::nullopt;
  const std::optional<ValueChains> txns = ValueChains::of(problem, budget);
  if (!txns || txns->txns() == 0 || !budget.has_room(NextWrites::bytes(*txns))) return std::nullopt;
  ValueBeam beam(*txns, level, most_states, budget);
  if (!beam.run()) return std::nullopt;
  return beam.order();
}

}  // namespace assay::internal
