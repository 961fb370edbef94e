#include "certify/cycle_verifier.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "certify/refusal.h"
#include "history/mixed_levels.h"
#include "history/statements.h"

namespace assay::internal::certify {
namespace {

// Whether the edges of a path, by their kinds s and r, show that its end saw its start.
bool spells(const SeenBy& seen, std::string_view path) {
  std::vector<bool> spelt(path.size() + 1);  // indexed by length
  spelt[0] = true;
  for (size_t at = 0; at < path.size() && (at == 0 || seen.repeated); ++at)
    for (const std::string_view word : seen.words)
      if (spelt[at] && !word.empty() && path.substr(at).starts_with(word))
        spelt[at + word.size()] = true;
  return !path.empty() && spelt[path.size()];
}

// Whether a row forbids a cycle with these numbers of edges of each kind, in the order of kKinds.
constexpr std::string_view kKinds = "wrap";
using KindCounts = std::array<size_t, kKinds.size()>;

bool forbids(const ForbiddenCycle& forbidden, const KindCounts& counts) {
  if (forbidden.any.empty()) return false;
  size_t others = 0;  // number of edges of kinds that may occur once
  bool once = forbidden.once.empty();
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    const bool any = forbidden.any.find(kKinds[kind]) != std::string_view::npos;
    const bool one = forbidden.once.find(kKinds[kind]) != std::string_view::npos;
    if (counts[kind] > 0 && !any && !one) return false;
    if (!any) others += counts[kind];
    once = once || (one && counts[kind] > 0);
  }
  return once && others <= 1;
}

Side departure(const Edge& edge) {
  if (edge.kind == EdgeKind::anti_dependency) return Side::read;
  return edge.kind != EdgeKind::real_time || edge.from_write ? Side::write : Side::read;
}

// `entered`: the level of the transaction to which the edge leads.
Side arrival(const Edge& edge, const LevelInfo& entered) {
  switch (edge.kind) {
    case EdgeKind::anti_dependency:
      return Side::write;
    case EdgeKind::real_time:
      return edge.to_write ? Side::write : Side::read;
    case EdgeKind::write_dependency:
    case EdgeKind::forced:
      return entered.write_conflict ? Side::read : Side::write;
    case EdgeKind::read_dependency:
    case EdgeKind::session:
      break;
  }
  return Side::read;
}

// r(T) precedes w(T), so a cycle that enters T at w may not leave it at r.
bool enters_behind(const LevelInfo& level, const Edge& in, const Edge& out) {
  return level.events == EventModel::split && arrival(in, level) == Side::write &&
         departure(out) == Side::read;
}

// If each statement is an event: the statement, given by its first operation, at which an edge
// enters or leaves a transaction. The commit comes after all statements.
constexpr OpId kCommit = kNone;
OpId entered_at(const History& h, const Edge& edge, const Reads& reads) {
  switch (edge.kind) {
    case EdgeKind::read_dependency:
      return statement_of(h, reads.first);
    case EdgeKind::write_dependency:
    case EdgeKind::forced:
      for (const Access& a : accesses(h, edge.to))
        if (a.writes() && a.key == edge.key) return statement_of(h, a.op);
      break;
    case EdgeKind::session:
      return h.first_op(edge.to);
    case EdgeKind::anti_dependency:
    case EdgeKind::real_time:
      break;
  }
  return kCommit;
}
OpId left_at(const History& h, const Edge& edge, const Reads& reads) {
  return edge.kind == EdgeKind::anti_dependency ? statement_of(h, reads.last) : kCommit;
}

// Checks that all transactions on the cycle declare a level that can be mixed; those on paths only
// have to be seen.
Status check_declared(const History& history, std::span<const Edge> cycle) {
  for (const Edge& edge : cycle) {
    const TxnId reader = edge.kind == EdgeKind::forced ? edge.via : edge.to;
    for (const TxnId t : {edge.from, edge.to, reader}) {
      if (t >= history.txn_count()) return refuse("a forced edge has no reader");
      if (!held_to(history, t))
        return refuse("transaction {} declares no level that can be mixed", history.name(t));
    }
  }
  return Ok{};
}

}  // namespace

