#include <array>

#include "report/report.h"

namespace assay::internal {
namespace {

constexpr std::array kReports = {
    ReportInfo{"text", ".txt", "for reading", start_text},
    ReportInfo{"json", ".json", "one line of JSON per file", start_json},
    ReportInfo{"html", ".html", "one self-contained page with figures", start_html},
    ReportInfo{"junit", ".xml", "JUnit XML, one test case per level", start_junit},
    ReportInfo{"markdown", ".md", "for the comment on a change", start_markdown},
    ReportInfo{"sarif", ".sarif", "SARIF 2.1.0, one result per violation", start_sarif},
    ReportInfo{"github", ".github", "::error lines for a job of GitHub", start_github},
    ReportInfo{"steps", ".steps.dot",
               "Graphviz, four drawings per anomaly, from the cycle to what explains it",
               start_steps},
    ReportInfo{"dot", ".dot", "Graphviz, one graph per anomaly", start_dot},
    ReportInfo{"svg", ".svg", "a picture of the first violation", start_picture},
};

}  // namespace

std::span<const ReportInfo> all_reports() { return kReports; }

const ReportInfo* find_report(std::string_view name) {
  for (const ReportInfo& r : kReports)
    if (r.name == name) return &r;
  return nullptr;
}

const ReportInfo* find_report_for(std::string_view path) {
  for (const ReportInfo& r : kReports)
    if (path.ends_with(r.ending)) return &r;
  return nullptr;
}

std::string whole_report(std::unique_ptr<ReportWriter> report, std::span<const Audit> files) {
  std::string out;
  for (const Audit& c : files) out += report->add(c);
  return out + report->finish();
}

}  // namespace assay::internal
