// Where in an order did events without times take place?
//
// Known edges leave each event a place between two others. Reads narrow that place further, in two
// ways.
//
//   Lives      A version lives for about as long as there are transactions to one writer of its
//              key, so reads come soon after the writer they saw, and a transaction commits soon
//              after it began. Each read pulls its two ends together, the more strongly the more
//              writers its key has; the likeliest place between the nearest edges is the mean of an
//              exponential distribution.
//   Intervals  Between a version's write and its last read no other version of the key is written:
//              the intervals of the versions of a key do not overlap. Take them in the order of
//              their middles, and let each begin after the one before it has ended, as if that were
//              known.
//
//   x: version 1 at 3, read at 5 and 9    version 2 at 7, read at 8    middles 6, 7.5
//      as if 9 came before 7: both move to about 8, until 1 is read before 2 is written, or their
//      middles have changed places
//
// An event whose bounds contradict each other moves to the middle between them. So wrong guesses
// press against each other until the weaker one gives way, which decides nearly all orders of
// versions at once. At first intervals may overlap a little, to keep most orders undecided early;
// later, versions whose intervals keep overlapping are pushed more from round to round, until they
// change places.
//
// None of this is trusted: it makes an order to start from, whose mistakes the search corrects.
// Cost: edges and reads times a fixed number of rounds. Relaxing towards bounds is Gauss and
// Seidel's method; easing them step by step is annealing.

#include "infer/places.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace assay::internal {
namespace {

// Vertices are numbered by the given order: neighbours in the order are neighbours in memory.
class EventPlaces {
 public:
  EventPlaces(const EventGraph& events, std::span<const Vertex> order)
      : events_(events),
        problem_(events.problem()),
        end_(static_cast<double>(problem_.nodes())),
        order_(order.begin(), order.end()),
        number_(order.size()),
        place_(order.size()),
        pull_(order.size(), 0),
        least_(order.size()),
        most_(order.size()),
        push_(problem_.writes.size(), 0) {
    const double step = end_ / static_cast<double>(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      number_[order[i]] = i;
      place_[i] = step * i;
    }
    std::vector<Arc> arcs;
    arcs.reserve(events.graph().edges());
    for (const Vertex v : order) {
      events.graph().each_out(v, [&](Vertex after) {
        arcs.push_back({number_[v], number_[after]});
        return true;
      });
    }
    graph_ = Digraph(order.size(), arcs);
    add_pulls();
  }

  std::vector<Vertex> run() {
    free_bounds();
    for (uint32_t round = 0; round < kRoundsOfLives; ++round) relax_all();
    double overlap = kFirstOverlap * life_;
    for (uint32_t round = 0; round < kRoundsOfIntervals; ++round) {
      separate_intervals(overlap);
      relax_all();
      overlap = round < kRoundsWithOverlap ? overlap * kLessOverlap : 0;
    }
    std::vector<Vertex> by_place(order_.size());
    std::iota(by_place.begin(), by_place.end(), 0u);
    std::ranges::stable_sort(by_place, {}, [this](Vertex v) { return place_[v]; });
    std::vector<uint32_t> rank(order_.size());
    for (uint32_t i = 0; i < by_place.size(); ++i) rank[by_place[i]] = i;
    std::vector<Vertex> better = topological_order(graph_, rank);
    for (Vertex& v : better) v = order_[v];
    return better;
  }

 private:
  static constexpr uint32_t kRoundsOfLives = 6, kRoundsOfIntervals = 16, kRoundsWithOverlap = 4;
  // Measured in lives: how much intervals may overlap at first, and the time from a transaction's
  // begin to its commit.
  static constexpr double kFirstOverlap = 0.5, kLivesToCommit = 0.125;
  static constexpr double kLessOverlap = 0.6, kOldPush = 0.9;  // factors from one round to the next
  // share of the overlap by which two events in the wrong order are moved
  static constexpr double kPush = 0.3;

  // A version of a key, as an interval.
  struct Version {
    double middle;
    WriteId write;
  };

  Vertex read(Node n) const { return number_[events_.read_event(n)]; }
  Vertex write(Node n) const { return number_[events_.write_event(n)]; }

