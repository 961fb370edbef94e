// Graphviz: one graph per anomaly, the transactions as boxes, the cycle in bold.
#include <fmt/format.h>

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

std::string graph(const Audit& c, const Explanation& e, size_t number) {
  const History& h = c.history;
  std::string out = fmt::format("digraph anomaly_{} {{\n", number);
  out += fmt::format("  label={};\n", dot_id(fmt::format("{}: {} violates {}{}", file_name(c),
                                                         anomaly_info(e.anomaly).name,
                                                         level_names(e.levels), on_database(c))));
  out += "  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  for (const TxnId t : e.transactions)
    out += fmt::format("  t{} [label={}];\n", t,
                       dot_id(display_txn(h, t) + "  " + display_ops(h, t, e.operations)));
  for (const Arrow& a : e.arrows) {
    if (a.refuted) continue;  // a figure states what holds
    std::string label(edge_kind_name(a.kind));
    if (a.key != kNone) label += "(" + display_key(h, a.key) + ")";
    out += fmt::format("  t{} -> t{} [label={}{}];\n", a.from, a.to, dot_id(label),
                       a.in_cycle ? ", penwidth=2" : ", style=dashed");
  }
  return out + "}\n";
}

class DotReport : public ReportWriter {
 public:
  std::string section(const Audit& c) override {
    std::string out;
    for (const Explanation& e : c.explanations) out += graph(c, e, ++graphs_);
    return out;
  }
  std::string end() override { return graphs_ == 0 ? "// no anomaly was found\n" : ""; }

 private:
  size_t graphs_ = 0;
};

}  // namespace

std::unique_ptr<ReportWriter> start_dot(const ReportOptions&) {
  return std::make_unique<DotReport>();
}

}  // namespace assay::internal
