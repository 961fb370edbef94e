#include "infer/known_orders.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/digraph.h"
#include "history/accesses.h"

namespace assay::internal {
namespace {

// The writer of a version, among all transactions that may have taken effect.
struct Author {
  TxnId txn = kNone;
  OpId op = kNone;  // the first operation that wrote it
  bool several = false;
  bool twice = false;  // a single transaction, with more than one operation
  TxnId aborted = kNone;
};

// The write that an entry means; `op` is kNone if its transaction wrote the same value to the key
// more than once.
struct Meant {
  TxnId txn = kNone;
  OpId op = kNone;
};

class Reading {
 public:
  explicit Reading(const History& history) : h_(history), lines_(history.known_orders()) {}

  KnownOrders run() {
    find_authors();
    for (const KnownOrder& line : lines_) read(line);
    if (named_again_) find_opposites();
    if (const int64_t end = h_.orders_complete_to(); end != Interval::kUnknown)
      find_lost_commit(end);
    return std::move(out_);
  }

 private:
  void find_authors() {
    authors_.resize(h_.version_count());
    listed_.resize(h_.version_count());
    seen_.resize(h_.op_count());
    emptied_.resize(h_.key_count());
    deletion_listed_.resize(h_.key_count());
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      const bool aborted = h_.status(t) == TxnStatus::aborted;
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        const Operation op = h_.op(i);
        if (!installs_version(op)) continue;
        Author& author = authors_[op.version];
        if (aborted) {
          author.aborted = t;
          continue;
        }
        author.twice = author.twice || author.txn == t;
        author.several = author.several || (author.txn != kNone && author.txn != t);
        if (author.txn != t) author.op = i;
        author.txn = t;
        if (is_absent(h_, install_of(h_, i).state())) emptied_[op.key] = true;
      }
    }
  }

  void read(const KnownOrder& line) {
    std::vector<TxnId>& named = out_.named.emplace_back();
    std::vector<OpId>& ops = op_.emplace_back();
    for (size_t i = 0; i < line.versions.size(); ++i) {
      const Meant meant = line.txn(i) == kNone ? by_value(line, i) : by_name(line, i);
      named.push_back(meant.txn);
      ops.push_back(meant.op);
      if (line.txn(i) == kNone) listed_[line.versions[i]] = true;
      if (meant.op == kNone) continue;
      named_again_ = named_again_ || seen_[meant.op];
      seen_[meant.op] = true;
    }
  }

