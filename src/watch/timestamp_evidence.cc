// The part of the history that shows the fault, made of whole writes and the one observation that
// does not fit: the writer of the right version, and the writer of the version that was read. Other
// transactions and the observations of their writes are omitted. If some of them came in between,
// the reader had to see their writes; so the part is wrong only if the whole is. The part is
// replayed by check() before it is returned.

#include "watch/timestamp_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "explain/names.h"
#include "history/copy.h"

namespace assay::internal::watch {
namespace {

using Kind = TimestampFault::Kind;

std::string stood(const TimestampVersion& v, const std::string& writer) {
  if (v.is_initial()) return "the initial state";
  return v.removed ? fmt::format("the deletion by {}", writer)
                   : fmt::format("{}, which {} left", display(v.value.view()), writer);
}

std::string sentence_of(const TimestampFault& f, const std::string& other) {
  const History& h = f.txn->history();
  const std::string name = display_txn(h, f.txn->txn);
  switch (f.kind) {
    case Kind::none:
      break;
    case Kind::operation:
      if (f.other == f.txn)
        return fmt::format("{} of {} contradicts its own write", display_op(h, f.op), name);
      return fmt::format("{} of {}, which started at {}, should have seen {}", display_op(h, f.op),
                         name, f.txn->start, stood(f.stood, other));
    case Kind::overlap:
      return fmt::format(
          "{} started at {} and wrote {}, which {} had started to write and committed "
          "only at {}",
          name, f.txn->start, key_in_words(h, f.key), other, f.other->commit);
    case Kind::session:
      return fmt::format(
          "{} started at {}, although {}, which precedes it in their session, committed only "
          "at {}",
          name, f.txn->start, other, f.other->commit);
    case Kind::real_time:
      return fmt::format(
          "{} began after {} had ended, but started at {}, before the latter committed at {}", name,
          other, f.txn->start, f.other->commit);
  }
  return {};
}

class Part {
 public:
  explicit Part(const TimestampFault& f) : f_(f), h_(f.txn->history()) {
    copy_settings(h_, builder_);
  }

  void add(const PlacedTxn& t) {
    if (t != nullptr && std::ranges::find(txns_, t) == txns_.end()) txns_.push_back(t);
  }

  // A transaction that is no longer kept, reconstructed from its version.
  void add_version(const TimestampVersion& v, const std::string& name) {
    TxnHeader header;
    header.session = ValueView::of(name);
    header.name = name;
    header.begin = Interval::point(v.begin);
    header.end = Interval::point(v.end);
    if (v.begin == Interval::kUnknown) header.begin = header.end = Interval{};
    header.start_ts = v.start;
    header.commit_ts = v.commit;
    builder_.begin_txn(header);
    const ValueView key = h_.key(f_.key);
    builder_.add(v.removed ? Op::remove(key, v.value.view()) : Op::write(key, v.value.view()));
    failed_ = failed_ || !builder_.end_txn().ok();
  }

  Result<History> finish() {
    std::ranges::sort(txns_, {}, &Placed::number);
    TxnCopier copier(builder_);
    for (const PlacedTxn& t : txns_) {
      const History& h = t->history();
      copier.begin(h, t->txn);
      for (OpId i = h.first_op(t->txn); i < h.end_op(t->txn); ++i) {
        const bool shown = t == f_.txn && i == f_.op;
        if (shown || (installs_version(h.op(i)) && observation_of(h, i).accepts == Accepts::any))
          copier.operation(h, i);
        else if (installs_version(h.op(i)))
          copier.write_alone(h, i);
      }
      if (Status s = builder_.end_txn(); !s.ok()) return s.error();
    }
    if (failed_) return bad_input("the transaction has too many operations");
    return std::move(builder_).finish();
  }

 private:
  const TimestampFault& f_;
  const History& h_;
  HistoryBuilder builder_;
  std::vector<PlacedTxn> txns_;
  bool failed_ = false;
};

// Whether the timestamps do not explain the part either.
bool shows(const History& part, LevelId level) {
  CheckOptions options;
  options.levels = {level};
  options.expected_order = ExpectedOrder{};
  options.threads = 1;
  const CheckResult result = check(part, options);
  const auto explained = [&](LevelId l) {
    return std::ranges::any_of(result.expected_order->replays, [&](const OrderReplay& r) {
      return r.level == l && r.fault == Kind::none;
    });
  };
  return result.expected_order && result.expected_order->obstacle.empty() &&
         !result.expected_order->replays.empty() && !explained(level);
}

bool saw_the_initial_state(const TimestampFault& f) {
  return fits(f.txn->history(), observation_of(f.txn->history(), f.op), KeyState{});
}

}  // namespace

Result<Unexplained> evidence_of(const TimestampFault& f, const TimestampReplay& replay,
                                LevelId level) {
  Unexplained what;
  what.fault = f.kind;
  what.transaction = f.txn->name();
  Part part(f);
  part.add(f.txn);
  part.add(f.other);
  if (f.other != nullptr) what.other = f.other->name();
  if (f.kind == Kind::operation && f.other == nullptr) {
    const PlacedTxn writer = f.stood.is_initial() ? nullptr : replay.find(f.stood.number);
    if (writer != nullptr) {
      what.other = writer->name();
      part.add(writer);
    } else if (!f.stood.is_initial()) {
      what.other = fmt::format("line {}", f.stood.line);
      part.add_version(f.stood, what.other);
    }
    if (!saw_the_initial_state(f))
      part.add(replay.writer_of(f.txn->history(), observation_of(f.txn->history(), f.op)));
  }
  what.sentence = sentence_of(f, what.other);
  Result<History> made = part.finish();
  if (!made.ok()) return made.error();
  if (shows(*made, level)) what.part = std::move(*made);
  return what;
}

}  // namespace assay::internal::watch
