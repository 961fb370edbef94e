#include "explain/arrows.h"

#include <algorithm>
#include <string>
#include <utility>

#include "history/accesses.h"

namespace assay::internal {
namespace {

class Drawing {
 public:
  Drawing(const History& h, const Proof& proof, const Clauses& clauses, Explanation& e)
      : h_(h), proof_(proof), clauses_(clauses), e_(e) {}

  void draw(const Step& s) {
    const Edge& edge = s.edge;
    place_ = static_cast<uint32_t>(std::ranges::count(e_.arrows, true, &Arrow::in_cycle));
    add({edge.kind, edge.from, edge.to, edge.key, true, clauses_.because(s)}, edge);
    for (const Edge& p : s.path) support(p);
    if (edge.kind == EdgeKind::anti_dependency && edge.via != kNone) support_miss(s);
    if (s.because == Step::Because::stated) show_list(s);
    if (s.because == Step::Because::proof)
      show_refutation(proof_.steps[s.source],
                      {edge.to, edge.kind == EdgeKind::anti_dependency ? edge.via : edge.from});
  }

 private:
  void add(Arrow arrow, const Edge& about) {
    e_.arrows.push_back(std::move(arrow));
    e_.transactions.insert(e_.transactions.end(), {about.from, about.to});
    note_operations(about);
  }

  // Shows the source of the read and, if something states it, that the missed version came later.
  void support_miss(const Step& s) {
    Edge read = s.edge;
    read.kind = EdgeKind::read_dependency;
    read.from = s.edge.via;
    read.to = s.edge.from;
    read.via = kNone;
    support(read);
    if (s.because == Step::Because::read_first) {
      read.to = s.edge.to;
      read.op = first_read(h_, s.edge.to, s.edge.key).op;
      if (read.op != kNone) support(read);
    }
    if (s.because == Step::Because::plain || s.because == Step::Because::assumed) return;
    Step order = s;
    order.edge.kind = EdgeKind::write_dependency;
    order.edge.from = s.edge.via;
    order.edge.via = order.edge.op = kNone;
    support(order.edge, clauses_.because(order));
  }

  // Shows the read of the list that tells in which order its elements were appended.
  void show_list(const Step& s) {
    const OpId list = s.source;
    if (list == kNone) return;
    e_.operations.push_back(list);
    e_.transactions.push_back(h_.txn_of(list));
    const std::span<const VersionId> elements = outside_list(h_, list).elements;
    if (elements.empty() || !wrote(h_, s.edge.to, elements.back())) return;
    Edge read;
    read.kind = EdgeKind::read_dependency;
    read.from = s.edge.to;
    read.to = h_.txn_of(list);
    read.key = h_.op(list).key;
    read.op = list;
    support(read);
  }

  // Shows the cycle that the order `assumed` would close, if it is short: the parts that hold, and
  // the part that would.
  void show_refutation(const ProofStep& step, const Literal& assumed) {
    if (step.cycle.size() > Clauses::kMostRefuting) return;
    for (const Edge& p : step.cycle) {
      const bool refuted =
          (p.kind == EdgeKind::write_dependency && Literal{p.from, p.to} == assumed) ||
          (p.kind == EdgeKind::anti_dependency && Literal{p.via, p.to} == assumed);
      if (refuted)
        add({p.kind,
             p.from,
             p.to,
             p.key,
             false,
             "it cannot be that " + clauses_.because(p),
             true,
             {place_}},
            p);
      else
        support(p);
    }
  }

  // Adds an arrow on which the arrow of the cycle at `place_` rests; each is shown once.
  void support(const Edge& edge) { support(edge, clauses_.because(edge)); }
  void support(const Edge& edge, const std::string& because) {
    const auto same = [&](const Arrow& a) {
      return a.from == edge.from && a.to == edge.to && a.kind == edge.kind && !a.refuted;
    };
    if (const auto arrow = std::ranges::find_if(e_.arrows, same); arrow != e_.arrows.end()) {
      if (std::ranges::find(arrow->supports, place_) == arrow->supports.end())
        arrow->supports.push_back(place_);
      return;
    }
    if (edge.kind == EdgeKind::forced) {
      for (const Edge& p : edge.path) support(p);
      e_.transactions.push_back(edge.via);
    }
    add({edge.kind, edge.from, edge.to, edge.key, false, because, false, {place_}}, edge);
  }

  // Notes the reads and writes that an edge is about.
  void note_operations(const Edge& edge) {
    if (edge.key == kNone) return;
    const auto note = [&](OpId op) {
      if (op != kNone) e_.operations.push_back(op);
    };
    const bool reads_at_end = edge.kind == EdgeKind::read_dependency;
    if (edge.kind == EdgeKind::anti_dependency || reads_at_end)
      note(edge.op != kNone ? edge.op
                            : first_read(h_, reads_at_end ? edge.to : edge.from, edge.key).op);
    if (edge.kind != EdgeKind::anti_dependency) note(last_write(h_, edge.from, edge.key));
    if (!reads_at_end) note(last_write(h_, edge.to, edge.key));
  }

  const History& h_;
  const Proof& proof_;
  const Clauses& clauses_;
  Explanation& e_;
  uint32_t place_ = 0;  // index of the cycle's arrow that is being drawn
};

}  // namespace

void draw(const Cycle& cycle, const History& h, const Proof& proof, const Clauses& clauses,
          Explanation& e) {
  Drawing drawing(h, proof, clauses, e);
  for (const Step& step : cycle) drawing.draw(step);
  std::stable_partition(e.arrows.begin(), e.arrows.end(),
                        [](const Arrow& a) { return a.in_cycle; });
}

}  // namespace assay::internal
