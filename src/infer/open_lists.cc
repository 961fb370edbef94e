#include "infer/open_lists.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal {
namespace {

// The positions of elements in a list.
class ListPlaces {
 public:
  explicit ListPlaces(std::span<const VersionId> list) : list_(list) {
    for (uint32_t i = 0; i < list.size(); ++i) of_[list[i]].push_back(i);
  }

  // The places at which the elements of the block occur one after the other, ascending.
  std::vector<uint32_t> of(std::span<const VersionId> block) const {
    std::vector<uint32_t> places;
    const auto first = of_.find(block.front());
    if (first == of_.end()) return places;
    for (const uint32_t at : first->second)
      if (block.size() <= list_.size() - at &&
          std::equal(block.begin(), block.end(), list_.begin() + at))
        places.push_back(at);
    return places;
  }

 private:
  std::span<const VersionId> list_;
  std::unordered_map<VersionId, std::vector<uint32_t>> of_;
};

}  // namespace

uint64_t OpenList::choices() const {
  uint64_t count = 0;
  for (const Block& block : blocks) count += block.places.size() + 1;
  return count;
}

void OpenLists::index_appends() {
  if (indexed_) return;
  indexed_ = true;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (const Install install = install_of(h_, i); install.appends)
        appends_.emplace_back(install.key, t);
  }
  std::sort(appends_.begin(), appends_.end());
  appends_.erase(std::unique(appends_.begin(), appends_.end()), appends_.end());
  for (const Append& append : appends_)
    if (h_.status(append.second) == TxnStatus::unknown) unknown_appends_.push_back(append);
}

std::vector<OpenList::Block> OpenLists::blocks_of_key(
    std::span<const Append> appends, KeyId key, const std::function<bool(TxnId)>& counts) const {
  std::vector<OpenList::Block> blocks;
  auto at = std::lower_bound(appends.begin(), appends.end(), Append{key, TxnId{0}});
  for (; at != appends.end() && at->first == key; ++at) {
    if (!counts(at->second)) continue;
    OpenList::Block& block = blocks.emplace_back();
    block.txn = at->second;
    for (OpId i = h_.first_op(block.txn); i < h_.end_op(block.txn); ++i)
      if (const Install install = install_of(h_, i); install.appends && install.key == key)
        block.elements.push_back(install.version);
  }
  return blocks;
}

void OpenLists::add(OpId read_list, bool certain) { added_.push_back({read_list, certain}); }

std::vector<TxnId> OpenLists::possible_writers(OpId read_list) {
  index_appends();
  std::vector<TxnId> writers;
  if (unknown_appends_.empty()) return writers;
  const ListPlaces places(outside_list(h_, read_list).elements);
  const auto all = [](TxnId) { return true; };
  for (const OpenList::Block& block : blocks_of_key(unknown_appends_, h_.op(read_list).key, all))
    if (!places.of(block.elements).empty()) writers.push_back(block.txn);
  return writers;
}

void OpenLists::start_list(OpId op, const std::function<bool(TxnId)>& counts, Budget& budget) {
  constexpr uint64_t kAskEvery = 4 << 20;
  OpenList& list = lists_.emplace_back();
  list.key = h_.op(op).key;
  list.op = op;
  list.reader = h_.txn_of(op);
  const auto [elements, missing] = outside_list(h_, op);
  list.lacks_own = missing != kNone;
  if (list.lacks_own) return;
  list.elements = elements;
  list.blocks = blocks_of_key(appends_, list.key, counts);
  const ListPlaces places(list.elements);
  for (OpenList::Block& block : list.blocks) {
    if (block.txn != list.reader) block.places = places.of(block.elements);
    listed_ += sizeof(OpenList::Block) + sizeof(uint32_t) * block.places.size();
    if (listed_ >= kAskEvery && !budget.has_room(std::exchange(listed_, 0))) return;
    if (budget.exhausted()) return;
  }
}

bool OpenLists::finish(const std::function<bool(TxnId)>& counts, Budget& budget) {
  if (added_.empty()) return true;
  index_appends();
  group_reads(counts, budget);
  if (budget.exhausted_now()) {
    lists_.clear();
    return false;
  }
  for (uint32_t l = 0; l < lists_.size(); ++l) {
    for (uint32_t r = 0; r < lists_[l].reads.size(); ++r)
      reads_of_[lists_[l].reads[r].reader].push_back({l, r});
    for (uint32_t b = 0; b < lists_[l].blocks.size(); ++b)
      blocks_of_[lists_[l].blocks[b].txn].push_back({l, b});
  }
  return true;
}

void OpenLists::group_reads(const std::function<bool(TxnId)>& counts, Budget& budget) {
  const auto shown = [this](OpId op) { return outside_list(h_, op).elements; };
  // Sorted by key; certain reads come first, the longest of them before the others.
  std::stable_sort(added_.begin(), added_.end(), [&](const Added& a, const Added& b) {
    const KeyId x = h_.op(a.op).key, y = h_.op(b.op).key;
    if (x != y) return x < y;
    if (a.certain != b.certain) return a.certain;
    return shown(a.op).size() > shown(b.op).size();
  });
  size_t first = 0;                            // the first list of the key
  bool certain = false, contradicted = false;  // about the first list: whether its read is certain;
                                               // whether another list contradicts it
  for (const Added& added : added_) {
    if (outside_list(h_, added.op).missing == kNone) continue;
    start_list(added.op, counts, budget);
    lists_.back().reads.push_back({added.op, h_.txn_of(added.op), 0});
  }
  const size_t lacking = lists_.size();
  for (const Added& added : added_) {
    if (budget.exhausted()) return;
    if (outside_list(h_, added.op).missing != kNone) continue;
    const KeyId key = h_.op(added.op).key;
    const std::span<const VersionId> part = shown(added.op);
    if (lists_.size() == lacking || lists_.back().key != key) {
      first = lists_.size();
      certain = added.certain;
      contradicted = false;
      start_list(added.op, counts, budget);
    }
    const std::span<const VersionId> whole = lists_[first].elements;
    const bool begins =
        part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
    size_t in = first;
    if (!begins || (!certain && lists_[first].reader != h_.txn_of(added.op))) {
      // One list that contradicts the first is enough.
      if (added.certain && std::exchange(contradicted, true)) continue;
      in = lists_.size();
      start_list(added.op, counts, budget);
    }
    lists_[in].reads.push_back({added.op, h_.txn_of(added.op), static_cast<uint32_t>(part.size())});
  }
}

std::span<const OpenLists::Place> OpenLists::reads_of(TxnId t) const {
  const auto found = reads_of_.find(t);
  return found == reads_of_.end() ? std::span<const Place>() : found->second;
}

std::span<const OpenLists::BlockPlace> OpenLists::blocks_of(TxnId t) const {
  const auto found = blocks_of_.find(t);
  return found == blocks_of_.end() ? std::span<const BlockPlace>() : found->second;
}

void AppendedLists::append(TxnId t) {
  for (const OpenLists::BlockPlace place : lists_.blocks_of(t)) {
    const OpenList& list = lists_.all()[place.list];
    Appended& appended = appended_[place.list];
    for (const VersionId element : list.blocks[place.block].elements) {
      const bool stands = appended.as_read == appended.all && appended.all < list.elements.size() &&
                          list.elements[appended.all] == element;
      ++appended.all;
      if (stands) ++appended.as_read;
    }
  }
}

}  // namespace assay::internal
