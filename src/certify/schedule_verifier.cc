// Executes a schedule like a database that does one thing at a time: a version of a key becomes
// current when its transaction commits, a row that a transaction has changed is locked until then,
// and the result of a read follows from the isolation of its transaction. A version that no member
// wrote was there before.
//
//   members  A, B at read-committed     A: r(x,0) w(x,1)     B: r(x,1) w(x,2)
//   events   step A, step B, step B, commit B, step A, commit A
//   versions of x: B's, A's. A read the one before B's, so A comes before B, and B's version comes
//   before A's: a cycle.
//
// The dependencies are those of Adya: between the writers of neighbouring versions; from the writer
// of a version to its readers, and from these to the writer of the next version. A query by
// condition depends on the last transaction that brought a row into its selection, or took it out,
// and precedes the next one that does; a row for which that is open gives no dependency, except
// where the isolation refuses because of it. No data of the finder of the schedule is used.
//
// Cost: the operations; for each query the keys that the schedule changes; for the structures that
// ssi refuses, the pairs of members.

#include "certify/schedule_verifier.h"

#include <algorithm>
#include <map>
#include <set>

#include "certify/conditions.h"
#include "certify/operations.h"
#include "certify/refusal.h"
#include "history/predicates.h"
#include "history/statements.h"

