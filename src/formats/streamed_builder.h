// A HistoryBuilder for readers that parse one record after another: parsed records are looked up
// batch by batch, on another thread if allowed, while the reader continues. The history is the same
// for every number of threads.
//
// Cost: texts are copied once into the batch; a few batches are held at a time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "base/parallel.h"

namespace assay::internal::formats {

// A member with the name of a member of HistoryBuilder does the same; views passed to it need to
// live only until it returns.
class StreamedBuilder {
 public:
  // `budget` may be null; it must outlive the builder, and is used only by the calling thread.
  explicit StreamedBuilder(Budget* budget = nullptr, unsigned threads = 1);
  StreamedBuilder(const StreamedBuilder&) = delete;
  StreamedBuilder& operator=(const StreamedBuilder&) = delete;
  ~StreamedBuilder();

  void set_initial(ValueView v) { built_so_far().set_initial(v); }
  void set_initial(ValueView key, ValueView value, uint64_t line) {
    built_so_far().set_initial(key, value, line);
  }
  void set_meta(std::string json) { built_so_far().set_meta(std::move(json)); }
  void set_absent_is_never_written() { built_so_far().set_absent_is_never_written(); }
  void take_null_for_empty_lists() { built_so_far().take_null_for_empty_lists(); }

  void begin_txn(const TxnHeader& header);
  bool add(const Op& op) {
    Op own = op;
    own.key = kept(op.key);
    own.value = kept(op.value);
    return own.is_plain() ? batch_->add(own) : add_extra(own);
  }
  const Error& fault() const { return batch_->fault(); }
  size_t savepoint() const { return batch_->savepoint(); }
  Status roll_back_to(size_t savepoint) { return batch_->roll_back_to(savepoint); }
  // These functions throw what looking up threw, and fail if the budget ran out while earlier
  // records were looked up; end_txn fails on limits, too.
  Status end_txn();
  Status known_order(ValueView key, std::span<const StatedVersion> entries, uint64_t line);
  Status event(int64_t at, std::string json, bool complete = false);
  Result<History> finish() &&;

 private:
  ValueView kept(ValueView v) {
    ++values_;
    if (v.has_text()) v.text = keep(v.text);
    return v;
  }
  std::string_view keep(std::string_view text) {
    text_bytes_ += text.size();
    return batch_->keep(text);
  }
  bool add_extra(Op& own);
  std::span<const Op::Row> kept(std::span<const Op::Row> rows, std::vector<Op::Row>& to);
  // The builder, once everything that was handed over has been looked up.
  HistoryBuilder& built_so_far();
  Status hand_over_if_full();
  Status hand_over();
  Status add_here();
  void look_up();
  Status outcome();

  Budget* budget_;
  Budget own_budget_;  // for the look-ups
  const bool threaded_;
  HistoryBuilder history_;
  std::vector<TxnBatch> batches_;       // used as a ring
  TxnBatch* batch_;                     // the batch that is being filled
  size_t values_ = 0;                   // number of values in it
  size_t text_bytes_ = 0;               // bytes of text in it
  std::vector<Op::Row> rows_, passed_;  // scratch
  std::vector<ValueView> elements_;     // scratch

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  size_t filled_ = 0;     // number of batches that were handed over; only the reader writes it
  size_t looked_up_ = 0;  // number of these that have been looked up
  Status failed_ = Ok{};
  FirstException thrown_;
  bool ended_ = false;
  std::jthread thread_;  // comes last, so that it ends before the members that it uses
};

}  // namespace assay::internal::formats
