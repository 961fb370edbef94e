#include "explain/because.h"

#include <fmt/format.h>

#include "explain/names.h"

namespace assay::internal {

std::string duration(uint64_t ns) {
  const auto v = static_cast<double>(ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.3g} µs", v / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.3g} ms", v / 1e6);
  return fmt::format("{:.4g} s", v / 1e9);
}

std::string duration_between(int64_t earlier, int64_t later) {
  return duration(static_cast<uint64_t>(later) - static_cast<uint64_t>(earlier));
}

std::string Clauses::txn(TxnId t) const { return display_txn(accesses_.history(), t); }

std::string Clauses::written(TxnId t, KeyId key) const {
  const Access w = Accesses::find(accesses_.writes(t), key);
  if (w.op == kNone) return key_in_words(accesses_.history(), key);
  return display_version(accesses_.history(), w.version);
}

std::string Clauses::written_value(TxnId t, KeyId key) const {
  const Access w = Accesses::find(accesses_.writes(t), key);
  if (w.op == kNone) return "another value";
  return display(accesses_.history().version_value(w.version));
}

std::string Clauses::read_version(const Edge& e) const {
  const History& h = accesses_.history();
  const TxnId reader = e.kind == EdgeKind::read_dependency ? e.to : e.from;
  const TxnId source = e.kind == EdgeKind::read_dependency ? e.from : e.via;
  const std::vector<Access> reads = accesses_.all_reads(reader);
  const Access* found = nullptr;
  for (const Access& r : reads)
    if (r.key == e.key && (!found || r.op == e.op) &&
        (accesses_.writer(r.version) == source || !accesses_.certain(r.version)))
      found = &r;
  if (!found) return e.key == kNone ? "a value" : key_in_words(h, e.key);
  return display_version(h, found->version);
}

std::string Clauses::read_with_origin(const Edge& anti) const {
  return read_version(anti) + (anti.via == kNone ? " (the initial value)"
                                                 : fmt::format(" (written by {})", txn(anti.via)));
}

std::string Clauses::chain(const std::vector<Edge>& path) const {
  std::string out;
  for (const Edge& e : path) {
    if (out.empty()) out = txn(e.from);
    out += " → " + txn(e.to);
  }
  return out;
}

std::string Clauses::because(const Edge& edge) const {
  return because(Step{edge, Step::Because::plain, {}, kNone});
}

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

// What contradicts the order `assumed`: the other edges of the cycle it closes.
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

// The axiom of the weak levels, for this reader and key: it saw `from`, which writes the key, and reads it from `to`.
std::string Clauses::axiom_instance(const Edge& e) const {
  std::string seen = "earlier in its session";
  if (e.path.size() > 1) {
    seen = "through " + chain(e.path);
  } else if (!e.path.empty() && e.path[0].kind == EdgeKind::read_dependency) {
    seen = fmt::format("it read {} of it", read_version(e.path[0]));
  }
  Edge read = e;
  read.kind = EdgeKind::read_dependency;
  read.from = e.to;
  read.to = e.via;
  return fmt::format("{} saw {} ({}), which wrote {}, and yet read {} of {}", txn(e.via),
                     txn(e.from), seen, written(e.from, e.key), read_version(read), txn(e.to));
}

std::string Clauses::because(const Step& step) const {
  const Edge& e = step.edge;
  const History& h = accesses_.history();
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
      return fmt::format("{} read {}, which {} wrote", to, read_version(e), from);
    case EdgeKind::session:
      return fmt::format("{} follows {} in session {}", to, from,
                         display_session(h, h.session(e.to)));
    case EdgeKind::real_time:
      return real_time_clause(h, e, from, to);
    case EdgeKind::write_dependency:
      return justified(fmt::format("{} wrote {} before {} wrote {}", from, written(e.from, e.key),
                                   to, written_value(e.to, e.key)));
    case EdgeKind::anti_dependency:
      if (e.via == kNone)
        return fmt::format("{} read {}, the initial value, which {} overwrote with {}", from,
                           read_version(e), to, written_value(e.to, e.key));
      return justified(fmt::format("{} read {}, which {} overwrote with {}", from, read_version(e),
                                   to, written_value(e.to, e.key)));
    case EdgeKind::forced:
      return axiom_instance(e);
  }
  return {};
}

std::string Clauses::justification(const Step& step) const {
  const TxnId first = step.edge.kind == EdgeKind::anti_dependency ? step.edge.via : step.edge.from;
  const std::string a = first == kNone ? std::string() : txn(first), b = txn(step.edge.to);
  switch (step.because) {
    case Step::Because::plain:
    case Step::Because::assumed:
      return {};
    case Step::Because::read_first:
      return fmt::format("{} had read that version itself", b);
    case Step::Because::stated:
      return "the history states this order of versions";
    case Step::Because::path: {
      bool simple = true;
      for (const Edge& e : step.path) simple = simple && e.kind != EdgeKind::forced;
      if (simple) return fmt::format("{} is before {}: {}", a, b, chain(step.path));
      std::string clauses;
      for (const Edge& e : step.path) clauses += (clauses.empty() ? "" : ", and ") + because(e);
      return fmt::format("{} is before {}: {}", a, b, clauses);
    }
    case Step::Because::proof: {
      const ProofStep& s = proof_.steps[step.proof_step];
      return fmt::format("were {} before {}, {}", b, a, consequence(s, {step.edge.to, first}));
    }
  }
  return {};
}

}  // namespace assay::internal
