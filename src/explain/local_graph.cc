// A checker's cycle is the one its search met first: often longer than needed, and silent about why
// two writers must be in the assumed order. Here we draw all dependencies among the transactions
// the proof mentions and look for the cheapest cycle:
//
//   A: w(x,1)   B: r(x,1) w(x,2)   C: r(x,1) w(x,3)
//   B → C  since B read x = 1, which C overwrote (C itself read 1 first, so 1 came before 3)
//   C → B  likewise
//
// An order of two writers counts if the later one read the earlier one's version, if a path of
// reads and session order leads from one to the other, or if the proof forces it; the price of the
// edge grows in that order. Dijkstra from each event finds the cheapest cycle. n transactions:
// O(n³) at worst, n ≤ 160.
#include "explain/local_graph.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "certify/real_time.h"
#include "explain/step_graph.h"

namespace assay::internal {
namespace {

constexpr uint32_t kEdgeCost = 10;
constexpr uint32_t kProofCost = 15;  // of an order that only the proof justifies

class LocalGraph {
 public:
  LocalGraph(const Accesses& accesses, const LevelInfo& level, std::vector<TxnId> txns,
             const Conclusion& conclusion, const Proof& proof)
      : accesses_(accesses),
        h_(accesses.history()),
        level_(level),
        split_(level.events == EventModel::split),
        txns_(tidy(std::move(txns))),
        count_(static_cast<uint32_t>(txns_.size())),
        graph_(split_ ? 2 * count_ : count_) {
    for (uint32_t i = 0; i < count_; ++i) {
      place_.emplace(txns_[i], i);
      reads_.push_back(accesses.certain(level.id == LevelId::read_committed
                                            ? accesses.all_reads(txns_[i])
                                            : accesses.reads(txns_[i])));
      for (const Access& w : accesses.writes(txns_[i])) writers_[w.key].push_back(i);
    }
    add_reads_and_sessions();
    if (level.events == EventModel::weak) {
      add_forced();
    } else {
      add_real_time();
      find_orders(conclusion, proof);
      add_orders();
      add_anti();
    }
  }

  FoundCycle shortest() const {
    FoundCycle found = graph_.cheapest_cycle();
    return immediate_.cost < found.cost ? immediate_ : found;
  }

 private:
  using Layer = StepGraph::Layer;

  // Hostile transactions are huge; what is not looked at is missing from the picture only.
  static constexpr uint64_t kMaxWork = 20'000'000;

  static std::vector<TxnId> tidy(std::vector<TxnId> txns) {
    std::sort(txns.begin(), txns.end());
    txns.erase(std::unique(txns.begin(), txns.end()), txns.end());
    if (txns.size() > kMaxLocal) txns.resize(kMaxLocal);
    return txns;
  }

  uint32_t event(uint32_t i, bool write) const { return split_ ? 2 * i + write : i; }
  // The place of a transaction in txns_, kNone if it is not there.
  uint32_t place(TxnId t) const {
    const auto at = place_.find(t);
    return at == place_.end() ? kNone : at->second;
  }
  bool too_much(uint64_t more) { return (work_ += more) > kMaxWork; }

  Step plain_edge(EdgeKind kind, uint32_t from, uint32_t to, const Access& read) const {
    Step s;
    s.edge.kind = kind;
    s.edge.from = txns_[from];
    s.edge.to = txns_[to];
    s.edge.key = read.key;
    s.edge.op = read.op;
    return s;
  }

  void add_reads_and_sessions() {
    for (uint32_t i = 0; i < count_; ++i) {
      if (split_) graph_.add_free(event(i, false), event(i, true));
      for (const Access& r : reads_[i]) {
        const uint32_t from = place(accesses_.writer(r.version));
        if (from == kNone || from == i) continue;
        add_causal(from, i, EdgeKind::read_dependency, r);
      }
      if (!level_.session_order) continue;
      for (uint32_t j = 0; j < count_; ++j)
        if (in_session_before(j, i)) add_causal(j, i, EdgeKind::session, {});
    }
  }

  void add_causal(uint32_t from, uint32_t to, EdgeKind kind, const Access& read) {
    graph_.add(event(from, true), event(to, false), Layer::causal, plain_edge(kind, from, to, read),
               kEdgeCost);
  }

