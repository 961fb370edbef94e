// The dependencies that a history certainly has when Adya's levels are asked: which transaction wrote what another one
// read or overwrote, and which one overwrote what another one read. See dependencies.cc.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/certificate.h"
#include "history/accesses.h"
#include "infer/problem.h"

namespace assay::internal {

struct Dependency {
  Node from;
  Node to;
  EdgeKind kind;  // write, read or anti-dependency
  KeyId key;
  // The version read, kNone for the initial one; of a read dependency only if `from` did not write that one, but the last before it
  // that changed whether a range selects the key.
  WriteId via = kNone;
  OpId op = kNone;  // read or anti-dependency: the read
  bool item =
      true;  // anti-dependency: the read returned the key; false: a range that found it absent
  bool assumed = false;     // read or anti-dependency: nothing states that
  uint32_t stated = kNone;  // write dependency: index into stated(); kNone: assumed
  // anti-dependency of a range on a key that it did not return: index for chain(), of what states that `to` came after
  // the version read; kNone: one statement does, or the version is the initial one
  uint32_t chain = kNone;
};

// A read from outside the transaction; unlike in Problem::reads, repetitions count.
struct NodeRead {
  Node reader;
  OpId op;
};

// Two transactions that read one version of a key, by itself, and overwrite it. Whichever was first, the other lost its update.
struct Divergence {
  ExternalRead read[2];
  Node node[2];
};

// Whether what a transaction read orders what it writes: an update of a version comes after it. Where it did not, the reader would
// come before whom it read from, which every level but pl-1 forbids.
enum class UpdateOrders : uint8_t { ignored, known };

// Whether the history states for each two versions of a key that follow each other in this order of all nodes that they do: then
// no other order of versions is possible.
bool states_version_orders(const Problem& problem, std::span<const Node> order,
                           unsigned threads = 1);
// What that takes besides, in bytes.
uint64_t bytes_of_version_orders(const Problem& problem);

class Dependencies {
  // A condition and a version, of which it is known what changed the match last.
  using RangeAt = std::pair<PredicateId, WriteId>;
  using LastChanges = std::map<RangeAt, WriteId>;

 public:
  Dependencies(const Problem& problem, UpdateOrders updates)
      : history_(*problem.history), problem_(problem), updates_(updates), stated_(problem.stated) {}
  Dependencies(const Dependencies&) = delete;  // its parts refer to each other
  Dependencies& operator=(const Dependencies&) = delete;
  // Comes first. False if the budget ran out.
  bool find(Budget& budget);

  const std::vector<Dependency>& all() const { return all_; }
  // What the history states of orders, and what its updates do; the source of such a one is the read.
  const StatedOrder& stated(uint32_t index) const { return stated_[index]; }
  bool is_update(uint32_t index) const { return index >= problem_.stated.size(); }
  // Indices for stated(), each of two versions, the second of which is the first of the next.
  std::span<const uint32_t> chain(uint32_t index) const { return chains_[index]; }
  // If there is one.
  const std::optional<Divergence>& divergence() const { return divergence_; }

  // Per key its writers, in an order that agrees with `order`, where every pair is either stated or of two versions
  // that nobody read. If the history says less, empty, and `unstated` names two transactions and the key.
  bool version_orders(const std::vector<Node>& order, Rows<WriteId>& versions,
                      std::string& unstated) const;

  // What says that `before` wrote the key before `after` did, an index for stated(); kNone if nothing does.
  uint32_t statement(WriteId before, Node after) const;

  // Adds what is the case if `versions` are the orders of versions. True if that is more than the history states.
  bool assume(const Rows<WriteId>& versions);

 private:
  void index_stated();
  bool add_updates(Budget& budget);
  bool index_reads(Budget& budget);
  bool is_item(OpId op, KeyId key) const;
  void add_read(Node reader, const ExternalRead& read);
  bool add_anti(Budget& budget);
  bool add_anti_of_initial(Budget& budget);
  void add_anti(std::span<const NodeRead> readers, WriteId read, std::span<const Node> writers,
                KeyId key);
  void add_changes(const NodeRead& reader, WriteId read, std::span<const Node> writers, KeyId key);
  void assume_change(const NodeRead& reader, WriteId read, std::span<const WriteId> later,
                     KeyId key);
  void assume_read(const NodeRead& reader, std::span<const WriteId> until, LastChanges& known);
  // Whether a range selects a key that a write has left like this; kNone: as it was initially.
  Match match(OpId range, KeyId key, WriteId write) const;
  Match match_seen(OpId range, KeyId key, WriteId write) const;
  void find_states_left();
  WriteId last_to_change(OpId range, std::span<const WriteId> until, LastChanges& known) const;
  std::optional<WriteId> certainly_last_to_change(OpId range, WriteId read);
  void find_whole_orders();
  bool others_all_differ(OpId range, WriteId read);
  void find_seen_openly();
  // What is stated to come after a version, as indices into stated_.
  std::span<const uint32_t> stated_after(WriteId before) const;
  // The writers that are stated to come before `after`, as indices into stated_.
  std::span<const uint32_t> stated_before(KeyId key, Node after) const;

  const History& history_;
  const Problem& problem_;
  const UpdateOrders updates_;
  std::span<const StatedOrder> stated_;  // Problem::stated, or:
  std::vector<StatedOrder> stated_and_updates_;
  std::optional<Divergence> divergence_;
  std::vector<uint32_t> by_pair_;   // indices into stated_, by key, before, after
  std::vector<uint32_t> by_after_;  // by key, after
  // Per write: where in by_pair_ the statements begin and end that say what came after it.
  std::vector<std::pair<uint32_t, uint32_t>> followers_;
  std::vector<KeyState> left_;  // per write what it left, once a range asks for it
  // Once a range asks what changed a match last. Per key what those left of it that did not abort; its writes in the order that one
  // statement gives of all of these, empty if none does; per write its place there.
  std::vector<std::vector<KeyState>> may_be_left_;
  std::vector<std::vector<WriteId>> whole_orders_;
  std::vector<uint32_t> whole_place_;
  LastChanges last_change_;
  // How many of may_be_left_ satisfy a condition, do not, or perhaps do.
  std::map<std::pair<PredicateId, KeyId>, std::array<uint32_t, 3>> matches_;
  std::vector<uint8_t>
      seen_openly_;  // per key: Problem::seen_openly, and what aggregates looked at; empty: none
  Rows<NodeRead> readers_;          // per write
  Rows<NodeRead> initial_readers_;  // per key
  std::vector<Dependency> all_;
  std::vector<std::vector<uint32_t>> chains_;
  std::vector<uint32_t> reached_for_;  // per node: the last read for which add_changes met it
  uint32_t reads_looked_at_ = 0;
};

}  // namespace assay::internal
