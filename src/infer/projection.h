// A part of a problem as a separate problem. See projection.cc.
#pragma once

#include <vector>

#include "infer/decomposition.h"
#include "infer/problem.h"

namespace assay::internal {

class Projector {
 public:
  // `whole` is no part itself, and nothing of it is left to a search (Problem::open).
  explicit Projector(const Problem& whole);
  // Also of some nodes alone that use its keys: then without what they read of others. What refutes
  // that refutes the whole.
  Problem project(const Part& part);

 private:
  void add_writes(Node n, Problem& out);
  void add_reads(Node n, Problem& out) const;
  void add_users(const Part& part, Problem& out) const;
  void add_operations(Node n, Problem& out) const;
  void add_stated(const Part& part, Problem& out) const;
  void add_sessions(Problem& out) const;

  const Problem& whole_;
  Rows<uint32_t> stated_;  // per key: indices into Problem::stated
  // Of the part that is being made:
  std::vector<KeyId> key_;      // per key: its number in the part; kNone outside
  std::vector<Node> node_;      // per node
  std::vector<WriteId> write_;  // per write; of earlier parts too
};

}  // namespace assay::internal
