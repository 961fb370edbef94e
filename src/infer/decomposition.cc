// What need not be decided together?
//
// Link two sessions if they use a common key. Where session order counts and real time does not,
// the blocks (biconnected components) of this graph can be decided one by one, each key in the
// block whose sessions use it:
//
//   s1: { w(x,1) w(y,1) }   s2: { r(x,1) }   s3: { r(y,1) w(z,1) }   s4: { r(z,1) }      blocks
//                                                                    {s1,s2} {s1,s3} {s3,s4}
//
// A cycle of events that leaves a block does so in the session that joins it to the others and
// comes back in the same session. Sessions are chains: either the chain leads from where it left to
// where it came back, and the cycle needs no detour; or it leads the other way, and the detour with
// it is a cycle already. So a smallest cycle stays in one block, and versions of a key do so
// anyway. This is theorem 5.2 of Biswas and Enea (OOPSLA 2019); it requires of a session only that
// it is a chain. A transaction of unknown outcome, for which its session does not wait, is a
// separate chain. At a level without session order each transaction is a chain; with that many
// chains, connected components have to suffice.
//
// Real time relates everything to everything, and yet connected components (not blocks) can be
// decided one by one if its edges are those of intervals: of two edges a → b and c → d, also a → d
// or c → b is one, and a cycle with two such edges has a shorter one inside it, down to one edge,
// and that lies in one component. This is the locality of Herlihy and Wing. It needs that a may
// precede d and c may precede b by the kind of their events. At strong-si begins do not precede
// begins; there is no such argument and no decomposition.
//
// All users of a key are in one block, so a ring through them links them as well as all pairs
// would. Cost: linear in the reads and writes, and less where it soon turns out that one component
// covers nearly everything. A stated version order is about one key, and belongs to the part with
// that key.

#include "infer/decomposition.h"

#include <algorithm>
#include <numeric>

#include "assay/level.h"
#include "base/sort_by.h"
#include "graph/blocks.h"

