#include "collect/sink.h"

#include <utility>

#include "collect/lines.h"
#include "collect/write_all.h"

namespace assay::internal::collect {
namespace {

constexpr size_t kBlock = 1 << 18;
constexpr std::string_view kComplete = R"("event":"complete")";

}  // namespace

Status HistorySink::header(std::string_view meta) {
  builder_.set_meta(std::string(meta));
  return Ok{};
}

Status HistorySink::transaction(const TxnRecord& record) {
  const std::string name = std::to_string(record.session) + "-" + std::to_string(record.number);
  const std::string meta = meta_of(record);
  builder_.begin_txn({.session = ValueView::of(int64_t{record.session}),
                      .name = name,
                      .status = record.status,
                      .pending = record.pending,
                      .begin = record.begin,
                      .end = record.end,
                      .start_ts = record.start_ts,
                      .commit_ts = record.commit_ts,
                      .level = record.level,
                      .meta = meta});
  OpBuffers buffers;
  for (const Step& step : record.steps) builder_.add(op_of(step, buffers));
  return builder_.end_txn();
}

Status HistorySink::event(int64_t at, std::string_view json) {
  builder_.event(at, std::string(json), json.find(kComplete) != json.npos);
  return Ok{};
}

Status HistorySink::order(const OrderRecord& record) {
  std::vector<StatedVersion> entries;
  for (const OrderRecord::Entry& e : record.entries)
    entries.push_back({.value = e.value.view(), .txn = e.txn, .final = e.last});
  builder_.known_order(record.key.view(), entries);
  return Ok{};
}

Result<History> HistorySink::take() { return std::exchange(builder_, {}).finish(); }

Status LineSink::header(std::string_view meta) {
  append_header_line(buffer_, meta, facts_);
  return Ok{};
}

Status LineSink::transaction(const TxnRecord& record) {
  append_record_line(buffer_, record);
  return buffer_.size() < kBlock ? Status(Ok{}) : flush();
}

Status LineSink::event(int64_t, std::string_view json) {
  append_event_line(buffer_, json);
  return Ok{};
}

Status LineSink::order(const OrderRecord& record) {
  append_order_line(buffer_, record);
  return Ok{};
}

Status LineSink::flush() {
  Status written = write_all(fd_, buffer_);
  buffer_.clear();
  return written;
}

}  // namespace assay::internal::collect
