// Searches the executions that prediction boundaries describe (certify/boundary.h), those with the
// fewest changes first.
//
//   s1: A { w(y,1) r(x,null) }   s2: B { w(x,2) r(y,1) }     serializable: A before B
//   one change: B reads the initial y. No level below serializable refuses that, and now A has to
//   come before B, which overwrites what A read, and B before A.
//
// A set of transactions, at most one per session, is cut; then each of their reads gets a source,
// one after another. A source runs whole. So nothing comes after a transaction that is cut, neither
// in its session nor because of a read, and only the part among the others of the commit order that
// the weak level requires has to be examined: a pair per read and per writer of its key that the
// reader has seen. A cycle of these ends the branch, since further reads only add pairs.
//
// Whether a complete execution is serializable is decided in two steps: orders that follow are
// added until nothing changes; if there is no cycle, an order is searched for, transaction by
// transaction, that never overwrites what is still to be read. The set of executed transactions
// determines what may follow, so each set is left only once.
//
// An execution with more changes is examined only when all with fewer have been. Cost: exponential
// in the number of sessions and of changes; for each execution examined, a few passes over the
// reads and the writers of their keys.
//
// Source: Geng, Blanas, Bond and Wang, PLDI 2024, who ask a solver; the weak levels' axioms: Biswas
// and Enea, OOPSLA 2019.

#include "predict/boundary_search.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "predict/partial_order.h"
#include "predict/recorded_reads.h"

namespace assay::internal::predict {
namespace {

// A transaction and where it may be cut.
struct Place {
  uint32_t txn = kNone;
  uint32_t operations = 0;  // number of operations that run
  uint32_t reads = 0;       // number of reads among them
  uint32_t fixed = 0;       // number of reads that keep their source, the first ones
};

// The transactions, some of which are cut.
class Execution {
 public:
  Execution(const RecordedReads& recorded, LevelId level)
      : all_(recorded), sees_own_reads_only_(level_info(level).seen.earlier_reads) {
    later_.resize(count());
    readers_.resize(all_.writers.size());
    for (uint32_t t = 0; t < count(); ++t) {
      if (all_.txns[t].before != kNone) later_[all_.txns[t].before].push_back(t);
      for (uint32_t i = 0; i < all_.txns[t].reads.size(); ++i) {
        const RecordedReads::Read& read = all_.txns[t].reads[i];
        readers_[read.key].push_back({t, i});
        if (read.source != kNone) later_[read.source].push_back(t);
      }
    }
  }

  // Cuts these and lets whatever does not come after them run whole. False if the level allows no
  // such execution, whatever the cut transactions read.
  bool cut(const std::vector<Place>& places) {
    const bool same = was_cut_ && std::ranges::equal(places, cuts_, {}, &Place::txn, &Place::txn);
    cuts_ = places;
    sources_.assign(places.size(), {});
    if (!same) {
      was_cut_ = true;
      can_be_ = find_what_runs();
    }
    if (!can_be_) return false;
    allowed_.resize(1);
    for (uint32_t c = 0; c < places.size(); ++c)
      for (uint32_t i = 0; i < places[c].fixed; ++i) {
        const uint32_t source = all_.txns[places[c].txn].reads[i].source;
        if (source != kNone && !runs_[source]) return false;
        sources_[c].push_back(source);
      }
    return true;
  }

  // The possible sources of a read that is not fixed: the recorded one first, if it runs.
  std::vector<uint32_t> sources_of(uint32_t c, uint32_t read) const {
    const auto& [op, key, recorded, place] = all_.txns[cuts_[c].txn].reads[read];
    std::vector<uint32_t> all;
    if (recorded == kNone || runs_[recorded]) all.push_back(recorded);
    if (recorded != kNone) all.push_back(kNone);
    for (const uint32_t t : all_.writers[key])
      if (runs_[t] && t != recorded) all.push_back(t);
    return all;
  }

  // Gives the next read of a cut transaction its source. False, with nothing given, if the level
  // does not allow that.
  bool give(uint32_t c, uint32_t source) {
    sources_[c].push_back(source);
    allowed_.push_back(allowed_.back());
    if (is_allowed(cuts_[c].txn, allowed_.back())) return true;
    take_back(c);
    return false;
  }
  void take_back(uint32_t c) {
    sources_[c].pop_back();
    allowed_.pop_back();
  }

  // To be called when all reads have their sources.
  bool is_serializable(Budget& budget) const {
    if (has_cycle_) return false;
    PartialOrder order = serial_;
    for (const Place& place : cuts_)
      if (!add_what_it_follows(place.txn, order)) return false;
    return close(order) && has_serial_order(order, budget);
  }

