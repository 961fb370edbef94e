// If some order of steps that the isolations allow is not serializable, then there is one in which
// a single transaction T is cut in two, and others T2 … Tm run in the gap, whole and one after the
// other (Vandevoort, Ketsman and Neven, "Allocating Isolation Levels to Transactions", PODS 2023,
// for read committed, snapshot isolation and ssi; for prefix and InnoDB's repeatable read it is
// tested, not proved). T precedes T2, since T2 changes a row that T has read; each of the others
// precedes the next, since they conflict; and Tm precedes T, since T changes a row that Tm read, or
// reads or overwrites one that it wrote.
//
//   A: r(x) r(y) w(x)      B: r(x) r(y) w(y)
//   snapshot isolation: A takes its snapshot, B runs whole and changes y, which A has read; then A
//   changes x, which B has read
//
// Which reads count, what the others must not change, and how the cycle may close follows from the
// isolation of T:
//
//   isolation       cut behind           others must not change  Tm closes if it read what T
//                                        changes,
//                                                                or changed what T
//   read-committed  any step that reads  what T locked so far    reads or changes later
//                   something new
//   innodb-…        its first plain      likewise                changes later, or reads later in
//                   statement                                    statements that lock
//   prefix          its first step       what that locks         changes later
//   snapshot, ssi   its first step       whatever T locks        –
//
// T locks the rows that it changes and, but not at prefix, the rows that it reads FOR UPDATE or FOR
// SHARE; no transaction in the gap may take a lock that conflicts with one of these. A snapshot is
// taken before a statement waits for a lock: so at snapshot and ssi T is cut before its first step,
// if that locks a row that another transaction locks without changing it.
//
// Unique keys refuse a row that a transaction in the gap has inserted, so in an example no
// transaction in the gap may change a row that T inserts; a proof that there is none also considers
// a row that is removed there and inserted again. InnoDB's locking statements read with a shared
// lock. The isolations of the others matter only if T is at ssi: then T2 at ssi has not read a row
// that T changes, Tm at ssi has not changed a row that T read, at most one of the two is at ssi,
// and the transactions between them do not conflict with T.
//
// The search for T2 … Tm is breadth-first through keys: a key is entered by a writer, which leads
// to all transactions that touch it, or by a reader, which leads to its writers; each at most once.
// Cost: for each cut the part that is reached before Tm; nothing if no transaction may begin the
// gap or none may end it.

#include "predict/split.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "base/room.h"

namespace assay::internal::predict {
namespace {

// Whether the two have a key in common. One may be much longer: that of a load.
bool meet(std::span<const KeyId> a, std::span<const KeyId> b) {
  constexpr size_t kMany = 16;
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() > kMany * a.size())
    return std::ranges::any_of(a, [&](KeyId key) { return std::ranges::binary_search(b, key); });
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j) return true;
    *i < *j ? static_cast<void>(++i) : static_cast<void>(++j);
  }
  return false;
}

bool holds(const std::vector<KeyId>& keys, KeyId key) {
  return std::ranges::binary_search(keys, key);
}

void make_set(std::vector<KeyId>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

// Indexes, for each key, the transactions whose `keys_of` contains it.
template <class KeysOf>
void index(uint32_t txns, size_t keys, KeysOf keys_of, std::vector<TxnId>& who,
           std::vector<uint64_t>& first) {
  first.assign(keys + 1, 0);
  for (TxnId t = 0; t < txns; ++t)
    for (const KeyId k : keys_of(t)) ++first[k + 1];
  for (size_t k = 0; k < keys; ++k) first[k + 1] += first[k];
  who.resize(first[keys]);
  std::vector<uint64_t> next(first.begin(), first.end() - 1);
  for (TxnId t = 0; t < txns; ++t)
    for (const KeyId k : keys_of(t)) who[next[k]++] = t;
}

std::span<const TxnId> those_of(KeyId key, const std::vector<TxnId>& who,
                                const std::vector<uint64_t>& first) {
  return {who.data() + first[key], who.data() + first[key + 1]};
}

size_t keys_in(const Steps& steps) {
  size_t keys = 0;
  for (TxnId t = 0; t < steps.txn_count(); ++t)
    for (const auto all : {steps.reads(t), steps.changes(t)})
      if (!all.empty()) keys = std::max<size_t>(keys, all.back() + size_t{1});
  return keys;
}

}  // namespace

