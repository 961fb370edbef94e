#include "explain/narrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "explain/names.h"
#include "explain/phrases.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/predicates.h"

namespace assay::internal {
namespace {

// Rotates a cycle so that its first anti-dependency comes last: first how the reader came to see
// the writer, then what it missed.
Cycle anti_last(Cycle cycle) {
  const auto anti = std::find_if(cycle.begin(), cycle.end(), [](const Step& s) {
    return s.edge.kind == EdgeKind::anti_dependency;
  });
  if (anti != cycle.end()) std::rotate(cycle.begin(), anti + 1, cycle.end());
  return cycle;
}

class CycleStory {
 public:
  CycleStory(const Cycle& cycle, const Accesses& accesses, const Clauses& say)
      : cycle_(anti_last(cycle)), accesses_(accesses), h_(accesses.history()), say_(say) {}

  std::vector<std::string> tell(Anomaly a) const {
    switch (a) {
      case Anomaly::fractured_read:
      case Anomaly::non_monotonic_read:
      case Anomaly::
          session_guarantee_violation:  // some guarantees look through more than a session
        return missed(cycle_.size() > 2 ? Anomaly::causality_violation : a);
      case Anomaly::causality_violation:
        return missed(a);
      case Anomaly::phantom:
        return phantom();
      case Anomaly::lost_update:
        return lost_update();
      case Anomaly::write_skew:
        return write_skew();
      case Anomaly::long_fork:
        return long_fork();
      case Anomaly::real_time_violation:
        return real_time();
      default:
        return contradiction();
    }
  }

 private:
  // The last edge: who read what, and whose write it missed.
  const Step& miss() const { return cycle_.back(); }
  bool one_miss() const { return miss().edge.kind == EdgeKind::anti_dependency; }

  // "It read x = 1 (written by T1) instead, an older version: …"
  std::string older(const std::string& who) const {
    const Edge& e = miss().edge;
    const std::string why = say_.justification(miss());
    std::string s = fmt::format("{} {}", who, say_.saw_with_origin(e));
    if (e.via == kNone) return s + ".";
    const OpId read = say_.reading(e);
    if (read != kNone && saw_a_value(h_, read, e.key)) s += ", an older version";
    return why.empty() ? s + "." : s + fmt::format(": {}.", why);
  }

  std::vector<std::string> missed(Anomaly a) const {
    const Edge& e = miss().edge;
    const std::string reader = say_.txn(e.from), writer = say_.txn(e.to);
    const std::string lost = say_.effect(e.to, e.key);
    const Edge& saw = cycle_.front().edge;
    switch (a) {
      case Anomaly::fractured_read:
        return {fmt::format("{} saw only a part of {}: it {}, but not its {}.", reader, writer,
                            say_.saw_of(saw, "from", "it"), lost),
                older("Instead it")};
      case Anomaly::non_monotonic_read:
        if (saw.key == e.key)
          return {fmt::format("{} looked at {} twice without writing it. First it {}.", reader,
                              key_in_words(h_, e.key), say_.saw(saw)),
                  older("Afterwards it"), "Within one transaction the database went back in time."};
        return {fmt::format("{} first {}; {} also {}.", reader, say_.saw_of(saw, "from", writer),
                            writer, say_.did(e.to, e.key)),
                older("Afterwards it"), "Within one transaction the database went back in time."};
      case Anomaly::session_guarantee_violation:
        return {fmt::format("{} follows {} in session {}, yet it did not see {}'s {}.", reader,
                            writer, display_session(h_, h_.session(e.from)), writer, lost),
                older("Instead it")};
      default: {
        std::vector<Edge> path;
        for (size_t i = 0; i + 1 < cycle_.size(); ++i) path.push_back(cycle_[i].edge);
        return {fmt::format("{} depends on {} through reads and sessions: {}.", reader, writer,
                            say_.chain(path)),
                fmt::format("So it must see {}'s {}, and did not.", writer, lost), older("It")};
      }
    }
  }

