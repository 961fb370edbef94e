#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "explain/names.h"
#include "explain/narrate.h"
#include "explain/phrases.h"
#include "explain/tale.h"

namespace assay::internal {
namespace {

// What the rows below ask of a cycle. It is rotated so that its first anti-dependency comes last: first how the reader came
// to see the writer, then what it missed.
struct CycleFacts {
  Cycle cycle;
  const History& h;
  const Clauses& say;

  const Edge& saw() const { return cycle.front().edge; }
  // The last edge: who read what, and whose write it missed.
  const Edge& miss() const { return cycle.back().edge; }
  // The anti-dependency before the last; null if there is none.
  const Edge* other_miss() const {
    const auto anti = std::find_if(cycle.begin(), cycle.end(), [](const Step& s) {
      return s.edge.kind == EdgeKind::anti_dependency;
    });
    return anti == cycle.end() ? nullptr : &anti->edge;
  }
  // Of a cycle of two, one of which is of real time.
  const Step& clock() const { return cycle[saw().kind == EdgeKind::real_time ? 0 : 1]; }
  const Step& beside_clock() const { return cycle[saw().kind == EdgeKind::real_time ? 1 : 0]; }

  // "x = 1 (written by T1), an older version: …"
  std::string older() const {
    std::string s = say.saw_with_origin(miss());
    if (miss().via == kNone) return s;
    const OpId read = say.reading(miss());
    if (read != kNone && saw_a_value(h, read, miss().key)) s += ", an older version";
    const std::string why = say.justification(cycle.back());
    return why.empty() ? s : s + ": " + why;
  }

  // Both transactions of a lost update read the same.
  bool read_the_same() const {
    const Access a = first_read(h, miss().from, miss().key);
    const Access b = first_read(h, miss().to, miss().key);
    return a.op != kNone && b.op != kNone && a.version == b.version &&
           say.saw(a.op, miss().key) == say.saw(b.op, miss().key);
  }
  bool both_overwrite() const {
    return overwrites(h, miss().from, miss().key) && overwrites(h, miss().to, miss().key);
  }

