// Cycles: does each edge hold in the history, and do the edges close?
//
//   s1: A { w(x,1) }    s2: B { r(x,1) w(y,1) }    s3: C { r(y,1) r(x,0) }
//   A -wr x-> B -wr y-> C -rw x-> A
//
// An edge says that one event comes before another in every order that explains the history. Read
// dependencies, session and real-time edges hold by themselves, write and anti-dependencies under
// an assumption about the order of two writers, forced edges because the other order of the two
// writers is impossible. Edges that close a cycle refute their assumptions taken together.
//
// Which side of a transaction an edge leaves and enters is fixed by its kind. At levels with two
// events per transaction, a path that enters T at r may leave it at w, not the other way round.
//
// If each statement is an event, an edge that ends or begins at a read does so at the read's
// statement; one that ends at a write under a write conflict does so at the first statement that
// writes the key, and one of session order at the first statement. A path may leave a transaction
// where it entered it, or later.
//
// Adya's levels look at the kinds of the edges: which ones may not close a cycle together.
//
// The weak levels know one event per transaction, its place in the commit order, and no other order
// of versions. They allow read dependencies, session and forced edges, and one more cycle: a
// transaction saw a writer of x and yet reads the initial x. That is an anti-dependency without
// writer, closed by the path that shows what the transaction saw.
//
// If levels are mixed, each rule is that of one transaction's level: the reader's for an
// anti-dependency and a forced edge, the overwriting transaction's for where a write dependency
// arrives, and that of the transaction between two edges for how they may join.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/conditions.h"
#include "certify/evidence.h"
#include "certify/real_time.h"

namespace assay::internal::certify {

// The sources and effects that a cycle may assume.
struct Given {
  std::span<const Literal> literals = {};

  // Whether a block of the transaction ends where the list that `op` read does.
  bool block(Blocks& blocks, OpId op, KeyId key, TxnId source) const {
    return std::ranges::any_of(literals, [&](const Literal& l) {
      return l.kind == Literal::Kind::block && l.from == source && l.key == key &&
             blocks.ends(l, op);
    });
  }
};

// The first and the last operation that read from a source; kNone if the source is given for the
// transaction as a whole.
struct Reads {
  bool any = false;
  OpId first = kNone, last = kNone;
  void add(OpId op);
};

class CycleVerifier {
 public:
  CycleVerifier(LevelId level, Evidence& evidence)
      : level_(evidence.history.level(level)),
        evidence_(evidence),
        history_(evidence.history),
        conditions_(evidence.history) {}

  // Checks a cycle. `given`: the sources and effects that it may assume.
  Status check(std::span<const Edge> cycle, std::span<const Literal> given = {});
  // Checks that an edge holds, whatever it is part of.
  Status check_alone(const Edge& edge) {
    if (Status s = check_ends(edge); !s.ok()) return s;
    return check_edge(edge);
  }

 private:
  // The level that applies to a transaction: its own if levels are mixed.
  const LevelInfo& level_of(TxnId t) const;

  Status check_ends(const Edge& edge);
  Status check_edge(const Edge& edge);
  Status check_read_from(const Edge& edge);
  Status check_change(const Edge& edge, OpId range, TxnId seen);
  Status check_session(const Edge& edge);
  Status check_real_time(const Edge& edge);
  Status check_writers(const Edge& edge);
  Status check_anti(const Edge& edge);
  Status check_forced(const Edge& edge);
  Status check_writes(TxnId t, KeyId key);
  Status check_seen(TxnId seen, TxnId reader, std::span<const Edge> path, KeyId key, TxnId from,
                    OpId read);
  Status check_path(TxnId from, TxnId to, std::span<const Edge> path);
  Status check_joints(std::span<const Edge> cycle);
  Reads reads_of(const Edge& edge);
  Status check_kinds(std::span<const Edge> cycle);
  bool is_item(const Edge& edge) const;
  Status check_unseen_initial(std::span<const Edge> cycle);

  Reads reads_from(TxnId reader, KeyId key, TxnId from, OpId only);
  bool counts(TxnId t);
  std::string name(TxnId t) const { return history_.name(t); }

  const LevelInfo& level_;
  Evidence& evidence_;
  const History& history_;
  const Conditions conditions_;
  Given given_;  // for the cycle being checked
};

// The assumptions of a cycle step: the orders of writers, in the order of its edges, and the given
// literals.
std::vector<Literal> assumptions(const ProofStep& step);

}  // namespace assay::internal::certify