  bool in_session_before(uint32_t i, uint32_t j) const {
    return h_.session(txns_[i]) == h_.session(txns_[j]) &&
           h_.position(txns_[i]) < h_.position(txns_[j]) &&
           h_.status(txns_[i]) == TxnStatus::committed;
  }

  // ---- weak levels: a read fixes its writer after every other writer the reader could see.

  void add_forced() {
    std::vector<StepGraph::Ways> causal;
    if (level_.id == LevelId::causal)
      for (uint32_t w = 0; w < count_; ++w) causal.push_back(graph_.ways_from(w, Layer::causal));
    for (uint32_t r = 0; r < count_; ++r) {
      first_read_from_.assign(count_, Access{});
      for (const Access& read : reads_[r]) {
        if (level_.id != LevelId::read_committed) break;
        add_forced_by(r, read, causal);
        note_writer(read);
      }
      if (level_.id == LevelId::read_committed) continue;
      for (const Access& read : reads_[r]) note_writer(read);
      for (const Access& read : reads_[r]) add_forced_by(r, read, causal);
    }
  }

  // The reads that show which writers the reader saw: at read committed those so far.
  void note_writer(const Access& read) {
    const uint32_t w = place(accesses_.writer(read.version));
    if (w != kNone && first_read_from_[w].op == kNone) first_read_from_[w] = read;
  }

  void add_forced_by(uint32_t r, const Access& read, const std::vector<StepGraph::Ways>& causal) {
    const auto writers = writers_.find(read.key);
    if (writers == writers_.end() || too_much(writers->second.size())) return;
    const TxnId source = accesses_.writer(read.version);
    for (const uint32_t w : writers->second) {
      if (w == r || txns_[w] == source) continue;
      const std::vector<Edge> path = visible(w, r, causal);
      if (path.empty()) continue;
      if (source == kNone && h_.is_initial(read.version)) {
        add_immediate(path, w, r, read);
      } else if (const uint32_t to = place(source); to != kNone) {
        Step s = plain_edge(EdgeKind::forced, w, to, read);
        s.edge.via = txns_[r];
        s.edge.path = path;
        graph_.add(w, to, Layer::orders, std::move(s),
                   static_cast<uint32_t>(kEdgeCost + path.size()));
      }
    }
  }

  // Nothing comes before the initial state.
  void add_immediate(const std::vector<Edge>& path, uint32_t w, uint32_t r, const Access& read) {
    const auto cost = static_cast<uint32_t>(kEdgeCost * (path.size() + 1));
    if (cost >= immediate_.cost) return;
    immediate_.cost = cost;
    immediate_.cycle.clear();
    for (const Edge& e : path) immediate_.cycle.push_back({e, Step::Because::plain, {}, kNone});
    immediate_.cycle.push_back(plain_edge(EdgeKind::anti_dependency, r, w, read));
  }

  // How `r` could see what `w` wrote, by the rule of the level; empty if it could not.
  std::vector<Edge> visible(uint32_t w, uint32_t r,
                            const std::vector<StepGraph::Ways>& causal) const {
    if (level_.id == LevelId::causal) return edges(graph_.steps_to(causal[w], r));
    if (first_read_from_[w].op != kNone)
      return {plain_edge(EdgeKind::read_dependency, w, r, first_read_from_[w]).edge};
    if (level_.id == LevelId::read_atomic && in_session_before(w, r))
      return {plain_edge(EdgeKind::session, w, r, {}).edge};
    return {};
  }

  static std::vector<Edge> edges(const Cycle& steps) {
    std::vector<Edge> out;
    for (const Step& s : steps) out.push_back(s.edge);
    return out;
  }

  // ---- strong levels

  void add_real_time() {
    if (level_.real_time == RealTime::none) return;
    for (uint32_t i = 0; i < count_; ++i)
      for (uint32_t j = 0; j < count_; ++j)
        if (i != j) add_real_time(i, j);
  }