  certify::Boundary boundary() const {
    certify::Boundary boundary;
    for (uint32_t c = 0; c < cuts_.size(); ++c) {
      const RecordedReads::Txn& txn = all_.txns[cuts_[c].txn];
      certify::Boundary::Cut& cut = boundary.cuts.emplace_back();
      cut.txn = txn.id;
      cut.operations = cuts_[c].operations;
      for (uint32_t i = 0; i < cuts_[c].reads; ++i)
        if (const uint32_t s = sources_[c][i]; s != txn.reads[i].source)
          cut.sources.push_back({txn.reads[i].op, s == kNone ? kNone : all_.txns[s].id});
    }
    return boundary;
  }

 private:
  uint32_t count() const { return static_cast<uint32_t>(all_.txns.size()); }
  bool is_there(uint32_t t) const { return runs_[t] || cut_[t] != kNone; }
  // The number of the transaction's reads that have a source so far.
  uint32_t reads_of(uint32_t t) const {
    return static_cast<uint32_t>(cut_[t] == kNone ? all_.txns[t].reads.size()
                                                  : sources_[cut_[t]].size());
  }
  uint32_t source(uint32_t t, uint32_t read) const {
    return cut_[t] == kNone ? all_.txns[t].reads[read].source : sources_[cut_[t]][read];
  }
  bool writes(uint32_t t, KeyId key) const {
    if (runs_[t]) return true;
    if (cut_[t] == kNone) return false;
    const auto& all = all_.txns[t].writes;
    return std::ranges::find(all, key, &RecordedReads::Write::key)->place <
           cuts_[cut_[t]].operations;
  }

  // Finds the transactions that run whole, and what they require of each order; for them it does
  // not matter where transactions are cut. False if the level does not allow it.
  bool find_what_runs() {
    cut_.assign(count(), kNone);
    for (uint32_t c = 0; c < cuts_.size(); ++c) cut_[cuts_[c].txn] = c;
    leave_out_later();
    for (const Place& place : cuts_) {
      const uint32_t before = all_.txns[place.txn].before;
      if (before != kNone && !runs_[before]) return false;
    }
    saw_ = PartialOrder(count());
    for (uint32_t t = 0; t < count(); ++t)
      if (runs_[t] && !add_what_it_follows(t, saw_)) return false;
    allowed_ = {saw_};
    for (uint32_t t = 0; t < count(); ++t)
      if (runs_[t] && !is_allowed(t, allowed_[0])) return false;
    serial_ = saw_;
    has_cycle_ = !close(serial_);
    return true;
  }

  void leave_out_later() {
    runs_.assign(count(), true);
    std::vector<uint32_t> reached;
    for (const Place& place : cuts_) {
      runs_[place.txn] = false;
      reached.push_back(place.txn);
    }
    for (size_t at = 0; at < reached.size(); ++at)
      for (const uint32_t t : later_[reached[at]])
        if (runs_[t]) {
          runs_[t] = false;
          reached.push_back(t);
        }
  }

  // Adds session order and reads; false if that closes a cycle.
  bool add_what_it_follows(uint32_t t, PartialOrder& order) const {
    if (all_.txns[t].before != kNone && !order.add(all_.txns[t].before, t)) return false;
    for (uint32_t i = 0; i < reads_of(t); ++i)
      if (source(t, i) != kNone && !order.add(source(t, i), t)) return false;
    return true;
  }

  // Whether t had seen `other`, which runs whole, at this read.
  bool has_seen(uint32_t t, uint32_t read, uint32_t other) const {
    if (sees_own_reads_only_) {
      for (uint32_t i = 0; i < read; ++i)
        if (source(t, i) == other) return true;
      return false;
    }
    if (cut_[t] == kNone) return saw_.precedes(other, t);
    const auto by_way_of = [&](uint32_t s) {
      return s != kNone && (s == other || saw_.precedes(other, s));
    };
    return by_way_of(all_.txns[t].before) || std::ranges::any_of(sources_[cut_[t]], by_way_of);
  }

  // Adds what the reads of t require of the commit order.
  bool is_allowed(uint32_t t, PartialOrder& order) const {
    for (uint32_t i = 0; i < reads_of(t); ++i)
      for (const uint32_t other : all_.writers[all_.txns[t].reads[i].key]) {
        const uint32_t from = source(t, i);
        if (other == from || other == t || !runs_[other] || !has_seen(t, i, other)) continue;
        if (from == kNone || !order.add(other, from)) return false;
      }
    return true;
  }

