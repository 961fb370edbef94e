#include "certificate_edits.h"

#include <algorithm>
#include <utility>

namespace assay::internal {
namespace {

// A number of the kind that a certificate holds, seldom a wild one.
uint32_t any_index(Rng& rng, uint32_t count) {
  if (rng.chance(0.03)) return kNone;
  if (rng.chance(0.03)) return static_cast<uint32_t>(rng.next());
  return below(rng, count + 1);
}

class Editor {
 public:
  Editor(Rng& rng, const History& history) : rng_(rng), h_(history) {}

  void edit(Certificate& c) {
    switch (c.kind) {
      case Certificate::Kind::order:
        if (!c.order.sources.empty() && rng_.chance(0.4)) return edit_seen(c.order.sources);
        return edit_order(c.order);
      case Certificate::Kind::bad_read:
        return edit_bad_read(c.bad_read);
      case Certificate::Kind::proof:
        return edit_proof(c.proof);
      case Certificate::Kind::exhausted:
        if (rng_.chance(0.5)) {
          c.exhausted.key = any_index(rng_, h_.key_count());
        } else {
          c.exhausted.until = any_index(rng_, h_.txn_count());
        }
        return;
    }
  }

 private:
  void edit_seen(std::vector<Seen>& all) {
    if (all.empty() || rng_.chance(0.2)) {
      all.insert(all.begin() + below(rng_, all.size() + 1),
                 {any_index(rng_, h_.op_count()), any_index(rng_, h_.key_count()),
                  any_index(rng_, h_.txn_count())});
      return;
    }
    Seen& seen = all[below(rng_, all.size())];
    switch (rng_.below(4)) {
      case 0:
        all.erase(all.begin() + below(rng_, all.size()));
        return;
      case 1:
        seen.op = any_index(rng_, h_.op_count());
        return;
      case 2:
        seen.key = any_index(rng_, h_.key_count());
        return;
      default:
        seen.source = rng_.chance(0.3) ? kNone : any_index(rng_, h_.txn_count());
    }
  }

  void edit_order(Order& o) {
    auto& events = o.events;
    const size_t n = events.size();
    switch (rng_.below(n < 2 ? 3 : 7)) {
      case 0:
        o.split = !o.split;
        return;
      case 1:
        events.insert(events.begin() + below(rng_, n + 1), any_index(rng_, 2 * h_.txn_count()));
        return;
      case 2:
        if (n > 0) events.erase(events.begin() + below(rng_, n));
        return;
      case 3: {
        const uint32_t i = below(rng_, n - 1);
        std::swap(events[i], events[i + 1]);
        return;
      }
      case 4:
        std::swap(events[below(rng_, n)], events[below(rng_, n)]);
        return;
      case 5: {
        const uint32_t a = below(rng_, n), b = below(rng_, n);
        std::rotate(events.begin() + std::min(a, b), events.begin() + std::max(a, b), events.end());
        return;
      }
      default:
        events[below(rng_, n)] = any_index(rng_, 2 * h_.txn_count());
    }
  }

  void edit_bad_read(BadRead& b) {
    switch (rng_.below(3)) {
      case 0:
        b.anomaly = static_cast<Anomaly>(rng_.below(9));
        return;
      case 1:
        b.read = any_index(rng_, h_.op_count());
        return;
      default:
        b.other = rng_.chance(0.2) ? kNone : any_index(rng_, h_.op_count());
    }
  }

  void edit_proof(Proof& p) {
    if (p.steps.empty() || rng_.chance(0.05)) {
      p.steps.emplace_back();
      return;
    }
    ProofStep& step = p.steps[below(rng_, p.steps.size())];
    switch (rng_.below(12)) {
      case 0:
        step.kind = static_cast<ProofStep::Kind>(rng_.below(5));
        return;
      case 1:
        p.steps.erase(p.steps.begin() + below(rng_, p.steps.size()));
        return;
      case 2:
        std::swap(step, p.steps[below(rng_, p.steps.size())]);
        return;
      case 3:
        step.hints.push_back(any_index(rng_, static_cast<uint32_t>(p.steps.size())));
        return;
      case 4:
        if (!step.hints.empty()) step.hints.erase(step.hints.begin());
        return;
      case 5:
        return edit_literals(step.clause);
      case 9:
        return edit_literals(step.given);
      case 10:
        step.key = any_index(rng_, h_.key_count());
        return;
      case 6:
        step.source = any_index(rng_, h_.op_count());
        step.source_is_op = rng_.chance(0.5);
        return;
      default:
        edit_cycle(step.cycle);
    }
  }

