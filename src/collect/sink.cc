#include "collect/sink.h"

#include <cassert>
#include <utility>

#include "collect/lines.h"
#include "collect/write_all.h"

namespace assay::internal::collect {
namespace {

constexpr size_t kBlock = 1 << 18;
constexpr std::string_view kComplete = R"("event":"complete")";

void add_step(HistoryBuilder& builder, const Step& step) {
  const Request& request = step.request;
  const ValueView key = request.key.view();
  const ValueView value = request.value.view();
  switch (request.kind) {
    case OpKind::read:
      builder.read(key, step.reply.value.view());
      return;
    case OpKind::write:
      builder.write(key, value);
      return;
    case OpKind::remove:
      if (step.only_saw_absence())
        builder.read(key, {});
      else
        builder.remove(key, value);
      return;
    case OpKind::append:
      builder.append(key, value);
      return;
    case OpKind::read_list: {
      std::vector<ValueView> elements;
      for (const Value& v : step.reply.list) elements.push_back(v.view());
      builder.read_list(key, elements);
      return;
    }
    case OpKind::range: {
      std::vector<std::pair<ValueView, ValueView>> found;
      for (const auto& [k, v] : step.reply.rows) found.emplace_back(k.view(), v.view());
      if (!request.selects()) return builder.range(key, request.high.view(), found);
      std::vector<ValueView> matched;
      for (const Value& k : step.reply.matched) matched.push_back(k.view());
      const std::string where = request.condition();
      if (request.aggregate) {
        const Status counted =
            builder.aggregate({key, request.high.view(), where, *request.aggregate, request.column,
                               step.reply.value.view()});
        assert(counted.ok() && "a condition that was parsed before");
        return;
      }
      const Status known = builder.select({.lo = key,
                                           .hi = request.high.view(),
                                           .where = where,
                                           .rows = found,
                                           .matched = matched,
                                           .complete = !request.found});
      assert(known.ok() && "a condition that was parsed before");
      return;
    }
    case OpKind::cas:
      builder.cas(key, request.expected.view(), value, step.reply.effect);
      return;
    case OpKind::insert:
      builder.insert(key, value, step.reply.effect);
      return;
  }
}

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
  for (const Step& step : record.steps) add_step(builder_, step);
  return builder_.end_txn();
}

Status HistorySink::event(int64_t at, std::string_view json) {
  builder_.event(at, std::string(json), json.find(kComplete) != json.npos);
  return Ok{};
}

Status HistorySink::order(const OrderRecord& record) {
  std::vector<StatedVersion> entries;
  for (const OrderRecord::Entry& e : record.entries)
    entries.push_back({.value = e.value.view(), .txn = e.txn});
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