  void add_pulls() {
    life_ = end_ * static_cast<double>(problem_.keys()) /
            static_cast<double>(problem_.writes.size() + problem_.keys());
    const double to_commit = events_.split() ? 1 / (kLivesToCommit * life_) : 0;
    for (Node n = 0; n < problem_.nodes(); ++n) {
      pull_[read(n)] += to_commit;
      pull_[write(n)] -= to_commit;
      for (const ExternalRead& r : problem_.reads[n]) {
        const double rate = static_cast<double>(problem_.key_writers(r.key).size() + 1) / end_;
        pull_[read(n)] -= rate;
        if (r.write != kNone) pull_[write(problem_.writes.node[r.write])] += rate;
      }
    }
  }

  void free_bounds() {
    std::ranges::fill(least_, 0);
    std::ranges::fill(most_, end_);
  }
  // Returns how far apart the two are in the wrong order; less than 0 if their order is right.
  double bound(Vertex before, Vertex after, double overlap) {
    least_[after] = std::max(least_[after], place_[before] - overlap);
    most_[before] = std::min(most_[before], place_[after] + overlap);
    return place_[before] - place_[after];
  }

  void separate_intervals(double overlap) {
    free_bounds();
    std::vector<Version> versions;
    for (double& push : push_) push *= kOldPush;
    for (KeyId key = 0; key < problem_.keys(); ++key) {
      versions.clear();
      for (const WriteId w : problem_.key_writers(key)) {
        const double begin = place_[write(problem_.writes.node[w])];
        double end = begin;
        for (const Node reader : problem_.readers[w]) end = std::max(end, place_[read(reader)]);
        versions.push_back({(begin + end) / 2 + push_[w], w});
      }
      std::ranges::sort(versions, {}, &Version::middle);
      for (size_t i = 1; i < versions.size(); ++i)
        separate(versions[i - 1].write, versions[i].write, overlap);
    }
  }

  void separate(WriteId earlier, WriteId later, double overlap) {
    const Node n = problem_.writes.node[later];
    double over =
        bound(write(problem_.writes.node[earlier]), number_[events_.overwrite_event(n)], overlap);
    for (const Node reader : problem_.readers[earlier])
      if (reader != n) over = std::max(over, bound(read(reader), write(n), overlap));
    if (overlap > 0 || over <= 0) return;
    push_[earlier] += kPush * over;
    push_[later] -= kPush * over;
  }

  void relax_all() {
    for (Vertex v = 0; v < order_.size(); ++v) relax(v);
    for (Vertex v = static_cast<Vertex>(order_.size()); v-- > 0;) relax(v);
  }

  void relax(Vertex v) {
    double least = least_[v], most = most_[v];
    graph_.each_in(v, [&](Vertex before) {
      least = std::max(least, place_[before]);
      return true;
    });
    graph_.each_out(v, [&](Vertex after) {
      most = std::min(most, place_[after]);
      return true;
    });
    place_[v] = most <= least ? (least + most) / 2
                              : least + (most - least) * mean(pull_[v] * (most - least));
  }

  // The mean of a number between 0 and 1 whose density at x is proportional to exp(pull * x).
  static double mean(double pull) {
    constexpr double kSmall = 1e-6, kLarge = 500;
    if (std::fabs(pull) < kSmall) return 0.5;
    return 1 / (1 - std::exp(-std::clamp(pull, -kLarge, kLarge))) - 1 / pull;
  }

  const EventGraph& events_;
  const Problem& problem_;
  const double end_;                  // places are from 0 to the number of transactions
  const std::vector<Vertex> order_;   // indexed by number
  std::vector<uint32_t> number_;      // indexed by vertex of the graph of events
  Digraph graph_;                     // the graph of events, with these numbers
  double life_ = 1;                   // the average life of a version
  std::vector<double> place_;         // indexed by number
  std::vector<double> pull_;          // indexed by number: how much likelier a later place is
  std::vector<double> least_, most_;  // indexed by number: the bounds that intervals leave
  std::vector<double> push_;          // indexed by write: moves its version later among those of
                                      // its key
};

}  // namespace

std::vector<Vertex> order_by_places(const EventGraph& events, std::span<const Vertex> order) {
  return EventPlaces(events, order).run();
}

uint64_t place_bytes(const EventGraph& events) {
  constexpr uint64_t kBytesAVertex = 4 * sizeof(double) + 5 * sizeof(Vertex),
                     kBytesAWrite = sizeof(double);
  return kBytesAVertex * events.graph().vertices() + kBytesAWrite * events.problem().writes.size() +
         topological_order_bytes(events.graph()) +
         Digraph::bytes(events.graph().vertices(), events.graph().edges());
}

}  // namespace assay::internal
