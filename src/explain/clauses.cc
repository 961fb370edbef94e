#include "explain/clauses.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "explain/names.h"
#include "explain/phrases.h"
#include "history/accesses.h"

namespace assay::internal {

std::string Clauses::txn(TxnId t) const { return display_txn(h_, t); }

namespace {

// Whether the reader itself had begun the list that it read.
bool only_own_elements(const Place& read) {
  return is_list(read.history, read.op) && !elements_of(read.history, read.op).empty() &&
         outside_list(read.history, read.op).elements.empty();
}

// Whether the list held elements of others.
bool has_others_elements(const Place& read) {
  return is_list(read.history, read.op) && !outside_list(read.history, read.op).elements.empty();
}

// Given two reads that returned what one transaction left last: whether the rest of what they read
// is the same, too, as it is unless they are lists that contradict each other.
bool same_lists(const Excerpt& excerpt, OpId a, OpId b) {
  if (a == kNone || b == kNone) return true;
  const Place x = excerpt.in_file(a), y = excerpt.in_file(b);
  if (!is_list(x.history, x.op) || !is_list(y.history, y.op)) return true;
  const std::span<const VersionId> p = elements_of(x.history, x.op),
                                   q = elements_of(y.history, y.op);
  return std::equal(p.begin(), p.end(), q.begin(), q.end());
}

}  // namespace

OpId Clauses::reading(const Edge& e) const {
  if (e.key == kNone) return kNone;
  const bool at_end = e.kind == EdgeKind::read_dependency;
  const TxnId reader = at_end ? e.to : e.from, source = at_end ? e.from : e.via;
  if (e.op != kNone && h_.txn_of(e.op) == reader && looks_at(h_, e.op, e.key)) return e.op;
  for (const Access& r : reads_of(h_, reader))
    if (r.key == e.key && wrote(h_, source, r.version)) return r.op;
  for (OpId i = h_.first_op(reader); i < h_.end_op(reader); ++i)
    if (looks_at(h_, i, e.key)) return i;
  return kNone;
}

std::string Clauses::saw(OpId op, KeyId key) const {
  const Place read = excerpt_.in_file(op);
  if (is_list(read.history, read.op)) return "read " + list_in_words(read);
  return saw_in_words(h_, op, key);
}

std::string Clauses::saw(const Edge& e) const {
  const OpId op = reading(e);
  if (op != kNone) return saw(op, e.key);
  return e.key == kNone ? "saw a value" : "accessed " + key_in_words(h_, e.key);
}

std::string Clauses::saw_of(const Edge& read, std::string_view of, const std::string& who) const {
  const OpId op = reading(read);
  if (op == kNone || saw_a_value(h_, op, read.key))
    return fmt::format("{} {} {}", saw(read), of, who);
  return fmt::format("{}, after {} {}", saw(read), txn(read.from), did(read.from, read.key));
}

std::string Clauses::saw_with_origin(const Edge& anti) const {
  const OpId op = reading(anti);
  std::string seen = saw(anti);
  if (op == kNone || !saw_a_value(h_, op, anti.key)) return seen;
  const Place read = excerpt_.in_file(op);
  if (only_own_elements(read)) return seen + ", nothing but its own,";
  if (anti.via == kNone && has_others_elements(read)) return seen;
  if (anti.via == kNone) return seen + " (the initial value)";
  if (overwrites(h_, anti.via, anti.key))
    return fmt::format("{} (written by {})", seen, txn(anti.via));
  return fmt::format("{} ({} {})", seen, txn(anti.via), did(anti.via, anti.key));
}

// "T2 read x = 1, which T1 wrote"
std::string Clauses::read_clause(const Edge& e) const {
  const OpId op = reading(e);
  const bool same = op != kNone && saw_a_value(h_, op, e.key) && overwrites(h_, e.from, e.key);
  if (e.via != kNone)
    return fmt::format("{} {}; the last transaction to change whether it matches was {}, which {}",
                       txn(e.to), saw(e), txn(e.from), did(e.from, e.key));
  if (same) return fmt::format("{} {}, which {} wrote", txn(e.to), saw(e), txn(e.from));
  return fmt::format("{} {} after {} {}", txn(e.to), saw(e), txn(e.from), did(e.from, e.key));
}

// "T1 wrote x = 1 before T2 wrote 2"
std::string Clauses::write_clause(const Edge& e) const {
  return fmt::format(
      "{} {} before {} {}", txn(e.from), did(e.from, e.key), txn(e.to),
      overwrites(h_, e.to, e.key) ? "wrote " + value_written(h_, e.to, e.key) : did(e.to, e.key));
}

// "T1 read x = 1, which T2 overwrote with 2"
std::string Clauses::missed_clause(const Edge& e) const {
  const OpId op = reading(e);
  if (op == kNone || !saw_a_value(h_, op, e.key))
    return fmt::format("{} {} before {} {}", txn(e.from), saw(e), txn(e.to), did(e.to, e.key));
  const Place read = excerpt_.in_file(op);
  const std::string origin = only_own_elements(read) ? "nothing but its own, "
                             : e.via == kNone && !has_others_elements(read) ? "the initial value, "
                                                                            : "";
  return fmt::format("{} {}, {}{}", txn(e.from), saw(e), origin, replaced(e.to, e.key));
}

std::string Clauses::chain(const std::vector<Edge>& path) const {
  std::string out;
  for (const Edge& e : path) {
    if (out.empty()) out = txn(e.from);
    out += " → " + txn(e.to);
  }
  return out;
}

std::string Clauses::because(const Edge& edge) const { return because(Step{edge}); }

namespace {

std::string real_time_clause(const History& h, const Edge& e, const std::string& from,
                             const std::string& to) {
  const Interval a = e.from_write ? h.end_time(e.from) : h.begin_time(e.from);
  const Interval b = e.to_write ? h.end_time(e.to) : h.begin_time(e.to);
  const std::string gap = a.response != Interval::kUnknown && b.request > a.response
                              ? duration_between(a.response, b.request) + " "
                              : std::string();
  return fmt::format("{} {} {}before {} {}", from, e.from_write ? "had ended" : "had begun", gap,
                     to, e.to_write ? "ended" : "began");
}

}  // namespace

// Says what contradicts the order `assumed`: the other edges of the cycle it closes.
std::string Clauses::consequence(const ProofStep& step, const Literal& assumed) const {
  if (step.kind != ProofStep::Kind::cycle || step.cycle.size() > kMostRefuting)
    return "other reads would contradict";
  std::string out;
  for (const Edge& e : step.cycle) {
    const bool is_assumption =
        e.kind == EdgeKind::write_dependency && Literal{e.from, e.to} == assumed;
    if (!is_assumption) out += (out.empty() ? "" : ", and ") + because(e);
  }
  return "this would close a cycle: " + out;
}

// The axiom of the weak levels, for this reader and key: it saw `from`, which writes the key, and
// reads it from `to`.
std::string Clauses::axiom_instance(const Edge& e) const {
  std::string seen = "earlier in its session";
  if (e.path.size() > 1) {
    seen = "through " + chain(e.path);
  } else if (!e.path.empty() && e.path[0].kind == EdgeKind::read_dependency) {
    seen = "it " + saw_of(e.path[0], "of", "it");
  }
  Edge read = e;
  read.kind = EdgeKind::read_dependency;
  read.from = e.to;
  read.to = e.via;
  const std::string known =
      fmt::format("{} saw {} ({}), which {}", txn(e.via), txn(e.from), seen, did(e.from, e.key));
  const OpId op = reading(read);
  if (op != kNone && saw_a_value(h_, op, e.key))
    return fmt::format("{}, and yet {} of {}", known, saw(read), txn(e.to));
  return fmt::format("{}, and yet {} {} after {} {}", known, txn(e.via), saw(read), txn(e.to),
                     did(e.to, e.key));
}

std::string Clauses::because(const Step& step) const {
  const Edge& e = step.edge;
  const std::string from = txn(e.from), to = txn(e.to);
  if (step.because == Step::Because::assumed) {
    const TxnId source = e.kind == EdgeKind::read_dependency ? e.from : e.via;
    return fmt::format(
        "{}, if that was {}; no other source is better", because(e),
        source == kNone ? std::string("the initial value") : "what " + txn(source) + " left");
  }
  const auto justified = [&](const std::string& clause) {
    const std::string why = justification(step);
    return why.empty() ? clause : clause + " (" + why + ")";
  };
  switch (e.kind) {
    case EdgeKind::read_dependency:
      return read_clause(e);
    case EdgeKind::session:
      return fmt::format("{} follows {} in session {}", to, from,
                         display_session(h_, h_.session(e.to)));
    case EdgeKind::real_time:
      return real_time_clause(h_, e, from, to);
    case EdgeKind::write_dependency:
      return justified(write_clause(e));
    case EdgeKind::anti_dependency:
      return e.via == kNone ? missed_clause(e) : justified(missed_clause(e));
    case EdgeKind::forced:
      return axiom_instance(e);
  }
  return {};
}

// Whether the writer had read the version of `source` that it overwrote.
bool Clauses::had_read_it(const Edge& e, TxnId source) const {
  const OpId named = reading(e);
  const OpId first = last_write(h_, e.from, e.key);
  const bool is_named = e.kind == EdgeKind::write_dependency
                            ? first != kNone && !install_of(h_, first).appends
                            : named != kNone && saw_a_value(h_, named, e.key);
  return is_named && std::ranges::any_of(reads_of(h_, e.to), [&](const Access& r) {
           return r.key == e.key && (source == kNone || wrote(h_, source, r.version)) &&
                  same_lists(excerpt_, named, r.op);
         });
}

// Why `writer` came after `source`: it had read from it. If both wrote several keys, it may have
// read another one.
std::string Clauses::read_first_clause(const Edge& e, TxnId source) const {
  if (had_read_it(e, source)) return fmt::format("{} had read that version itself", txn(e.to));
  if (source == kNone) return {};
  for (const Access& r : reads_of(h_, e.to)) {
    if (!wrote(h_, source, r.version)) continue;
    Edge read = Edge::read_dependency(source, e.to, r.key);
    read.op = r.op;
    return because(read);
  }
  return {};
}

std::string Clauses::in_sentence(const Step& step) const {
  const Edge& e = step.edge;
  const TxnId source = e.kind == EdgeKind::anti_dependency ? e.via : e.from;
  const bool shown = step.because == Step::Because::read_first && had_read_it(e, source);
  return shown ? because(e) : because(step);
}

std::string Clauses::justification(const Step& step) const {
  const TxnId first = step.edge.kind == EdgeKind::anti_dependency ? step.edge.via : step.edge.from;
  const std::string a = first == kNone ? std::string() : txn(first), b = txn(step.edge.to);
  switch (step.because) {
    case Step::Because::plain:
    case Step::Because::assumed:
      return {};
    case Step::Because::read_first:
      return read_first_clause(step.edge, first);
    case Step::Because::stated: {
      const OpId list = step.source;
      if (list == kNone) return "the history states this order of versions";
      return fmt::format("{} {}", txn(h_.txn_of(list)), saw(list, h_.op(list).key));
    }
    case Step::Because::path: {
      bool simple = step.path.size() > 1;
      for (const Edge& e : step.path) simple = simple && e.kind != EdgeKind::forced;
      if (simple) return fmt::format("{} is before {}: {}", a, b, chain(step.path));
      std::string clauses;
      for (const Edge& e : step.path) clauses += (clauses.empty() ? "" : ", and ") + because(e);
      return fmt::format("{} is before {}: {}", a, b, clauses);
    }
    case Step::Because::proof: {
      const ProofStep& s = proof_.steps[step.source];
      return fmt::format("were {} before {}, {}", b, a, consequence(s, {step.edge.to, first}));
    }
  }
  return {};
}

}  // namespace assay::internal