  void add_real_time(uint32_t i, uint32_t j) {
    const TxnId a = txns_[i], b = txns_[j];
    const auto link = [&](bool from_write, bool to_write) {
      Step s = plain_edge(EdgeKind::real_time, i, j, {});
      s.edge.from_write = from_write;
      s.edge.to_write = to_write;
      graph_.add(event(i, from_write), event(j, to_write), Layer::clock, std::move(s),
                 kEdgeCost + 1);
    };
    using certify::Side;
    const auto before = [&](Side from, Side to) {
      return certify::before_in_time(h_, a, from, b, to);
    };
    if (before(Side::write, Side::read) && level_.real_time != RealTime::into_commits)
      link(true, false);
    if (level_.real_time == RealTime::transactions || h_.status(b) != TxnStatus::committed) return;
    if (before(Side::write, Side::write)) link(true, true);
    if (before(Side::read, Side::write)) link(false, true);
  }

  // An order of two writers of a key, and why.
  struct WriterOrder {
    KeyId key = kNone;  // one that both write, the smallest
    bool known = false;
    Step justification;  // its edge is not set
  };

  WriterOrder& order(uint32_t i, uint32_t j) { return orders_[i * count_ + j]; }

  void know(uint32_t i, uint32_t j, Step justification) {
    WriterOrder& o = order(i, j);
    if (o.known) return;
    o.known = true;
    o.justification = std::move(justification);
  }

  static Step justified(Step::Because because, uint32_t proof_step = kNone) {
    Step s;
    s.because = because;
    s.proof_step = proof_step;
    return s;
  }

  // The best reason first: a later one does not replace it.
  void find_orders(const Conclusion& conclusion, const Proof& proof) {
    orders_.resize(static_cast<size_t>(count_) * count_);
    for (const auto& [key, writers] : writers_) {
      if (too_much(writers.size() * writers.size())) break;
      for (const uint32_t i : writers)
        for (const uint32_t j : writers)
          if (i != j) order(i, j).key = std::min(order(i, j).key, key);
    }
    for (uint32_t j = 0; j < count_; ++j)
      for (const Access& r : reads_[j]) {
        const uint32_t i = place(accesses_.writer(r.version));
        if (i != kNone && i != j && writes(j, r.key))
          know(i, j, justified(Step::Because::read_first));
      }
    for (uint32_t i = 0; i < count_; ++i) {
      const StepGraph::Ways ways = graph_.ways_from(event(i, true), Layer::clock);
      for (uint32_t j = 0; j < count_; ++j) {
        if (i == j || order(i, j).key == kNone || order(i, j).known) continue;
        Step s = justified(Step::Because::path);
        s.path = edges(graph_.steps_to(ways, event(j, true)));
        if (!s.path.empty()) know(i, j, std::move(s));
      }
    }
    for (const ConcludedOrder& f : conclusion.forced) {
      const uint32_t i = place(f.pair.from), j = place(f.pair.to);
      const bool stated = proof.steps[f.step].kind == ProofStep::Kind::fact;
      if (i != kNone && j != kNone)
        know(i, j, justified(stated ? Step::Because::stated : Step::Because::proof, f.step));
    }
    know_stated(proof);
  }

  // The last order that a proof needs may be stated too: then it is the contradiction, and nothing rests on it.
  void know_stated(const Proof& proof) {
    for (uint32_t s = 0; s < proof.steps.size(); ++s) {
      const ProofStep& fact = proof.steps[s];
      if (fact.kind != ProofStep::Kind::fact || fact.clause.size() != 1) continue;
      const uint32_t i = place(fact.clause[0].from), j = place(fact.clause[0].to);
      if (i != kNone && j != kNone) know(i, j, justified(Step::Because::stated, s));
    }
  }

  bool writes(uint32_t i, KeyId key) const {
    const auto writers = writers_.find(key);
    return writers != writers_.end() &&
           std::binary_search(writers->second.begin(), writers->second.end(), i);
  }

  static uint32_t price(const Step& s) {
    switch (s.because) {
      case Step::Because::plain:
        return 0;
      case Step::Because::read_first:
      case Step::Because::stated:
        return 1;
      case Step::Because::path:
        return static_cast<uint32_t>(2 * s.path.size());
      case Step::Because::assumed:
      case Step::Because::proof:
        return kProofCost;
    }
    return 0;
  }