  void edit_literals(std::vector<Literal>& all) {
    if (all.empty() || rng_.chance(0.2)) {
      Literal& l = all.emplace_back();
      l.kind = static_cast<Literal::Kind>(rng_.below(3));
      l.from = rng_.chance(0.2) ? kNone : any_index(rng_, h_.txn_count());
      l.to = any_index(rng_, h_.txn_count());
      if (l.kind == Literal::Kind::seen) l.key = any_index(rng_, h_.key_count());
      l.negated = l.kind != Literal::Kind::order && rng_.chance(0.3);
      return;
    }
    Literal& l = all[below(rng_, all.size())];
    switch (rng_.below(4)) {
      case 0:
        l = !l;
        return;
      case 1:
        all.erase(all.begin() + below(rng_, all.size()));
        return;
      case 2:
        l.from = rng_.chance(0.3) ? kNone : any_index(rng_, h_.txn_count());
        return;
      default:
        l.to = any_index(rng_, h_.txn_count());
    }
  }

  void edit_cycle(std::vector<Edge>& cycle) {
    if (cycle.empty() || rng_.chance(0.1)) {
      Edge edge;
      edge.from = any_index(rng_, h_.txn_count());
      edge.to = any_index(rng_, h_.txn_count());
      edit_edge(edge);
      cycle.insert(cycle.begin() + below(rng_, cycle.size() + 1), edge);
      return;
    }
    Edge& edge = cycle[below(rng_, cycle.size())];
    if (rng_.chance(0.1)) {
      cycle.erase(cycle.begin() + below(rng_, cycle.size()));
    } else if (!edge.path.empty() && rng_.chance(0.4)) {
      edit_edge(edge.path[below(rng_, edge.path.size())]);
    } else {
      edit_edge(edge);
    }
  }

  void edit_edge(Edge& e) {
    switch (rng_.below(8)) {
      case 0:
        e.kind = static_cast<EdgeKind>(rng_.below(6));
        return;
      case 1:
        e.from = any_index(rng_, h_.txn_count());
        return;
      case 2:
        e.to = any_index(rng_, h_.txn_count());
        return;
      case 3:
        e.key = any_index(rng_, h_.key_count());
        return;
      case 4:
        e.via = rng_.chance(0.3) ? kNone : any_index(rng_, h_.txn_count());
        return;
      case 5:
        e.op = rng_.chance(0.5) ? kNone : any_index(rng_, h_.op_count());
        return;
      case 6:
        e.from_write = !e.from_write;
        return;
      default:
        e.to_write = !e.to_write;
    }
  }

  Rng& rng_;
  const History& h_;
};

}  // namespace

std::vector<LevelId> every_level() {
  std::vector<LevelId> all;
  for (const LevelInfo& level : all_levels()) all.push_back(level.id);
  return all;
}

uint32_t below(Rng& rng, size_t n) { return static_cast<uint32_t>(rng.below(n)); }

void edit(Rng& rng, const History& history, Certificate& certificate) {
  Editor(rng, history).edit(certificate);
}

std::string edit_text(Rng& rng, std::string text) {
  const size_t at = rng.below(text.size());
  if (rng.chance(0.3)) {
    text[at] = static_cast<char>(rng.below(128));
    return text;
  }
  const size_t digit = text.find_first_of("0123456789", at);
  if (digit == std::string::npos) return text.substr(0, at);
  size_t end = digit;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return text.replace(digit, end - digit, std::to_string(rng.below(9)));
}

}  // namespace assay::internal
