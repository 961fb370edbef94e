// A dependency graph that another tool found, such as Elle or Emme, is verified like a certificate.
//
//   level pl-3
//   T1 -> T2 ww x
//   T2 -> T1 rw y
//
// Each line is a dependency of two transactions on a key: ww, wr, or rw. It has to hold: the reader
// saw what the writer left, both write the key, and which of two writers comes first is shown by a
// stated order, by a list, or by the later one having read the earlier one's version. Then
//
//   a cycle       is made into a proof (assay/certificate.h) that the level forbids it. Cycles
//                 of ww are tried first, then with wr, with one rw, and with any
//   no cycle      its order of transactions is the certificate. An edge that the history gives and
//                 the graph lacks may leave an order that explains nothing, which is refused
//
// The verifier judges the result, so it need not trust this. Cost: linear in the graph; for cycles
// with one rw, the graph once for each of the first kMostTried.

#include "certify/graph.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "assay/verify.h"
#include "certify/cycle_verifier.h"
#include "certify/evidence.h"
#include "certify/operations.h"
#include "certify/refusal.h"
#include "formats/text_lines.h"
#include "history/level_name.h"

namespace assay::internal::certify {
namespace {

constexpr size_t kMostTried = 64;
constexpr std::pair<std::string_view, EdgeKind> kKindWords[] = {
    {" ww ", EdgeKind::write_dependency},
    {" wr ", EdgeKind::read_dependency},
    {" rw ", EdgeKind::anti_dependency}};

class GraphReader {
 public:
  explicit GraphReader(const History& history) {
    for (TxnId t = 0; t < history.txn_count(); ++t) txns_.emplace(history.name(t), t);
    for (KeyId k = 0; k < history.key_count(); ++k) keys_.emplace(history.key(k).to_string(), k);
  }

  bool read_line(formats::TextCursor& in, uint64_t line, StatedGraph& graph) {
    std::string_view text = in.rest();
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    if (text.starts_with('#')) return true;
    if (in.accept("level ")) {
      const auto level = find_level(text.substr(6));
      if (!level) return in.fail(no_level(text.substr(6)));
      graph.level = *level;
      return true;
    }
    constexpr std::string_view kTo = " -> ";
    const size_t arrow = text.find(kTo);
    if (arrow == text.npos) return in.expected("level LEVEL, or T1 -> T2 ww KEY, wr or rw");
    for (const auto& [word, kind] : kKindWords) {
      const size_t at = text.find(word, arrow + kTo.size());
      if (at == text.npos) continue;
      StatedEdge edge{kind, kNone, kNone, kNone, line};
      const size_t start = in.at(), to = arrow + kTo.size();
      return find(in, start, txns_, text.substr(0, arrow), "transaction", edge.from) &&
             find(in, start + to, txns_, text.substr(to, at - to), "transaction", edge.to) &&
             find(in, start + at + 4, keys_, text.substr(at + 4), "key", edge.key) &&
             (graph.edges.push_back(edge), true);
    }
    return in.fail_at(in.at() + arrow, "expected ww, wr or rw and a key after the transactions");
  }

 private:
  using Names = std::unordered_map<std::string, uint32_t>;
  static bool find(formats::TextCursor& in, size_t at, const Names& names, std::string_view name,
                   const char* what, uint32_t& to) {
    const auto found = names.find(std::string(name));
    if (found == names.end())
      return in.fail_at(at, fmt::format("the history has no {} '{}'", what, name));
    to = found->second;
    return true;
  }

  Names txns_, keys_;
};

// Turns edges into those of the verifier, with the steps that show the orders that they assume.
class GraphProof {
 public:
  GraphProof(const StatedGraph& graph, const Lookups& lookups)
      : graph_(graph),
        history_(lookups.history()),
        evidence_(lookups, read_rule(history_.level(graph.level))),
        cycles_(graph.level, evidence_) {
    for (const StatedEdge& edge : graph.edges)
      if (edge.kind == EdgeKind::read_dependency)
        sources_[{edge.to, edge.key}].push_back(edge.from);
  }

  // Checks that every edge holds.
  Status check() {
    for (const StatedEdge& stated : graph_.edges) {
      const Result<Edge> edge = found(stated);
      if (!edge.ok())
        return refuse("line {}: {} -> {} does not hold: {}", stated.line,
                      history_.name(stated.from), history_.name(stated.to), edge.error().message);
    }
    return Ok{};
  }

  Certificate of_cycle(const std::vector<size_t>& cycle) {
    Certificate certificate;
    certificate.levels = {graph_.level};
    certificate.kind = Certificate::Kind::proof;
    std::vector<ProofStep>& steps = certificate.proof.steps;
    std::vector<Edge> edges;
    for (const size_t i : cycle) {
      edges.push_back(*found(graph_.edges[i]));
      for (const Literal& order : assumptions(step_of({edges.back()})))
        steps.push_back(*shown(order, graph_.edges[i].key));
    }
    steps.push_back(step_of(std::move(edges)));
    if (steps.size() == 1) return certificate;
    ProofStep& end = steps.emplace_back();
    end.kind = ProofStep::Kind::derived;
    for (uint32_t i = 0; i + 1 < steps.size(); ++i) end.hints.push_back(i);
    return certificate;
  }

