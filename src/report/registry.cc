#include <array>

#include "report/report.h"

namespace assay {
namespace {

constexpr std::array kReports = {
    ReportInfo{"text", ".txt", "for reading", text_report},
    ReportInfo{"json", ".json", "one line of JSON per file", json_report},
    ReportInfo{"html", ".html", "one self-contained page with figures", html_report},
    ReportInfo{"junit", ".xml", "JUnit XML, one test case per level", junit_report},
    ReportInfo{"dot", ".dot", "Graphviz, one graph per anomaly", dot_report},
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

}  // namespace assay
