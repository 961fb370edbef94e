// The dependencies that a history certainly has in the sense of Adya's levels: which transaction
// wrote what another one read or overwrote, and which one overwrote what another one read. See
// dependencies.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/certificate.h"
#include "infer/problem.h"
#include "levels/predicate_reads.h"
#include "levels/stated_versions.h"

namespace assay::internal {

struct Dependency {
  Node from;
  Node to;
  EdgeKind kind;  // write, read or anti-dependency
  KeyId key;
  // The version that was read, kNone for the initial one. For a read dependency it is given only if
  // `from` did not write that version, but is the last before it that changed whether a range
  // selects the key.
  WriteId via = kNone;
  OpId op = kNone;  // read or anti-dependency: the read
  bool item =
      true;  // anti-dependency: the read returned the key; false: a range that found it absent
  bool assumed = false;     // read or anti-dependency: it rests on an assumed order
  uint32_t stated = kNone;  // write dependency: index into stated(); kNone: assumed
  // anti-dependency of a range on a key that it did not return: index for chain(), the statements
  // by which `to` came after the version read; kNone: one statement says so, or the version is the
  // initial one
  uint32_t chain = kNone;
};

// A read from outside the transaction; unlike in Problem::reads, repeated reads count.
struct NodeRead {
  Node reader;
  OpId op;
};

// Two transactions that read the same version of a key, each by itself, and overwrite it. Whichever
// was first, the other lost its update.
struct Divergence {
  ExternalRead read[2];
  Node node[2];
};

// Whether a transaction's read orders its write: an update of a version comes after the version.
// Otherwise the reader would precede the transaction that it read from, which every level but pl-1
// forbids.
enum class UpdateOrders : uint8_t { ignored, known };

// Whether, for every two consecutive versions of a key in this order of all nodes, the history
// states that one follows the other: then no other order of versions is possible.
bool states_version_orders(const Problem& problem, std::span<const Node> order,
                           unsigned threads = 1);
// The additional memory, in bytes, that states_version_orders takes.
uint64_t bytes_of_version_orders(const Problem& problem);

class Dependencies {
 public:
  Dependencies(const Problem& problem, UpdateOrders updates)
      : history_(*problem.history),
        problem_(problem),
        updates_(updates),
        stated_(problem),
        predicate_reads_(problem) {}
  Dependencies(const Dependencies&) = delete;  // its parts refer to each other
  Dependencies& operator=(const Dependencies&) = delete;
  // To be called first. False if the budget ran out.
  bool find(Budget& budget);

  const std::vector<Dependency>& all() const { return all_; }
  // The orders that the history states, and the orders that follow from updates; the source of the
  // latter is the update's read.
  const StatedVersions& stated() const { return stated_; }
  // Indices for stated(): each states the order of two versions, the second of which is the first
  // of the next.
  std::span<const uint32_t> chain(uint32_t index) const { return chains_[index]; }
  // Two updates of one version, if there are any.
  const std::optional<Divergence>& divergence() const { return divergence_; }

  // Per key its writers, in an order that agrees with `order`; every pair either is stated or
  // consists of versions that were never read. If the history states too little, the result is
  // empty, and `unstated` names two transactions and the key.
  bool version_orders(const std::vector<Node>& order, Rows<WriteId>& versions,
                      std::string& unstated) const;

  // Adds the dependencies that hold if `versions` are the orders of versions.
  bool assume(const Rows<WriteId>& versions);

 private:
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
  void assume_read(const NodeRead& reader, std::span<const WriteId> until,
                   PredicateReads::LastChanges& known);

  const History& history_;
  const Problem& problem_;
  const UpdateOrders updates_;
  StatedVersions stated_;
  PredicateReads predicate_reads_;
  std::optional<Divergence> divergence_;
  std::vector<uint8_t> seen_openly_;  // indexed by key; empty: there are none
  Rows<NodeRead> readers_;            // indexed by write
  Rows<NodeRead> initial_readers_;    // indexed by key
  std::vector<Dependency> all_;
  std::vector<std::vector<uint32_t>> chains_;
  std::vector<uint32_t> reached_for_;  // indexed by node: the last read for which add_changes met
                                       // it
  uint32_t reads_looked_at_ = 0;
};

}  // namespace assay::internal