 private:
  static ProofStep step_of(std::vector<Edge> cycle) {
    ProofStep step;
    step.cycle = std::move(cycle);
    return step;
  }
  Error not_shown(const Literal& order) const {
    return refuse("nothing in the history shows that {} wrote the key before {}",
                  history_.name(order.from), history_.name(order.to));
  }

  // The edge, with the operation that read and the transaction that it read from, if there was one;
  // an error if it does not hold, or nothing shows the order that it assumes.
  Result<Edge> found(const StatedEdge& e) {
    if (e.kind == EdgeKind::write_dependency)
      return held(Edge::write_dependency(e.from, e.to, e.key));
    if (e.kind == EdgeKind::read_dependency)
      return by_operation(e.to, Edge::read_dependency(e.from, e.to, e.key));
    Result<Edge> initial = by_operation(e.from, Edge::anti_dependency(e.from, e.to, e.key, kNone));
    if (initial.ok()) return initial;
    const auto sources = sources_.find({e.from, e.key});
    if (sources == sources_.end()) return initial;
    std::optional<Result<Edge>> last;
    for (const TxnId via : sources->second) {
      last = by_operation(e.from, Edge::anti_dependency(e.from, e.to, e.key, via));
      if (last->ok()) break;
    }
    return *std::move(last);
  }
  // The edge with the first of the reader's operations for which it holds.
  Result<Edge> by_operation(TxnId reader, Edge edge) {
    for (edge.op = history_.first_op(reader); edge.op < history_.end_op(reader); ++edge.op)
      if (Result<Edge> by_op = held(edge); by_op.ok()) return by_op;
    edge.op = kNone;
    return held(edge);
  }
  Result<Edge> held(const Edge& edge) {
    if (Status s = cycles_.check_alone(edge); !s.ok()) return s.error();
    for (const Literal& order : assumptions(step_of({edge})))
      if (!shown(order, edge.key)) return not_shown(order);
    return edge;
  }

  // The step that shows the order of two writers of the key.
  std::optional<ProofStep> shown(const Literal& order, KeyId key) {
    if (cycles_.check_alone(Edge::read_dependency(order.from, order.to, key)).ok())
      return step_of({Edge::read_dependency(order.from, order.to, key),
                      Edge::write_dependency(order.to, order.from, key)});
    ProofStep step;
    step.kind = ProofStep::Kind::fact;
    step.clause = {order};
    const auto states = [&](uint32_t source, bool is_op) {
      step.source = source;
      step.source_is_op = is_op;
      return evidence_.check_fact(order, source, is_op).ok();
    };
    const auto known = history_.known_orders();
    for (uint32_t i = 0; i < known.size(); ++i)
      if (known[i].key == key && states(i, false)) return step;
    for (const OpId op : lists_of(key))
      if (states(op, true)) return step;
    return std::nullopt;
  }

  std::span<const OpId> lists_of(KeyId key) {
    if (!lists_) {
      lists_.emplace();
      for (TxnId t = 0; t < history_.txn_count(); ++t)
        for (const Access& a : accesses(history_, t))
          if (a.is_list() && a.reads()) (*lists_)[a.key].push_back(a.op);
    }
    return (*lists_)[key];
  }

  struct PairHash {
    size_t operator()(const std::pair<TxnId, KeyId>& p) const {
      return std::hash<uint64_t>()(uint64_t{p.first} << 32 | p.second);
    }
  };

  const StatedGraph& graph_;
  const History& history_;
  Evidence evidence_;
  CycleVerifier cycles_;
  // The sources of a reader's reads of a key.
  std::unordered_map<std::pair<TxnId, KeyId>, std::vector<TxnId>, PairHash> sources_;
  std::optional<std::unordered_map<KeyId, std::vector<OpId>>> lists_;
};

// Orders and cycles of the edges of some kinds.
class GraphWalk {
 public:
  using Kinds = std::function<bool(EdgeKind)>;

  GraphWalk(const StatedGraph& graph, size_t txns, const Kinds& among)
      : edges_(graph.edges), out_(txns), in_(txns) {
    std::vector<uint32_t> before(txns, 0);
    for (size_t i = 0; i < edges_.size(); ++i) {
      if (!among(edges_[i].kind)) continue;
      out_[edges_[i].from].push_back(i);
      in_[edges_[i].to].push_back(i);
      ++before[edges_[i].to];
    }
    std::priority_queue<TxnId, std::vector<TxnId>, std::greater<>> ready;
    for (TxnId t = 0; t < txns; ++t)
      if (before[t] == 0) ready.push(t);
    placed_.resize(txns, false);
    for (; !ready.empty();) {
      const TxnId t = ready.top();
      ready.pop();
      placed_[t] = true;
      order_.push_back(t);
      for (const size_t i : out_[t])
        if (--before[edges_[i].to] == 0) ready.push(edges_[i].to);
    }
  }

