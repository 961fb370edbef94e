// Clients' times are usually right: then nearly every event may happen at its place in their order,
// and a replay rearranges little. Events that may not are found key by key, on several threads:
//
//   w(A) r(B) w(C)        A { w(x,1) }   B { r(x,1) }   C { w(x,2) }
//
//   the writers of x in this order: A, C. A read of A's version comes after w(A), or else it has
//   to wait; and before w(C), or else w(C) has to wait. Here no event has to.
//
// Where the level forbids overlapping writers, the second of two in this order must begin after the
// first has committed, or else its begin has to wait; so does the begin of a transaction that finds
// another writer open. Session order and real time concern no key: one more thread goes through the
// order for them.
//
// Cost: linear, plus a sort of the writers of each key, most of which are in the order of the
// history and stay there.

#include "infer/replay_in_place.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/parallel.h"
#include "infer/precedence.h"
#include "infer/scheduler.h"
#include "infer/slices.h"

namespace assay::internal {
namespace {

// If more than one in this many events wait, hardly any event can happen at its place.
constexpr size_t kFewOf = 16;

class InPlace {
 public:
  InPlace(const Problem& problem, const LevelInfo& level, std::span<const Vertex> order,
          std::span<const Node> stated_before)
      : problem_(problem),
        level_(level),
        events_(level),
        order_(order),
        stated_before_(stated_before),
        place_(order.size()),
        left_(static_cast<int64_t>(order.size() / kFewOf)) {
    for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
  }

  std::optional<std::vector<uint32_t>> run(unsigned threads, const Budget& budget) {
    std::vector<std::vector<uint32_t>> found(slice_count(threads));
    std::vector<uint32_t> all;
    call_all(
        threads, [&] { look_at_keys(threads, budget, found); },
        [&] { look_at_sequence(budget, all); });
    if (stopped()) return std::nullopt;
    for (const std::vector<uint32_t>& some : found) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

 private:
  struct Writer {
    uint32_t place;  // place of the write event
    WriteId write;
  };

  uint32_t read_place(Node n) const { return place_[events_.read_event(n)]; }
  uint32_t write_place(Node n) const { return place_[events_.write_event(n)]; }
  Node node(const Writer& writer) const { return problem_.writes.node[writer.write]; }

  bool stopped() const { return left_.load(std::memory_order_relaxed) < 0; }
  void stop() { left_.store(-1, std::memory_order_relaxed); }
  void note(uint32_t place, std::vector<uint32_t>& found) {
    if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) found.push_back(place);
  }

  // Looks at reads before writes, sessions and real time.
  void look_at_sequence(Budget budget, std::vector<uint32_t>& found) {
    HistoryPrecedence precedence(problem_, level_);
    std::vector<uint8_t> happened(order_.size(), 0);
    for (uint32_t i = 0; i < order_.size() && !stopped(); ++i) {
      if (precedence.missing_but_sources(order_[i], happened) != kNothing) note(i, found);
      happened[order_[i]] = 1;
      if (budget.exhausted()) stop();
    }
  }

  void look_at_keys(unsigned threads, Budget budget, std::vector<std::vector<uint32_t>>& found) {
    in_slices(threads, problem_.keys(), budget, [&] {
      return [&, writers = std::vector<Writer>()](size_t slice, KeyId key) mutable {
        if (stopped()) return;
        in_order(key, writers);
        look_at_readers(key, writers, found[slice]);
        look_at_stated(writers, found[slice]);
        if (events_.write_conflict) look_at_overlaps(writers, found[slice]);
      };
    });
    if (budget.exhausted_now()) stop();
  }

  void in_order(KeyId key, std::vector<Writer>& writers) const {
    writers.clear();
    for (const WriteId w : problem_.key_writers(key))
      writers.push_back({write_place(problem_.writes.node[w]), w});
    const auto earlier = [](const Writer& a, const Writer& b) { return a.place < b.place; };
    if (!std::is_sorted(writers.begin(), writers.end(), earlier))
      std::sort(writers.begin(), writers.end(), earlier);
  }

  void look_at_readers(KeyId key, std::span<const Writer> writers, std::vector<uint32_t>& found) {
    if (writers.empty()) return;
    if (any_after(problem_.initial_readers[key], writers.front()))
      note(writers.front().place, found);
    for (size_t i = 0; i < writers.size(); ++i) {
      const std::span<const Node> readers = problem_.readers[writers[i].write];
      for (const Node n : readers)
        if (read_place(n) < writers[i].place) note(read_place(n), found);
      if (i + 1 < writers.size() && any_after(readers, writers[i + 1]))
        note(writers[i + 1].place, found);
    }
  }

  void look_at_stated(std::span<const Writer> writers, std::vector<uint32_t>& found) {
    if (stated_before_.empty()) return;
    for (const Writer& writer : writers) {
      const Node before = stated_before_[writer.write];
      if (before == kNone) continue;
      const uint32_t own = events_.write_conflict ? read_place(node(writer)) : writer.place;
      if (own < write_place(before)) note(own, found);
    }
  }

  // A writer does not wait for itself as a reader.
  bool any_after(std::span<const Node> readers, const Writer& writer) const {
    return std::ranges::any_of(
        readers, [&](Node n) { return read_place(n) > writer.place && n != node(writer); });
  }

  void look_at_overlaps(std::span<const Writer> writers, std::vector<uint32_t>& found) {
    uint32_t later_begins = UINT32_MAX;  // the earliest begin of the transactions that commit later
    for (size_t i = writers.size(); i-- > 0;) {
      const uint32_t begin = read_place(node(writers[i]));
      const bool early = i > 0 && begin < writers[i - 1].place;
      if (early || later_begins < begin) note(begin, found);
      later_begins = std::min(later_begins, begin);
    }
  }

  const Problem& problem_;
  const LevelInfo& level_;
  const Events events_;
  const std::span<const Vertex> order_;
  const std::span<const Node> stated_before_;
  std::vector<uint32_t> place_;  // indexed by event
  std::atomic<int64_t> left_;    // how many more may be noted; negative: stop
};

}  // namespace

std::optional<std::vector<uint32_t>> waiting_in_place(const Problem& problem,
                                                      const LevelInfo& level,
                                                      std::span<const Vertex> order,
                                                      unsigned threads, const Budget& budget,
                                                      std::span<const Node> stated_before) {
  return InPlace(problem, level, order, stated_before).run(threads, budget);
}

}  // namespace assay::internal
