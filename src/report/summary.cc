#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "explain/explain.h"
#include "explain/names.h"

namespace assay::internal {

Counts count_outcomes(const History& h) {
  Counts c;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    switch (h.status(t)) {
      case TxnStatus::committed:
        ++c.committed;
        break;
      case TxnStatus::aborted:
        ++c.aborted;
        break;
      case TxnStatus::unknown:
        ++c.unknown;
        break;
    }
  }
  return c;
}

std::vector<LevelId> strongest_satisfied(const CheckResult& result) {
  std::vector<LevelId> satisfied;
  for (const Verdict& v : result.verdicts)
    if (v.outcome == Outcome::satisfied) satisfied.push_back(v.level);
  return strongest(satisfied);
}

bool is_requested(const Audit& c, LevelId level) {
  return std::find(c.requested.begin(), c.requested.end(), level) != c.requested.end();
}

std::string violation_in_words(const Audit& c, LevelId level) {
  const Explanation* e = find_explanation(c.explanations, level);
  if (e == nullptr) return {};
  std::string words(anomaly_info(e->anomaly).name);
  if (held_beside(c, level)) words = "incomparable: " + words;
  return words + (c.is_known(level) ? ", known" : "");
}

std::string levels_unknown_alike(const CheckResult& result, const Verdict& v) {
  std::vector<LevelId> alike;
  for (const Verdict& other : result.verdicts)
    if (other.outcome == Outcome::unknown && other.reason == v.reason) alike.push_back(other.level);
  if (alike.empty() || alike.front() != v.level) return {};
  if (alike.size() > 1 && alike.size() == result.verdicts.size()) return "every level";
  return level_names(alike);
}

std::string other_names(const AnomalyInfo& a) {
  std::string out;
  const auto add = [&](std::string_view names, std::string_view whose) {
    if (!names.empty()) out += fmt::format("{}{} ({})", out.empty() ? "" : "; ", names, whose);
  };
  add(a.adya, "Adya, Berenson, Elle");
  add(a.ansi, "ANSI");
  add(a.sql, "SQL users");
  return out;
}

namespace {

std::optional<LevelId> beside(const Audit& c, LevelId violated) {
  const LevelInfo& level = level_info(violated);
  if (level.events != EventModel::split || level.real_time == RealTime::none) return std::nullopt;
  for (const LevelId best : strongest_satisfied(c.result))
    if (level_info(best).events == EventModel::single && !implies(best, violated)) return best;
  return std::nullopt;
}

// Returns a satisfied level if every level that an explanation refutes has one beside it.
std::optional<LevelId> all_beside(const Audit& c, const Explanation& e) {
  std::optional<LevelId> held;
  for (const LevelId level : e.levels) {
    held = beside(c, level);
    if (!held) return std::nullopt;
  }
  return held;
}

}  // namespace

// If a violation refutes a level that has no clocks, it does not depend on clocks at a stronger
// level either.
std::optional<LevelId> held_beside(const Audit& c, LevelId violated) {
  const Explanation* e = find_explanation(c.explanations, violated);
  return e == nullptr ? beside(c, violated) : all_beside(c, *e);
}

std::string_view rule_out_first(const Audit& c, const Explanation& e) {
  return all_beside(c, e) ? std::string_view() : e.hint;
}

namespace {

// Says whether the violation needs what the history states about versions; empty if the history
// states nothing about them.
std::string what_it_needs(const History& h, const Explanation& e) {
  if (!h.states_versions()) return "";
  if (e.need_statements.empty())
    return "The clients' reads alone show it; the stated version orders and sources are not "
           "needed.";
  std::string out = "The clients' reads of these transactions do not show it";
  if (e.need_statements.size() < e.levels.size()) out += " at " + level_names(e.need_statements);
  return out + " without the versions that the history states.";
}

}  // namespace

std::vector<std::string> meaning(const Audit& c, const Explanation& e) {
  if (const std::optional<LevelId> held = all_beside(c, e))
    return {fmt::format(
        "{0}, which holds, and {1} do not imply each other: under locking, a transaction may see "
        "what was committed after it began. Nothing is wrong unless snapshots were promised.",
        level_info(*held).name, level_names(e.levels))};
  const AnomalyInfo& a = anomaly_info(e.anomaly);
  std::vector<std::string> out;
  if (const std::string names = other_names(a); !names.empty())
    out.push_back("Also called " + names + ".");
  out.push_back(std::string(a.harm));
  const bool declared = e.levels == std::vector{LevelId::mixed};
  std::string levels = declared
                           ? "It violates the levels that these transactions declare."
                           : fmt::format("The weakest level{} that it violates: {}.",
                                         e.weakest.size() == 1 ? "" : "s", level_names(e.weakest));
  if (const std::vector<LevelId> best = strongest_satisfied(c.result); !best.empty())
    levels += fmt::format(" The strongest that {}: {}.", best.size() == 1 ? "holds" : "hold",
                          level_names(best));
  out.push_back(levels);
  if (const std::string needs = what_it_needs(c.history, e); !needs.empty()) out.push_back(needs);
  return out;
}

std::string_view what_is_left_out(const Explanation& e) {
  if (e.self_proving) return "";
  return "These transactions do not violate the level by themselves: the proof uses more of the "
         "history, and the certificate has all of it.";
}

