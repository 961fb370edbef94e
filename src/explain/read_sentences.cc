#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "explain/names.h"
#include "explain/narrate.h"
#include "explain/phrases.h"
#include "explain/sentence_table.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

class ReadStory {
 public:
  ReadStory(const BadRead& bad, const Excerpt& excerpt)
      : bad_(bad),
        excerpt_(excerpt),
        h_(excerpt.history),
        accepts_(observation_of(h_, bad.read).accepts) {}

  std::vector<std::string> tell() const {
    const bool other = bad_.other != kNone;
    const bool range = other && is_range(h_.op(bad_.other));
    // A list that was read, and the append that shows the fault.
    const bool list = other && accepts_ == Accepts::list && install_of(h_, bad_.other).appends;
    const SentenceRow rows[] = {
        {Anomaly::result_set_mismatch, range,
         "{aggregate} together with the others that {reader} found."},
        {Anomaly::result_set_mismatch, other,
         "{aggregate} together with the other reads of {reader}, such as {other version}."},
        {Anomaly::result_set_mismatch, true, "{aggregate}."},
        {Anomaly::aborted_read, list,
         "{reader} read {seen} with {element}, which {by} appended before it aborted.\nWrites of "
         "an aborted transaction must never be seen."},
        {Anomaly::future_read, list, "{reader} read {seen} before it appended {element} itself."},
        {Anomaly::not_my_own_write, list,
         "{reader} appended {element} to {key}, and then read {seen}, which does not end with what "
         "it had appended."},
        {Anomaly::intermediate_read, list,
         "{reader} read {seen}, but {by} appended {appended}.\nThe elements that one transaction "
         "appends to a list appear at once, with nothing in between."},
        {Anomaly::none, list, "{operation} contradicts {other operation} of {by}."},
        {Anomaly::none, !other, "{reader} read {seen}, but no transaction wrote that value."},
        {Anomaly::aborted_read, true,
         "{saw}, which {by} wrote before it aborted.\nWrites of an aborted transaction must never "
         "be seen."},
        {Anomaly::future_read, true, "{saw} before it wrote that value itself."},
        {Anomaly::not_my_last_write, true,
         "{reader} {did last}, and then read {seen}, an earlier write of its own."},
        {Anomaly::not_my_own_write, true,
         "{reader} {did}, and then read {seen}, which is not its own write."},
        {Anomaly::intermediate_read, true,
         "{saw}, which {by} itself {replaced} before it committed.\n"
         "Only the last write of a transaction to a key may be seen by others."},
        {Anomaly::non_repeatable_read, write_after() != kNone,
         "{reader} read {key} twice without writing it in between: once {other seen}, once "
         "{seen}.\nAfter that {reader} {did after}: if that depends on the first of the two reads, "
         "the change in between is lost."},
        {Anomaly::non_repeatable_read, true,
         "{reader} read {key} twice without writing it in between: once {other seen}, once "
         "{seen}."},
        {Anomaly::none, true, "{operation} in {reader} contradicts {other operation} in {by}."},
    };
    return sentences_for(rows, bad_.anomaly, [this](std::string_view name) { return word(name); });
  }

 private:
  std::string word(std::string_view name) const {
    if (name == "reader") return display_txn(h_, h_.txn_of(bad_.read));
    if (name == "by") return display_txn(h_, h_.txn_of(bad_.other));
    if (name == "key") return key_in_words(h_, h_.op(bad_.other).key);
    if (name == "seen") return seen_by(bad_.read);
    if (name == "other seen") return seen_by(bad_.other);
    if (name == "saw") return saw();
    if (name == "element") return display_value(h_, h_.op(bad_.other).version);
    if (name == "other version") return display_version(h_, h_.op(bad_.other).version);
    if (name == "appended") return appended_with(h_, bad_.other);
    if (name == "operation") return display_op(h_, bad_.read);
    if (name == "other operation") return display_op(h_, bad_.other);
    if (name == "did") return in_words(kDid, h_, bad_.other);
    if (name == "did last") return in_words(kDid, h_, last_change(bad_.read));
    if (name == "did after") return in_words(kDid, h_, write_after());
    if (name == "replaced") return replaced();
    assert(name == "aggregate");
    return aggregate();
  }