Splits::Splits(const Steps& steps, const std::vector<Isolation>& isolations)
    : steps_(steps), isolations_(isolations) {
  const size_t keys = keys_in(steps);
  index(
      steps.txn_count(), keys, [&](TxnId t) { return steps.changes(t); }, writers_, first_writer_);
  index(
      steps.txn_count(), keys, [&](TxnId t) { return steps.reads(t); }, readers_, first_reader_);
  reached_.assign(steps.txn_count(), 0);
  from_.assign(steps.txn_count(), kNone);
  written_in_.assign(keys, 0);
  read_in_.assign(keys, 0);
}

std::optional<Split> Splits::find(TxnId txn, Budget& budget, const Terms& terms,
                                  std::vector<Uncut>* uncut) {
  txn_ = txn;
  terms_ = terms;
  constexpr std::array kAtSsi = {Ends::below_ssi_first, Ends::below_ssi_last};
  constexpr std::array kBelow = {Ends::any};
  const std::span<const Ends> all =
      isolations_[txn] == Isolation::ssi ? std::span<const Ends>(kAtSsi) : kBelow;
  for (const Cut& cut : cuts_of(txn))
    for (const Ends ends : all)
      if (auto found = search(txn, cut, ends, budget, uncut)) return found;
  return std::nullopt;
}

std::vector<Splits::Cut> Splits::cuts_of(TxnId txn) const {
  if (steps_.count(txn) == 0) return {};
  switch (isolations_[txn]) {
    case Isolation::read_committed:
    case Isolation::innodb_repeatable_read:
      return cuts_at_statements(txn);
    case Isolation::prefix: {
      Cut cut = cut_behind(txn, 1);
      cut.reads.assign(steps_.reads(txn).begin(), steps_.reads(txn).end());
      cut.later_reads.clear();
      return {cut};
    }
    case Isolation::snapshot:
    case Isolation::ssi:
      break;
  }
  Cut cut = cut_behind(txn, steps_.locks_first(txn) ? 0 : 1);
  cut.reads.assign(steps_.reads(txn).begin(), steps_.reads(txn).end());
  cut.forbidden.clear();
  for (const auto keys : {steps_.certain_changes(txn), steps_.locked(txn), steps_.shared(txn)})
    cut.forbidden.insert(cut.forbidden.end(), keys.begin(), keys.end());
  make_set(cut.forbidden);
  cut.later_reads.clear();
  cut.later_changes.clear();
  return {cut};
}

// Cuts at read committed after every step that reads something new: a later cut without a new read
// only forbids more. InnoDB's snapshot is that of the first plain statement: all plain statements
// read from it, and what the others have read before stays locked.
std::vector<Splits::Cut> Splits::cuts_at_statements(TxnId txn) const {
  const bool innodb = isolations_[txn] == Isolation::innodb_repeatable_read;
  std::vector<Cut> cuts;
  for (uint32_t p = 0; p < steps_.count(txn); ++p) {
    const bool reads = std::ranges::any_of(steps_.touches(txn, p), &Touch::reads);
    if (innodb ? !steps_.is_plain(txn, p) : !reads) continue;
    Cut& cut = cuts.emplace_back(cut_behind(txn, p + 1));
    if (!innodb) continue;
    cut.reads.clear();
    cut.later_reads.clear();
    for (uint32_t s = 0; s < steps_.count(txn); ++s)
      for (const Touch& t : steps_.touches(txn, s)) {
        if (!t.reads) continue;
        if (steps_.is_plain(txn, s))
          cut.reads.push_back(t.key);
        else if (s > p)
          cut.later_reads.push_back(t.key);
        else if (t.is_certain)
          for (auto* keys : {&cut.forbidden, &cut.shared}) keys->push_back(t.key);
        // It is unknown which unrecorded statements would have locked, as statements with changes
        // do.
        if (steps_.has_gaps(txn) && steps_.is_plain(txn, s)) cut.later_reads.push_back(t.key);
      }
    for (auto* keys : {&cut.reads, &cut.forbidden, &cut.shared, &cut.later_reads}) make_set(*keys);
    break;
  }
  return cuts;
}

