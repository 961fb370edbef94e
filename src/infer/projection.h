// A part of a history, for engines that know whole ones only. See projection.cc.
#pragma once

#include <span>
#include <vector>

#include "infer/decomposition.h"
#include "infer/hint.h"
#include "infer/reads_from.h"

namespace assay::internal {

// One part as a reads-from relation of its own: nodes and keys are numbered anew, transactions and operations
// are those of the history.
struct Projection {
  ReadsFrom rf;  // without `node` and `known`, with `stated`
  Hint hint;
};

class Projector {
 public:
  // `stated` are the stated orders of the whole.
  Projector(const ReadsFrom& rf, const Hint& hint, std::span<const StatedOrder> stated = {});
  Projection project(const History& history, const Part& part);

 private:
  void add_writes(Node n, Projection& out);
  void add_reads(Node n, ReadsFrom& rf);
  void add_users(const Part& part, ReadsFrom& rf);
  void add_stated(const Part& part, ReadsFrom& rf) const;
  void add_sessions(const History& history, const Part& part, ReadsFrom& rf);

  const ReadsFrom& rf_;
  const Hint& hint_;
  Rows<StatedOrder> stated_;    // per key
  std::vector<KeyId> key_;      // per key: its number in the part; kNone outside
  std::vector<Node> node_;      // per node
  std::vector<WriteId> write_;  // per write; of earlier parts too
};

}  // namespace assay::internal
