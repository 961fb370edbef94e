// Random histories as the lines that a watcher reads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "assay/format.h"
#include "base/rng.h"
#include "formats/assay_jsonl_chunks.h"
#include "formats/input.h"
#include "history/copy.h"
#include "oracle/random_draft.h"
#include "watch/watcher.h"

namespace assay::internal::watch {

struct WatchCase {
  LevelId level = LevelId::strict_serializable;
  bool repeated = false;   // values
  bool late = false;       // lines come later than is stated
  bool forgetful = false;  // little is kept
};

inline bool can_be_watched(const History& h, LevelId level) {
  for (OpId i = 0; i < h.op_count(); ++i)
    if (h.op(i).kind == OpKind::range || h.op(i).kind == OpKind::append ||
        h.op(i).kind == OpKind::read_list)
      return false;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (level_info(level).single_operations && h.end_op(t) - h.first_op(t) != 1) return false;
  return h.fully_timed() && h.known_orders().empty() && !h.states_sources();
}

inline int64_t reported_at(const History& h, TxnId t) {
  const Interval begin = h.begin_time(t), end = h.end_time(t);
  if (end.known() && end.response != Interval::kOpen) return end.response;
  return begin.known() ? begin.request : 0;
}

// The lines as they are written: by the time of their ends, those of a session in its order.
inline std::vector<TxnId> as_reported(const History& h, Rng& rng, int64_t jitter) {
  std::vector<int64_t> at(h.txn_count());
  for (SessionId s = 0; s < h.session_count(); ++s) {
    int64_t before = Interval::kUnknown;
    for (const TxnId t : h.session_txns(s))
      before = at[t] =
          std::max(before, reported_at(h, t) + static_cast<int64_t>(rng.below(jitter + 1)));
  }
  std::vector<TxnId> order(h.txn_count());
  std::iota(order.begin(), order.end(), TxnId{0});
  std::ranges::stable_sort(order, {}, [&](TxnId t) { return at[t]; });
  return order;
}

// How long after its begin the slowest transaction is reported.
inline int64_t slowest(const History& h, const std::vector<TxnId>& order) {
  int64_t now = Interval::kUnknown, most = 0;
  for (const TxnId t : order) {
    const Interval begin = h.begin_time(t);
    now = std::max(now, reported_at(h, t));
    if (begin.known()) most = std::max(most, now - begin.request);
  }
  // One that begins before all that was reported.
  return most + 1;
}

// Whether nothing of a session begins before the transaction before it has ended.
inline bool one_after_the_other(const History& h) {
  for (SessionId s = 0; s < h.session_count(); ++s) {
    int64_t ended = Interval::kUnknown;
    for (const TxnId t : h.session_txns(s)) {
      if (!h.begin_time(t).known() || h.begin_time(t).request < ended) return false;
      ended = std::max(ended, reported_at(h, t));
    }
  }
  return true;
}

// The lines, a few at a time, each time as a piece.
class Pieces {
 public:
  Pieces(const History& h, const std::vector<TxnId>& order)
      : text_(written(h, order)), input_(*formats::Input::memory(text_, "test", nullptr)) {}

  explicit Pieces(std::string text)
      : text_(std::move(text)), input_(*formats::Input::memory(text_, "test", nullptr)) {}

  // Null at the end.
  std::shared_ptr<const History> next(size_t lines) {
    if (ended_) return nullptr;
    auto chunk = chunks_.next(lines);
    EXPECT_TRUE(chunk.ok()) << chunk.error().to_string() << text_;
    if (!chunk.ok()) return nullptr;
    ended_ = chunk->end;
    return std::make_shared<const History>(std::move(chunk->history));
  }

  const std::string& text() const { return text_; }

 private:
  static std::string written(const History& h, const std::vector<TxnId>& order) {
    HistoryBuilder all;
    TxnCopier copier(all);
    all.set_initial(h.initial());
    if (h.absent_is_never_written()) all.set_absent_is_never_written();
    for (const TxnId t : order) {
      copier.begin(h, t);
      for (OpId op = h.first_op(t); op < h.end_op(t); ++op) copier.operation(h, op);
      EXPECT_TRUE(all.end_txn().ok());
    }
    std::string text;
    EXPECT_TRUE(write_history_text(*std::move(all).finish(), "assay", text).ok());
    return text;
  }

  std::string text_;
  formats::Input input_;
  std::vector<ReadNote> notes_;
  formats::JsonlChunks chunks_{input_, notes_};
  bool ended_ = false;
};

inline WatchOptions watch_options(const History& h, const std::vector<TxnId>& order,
                                  const WatchCase& c, Rng& rng) {
  WatchOptions options;
  options.level = c.level;
  options.lateness = slowest(h, order);
  if (c.late) options.lateness = options.lateness / 2 + 1;
  if (rng.below(2) == 0 && (c.late || one_after_the_other(h))) options.sessions = h.session_count();
  options.settle = c.repeated || rng.below(2) == 0 ? int64_t{1} << 60 : 50;
  options.window = 1 + rng.below(4);
  options.keep = c.forgetful ? rng.below(4) : 4096;
  return options;
}

inline RandomShape watched_shape(double duplicates, double rich) {
  RandomShape s;
  s.max_txns = 12;
  s.timed = 1;
  s.drifting = 0;
  s.duplicates = duplicates;
  s.rich = rich;
  s.single_op = 0;
  s.unknown = 0.3;
  return s;
}

}  // namespace assay::internal::watch
