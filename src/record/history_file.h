// The history of a recording as a file, whose lines are written while the trace is joined.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "assay/result.h"
#include "collect/lines.h"
#include "collect/schedule/row_history.h"
#include "formats/input.h"
#include "record/join.h"

namespace assay::internal::record {

// The first line depends on all others, so these wait in a temporary file (base/temporary_file.h).
class HistoryFile : public collect::schedule::RowSink {
 public:
  static Result<std::unique_ptr<HistoryFile>> open(const std::string& path);

  void initial(const std::string& key, const std::string& row) override;
  Status add(const collect::schedule::RowTxn& txn) override;
  void order(const std::string& key, const std::vector<Version>& versions) override;
  void complete(int64_t at, const std::string& source) override;
  void set_meta(const std::string& meta) override { meta_ = meta; }
  // The file is there once this has succeeded.
  Status finish();

 private:
  struct CloseFile {
    void operator()(FILE* f) const { std::fclose(f); }
  };
  HistoryFile(std::string path, FILE* lines) : path_(std::move(path)), lines_(lines) {}
  void end_line();
  Error failure() const;

  std::string path_, meta_, line_;
  std::unique_ptr<FILE, CloseFile> lines_;
  collect::HistoryFacts facts_;
  int failed_ = 0;  // errno
};

// Joins a trace, and writes its history.
Result<Joined> join_to_file(formats::Input& trace, const std::string& path,
                            JoinListener* listener = nullptr);

}  // namespace assay::internal::record