  // One query found the row, the other did not.
  std::vector<std::string> phantom() const {
    const Edge& e = miss().edge;
    const Edge& saw = cycle_.front().edge;
    const OpId missed = say_.reading(e), found = say_.reading(saw);
    return {asked_twice(h_, std::min(missed, found), std::max(missed, found), e.key),
            fmt::format("In between {} {}.", say_.txn(e.to), say_.did(e.to, e.key))};
  }

  std::vector<std::string> lost_update() const {
    const Edge& e = miss().edge;
    const TxnId a = e.from, b = e.to;
    const Access read_by_b = Accesses::find(accesses_.reads(b), e.key);
    const Access read_by_a = Accesses::find(accesses_.reads(a), e.key);
    const bool same = read_by_a.op != kNone && read_by_b.op != kNone &&
                      read_by_b.version == read_by_a.version &&
                      say_.saw(read_by_a.op, e.key) == say_.saw(read_by_b.op, e.key);
    if (same && plain_write(a, e.key) && plain_write(b, e.key)) return both_overwrote(e, a, b);
    if (same)
      return {fmt::format("{} and {} both {}; {} {}, and {} {}.", say_.txn(a), say_.txn(b),
                          say_.saw_with_origin(e), say_.txn(a), say_.did(a, e.key), say_.txn(b),
                          say_.did(b, e.key)),
              fmt::format("Whichever changed {} second did not know the other's update.",
                          key_in_words(h_, e.key))};
    const Access own = Accesses::find(accesses_.writes(a), e.key);
    const OpId read = say_.reading(e);
    const bool wrote_first = own.op != kNone && read != kNone && own.op < read;
    const std::string first = fmt::format("{} {} and {}{}.", say_.txn(a), say_.saw_with_origin(e),
                                          wrote_first ? "" : "then ", say_.did(a, e.key));
    if (plain_write(a, e.key) && plain_write(b, e.key))
      return {first,
              fmt::format("In between {} had written {}; {} overwrote it without having seen it.",
                          say_.txn(b), say_.effect(b, e.key), say_.txn(a))};
    return {first, fmt::format("In between {} {}, which {} did not see.", say_.txn(b),
                               say_.did(b, e.key), say_.txn(a))};
  }

  bool plain_write(TxnId t, KeyId key) const {
    const Access w = Accesses::find(accesses_.writes(t), key);
    return w.op != kNone && !install_of(h_, w.op).removes && !install_of(h_, w.op).appends;
  }

  std::string value_written(TxnId t, KeyId key) const {
    return display_value(h_, Accesses::find(accesses_.writes(t), key).version);
  }

  std::vector<std::string> both_overwrote(const Edge& e, TxnId a, TxnId b) const {
    return {fmt::format("{} and {} both {} and both overwrote it: {} wrote {}, {} wrote {}.",
                        say_.txn(a), say_.txn(b), say_.saw_with_origin(e), say_.txn(a),
                        value_written(a, e.key), say_.txn(b), value_written(b, e.key)),
            fmt::format("Whichever wrote {} second did not know the other's update, which is lost.",
                        key_in_words(h_, e.key))};
  }

  std::vector<std::string> write_skew() const {
    const std::string a = say_.txn(cycle_[0].edge.from), b = say_.txn(cycle_[1].edge.from);
    return {fmt::format("{}, and {}.", say_.because(cycle_[0]), say_.because(cycle_[1])),
            fmt::format("Neither saw the other's write, so {} would have to run before {} and {} "
                        "before {}.",
                        a, b, b, a)};
  }

