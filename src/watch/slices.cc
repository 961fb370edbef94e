#include "watch/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "formats/assay_jsonl_chunks.h"
#include "history/accesses.h"

namespace assay::internal::watch {
namespace {

using Piece = std::shared_ptr<const History>;

// Reads ahead, on a separate thread.
class Pieces {
 public:
  Pieces(formats::Input& input, size_t lines) : input_(input), lines_(lines) {
    thread_ = std::jthread([this] { read(); });
  }
  ~Pieces() { queue_.close(); }

  // The next piece; nullopt at the end, and after an error.
  std::optional<Piece> next() { return queue_.take(); }
  // To be called when there is no next piece.
  const Status& state() const { return state_; }

 private:
  void read() {
    try {
      state_ = read_all();
    } catch (const std::bad_alloc&) {
      state_ = Error{ErrorKind::budget, "memory ran out while lines were read", {}, 0, 0};
    }
    queue_.close();
  }

  Status read_all() {
    std::vector<ReadNote> notes;
    formats::JsonlChunks chunks(input_, notes);
    for (bool end = false; !end;) {
      auto chunk = chunks.next(lines_);
      if (!chunk.ok()) return input_.located(chunk.error());
      end = chunk->end;
      if (!queue_.put(std::make_shared<const History>(std::move(chunk->history)))) break;
    }
    return Ok{};
  }

  formats::Input& input_;
  const size_t lines_;
  BoundedQueue<Piece> queue_{8};
  Status state_ = Ok{};
  std::jthread thread_;  // comes last, so that it ends before the members that it uses
};

class Slices : public WatchListener {
 public:
  Slices(formats::Input& input, const SliceOptions& options)
      : options_(options),
        budget_(options.budget),
        input_(input),
        chain_(options.watch.level, options.chain),
        watcher_(options.watch, *this) {}

  Result<Sliced> run() {
    Status s = decide_all();
    const Status verified = chain_.end();
    sliced_.segments = chain_.segments();
    if (!s.ok() && s.error().kind != ErrorKind::budget) return s.error();
    if (sliced_.out_of_order) {
      sliced_.violation.reset();
      leave_open({UnknownCause::unsupported, "the lines are not in time order"});
    } else if (sliced_.violation && s.ok()) {
      sliced_.outcome = Outcome::violated;
    } else if (!s.ok()) {
      // A violation that unread lines may explain is not yet one.
      sliced_.violation.reset();
      leave_open(what_ran_out(s.error()));
    } else if (!verified.ok()) {
      leave_open(verified.error().kind == ErrorKind::budget
                     ? what_ran_out(verified.error())
                     : Unknown{UnknownCause::internal, verified.error().message});
    } else if (sliced_.outcome == Outcome::satisfied && !chain_.is_whole()) {
      leave_open({UnknownCause::internal, "the chain leaves transactions out"});
    }
    return std::move(sliced_);
  }

  void alarm(Audit&& violation, const std::string&) override {
    if (!sliced_.violation) sliced_.violation.emplace(std::move(violation));
  }
  void undecided(const Undecided& what) override {
    leave_open({UnknownCause::ambiguous, fmt::format("{}: {}", what.about, what.reason)});
  }
  bool has_enough() const override { return sliced_.violation.has_value(); }
  void sealed(const certify::Segment& segment) override { chain_.sealed(segment); }

 private:
  // Leaves the history undecided; the first reason counts.
  void leave_open(Unknown why) {
    if (sliced_.outcome == Outcome::satisfied) sliced_.why = std::move(why);
    sliced_.outcome = Outcome::unknown;
  }
  // Returns what ran out: memory, if no limit was reached.
  Unknown what_ran_out(const Error& e) {
    if (budget_.exhausted_now()) return budget_.reason();
    return {UnknownCause::memory, e.message};
  }

  Status decide_all() {
    Pieces pieces(input_, options_.watch.window);
    while (const auto piece = pieces.next()) {
      count(**piece);
      note_late(**piece);
      sliced_.out_of_order = late_ && sliced_.violation;
      if (sliced_.out_of_order) return Ok{};
      if (sliced_.violation) continue;
      chain_.read(*piece);
      if (Status s = watcher_.add(*piece); !s.ok()) return not_decided(s.error());
      // News of a session may move the mark back, but not the decisions.
      mark_ = std::max(mark_, watcher_.progress().mark);
      if (sliced_.violation) late_ = false;
      if (late_ && (sliced_.outcome != Outcome::satisfied || is_far_behind())) {
        sliced_.out_of_order = true;
        return Ok{};
      }
      if (Status s = chain_.state(); !s.ok()) return Ok{};
      if (budget_.exhausted_now()) return formats::budget_error(budget_);
      if (options_.progress) options_.progress(watcher_.progress());
    }
    sliced_.out_of_order = late_ && sliced_.violation;
    if (sliced_.out_of_order) return Ok{};
    if (Status s = pieces.state(); !s.ok()) return s;
    if (sliced_.violation) return Ok{};
    Status finished = watcher_.finish();
    sliced_.out_of_order = late_ && sliced_.outcome != Outcome::satisfied;
    return finished;
  }

  // Whether more waits for late lines than is ever kept for others.
  bool is_far_behind() {
    return watcher_.progress().buffered > options_.watch.window + options_.watch.keep;
  }

  // Notes that lines are late; never true for sorted lines.
  void note_late(const History& h) {
    if (options_.watch.by_begin) return;
    for (TxnId t = 0; t < h.txn_count() && !late_; ++t)
      late_ = h.begin_time(t).known() && h.begin_time(t).request < mark_;
  }

  // The history has parts that cannot be decided in this way.
  Status not_decided(const Error& e) {
    leave_open({UnknownCause::unsupported, input_.located(e).to_string()});
    return Ok{};
  }

  void count(const History& h) {
    sliced_.transactions += h.txn_count();
    sliced_.operations += h.op_count();
    for (TxnId t = 0; t < h.txn_count(); ++t) {
      sliced_.committed += h.status(t) == TxnStatus::committed;
      sliced_.aborted += h.status(t) == TxnStatus::aborted;
      sliced_.unknown += h.status(t) == TxnStatus::unknown;
    }
    for (OpId i = 0; i < h.op_count(); ++i)
      sliced_.observations += observation_of(h, i).accepts != Accepts::any;
  }

  const SliceOptions& options_;
  Budget budget_;
  int64_t mark_ = Interval::kUnknown;  // no transaction still to be read should begin before this
  bool late_ = false;                  // whether one does; after a violation: one that was read
                                       // since
  formats::Input& input_;
  Sliced sliced_;
  VerifiedChain chain_;
  Watcher watcher_;
};

}  // namespace

Result<Sliced> decide_in_slices(formats::Input& input, const SliceOptions& options) {
  return Slices(input, options).run();
}

}  // namespace assay::internal::watch
