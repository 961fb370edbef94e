// Clients' times are mostly right, and then every event may happen at its place in their order, and a replay has nothing to
// rearrange. That can be found out key by key, on several threads:
//
//   w(A) r(B) w(C)        A { w(x,1) }   B { r(x,1) }   C { w(x,2) }
//
//   the writers of x in the order: A, C. Who read from A, B, stands after w(A) and before w(C). So nobody waits.
//
// Where the level forbids overlapping writers, C moreover begins after w(A). Session order and real time concern no key: one
// more thread goes through the order for them. All stop at the first event that would have to wait.
//
// Cost: linear, plus a sort of the writers of each key, most of which are in the order of the history and stay there.

#include "infer/replay_in_place.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/parallel.h"
#include "infer/precedence.h"
#include "infer/scheduler.h"
#include "infer/slices.h"

namespace assay::internal {
namespace {

class InPlace {
 public:
  InPlace(const Problem& problem, const LevelInfo& level, std::span<const Vertex> order)
      : problem_(problem), level_(level), events_(level), order_(order), place_(order.size()) {
    for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
  }

  bool run(unsigned threads, const Budget& budget) {
    call_all(
        threads, [&] { look_at_keys(threads, budget); }, [&] { look_at_sequence(budget); });
    return !stopped_;
  }

 private:
  struct Writer {
    uint32_t place;
    WriteId write;
  };

  uint32_t read_place(Node n) const { return place_[events_.read_event(n)]; }
  uint32_t write_place(Node n) const { return place_[events_.write_event(n)]; }
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // Reads and then writes, sessions, real time.
  void look_at_sequence(Budget budget) {
    HistoryPrecedence precedence(problem_, level_);
    std::vector<uint8_t> happened(order_.size(), 0);
    for (const Vertex v : order_) {
      if (stopped()) return;
      if (precedence.missing_but_sources(v, happened) != kNothing || budget.exhausted())
        return stop();
      happened[v] = 1;
    }
  }

  void look_at_keys(unsigned threads, Budget budget) {
    in_slices(threads, problem_.keys(), budget, [&] {
      return [this, writers = std::vector<Writer>()](size_t, KeyId key) mutable {
        if (!stopped() && !fits(key, writers)) stop();
      };
    });
    if (budget.exhausted()) stop();
  }

  bool fits(KeyId key, std::vector<Writer>& writers) const {
    writers.clear();
    for (const WriteId w : problem_.key_writers(key))
      writers.push_back({write_place(problem_.writes.node[w]), w});
    if (writers.empty()) return true;
    const auto earlier = [](const Writer& a, const Writer& b) { return a.place < b.place; };
    if (!std::is_sorted(writers.begin(), writers.end(), earlier))
      std::sort(writers.begin(), writers.end(), earlier);
    if (!all_before(problem_.initial_readers[key], writers.front())) return false;
    for (size_t i = 0; i < writers.size(); ++i) {
      const std::span<const Node> readers = problem_.readers[writers[i].write];
      if (!all_after(readers, writers[i].place)) return false;
      if (i + 1 == writers.size()) break;
      if (!all_before(readers, writers[i + 1])) return false;
      const Node next = problem_.writes.node[writers[i + 1].write];
      if (events_.write_conflict && read_place(next) < writers[i].place) return false;
    }
    return true;
  }

  bool all_after(std::span<const Node> readers, uint32_t place) const {
    return std::ranges::all_of(readers, [&](Node n) { return place < read_place(n); });
  }
  // A reader that is the writer itself does not wait for itself.
  bool all_before(std::span<const Node> readers, const Writer& writer) const {
    return std::ranges::all_of(readers, [&](Node n) {
      return read_place(n) < writer.place || n == problem_.writes.node[writer.write];
    });
  }

  const Problem& problem_;
  const LevelInfo& level_;
  const Events events_;
  const std::span<const Vertex> order_;
  std::vector<uint32_t> place_;  // per event
  std::atomic<bool> stopped_{false};
};

}  // namespace

bool plays_in_place(const Problem& problem, const LevelInfo& level, std::span<const Vertex> order,
                    unsigned threads, Budget budget) {
  return InPlace(problem, level, order).run(threads, budget);
}

}  // namespace assay::internal
