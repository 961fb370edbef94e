#include "record/history_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/temporary_file.h"
#include "formats/assay_jsonl_line.h"
#include "formats/output.h"

namespace assay::internal::record {
namespace {

using collect::schedule::RowOperation;
using collect::schedule::RowOps;
using collect::schedule::RowTxn;

constexpr size_t kCopiedAtOnce = 1 << 20;

}  // namespace

Result<std::unique_ptr<HistoryFile>> HistoryFile::open(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Result<FileDescriptor> beside = temporary_file(folder.empty() ? "." : folder);
  // Beside a pipe no file can be made.
  Result<FileDescriptor> file =
      beside.ok() ? std::move(beside) : temporary_file(temporary_folder());
  if (!file.ok()) return file.error();
  FILE* const lines = fdopen(file->get(), "w+");
  if (lines == nullptr) return io_error(strerror(errno), path);
  file->release();
  return std::unique_ptr<HistoryFile>(new HistoryFile(path, lines));
}

Error HistoryFile::failure() const {
  return io_error(fmt::format("cannot write: {}", strerror(failed_)), path_);
}

void HistoryFile::end_line() {
  line_ += '\n';
  if (std::fwrite(line_.data(), 1, line_.size(), lines_.get()) != line_.size() && failed_ == 0)
    failed_ = errno;
  line_.clear();
}

void HistoryFile::initial(const std::string& key, const std::string& row) {
  facts_.has_initial = facts_.has_rows = true;
  line_ += "{\"key\":";
  formats::append_value(line_, ValueView::of(std::string_view(key)));
  line_ += ",\"initial\":";
  formats::append_value(line_, ValueView::row(row));
  line_ += '}';
  end_line();
}

Status HistoryFile::add(const RowTxn& txn) {
  const RowOps ops(txn);
  std::vector<Interval> times;
  formats::append_txn_head(line_, {.session = ValueView::of(std::string_view(txn.session)),
                                   .name = txn.name,
                                   .status = txn.status,
                                   .begin = txn.begin,
                                   .end = txn.end});
  std::string_view before;
  for (const Op& op : ops.ops()) {
    line_ += std::exchange(before, ",");
    formats::append_op(line_, op);
    times.push_back(op.time);
  }
  line_ += ']';
  formats::append_op_times(line_, times);
  if (!txn.meta.empty()) (line_ += ",\"meta\":") += txn.meta;
  line_ += '}';
  for (const RowOperation& op : txn.ops) {
    facts_.has_rows = facts_.has_rows || !op.row.empty();
    facts_.has_sources = facts_.has_sources || op.stated;
    facts_.has_conditions = facts_.has_conditions || !op.where.empty();
  }
  end_line();
  return failed_ == 0 ? Status(Ok{}) : failure();
}

void HistoryFile::order(const std::string& key, const std::vector<Version>& versions) {
  facts_.names_versions = true;
  collect::OrderRecord record{Value::of(key), {}};
  for (const Version& v : versions)
    record.entries.push_back({.value = {}, .txn = v.txn, .last = !v.removed});
  collect::append_order_line(line_, record);
  line_.pop_back();
  end_line();
}

void HistoryFile::complete(int64_t at, const std::string& source) {
  line_ += completion(at, source);
  end_line();
}

Status HistoryFile::finish() {
  if (std::fflush(lines_.get()) != 0 && failed_ == 0) failed_ = errno;
  if (failed_ != 0) return failure();
  auto out = formats::Output::open(path_);
  if (!out.ok()) return out.error();
  std::string bytes;
  collect::append_header_line(bytes, meta_, facts_);
  std::rewind(lines_.get());
  do {
    out->write(bytes);
    bytes.resize(kCopiedAtOnce);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), lines_.get()));
  } while (!bytes.empty());
  if (std::ferror(lines_.get()) != 0) return io_error("cannot read what was written", path_);
  return out->close();
}

Result<Joined> join_to_file(formats::Input& trace, const std::string& path,
                            JoinListener* listener) {
  auto file = HistoryFile::open(path);
  if (!file.ok()) return file.error();
  auto joined = join(trace, **file, listener);
  if (!joined.ok()) return joined;
  if (Status s = (*file)->finish(); !s.ok()) return s.error();
  return joined;
}

}  // namespace assay::internal::record
