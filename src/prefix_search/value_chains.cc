// The sessions of a history, described by values.
//
//   s1: { w(x,1) }  { r(y,2) w(x,1) }     s2: { w(x,2) w(y,2) }  { r(x,1) r(y,2) }
//
//   values of x: null 0, 1 is 1, 2 is 2; of y: null 3, 2 is 4      s1 writes value 1 at places 0
//                                                                  and 1, s2 reads it at place 1
//
// A delete and a null are the same value. What remains of a transaction is its reads from others
// and its final writes, each key once. Cost: the accesses, plus a number for each session and
// value.

#include "prefix_search/value_chains.h"

#include <algorithm>
#include <unordered_map>

#include "base/sort_by.h"
#include "history/accesses.h"

namespace assay::internal {

// What a key may hold, as the history names it: a version, nothing, or the initial value of all
// keys.
class ValueChains::Reader {
 public:
  Reader(const Problem& problem, ValueChains& chains)
      : problem_(problem), h_(*problem.history), chains_(chains), number_(h_.key_count(), kNone) {}

  // Returns false if there is a read of another kind.
  bool read() {
    for (const std::vector<Node>& session : problem_.sessions) {
      for (const Node n : session)
        if (!add(n)) return false;
      chains_.begin_.push_back(static_cast<uint32_t>(chains_.txns_.size()));
    }
    chains_.txns_.push_back({kNone, false, size(chains_.reads_), size(chains_.writes_)});
    return true;
  }

 private:
  template <class T>
  static uint32_t size(const std::vector<T>& all) {
    return static_cast<uint32_t>(all.size());
  }

  bool add(Node n) {
    const TxnId t = problem_.txn[n];
    Txn txn{n, problem_.is_possible(n), size(chains_.reads_), size(chains_.writes_)};
    bool plain = true;
    const auto look = [&](const Observation& seen) {
      plain = plain && seen.accepts == Accepts::equals;
      if (!plain || seen.own || problem_.key_of(seen.key) == kNone) return;
      note_read({number(seen.key), value(seen.key, {seen.version, false})}, txn.reads, plain);
    };
    const auto put = [&](const Install& install) {
      plain = plain && !install.appends;
      if (!plain || problem_.key_of(install.key) == kNone) return;
      note_write({number(install.key), value(install.key, install.state())}, txn.writes);
    };
    walk_accesses(h_, t, written_, look, put);
    chains_.txns_.push_back(txn);
    return plain && size(chains_.reads_) - txn.reads <= kMostAccesses &&
           size(chains_.writes_) - txn.writes <= kMostAccesses;
  }
  void note_read(KeyValue read, uint32_t first, bool& plain) {
    if (const uint32_t at = read_at_[read.key]; at != kNone && at >= first) {
      plain = chains_.reads_[at] == read;
      return;
    }
    read_at_[read.key] = size(chains_.reads_);
    chains_.reads_.push_back(read);
  }
  void note_write(KeyValue write, uint32_t first) {
    if (const uint32_t at = write_at_[write.key]; at != kNone && at >= first) {
      chains_.writes_[at] = write;
      return;
    }
    write_at_[write.key] = size(chains_.writes_);
    chains_.writes_.push_back(write);
  }

  uint32_t number(KeyId key) {
    if (number_[key] == kNone) {
      number_[key] = size(chains_.initial_);
      read_at_.push_back(kNone);
      write_at_.push_back(kNone);
      chains_.initial_.push_back(value(key, initial_state(h_, key)));
    }
    return number_[key];
  }
  uint32_t value(KeyId key, const KeyState& state) {
    const bool initial = state.version == kNone || h_.is_initial(state.version);
    const uint32_t name = is_absent(h_, state) ? kNone : initial ? kNone - 1 : state.version;
    const auto [at, fresh] = values_.emplace(pack(key, name), chains_.values_);
    chains_.values_ += fresh ? 1 : 0;
    return at->second;
  }

  const Problem& problem_;
  const History& h_;
  ValueChains& chains_;
  WrittenKeys written_;
  std::vector<uint32_t> number_;  // per key of the history
  std::vector<uint32_t> read_at_,
      write_at_;  // per key: its last index into chains_.reads_, chains_.writes_
  std::unordered_map<uint64_t, uint32_t> values_;
};

std::optional<ValueChains> ValueChains::of(const Problem& problem, Budget& budget) {
  ValueChains chains;
  const size_t accesses = problem.history->op_count();
  constexpr uint64_t kBytesAnAccess = sizeof(KeyValue) + 4 * sizeof(uint32_t) + 48;
  if (!budget.has_room(kBytesAnAccess * accesses)) return std::nullopt;
  if (!Reader(problem, chains).read()) return std::nullopt;
  constexpr uint64_t kMostRows = 1 << 19;
  const uint64_t rows = uint64_t{chains.chains()} * chains.values_;
  if (rows > kMostRows || !budget.has_room(2 * sizeof(uint32_t) * rows)) return std::nullopt;
  chains.index();
  return chains;
}

void ValueChains::index() {
  const size_t rows = size_t{chains()} * values_;
  end_of_reads_.assign(rows, 0);
  own_writers_.assign(reads_.size(), kNone);
  std::vector<uint32_t> last(keys());
  for (uint32_t c = 0; c < chains(); ++c) {
    std::fill(last.begin(), last.end(), kNone);
    for (uint32_t p = 0; p < length(c); ++p) {
      const Txn& t = txn(c, p);
      uint32_t at = t.reads;
      for (const KeyValue& read : reads(c, p)) {
        own_writers_[at++] = last[read.key];
        if (!t.optional) end_of_reads_[row(c, read.value)] = p + 1;
      }
      for (const KeyValue& write : writes(c, p)) {
        if (!t.optional) last[write.key] = p;
      }
    }
  }
  written_at_ = collect_rows<uint32_t>(rows, [&](auto add) {
    for (uint32_t c = 0; c < chains(); ++c)
      for (uint32_t p = 0; p < length(c); ++p)
        for (const KeyValue& write : writes(c, p)) add(row(c, write.value), p);
  });
}

uint32_t ValueChains::next_write(uint32_t chain, uint32_t value, uint32_t from) const {
  const std::span<const uint32_t> places = written_at_[row(chain, value)];
  const auto at = std::lower_bound(places.begin(), places.end(), from);
  return at == places.end() ? kNone : *at;
}

}  // namespace assay::internal
