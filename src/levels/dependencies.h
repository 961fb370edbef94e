// The dependencies that a history certainly has when Adya's levels are asked: which transaction wrote what another one
// read or overwrote, and which one overwrote what another one read. See dependencies.cc.
#pragma once

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
  WriteId via = kNone;  // anti-dependency: the version read, kNone for the initial one
  OpId op = kNone;      // read or anti-dependency: the read
  bool item =
      true;  // anti-dependency: the read returned the key; false: a range that found it absent
  bool assumed = false;     // anti-dependency: nothing states that
  uint32_t stated = kNone;  // write dependency: index into Problem::stated; kNone: assumed
  // anti-dependency of a range on a key that it did not return: index into chains(), of what states that `to` came after
  // the version read; kNone: one statement does, or the version is the initial one
  uint32_t chain = kNone;
};

// A read from outside the transaction; unlike in Problem::reads, repetitions count.
struct NodeRead {
  Node reader;
  OpId op;
};

// Whether the history states for each two versions of a key that follow each other in this order of all nodes that they do: then
// no other order of versions is possible.
bool states_version_orders(const Problem& problem, std::span<const Node> order,
                           unsigned threads = 1);
// What that takes besides, in bytes.
uint64_t bytes_of_version_orders(const Problem& problem);

class Dependencies {
 public:
  explicit Dependencies(const Problem& problem)
      : history_(*problem.history), problem_(problem), stated_(problem.stated) {}
  // Comes first. False if the budget ran out.
  bool find(Budget& budget);

  const std::vector<Dependency>& all() const { return all_; }
  // Indices into Problem::stated, each of two versions, the second of which is the first of the next.
  std::span<const uint32_t> chain(uint32_t index) const { return chains_[index]; }

  // Per key its writers, in an order that agrees with `order`, where every pair is either stated or of two versions
  // that nobody read. If the history says less, empty, and `unstated` names two transactions and the key.
  bool version_orders(const std::vector<Node>& order, Rows<WriteId>& versions,
                      std::string& unstated) const;

  // What states that `before` wrote the key before `after` did; null if nothing does.
  const StatedOrder* statement(Node before, Node after, KeyId key) const;
  const StatedOrder* statement(WriteId before, Node after) const;

  // Adds what is the case if `versions` are the orders of versions. True if that is more than the history states.
  bool assume(const Rows<WriteId>& versions);

 private:
  bool index_reads(Budget& budget);
  bool is_item(OpId op, KeyId key) const;
  bool add_anti(Budget& budget);
  bool add_anti_of_initial(Budget& budget);
  void add_anti(std::span<const NodeRead> readers, WriteId read, std::span<const Node> writers,
                KeyId key);
  void add_changes(const NodeRead& reader, WriteId read, std::span<const Node> writers, KeyId key);
  void assume_change(const NodeRead& reader, WriteId read, std::span<const WriteId> later,
                     KeyId key);
  // Whether a range selects a key that a write has left like this; kNone: as it was initially.
  Match match(OpId range, KeyId key, WriteId write) const;
  void find_states_left();
  // What is stated to come after a version, as indices into stated_.
  std::span<const uint32_t> stated_after(WriteId before) const;
  // The writers that are stated to come before `after`, as indices into stated_.
  std::span<const uint32_t> stated_before(KeyId key, Node after) const;

  const History& history_;
  const Problem& problem_;
  const std::vector<StatedOrder>& stated_;
  std::vector<uint32_t> by_pair_;   // indices into stated_, by key, before, after
  std::vector<uint32_t> by_after_;  // by key, after
  // Per write: where in by_pair_ the statements begin and end that say what came after it.
  std::vector<std::pair<uint32_t, uint32_t>> followers_;
  std::vector<KeyState> left_;      // per write what it left, once a range asks for it
  Rows<NodeRead> readers_;          // per write
  Rows<NodeRead> initial_readers_;  // per key
  std::vector<Dependency> all_;
  std::vector<std::vector<uint32_t>> chains_;
};

}  // namespace assay::internal