std::vector<Literal> assumptions(const ProofStep& step) {
  std::vector<Literal> all;
  for (const Edge& edge : step.cycle) {
    if (edge.kind == EdgeKind::write_dependency) all.push_back(Literal::order(edge.from, edge.to));
    if (edge.kind == EdgeKind::anti_dependency && edge.via != kNone)
      all.push_back(Literal::order(edge.via, edge.to));
  }
  all.insert(all.end(), step.given.begin(), step.given.end());
  return all;
}

Status CycleVerifier::check(std::span<const Edge> cycle, std::span<const Literal> given) {
  given_ = {given};
  for (const Literal& literal : given) {
    if (literal.negated || literal.kind == Literal::Kind::order)
      return refuse("a cycle may only be given sources of reads and effects of transactions");
    if (literal.kind == Literal::Kind::seen && literal.op == kNone && !one_state(level_))
      return refuse("{} lets a transaction see several states of a key", level_.name);
  }
  if (cycle.empty()) return refuse("a cycle has no edges");
  for (const Edge& edge : cycle) {
    if (Status s = check_ends(edge); !s.ok()) return s;
    if (edge.kind != EdgeKind::forced && !edge.path.empty())
      return refuse("an edge that is not forced has a path");
  }
  for (size_t i = 0; i < cycle.size(); ++i)
    if (cycle[i].to != cycle[(i + 1) % cycle.size()].from)
      return refuse("the edges do not close: one enters transaction {}, the next leaves {}",
                    name(cycle[i].to), name(cycle[(i + 1) % cycle.size()].from));
  if (level_.events == EventModel::mixed)
    if (Status s = check_declared(history_, cycle); !s.ok()) return s;
  const bool unseen = std::any_of(cycle.begin(), cycle.end(), [&](const Edge& e) {
    return e.kind == EdgeKind::anti_dependency && level_of(e.from).events == EventModel::weak;
  });
  if (unseen) return check_unseen_initial(cycle);
  for (const Edge& edge : cycle)
    if (Status s = check_edge(edge); !s.ok()) return s;
  if (level_.events == EventModel::adya) return check_kinds(cycle);
  return check_joints(cycle);
}

const LevelInfo& CycleVerifier::level_of(TxnId t) const {
  if (level_.events != EventModel::mixed) return level_;
  return level_info(*held_to(history_, t));
}

// Checks that the level's row forbids a cycle with edges of these kinds. If a reader writes the key
// itself, it may have written the next version: then the edge to a later one is not an
// anti-dependency but a path of write dependencies, and the cycle has to be forbidden either way.
Status CycleVerifier::check_kinds(std::span<const Edge> cycle) {
  KindCounts counts{};
  size_t updates = 0;
  bool one_key = true;
  for (const Edge& edge : cycle) {
    if (edge.kind == EdgeKind::forced || edge.kind == EdgeKind::session ||
        edge.kind == EdgeKind::real_time)
      return refuse("{} has no {} edges", level_.name, edge_kind_name(edge.kind));
    one_key = one_key && edge.key == cycle[0].key;
    const bool anti = edge.kind == EdgeKind::anti_dependency, item = anti && is_item(edge);
    if (item && evidence_.writes.left_by(edge.from, edge.key) != nullptr) {
      ++updates;
      continue;
    }
    const char kind = item ? 'a' : anti ? 'p' : edge.kind == EdgeKind::write_dependency ? 'w' : 'r';
    ++counts[kKinds.find(kind)];
  }
  for (size_t anti = 0; anti <= updates; ++anti) {
    KindCounts either = counts;
    either[kKinds.find('a')] += anti;
    either[kKinds.find('w')] += updates - anti;
    if (std::ranges::none_of(level_.forbidden, [&](const ForbiddenCycle& f) {
          return (one_key || !f.one_key) && forbids(f, either);
        }))
      return refuse("{} allows a cycle of these kinds of edges", level_.name);
  }
  return Ok{};
}

