#include "cli/report_files.h"

namespace assay::internal::cli {

ReportFiles::ReportFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    reports_.push_back({WholeFile(path), find_report_for(path)->start({})});
}

Status ReportFiles::add(const Audit& c) {
  for (Report& r : reports_)
    if (Status s = r.file.write(r.writer->add(c)); !s.ok()) return s;
  return Ok{};
}

Status ReportFiles::close() {
  for (Report& r : reports_) {
    if (Status s = r.file.write(r.writer->finish()); !s.ok()) return s;
    if (Status s = r.file.close(); !s.ok()) return s;
  }
  return Ok{};
}

}  // namespace assay::internal::cli
