#include "cli/report_files.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/console.h"

namespace assay::cli {

Error ReportFiles::failure(const std::string& path) {
  return io_error(std::generic_category().message(errno), path);
}

Status ReportFiles::open(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    Report report{path, nullptr, find_report_for(path)->start({})};
    report.file.reset(std::fopen(path.c_str(), "wb"));
    if (!report.file) return failure(path);
    reports_.push_back(std::move(report));
  }
  return Ok{};
}

Status ReportFiles::add(const Checked& c) {
  for (Report& r : reports_)
    if (Status s = write(r, r.writer->add(c)); !s.ok()) return s;
  return Ok{};
}

Status ReportFiles::close() {
  for (Report& r : reports_) {
    if (Status s = write(r, r.writer->finish()); !s.ok()) return s;
    if (std::fclose(r.file.release()) != 0) return failure(r.path);
  }
  return Ok{};
}

Status ReportFiles::write(Report& report, const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), report.file.get()) != text.size())
    return failure(report.path);
  return Ok{};
}

}  // namespace assay::cli
