// What an order of events gets wrong at a level that needs a total one, and what a search has to know to do better. See
// choices.cc.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infer/event_graph.h"
#include "infer/open_reads.h"
#include "levels/list_choices.h"
#include "levels/search.h"

namespace assay::internal {

class Choices {
 public:
  // `open`: the reads with several possible sources; those that the problem assumes are not among them. May be null.
  Choices(const EventGraph& events, const OpenReads* open);

  // More reads were added to these. They are the same but for that.
  void take_in(const OpenReads& more);

  // Whether every read returns in this order what it did, and no writers overlap that must not. Helper vertices are
  // passed over. Nobody of unknown outcome takes effect but those that the search decided on.
  bool explained_by(std::span<const Vertex> order);
  // Adds to the search what keeps it from this order again; not all of it if the budget runs out. False if nothing is wrong
  // with the order.
  bool add_what_fails(std::span<const Vertex> order, Search& search, Budget& budget);

  // Whether a node takes effect in the last order that was looked at.
  bool takes_effect(Node n) const { return !is_possible(n) || effective_[n] != 0; }

 private:
  // Something wrong with an order. pair: two writers. source: an open read saw what `writer` left (kNone: the initial
  // state), which is none of its sources. intruder: a read whose source is known saw what `writer` left, who may take
  // effect. time: `first`, who may take effect, began before `writer` ended, and comes after it. list: a read of a list
  // saw another one.
  struct Failure {
    enum class Kind : uint8_t { pair, source, intruder, time, list };
    Kind kind;
    Node first;     // pair: the earlier one. source: unused. intruder: the reader
    Node writer;    // pair: the later one
    uint32_t read;  // source: index of the open read. intruder: index into the reader's reads
    // source: the choices that the search has taken, and whom they mean.
    std::vector<Search::Source> taken = {};
    OpenLists::Place list = {};  // list
  };

  void note_settled();
  bool is_possible(Node n) const { return !possible_.empty() && possible_[n] != 0; }
  std::span<const KeyId> writes_of(Node n) const;
  std::vector<Failure> find(std::span<const Vertex> order);
  void look_at_reads(Node n, std::vector<Failure>& found) const;
  void look_at_lists(Node n, std::vector<Failure>& found) const;
  void look_at_clock(Node n, std::vector<Failure>& found) const;
  void note_commit(Node n);
  bool is_source(const OpenRead& read, Node writer) const;

  void add(const Failure& failure, Search& search);
  void note_placed(std::span<const Failure> found, const Search& search);
  void add_list_rules(OpenLists::Place place, Search& search);
  void add_rules(const Failure& failure, Search& search);
  TxnId txn(Node n) const { return n == kNone ? kNone : problem_.txn[n]; }

  const EventGraph& events_;
  const Problem& problem_;
  const OpenReads* open_;
  std::vector<uint8_t> possible_;   // per node that may take effect; empty: there are none
  std::vector<uint8_t> effective_;  // likewise: takes effect in the order that is looked at
  std::unordered_map<Node, std::vector<KeyId>> possible_writes_;  // ascending
  std::vector<uint8_t> settled_;  // per open read: the reads-from relation assumes its source

  std::optional<ListChoices> lists_;  // none: no reads are open
  // Of a list that was read wrongly in the order that is looked at: where the search has placed its blocks.
  struct PlacedList {
    std::vector<ListChoices::Placed> blocks;
    bool compared = false;  // what keeps blocks apart, or in order, was added
    bool overlap = false;
  };
  // By list. Only those whose choices had been made before this order.
  std::unordered_map<uint32_t, PlacedList> placed_;

  // Of the order that is looked at.
  std::vector<Node> current_;  // per key: whose version is in force; kNone: the initial one
  std::optional<AppendedLists> appended_;  // none: no reads are open
  // The level orders begins before commits by the clock, and somebody may take effect.
  bool begins_bind_ = false;
  Node latest_ = kNone;          // of those whose writes are done, who ended last
  std::vector<Node> latest_of_;  // the same per session
  std::vector<uint32_t> place_;  // per vertex
};

}  // namespace assay::internal
