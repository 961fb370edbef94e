#include <fmt/format.h>

#include <algorithm>

#include "explain/names.h"
#include "explain/narrate.h"
#include "explain/phrases.h"
#include "explain/tale.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

// What the rows below ask of two operations.
struct ReadFacts {
  const BadRead& bad;
  const Told& told;
  const History& h = told.history;

  TxnId reader() const { return h.txn_of(bad.read); }
  TxnId by() const { return h.txn_of(bad.other); }
  Accepts accepts() const { return observation_of(h, bad.read).accepts; }
  bool has_other() const { return bad.other != kNone; }

  // What an operation says that it saw: "x = 1", or for a list and a range the operation itself.
  std::string seen_by(OpId i) const {
    const Observation seen = observation_of(h, i);
    if (seen.accepts == Accepts::list) return list_in_words(told.in_file(i));
    return seen.accepts == Accepts::equals ? display_version(h, seen.version) : display_op(h, i);
  }
  // An operation that returns no value, or several, saw what the other one wrote.
  std::string saw() const {
    const std::string name = display_txn(h, reader()), seen = seen_by(bad.read);
    return accepts() == Accepts::equals || accepts() == Accepts::list
               ? name + " read " + seen
               : fmt::format("{} of {} saw {}", seen, name,
                             display_version(h, h.op(bad.other).version));
  }
  // The last operation before `end` with which the transaction of the other operation changed the key.
  OpId last_change(OpId end) const {
    OpId last = bad.other;
    for (OpId i = bad.other; i < end; ++i)
      if (installs_version(h.op(i)) && h.op(i).key == h.op(bad.other).key) last = i;
    return last;
  }
  // The write of what it read with which its transaction went on; kNone if there is none.
  OpId write_after() const {
    for (OpId i = bad.read; i < h.end_op(reader()); ++i)
      if (installs_version(h.op(i)) && h.op(i).key == h.op(bad.read).key) return i;
    return kNone;
  }
  const Aggregate& aggregate() const {
    return h.predicates().aggregate(h.selected(bad.read).aggregate);
  }
};

bool found_besides(const ReadFacts& f) { return f.has_other() && is_range(f.h.op(f.bad.other)); }
bool read_besides(const ReadFacts& f) { return f.has_other(); }
bool of_nobody(const ReadFacts& f) { return !f.has_other(); }
// A list that was read, and the append that shows what is wrong with it.
bool of_list(const ReadFacts& f) {
  return f.accepts() == Accepts::list && f.has_other() && install_of(f.h, f.bad.other).appends;
}
bool wrote_on(const ReadFacts& f) { return f.write_after() != kNone; }

constexpr Tale<ReadFacts> kReadTales[] = {
    {Anomaly::result_set_mismatch, found_besides,
     "{aggregate} together with those that {reader} found besides."},
    {Anomaly::result_set_mismatch, read_besides,
     "{aggregate} together with what {reader} read besides, such as {other version}."},
    {Anomaly::result_set_mismatch, always, "{aggregate}."},
    {Anomaly::aborted_read, of_list,
     "{reader} read {seen} with {element}, which {by} appended before it aborted.\n"
     "What an aborted transaction wrote must never be seen."},
    {Anomaly::future_read, of_list, "{reader} read {seen} before it appended {element} itself."},
    {Anomaly::not_my_own_write, of_list,
     "{reader} appended {element} to {key}, and then read {seen}, which does not end in what it "
     "had appended."},
    {Anomaly::intermediate_read, of_list,
     "{reader} read {seen}, but {by} appended {appended}.\n"
     "What one transaction appends to a list appears at once, and nothing stands between."},
    {Anomaly::none, of_list, "{operation} contradicts {other operation} of {by}."},
    {Anomaly::none, of_nobody, "{reader} read {seen}, but no transaction wrote that value."},
    {Anomaly::aborted_read, always,
     "{saw}, which {by} wrote before it aborted.\n"
     "What an aborted transaction wrote must never be seen."},
    {Anomaly::future_read, always, "{saw} before it wrote that value itself."},
    {Anomaly::not_my_last_write, always,
     "{reader} {did last}, and then read {seen}, an earlier write of its own."},
    {Anomaly::not_my_own_write, always,
     "{reader} {did}, and then read {seen}, which is not its own write."},
    {Anomaly::intermediate_read, always,
     "{saw}, which {by} itself {replaced} before it committed.\n"
     "Only the last write of a transaction to a key may be seen by others."},
    {Anomaly::non_repeatable_read, wrote_on,
     "{reader} read {key} twice without writing it in between: once {other seen}, once {seen}.\n"
     "After that {reader} {did after}: if that comes of the first of the two, the change in "
     "between is lost."},
    {Anomaly::non_repeatable_read, always,
     "{reader} read {key} twice without writing it in between: once {other seen}, once {seen}."},
    {Anomaly::none, always, "{operation} in {reader} contradicts {other operation} in {by}."},
};

