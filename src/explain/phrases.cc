#include "explain/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "explain/names.h"
#include "history/accesses.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

// The row of `key` that a range returned; kNone if it was absent.
VersionId row_returned(const History& h, OpId range, KeyId key) {
  for (const VersionId row : rows_of(h, range))
    if (h.version_key(row) == key) return row;
  return kNone;
}

// Says what a range with a condition says about a key that it did not return.
std::string missed_in_words(const History& h, OpId range, KeyId key) {
  const Selected selected = h.selected(range);
  const std::string& where = h.predicates().text(selected.predicate);
  const std::string name = key_in_words(h, key);
  for (const VersionId v : selected.passed)
    if (h.version_key(v) == key)
      return fmt::format("saw {} and skipped it, looking for {}", display_version(h, v), where);
  for (const KeyId matched : selected.matched)
    if (matched == key) return fmt::format("found that {} satisfied {}", name, where);
  return fmt::format("found no {} with {}", name, where);
}

}  // namespace

bool saw_a_value(const History& h, OpId op, KeyId key) {
  switch (observation_of(h, op).accepts) {
    case Accepts::equals:
    case Accepts::list:
      return true;
    case Accepts::rows:
      return row_returned(h, op, key) != kNone;
    default:
      return false;
  }
}

std::string list_in_words(const Place& read) {
  const auto& [h, read_list] = read;
  std::string list;
  for (const VersionId v : elements_of(h, read_list))
    list += (list.empty() ? "" : ",") + display_value(h, v);
  return fmt::format("{} = [{}]", key_in_words(h, h.op(read_list).key), list);
}

std::string saw_in_words(const History& h, OpId op, KeyId key) {
  const Observation seen = observation_of(h, op);
  const std::string name = key_in_words(h, key);
  switch (seen.accepts) {
    case Accepts::equals:
      return "read " + display_version(h, seen.version);
    case Accepts::list:
      return "read " + list_in_words({h, op});
    case Accepts::rows: {
      const VersionId row = row_returned(h, op, key);
      if (row != kNone) return "read " + display_version(h, row);
      const PredicateId predicate = h.selected(op).predicate;
      if (predicate == kNone) return "found " + name + " absent";
      return missed_in_words(h, op, key);
    }
    case Accepts::absent:
      return "found " + name + " absent";
    case Accepts::present:
      return fmt::format("failed to insert {} because it was there", name);
    case Accepts::differs:
      return fmt::format("failed to compare-and-set {} because it was not {}", name,
                         display_value(h, seen.version));
    case Accepts::matches:
    case Accepts::misses:
    case Accepts::any:
    case Accepts::nothing:
      break;
  }
  return "accessed " + name;
}

std::string asked_twice(const History& h, OpId first, OpId second, KeyId key) {
  const PredicateId predicate = h.selected(second).predicate;
  const std::string rows = predicate != kNone
                               ? "rows with " + display(h.predicates().text(predicate), 200)
                               : "the rows of " + display_bounds(h, second);
  return fmt::format("{} asked twice for {}: first it {}, and then it {}.",
                     display_txn(h, h.txn_of(first)), rows, saw_in_words(h, first, key),
                     saw_in_words(h, second, key));
}

std::vector<std::string> against_its_condition(const History& h, OpId range) {
  const Selected selected = h.selected(range);
  if (selected.predicate == kNone) return {};
  const std::string query = fmt::format("The query of {} for {}", display_txn(h, h.txn_of(range)),
                                        h.predicates().text(selected.predicate));
  const std::string rule = "A query returns the rows that satisfy its condition, and no others.";
  for (const VersionId row : selected.rows)
    if (h.predicates().match(selected.predicate, row) == Match::no)
      return {fmt::format("{} returned {}, which does not satisfy that.", query,
                          display_version(h, row)),
              rule};
  for (const VersionId row : selected.passed)
    if (h.predicates().match(selected.predicate, row) == Match::yes)
      return {fmt::format("{} skipped {}, which satisfies that.", query, display_version(h, row)),
              rule};
  return {};
}

std::string appended_with(const History& h, OpId append) {
  std::vector<std::string> all;
  const TxnId t = h.txn_of(append);
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Install own = install_of(h, i);
    if (own.appends && own.key == h.op(append).key) all.push_back(display_value(h, own.version));
  }
  return listed(all);
}

std::string listed(const std::vector<std::string>& parts) {
  std::string words;
  for (size_t i = 0; i < parts.size(); ++i)
    words += (i == 0 ? "" : i + 1 < parts.size() ? ", " : " and ") + parts[i];
  return words;
}

std::string value_written(const History& h, TxnId t, KeyId key) {
  return display_value(h, h.op(last_write(h, t, key)).version);
}

std::string in_words(const WriteWords& words, const History& h, OpId write) {
  using fmt::arg;
  const Install install = install_of(h, write);
  const std::string_view text = install.removes   ? words.removes
                                : install.appends ? words.appends
                                                  : words.plain;
  return fmt::format(fmt::runtime(text), arg("key", key_in_words(h, install.key)),
                     arg("value", display_value(h, install.version)),
                     arg("elements", install.appends ? appended_with(h, write) : ""),
                     arg("who", display_txn(h, h.txn_of(write))));
}

std::string in_words(const WriteWords& words, const History& h, TxnId t, KeyId key) {
  const OpId write = last_write(h, t, key);
  if (write != kNone) return in_words(words, h, write);
  return fmt::format(fmt::runtime(words.unknown), fmt::arg("key", key_in_words(h, key)),
                     fmt::arg("who", display_txn(h, t)));
}

bool looks_at(const History& h, OpId i, KeyId key) {
  const Observation seen = observation_of(h, i);
  if (seen.accepts == Accepts::any) return false;
  if (seen.accepts != Accepts::rows) return seen.key == key;
  if (saw_a_value(h, i, key)) return true;
  const Selected selected = h.selected(i);
  if (!selected.complete)  // it says nothing about rows that it does not name
    return std::find(selected.matched.begin(), selected.matched.end(), key) !=
               selected.matched.end() ||
           std::any_of(selected.passed.begin(), selected.passed.end(),
                       [&](VersionId v) { return h.version_key(v) == key; });
  const KeyBounds bounds = bounds_of(h, i);
  return (bounds.from == kNone || !key_less(h.key(key), h.key(bounds.from))) &&
         (bounds.to == kNone || !key_less(h.key(bounds.to), h.key(key)));
}

}  // namespace assay::internal
