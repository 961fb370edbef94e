// The reports of --report, written file by file as histories are checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/result.h"
#include "base/whole_file.h"
#include "report/report.h"

namespace assay::internal::cli {

class ReportFiles {
 public:
  // The files appear, or replace existing ones, at close().
  explicit ReportFiles(const std::vector<std::string>& paths);
  Status add(const Audit& c);
  Status close();

 private:
  struct Report {
    WholeFile file;
    std::unique_ptr<ReportWriter> writer;
  };

  std::vector<Report> reports_;
};

}  // namespace assay::internal::cli