constexpr Word<ReadFacts> kReadWords[] = {
    {"reader", [](const ReadFacts& f) { return display_txn(f.h, f.reader()); }},
    {"by", [](const ReadFacts& f) { return display_txn(f.h, f.by()); }},
    {"key", [](const ReadFacts& f) { return key_in_words(f.h, f.h.op(f.bad.other).key); }},
    {"seen", [](const ReadFacts& f) { return f.seen_by(f.bad.read); }},
    {"other seen", [](const ReadFacts& f) { return f.seen_by(f.bad.other); }},
    {"saw", [](const ReadFacts& f) { return f.saw(); }},
    {"element", [](const ReadFacts& f) { return display_value(f.h, f.h.op(f.bad.other).version); }},
    {"other version",
     [](const ReadFacts& f) { return display_version(f.h, f.h.op(f.bad.other).version); }},
    {"appended", [](const ReadFacts& f) { return appended_with(f.h, f.bad.other); }},
    {"operation", [](const ReadFacts& f) { return display_op(f.h, f.bad.read); }},
    {"other operation", [](const ReadFacts& f) { return display_op(f.h, f.bad.other); }},
    {"did", [](const ReadFacts& f) { return did_in_words(f.h, f.bad.other); }},
    {"did last", [](const ReadFacts& f) { return did_in_words(f.h, f.last_change(f.bad.read)); }},
    {"did after", [](const ReadFacts& f) { return did_in_words(f.h, f.write_after()); }},
    {"replaced",
     [](const ReadFacts& f) {
       const OpId change = f.last_change(f.h.end_op(f.by()));
       return install_of(f.h, change).removes
                  ? std::string("deleted")
                  : "replaced by " + display_value(f.h, f.h.op(change).version);
     }},
    {"aggregate",
     [](const ReadFacts& f) {
       return fmt::format("{} of {} returned {}, which no versions of the rows give",
                          in_words(f.h, f.aggregate()), display_txn(f.h, f.reader()),
                          display(value_of(f.aggregate().value)));
     }},
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

std::vector<std::string> narrate(const BadRead& bad, const Told& told) {
  return told_by<ReadFacts>(kReadTales, kReadWords, bad.anomaly, {bad, told});
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
          "Each of them needs one for itself; else one did not know the other's update, which is "
          "lost."};
}

std::string recording_hint(Anomaly anomaly, const History& h) {
  switch (anomaly) {
    case Anomaly::thin_air_read:
      return "Was the value there before recording began? Then say so: record the load as a "
             "transaction, or give the initial value in the header or with --initial.";
    case Anomaly::aborted_read:
      return "Was the transaction really rolled back? If its error was a time-out or a lost "
             "connection, its outcome must be recorded as unknown.";
    case Anomaly::real_time_violation:
      return "Do all times come from one clock (else --clock-drift)? Is begin the moment of the "
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
