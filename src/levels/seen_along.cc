#include "levels/seen_along.h"

#include <utility>

#include "infer/slices.h"
#include "levels/dependencies.h"

namespace assay::internal {

bool SeenAlong::states_whole(const std::vector<TxnId>& order) {
  if (order.size() != matched_.nodes() ||
      !budget_.has_room(bytes_of_version_orders(matched_) + sizeof(Node) * matched_.nodes()))
    return false;
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (const TxnId t : order) {
    if (matched_.node_of(t) == kNone) return false;
    nodes.push_back(matched_.node_of(t));
  }
  return states_version_orders(matched_, nodes, threads_for(nodes.size(), options_.threads));
}

bool SeenAlong::knows(LevelId level, const Order& order) {
  if (states_whole(order.events)) return true;
  const std::optional<std::vector<Seen>> seen = sources(OpenProblem::Listing::each, order);
  return seen && allows(level, *seen) && along_.problem().nodes() == order.events.size();
}

std::optional<Order> SeenAlong::as_adya(LevelId level, const Order& order) {
  Order adya;
  adya.events = writers_in_order(order);
  const bool whole = states_whole(adya.events);
  // In an order of whole transactions, a skipped row was left by the last writer of its key.
  const OpenProblem::Listing listing = !whole        ? OpenProblem::Listing::each
                                       : order.split ? OpenProblem::Listing::one_state
                                                     : open_.for_orders();
  std::optional<std::vector<Seen>> seen = sources(listing, order);
  if (!seen || (!whole && !allows(level, *seen))) return std::nullopt;
  // A transaction that need not take effect for these sources does not.
  if (!whole)
    std::erase_if(adya.events, [this](TxnId t) { return along_.problem().node_of(t) == kNone; });
  adya.sources = std::move(*seen);
  return adya;
}

// nullopt if an open read may not have a single source, like that of a list.
std::optional<std::vector<Seen>> SeenAlong::sources(OpenProblem::Listing listing,
                                                    const Order& order) {
  const OpenReads& open = open_.reads(listing);
  if (!open.obstacle().empty() || !open.lists().all().empty()) return std::nullopt;
  return seen_along(history_, open, order);
}

bool SeenAlong::allows(LevelId level, const std::vector<Seen>& seen) {
  const auto timer = stages_.time("adya");
  if (!along_.are(seen) && !has_room_to_match(history_, budget_)) return false;
  return along_.choose(history_, seen, budget_) && !budget_.exhausted_now() &&
         along_.decide_adya(level, budget_).outcome() == Outcome::satisfied;
}

}  // namespace assay::internal