// Whether the read returned the key, and did not merely find it absent from a range.
bool CycleVerifier::is_item(const Edge& edge) const {
  return edge.op < history_.op_count() && certify::is_item(history_, edge.op, edge.key);
}

// Checks that the two ends are different transactions that took effect.
Status CycleVerifier::check_ends(const Edge& edge) {
  for (TxnId t : {edge.from, edge.to}) {
    if (t >= history_.txn_count()) return refuse("an edge ends at an unknown transaction");
    if (!counts(t))
      return refuse("a {} edge ends at transaction {}, which need not have taken effect",
                    edge_kind_name(edge.kind), name(t));
  }
  if (edge.from == edge.to)
    return refuse("an edge leads from transaction {} to itself", name(edge.from));
  return Ok{};
}

// Checks what the edge rests on, by its kind.
Status CycleVerifier::check_edge(const Edge& edge) {
  static constexpr Status (CycleVerifier::*kRules[])(const Edge&) = {
      &CycleVerifier::check_read_from,  // `to` certainly saw what `from` left
      &CycleVerifier::check_session,    // `from` is earlier in the session of `to`
      &CycleVerifier::check_real_time,  // the clocks say so
      &CycleVerifier::check_writers,    // both write the key; which comes first is assumed
      &CycleVerifier::check_anti,       // `from` read what `to` overwrote
      &CycleVerifier::check_forced,     // the other order of two writers is impossible
  };
  static_assert(std::size(kRules) == static_cast<size_t>(EdgeKind::forced) + 1);
  const auto kind = static_cast<size_t>(edge.kind);
  return kind < std::size(kRules) ? (this->*kRules[kind])(edge)
                                  : refuse("an edge of an unknown kind");
}

void Reads::add(OpId op) {
  any = true;
  if (op == kNone) return;
  first = std::min(first, op);
  last = last == kNone ? op : std::max(last, op);
}

// Whether `reader` certainly reads `key` from `from` (kNone: the initial value) with operation
// `only`, or with any if that is kNone, or is given to do so.
Reads CycleVerifier::reads_from(TxnId reader, KeyId key, TxnId from, OpId only) {
  Reads reads;
  if (key >= history_.key_count()) return reads;
  for (const Literal& l : given_.literals) {
    const OpId op = l.op == kNone ? only : l.op;  // for one operation, or for all, which then saw
                                                  // one state
    if (l == Literal::seen(reader, key, from, l.op) && (only == kNone || op == only)) reads.add(op);
  }
  for (const Observation& seen : evidence_.reads.of(reader, key)) {
    if (only != kNone && seen.op != only) continue;
    const bool matches = from == kNone ? certainly_initial(evidence_.writes, seen, reader)
                                       : source(evidence_.writes, seen, reader) == from ||
                                             given_.block(evidence_.blocks, seen.op, key, from);
    if (matches) reads.add(seen.op);
  }
  return reads;
}

bool CycleVerifier::counts(TxnId t) {
  return evidence_.counting.counts(t) || has(given_.literals, Literal::effect(t));
}

Status CycleVerifier::check_read_from(const Edge& edge) {
  const TxnId seen = edge.via == kNone ? edge.from : edge.via;
  const bool exists = seen < history_.txn_count();
  const Reads reads = exists ? reads_from(edge.to, edge.key, seen, edge.op) : Reads{};
  if (!reads.any)
    return refuse("transaction {} does not certainly read the key from transaction {}",
                  name(edge.to), exists ? name(seen) : "that does not exist");
  const bool selects = level_.events == EventModel::adya && reads.first < history_.op_count() &&
                       !certify::is_item(history_, reads.first, edge.key);
  if (selects) return check_change(edge, reads.first, seen);
  if (edge.via != kNone) return refuse("a read dependency must not name another version");
  return Ok{};
}

// Checks that `from` was the last to change whether the range, which saw the version of `seen`,
// selects the key.
Status CycleVerifier::check_change(const Edge& edge, OpId range, TxnId seen) {
  for (const TxnId t : {seen, edge.from})
    if (Status s = check_writes(t, edge.key); !s.ok()) return s;
  if (!evidence_.predicate_reads.depends(range, edge.key, seen, edge.from))
    return refuse("transaction {} did not certainly make the last change of what a range selects",
                  name(edge.from));
  return Ok{};
}

