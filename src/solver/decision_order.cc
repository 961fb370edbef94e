// Which choice is decided next: the one that comes first in time, or the most active one.
//
//   choices at places 10, 20, …, 9000; taking 30 conflicts with 20: both were decided a moment ago,
//   so going back to them undoes nothing else
//
// Conflicts in a history are local: each is between choices whose transactions are near each other
// in time. Decided in the order of their places, they are also near each other among the decisions,
// and a conflict undoes a few of them. Deciding the choices that took part in the most recent
// conflicts first (VSIDS, Chaff, DAC 2001) scatters the decisions over the history: every jump back
// then undoes thousands. If a search is hard in itself, that order is the better one, so a search
// that keeps meeting conflicts switches to it.
//
// Cost: next() and undone() amortised constant in line, logarithmic by activity.

#include "solver/decision_order.h"

#include <algorithm>
#include <numeric>

#include "base/sort_by.h"

namespace assay::internal {
namespace {

constexpr double kDecay = 0.95;
constexpr double kLimit = 1e100;

}  // namespace

void DecisionOrder::add() {
  activity_.push_back(0);
  at_.push_back(kNothing);
  if (!in_line_) insert(static_cast<uint32_t>(choices() - 1));
}

void DecisionOrder::line_up(std::span<const uint32_t> place) {
  const size_t before = line_.size();
  line_.resize(choices());
  std::iota(line_.begin() + static_cast<std::ptrdiff_t>(before), line_.end(),
            static_cast<uint32_t>(before));
  stable_sort_by(line_, [&](uint32_t choice) { return pack(place[choice], choice); });
  line_at_.resize(choices());
  for (uint32_t i = 0; i < line_.size(); ++i) line_at_[line_[i]] = i;
  next_ = 0;
  in_line_ = true;
}

void DecisionOrder::line_up_more() {
  for (uint32_t choice = static_cast<uint32_t>(line_.size()); choice < choices(); ++choice) {
    line_at_.push_back(choice);
    line_.push_back(choice);
  }
}

void DecisionOrder::by_activity() {
  in_line_ = false;
  for (uint32_t choice = 0; choice < choices(); ++choice) undone(choice);
}

void DecisionOrder::bump(uint32_t choice) {
  if ((activity_[choice] += bump_) > kLimit) {
    for (double& a : activity_) a /= kLimit;
    bump_ /= kLimit;
  }
  if (at_[choice] != kNothing) up(at_[choice]);
}

void DecisionOrder::decay() { bump_ /= kDecay; }

void DecisionOrder::undone(uint32_t choice) {
  if (in_line_) {
    next_ = std::min(next_, size_t{line_at_[choice]});
  } else if (at_[choice] == kNothing) {
    insert(choice);
  }
}

void DecisionOrder::up(uint32_t at) {
  const uint32_t choice = heap_[at];
  while (at > 0) {
    const uint32_t parent = (at - 1) / 2;
    if (activity_[heap_[parent]] >= activity_[choice]) break;
    heap_[at] = heap_[parent];
    at_[heap_[at]] = at;
    at = parent;
  }
  heap_[at] = choice;
  at_[choice] = at;
}

void DecisionOrder::down(uint32_t at) {
  const uint32_t choice = heap_[at];
  for (uint32_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && activity_[heap_[child + 1]] > activity_[heap_[child]]) ++child;
    if (activity_[heap_[child]] <= activity_[choice]) break;
    heap_[at] = heap_[child];
    at_[heap_[at]] = at;
    at = child;
  }
  heap_[at] = choice;
  at_[choice] = at;
}

void DecisionOrder::insert(uint32_t choice) {
  heap_.push_back(choice);
  up(static_cast<uint32_t>(heap_.size()) - 1);
}

uint32_t DecisionOrder::pop() {
  const uint32_t top = heap_[0];
  at_[top] = kNothing;
  const uint32_t last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) {
    heap_[0] = last;
    down(0);
  }
  return top;
}

}  // namespace assay::internal