  std::vector<std::string> long_fork() const {
    std::vector<const Step*> misses;
    for (const Step& s : cycle_)
      if (s.edge.kind == EdgeKind::anti_dependency) misses.push_back(&s);
    if (misses.size() != 2) return contradiction();
    std::vector<std::string> out;
    // The writer that a reader saw is the one the other reader missed.
    for (int i = 0; i < 2; ++i) {
      const Edge& mine = misses[i]->edge;
      const Edge& other = misses[1 - i]->edge;
      out.push_back(fmt::format("{} saw the effect of {} but not {}'s {}: it {}.",
                                say_.txn(mine.from), say_.txn(other.to), say_.txn(mine.to),
                                say_.effect(mine.to, mine.key), say_.saw_with_origin(mine)));
    }
    out.push_back(fmt::format("No single order of {} and {} fits both.",
                              say_.txn(misses[0]->edge.to), say_.txn(misses[1]->edge.to)));
    return out;
  }

  std::vector<std::string> real_time() const {
    if (std::vector<std::string> told = overlapping(); !told.empty()) return told;
    const bool stale =
        cycle_.size() == 2 && one_miss() && cycle_.front().edge.kind == EdgeKind::real_time;
    if (!stale) return contradiction();
    const Edge& e = miss().edge;
    return {fmt::format("{}.", say_.because(cycle_.front())),
            fmt::format("Yet {} did not see {}'s {}.", say_.txn(e.from), say_.txn(e.to),
                        say_.effect(e.to, e.key)),
            older("It")};
  }

  // One had begun before the other ended, and yet saw or overwrote what that one did: no snapshot, but what locks allow.
  std::vector<std::string> overlapping() const {
    if (cycle_.size() != 2) return {};
    const bool first = cycle_[0].edge.kind == EdgeKind::real_time;
    const Step& clock = cycle_[first ? 0 : 1];
    const Step& other = cycle_[first ? 1 : 0];
    if (clock.edge.kind != EdgeKind::real_time || clock.edge.from_write || !clock.edge.to_write)
      return {};
    const std::string later = say_.txn(clock.edge.from), earlier = say_.txn(clock.edge.to);
    if (other.edge.kind == EdgeKind::read_dependency)
      return {fmt::format("{}, but {}.", say_.because(other), say_.because(clock)),
              fmt::format("So the state that {} read is not that of its begin.", later)};
    if (other.edge.kind != EdgeKind::write_dependency) return {};
    return {fmt::format("{}, but {}.", say_.because(other.edge), say_.because(clock)),
            fmt::format("{} and {} overlapped and both changed {}; with snapshots, only one of the "
                        "two may commit.",
                        earlier, later, key_in_words(h_, other.edge.key))};
  }

  std::vector<std::string> contradiction() const {
    constexpr size_t kMost = 8;
    std::string order;
    for (size_t i = 0; i < cycle_.size() && i < kMost; ++i)
      order += fmt::format("{}{} before {}",
                           i == 0                   ? ""
                           : i + 1 == cycle_.size() ? ", and "
                                                    : ", ",
                           say_.txn(cycle_[i].edge.from), say_.txn(cycle_[i].edge.to));
    if (cycle_.size() > kMost) order += fmt::format(" and {} more", cycle_.size() - kMost);
    std::vector<std::string> out = {"No order explains what was read: it would have to place " +
                                    order + "."};
    std::string why;
    for (size_t i = 0; i < cycle_.size() && i < kMost; ++i)
      why += (i ? "; " : "") + reason(cycle_[i]);
    out.push_back(why + ".");
    return out;
  }

  // Of an order of writers that something shows outright, what shows it.
  std::string reason(const Step& s) const {
    return s.because == Step::Because::stated ? say_.because(s) : say_.because(s.edge);
  }