Status CycleVerifier::check_session(const Edge& edge) {
  if (!level_.session_order) return refuse("{} has no session order", level_.name);
  if (history_.session(edge.from) != history_.session(edge.to) ||
      history_.position(edge.from) >= history_.position(edge.to))
    return refuse("transaction {} is not earlier in the session of transaction {}", name(edge.from),
                  name(edge.to));
  if (history_.status(edge.from) != TxnStatus::committed)
    return refuse("the session did not wait for transaction {}, whose outcome is unknown",
                  name(edge.from));
  return Ok{};
}

Status CycleVerifier::check_real_time(const Edge& edge) {
  const Side from = edge.from_write ? Side::write : Side::read;
  const Side to = edge.to_write ? Side::write : Side::read;
  if (!orders_by_time(level_.real_time, from, to))
    return refuse("{} does not order these events by time", level_.name);
  if (!before_in_time(history_, edge.from, from, edge.to, to))
    return refuse("by the clocks transaction {} is not before transaction {}", name(edge.from),
                  name(edge.to));
  return Ok{};
}

Status CycleVerifier::check_writes(TxnId t, KeyId key) {
  if (t >= history_.txn_count()) return refuse("an edge names an unknown transaction");
  if (key >= history_.key_count() || evidence_.writes.left_by(t, key) == nullptr)
    return refuse("transaction {} does not write the key of its edge", name(t));
  return Ok{};
}

Status CycleVerifier::check_writers(const Edge& edge) {
  if (Status s = check_writes(edge.from, edge.key); !s.ok()) return s;
  return check_writes(edge.to, edge.key);
}

Status CycleVerifier::check_anti(const Edge& edge) {
  if (Status s = check_writes(edge.to, edge.key); !s.ok()) return s;
  if (edge.via == edge.to) return refuse("an anti-dependency leads to the writer that was read");
  if (level_.events == EventModel::adya && !is_item(edge)) {
    if (edge.op >= history_.op_count()) return refuse("an anti-dependency names no operation");
    if (edge.via != kNone)
      if (Status s = check_writes(edge.via, edge.key); !s.ok()) return s;
    const State before = edge.via == kNone ? initial_state(history_, edge.key)
                                           : left_by(history_, edge.via, edge.key);
    if (!conditions_.changes(edge.op, edge.key, before, left_by(history_, edge.to, edge.key)))
      return refuse("transaction {} did not change whether a range selects the key", name(edge.to));
  }
  if (!reads_from(edge.from, edge.key, edge.via, edge.op).any)
    return refuse("transaction {} does not certainly read the version in its anti-dependency",
                  name(edge.from));
  return Ok{};
}

// Checks that `from` and `to` write the key, and the reader reads it from `to` and saw `from`: were
// `to` before `from`, the reader would have had to read what `from` wrote, or something later.
Status CycleVerifier::check_forced(const Edge& edge) {
  const TxnId reader = edge.via;
  if (reader >= history_.txn_count() || !counts(reader))
    return refuse("the reader of a forced edge need not have taken effect");
  if (reader == edge.from || reader == edge.to)
    return refuse("the reader of a forced edge is one of its ends");
  if (Status s = check_writers(edge); !s.ok()) return s;
  return check_seen(edge.from, reader, edge.path, edge.key, edge.to, edge.op);
}