  static constexpr size_t kMostTold = 8;
  std::string order() const {
    std::string order;
    for (size_t i = 0; i < cycle.size() && i < kMostTold; ++i) {
      if (i > 0) order += i + 1 == cycle.size() ? ", and " : ", ";
      order += say.txn(cycle[i].edge.from) + " before " + say.txn(cycle[i].edge.to);
    }
    if (cycle.size() > kMostTold) order += fmt::format(" and {} more", cycle.size() - kMostTold);
    return order;
  }
  // Of an order of writers that something shows outright, what shows it.
  std::string reasons() const {
    std::string why;
    for (size_t i = 0; i < cycle.size() && i < kMostTold; ++i)
      why += (i ? "; " : "") + (cycle[i].because == Step::Because::stated
                                    ? say.because(cycle[i])
                                    : say.because(cycle[i].edge));
    return why;
  }
};

bool is_of_one_key(const CycleFacts& f) { return f.saw().key == f.miss().key; }
bool overwrote_what_both_read(const CycleFacts& f) {
  return f.read_the_same() && f.both_overwrite();
}
bool who_read_the_same(const CycleFacts& f) { return f.read_the_same(); }
bool both_wrote_plainly(const CycleFacts& f) { return f.both_overwrite(); }
bool misses_two(const CycleFacts& f) {
  return std::ranges::count(f.cycle, EdgeKind::anti_dependency,
                            [](const Step& s) { return s.edge.kind; }) == 2;
}

// One had begun before the other ended, and yet saw or overwrote what that one did: no snapshot, but what locks allow.
bool overlap(const CycleFacts& f, EdgeKind beside) {
  return f.cycle.size() == 2 && f.clock().edge.kind == EdgeKind::real_time &&
         !f.clock().edge.from_write && f.clock().edge.to_write &&
         f.beside_clock().edge.kind == beside;
}
bool read_of_overlapping(const CycleFacts& f) { return overlap(f, EdgeKind::read_dependency); }
bool write_of_overlapping(const CycleFacts& f) { return overlap(f, EdgeKind::write_dependency); }
bool is_stale(const CycleFacts& f) {
  return f.cycle.size() == 2 && f.miss().kind == EdgeKind::anti_dependency &&
         f.saw().kind == EdgeKind::real_time;
}

constexpr Tale<CycleFacts> kCycleTales[] = {
    {Anomaly::fractured_read, always,
     "{reader} saw only a part of {writer}: it {saw from it}, but not its {lost}.\n"
     "Instead it {older}."},
    {Anomaly::non_monotonic_read, is_of_one_key,
     "{reader} looked at {key} twice without writing it. First it {saw}.\n"
     "Afterwards it {older}.\n"
     "Within one transaction the database went back in time."},
    {Anomaly::non_monotonic_read, always,
     "{reader} first {saw from writer}; {writer} also {did}.\n"
     "Afterwards it {older}.\n"
     "Within one transaction the database went back in time."},
    {Anomaly::session_guarantee_violation, always,
     "{reader} follows {writer} in session {session}, yet it did not see {writer}'s {lost}.\n"
     "Instead it {older}."},
    {Anomaly::phantom, always,
     "{asked twice}\n"
     "In between {writer} {did}."},
    {Anomaly::lost_update, overwrote_what_both_read,
     "{reader} and {writer} both {origin} and both overwrote it: {reader} wrote {own value}, "
     "{writer} wrote {value}.\n"
     "Whichever wrote {key} second did not know the other's update, which is lost."},
    {Anomaly::lost_update, who_read_the_same,
     "{reader} and {writer} both {origin}; {reader} {did itself}, and {writer} {did}.\n"
     "Whichever changed {key} second did not know the other's update."},
    {Anomaly::lost_update, both_wrote_plainly,
     "{reader} {origin} and {then}{did itself}.\n"
     "In between {writer} had written {lost}; {reader} overwrote it without having seen it."},
    {Anomaly::lost_update, always,
     "{reader} {origin} and {then}{did itself}.\n"
     "In between {writer} {did}, which {reader} did not see."},
    {Anomaly::write_skew, always,
     "{first}, and {second}.\n"
     "Neither saw the other's write, so {writer} would have to run before {reader} and {reader} "
     "before {writer}."},
    {Anomaly::long_fork, misses_two,
     "{other reader} saw the effect of {writer} but not {other writer}'s {other lost}: it {other "
     "origin}.\n"
     "{reader} saw the effect of {other writer} but not {writer}'s {lost}: it {origin}.\n"
     "No single order of {other writer} and {writer} fits both."},
    {Anomaly::real_time_violation, read_of_overlapping,
     "{beside clock}, but {clock}.\n"
     "So the state that {later} read is not that of its begin."},
    {Anomaly::real_time_violation, write_of_overlapping,
     "{edge beside clock}, but {clock}.\n"
     "{earlier} and {later} overlapped and both changed {key beside clock}; with snapshots, only "
     "one of the two may commit."},
    {Anomaly::real_time_violation, is_stale,
     "{first}.\n"
     "Yet {reader} did not see {writer}'s {lost}.\n"
     "It {older}."},
    {Anomaly::causality_violation, always,
     "{reader} depends on {writer} through reads and sessions: {chain}.\n"
     "So it must see {writer}'s {lost}, and did not.\n"
     "It {older}."},
    {Anomaly::none, always,
     "No order explains what was read: it would have to place {order}.\n"
     "{reasons}."},
};

constexpr Word<CycleFacts> kCycleWords[] = {
    {"reader", [](const CycleFacts& f) { return f.say.txn(f.miss().from); }},
    {"writer", [](const CycleFacts& f) { return f.say.txn(f.miss().to); }},
    {"key", [](const CycleFacts& f) { return key_in_words(f.h, f.miss().key); }},
    {"session",
     [](const CycleFacts& f) { return display_session(f.h, f.h.session(f.miss().from)); }},
    {"lost", [](const CycleFacts& f) { return f.say.effect(f.miss().to, f.miss().key); }},
    {"did", [](const CycleFacts& f) { return f.say.did(f.miss().to, f.miss().key); }},
    {"did itself", [](const CycleFacts& f) { return f.say.did(f.miss().from, f.miss().key); }},
    {"value", [](const CycleFacts& f) { return value_written(f.h, f.miss().to, f.miss().key); }},
    {"own value",
     [](const CycleFacts& f) { return value_written(f.h, f.miss().from, f.miss().key); }},
    {"origin", [](const CycleFacts& f) { return f.say.saw_with_origin(f.miss()); }},
    {"older", [](const CycleFacts& f) { return f.older(); }},
    {"saw", [](const CycleFacts& f) { return f.say.saw(f.saw()); }},
    {"saw from it", [](const CycleFacts& f) { return f.say.saw_of(f.saw(), "from", "it"); }},
    {"saw from writer",
     [](const CycleFacts& f) { return f.say.saw_of(f.saw(), "from", f.say.txn(f.miss().to)); }},
    {"asked twice",
     [](const CycleFacts& f) {
       const auto [first, second] = std::minmax({f.say.reading(f.miss()), f.say.reading(f.saw())});
       return asked_twice(f.h, first, second, f.miss().key);
     }},
    {"then",
     [](const CycleFacts& f) {
       const OpId own = last_write(f.h, f.miss().from, f.miss().key),
                  read = f.say.reading(f.miss());
       return std::string(own != kNone && read != kNone && own < read ? "" : "then ");
     }},
    {"other reader", [](const CycleFacts& f) { return f.say.txn(f.other_miss()->from); }},
    {"other writer", [](const CycleFacts& f) { return f.say.txn(f.other_miss()->to); }},
    {"other lost",
     [](const CycleFacts& f) { return f.say.effect(f.other_miss()->to, f.other_miss()->key); }},
    {"other origin", [](const CycleFacts& f) { return f.say.saw_with_origin(*f.other_miss()); }},
    {"first", [](const CycleFacts& f) { return f.say.because(f.cycle.front()); }},
    {"second", [](const CycleFacts& f) { return f.say.because(f.cycle.back()); }},
    {"clock", [](const CycleFacts& f) { return f.say.because(f.clock()); }},
    {"beside clock", [](const CycleFacts& f) { return f.say.because(f.beside_clock()); }},
    {"edge beside clock", [](const CycleFacts& f) { return f.say.because(f.beside_clock().edge); }},
    {"key beside clock",
     [](const CycleFacts& f) { return key_in_words(f.h, f.beside_clock().edge.key); }},
    {"earlier", [](const CycleFacts& f) { return f.say.txn(f.clock().edge.to); }},
    {"later", [](const CycleFacts& f) { return f.say.txn(f.clock().edge.from); }},
    {"chain",
     [](const CycleFacts& f) {
       std::vector<Edge> path;
       for (size_t i = 0; i + 1 < f.cycle.size(); ++i) path.push_back(f.cycle[i].edge);
       return f.say.chain(path);
     }},
    {"order", [](const CycleFacts& f) { return f.order(); }},
    {"reasons", [](const CycleFacts& f) { return f.reasons(); }},
};

// What reads and sessions of more than one step show is told as such. Some session guarantees look through more than a session.
Anomaly told_as(Anomaly a, const Cycle& cycle) {
  const bool short_ones = a == Anomaly::fractured_read || a == Anomaly::non_monotonic_read ||
                          a == Anomaly::session_guarantee_violation;
  return short_ones && cycle.size() > 2 ? Anomaly::causality_violation : a;
}

}  // namespace

std::vector<std::string> narrate(Anomaly anomaly, Cycle cycle, const History& h,
                                 const Clauses& clauses) {
  if (cycle.empty()) return {};
  const auto anti = std::find_if(cycle.begin(), cycle.end(), [](const Step& s) {
    return s.edge.kind == EdgeKind::anti_dependency;
  });
  if (anti != cycle.end()) std::rotate(cycle.begin(), anti + 1, cycle.end());
  const Anomaly told = told_as(anomaly, cycle);
  return told_by<CycleFacts>(kCycleTales, kCycleWords, told, {std::move(cycle), h, clauses});
}

}  // namespace assay::internal
