// One session becomes one process. If every transaction that matters has a begin and an end,
// invocations and completions are merged by time; otherwise there are completions only, because the
// order of the records would claim times that were never measured.
//
// A reader of a Jepsen history takes the operations in the order of their completions. To preserve
// the history, completions keep the order of the transactions wherever that does not contradict the
// clock, as in histories written session by session.
#include "formats/jepsen_write.h"

#include <algorithm>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "formats/json_text.h"

namespace assay::internal::formats {
namespace {

class JepsenWriter {
 public:
  JepsenWriter(const History& history, bool json, Output& out, Losses& losses)
      : h_(history), json_(json), out_(out), losses_(losses) {}

  void run() {
    count_losses();
    losses_.keep(0);
    out_.write(json_ ? "[" : "");
    if (has_times())
      write_by_time();
    else
      for (TxnId t = 0; t < h_.txn_count(); ++t) write_record(t, true, Interval::kUnknown);
    out_.write(json_ ? "\n]\n" : "");
    if (!json_ && first_) out_.write("; no operations\n");
  }

 private:
  // Whether every transaction began at a known time, and every one of known outcome ended at a
  // known time.
  bool has_times() const {
    bool timed = h_.txn_count() > 0;
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      timed = timed && h_.begin_time(t).known() &&
              (h_.end_time(t).known() || h_.status(t) == TxnStatus::unknown);
    return timed;
  }