  void add_orders() {
    for (uint32_t i = 0; i < count_; ++i)
      for (uint32_t j = 0; j < count_; ++j) {
        const WriterOrder& o = order(i, j);
        if (!o.known || o.key == kNone) continue;
        Step s = o.justification;
        s.edge.kind = EdgeKind::write_dependency;
        s.edge.from = txns_[i];
        s.edge.to = txns_[j];
        s.edge.key = o.key;
        // A cycle that shows what a read missed says more than one of writers in a proved order.
        const uint32_t hidden = s.because == Step::Because::proof ? 4 : 2;
        const uint32_t cost = kEdgeCost + hidden + price(s);
        graph_.add(event(i, true), event(j, split_ && !level_.write_conflict), Layer::orders,
                   std::move(s), cost);
      }
  }

  void add_anti() {
    for (uint32_t r = 0; r < count_; ++r)
      for (const Access& read : reads_[r]) {
        const auto writers = writers_.find(read.key);
        if (writers == writers_.end()) continue;
        if (too_much(writers->second.size())) return;
        for (const uint32_t w : writers->second) add_anti(r, w, read);
      }
  }

  void add_anti(uint32_t r, uint32_t w, const Access& read) {
    const TxnId source = accesses_.writer(read.version);
    if (w == r || txns_[w] == source) return;
    const Step* why = nullptr;
    if (source != kNone) {
      const uint32_t from = place(source);
      if (from == kNone || !order(from, w).known) return;
      why = &order(from, w).justification;
    } else if (!h_.is_initial(read.version)) {
      return;
    }
    const uint32_t cost = kEdgeCost + (why ? price(*why) : 0);
    if (!graph_.wants(event(r, false), event(w, true), Layer::orders, cost)) return;
    Step s = why ? *why : Step{};
    s.edge = plain_edge(EdgeKind::anti_dependency, r, w, read).edge;
    s.edge.via = source;
    graph_.add(event(r, false), event(w, true), Layer::orders, std::move(s), cost);
  }

  const Accesses& accesses_;
  const History& h_;
  const LevelInfo& level_;
  const bool split_;
  const std::vector<TxnId> txns_;
  const uint32_t count_;
  std::unordered_map<TxnId, uint32_t> place_;
  std::vector<std::vector<Access>> reads_;
  std::unordered_map<KeyId, std::vector<uint32_t>> writers_;  // ascending
  StepGraph graph_;
  std::vector<WriterOrder> orders_;      // count_ × count_
  std::vector<Access> first_read_from_;  // by the reader at hand: from each writer
  FoundCycle immediate_{{},
                        UINT32_MAX};  // a contradiction with the initial value, weak levels only
  uint64_t work_ = 0;
};

}  // namespace

FoundCycle shortest_cycle(const Accesses& accesses, const LevelInfo& level, std::vector<TxnId> txns,
                          const Conclusion& conclusion, const Proof& proof) {
  return LocalGraph(accesses, level, std::move(txns), conclusion, proof).shortest();
}

std::vector<Edge> causal_path(const Accesses& accesses, TxnId from, TxnId to, bool sessions) {
  constexpr size_t kMaxVisited = 100'000;
  const History& h = accesses.history();
  std::unordered_map<TxnId, Edge> next;  // the edge that leads from a transaction towards `to`
  std::queue<TxnId> queue;
  queue.push(to);
  std::unordered_set<TxnId> seen{to};
  const auto reach = [&](TxnId t, Edge e) {
    if (t == kNone || !seen.insert(t).second) return;
    next.emplace(t, std::move(e));
    queue.push(t);
  };
  while (!queue.empty() && !seen.contains(from) && seen.size() < kMaxVisited) {
    const TxnId t = queue.front();
    queue.pop();
    for (const Access& r : accesses.certain(accesses.reads(t))) {
      const TxnId w = accesses.writer(r.version);
      if (w == t) continue;
      reach(w, {EdgeKind::read_dependency, w, t, r.key, kNone, r.op, true, false, {}});
    }
    if (!sessions) continue;
    const auto session = h.session_txns(h.session(t));
    // Every earlier transaction of the session is one edge away; once is enough per session.
    for (uint32_t p = h.position(t); p-- > 0;) {
      const TxnId s = session[p];
      if (h.status(s) != TxnStatus::committed) continue;
      if (seen.contains(s)) break;
      reach(s, {EdgeKind::session, s, t, kNone, kNone, kNone, true, false, {}});
    }
  }
  std::vector<Edge> path;
  if (!next.contains(from)) return path;
  for (TxnId t = from; t != to; t = path.back().to) path.push_back(next.at(t));
  return path;
}

}  // namespace assay::internal