  Cycle cycle_;
  const Accesses& accesses_;
  const History& h_;
  const Clauses& say_;
};

}  // namespace

std::vector<std::string> narrate(Anomaly anomaly, const Cycle& cycle, const Accesses& accesses,
                                 const Clauses& clauses) {
  if (cycle.empty()) return {};
  return CycleStory(cycle, accesses, clauses).tell(anomaly);
}

namespace {

constexpr size_t kMostOverdrawing = 4;

// "T1, T2 and T3", "T1, T2, T3, T4 and 9 more"
std::string names_of(const History& h, const std::vector<OpId>& ops) {
  std::vector<std::string> names;
  for (size_t i = 0; i < ops.size() && i < kMostOverdrawing; ++i)
    names.push_back(display_txn(h, h.txn_of(ops[i])));
  if (ops.size() > kMostOverdrawing)
    names.push_back(fmt::format("{} more", ops.size() - kMostOverdrawing));
  std::string out = names[0];
  for (size_t i = 1; i < names.size(); ++i)
    out += (i + 1 < names.size() ? ", " : " and ") + names[i];
  return out;
}

}  // namespace

std::vector<std::string> narrate_overdrawn(const History& h, const std::vector<OpId>& reads,
                                           const std::vector<OpId>& writes) {
  const VersionId version = observation_of(h, reads[0]).version;
  const std::string saw = display_version(h, version);
  std::string there;
  if (h.is_initial(version)) there = "initially";
  if (!writes.empty())
    there += (there.empty() ? "" : " and ") + ("as " + names_of(h, writes)) + " wrote it";
  return {fmt::format("{} all read {} and overwrote it, but it was there only {} times: {}.",
                      names_of(h, reads), saw, reads.size() - 1, there),
          "Each of them needs one for itself; else one did not know the other's update, which is "
          "lost."};
}

namespace {

// What an operation says that it saw: "x = 1", or for a list and a range the operation itself.
std::string display_seen(const Accesses& accesses, OpId i) {
  const History& h = accesses.history();
  const Observation seen = observation_of(h, i);
  if (seen.accepts == Accepts::list) {
    const Accesses::InFile read = accesses.in_file(i);
    return list_in_words(read.history, read.op);
  }
  return seen.accepts == Accepts::equals ? display_version(h, seen.version) : display_op(h, i);
}

// The last operation before `end` with which the transaction of `write` changed the key.
OpId last_change(const History& h, OpId write, OpId end) {
  OpId last = write;
  for (OpId i = write; i < end; ++i)
    if (installs_version(h.op(i)) && h.op(i).key == h.op(write).key) last = i;
  return last;
}

// "replaced by 5", "deleted"
std::string replaced_by(const History& h, OpId change) {
  if (install_of(h, change).removes) return "deleted";
  return "replaced by " + display_value(h, h.op(change).version);
}

std::vector<std::string> narrate_aggregate(const History& h, const BadRead& bad) {
  const Aggregate& aggregate = h.predicates().aggregate(h.selected(bad.read).aggregate);
  const std::string reader = display_txn(h, h.txn_of(bad.read));
  std::string what =
      fmt::format("{} of {} returned {}, which no versions of the rows give",
                  in_words(h, aggregate), reader, display(value_of(aggregate.value)));
  if (bad.other != kNone && is_range(h.op(bad.other)))
    what += fmt::format(" together with those that {} found besides", reader);
  else if (bad.other != kNone)
    what += fmt::format(" together with what {} read besides, such as {}", reader,
                        display_version(h, h.op(bad.other).version));
  return {what + "."};
}

}  // namespace

namespace {

// What two reads differ in, and what that may cost if the transaction went on to write the key.
std::vector<std::string> read_twice(const History& h, const BadRead& bad, std::string differs) {
  std::vector<std::string> out = {std::move(differs)};
  const TxnId t = h.txn_of(bad.read);
  for (OpId i = bad.read; i < h.end_op(t); ++i) {
    if (!installs_version(h.op(i)) || h.op(i).key != h.op(bad.read).key) continue;
    out.push_back(
        fmt::format("After that {} {}: if that comes of the first of the two, the change "
                    "in between is lost.",
                    display_txn(h, t), did_in_words(h, i)));
    break;
  }
  return out;
}

}  // namespace

// A list that was read, and the append that shows what is wrong with it.
std::vector<std::string> narrate_list(const BadRead& bad, const Accesses& accesses) {
  const History& h = accesses.history();
  const std::string reader = display_txn(h, h.txn_of(bad.read));
  const std::string by = display_txn(h, h.txn_of(bad.other));
  const std::string key = key_in_words(h, h.op(bad.read).key);
  const std::string element = display_value(h, h.op(bad.other).version);
  const std::string saw = "read " + display_seen(accesses, bad.read);
  switch (bad.anomaly) {
    case Anomaly::aborted_read:
      return {fmt::format("{} {} with {}, which {} appended before it aborted.", reader, saw,
                          element, by),
              "What an aborted transaction wrote must never be seen."};
    case Anomaly::future_read:
      return {fmt::format("{} {} before it appended {} itself.", reader, saw, element)};
    case Anomaly::not_my_own_write:
      return {fmt::format(
          "{} appended {} to {}, and then {}, which does not end in what it had appended.", reader,
          element, key, saw)};
    case Anomaly::intermediate_read:
      return {
          fmt::format("{} {}, but {} appended {}.", reader, saw, by, appended_with(h, bad.other)),
          "What one transaction appends to a list appears at once, and nothing stands between."};
    default:
      return {fmt::format("{} contradicts {} of {}.", display_op(h, bad.read),
                          display_op(h, bad.other), by)};
  }
}

std::vector<std::string> narrate(const BadRead& bad, const Accesses& accesses) {
  const History& h = accesses.history();
  if (bad.anomaly == Anomaly::result_set_mismatch) return narrate_aggregate(h, bad);
  const Accepts accepts = observation_of(h, bad.read).accepts;
  if (accepts == Accepts::list && bad.other != kNone && install_of(h, bad.other).appends)
    return narrate_list(bad, accesses);
  const std::string reader = display_txn(h, h.txn_of(bad.read));
  const std::string seen = display_seen(accesses, bad.read);
  if (bad.other == kNone)
    return {fmt::format("{} read {}, but no transaction wrote that value.", reader, seen)};
  const Operation other = h.op(bad.other);
  const std::string by = display_txn(h, h.txn_of(bad.other));
  const std::string key = key_in_words(h, other.key);
  // An operation that returns no value, or several, saw what the other one wrote.
  const std::string saw =
      accepts == Accepts::equals || accepts == Accepts::list
          ? fmt::format("{} read {}", reader, seen)
          : fmt::format("{} of {} saw {}", seen, reader, display_version(h, other.version));
  switch (bad.anomaly) {
    case Anomaly::aborted_read:
      return {fmt::format("{}, which {} wrote before it aborted.", saw, by),
              "What an aborted transaction wrote must never be seen."};
    case Anomaly::future_read:
      return {fmt::format("{} before it wrote that value itself.", saw)};
    case Anomaly::not_my_last_write:
      return {fmt::format("{} {}, and then read {}, an earlier write of its own.", reader,
                          did_in_words(h, last_change(h, bad.other, bad.read)), seen)};
    case Anomaly::not_my_own_write:
      return {fmt::format("{} {}, and then read {}, which is not its own write.", reader,
                          did_in_words(h, bad.other), seen)};
    case Anomaly::intermediate_read:
      return {fmt::format("{}, which {} itself {} before it committed.", saw, by,
                          replaced_by(h, last_change(h, bad.other, h.end_op(h.txn_of(bad.other))))),
              "Only the last write of a transaction to a key may be seen by others."};
    case Anomaly::non_repeatable_read:
      return read_twice(h, bad,
                        fmt::format("{} read {} twice without writing it in between: once "
                                    "{}, once {}.",
                                    reader, key, display_seen(accesses, bad.other), seen));
    default:
      return {fmt::format("{} in {} contradicts {} in {}.", display_op(h, bad.read), reader,
                          display_op(h, bad.other), by)};
  }
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
