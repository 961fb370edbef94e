// Histories of any size that are hard to check for a known reason, with verdicts that are known by
// construction or near the border.
//
//   triangle    violates read committed, read atomic and causal iff a graph has a triangle: no
//               checker of these levels can be much faster than n^1.5
//   cnf         satisfies prefix, session SI and session serializable iff a formula can be
//               satisfied
//   polygraph   random blind writes and slightly stale reads: nearly nothing is forced, nearly
//               nothing is free, and a little more staleness turns satisfied into violated
//
// The reductions are those of Biswas and Enea (formulas) and of Møldrup and Pavlogiannis
// (triangles).
#pragma once

#include <utility>
#include <vector>

#include "base/rng.h"
#include "oracle/draft.h"

namespace assay::internal::oracle {

// An undirected graph with vertices 0 … vertices-1.
struct Graph {
  int vertices = 0;
  std::vector<std::pair<int, int>> edges;
};

Graph random_graph(Rng& rng, int vertices, double density);
bool has_triangle(const Graph& graph);
Draft triangle_history(const Graph& graph);

// A formula of clauses. Its literals are k+1 for variable k and -(k+1) for its negation.
struct Formula {
  int variables = 0;
  std::vector<std::vector<int>> clauses;
};

Formula random_formula(Rng& rng, int variables, int clauses, int width);
bool satisfiable(const Formula& formula);  // by trying all assignments
Draft cnf_history(const Formula& formula);

struct PolygraphShape {
  int sessions = 8;
  int txns = 100;
  int keys = 10;
  int writes = 2;  // per transaction
  int reads = 2;
  double stale = 0.5;  // mean age of the versions read, in versions of the key; 0 is serializable
};
Draft polygraph_history(Rng& rng, const PolygraphShape& shape);

}  // namespace assay::internal::oracle
