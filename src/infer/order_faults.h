// The faults of an order of events. See order_faults.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "infer/event_graph.h"
#include "infer/open_reads.h"

namespace assay::internal {

// pair: two writers of a key whose order makes a read return the wrong version, or that overlap
// where the level forbids it. source: an open read met what `writer` left (kNone: the initial
// state), which is not among its sources. intruder: a read whose source is known met what `writer`
// left, which takes effect only perhaps. time: `first`, which takes effect only perhaps, began
// before `writer` ended, and comes after it. list: a read of a list met a different list.
// aggregate: what the keys held gives a different result.
struct OrderFault {
  enum class Kind : uint8_t { pair, source, intruder, time, list, aggregate };
  Kind kind;
  Node first;           // pair: the earlier one. source, intruder, list, aggregate: the reader
  Node writer = kNone;  // pair: the later one
  // source: index of the open read. intruder: index into the reader's reads. aggregate: index of
  // the open aggregate
  uint32_t read = kNone;
  OpenLists::Place list = {};  // list
};

// Replays orders of one event graph.
class OrderFaults {
 public:
  // `open`: the reads with several possible sources, without the reads whose source the problem
  // assumes. May be null.
  OrderFaults(const EventGraph& events, const OpenReads* open);

  // To be called when reads were added: `more` is the former reads and the new ones.
  void take_in(const OpenReads& more);
  // Sets whether a node that need not take effect does; at first none does.
  void set_effective(Node n, bool takes_effect) { effective_[n] = takes_effect; }
  bool is_possible(Node n) const { return !possible_.empty() && possible_[n] != 0; }
  bool takes_effect(Node n) const { return !is_possible(n) || effective_[n] != 0; }

  // Finds the faults of a total order that contains the known graph; helper vertices are skipped.
  // Empty if every read returns its value, and writers that must not overlap do not.
  std::vector<OrderFault> find(std::span<const Vertex> order);
  // Indexed by vertex: its place in the last order, if reads are open.
  std::span<const uint32_t> places() const { return place_; }
  // Whether the reads-from relation assumes the source of an open read.
  bool is_assumed(uint32_t read) const { return assumed_[read] != 0; }
  // For an aggregate that is at fault in the last order: per key the transaction that had last
  // written it; kNone if none had.
  const std::vector<TxnId>& met_by(uint32_t aggregate) const { return met_by_.at(aggregate); }

 private:
  // The last writer of a key: among all nodes that take effect, and among those that certainly do.
  // kNone: the initial version.
  struct InForce {
    Node any = kNone, certain = kNone;
  };

  void note_assumed();
  std::span<const KeyId> writes_of(Node n) const;
  void look_at_reads(Node n, std::vector<OrderFault>& found) const;
  void look_at_open_reads(Node n, std::vector<OrderFault>& found) const;
  void look_at_aggregates(Node n, std::vector<OrderFault>& found);
  void look_at_clock(Node n, std::vector<OrderFault>& found) const;
  void hold(Vertex v, Node n, std::vector<OrderFault>& found);
  void install(Node n);
  void note_commit(Node n);

  const EventGraph& events_;
  const Problem& problem_;
  const OpenReads* open_;
  std::vector<uint8_t> possible_;   // indexed by node: takes effect only perhaps; empty: no node
                                    // does
  std::vector<uint8_t> effective_;  // indexed by node: takes effect in the current order
  std::unordered_map<Node, std::vector<KeyId>> possible_writes_;  // sorted
  std::vector<uint8_t> assumed_;  // indexed by open read: the reads-from relation assumes its
                                  // source

  // The next members belong to the order that is being replayed.
  std::vector<InForce> current_;           // indexed by key
  std::vector<Node> holder_;               // indexed by key: the writer that has begun and not
                                           // committed
  std::optional<AppendedLists> appended_;  // nullopt: no reads are open
  // The level orders begins before commits by the clock, and some nodes take effect only perhaps.
  bool begins_bind_ = false;
  Node latest_ = kNone;          // of the nodes whose writes are done, the one that ended last
  std::vector<Node> latest_of_;  // the same per session
  std::vector<uint32_t> place_;  // indexed by vertex
  std::unordered_map<uint32_t, std::vector<TxnId>> met_by_;
};

}  // namespace assay::internal
