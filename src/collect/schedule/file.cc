// Which reader reads a file, and every order in which the steps of its sessions can be played.
//
//   s1: a b    s2: c        a b c, a c b, c a b
//
// The orders come as in PostgreSQL's tester: at each place the sessions are tried in the order of
// the file. There are (n1 + n2 + …)! / (n1! n2! …) of them, which soon is too many to play, so then
// a sample is drawn: the sessions' turns are shuffled, which makes all orders equally likely.
#include "collect/schedule/file.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "collect/schedule/labelled.h"
#include "collect/schedule/specification.h"

namespace assay::internal::collect::schedule {
namespace {

using Order = std::vector<size_t>;  // numbers of sessions

// Whether there are more orders than this. Exact as long as the numbers are small; for larger ones
// rounding does not matter.
bool are_more(const File& file, uint64_t most) {
  double orders = 1;
  uint64_t steps = 0;
  for (const Session& s : file.sessions)
    for (size_t i = 1; i <= s.steps.size(); ++i)
      orders *= static_cast<double>(++steps) / static_cast<double>(i);
  return orders > static_cast<double>(most) + 0.5;
}

// Moves to the next order; false if this is the last. The sessions' numbers are a multiset, whose
// next permutation this is.
bool advance(Order& order) { return std::next_permutation(order.begin(), order.end()); }

Order first_order(const File& file) {
  Order order;
  for (size_t s = 0; s < file.sessions.size(); ++s)
    order.insert(order.end(), file.sessions[s].steps.size(), s);
  return order;
}

Order drawn(Order order, Rng& rng) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

Permutation permutation_of(const File& file, const Order& order) {
  Permutation p;
  std::vector<size_t> done(file.sessions.size());
  for (const size_t s : order) p.turns.push_back({file.sessions[s].steps[done[s]++], {}});
  return p;
}

}  // namespace

Result<File> parse(std::string_view text, std::string_view path) {
  Result<File> file = is_specification(text) ? parse_specification(text) : parse_labelled(text);
  (file.ok() ? file->path : file.error().file) = path;
  return file;
}

std::vector<Permutation> interleavings(const File& file, uint64_t most, uint64_t seed) {
  std::vector<Permutation> all;
  Order order = first_order(file);
  if (!are_more(file, most)) {
    do all.push_back(permutation_of(file, order));
    while (advance(order));
    return all;
  }
  Rng rng(seed);
  std::set<Order> known;
  while (all.size() < most)
    if (const auto [it, fresh] = known.insert(drawn(order, rng)); fresh)
      all.push_back(permutation_of(file, *it));
  return all;
}

}  // namespace assay::internal::collect::schedule
