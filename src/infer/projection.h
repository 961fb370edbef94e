// A part of a problem as a separate problem. See projection.cc.
#pragma once

#include <vector>

#include "infer/decomposition.h"
#include "infer/problem.h"

namespace assay::internal {

class Projector {
 public:
  // `whole` must not be a part itself, and nothing of it may be left to a search (Problem::open).
  explicit Projector(const Problem& whole);
  // The part may also consist of some of the nodes that use its keys: then without what these read
  // of others. What refutes such a part also refutes the whole.
  Problem project(const Part& part);

 private:
  void add_writes(Node n, Problem& out);
  void add_reads(Node n, Problem& out) const;
  void add_users(const Part& part, Problem& out) const;
  void add_operations(Node n, Problem& out) const;
  void add_stated(const Part& part, Problem& out) const;
  void add_sessions(Problem& out) const;

  const Problem& whole_;
  Rows<uint32_t> stated_;  // by key: indices into Problem::stated
  // The next members belong to the part that is being made.
  std::vector<KeyId> key_;      // indexed by key: its number in the part; kNone outside
  std::vector<Node> node_;      // indexed by node
  std::vector<WriteId> write_;  // indexed by write; of earlier parts too
};

}  // namespace assay::internal
