// A HistoryBuilder for readers that parse one record after the other: what was parsed is looked up batch by batch, on another
// thread where there may be one, while the reader goes on. The history is the same for every number of threads.
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

// Members are as in HistoryBuilder where they have its names; views need to live until they return.
class StreamedBuilder {
 public:
  using Row = std::pair<ValueView, ValueView>;  // key and value

  // `budget` may be null; it must outlive the builder, and is looked at by the calling thread alone.
  explicit StreamedBuilder(Budget* budget = nullptr, unsigned threads = 1);
  StreamedBuilder(const StreamedBuilder&) = delete;
  StreamedBuilder& operator=(const StreamedBuilder&) = delete;
  ~StreamedBuilder();

  void set_initial(ValueView v) { settled().set_initial(v); }
  void set_initial(ValueView key, ValueView value, uint64_t line) {
    settled().set_initial(key, value, line);
  }
  void set_meta(std::string json) { settled().set_meta(std::move(json)); }
  void set_absent_is_never_written() { settled().set_absent_is_never_written(); }
  void take_null_for_empty_lists() { settled().take_null_for_empty_lists(); }

  void begin_txn(const TxnHeader& header);
  void read(ValueView key, ValueView value) { batch_->read(kept(key), kept(value)); }
  void read_from(ValueView key, ValueView value, std::string_view source) {
    batch_->read_from(kept(key), kept(value), source);
  }
  void write(ValueView key, ValueView value) { batch_->write(kept(key), kept(value)); }
  void remove(ValueView key, ValueView tombstone) { batch_->remove(kept(key), kept(tombstone)); }
  void append(ValueView key, ValueView element) { batch_->append(kept(key), kept(element)); }
  void read_list(ValueView key, std::span<const ValueView> elements);
  void range(ValueView lo, ValueView hi, std::span<const Row> found);
  Status select(const Selection& selection);
  Status aggregate(const Aggregation& aggregation);
  void cas(ValueView key, ValueView expected, ValueView value, bool effect) {
    batch_->cas(kept(key), kept(expected), kept(value), effect);
  }
  void insert(ValueView key, ValueView value, bool effect) {
    batch_->insert(kept(key), kept(value), effect);
  }
  // These throw what looking up threw, and fail where the budget ran out while earlier ones were looked up; end_txn fails on
  // limits, too.
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
  std::span<const Row> kept(std::span<const Row> rows, std::vector<Row>& to);
  // Once everything that was handed over is looked up.
  HistoryBuilder& settled();
  Status hand_over_if_full();
  Status hand_over();
  Status add_here();
  void look_up();
  Status outcome();

  Budget* budget_;
  Budget own_budget_;  // of the look-ups
  const bool threaded_;
  HistoryBuilder history_;
  std::vector<TxnBatch> batches_;    // a ring
  TxnBatch* batch_;                  // taken down
  size_t values_ = 0;                // in it
  size_t text_bytes_ = 0;            // in it
  std::vector<Row> rows_, passed_;   // scratch
  std::vector<ValueView> elements_;  // scratch

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  size_t filled_ = 0;     // batches that were handed over; the reader alone writes it
  size_t looked_up_ = 0;  // batches of these
  Status failed_ = Ok{};
  FirstException thrown_;
  bool ended_ = false;
  std::jthread thread_;  // last, so that it ends before what it uses
};

}  // namespace assay::internal::formats
