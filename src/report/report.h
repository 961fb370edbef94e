// Reports: what a check found, in the form somebody wants it. A report is one file and one line in
// registry.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "assay/history.h"
#include "assay/result.h"
#include "explain/explanation.h"

namespace assay {

// One file, checked. Verdicts whose certificate the verifier refused have already become unknown.
struct Checked {
  std::string file;
  std::optional<Error> error;  // the file could not be read; nothing below is set
  std::string format;
  std::vector<std::string> notes;  // what the reader tolerated
  History history;
  uint64_t observations = 0;  // of committed transactions, of what others could have written
  CheckResult result;
  std::vector<Explanation> explanations;
  std::vector<LevelId> requested;  // --level; empty: all, and none of them is required
  std::string certificate_file;    // where the certificates were written; may be empty
  std::vector<StageTime> stages;   // read, check, verify, explain
};

struct ReportOptions {
  bool colour = false;  // text only
};

// A report on the way: files are added as they are checked, so that no history need be kept.
class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  // What to write next, and what at the end.
  virtual std::string add(const Checked& file) = 0;
  virtual std::string finish() = 0;
};

struct ReportInfo {
  std::string_view name;    // "html"
  std::string_view ending;  // ".html": of the files that hold it
  std::string_view summary;
  std::unique_ptr<ReportWriter> (*start)(const ReportOptions&);
};

std::span<const ReportInfo> all_reports();
const ReportInfo* find_report(std::string_view name);
// By the ending of a file's name.
const ReportInfo* find_report_for(std::string_view path);

// The reports themselves.
std::unique_ptr<ReportWriter> start_text(const ReportOptions&);
std::unique_ptr<ReportWriter> start_json(const ReportOptions&);  // one line per file
std::unique_ptr<ReportWriter> start_junit(const ReportOptions&);
std::unique_ptr<ReportWriter> start_dot(const ReportOptions&);
std::unique_ptr<ReportWriter> start_html(const ReportOptions&);

// The same of files that are all checked.
std::string text_report(std::span<const Checked>, const ReportOptions&);
std::string json_report(std::span<const Checked>, const ReportOptions&);
std::string junit_report(std::span<const Checked>, const ReportOptions&);
std::string dot_report(std::span<const Checked>, const ReportOptions&);
std::string html_report(std::span<const Checked>, const ReportOptions&);

}  // namespace assay
