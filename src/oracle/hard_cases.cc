#include "oracle/hard_cases.h"

#include <algorithm>
#include <cstdlib>

namespace assay::internal::oracle {
namespace {

DraftOp read_op(int key, DraftValue value) {
  return {.kind = OpKind::read, .key = key, .value = value};
}
DraftOp write_op(int key, int64_t value) {
  return {.kind = OpKind::write, .key = key, .value = value};
}

std::vector<std::vector<int>> neighbours(const Graph& graph) {
  std::vector<std::vector<int>> result(static_cast<size_t>(graph.vertices));
  for (const auto& [a, b] : graph.edges) {
    result[a].push_back(b);
    result[b].push_back(a);
  }
  return result;
}

// The history of a formula: each transaction is in a separate session.
class CnfHistory {
 public:
  int add() {
    draft_.txns.emplace_back();
    draft_.txns.back().session = static_cast<int>(draft_.txns.size()) - 1;
    return draft_.txns.back().session;
  }
  int new_key() { return keys_++; }
  void write(int txn, int key) { draft_.txns[txn].ops.push_back(write_op(key, txn)); }
  void read(int txn, int key, int from) { draft_.txns[txn].ops.push_back(read_op(key, from)); }
  // Puts `first` before `second`. The reduction needs session order between transactions of
  // different sessions; reading a key that no other transaction writes has the same effect.
  void precede(int first, int second) {
    const int key = new_key();
    write(first, key);
    read(second, key, first);
  }
  Draft take() { return std::move(draft_); }

 private:
  Draft draft_;
  int keys_ = 0;
};

}  // namespace

Graph random_graph(Rng& rng, int vertices, double density) {
  Graph graph{vertices, {}};
  for (int a = 0; a < vertices; ++a) {
    for (int b = a + 1; b < vertices; ++b) {
      if (rng.chance(density)) graph.edges.emplace_back(a, b);
    }
  }
  return graph;
}

bool has_triangle(const Graph& graph) {
  const auto adjacent = neighbours(graph);
  for (const auto& [a, b] : graph.edges) {
    for (const int c : adjacent[a]) {
      if (std::count(adjacent[b].begin(), adjacent[b].end(), c) != 0) return true;
    }
  }
  return false;
}

// One transaction writes all x and z. For each vertex b one reads z, overwrites the x of b's
// neighbours and writes y of b. For each vertex c one reads the y of its neighbours, then the first
// x of its neighbours: too old iff one of the y came from a transaction that overwrote one of these
// x.
Draft triangle_history(const Graph& graph) {
  const auto adjacent = neighbours(graph);
  const int n = graph.vertices;
  const auto x = [](int vertex) { return vertex; };
  const auto y = [n](int vertex) { return n + vertex; };
  const int z = 2 * n;
  Draft draft;
  draft.txns.resize(2 * static_cast<size_t>(n) + 1);
  for (int a = 0; a < n; ++a) draft.txns[0].ops.push_back(write_op(x(a), -1));
  draft.txns[0].ops.push_back(write_op(z, -1));
  for (int v = 0; v < n; ++v) {
    DraftTxn& overwriter = draft.txns[1 + v];
    DraftTxn& reader = draft.txns[1 + n + v];
    overwriter.session = 1 + v;
    reader.session = 1 + n + v;
    overwriter.ops.push_back(read_op(z, -1));
    for (const int a : adjacent[v]) overwriter.ops.push_back(write_op(x(a), v));
    overwriter.ops.push_back(write_op(y(v), v));
    for (const int b : adjacent[v]) reader.ops.push_back(read_op(y(b), b));
    for (const int a : adjacent[v]) reader.ops.push_back(read_op(x(a), -1));
  }
  return draft;
}

Formula random_formula(Rng& rng, int variables, int clauses, int width) {
  Formula formula{variables, {}};
  for (int c = 0; c < clauses; ++c) {
    std::vector<int>& clause = formula.clauses.emplace_back();
    for (int i = 0; i < width; ++i) {
      const int literal = 1 + static_cast<int>(rng.below(static_cast<uint64_t>(variables)));
      clause.push_back(rng.chance(0.5) ? literal : -literal);
    }
  }
  return formula;
}

bool satisfiable(const Formula& formula) {
  for (uint64_t values = 0; values < uint64_t{1} << formula.variables; ++values) {
    const auto holds = [&](int literal) {
      return ((values >> (std::abs(literal) - 1) & 1u) != 0) == (literal > 0);
    };
    const bool all = std::all_of(formula.clauses.begin(), formula.clauses.end(),
                                 [&](const std::vector<int>& clause) {
                                   return std::any_of(clause.begin(), clause.end(), holds);
                                 });
    if (all) return true;
  }
  return false;
}

// Per variable two transactions a, b: false iff a comes before b. Per literal y, z, w: y and z
// write a key that w reads from z; the literal is false iff y comes before z. A clause closes a
// cycle if all its literals are false.
Draft cnf_history(const Formula& formula) {
  CnfHistory h;
  std::vector<int> a, b;
  for (int k = 0; k < formula.variables; ++k) {
    a.push_back(h.add());
    b.push_back(h.add());
  }
  for (const std::vector<int>& clause : formula.clauses) {
    std::vector<int> y, z;
    for (const int literal : clause) {
      const size_t k = static_cast<size_t>(std::abs(literal) - 1);
      const int w = h.add();
      const int key = h.new_key();
      y.push_back(h.add());
      z.push_back(h.add());
      h.write(y.back(), key);
      h.write(z.back(), key);
      h.read(w, key, z.back());
      h.precede(y.back(), literal > 0 ? a[k] : b[k]);
      h.precede(literal > 0 ? b[k] : a[k], w);
    }
    for (size_t j = 0; j < y.size(); ++j) h.precede(z[j], y[(j + 1) % y.size()]);
  }
  return h.take();
}

Draft polygraph_history(Rng& rng, const PolygraphShape& shape) {
  Draft draft;
  std::vector<std::vector<int64_t>> versions(static_cast<size_t>(shape.keys));
  int64_t next = 1;
  for (int t = 0; t < shape.txns; ++t) {
    DraftTxn& txn = draft.txns.emplace_back();
    txn.session = static_cast<int>(rng.below(static_cast<uint64_t>(shape.sessions)));
    for (int i = 0; i < shape.reads; ++i) {
      const size_t key = rng.below(versions.size());
      const auto& past = versions[key];
      const size_t age = static_cast<size_t>(rng.exponential(shape.stale));
      const DraftValue value =
          age < past.size() ? DraftValue(past[past.size() - 1 - age]) : DraftValue();
      const auto same = [&](const DraftOp& op) { return op.key == static_cast<int>(key); };
      if (std::any_of(txn.ops.begin(), txn.ops.end(), same)) continue;  // reads must agree
      txn.ops.push_back(read_op(static_cast<int>(key), value));
    }
    for (int i = 0; i < shape.writes; ++i) {
      const size_t key = rng.below(versions.size());
      const int64_t value = next++;
      const auto written = [&](const DraftOp& op) {
        return op.kind == OpKind::write && op.key == static_cast<int>(key);
      };
      if (std::any_of(txn.ops.begin(), txn.ops.end(), written)) continue;
      txn.ops.push_back(write_op(static_cast<int>(key), value));
      versions[key].push_back(value);
    }
  }
  return draft;
}

}  // namespace assay::internal::oracle