// The cut after this many steps, with what the steps before it read and change, and those after it.
Splits::Cut Splits::cut_behind(TxnId txn, uint32_t steps) const {
  Cut cut;
  cut.steps = steps;
  for (uint32_t s = 0; s < steps_.count(txn); ++s)
    for (const Touch& t : steps_.touches(txn, s)) {
      const bool before = s < steps;
      if (t.reads) (before ? cut.reads : cut.later_reads).push_back(t.key);
      if (t.changes && !before) cut.later_changes.push_back(t.key);
      if (!t.is_certain) continue;
      const RowLock lock = locks_reads(txn) ? t.lock : RowLock::none;
      if (before && (t.changes || lock == RowLock::update)) cut.locked.push_back(t.key);
      if (before && lock == RowLock::share) cut.shared.push_back(t.key);
      if ((before && (t.changes || lock != RowLock::none)) || (t.inserts && terms_.keeps_inserts))
        cut.forbidden.push_back(t.key);
    }
  make_set(cut.reads);
  make_set(cut.later_reads);
  make_set(cut.later_changes);
  make_set(cut.forbidden);
  make_set(cut.locked);
  make_set(cut.shared);
  return cut;
}

bool Splits::may_run(TxnId other, const Cut& cut) const {
  if (terms_.sessions != nullptr && (*terms_.sessions)[other] == (*terms_.sessions)[txn_])
    return false;
  const bool waits = locks_reads(other) && (meet(steps_.locked(other), cut.locked) ||
                                            meet(steps_.locked(other), cut.shared) ||
                                            meet(steps_.shared(other), cut.locked));
  return other != txn_ && !waits && !meet(steps_.certain_changes(other), cut.forbidden) &&
         !(isolations_[other] == Isolation::innodb_repeatable_read &&
           meet(steps_.locking_reads(other), cut.locked));
}

bool Splits::may_be_first(TxnId other, Ends ends) const {
  if (ends == Ends::any) return true;
  if (isolations_[other] != Isolation::ssi) return ends == Ends::below_ssi_first;
  return ends == Ends::below_ssi_last &&
         !meet(steps_.certain_reads(other), steps_.certain_changes(txn_));
}

bool Splits::closes(TxnId other, const Cut& cut, Ends ends) const {
  if (ends != Ends::any && isolations_[other] == Isolation::ssi &&
      (ends == Ends::below_ssi_last ||
       meet(steps_.certain_changes(other), steps_.certain_reads(txn_))))
    return false;
  return meet(steps_.reads(other), steps_.changes(txn_)) ||
         meet(steps_.changes(other), cut.later_changes) ||
         meet(steps_.changes(other), cut.later_reads);
}

bool Splits::any_closes(const Cut& cut, Ends ends) const {
  const auto any = [&](KeyId k, const std::vector<TxnId>& who, const std::vector<uint64_t>& first) {
    return std::ranges::any_of(those_of(k, who, first), [&](TxnId other) {
      return may_run(other, cut) && closes(other, cut, ends);
    });
  };
  const auto written = [&](KeyId k) {
    return !holds(cut.forbidden, k) && any(k, writers_, first_writer_);
  };
  return std::ranges::any_of(steps_.changes(txn_),
                             [&](KeyId k) { return any(k, readers_, first_reader_); }) ||
         std::ranges::any_of(cut.later_changes, written) ||
         std::ranges::any_of(cut.later_reads, written);
}

// Whether the transaction may be neither the first nor the last in the gap.
bool Splits::may_be_inside(TxnId other) const {
  return isolations_[txn_] != Isolation::ssi ||
         !(meet(steps_.certain_changes(other), steps_.certain_reads(txn_)) ||
           meet(steps_.certain_changes(other), steps_.certain_changes(txn_)) ||
           meet(steps_.certain_reads(other), steps_.certain_changes(txn_)));
}