  // Adds the pairs common to all serial orders; false if none is possible.
  bool close(PartialOrder& order) const {
    bool grows = true;
    const auto add = [&](uint32_t a, uint32_t b) {
      if (order.precedes(a, b)) return true;
      grows = true;
      return order.add(a, b);
    };
    while (std::exchange(grows, false))
      for (uint32_t t = 0; t < count(); ++t) {
        if (!is_there(t)) continue;
        for (uint32_t i = 0; i < reads_of(t); ++i) {
          const uint32_t from = source(t, i);
          const KeyId key = all_.txns[t].reads[i].key;
          for (const uint32_t other : all_.writers[key]) {
            if (other == from || other == t || !writes(other, key)) continue;
            if (order.precedes(other, t) && (from == kNone || !add(other, from))) return false;
            if ((from == kNone || order.precedes(from, other)) && !add(t, other)) return false;
          }
        }
      }
    return true;
  }

  // Runs transactions one by one, each as soon as no remaining read needs a version that it
  // overwrites.
  bool has_serial_order(const PartialOrder& order, Budget& budget) const {
    std::vector<uint32_t> all;
    for (uint32_t t = 0; t < count(); ++t)
      if (is_there(t)) all.push_back(t);
    std::vector<bool> done(count(), false);
    std::vector<size_t> chosen = {0};  // per place, the next element of `all` to be tried
    std::vector<uint32_t> path;
    std::set<std::vector<bool>> dead;
    while (path.size() < all.size()) {
      if (budget.exhausted()) return true;
      size_t& next = chosen.back();
      while (next < all.size() && !may_come(all[next], all, done, order)) ++next;
      bool moves = next < all.size();
      if (moves) {
        path.push_back(all[next++]);
        done[path.back()] = true;
        chosen.push_back(0);
        moves = dead.empty() || !dead.contains(done);
      } else {
        dead.insert(done);
      }
      if (moves) continue;
      if (path.empty()) return false;
      chosen.pop_back();
      done[path.back()] = false;
      path.pop_back();
    }
    return true;
  }
  bool may_come(uint32_t t, const std::vector<uint32_t>& all, const std::vector<bool>& done,
                const PartialOrder& order) const {
    if (done[t]) return false;
    for (const uint32_t other : all)
      if (!done[other] && order.precedes(other, t)) return false;
    return std::ranges::all_of(all_.txns[t].writes, [&](const RecordedReads::Write& write) {
      if (!writes(t, write.key)) return true;
      return std::ranges::none_of(readers_[write.key], [&](const auto& reader) {
        const auto [other, read] = reader;
        if (other == t || done[other] || !is_there(other) || read >= reads_of(other)) return false;
        const uint32_t from = source(other, read);
        return from != t && (from == kNone || done[from]);
      });
    });
  }

  const RecordedReads& all_;
  bool sees_own_reads_only_;  // only the transactions that it read from before; false: its causal
                              // past
  std::vector<std::vector<uint32_t>> later_;  // indexed by transaction: the next one in its
                                              // session, and those that read from it
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> readers_;  // indexed by key: readers, and
                                                                     // which of their reads
  std::vector<Place> cuts_;
  std::vector<uint32_t> cut_;                   // indexed by transaction: its place in cuts_, or
                                                // kNone
  std::vector<std::vector<uint32_t>> sources_;  // indexed by cut: sources of its first reads
  std::vector<bool> runs_;                      // indexed by transaction: it runs whole
  PartialOrder saw_;                            // among the transactions that run whole
  std::vector<PartialOrder> allowed_;           // the commit order; one more for each source given
  PartialOrder serial_;                         // what all serial orders of the running
                                                // transactions have in common
  bool has_cycle_ = false;                      // there is no serial order of them
  bool was_cut_ = false, can_be_ = false;       // by the last cut()
};

class BoundarySearch {
 public:
  BoundarySearch(const RecordedReads& recorded, LevelId level, Budget& budget)
      : all_(recorded), execution_(recorded, level), budget_(budget) {}

  OtherSources run() {
    std::set<SessionId> sessions;
    for (const RecordedReads::Txn& txn : all_.txns) sessions.insert(txn.session);
    const size_t most = sessions.size();
    list_places();
    for (size_t changes = 0; !found_.stops; ++changes) {
      if (changes > most && (found_.goes_on || !more_)) break;
      more_ = false;
      if (changes <= most) look_at_sets(changes, changes, found_.stops, stopping_);
      for (size_t cuts = 1; cuts <= std::min(changes, most) && !found_.stops; ++cuts)
        if (!found_.goes_on) look_at_sets(cuts, changes, found_.goes_on, going_on_);
      if (budget_.exhausted_now()) break;
    }
    found_.complete = !budget_.exhausted_now() || found_.stops.has_value();
    if (!found_.complete) found_.reason = budget_.reason().detail;
    return std::move(found_);
  }

