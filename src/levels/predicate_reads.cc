// Predicate reads in the sense of Adya: which version of a key that a range did not return it
// depends on.
//
//   order x: 5 30 40     A { w(x,5) }  B { w(x,30) }  C { w(x,40) }  D { p(value < 20,[]) }
//   D saw 40, which does not satisfy its condition, nor did 30. B changed the match last: D
//   depends on B, not on C.
//
// A range depends on the last transaction, up to the version that it saw, that changed whether it
// selects the key. Which one that was is certain if one statement orders all possible writers of
// the key, or if every other version matches otherwise.
//
// Cost: for a range and a key, the versions back to the last change, but only once for a condition
// and a version.

#include "levels/predicate_reads.h"

#include <algorithm>

namespace assay::internal {

Match PredicateReads::match(OpId range, KeyId key, WriteId write) {
  for (auto w = static_cast<WriteId>(left_.size()); w < problem_.writes.size(); ++w)
    left_.push_back(
        state_left_by(history_, problem_.txn[problem_.writes.node[w]], problem_.writes.key[w]));
  return match_of_state(history_, write == kNone ? initial_state(history_, key) : left_[write],
                        history_.selected(range).predicate);
}

// It matches if the range names the key as matched; otherwise it does not.
Match PredicateReads::match_seen(OpId range, KeyId key, WriteId write) {
  const Match of = match(range, key, write);
  if (of != Match::open) return of;
  const std::span<const KeyId> matched = history_.selected(range).matched;
  return std::ranges::find(matched, key) != matched.end() ? Match::yes : Match::no;
}

// Finds the writers, and whether one statement orders them all.
void PredicateReads::find_whole_orders() {
  if (!may_be_left_.empty()) return;
  may_be_left_.resize(history_.key_count());
  whole_orders_.resize(history_.key_count());
  whole_place_.assign(problem_.writes.size(), kNone);
  WrittenKeys written;
  for (TxnId t = 0; t < history_.txn_count(); ++t)
    if (history_.status(t) != TxnStatus::aborted)
      each_install(history_, t, written, [&](const Install& install) {
        if (install.final) may_be_left_[install.key].push_back(install.state());
      });
  std::vector<WriteId> order;
  const auto& named = problem_.found.known.named;
  for (size_t line = 0; line < named.size(); ++line) {
    const KnownOrder& known = history_.known_orders()[line];
    if (!whole_orders_[known.key].empty()) continue;
    order.clear();
    bool once = true;
    for (size_t i = 0; i < named[line].size(); ++i) {
      if (named[line][i] == kNone) continue;
      const WriteId w = problem_.write_of(problem_.node_of(named[line][i]), known.key);
      if (w == kNone || problem_.writes.version[w] != known.versions[i]) continue;
      once = once && whole_place_[w] == kNone;
      whole_place_[w] = static_cast<uint32_t>(order.size());
      order.push_back(w);
    }
    if (once && order.size() == may_be_left_[known.key].size())
      whole_orders_[known.key] = order;
    else
      for (const WriteId w : order) whole_place_[w] = kNone;
  }
}

// Whether, of all versions that may have been there, no other one matches as the one that was read
// does.
bool PredicateReads::others_all_differ(OpId range, WriteId read) {
  const PredicateId predicate = history_.selected(range).predicate;
  const KeyId key = problem_.writes.key[read];
  const auto [counts, fresh] = matches_.try_emplace({predicate, key});
  if (fresh) {
    for (const KeyState& state : may_be_left_[key])
      ++counts->second[static_cast<size_t>(match_of_state(history_, state, predicate))];
    ++counts->second[static_cast<size_t>(
        match_of_state(history_, initial_state(history_, key), predicate))];
  }
  const std::array<uint32_t, 3>& of = counts->second;
  return of[static_cast<size_t>(match(range, key, read))] == 1 &&
         of[static_cast<size_t>(Match::open)] == 0;
}

WriteId PredicateReads::last_to_change(OpId range, std::span<const WriteId> until,
                                       LastChanges& known) {
  const PredicateId predicate = history_.selected(range).predicate;
  const KeyId key = problem_.writes.key[until.back()];
  const Match was = match(range, key, until.back());
  if (was == Match::open) return kNone;
  WriteId change = kNone;
  size_t at = until.size() - 1;
  for (;; --at) {
    if (const auto it = known.find({predicate, until[at]}); it != known.end()) {
      change = it->second;
      break;
    }
    const Match before = match(range, key, at == 0 ? kNone : until[at - 1]);
    if (before != was && before != Match::open) change = until[at];
    if (before != was || at == 0) break;
  }
  for (size_t i = at; i < until.size(); ++i) known.try_emplace({predicate, until[i]}, change);
  return change;
}

std::optional<WriteId> PredicateReads::certainly_last_to_change(OpId range, WriteId read) {
  find_whole_orders();
  const std::vector<WriteId>& whole = whole_orders_[problem_.writes.key[read]];
  if (!whole.empty())
    return last_to_change(range, std::span(whole).first(whole_place_[read] + 1), last_change_);
  if (others_all_differ(range, read)) return read;
  return std::nullopt;
}

}  // namespace assay::internal