  Meant by_name(const KnownOrder& line, size_t place) {
    const TxnId t = line.txns[place];
    const VersionId version = line.versions[place];
    const Author& author = authors_[version];
    if (author.txn == t && !author.several && !author.twice) return {t, author.op};
    Meant meant;
    uint32_t writes = 0;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (!installs_version(op) || op.version != version) continue;
      meant = {t, writes++ == 0 ? i : kNone};
    }
    if (h_.status(t) != TxnStatus::aborted && writes > 0) return meant;
    contradict(line.key, version,
               "of " + h_.name(t) +
                   (writes > 0 ? ", and that aborted" : ", which did not write that there"));
    return {};
  }

  Meant by_value(const KnownOrder& line, size_t place) {
    const VersionId version = line.versions[place];
    const Author& author = authors_[version];
    if (place == 0 && h_.is_initial(version)) return {};  // the initial state comes first
    const bool null = h_.version_value(version).is_null();
    if (null && emptied_[line.key]) {  // some deletion; which one is not said
      deletion_listed_[line.key] = true;
      return {};
    }
    if (author.txn == kNone) {
      contradict(line.key, version,
                 author.aborted != kNone
                     ? "which only " + h_.name(author.aborted) + " wrote, and it aborted"
                 : h_.is_initial(version) ? "the initial value, after another version"
                                          : "which no transaction wrote");
      return {};
    }
    if (author.several) {
      ++out_.ambiguous;
      return {};
    }
    return {author.txn, author.twice ? kNone : author.op};
  }

  void contradict(KeyId key, VersionId version, const std::string& why) {
    if (!out_.contradiction.empty()) return;
    out_.contradiction = "the stated order of " + h_.key(key).to_string() + " names " +
                         h_.version_value(version).to_string() + ", " + why;
  }

  // Finds lines that put two versions in opposite orders, possibly via others.
  void find_opposites() {
    std::vector<std::pair<KeyId, std::vector<size_t>>> of_key;
    std::unordered_map<KeyId, size_t> index;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const auto [it, fresh] = index.try_emplace(lines_[i].key, of_key.size());
      if (fresh) of_key.push_back({lines_[i].key, {}});
      of_key[it->second].second.push_back(i);
    }
    for (const auto& [key, lines] : of_key)
      if (opposite(lines)) drop(key, lines);
  }

  bool opposite(const std::vector<size_t>& lines) {
    std::unordered_map<OpId, Vertex> vertex;
    std::vector<Arc> arcs;
    for (const size_t i : lines) {
      Vertex before = kNone;
      for (const OpId op : op_[i]) {
        if (op == kNone) continue;
        const auto next = static_cast<Vertex>(vertex.size());
        const Vertex at = vertex.try_emplace(op, next).first->second;
        if (before == at) return true;
        if (before != kNone) arcs.push_back({before, at});
        before = at;
      }
    }
    return !find_cycle(Digraph(vertex.size(), arcs)).empty();
  }

  void drop(KeyId key, const std::vector<size_t>& lines) {
    for (const size_t i : lines) std::fill(out_.named[i].begin(), out_.named[i].end(), kNone);
    if (out_.contradiction.empty())
      out_.contradiction = "the stated orders of " + h_.key(key).to_string() +
                           " put two versions in opposite orders";
  }

  // Finds a commit that was acknowledged by the time up to which the orders are complete, and that
  // wrote a version which an order lacks.
  void find_lost_commit(int64_t complete_to) {
    for (TxnId t = 0; t < h_.txn_count() && out_.contradiction.empty(); ++t) {
      const bool acknowledged = h_.status(t) == TxnStatus::committed && h_.end_time(t).known() &&
                                h_.end_time(t).response <= complete_to;
      if (!acknowledged) continue;
      each_install(h_, t, written_, [&](const Install& install) {
        if (out_.contradiction.empty() && is_lost(t, install)) report_lost(t, install);
      });
    }
  }

  bool is_lost(TxnId t, const Install& install) const {
    // A list keeps each of several elements as a version.
    if (!install.final && !install.appends) return false;
    if (seen_[install.op] || listed_[install.version]) return false;
    if (is_absent(h_, install.state()) && deletion_listed_[install.key]) return false;
    return !names(t, install.version);
  }

  void report_lost(TxnId t, const Install& install) {
    out_.contradiction = "lost-commit: " + h_.name(t) + " was acknowledged, and the order of " +
                         h_.key(install.key).to_string() +
                         ", which is complete beyond it, lacks its " +
                         h_.version_value(install.version).to_string();
  }

  // Whether some entry names a version that the transaction wrote more than once. Rare.
  bool names(TxnId t, VersionId version) const {
    for (const KnownOrder& line : lines_)
      for (size_t i = 0; i < line.versions.size(); ++i)
        if (line.versions[i] == version && line.txn(i) == t) return true;
    return false;
  }

  const History& h_;
  const std::span<const KnownOrder> lines_;
  std::vector<Author> authors_;        // indexed by version
  std::vector<bool> emptied_;          // indexed by key: whether some transaction deletes it or
                                       // writes null
  std::vector<bool> seen_;             // indexed by operation: whether some entry means it
  std::vector<bool> deletion_listed_;  // indexed by key: whether some entry is null
  std::vector<bool> listed_;  // indexed by version: whether some entry has its value and names no
                              // transaction
  std::vector<std::vector<OpId>> op_;  // indexed by line and entry: the operation that is meant
  WrittenKeys written_;                // scratch
  bool named_again_ = false;           // whether some version is named twice
  KnownOrders out_;
};

}  // namespace

KnownOrders read_known_orders(const History& history) {
  if (history.known_orders().empty() && history.orders_complete_to() == Interval::kUnknown)
    return {};
  return Reading(history).run();
}

}  // namespace assay::internal