  bool acyclic() const { return order_.size() == placed_.size(); }
  const std::vector<TxnId>& order() const { return order_; }

  // Walks backwards from a transaction that was not placed, until one is met again.
  std::vector<size_t> cycle() const {
    const auto first = std::ranges::find(placed_, false);
    if (first == placed_.end()) return {};
    std::vector<size_t> way;
    std::vector<size_t> met(placed_.size(), SIZE_MAX);
    for (auto t = static_cast<TxnId>(first - placed_.begin()); met[t] == SIZE_MAX;) {
      met[t] = way.size();
      const auto last =
          std::ranges::find_if(in_[t], [&](size_t i) { return !placed_[edges_[i].from]; });
      way.push_back(*last);
      t = edges_[*last].from;
      if (met[t] != SIZE_MAX) way.erase(way.begin(), way.begin() + static_cast<ptrdiff_t>(met[t]));
    }
    std::ranges::reverse(way);
    return way;
  }

  // The shortest way along the edges; empty if there is none.
  std::vector<size_t> way(TxnId from, TxnId to) const {
    std::vector<size_t> by(placed_.size(), SIZE_MAX);
    std::vector<TxnId> queue{from};
    for (size_t at = 0; at < queue.size() && by[to] == SIZE_MAX; ++at)
      for (const size_t i : out_[queue[at]])
        if (by[edges_[i].to] == SIZE_MAX) {
          by[edges_[i].to] = i;
          queue.push_back(edges_[i].to);
        }
    std::vector<size_t> edges;
    for (TxnId t = to; by[to] != SIZE_MAX && (edges.empty() || t != from); t = edges_[by[t]].from)
      edges.push_back(by[t]);
    std::ranges::reverse(edges);
    return edges;
  }

 private:
  const std::vector<StatedEdge>& edges_;
  std::vector<std::vector<size_t>> out_, in_;  // indexed by transaction
  std::vector<bool> placed_;
  std::vector<TxnId> order_;
};

// The cycles that some level forbids, the simplest first.
std::vector<std::vector<size_t>> cycles_to_try(const StatedGraph& graph, size_t txns) {
  const GraphWalk writes(graph, txns,
                         [](EdgeKind kind) { return kind == EdgeKind::write_dependency; });
  const GraphWalk flow(graph, txns,
                       [](EdgeKind kind) { return kind != EdgeKind::anti_dependency; });
  std::vector<std::vector<size_t>> cycles = {writes.cycle(), flow.cycle()};
  for (size_t i = 0; i < graph.edges.size() && cycles.size() < kMostTried; ++i) {
    const StatedEdge& edge = graph.edges[i];
    if (edge.kind != EdgeKind::anti_dependency || edge.from == edge.to) continue;
    std::vector<size_t> cycle = flow.way(edge.to, edge.from);
    if (cycle.empty()) continue;
    cycle.push_back(i);
    cycles.push_back(std::move(cycle));
  }
  cycles.push_back(GraphWalk(graph, txns, [](EdgeKind) { return true; }).cycle());
  std::erase_if(cycles, [](const std::vector<size_t>& cycle) { return cycle.empty(); });
  return cycles;
}

}  // namespace

bool holds_graph(std::string_view head) {
  const std::string_view line = formats::first_line(head);
  return line.starts_with("level ") || line.starts_with('#') || line.find(" -> ") != line.npos;
}

Result<StatedGraph> read_graph(std::string_view text, const History& history,
                               const std::string& name) {
  auto input = formats::Input::memory(text, name, nullptr);
  if (!input.ok()) return input.error();
  StatedGraph graph;
  GraphReader reader(history);
  const Status s = formats::for_each_line(
      *input, [&](formats::TextCursor& in) { return reader.read_line(in, input->line(), graph); });
  if (!s.ok()) return s.error();
  return graph;
}

Result<Certificate> verify_graph(const StatedGraph& graph, const History& history) {
  const Lookups lookups(history);
  GraphProof proof(graph, lookups);
  if (Status s = proof.check(); !s.ok()) return s.error();
  const size_t txns = history.txn_count();
  std::optional<Error> refused;
  for (const std::vector<size_t>& cycle : cycles_to_try(graph, txns)) {
    Certificate certificate = proof.of_cycle(cycle);
    const Status s = verify(certificate, history);
    if (s.ok()) return certificate;
    refused = s.error();
  }
  if (refused) return *std::move(refused);
  Certificate certificate;
  certificate.levels = {graph.level};
  const GraphWalk whole(graph, txns, [](EdgeKind) { return true; });
  for (const TxnId t : whole.order())
    if (history.status(t) == TxnStatus::committed) certificate.order.events.push_back(t);
  if (Status s = verify(certificate, history); !s.ok())
    return refuse("the graph has no cycle, but its order does not explain everything: {}",
                  s.error().message);
  return certificate;
}

}  // namespace assay::internal::certify