namespace assay::internal::certify {
namespace {

using Part = Step::Part;

// The keys that the operations of a statement change, and so lock; also the keys that they read, if
// the statement locks the rows that it reads. Ascending.
std::vector<KeyId> locked_by(const History& h, OpId first, OpId end, RowLock lock) {
  std::vector<KeyId> keys;
  for (const Access a : Accesses(h, first, end)) {
    if (a.writes() || (lock != RowLock::none && a.reads() && !a.is_range())) keys.push_back(a.key);
    if (lock == RowLock::none || !a.is_range()) continue;
    for (const VersionId row : h.selected(a.op).rows) keys.push_back(h.version_key(row));
    const auto matched = h.selected(a.op).matched;
    keys.insert(keys.end(), matched.begin(), matched.end());
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

bool holds(const std::vector<KeyId>& keys, KeyId key) {
  return std::ranges::binary_search(keys, key);
}

struct Version {
  uint32_t writer;  // a member
  VersionId version;
  bool removed;
  uint32_t at;  // the event that committed it
};
struct Locked {
  uint32_t holder = kNone;     // holds the lock of a change
  std::set<uint32_t> sharers;  // hold a shared lock
};
struct Key {
  std::vector<Version> committed;  // in the order of their commits
  VersionId before = kNone;        // its initial version, if some member says so
  bool is_absent = false;          // whether nothing was there at first: a member inserts the row
};
struct Running {
  std::vector<Step> steps;
  size_t next = 0;
  uint32_t first = kNone, plain = kNone, committed = kNone;  // events; plain: the first read
                                                             // without a lock
  std::map<KeyId, std::pair<VersionId, bool>> written;       // and whether the write is a removal
};
// A member read the state of a key after this many of its versions.
struct Seen {
  uint32_t reader;
  KeyId key;
  size_t behind;
  OpId op;
  bool by_query;  // false: the operation named the key
};

// Evaluates conditions on the states of keys.
class Matches {
 public:
  explicit Matches(const History& history) : h_(history), conditions_(history) {}

  // The match of the state after this many versions.
  Match match(const Key& key, size_t behind, PredicateId where) const {
    if (behind > 0 && key.committed[behind - 1].removed) return Match::no;
    const VersionId version = behind > 0 ? key.committed[behind - 1].version : key.before;
    return version == kNone ? Match::open : conditions_.match(where, version);
  }

  PredicateId condition_of(OpId query) const {
    const Selected selected = h_.selected(query);
    return selected.aggregate == kNone ? selected.predicate
                                       : h_.predicates().aggregate(selected.aggregate).where;
  }

 private:
  const History& h_;
  const Conditions conditions_;
};

class Execution {
 public:
  Execution(const Schedule& schedule, const History& history)
      : schedule_(schedule), h_(history), matches_(history) {}

  Status run() {
    if (Status s = admit(); !s.ok()) return s;
    for (now_ = 0; now_ < schedule_.events.size(); ++now_) {
      const Schedule::Event& event = schedule_.events[now_];
      if (event.member >= running_.size()) return refuse("event {} has no transaction", now_);
      if (Status s = execute(event.what, event.member); !s.ok()) return s;
    }
    for (uint32_t m = 0; m < running_.size(); ++m)
      if (running_[m].committed == kNone) return refuse("transaction {} does not commit", name(m));
    return Ok{};
  }

  const std::map<KeyId, Key>& keys() const { return keys_; }
  const std::vector<Seen>& seen() const { return seen_; }
  const Running& running(uint32_t member) const { return running_[member]; }
  const Matches& matches() const { return matches_; }
  std::string name(uint32_t member) const { return h_.name(schedule_.members[member].txn); }
  Isolation isolation(uint32_t member) const { return schedule_.members[member].isolation; }

  std::vector<Saw> versions_seen() const {
    std::vector<Saw> all;
    for (const Seen& seen : seen_) {
      const Key& key = keys_.at(seen.key);
      Saw& saw = all.emplace_back();
      saw.op = seen.op;
      saw.key = seen.key;
      saw.version = seen.behind > 0 ? key.committed[seen.behind - 1].version : key.before;
      saw.removed = seen.behind > 0 && key.committed[seen.behind - 1].removed;
    }
    return all;
  }

 private:
  Status admit() {
    std::set<TxnId> seen;
    std::set<VersionId> written;
    std::set<KeyId> removed;
    for (const Schedule::Member& member : schedule_.members) {
      if (member.txn >= h_.txn_count())
        return refuse("the history has no transaction {}", member.txn);
      if (!seen.insert(member.txn).second)
        return refuse("transaction {} appears twice", h_.name(member.txn));
      if (h_.status(member.txn) != TxnStatus::committed)
        return refuse("transaction {} did not commit", h_.name(member.txn));
      running_.emplace_back().steps = steps_of(h_, member.txn);
      for (const Step& step : running_.back().steps)
        for (const KeyId key : locked_by(h_, step.first, step.end, step.lock)) locks_[key];
      for (const Access a : accesses(h_, member.txn)) {
        if (!a.writes()) continue;
        Key& key = keys_[a.key];
        key.is_absent = key.is_absent || a.accepts == Accepts::absent;
        if (a.removes()) removed.insert(a.key);
        written.insert(a.version);
      }
    }
    // Instead of what they wrote themselves.
    const auto note = [&](KeyId key, VersionId version) {
      const auto found = keys_.find(key);
      if (found == keys_.end()) return;
      if (written.contains(version))
        removed.erase(key);
      else if (found->second.before == kNone)
        found->second.before = version;
    };
    for (const Schedule::Member& member : schedule_.members)
      for (const Access a : accesses(h_, member.txn)) {
        if (a.is_range())
          for (const VersionId row : h_.selected(a.op).rows) note(h_.version_key(row), row);
        else if (a.accepts == Accepts::equals)
          note(a.key, a.seen);
      }
    // A row that a member inserts was absent at first, unless it was there, or may have been
    // because a member removed it and no read shows that another member had written it.
    for (auto& [key, state] : keys_)
      state.is_absent = state.is_absent && state.before == kNone && !removed.contains(key);
    return Ok{};
  }

  Status execute(Schedule::What what, uint32_t member) {
    Running& r = running_[member];
    if (r.committed != kNone) return refuse("event {}: {} has ended", now_, name(member));
    if (what == Schedule::What::begin && (r.first != kNone || !keeps_snapshot(member)))
      return refuse("event {}: {} does not begin here", now_, name(member));
    if (r.first == kNone) r.first = now_;
    if (what == Schedule::What::begin) return Ok{};
    if (what == Schedule::What::commit) return commit(member);
    if (r.next == r.steps.size())
      return refuse("event {}: {} has no further step", now_, name(member));
    return run_step(member, r.steps[r.next++]);
  }

  // Whether the member changes nothing that its snapshot does not see.
  bool keeps_snapshot(uint32_t member) const {
    return isolation(member) == Isolation::snapshot || isolation(member) == Isolation::ssi;
  }

  Status commit(uint32_t member) {
    Running& r = running_[member];
    if (r.next < r.steps.size()) return refuse("event {}: {} has steps left", now_, name(member));
    for (const auto& [key, left] : r.written)
      keys_[key].committed.push_back({member, left.first, left.second, now_});
    for (auto& [key, lock] : locks_) {
      if (lock.holder == member) lock.holder = kNone;
      lock.sharers.erase(member);
    }
    r.committed = now_;
    return Ok{};
  }

  Status run_step(uint32_t member, const Step& step) {
    const std::vector<KeyId> changed = locked_by(h_, step.first, step.end, RowLock::none);
    const std::vector<KeyId> last = locked_by(h_, step.first, step.end, step.lock);
    const std::vector<KeyId>& locked = isolation(member) == Isolation::prefix ? changed : last;
    const bool is_plain = changed.empty() && step.lock == RowLock::none;
    if (step.part != Part::unlocked)
      for (const KeyId key : locked)
        if (Status s = lock(member, key, step.lock == RowLock::share && !holds(changed, key));
            !s.ok())
          return s;
    Running& r = running_[member];
    if (is_plain && r.plain == kNone) r.plain = now_;
    const Reading reading{step.part, last, is_plain};
    for (const Access a : Accesses(h_, step.first, step.end)) {
      if (a.is_range()) {
        for (const auto& [key, lock] : locks_)
          if (covers(h_, a.op, key))
            if (Status s = read(member, reading, key, a.op, true); !s.ok()) return s;
      } else if (a.reads()) {
        if (Status s = read(member, reading, a.key, a.op, false); !s.ok()) return s;
      }
      if (step.part == Part::unlocked || !a.writes()) continue;
      if (Status s = change(member, a); !s.ok()) return s;
    }
    return Ok{};
  }

  Status lock(uint32_t member, KeyId key, bool shared) {
    Locked& lock = locks_[key];
    if (Status s = wait_for(member, lock.holder, key); !s.ok()) return s;
    for (const uint32_t sharer : lock.sharers)
      if (Status s = shared ? Status(Ok{}) : wait_for(member, sharer, key); !s.ok()) return s;
    const auto found = keys_.find(key);
    const bool has_versions = found != keys_.end() && !found->second.committed.empty();
    if (keeps_snapshot(member) && has_versions &&
        found->second.committed.back().at > running_[member].first)
      return refuse("event {}: {} {} {}, which {} has changed since its snapshot", now_,
                    name(member), shared ? "locks" : "changes or locks", h_.key(key).to_string(),
                    name(found->second.committed.back().writer));
    if (shared)
      lock.sharers.insert(member);
    else
      lock.holder = member;
    return Ok{};
  }

  Status wait_for(uint32_t member, uint32_t other, KeyId key) const {
    if (other == kNone || other == member) return Ok{};
    return refuse("event {}: {} would have to wait for {}, which has locked {}", now_, name(member),
                  name(other), h_.key(key).to_string());
  }

  // The reads in a step: which keys its statement reads in its second part, and whether it locks
  // nothing.
  struct Reading {
    Part part;
    const std::vector<KeyId>& last;
    bool is_plain;
  };
  Status read(uint32_t member, const Reading& reading, KeyId key, OpId op, bool by_query) {
    if (reading.part == (holds(reading.last, key) ? Part::unlocked : Part::locked)) return Ok{};
    const auto locked = locks_.find(key);
    if (locked == locks_.end() || running_[member].written.contains(key)) return Ok{};
    if (isolation(member) == Isolation::innodb_repeatable_read && !reading.is_plain) {
      if (Status s = wait_for(member, locked->second.holder, key); !s.ok()) return s;
      locked->second.sharers.insert(member);
    }
    const auto found = keys_.find(key);
    if (found == keys_.end()) return Ok{};
    const std::vector<Version>& committed = found->second.committed;
    const uint32_t moment = moment_of(member, reading.is_plain);
    const auto after =
        std::ranges::find_if(committed, [&](const Version& v) { return v.at > moment; });
    seen_.push_back({member, key, static_cast<size_t>(after - committed.begin()), op, by_query});
    return Ok{};
  }

  uint32_t moment_of(uint32_t member, bool is_plain) const {
    switch (isolation(member)) {
      case Isolation::read_committed:
        return now_;
      case Isolation::innodb_repeatable_read:
        return is_plain ? running_[member].plain : now_;
      case Isolation::prefix:
      case Isolation::snapshot:
      case Isolation::ssi:
        break;
    }
    return running_[member].first;
  }

  // Changes a row. A row is inserted only if none is there; a statement that found the row when it
  // ran and changes it must find it here, too.
  Status change(uint32_t member, const Access& a) {
    Running& r = running_[member];
    const Key& key = keys_[a.key];
    const auto own = r.written.find(a.key);
    const bool is_own = own != r.written.end();
    const bool is_known = is_own || key.is_absent || !key.committed.empty();
    const bool is_gone = is_own                  ? own->second.second
                         : key.committed.empty() ? key.is_absent
                                                 : key.committed.back().removed;
    if (is_known && !is_gone && a.accepts == Accepts::absent)
      return refuse("event {}: {} would not insert {}, which exists", now_, name(member),
                    h_.key(a.key).to_string());
    if (a.accepts == Accepts::equals && !is_own && !key.committed.empty() &&
        key.committed.back().version != a.seen)
      return refuse("event {}: {} compares {} with another value", now_, name(member),
                    h_.key(a.key).to_string());
    if (is_known && is_gone ? a.removes() || finds(a) : !is_own && is_skipped(a, key))
      return refuse("event {}: {} would not find {}", now_, name(member),
                    h_.key(a.key).to_string());
    r.written[a.key] = {a.version, a.removes()};
    return Ok{};
  }

  // Whether the write's statement found its row.
  bool finds(const Access& write) const {
    bool found = write.accepts == Accepts::equals && !h_.version_value(write.seen).is_null();
    each_before(write, [&](const Access& a) {
      found = found || (a.is_range() ? names(a.op, write.key)
                                     : a.key == write.key && a.accepts == Accepts::equals &&
                                           !h_.version_value(a.seen).is_null());
    });
    return found;
  }
  // Whether the write's statement found its row by a condition that what the key holds now does not
  // satisfy.
  bool is_skipped(const Access& write, const Key& key) const {
    bool passed = false;
    each_before(write, [&](const Access& a) {
      passed = passed || (a.is_range() && names(a.op, write.key) &&
                          matches_.match(key, key.committed.size(), matches_.condition_of(a.op)) ==
                              Match::no);
    });
    return passed;
  }
  // Visits the earlier operations of the same statement, backwards.
  template <class Visit>
  void each_before(const Access& write, Visit visit) const {
    const Interval sent = h_.op_time(write.op);
    for (OpId i = write.op; i-- > h_.first_op(h_.txn_of(write.op));) {
      if (!sent.known() || h_.op_time(i).request != sent.request) break;
      visit(access_of(h_, i));
    }
  }
  bool names(OpId range, KeyId key) const {
    return returns(h_, range, key) || std::ranges::count(h_.selected(range).matched, key) > 0;
  }

  const Schedule& schedule_;
  const History& h_;
  const Matches matches_;
  uint32_t now_ = 0;  // number of the current event
  std::vector<Running> running_;
  std::map<KeyId, Key> keys_;      // those that some member changes
  std::map<KeyId, Locked> locks_;  // those that some member locks
  std::vector<Seen> seen_;
};

// Which members come before which in every serial order that explains an execution.
class Precedence {
 public:
  Precedence(const Execution& run, size_t members) : run_(run), members_(members) { depend(); }

  // Checks for ssi that there are no members i → pivot → k, which read past each other and overlap,
  // where k commits first.
  Status keep_apart() const {
    std::vector<std::vector<uint32_t>> into(members_), out(members_);
    for (const auto& [from, to] : may_precede_) {
      if (from == to || run_.isolation(from) != Isolation::ssi ||
          run_.isolation(to) != Isolation::ssi)
        continue;
      if (!overlap(from, to)) continue;
      out[from].push_back(to);
      into[to].push_back(from);
    }
    for (uint32_t pivot = 0; pivot < members_; ++pivot)
      for (const uint32_t i : into[pivot])
        for (const uint32_t k : out[pivot]) {
          const uint32_t first = run_.running(k).committed;
          if (first > run_.running(i).committed || first >= run_.running(pivot).committed) continue;
          if (only_reads(i) && first >= run_.running(i).first) continue;
          return refuse("ssi refuses {}: {} did not see its writes, and it did not see those of {}",
                        run_.name(pivot), run_.name(i), run_.name(k));
        }
    return Ok{};
  }

  Status check_cycle(const std::vector<uint32_t>& cycle) const {
    if (cycle.empty()) return refuse("the schedule names no cycle");
    for (size_t i = 0; i < cycle.size(); ++i) {
      const uint32_t from = cycle[i], to = cycle[(i + 1) % cycle.size()];
      if (!precede_.contains({from, to}))
        return refuse(
            "place {} of the cycle: nothing in this schedule puts that transaction before the next",
            i);
    }
    return Ok{};
  }

 private:
  // Notes that `from` comes before `to` in every serial order that explains the schedule.
  void add(uint32_t from, uint32_t to) {
    if (from != to) precede_.insert({from, to});
  }

  void depend() {
    for (const auto& [key, state] : run_.keys())
      for (size_t i = 1; i < state.committed.size(); ++i)
        add(state.committed[i - 1].writer, state.committed[i].writer);
    for (const Seen& seen : run_.seen()) {
      const Key& key = run_.keys().at(seen.key);
      for (size_t i = seen.behind; i < key.committed.size(); ++i)
        if (!seen.by_query || may_change(key, seen.behind, i, run_.matches().condition_of(seen.op)))
          may_precede_.insert({seen.reader, key.committed[i].writer});
      seen.by_query ? depend_on_query(seen, key) : depend_on_item(seen, key);
    }
  }

  // Whether the version may add a row to what a query selects that saw the key after `behind`
  // versions, or take one out.
  bool may_change(const Key& key, size_t behind, size_t version, PredicateId where) const {
    return run_.matches().match(key, behind, where) != Match::no ||
           run_.matches().match(key, version + 1, where) != Match::no;
  }

  void depend_on_item(const Seen& seen, const Key& key) {
    if (seen.behind > 0) add(key.committed[seen.behind - 1].writer, seen.reader);
    if (seen.behind < key.committed.size()) add(seen.reader, key.committed[seen.behind].writer);
  }

  void depend_on_query(const Seen& seen, const Key& key) {
    const PredicateId where = run_.matches().condition_of(seen.op);
    const Match saw = run_.matches().match(key, seen.behind, where);
    if (saw == Match::open && seen.behind > 0) return;
    // Goes forwards to the next change, which only a row that certainly matches makes.
    for (size_t i = seen.behind; i < key.committed.size(); ++i) {
      const Match later = run_.matches().match(key, i + 1, where);
      if (saw == Match::open && later == Match::open) break;
      if (saw != Match::yes && later != Match::yes) continue;
      // The initial row is not known, and may have matched as well, but the new one differs from
      // it.
      add(seen.reader, key.committed[i].writer);
      break;
    }
    if (seen.behind == 0) return;
    if (saw == Match::yes) return add(key.committed[seen.behind - 1].writer, seen.reader);
    for (size_t i = seen.behind; i-- > 0;) {
      const Match earlier = run_.matches().match(key, i, where);
      if (earlier == Match::no) continue;
      if (earlier == Match::yes) add(key.committed[i].writer, seen.reader);
      return;
    }
  }

  bool overlap(uint32_t a, uint32_t b) const {
    return run_.running(a).first < run_.running(b).committed &&
           run_.running(b).first < run_.running(a).committed;
  }
  bool only_reads(uint32_t member) const { return run_.running(member).written.empty(); }

  const Execution& run_;
  const size_t members_;
  std::set<std::pair<uint32_t, uint32_t>> precede_;
  std::set<std::pair<uint32_t, uint32_t>> may_precede_;  // reader, and writer of a later version
};

}  // namespace

std::vector<Step> steps_of(const History& h, TxnId txn) {
  std::vector<Step> steps;
  const std::map<int64_t, RowLock> locks = row_locks_of(h.meta(txn));
  for (OpId first = h.first_op(txn), end = first; first < h.end_op(txn); first = end) {
    const Interval sent = h.op_time(first);
    end = end_of_statement(h, txn, first);
    const auto told = sent.known() ? locks.find(sent.request) : locks.end();
    const RowLock lock = told == locks.end() ? RowLock::none : told->second;
    const std::vector<KeyId> locked = locked_by(h, first, end, lock);
    bool reads_others = false;
    for (const Access a : Accesses(h, first, end))
      reads_others = reads_others || a.is_range() || (a.reads() && !holds(locked, a.key));
    if (locked.empty() || !reads_others) {
      steps.push_back({first, end, Part::whole, lock});
      continue;
    }
    steps.push_back({first, end, Part::unlocked, lock});
    steps.push_back({first, end, Part::locked, lock});
  }
  return steps;
}

Result<std::vector<Saw>> execute_schedule(const Schedule& schedule, const History& history) {
  Execution execution(schedule, history);
  if (Status s = execution.run(); !s.ok()) return s.error();
  return execution.versions_seen();
}

Status verify_schedule(const Schedule& schedule, const History& history) {
  Execution execution(schedule, history);
  if (Status s = execution.run(); !s.ok()) return s;
  const Precedence precedence(execution, schedule.members.size());
  if (Status s = precedence.keep_apart(); !s.ok()) return s;
  return precedence.check_cycle(schedule.cycle);
}

}  // namespace assay::internal::certify