namespace assay::internal {
namespace {

constexpr size_t kMostChainsOfBlocks = 1024;  // keeps the matrix of their links small
constexpr KeyId kFirstLook = 64;              // examined before it is known whether decomposing is
                                              // worthwhile

// Connected components and their weights.
class WeighedComponents {
 public:
  explicit WeighedComponents(std::vector<uint32_t> weights)
      : parent_(weights.size()), weight_(std::move(weights)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  uint32_t root(uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  // Joins the components of a and b, and returns the weight of the result.
  uint32_t join(uint32_t a, uint32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return weight_[a];
    if (weight_[a] < weight_[b]) std::swap(a, b);
    parent_[b] = a;
    return weight_[a] += weight_[b];
  }

 private:
  std::vector<uint32_t> parent_, weight_;
};

class Decomposer {
 public:
  Decomposer(const Problem& problem, const LevelInfo& level)
      : history_(*problem.history),
        problem_(problem),
        keys_(static_cast<KeyId>(problem.keys())),
        part_(keys_, kNone) {
    index_chains(level.session_order);
    by_blocks_ = level.session_order && level.real_time == RealTime::none &&
                 weight_.size() <= kMostChainsOfBlocks;
  }

  std::vector<Part> run() {
    if (weight_.size() < 2) return {};
    if (!(by_blocks_ ? place_by_blocks() : place_by_components())) return {};
    std::vector<Part> parts = collect();
    const bool worth_it = std::none_of(
        parts.begin(), parts.end(), [&](const Part& part) { return too_large(part.nodes.size()); });
    return parts.size() > 1 && worth_it ? std::move(parts) : std::vector<Part>();
  }

 private:
  // Whether a part is so large that splitting off the rest is not worth a copy.
  bool too_large(size_t nodes) const { return nodes * 10 > problem_.nodes() * 9; }

  void index_chains(bool session_order) {
    chain_.assign(problem_.nodes(), kNone);
    const auto add_chain = [&] {
      weight_.push_back(0);
      return static_cast<uint32_t>(weight_.size()) - 1;
    };
    for (const std::vector<Node>& session : problem_.sessions) {
      uint32_t own = kNone;
      for (Node n : session) {
        const bool committed = history_.status(problem_.txn[n]) == TxnStatus::committed;
        if (session_order && committed) {
          if (own == kNone) own = add_chain();
          chain_[n] = own;
        } else {
          chain_[n] = add_chain();
          if (session_order && own != kNone) links_.emplace_back(own, chain_[n]);
        }
        ++weight_[chain_[n]];
      }
    }
  }

  // Calls use(chain) for every read and write of a key.
  template <class Use>
  void each_use(KeyId key, Use use) const {
    for (WriteId w : problem_.key_writers(key)) {
      use(chain_[problem_.writes.node[w]]);
      for (Node reader : problem_.readers[w]) use(chain_[reader]);
    }
    for (Node reader : problem_.initial_readers[key]) use(chain_[reader]);
  }

  // Returns false as soon as some part is certain to be too large.
  bool place_by_components() {
    WeighedComponents components(weight_);
    for (const auto& [a, b] : links_) components.join(a, b);
    std::vector<uint32_t> user(keys_, kNone);
    uint32_t largest = 0;
    for (KeyId key = 0; key < keys_ && !too_large(largest); ++key) {
      each_use(key, [&](uint32_t chain) {
        if (user[key] == kNone) user[key] = chain;
        largest = std::max(largest, components.join(user[key], chain));
      });
    }
    if (too_large(largest)) return false;
    std::vector<uint32_t> number(weight_.size(), kNone);
    for (KeyId key = 0; key < keys_; ++key) {
      if (user[key] != kNone) part_[key] = numbered(number[components.root(user[key])]);
    }
    return true;
  }

  bool place_by_blocks() {
    std::vector<uint32_t> user(keys_, kNone), link(keys_, kNone);
    std::vector<KeyId> seen(weight_.size(), kNone);
    std::vector<uint32_t> users;
    link_of_.assign(weight_.size() * weight_.size(), kNone);
    KeyId look = kFirstLook;
    for (KeyId key = 0; key < keys_; ++key) {
      users.clear();
      each_use(key, [&](uint32_t chain) {
        if (seen[chain] != key) users.push_back(chain);
        seen[chain] = key;
      });
      if (users.empty()) continue;
      user[key] = users[0];
      if (users.size() > 1) link[key] = add_link(users.front(), users.back());
      for (size_t i = 0; i + 1 < users.size(); ++i) add_link(users[i], users[i + 1]);
      if (key < look) continue;
      look = 2 * key;
      if (a_block_is_too_large()) return false;
    }
    const Blocks blocks = biconnected_components(weight_.size(), links_);
    parts_ = blocks.count;
    std::vector<uint32_t> home(weight_.size(), kNone);  // indexed by chain: its first block
    for (size_t i = links_.size(); i-- > 0;) {
      home[links_[i].first] = home[links_[i].second] = blocks.of_link[i];
    }
    for (KeyId key = 0; key < keys_; ++key) {
      if (user[key] == kNone) continue;
      part_[key] = link[key] == kNone ? numbered(home[user[key]]) : blocks.of_link[link[key]];
    }
    return true;
  }

  uint32_t add_link(uint32_t a, uint32_t b) {
    uint32_t& known = link_of_[size_t{std::min(a, b)} * weight_.size() + std::max(a, b)];
    if (known == kNone) {
      known = static_cast<uint32_t>(links_.size());
      links_.emplace_back(a, b);
    }
    return known;
  }

  bool a_block_is_too_large() const {
    const Blocks blocks = biconnected_components(weight_.size(), links_);
    std::vector<uint64_t> weight(blocks.count, 0);
    std::vector<uint32_t> counted(weight_.size(), kNone);  // indexed by chain: the last block in
                                                           // which it was counted
    std::vector<uint32_t> links(links_.size());
    std::iota(links.begin(), links.end(), 0);
    stable_sort_by(links, [&](uint32_t link) { return blocks.of_link[link]; });
    for (uint32_t i : links) {
      for (uint32_t chain : {links_[i].first, links_[i].second}) {
        if (counted[chain] != blocks.of_link[i]) weight[blocks.of_link[i]] += weight_[chain];
        counted[chain] = blocks.of_link[i];
      }
    }
    return std::any_of(weight.begin(), weight.end(), [&](uint64_t w) { return too_large(w); });
  }

  uint32_t numbered(uint32_t& number) {
    if (number == kNone) number = parts_++;
    return number;
  }

  std::vector<Part> collect() const {
    std::vector<Part> parts(parts_);
    for (KeyId key = 0; key < keys_; ++key) {
      if (part_[key] != kNone) parts[part_[key]].keys.push_back(key);
    }
    const auto add = [&](Node n, KeyId key) {
      std::vector<Node>& nodes = parts[part_[key]].nodes;
      if (nodes.empty() || nodes.back() != n) nodes.push_back(n);
    };
    for (Node n = 0; n < problem_.nodes(); ++n) {
      for (const ExternalRead& read : problem_.reads[n]) add(n, read.key);
      for (const WriteId w : problem_.writes.of(n)) {
        add(n, problem_.writes.key[w]);
      }
    }
    std::erase_if(parts, [](const Part& part) { return part.nodes.empty(); });
    return parts;
  }

  const History& history_;
  const Problem& problem_;
  const KeyId keys_;
  bool by_blocks_ = false;
  std::vector<uint32_t> chain_;    // indexed by node
  std::vector<uint32_t> weight_;   // indexed by chain: the number of its nodes
  std::vector<Link> links_;        // between chains
  std::vector<uint32_t> link_of_;  // indexed by pair of chains
  std::vector<uint32_t> part_;     // indexed by key
  uint32_t parts_ = 0;
};

}  // namespace

std::vector<Part> decompose(const Problem& problem, const LevelInfo& level) {
  if (level.real_time == RealTime::all_but_begins) return {};
  // Clocks are exact within a session but may drift between sessions, so real time is not an order
  // of intervals.
  const bool vague = level.real_time != RealTime::none && problem.history->clock_drift() > 0;
  if (vague && !level.session_order) return {};
  return Decomposer(problem, level).run();
}

}  // namespace assay::internal
