#include "formats/streamed_builder.h"

namespace assay::internal::formats {
namespace {

// A batch with this many values is handed over: enough that handing it over costs nothing, few
// enough for the caches.
constexpr size_t kValuesOfBatch = size_t{1} << 14;
constexpr size_t kTextOfBatch = size_t{1} << 18;

constexpr size_t kBatchesAhead = 4;  // how many batches the reader may be ahead

}  // namespace

StreamedBuilder::StreamedBuilder(Budget* budget, unsigned threads)
    : budget_(budget), threaded_(threads > 1), batches_(threads > 1 ? kBatchesAhead : 1) {
  batch_ = &batches_[0];
  if (budget == nullptr) return;
  own_budget_ = *budget;
  history_.limit(&own_budget_);
}

StreamedBuilder::~StreamedBuilder() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void StreamedBuilder::begin_txn(const TxnHeader& header) {
  TxnHeader own = header;
  own.session = kept(header.session);
  for (std::string_view* text : {&own.name, &own.snapshot, &own.meta}) *text = keep(*text);
  batch_->begin_txn(own);
}

// Conditions and names of sources are copied by the batch.
bool StreamedBuilder::add_extra(Op& own) {
  if (own.kind == OpKind::cas) own.expected = kept(own.expected);
  elements_.clear();
  for (const ValueView& element : own.list) elements_.push_back(kept(element));
  own.list = elements_;
  own.rows = kept(own.rows, rows_);
  own.passed = kept(own.passed, passed_);
  return batch_->add(own);
}

std::span<const Op::Row> StreamedBuilder::kept(std::span<const Op::Row> rows,
                                               std::vector<Op::Row>& to) {
  to.clear();
  for (const auto& [key, value] : rows) to.emplace_back(kept(key), kept(value));
  return to;
}

Status StreamedBuilder::end_txn() {
  if (Status s = batch_->end_txn(); !s.ok()) return s;
  return hand_over_if_full();
}

Status StreamedBuilder::known_order(ValueView key, std::span<const StatedVersion> entries,
                                    uint64_t line) {
  std::vector<StatedVersion> own(entries.begin(), entries.end());
  for (StatedVersion& entry : own) {
    entry.value = kept(entry.value);
    entry.txn = keep(entry.txn);
  }
  batch_->known_order(kept(key), own, line);
  return hand_over_if_full();
}

Status StreamedBuilder::event(int64_t at, std::string json, bool complete) {
  text_bytes_ += json.size();
  batch_->event(at, std::move(json), complete);
  return hand_over_if_full();
}

Status StreamedBuilder::hand_over_if_full() {
  return values_ >= kValuesOfBatch || text_bytes_ >= kTextOfBatch ? hand_over() : Ok{};
}

HistoryBuilder& StreamedBuilder::built_so_far() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return looked_up_ == filled_; });
  return history_;
}

Status StreamedBuilder::add_here() {
  failed_ = history_.add(*batch_);
  batch_->clear();
  return outcome();
}

Status StreamedBuilder::hand_over() {
  values_ = text_bytes_ = 0;
  if (!threaded_) return add_here();
  std::unique_lock lock(mutex_);
  ++filled_;
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::jthread([this] { look_up(); });
  changed_.wait(lock, [&] { return filled_ - looked_up_ < kBatchesAhead; });
  batch_ = &batches_[filled_ % kBatchesAhead];
  return outcome();
}

// The outcome of the look-ups so far. An exhausted budget is copied to the reader's budget, which
// the caller asks later.
Status StreamedBuilder::outcome() {
  thrown_.rethrow();
  if (!failed_.ok() && own_budget_.cause()) *budget_ = own_budget_;
  return failed_;
}

void StreamedBuilder::look_up() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ended_ || looked_up_ < filled_; });
    if (ended_) return;
    TxnBatch& batch = batches_[looked_up_ % kBatchesAhead];
    if (failed_.ok()) {
      lock.unlock();
      Status added = Error{ErrorKind::budget, "memory ran out", {}, 0, 0};  // used if it throws
      thrown_.guard([&] { added = history_.add(batch); });
      lock.lock();
      failed_ = std::move(added);
    }
    batch.clear();
    ++looked_up_;
    changed_.notify_all();
  }
}

Result<History> StreamedBuilder::finish() && {
  HistoryBuilder& history = built_so_far();
  if (Status s = outcome(); !s.ok()) return s.error();
  if (Status s = add_here(); !s.ok()) return s.error();
  history.limit(budget_);
  return std::move(history).finish();
}

}  // namespace assay::internal::formats