// Either the cycle is given word for word, or the sentences of these anomalies give the read or
// missed version of each dependency. Those sentences do not say which of several writers of one
// value is meant, nor what shows an order of writers.
bool sentences_give_cycle(const Audit& c, const Explanation& e) {
  const auto told = [&](const Arrow& a) {
    return !a.in_cycle || std::ranges::any_of(e.sentences, [&](const std::string& s) {
      return s.find(a.because) != std::string::npos;
    });
  };
  if (e.cases.empty() && std::ranges::all_of(e.arrows, told)) return true;
  int edges = 0;
  for (const Arrow& a : e.arrows) {
    if (a.in_cycle && a.kind == EdgeKind::write_dependency) return false;
    edges += a.in_cycle;
  }
  if (!e.cases.empty() || std::ranges::any_of(c.result.duplicates, &DuplicateWrite::read))
    return false;
  constexpr Anomaly kOfTwo[] = {Anomaly::lost_update,
                                Anomaly::write_skew,
                                Anomaly::fractured_read,
                                Anomaly::non_monotonic_read,
                                Anomaly::session_guarantee_violation,
                                Anomaly::real_time_violation};
  const bool of_two = std::ranges::count(kOfTwo, e.anomaly) > 0;
  return edges <= (e.anomaly == Anomaly::long_fork ? 4 : of_two ? 2 : 0);
}

size_t count_decided(const Audit& c) {
  return static_cast<size_t>(
      std::count_if(c.result.verdicts.begin(), c.result.verdicts.end(),
                    [](const Verdict& v) { return v.outcome != Outcome::unknown; }));
}

std::string file_name(const Audit& c) {
  return c.file == "-" ? "standard input" : display(c.file, 200);
}

std::string grouped(uint64_t n) {
  std::string s = std::to_string(n);
  for (size_t i = s.size(); i > 3; i -= 3) s.insert(i - 3, ",");
  return s;
}

std::string counted(uint64_t n, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", grouped(n), n == 1 ? singular : plural);
}

std::string level_names(std::span<const LevelId> levels) {
  std::string out;
  for (const LevelId id : levels) {
    if (!out.empty()) out += ", ";
    out += level_info(id).name;
  }
  return out;
}

RecordedOn recorded_on(const History& h) {
  RecordedOn run;
  if (h.meta().empty()) return run;
  const auto meta = Json::parse(h.meta());
  if (!meta.is_object()) return run;
  const Json& database = meta["database"];
  run.isolation = display(meta.text("isolation"), 80);
  run.permutation = meta.text("permutation");
  run.outcome = meta.text("outcome");
  if (database.is_string()) run.database = display(database.text(), 80);
  if (!database.is_object()) return run;
  // Some databases report more than a number, with their name in it: "PostgreSQL 15.7 (Debian …) on
  // x86_64-…".
  const std::string name = database.text("name");
  std::string version = database.text("version");
  version.resize(std::min(version.find(" ("), version.size()));
  if (version.starts_with(name)) version.erase(0, std::min(name.size() + 1, version.size()));
  run.database = display(name + (version.empty() ? "" : " " + version), 80);
  if (run.isolation.empty()) run.isolation = display(database.text("isolation"), 80);
  return run;
}

std::string in_words(const RecordedOn& run) {
  if (run.database.empty()) return {};
  return run.database + (run.isolation.empty() ? "" : " at " + run.isolation);
}

std::string on_database(const Audit& c) {
  const std::string run = in_words(recorded_on(c.history));
  return run.empty() ? run : " on " + run;
}

std::string history_line(const History& h) {
  const Counts c = count_outcomes(h);
  std::string out = fmt::format("{}, {}, {}", counted(h.txn_count(), "transaction", "transactions"),
                                counted(h.op_count(), "operation", "operations"),
                                counted(h.session_count(), "session", "sessions"));
  if (c.aborted) out += fmt::format(", {} aborted", grouped(c.aborted));
  if (c.unknown) out += fmt::format(", {} of unknown outcome", grouped(c.unknown));
  if (const std::string run = in_words(recorded_on(h)); !run.empty()) out += ", on " + run;
  return out;
}

void Totals::add(const Audit& c) {
  const auto any = [&](Outcome outcome) {
    return std::any_of(c.result.verdicts.begin(), c.result.verdicts.end(),
                       [&](const Verdict& v) { return v.outcome == outcome; });
  };
  if (requested_.empty()) requested_ = c.requested;
  for (const Verdict& v : c.result.verdicts) {
    const auto below = [&](const Verdict& other) {
      return other.outcome == Outcome::violated && other.level != v.level &&
             implies(v.level, other.level);
    };
    if (v.outcome == Outcome::violated && std::ranges::none_of(c.result.verdicts, below))
      ++weakest_[v.level];
  }
  if (c.error)
    ++unreadable_;
  else if (c.requested.empty() && any(Outcome::satisfied))
    ++satisfied_;
  else if (any(Outcome::violated))
    ++violated_;
  else if (any(Outcome::unknown))
    ++unknown_;
  else
    ++satisfied_;
}

std::string Totals::sentence() const {
  constexpr size_t kMostNamed = 3;
  const std::string asked =
      requested_.empty() ? ""
      : requested_.size() <= kMostNamed
          ? " at " + level_names(requested_)
          : fmt::format(" at {}", counted(requested_.size(), "level", "levels"));
  std::string out = fmt::format("{}{}: {} satisfied{}, {} violated{}, {} unknown, {} unreadable",
                                counted(files(), "history", "histories"), asked,
                                grouped(satisfied_), requested_.empty() ? " at some level" : "",
                                grouped(violated_), requested_.empty() ? " at every level" : "",
                                grouped(unknown_), grouped(unreadable_));
  if (weakest_.empty() || requested_.size() == 1) return out;
  out += "\nThe weakest level that each violates:";
  for (const auto& [level, times] : weakest_)
    out += fmt::format("{} {} {}", out.back() == ':' ? "" : ",", level_info(level).name,
                       grouped(times));
  return out + ".";
}

}  // namespace assay::internal
