// Graphviz: one graph per anomaly, the transactions as boxes, the cycle in bold; or four graphs,
// PolySI's steps (Huang et al., PVLDB 2023, section 4).
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "explain/names.h"
#include "report/report.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

std::string dot_id(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// What a drawing shows. They are PolySI's four steps from the cycle of a solver to what a person
// can follow:
//
//   cycle     the transactions on the cycle alone
//   restored  with those that explain its arrows; the order of two writers, and what follows from
//             it, is uncertain as yet, so dashed, and so is the other order
//   resolved  the other order would close a cycle: it ends in a bar, so the first holds
//   whole     what holds
enum class Drawn : uint8_t { cycle, restored, resolved, whole };

struct GraphStep {
  Drawn drawn;
  std::string_view name, title;
};
constexpr GraphStep kWholeGraph[] = {{Drawn::whole, "", ""}};
constexpr GraphStep kGraphSteps[] = {
    {Drawn::cycle, "_cycle", "1. the cycle: "},
    {Drawn::restored, "_restored", "2. what explains it: "},
    {Drawn::resolved, "_resolved", "3. the other orders ruled out: "},
    {Drawn::whole, "_final", "4. what remains: "}};

bool is_order(const Arrow& a) { return a.kind == EdgeKind::write_dependency; }

// Whether the arrow is an order of two writers, or an anti-dependency that follows from one.
bool is_uncertain(const Explanation& e, const Arrow& a) {
  return is_order(a) || (a.kind == EdgeKind::anti_dependency &&
                         std::ranges::any_of(e.arrows, [&](const Arrow& order) {
                           return is_order(order) && order.to == a.to && order.key == a.key;
                         }));
}

std::string style_of(const Explanation& e, const Arrow& a, Drawn drawn) {
  if (drawn == Drawn::whole) return a.in_cycle ? "penwidth=2" : "style=dashed";
  if (drawn == Drawn::cycle) return "style=dotted";
  std::string style =
      drawn == Drawn::restored && is_uncertain(e, a) ? "style=dashed" : "style=solid";
  if (!a.in_cycle) style += ", color=blue";
  return style + (a.in_cycle ? ", penwidth=2" : "");
}

// Returns the arrows of a drawing, each with its style.
std::vector<std::pair<Arrow, std::string>> arrows_of(const Explanation& e, Drawn drawn) {
  std::vector<std::pair<Arrow, std::string>> out;
  const auto is_there = [&](const Arrow& a) {
    return std::ranges::any_of(out, [&](const auto& known) {
      return known.first.from == a.from && known.first.to == a.to && known.first.key == a.key &&
             known.first.kind == a.kind;
    });
  };
  for (const Arrow& a : e.arrows)
    if (!a.refuted && (a.in_cycle || drawn != Drawn::cycle))
      out.emplace_back(a, style_of(e, a, drawn));
  if (drawn != Drawn::restored && drawn != Drawn::resolved) return out;
  for (Arrow a : e.arrows) {
    if (!a.refuted && !is_order(a)) continue;
    if (!a.refuted) std::swap(a.from, a.to);  // the other order of the two
    if (!is_there(a))
      out.emplace_back(a, drawn == Drawn::restored
                              ? "style=dashed"
                              : "style=dashed, color=gray, fontcolor=gray, arrowhead=tee");
  }
  return out;
}

std::string graph(const Audit& c, const Explanation& e, size_t number, const GraphStep& step) {
  const History& h = c.history;
  const Drawn drawn = step.drawn;
  const auto on_cycle = [&](TxnId t) {
    return std::ranges::any_of(
        e.arrows, [t](const Arrow& a) { return a.in_cycle && (a.from == t || a.to == t); });
  };
  std::string out = fmt::format("digraph anomaly_{}{} {{\n", number, step.name);
  out += fmt::format("  label={};\n", dot_id(fmt::format("{}{}: {} violates {}{}", step.title,
                                                         file_name(c), anomaly_info(e.anomaly).name,
                                                         level_names(e.levels), on_database(c))));
  out += "  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  for (const TxnId t : e.transactions) {
    if (drawn == Drawn::cycle && !on_cycle(t)) continue;
    const bool restored = drawn != Drawn::whole && !on_cycle(t);
    out += fmt::format("  t{} [label={}{}];\n", t,
                       dot_id(display_txn(h, t) + "  " + display_ops(h, t, e.operations)),
                       restored ? ", color=darkgreen" : "");
  }
  for (const auto& [a, style] : arrows_of(e, drawn)) {
    std::string label(edge_kind_name(a.kind));
    if (a.key != kNone) label += "(" + display_key(h, a.key) + ")";
    out += fmt::format("  t{} -> t{} [label={}, {}];\n", a.from, a.to, dot_id(label), style);
  }
  return out + "}\n";
}

class DotReport : public ReportWriter {
 public:
  explicit DotReport(std::span<const GraphStep> steps) : steps_(steps) {}
  std::string section(const Audit& c) override {
    std::string out;
    for (const Explanation& e : c.explanations) {
      ++anomalies_;
      for (const GraphStep& one : steps_) out += graph(c, e, anomalies_, one);
    }
    return out;
  }
  std::string end() override { return anomalies_ == 0 ? "// no anomaly was found\n" : ""; }

 private:
  const std::span<const GraphStep> steps_;
  size_t anomalies_ = 0;
};

}  // namespace

std::unique_ptr<ReportWriter> start_steps(const ReportOptions&) {
  return std::make_unique<DotReport>(kGraphSteps);
}

std::unique_ptr<ReportWriter> start_dot(const ReportOptions&) {
  return std::make_unique<DotReport>(kWholeGraph);
}

}  // namespace assay::internal