  // Returns what an operation says that it saw: "x = 1", or for a list and a range the operation
  // itself.
  std::string seen_by(OpId i) const {
    const Observation seen = observation_of(h_, i);
    if (seen.accepts == Accepts::list) return list_in_words(excerpt_.in_file(i));
    return seen.accepts == Accepts::equals ? display_version(h_, seen.version) : display_op(h_, i);
  }

  // Returns what an operation that returns no value, or several, saw of what the other operation
  // wrote.
  std::string saw() const {
    if (accepts_ == Accepts::equals || accepts_ == Accepts::list)
      return word("reader") + " read " + word("seen");
    return fmt::format("{} of {} saw {}", word("seen"), word("reader"), word("other version"));
  }

  // The last operation before `end` by which the transaction of the other operation changed the
  // key.
  OpId last_change(OpId end) const {
    OpId last = bad_.other;
    for (OpId i = bad_.other; i < end; ++i)
      if (installs_version(h_.op(i)) && h_.op(i).key == h_.op(bad_.other).key) last = i;
    return last;
  }

  // The next write of the key that was read, by the transaction of the read; kNone if there is
  // none.
  OpId write_after() const {
    for (OpId i = bad_.read; i < h_.end_op(h_.txn_of(bad_.read)); ++i)
      if (installs_version(h_.op(i)) && h_.op(i).key == h_.op(bad_.read).key) return i;
    return kNone;
  }

  std::string replaced() const {
    const OpId change = last_change(h_.end_op(h_.txn_of(bad_.other)));
    if (install_of(h_, change).removes) return "deleted";
    return "replaced by " + display_value(h_, h_.op(change).version);
  }

  std::string aggregate() const {
    const Aggregate& aggregate = h_.predicates().aggregate(h_.selected(bad_.read).aggregate);
    return fmt::format("{} of {} returned {}, which no versions of the rows give",
                       in_words(h_, aggregate), word("reader"), display(value_of(aggregate.value)));
  }

  const BadRead& bad_;
  const Excerpt& excerpt_;
  const History& h_;
  const Accepts accepts_;
};

// "T1, T2 and T3", "T1, T2, T3, T4 and 9 more"
std::string names_of(const History& h, const std::vector<OpId>& ops) {
  constexpr size_t kMost = 4;
  std::vector<std::string> names;
  for (size_t i = 0; i < ops.size() && i < kMost; ++i)
    names.push_back(display_txn(h, h.txn_of(ops[i])));
  if (ops.size() > kMost) names.push_back(fmt::format("{} more", ops.size() - kMost));
  return listed(names);
}

}  // namespace

std::vector<std::string> narrate(const BadRead& bad, const Excerpt& excerpt) {
  return ReadStory(bad, excerpt).tell();
}

std::vector<std::string> narrate_overdrawn(const History& h, const std::vector<OpId>& reads,
                                           const std::vector<OpId>& writes) {
  const VersionId version = observation_of(h, reads[0]).version;
  std::string there;
  if (h.is_initial(version)) there = "initially";
  if (!writes.empty())
    there += (there.empty() ? "" : " and ") + ("as " + names_of(h, writes)) + " wrote it";
  return {fmt::format("{} all read {} and overwrote it, but it was there only {} times: {}.",
                      names_of(h, reads), display_version(h, version), reads.size() - 1, there),
          "Each of them needs one for itself; otherwise one did not see the other's update, which "
          "is lost."};
}

std::string recording_hint(Anomaly anomaly, const History& h) {
  switch (anomaly) {
    case Anomaly::thin_air_read:
      return "Was the value there before recording began? If so, record the load as a transaction, "
             "or give the initial value in the header or with --initial.";
    case Anomaly::aborted_read:
      return "Was the transaction really rolled back? If its error was a time-out or a lost "
             "connection, its outcome must be recorded as unknown.";
    case Anomaly::real_time_violation:
      return "Do all times come from one clock (else --clock-drift)? Is begin the time of the "
             "snapshot? Many databases take it at the first statement: record begin and end as "
             "intervals [request, response], of the first statement and of COMMIT.";
    case Anomaly::session_guarantee_violation:
      return h.session_count() > 1
                 ? "Does each session of the history use one connection? Behind a "
                   "pool, one session may be several to the database."
                 : "";
    default:
      return {};
  }
}

}  // namespace assay::internal