std::optional<Split> Splits::search(TxnId txn, const Cut& cut, Ends ends, Budget& budget,
                                    std::vector<Uncut>* uncut) {
  if (budget.exhausted()) return std::nullopt;
  ++epoch_;
  queue_.clear();
  for (const KeyId k : cut.reads) {
    if (holds(cut.forbidden, k)) continue;  // none of its writers may run
    for (const TxnId other : those_of(k, writers_, first_writer_)) {
      if (reached_[other] == epoch_ || !may_run(other, cut) || !may_be_first(other, ends)) continue;
      reached_[other] = epoch_;
      from_[other] = kNone;
      if (closes(other, cut, ends)) return Split{txn, cut.steps, {other}};
      queue_.push_back(other);
    }
  }
  const size_t first = queue_.size();
  if (first == 0 || !any_closes(cut, ends)) {
    if (uncut != nullptr)
      uncut->push_back({cut.steps, ends, first == 0 ? Because::empty : Because::nobody_closes});
    return std::nullopt;
  }
  for (size_t at = 0; at < queue_.size(); ++at) {
    if (budget.exhausted()) return std::nullopt;
    if (at >= first && !may_be_inside(queue_[at])) continue;
    if (auto found = spread(queue_[at], cut, ends)) return found;
  }
  if (uncut == nullptr) return std::nullopt;
  Uncut& apart = uncut->emplace_back(Uncut{cut.steps, ends, Because::apart});
  if (room_to_grow(apart.reached, queue_.size(), budget)) apart.reached = queue_;
  return std::nullopt;
}

// Spreads the search to all transactions that conflict with `from`.
std::optional<Split> Splits::spread(TxnId from, const Cut& cut, Ends ends) {
  const auto visit_all = [&](std::span<const TxnId> others) -> std::optional<Split> {
    for (const TxnId other : others)
      if (auto found = visit(other, from, cut, ends)) return found;
    return std::nullopt;
  };
  for (const KeyId k : steps_.changes(from)) {
    if (std::exchange(written_in_[k], epoch_) == epoch_) continue;
    if (auto found = visit_all(those_of(k, writers_, first_writer_))) return found;
    if (auto found = visit_all(those_of(k, readers_, first_reader_))) return found;
  }
  for (const KeyId k : steps_.reads(from)) {
    if (written_in_[k] == epoch_ || std::exchange(read_in_[k], epoch_) == epoch_) continue;
    if (auto found = visit_all(those_of(k, writers_, first_writer_))) return found;
  }
  return std::nullopt;
}

std::optional<Split> Splits::visit(TxnId other, TxnId from, const Cut& cut, Ends ends) {
  if (reached_[other] == epoch_ || !may_run(other, cut)) return std::nullopt;
  reached_[other] = epoch_;
  from_[other] = from;
  if (closes(other, cut, ends)) {
    Split split{txn_, cut.steps, {}};
    for (TxnId t = other; t != kNone; t = from_[t]) split.between.push_back(t);
    std::reverse(split.between.begin(), split.between.end());
    return split;
  }
  queue_.push_back(other);
  return std::nullopt;
}

certify::Schedule schedule_of(const Split& split, const Steps& steps,
                              const std::vector<Isolation>& isolations) {
  using What = certify::Schedule::What;
  certify::Schedule schedule;
  const auto add = [&](TxnId t) {
    const auto member = static_cast<uint32_t>(schedule.members.size());
    schedule.members.push_back({t, isolations[t]});
    schedule.cycle.push_back(member);
    return member;
  };
  const auto run = [&](uint32_t member, uint32_t from, uint32_t to) {
    for (uint32_t s = from; s < to; ++s) schedule.events.push_back({What::step, member});
    if (to == steps.count(schedule.members[member].txn))
      schedule.events.push_back({What::commit, member});
  };
  const uint32_t cut = add(split.txn);
  if (split.steps == 0) schedule.events.push_back({What::begin, cut});
  for (uint32_t s = 0; s < split.steps; ++s) schedule.events.push_back({What::step, cut});
  for (const TxnId t : split.between) run(add(t), 0, steps.count(t));
  run(cut, split.steps, steps.count(split.txn));
  return schedule;
}

}  // namespace assay::internal::predict