  // The time at which each transaction completes. An unknown outcome completes as soon as the
  // transactions before it have completed, but before its process goes on.
  std::vector<int64_t> completion_times() const {
    std::vector<int64_t> due(h_.txn_count());
    int64_t latest = INT64_MIN;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) == TxnStatus::unknown) {
        const auto session = h_.session_txns(h_.session(t));
        const uint32_t next = h_.position(t) + 1;
        due[t] = std::max(latest, begin(t));
        if (next < session.size()) due[t] = std::min(due[t], begin(session[next]));
      } else {
        due[t] = h_.end_time(t).response;
      }
      latest = std::max(latest, due[t]);
    }
    return due;
  }

  void write_by_time() {
    using Due = std::tuple<int64_t, bool, TxnId>;  // time, whether it is a completion
    const std::vector<int64_t> completes = completion_times();
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
    for (SessionId s = 0; s < h_.session_count(); ++s) {
      const TxnId first = h_.session_txns(s)[0];
      due.emplace(begin(first), false, first);
    }
    while (!due.empty()) {
      const auto [time, completion, t] = due.top();
      due.pop();
      const bool unknown_end = completion && h_.status(t) == TxnStatus::unknown;
      write_record(t, completion, unknown_end ? Interval::kUnknown : time);
      if (!completion) {
        due.emplace(completes[t], true, t);
        continue;
      }
      const auto session = h_.session_txns(h_.session(t));
      const uint32_t next = h_.position(t) + 1;
      if (next < session.size()) due.emplace(begin(session[next]), false, session[next]);
    }
  }
  int64_t begin(TxnId t) const { return h_.begin_time(t).request; }

  void name(std::string_view n) {
    if (json_)
      (line_ += '"').append(n) += "\":";
    else
      (line_ += ':').append(n) += ' ';
  }
  void word(std::string_view w) {
    if (json_)
      (line_ += '"').append(w) += '"';
    else
      (line_ += ':').append(w);
  }
  void comma() { line_ += json_ ? "," : ", "; }
  void gap() { line_ += json_ ? ',' : ' '; }

  void write_record(TxnId t, bool completion, int64_t time) {
    constexpr std::string_view kTypes[] = {"ok", "fail", "info"};
    line_ = json_ ? (first_ ? "\n{" : ",\n{") : "{";
    first_ = false;
    name("index");
    line_ += std::to_string(index_++);
    comma();
    name("type");
    word(completion ? kTypes[static_cast<size_t>(h_.status(t))] : "invoke");
    comma();
    name("process");
    line_ += std::to_string(process(t));
    comma();
    if (time != Interval::kUnknown) {
      name("time");
      line_ += std::to_string(time);
      comma();
    }
    name("f");
    word("txn");
    comma();
    name("value");
    line_ += '[';
    const size_t start = line_.size();
    const bool seen = completion && h_.status(t) == TxnStatus::committed;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      write_op(h_.op(i), h_.operands(i), start, seen);
    line_ += json_ ? "]}" : "]}\n";
    out_.write(line_);
  }

  int64_t process(TxnId t) const {
    return integer_sessions_ ? h_.session_name(h_.session(t)).integer : int64_t{h_.session(t)};
  }

  void write_op(const Operation& op, std::span<const uint32_t> operands, size_t start, bool seen) {
    if (!op.effect || op.kind == OpKind::range) return;
    losses_.keep(1);
    if (op.kind == OpKind::cas) mop("r", op.key, operands[0], start, seen);
    if (op.kind == OpKind::insert) mop("r", op.key, kNone, start, seen);
    if (op.kind == OpKind::read_list) return list_mop(op.key, operands, start, seen);
    if (op.kind == OpKind::read) return mop("r", op.key, op.version, start, seen);
    mop(op.kind == OpKind::append ? "append" : "w", op.key, op.version, start, true);
  }
  void list_mop(KeyId key, std::span<const VersionId> elements, size_t start, bool seen) {
    mop_head("r", key, start);
    if (seen) {
      line_ += '[';
      for (size_t j = 0; j < elements.size(); ++j) {
        if (j > 0) gap();
        value(h_.version_value(elements[j]));
      }
      line_ += ']';
    } else {
      value(ValueView::null());
    }
    line_ += ']';
  }
  void mop_head(std::string_view f, KeyId key, size_t start) {
    if (line_.size() > start) gap();
    line_ += '[';
    word(f);
    gap();
    value(h_.key(key));
    gap();
  }
  void mop(std::string_view f, KeyId key, VersionId version, size_t start, bool known) {
    mop_head(f, key, start);
    const bool nil = !known || version == kNone || (f == "r" && h_.is_initial(version));
    value(nil ? ValueView::null() : h_.version_value(version));
    line_ += ']';
  }
  void value(const ValueView& v) {
    if (v.type == ValueView::Type::row) {
      losses_.add("rows of columns, written as texts");
      return value(ValueView::of(v.text));
    }
    if (v.is_null())
      line_ += json_ ? "null" : "nil";
    else
      append_json_value(line_, v);
  }

  void count_losses() {
    for (SessionId s = 0; s < h_.session_count(); ++s)
      integer_sessions_ = integer_sessions_ && h_.session_name(s).type == ValueView::Type::integer;
    if (!integer_sessions_) losses_.add("names of sessions", h_.session_count());
    losses_.add_annotations(h_);
    losses_.add_names(h_);
    if (!h_.initial().is_null() || h_.has_own_initial())
      losses_.add("the initial value, written as nil");
    const bool timed = has_times();
    for (TxnId t = 0; t < h_.txn_count(); ++t) count_txn(t, timed);
    for (OpId i = 0; i < h_.op_count(); ++i) count_op(h_.op(i));
  }
  void count_txn(TxnId t, bool timed) {
    const Interval b = h_.begin_time(t);
    const Interval e = h_.end_time(t);
    if (h_.start_ts(t) != Interval::kUnknown || h_.commit_ts(t) != Interval::kUnknown)
      losses_.add("timestamps of transactions");
    if (!timed && (b.known() || e.known())) losses_.add("times of transactions");
    const bool unknown = h_.status(t) == TxnStatus::unknown;
    if (timed && (unknown ? b.response != Interval::kOpen : b != e))
      losses_.add("intervals within which transactions began or ended");
    if (timed && unknown && e.known()) losses_.add("ends of transactions of unknown outcome");
    if (h_.status(t) == TxnStatus::committed) return;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (h_.op(i).kind == OpKind::read || h_.op(i).kind == OpKind::read_list)
        losses_.add("reads of transactions that did not commit");
  }
  void count_op(const Operation& op) {
    losses_.add_translated(op);
    if (op.kind == OpKind::read && h_.version_value(op.version).is_null() &&
        !h_.is_initial(op.version))
      losses_.add("reads of nil that is not the initial value");
  }

  const History& h_;
  bool json_;
  Output& out_;
  Losses& losses_;
  std::string line_;
  bool first_ = true;
  bool integer_sessions_ = true;
  uint64_t index_ = 0;
};

}  // namespace

void write_jepsen(const History& history, bool json, Output& out, Losses& losses) {
  JepsenWriter(history, json, out, losses).run();
}

}  // namespace assay::internal::formats
