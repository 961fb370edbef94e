// Reports: what a check found, in one of several forms. A report is one file and one line in
// registry.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/audit.h"
#include "base/printable.h"

namespace assay::internal {

struct ReportOptions {
  // Only for the text report.
  bool colour = false;
  size_t width = 80;  // columns; a text without blanks may be longer
};

// A report in progress: files are added as they are checked, so no history need be kept. A report
// in any form is printable (base/printable.h); a form with colours or scripts must itself ensure
// that for text from elsewhere.
class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  // What to write next, and what to write at the end.
  std::string add(const Audit& file) { return shown(section(file)); }
  std::string finish() { return shown(end()); }

 protected:
  explicit ReportWriter(bool sees_to_it = false) : sees_to_it_(sees_to_it) {}

 private:
  virtual std::string section(const Audit& file) = 0;
  virtual std::string end() = 0;
  std::string shown(std::string text) const {
    return sees_to_it_ ? std::move(text) : printable_lines(text);
  }

  bool sees_to_it_;
};

struct ReportInfo {
  std::string_view name;    // "html"
  std::string_view ending;  // ".html": ending of the files' names
  std::string_view summary;
  std::unique_ptr<ReportWriter> (*start)(const ReportOptions&);
};

std::span<const ReportInfo> all_reports();
const ReportInfo* find_report(std::string_view name);
// Finds the report by the ending of a file's name.
const ReportInfo* find_report_for(std::string_view path);

// The reports themselves.
std::unique_ptr<ReportWriter> start_text(const ReportOptions&);
std::unique_ptr<ReportWriter> start_json(const ReportOptions&);  // one line per file
std::unique_ptr<ReportWriter> start_junit(const ReportOptions&);
std::unique_ptr<ReportWriter> start_dot(const ReportOptions&);
std::unique_ptr<ReportWriter> start_steps(const ReportOptions&);
std::unique_ptr<ReportWriter> start_html(const ReportOptions&);
std::unique_ptr<ReportWriter> start_markdown(const ReportOptions&);
std::unique_ptr<ReportWriter> start_sarif(const ReportOptions&);
std::unique_ptr<ReportWriter> start_picture(const ReportOptions&);
std::unique_ptr<ReportWriter> start_github(const ReportOptions&);

// Returns the whole report about files that are all checked.
std::string whole_report(std::unique_ptr<ReportWriter> report, std::span<const Audit> files);

}  // namespace assay::internal
