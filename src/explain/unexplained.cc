#include "explain/unexplained.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "explain/arrows.h"
#include "explain/names.h"
#include "explain/narrate.h"
#include "explain/phrases.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/predicates.h"
#include "levels/overdrawn.h"

namespace assay::internal {
namespace {

constexpr size_t kMostWritersShown = 32;

// Notes operations with their transactions.
void note(const History& h, const std::vector<OpId>& ops, Explanation& e) {
  for (const OpId op : ops) {
    e.operations.push_back(op);
    e.transactions.push_back(h.txn_of(op));
  }
}

template <class Wanted>
std::vector<OpId> writes_where(const History& h, Wanted wanted) {
  std::vector<OpId> writes;
  for (OpId i = 0; i < h.op_count(); ++i)
    if (installs_version(h.op(i)) && wanted(i)) writes.push_back(i);
  return writes;
}

// A value that was overwritten more often than it was there; shows one transaction more than that
// allows. If the value was there once, two lost an update, as they do where values are unique.
void explain_overdrawn(const Excerpt& excerpt, OpId read, Explanation& e) {
  const History& h = excerpt.history;
  const VersionId version = observation_of(h, read).version;
  const auto there = static_cast<size_t>(times_there(h)[version]);
  std::vector<OpId> reads;
  each_update(h, [&](OpId one, VersionId of) {
    if (of == version) reads.push_back(one);
    return reads.size() <= there;
  });
  if (there == 1 && reads.size() == 2) {
    const Cycle cycle = both_overwrite(h, version, sources_of_versions(h)[version],
                                       h.txn_of(reads[0]), h.txn_of(reads[1]));
    const Proof nothing;
    const Clauses clauses(excerpt, nothing);
    e.sentences = narrate(e.anomaly, cycle, h, clauses);
    draw(cycle, h, nothing, clauses, e);
    return;
  }
  const std::vector<OpId> writes = writes_where(h, [&](OpId i) {
    return h.op(i).version == version && h.status(h.txn_of(i)) != TxnStatus::aborted;
  });
  e.sentences = narrate_overdrawn(h, reads, writes);
  if (reads.size() + writes.size() > kMostWritersShown) return;
  note(h, reads, e);
  note(h, writes, e);
}

// Notes the possible writers of the rows of an aggregate, unless there are many.
void note_writers_of_rows(const History& h, OpId op, Explanation& e) {
  const Predicates& known = h.predicates();
  const auto keys = known.keys(known.aggregate(h.selected(op).aggregate).where);
  const std::vector<OpId> writes =
      writes_where(h, [&](OpId i) { return std::ranges::binary_search(keys, h.op(i).key); });
  if (writes.size() <= kMostWritersShown) note(h, writes, e);
}

// Notes the writers of the versions that an operation saw of a key: without them the observation
// has no source.
void note_writers(const History& h, OpId op, KeyId key, Explanation& e) {
  std::vector<VersionId> seen = {observation_of(h, op).version};
  if (is_range(h.op(op)))
    for (const VersionId row : rows_of(h, op))
      if (h.version_key(row) == key) seen.push_back(row);
  note(h,
       writes_where(h,
                    [&](OpId i) {
                      return h.op(i).key == key &&
                             std::find(seen.begin(), seen.end(), h.op(i).version) != seen.end();
                    }),
       e);
}

// Explains two queries of one transaction of which one found the row and the other did not,
// although the transaction did not write the key itself. False if there are none.
bool explain_phantom(const History& h, OpId query, KeyId key, Explanation& e) {
  const TxnId reader = h.txn_of(query);
  if (last_write(h, reader, key) != kNone) return false;
  OpId other = h.first_op(reader);
  while (other < h.end_op(reader) && !(is_range(h.op(other)) && looks_at(h, other, key) &&
                                       returned(h, other, key) != returned(h, query, key)))
    ++other;
  if (other == h.end_op(reader)) return false;
  const auto [first, second] = std::minmax(query, other);
  e.anomaly = Anomaly::phantom;
  e.operations = {first, second};
  e.sentences = {asked_twice(h, first, second, key)};
  note_writers(h, returned(h, first, key) ? first : second, key, e);
  if (returned(h, second, key) && e.operations.size() == 3)
    e.sentences.push_back(fmt::format("In between {} {}.",
                                      display_txn(h, h.txn_of(e.operations.back())),
                                      in_words(kDid, h, e.operations.back())));
  return true;
}

// Everything that the transaction of `last` saw of a key that others left, up to `last`: "read x =
// 1, and then it read x = 2 with range(…)"; notes the operations.
std::string all_looks(const History& h, OpId last, KeyId key, Explanation& e) {
  std::vector<std::string> looks;
  bool wrote = false;
  for (OpId i = h.first_op(h.txn_of(last)); i < h.end_op(h.txn_of(last)); ++i) {
    const bool others = !wrote || i == last;
    wrote = wrote || (installs_version(h.op(i)) && h.op(i).key == key);
    if (!others || !looks_at(h, i, key)) continue;
    std::string look = saw_in_words(h, i, key);
    if (is_range(h.op(i)) && h.selected(i).predicate == kNone) look += " with " + display_op(h, i);
    if (std::find(looks.begin(), looks.end(), look) != looks.end()) continue;
    looks.push_back(look);
    e.operations.push_back(i);
  }
  return fmt::format("{}", fmt::join(looks, ", and then it "));
}

// Adds what the transaction of an operation had done to a key before.
void add_writes_before(const History& h, OpId op, KeyId key, Explanation& e) {
  for (OpId i = op; i-- > h.first_op(h.txn_of(op));)
    if (installs_version(h.op(i)) && h.op(i).key == key) {
      e.sentences.push_back(
          fmt::format("Before that, {} {}.", display_txn(h, h.txn_of(i)), in_words(kDid, h, i)));
      e.operations.push_back(i);
      return;
    }
}

// Whether two lists of one key contradict each other: neither is a prefix of the other.
bool contradict(const History& h, OpId a, OpId b) {
  if (h.op(a).key != h.op(b).key) return false;
  const std::span<const VersionId> x = outside_list(h, a).elements, y = outside_list(h, b).elements;
  const size_t both = std::min(x.size(), y.size());
  return !std::equal(x.begin(), x.begin() + static_cast<ptrdiff_t>(both), y.begin());
}

std::string list_read(const Excerpt& excerpt, OpId op) {
  return display_txn(excerpt.history, excerpt.history.txn_of(op)) + " read " +
         list_in_words(excerpt.in_file(op));
}

// Returns false if no two lists contradict each other: then those of a key are prefixes of its
// longest.
bool explain_contradicting_lists(const Excerpt& excerpt, const std::vector<OpId>& lists,
                                 Explanation& e) {
  const History& h = excerpt.history;
  std::unordered_map<KeyId, OpId> longest;
  const auto size = [&](OpId op) { return outside_list(h, op).elements.size(); };
  for (const OpId op : lists) {
    OpId& of_key = longest.try_emplace(h.op(op).key, op).first->second;
    if (size(op) > size(of_key)) of_key = op;
  }
  for (const OpId op : lists) {
    const auto [a, b] = std::minmax(op, longest.at(h.op(op).key));
    if (!contradict(h, a, b)) continue;
    e.anomaly = Anomaly::g0;
    e.operations = e.transactions = {};
    note(h, {a, b}, e);
    e.sentences = {fmt::format(
        "{}, and {}. A list grows only at its end, so one of the two must begin with the other.",
        list_read(excerpt, a), list_read(excerpt, b))};
    return true;
  }
  return false;
}

void explain_impossible_lists(const Excerpt& excerpt, const std::vector<OpId>& lists,
                              Explanation& e) {
  constexpr size_t kMost = 3;
  std::string read;
  for (size_t i = 0; i < std::min(lists.size(), kMost); ++i)
    read += (i == 0 ? "" : ", ") + list_read(excerpt, lists[i]);
  if (lists.size() > kMost) read += ", and so on";
  e.anomaly = Anomaly::thin_air_read;
  note(excerpt.history, lists, e);
  e.sentences = {
      fmt::format("{} the transactions that may have taken effect appended cannot form {}: each "
                  "appends all of its elements together, once.",
                  lists.empty() ? "What" : read + "; but what",
                  lists.size() == 1 ? "this list" : "what was read")};
}

// The lists that committed transactions read.
std::vector<OpId> all_lists(const History& h) {
  std::vector<OpId> lists;
  for (OpId i = 0; i < h.op_count(); ++i)
    if (is_list(h, i) && h.status(h.txn_of(i)) == TxnStatus::committed) lists.push_back(i);
  return lists;
}

}  // namespace

void explain_bad_read(const Excerpt& excerpt, const BadRead& bad, Explanation& e) {
  e.anomaly = bad.anomaly;
  note(excerpt.history, {bad.read}, e);
  if (bad.other != kNone) note(excerpt.history, {bad.other}, e);
  if (bad.anomaly == Anomaly::lost_update) return explain_overdrawn(excerpt, bad.read, e);
  // The writer of a value may just not have been recorded; two lists contradict each other whatever
  // their writers.
  if (bad.anomaly == Anomaly::thin_air_read &&
      explain_contradicting_lists(excerpt, all_lists(excerpt.history), e))
    return;
  e.sentences = narrate(bad, excerpt);
  if (bad.anomaly == Anomaly::result_set_mismatch)
    note_writers_of_rows(excerpt.history, bad.read, e);
}

void explain_sourceless(const Excerpt& excerpt, const ProofStep& nobody, Explanation& e) {
  const History& h = excerpt.history;
  const TxnId reader = h.txn_of(nobody.source);
  const bool range = is_range(h.op(nobody.source));
  e.anomaly = range ? Anomaly::result_set_mismatch : Anomaly::thin_air_read;
  e.transactions = {reader};
  if (range) e.sentences = against_its_condition(h, nobody.source);
  if (!e.sentences.empty()) {
    e.operations = {nobody.source};
    return;
  }
  if (range && explain_phantom(h, nobody.source, nobody.key, e)) return;
  const std::string name = display_txn(h, reader);
  e.sentences = {fmt::format("{} {}.", name, all_looks(h, nobody.source, nobody.key, e))};
  // The transaction saw the key more than once, with different results.
  if (range && e.operations.size() > 1) e.anomaly = Anomaly::non_repeatable_read;
  add_writes_before(h, nobody.source, nobody.key, e);
  e.sentences.push_back(fmt::format(
      "Neither the initial state of {} nor any state in which a transaction left it agrees with {} "
      "{} saw of it.",
      key_in_words(h, nobody.key), e.operations.size() > 1 ? "everything that" : "what", name));
  for (const OpId op : std::vector(e.operations)) note_writers(h, op, nobody.key, e);
}

bool explain_lists(const Excerpt& excerpt, const Proof& proof, Explanation& e) {
  const History& h = excerpt.history;
  std::vector<OpId> lists;  // those read by transactions that certainly took effect
  bool any = false, cycles = false;
  for (const ProofStep& step : proof.steps) {
    cycles = cycles || step.kind == ProofStep::Kind::cycle;
    if (step.kind != ProofStep::Kind::blocks) continue;
    any = true;
    if (h.status(h.txn_of(step.source)) == TxnStatus::committed) lists.push_back(step.source);
  }
  tidy(lists);
  if (explain_contradicting_lists(excerpt, lists, e)) return true;
  if (!any || cycles) return false;
  explain_impossible_lists(excerpt, lists, e);
  return true;
}

void explain_wrong_aggregates(const History& h, const Proof& proof, Explanation& e) {
  constexpr size_t kMostShown = 4;
  std::vector<OpId> wrong;
  for (const ProofStep& step : proof.steps)
    if (step.kind == ProofStep::Kind::aggregate) wrong.push_back(step.source);
  tidy(wrong);
  note(h, wrong, e);
  for (const OpId op : wrong) note_writers_of_rows(h, op, e);
  std::vector<std::string> shown;
  for (const OpId op : wrong) {
    if (shown.size() == kMostShown) break;
    shown.push_back(fmt::format("{} in {}", display_op(h, op), display_txn(h, h.txn_of(op))));
  }
  std::string all = fmt::format("{}", fmt::join(shown, ", "));
  if (wrong.size() > shown.size()) all += fmt::format(" and {} more", wrong.size() - shown.size());
  e.sentences = {
      fmt::format("No order of the transactions that wrote these rows explains what was computed "
                  "from them: {}.",
                  all)};
}

void explain_exhausted(const History& h, const Exhausted& exhausted, Explanation& e) {
  constexpr size_t kMostBefore = 6;  // how many of the operations that were answered last are shown
  e.anomaly = Anomaly::real_time_violation;
  const auto response = [&](TxnId t) {
    const bool known = h.status(t) == TxnStatus::committed;
    return known ? h.end_time(t).response : Interval::kUnknown;
  };
  const int64_t end = response(exhausted.until);
  size_t operations = 0;
  std::vector<TxnId> before;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::aborted || h.first_op(t) == h.end_op(t) ||
        h.op(h.first_op(t)).key != exhausted.key || h.begin_time(t).request > end)
      continue;
    ++operations;
    if (t != exhausted.until && response(t) != Interval::kUnknown) before.push_back(t);
  }
  std::sort(before.begin(), before.end(),
            [&](TxnId a, TxnId b) { return response(a) > response(b); });
  before.resize(std::min(before.size(), kMostBefore));
  e.transactions = before;
  e.transactions.push_back(exhausted.until);
  for (const TxnId t : e.transactions) e.operations.push_back(h.first_op(t));
  e.sentences.push_back(
      fmt::format("The answer of {}, {}, fits no order of the {} operations on {} requested by "
                  "then that respects the clock; all earlier answers do.",
                  display_txn(h, exhausted.until), display_op(h, h.first_op(exhausted.until)),
                  operations, key_in_words(h, exhausted.key)));
}

}  // namespace assay::internal
