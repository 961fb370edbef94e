#include "infer/known_orders.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/digraph.h"
#include "history/accesses.h"

namespace assay::internal {
namespace {

// Who wrote a version, of all the transactions that may have taken effect.
struct Author {
  TxnId txn = kNone;
  bool several = false;
  bool twice = false;  // one transaction, with more than one operation
  TxnId aborted = kNone;
};

class Reading {
 public:
  explicit Reading(const History& history) : h_(history), lines_(history.known_orders()) {}

  KnownOrders run() {
    find_authors();
    for (const KnownOrder& line : lines_) read(line);
    if (named_again_) find_opposites();
    return std::move(out_);
  }

 private:
  void find_authors() {
    authors_.resize(h_.version_count());
    seen_.resize(h_.version_count());
    emptied_.resize(h_.key_count());
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
        author.txn = t;
        if (is_absent(h_, install_of(h_, i).state())) emptied_[op.key] = true;
      }
    }
  }

  void read(const KnownOrder& line) {
    std::vector<TxnId>& named = out_.named.emplace_back();
    for (size_t i = 0; i < line.versions.size(); ++i) named.push_back(entry(line, i));
  }

  TxnId entry(const KnownOrder& line, size_t place) {
    const VersionId version = line.versions[place];
    const Author& author = authors_[version];
    if (place == 0 && h_.is_initial(version)) return kNone;  // the initial state comes first
    const bool null = h_.version_value(version).is_null();
    if (null && emptied_[line.key]) return kNone;  // some deletion; which one is not said
    if (author.txn == kNone) {
      contradict(line.key, version,
                 author.aborted != kNone
                     ? "which only " + h_.name(author.aborted) + " wrote, and it aborted"
                 : h_.is_initial(version) ? "the initial value, after another version"
                                          : "which no transaction wrote");
      return kNone;
    }
    if (author.several) {
      ++out_.ambiguous;
      return kNone;
    }
    if (!author.twice) {
      named_again_ = named_again_ || seen_[version];
      seen_[version] = true;
    }
    return author.txn;
  }

  void contradict(KeyId key, VersionId version, const std::string& why) {
    if (!out_.contradiction.empty()) return;
    out_.contradiction = "the stated order of " + h_.key(key).to_string() + " names " +
                         h_.version_value(version).to_string() + ", " + why;
  }

  // Lines that put two versions in opposite orders, perhaps by way of others.
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
    std::unordered_map<VersionId, Vertex> vertex;
    std::vector<Arc> arcs;
    for (const size_t i : lines) {
      Vertex before = kNone;
      for (size_t e = 0; e < lines_[i].versions.size(); ++e) {
        const VersionId version = lines_[i].versions[e];
        if (out_.named[i][e] == kNone || authors_[version].twice) continue;
        const auto next = static_cast<Vertex>(vertex.size());
        const Vertex at = vertex.try_emplace(version, next).first->second;
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

  const History& h_;
  const std::span<const KnownOrder> lines_;
  std::vector<Author> authors_;  // per version
  std::vector<bool> emptied_;    // per key: some transaction deletes it, or writes null
  std::vector<bool> seen_;       // per version: some entry names it
  bool named_again_ = false;     // one version is named twice
  KnownOrders out_;
};

}  // namespace

KnownOrders read_known_orders(const History& history) {
  if (history.known_orders().empty()) return {};
  return Reading(history).run();
}

}  // namespace assay::internal
