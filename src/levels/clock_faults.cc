#include "levels/clock_faults.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parallel.h"
#include "infer/projection.h"
#include "infer/slices.h"

namespace assay::internal {
namespace {

bool ended_before_begin_of(const Problem& p, Node earlier, Node later) {
  const History& h = *p.history;
  const Interval end = h.end_time(p.txn[earlier]), begin = h.begin_time(p.txn[later]);
  return h.status(p.txn[earlier]) == TxnStatus::committed && end.known() && begin.known() &&
         end.response < begin.request;
}

// Whether the reader certainly began before the writer can have committed.
bool began_before_end_of(const Problem& p, Node reader, Node writer) {
  const History& h = *p.history;
  const Interval begin = h.begin_time(p.txn[reader]), end = h.end_time(p.txn[writer]);
  return begin.known() && end.known() && begin.response < end.request;
}

std::vector<Node> ascending(std::vector<Node> nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace

// Finds a transaction that read a version which was committed after the transaction began.
std::optional<ClockFaults::Suspects> ClockFaults::early_read() const {
  for (Node reader = 0; reader < whole_.nodes(); ++reader)
    for (const ExternalRead& read : whole_.reads[reader]) {
      if (read.write == kNone) continue;
      const Node writer = whole_.writes.node[read.write];
      if (began_before_end_of(whole_, reader, writer))
        return Suspects{ascending({reader, writer}), read.key};
    }
  return std::nullopt;
}

// Finds a transaction that read a version which was overwritten before the transaction began.
std::optional<ClockFaults::Suspects> ClockFaults::stale_read() const {
  for (const StatedOrder& order : whole_.stated) {
    const WriteId write = whole_.write_of(order.before, order.key);
    if (write == kNone) continue;
    for (const Node reader : whole_.readers[write])
      if (reader != order.after && ended_before_begin_of(whole_, order.after, reader))
        return Suspects{ascending({order.before, order.after, reader}), order.key};
  }
  return std::nullopt;
}

std::optional<ClockFaults::Suspects> ClockFaults::writers_reversed() const {
  for (const StatedOrder& order : whole_.stated)
    if (ended_before_begin_of(whole_, order.after, order.before))
      return Suspects{ascending({order.before, order.after}), order.key};
  return std::nullopt;
}

// Finds two writers of which the later one began before the earlier one had committed.
std::optional<ClockFaults::Suspects> ClockFaults::writers_overlap() const {
  for (const StatedOrder& order : whole_.stated)
    if (began_before_end_of(whole_, order.after, order.before))
      return Suspects{ascending({order.before, order.after}), order.key};
  return std::nullopt;
}

void ClockFaults::look(unsigned threads) {
  looked_ = true;
  std::array<std::optional<Suspects>, 4> all;
  const auto first_half = [&] { all[0] = early_read(), all[2] = writers_reversed(); };
  const auto second_half = [&] { all[1] = stale_read(), all[3] = writers_overlap(); };
  call_all(threads_for(whole_.nodes(), threads), first_half, second_half);
  if (std::ranges::none_of(all, [](const auto& found) { return found.has_value(); })) return;
  Projector projector(whole_);
  for (const std::optional<Suspects>& s : all)
    if (s) parts_.push_back(projector.project({s->nodes, {s->key}}));
}

Judgement ClockFaults::refute(const LevelInfo& level, const CheckOptions& options, Stages& stages,
                              Budget& budget) {
  if (!looked_) {
    const auto timer = stages.time("clock");
    look(options.threads);
  }
  for (const Problem& part : parts_) {
    Judgement found = decide_strong(part, level, options, stages, budget);
    if (found.outcome() != Outcome::violated) continue;
    Proof& proof = found.certificate.proof;
    proof = part.in_whole(std::move(proof));
    return found;
  }
  return {};
}

}  // namespace assay::internal