 private:
  void list_places() {
    for (uint32_t t = 0; t < all_.txns.size(); ++t) {
      const auto& reads = all_.txns[t].reads;
      const auto count = static_cast<uint32_t>(reads.size());
      for (uint32_t i = 0; i < count; ++i) stopping_.push_back({t, reads[i].place + 1, i + 1, i});
      if (count > 0) going_on_.push_back({t, all_.txns[t].operations, count, 0});
    }
    const auto session = [&](const Place& place) { return all_.txns[place.txn].session; };
    std::ranges::stable_sort(stopping_, {}, session);
    std::ranges::stable_sort(going_on_, {}, session);
  }

  // Examines every set of `size` places, at most one per session, with `changes` changed reads.
  void look_at_sets(size_t size, size_t changes, std::optional<certify::Boundary>& found,
                    const std::vector<Place>& places) {
    const auto session = [&](size_t i) { return all_.txns[places[i].txn].session; };
    std::vector<size_t> at;  // the next candidate after each of the places chosen
    std::vector<Place> set;
    size_t next = 0;
    while (!found && !budget_.exhausted()) {
      if (set.size() == size) {
        look_at(set, changes, found);
        if (size == 0) return;
      } else {
        while (!at.empty() && next < places.size() && session(next) == session(at.back())) ++next;
        if (next < places.size()) {
          set.push_back(places[next]);
          at.push_back(next++);
          continue;
        }
      }
      if (set.empty()) return;
      next = at.back() + 1;
      at.pop_back();
      set.pop_back();
    }
  }

  struct Choice {
    uint32_t cut = 0;
    uint32_t recorded = kNone;
    std::vector<uint32_t> sources;
    size_t next = 0;
  };

  // Examines every way to give the set's reads their sources that changes exactly `changes` of
  // them.
  void look_at(const std::vector<Place>& set, size_t changes,
               std::optional<certify::Boundary>& found) {
    if (!execution_.cut(set)) return;
    std::vector<Choice> choices;
    left_.assign(set.size(), 0);
    for (uint32_t c = 0; c < set.size(); ++c)
      for (uint32_t i = set[c].fixed; i < set[c].reads; ++i) {
        choices.push_back({c, all_.txns[set[c].txn].reads[i].source, execution_.sources_of(c, i)});
        if (choices.back().sources.empty()) return;
        left_[c] += can_change(choices.back());
      }
    changed_.assign(set.size(), 0);
    if (most_changes() < changes) return;
    more_ = true;
    size_t given = 0;  // number of choices that were made
    while (!budget_.exhausted()) {
      if (given == choices.size()) {
        ++found_.allowed;
        if (!execution_.is_serializable(budget_)) {
          found = execution_.boundary();
          return;
        }
      } else if (choices[given].next < choices[given].sources.size()) {
        Choice& choice = choices[given];
        if (make(choice, changes)) ++given;
        continue;
      } else {
        choices[given].next = 0;
      }
      if (given == 0) return;
      unmake(choices[--given]);
      execution_.take_back(choices[given].cut);
    }
  }

  // Makes the choice with its next source.
  bool make(Choice& choice, size_t changes) {
    const uint32_t source = choice.sources[choice.next++];
    changed_[choice.cut] += source != choice.recorded;
    left_[choice.cut] -= can_change(choice);
    if (least_changes() <= changes && most_changes() >= changes &&
        execution_.give(choice.cut, source))
      return true;
    unmake(choice);
    return false;
  }
  void unmake(const Choice& choice) {
    changed_[choice.cut] -= choice.sources[choice.next - 1] != choice.recorded;
    left_[choice.cut] += can_change(choice);
  }
  static bool can_change(const Choice& choice) { return choice.sources.back() != choice.recorded; }
  // A cut counts as a change even if nothing changes in it: it leaves out what follows.
  size_t least_changes() const {
    size_t sum = 0;
    for (const size_t changed : changed_) sum += std::max<size_t>(1, changed);
    return sum;
  }
  size_t most_changes() const {
    size_t sum = 0;
    for (size_t c = 0; c < changed_.size(); ++c) sum += std::max<size_t>(1, changed_[c] + left_[c]);
    return sum;
  }

  const RecordedReads& all_;
  Execution execution_;
  Budget& budget_;
  std::vector<Place> stopping_, going_on_;  // by session
  std::vector<size_t> changed_, left_;      // indexed by cut: number of reads that changed; number
                                            // of undecided reads that can
  bool more_ = false;                       // whether some execution has as many changes
  OtherSources found_;
};

}  // namespace

Result<OtherSources> find_other_sources(const History& history, LevelId level, Budget& budget) {
  const auto recorded = RecordedReads::of(history);
  if (!recorded.ok()) return recorded.error();
  constexpr size_t kMostTxns = 4096;
  OtherSources none;
  none.reason = "it is searched for among at most 4096 transactions";
  if (recorded->txns.size() > kMostTxns) return none;
  return BoundarySearch(*recorded, level, budget).run();
}

}  // namespace assay::internal::predict
