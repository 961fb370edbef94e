// The reports that --report asks for, written file by file as histories are checked.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "assay/result.h"
#include "report/report.h"

namespace assay::cli {

class ReportFiles {
 public:
  // Creates or replaces the files.
  Status open(const std::vector<std::string>& paths);
  Status add(const Checked& c);
  Status close();

 private:
  struct CloseFile {
    void operator()(FILE* f) const { std::fclose(f); }
  };
  struct Report {
    std::string path;
    std::unique_ptr<FILE, CloseFile> file;
    std::unique_ptr<ReportWriter> writer;
  };
  static Error failure(const std::string& path);
  static Status write(Report& report, const std::string& text);

  std::vector<Report> reports_;
};

}  // namespace assay::cli
