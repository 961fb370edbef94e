// Each transaction T becomes two transactions in the same session: R(T) with its reads, then W(T)
// with its writes. The result is serializable with sessions in order iff the history is prefix
// consistent: W(T) may come later than R(T), with others in between.
//
//   s1: { r(x,0) w(x,1) }          s1: { r(x,0) } { w(x,1) }
//   s2: { r(x,0) w(x,2) }          s2: { r(x,0) } { w(x,2) }      serializable: R1 R2 W1 W2
//
// Snapshot isolation also forbids that two writers of a key overlap. For each such pair T and U
// there are two more keys; one is written by R(T) and W(U) and read by W(T), which reads what R(T)
// wrote, so W(U) is not between them. The other is the same with T and U exchanged.
//
//   s1: { r(x,0) w(a,"begin") } { r(a,"begin") w(x,1) w(b,"commit") }
//   s2: { r(x,0) w(b,"begin") } { r(b,"begin") w(x,2) w(a,"commit") }      not serializable
//
// Size: linear, and for snapshot isolation a few more operations for each pair of writers of a key.
// The search over prefixes does the same without constructing the history (frontier.cc). Source:
// Biswas and Enea, OOPSLA 2019, theorems 4.8 and 4.10.

#include "prefix_search/reduction.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "history/copy.h"
#include "infer/problem.h"

namespace assay::internal {
namespace {

constexpr size_t kMostPairs = 10'000'000;
const ValueView kBegin = ValueView::of("begin");
const ValueView kCommit = ValueView::of("commit");

class Reduction {
 public:
  Reduction(const Problem& problem, bool write_conflict)
      : history_(*problem.history), problem_(problem), write_conflict_(write_conflict) {}

  Result<History> run() {
    if (write_conflict_ && !list_rivals())
      return usage_error("more than " + std::to_string(kMostPairs) +
                         " pairs of transactions write the same keys; expected fewer");
    choose_prefix();
    copy_initial(history_, out_);
    for (const std::vector<Node>& session : problem_.sessions) {
      for (Node n : session) {
        if (Status s = add(n); !s.ok()) return s.error();
      }
    }
    add_known_orders();
    return std::move(out_).finish();
  }

 private:
  // Lists, for each node, the nodes that share a written key with it. False if there are too many.
  bool list_rivals() {
    std::vector<std::pair<Node, Node>> pairs;
    for (KeyId key = 0; key < problem_.keys(); ++key) {
      const auto writers = problem_.key_writers(key);
      if (pairs.size() + writers.size() * writers.size() > kMostPairs) return false;
      for (WriteId a : writers) {
        for (WriteId b : writers) {
          if (a != b) pairs.emplace_back(problem_.writes.node[a], problem_.writes.node[b]);
        }
      }
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    rivals_ = collect_rows(problem_.nodes(), pairs);
    return true;
  }

  // Chooses a prefix for new keys, which are strings, that no key of the history begins with.
  void choose_prefix() {
    for (KeyId key = 0; key < history_.key_count(); ++key) {
      while (history_.key(key).text.starts_with(prefix_)) prefix_ += '\'';
    }
  }

  // Adds the two halves. A half without operations is left out, unless both would be.
  Status add(Node n) {
    const auto rivals = write_conflict_ ? rivals_[n] : std::span<const Node>();
    const bool writes = !problem_.writes.of(n).empty();
    const bool reads = !writes || !problem_.reads[n].empty() || !rivals.empty();
    // The session orders the two halves only if the transaction is known to have committed.
    const bool tied = reads && writes && history_.status(problem_.txn[n]) != TxnStatus::committed;
    if (reads) {
      if (Status s = add_reads(n, rivals, tied); !s.ok()) return s;
    }
    return writes ? add_writes(n, rivals, tied) : Status(Ok{});
  }

  Status add_reads(Node n, std::span<const Node> rivals, bool tied) {
    begin(n, ".r");
    for (const ExternalRead& read : problem_.reads[n]) {
      const ValueView value = read.write == kNone
                                  ? history_.initial(read.key)
                                  : history_.version_value(problem_.writes.version[read.write]);
      out_.add(Op::read(history_.key(read.key), value));
    }
    for (Node rival : rivals) out_.add(Op::write(extra_key(n, rival), kBegin));
    if (tied) out_.add(Op::write(extra_key(n, n), kBegin));
    return out_.end_txn();
  }

  Status add_writes(Node n, std::span<const Node> rivals, bool tied) {
    begin(n, ".w");
    if (tied) out_.add(Op::read(extra_key(n, n), kBegin));
    for (Node rival : rivals) out_.add(Op::read(extra_key(n, rival), kBegin));
    for (const WriteId w : problem_.writes.of(n))
      out_.add(Op::write(history_.key(problem_.writes.key[w]),
                         history_.version_value(problem_.writes.version[w])));
    for (Node rival : rivals) out_.add(Op::write(extra_key(rival, n), kCommit));
    return out_.end_txn();
  }

  void begin(Node n, const char* half) {
    const TxnId t = problem_.txn[n];
    texts_.clear();
    TxnHeader header;
    header.session = history_.session_name(history_.session(t));
    header.name = texts_.emplace_back(history_.name(t) + half);
    header.status = history_.status(t);
    out_.begin_txn(header);
  }

  // Returns the key by which `holder` keeps `rival` out.
  ValueView extra_key(Node holder, Node rival) {
    texts_.push_back(prefix_ + history_.name(problem_.txn[holder]) + "/" +
                     history_.name(problem_.txn[rival]));
    return ValueView::of(std::string_view(texts_.back()));
  }

  void add_known_orders() {
    for (const KnownOrder& order : history_.known_orders()) {
      texts_.clear();
      std::vector<StatedVersion> entries;
      for (size_t i = 0; i < order.versions.size(); ++i) {
        const TxnId t = order.txn(i);
        if (t != kNone && !leaves(t, order.versions[i])) continue;
        entries.push_back({.value = history_.version_value(order.versions[i])});
        if (t != kNone) entries.back().txn = texts_.emplace_back(history_.name(t) + ".w");
      }
      out_.known_order(history_.key(order.key), entries);
    }
  }

  bool leaves(TxnId t, VersionId version) const {
    const Node n = problem_.node_of(t);
    if (n == kNone) return false;
    for (const WriteId w : problem_.writes.of(n))
      if (problem_.writes.version[w] == version) return true;
    return false;
  }

  const History& history_;
  const Problem& problem_;
  const bool write_conflict_;
  Rows<Node> rivals_;
  std::string prefix_ = "lock ";
  std::deque<std::string> texts_;  // of the transaction being added
  HistoryBuilder out_;
};

}  // namespace

Result<History> reduce_to_serializability(const History& history, LevelId level) {
  const LevelInfo& row = level_info(level);
  if (row.events != EventModel::split || !row.session_order || row.real_time != RealTime::none)
    return usage_error("cannot reduce '" + std::string(row.name) +
                       "' to serializability; expected prefix or session-si");
  const Problem problem = make_problem(history);
  if (problem.has_lists)
    return usage_error("the history has lists that were read; expected reads of single values");
  if (problem.found.bad_read.anomaly != Anomaly::none ||
      problem.found.non_repeatable.anomaly != Anomaly::none || !problem.unresolved.empty())
    return usage_error(
        "a read of the history has no writer that explains it, or more than one; "
        "expected exactly one");
  return Reduction(problem, row.write_conflict).run();
}

}  // namespace assay::internal