// Checks that `reader` reads `key` from `from`, with operation `read` if that is given, and saw
// transaction `seen` in the sense of the level, as `path` shows.
Status CycleVerifier::check_seen(TxnId seen, TxnId reader, std::span<const Edge> path, KeyId key,
                                 TxnId from, OpId read) {
  if (Status s = check_path(seen, reader, path); !s.ok()) return s;
  const Reads reads = reads_from(reader, key, from, read);
  if (!reads.any)
    return refuse("transaction {} does not certainly read the key as the edge says", name(reader));
  const LevelInfo& level = level_of(reader);
  if (level.events == EventModel::statements &&
      entered_at(history_, path.back(), reads_of(path.back())) > statement_of(history_, reads.last))
    return refuse("transaction {} saw transaction {} only after it had read the key", name(reader),
                  name(seen));
  std::string kinds;
  for (const Edge& edge : path) kinds += edge.kind == EdgeKind::session ? 's' : 'r';
  const bool spelt = !level.seen.any() || spells(level.seen, kinds);
  const bool one_step =
      level.seen.any() && !level.seen.repeated &&
      std::ranges::all_of(level.seen.words, [](std::string_view word) { return word.size() <= 1; });
  if (one_step && path.size() != 1)
    return refuse("at {} one edge must show that transaction {} saw transaction {}", level.name,
                  name(reader), name(seen));
  const Edge& step = path.back();
  // If the operation matters, `given` names it; kNone counts as later than any.
  const bool too_late =
      step.kind == EdgeKind::read_dependency &&
      (reads.last == kNone || reads_from(reader, step.key, step.from, step.op).first >= reads.last);
  if (level.seen.earlier_reads && (!spelt || too_late))
    return refuse("transaction {} did not read from transaction {} before it read the key",
                  name(reader), name(seen));
  if (!spelt) return refuse("at {} such a path does not show what was seen", level.name);
  return Ok{};
}

// Checks a path of read-from and session edges from one transaction to another, at least one.
Status CycleVerifier::check_path(TxnId from, TxnId to, std::span<const Edge> path) {
  if (path.empty() || path.front().from != from || path.back().to != to)
    return refuse("a path does not lead from transaction {} to transaction {}", name(from),
                  name(to));
  for (size_t i = 0; i < path.size(); ++i) {
    const Edge& edge = path[i];
    if (edge.kind != EdgeKind::read_dependency && edge.kind != EdgeKind::session)
      return refuse("a path has an edge that is neither read-from nor session");
    if (!edge.path.empty()) return refuse("an edge of a path has a path");
    if (i > 0 && path[i - 1].to != edge.from) return refuse("the edges of a path do not connect");
    if (Status s = check_ends(edge); !s.ok()) return s;
    if (Status s = check_edge(edge); !s.ok()) return s;
  }
  return Ok{};
}

// The reads on which an edge at a read rests.
Reads CycleVerifier::reads_of(const Edge& edge) {
  return edge.kind == EdgeKind::anti_dependency
             ? reads_from(edge.from, edge.key, edge.via, edge.op)
             : reads_from(edge.to, edge.key, edge.via == kNone ? edge.from : edge.via, edge.op);
}

// Checks that the cycle leaves no transaction before the place at which it enters the transaction.
Status CycleVerifier::check_joints(std::span<const Edge> cycle) {
  for (size_t i = 0; i < cycle.size(); ++i) {
    const Edge &in = cycle[i], &out = cycle[(i + 1) % cycle.size()];
    const LevelInfo& level = level_of(in.to);
    if (level.events == EventModel::statements
            ? entered_at(history_, in, reads_of(in)) > left_at(history_, out, reads_of(out))
            : enters_behind(level, in, out))
      return refuse("the cycle enters transaction {} after the point at which it leaves it",
                    name(in.to));
  }
  return Ok{};
}

// Checks the cycle of the weak levels with an anti-dependency: the reader of an initial value saw a
// writer of the key.
Status CycleVerifier::check_unseen_initial(std::span<const Edge> cycle) {
  size_t at = 0;
  while (cycle[at].kind != EdgeKind::anti_dependency) ++at;
  const Edge& anti = cycle[at];
  if (anti.via != kNone)
    return refuse("{} has no version order; only initial values come first", level_.name);
  if (Status s = check_writes(anti.to, anti.key); !s.ok()) return s;
  std::vector<Edge> path;
  for (size_t i = 1; i < cycle.size(); ++i) path.push_back(cycle[(at + i) % cycle.size()]);
  return check_seen(anti.to, anti.from, path, anti.key, kNone, anti.op);
}

}  // namespace assay::internal::certify
