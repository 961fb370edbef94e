#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>

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
  return std::string(anomaly_info(e->anomaly).name) + (c.is_known(level) ? ", known" : "");
}

std::string_view what_is_left_out(const Explanation& e) {
  if (e.self_proving) return "";
  return "These transactions do not violate the level by themselves: the proof goes through more "
         "of "
         "the history, and the "
         "certificate has all of it.";
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

std::string level_names(const std::vector<LevelId>& levels) {
  std::string out;
  for (const LevelId id : levels) {
    if (!out.empty()) out += ", ";
    out += level_info(id).name;
  }
  return out;
}

std::string history_line(const History& h) {
  const Counts c = count_outcomes(h);
  std::string out = fmt::format("{}, {}, {}", counted(h.txn_count(), "transaction", "transactions"),
                                counted(h.op_count(), "operation", "operations"),
                                counted(h.session_count(), "session", "sessions"));
  if (c.aborted) out += fmt::format(", {} aborted", grouped(c.aborted));
  if (c.unknown) out += fmt::format(", {} of unknown outcome", grouped(c.unknown));
  return out;
}

void Totals::add(const Audit& c) {
  const auto any = [&](Outcome outcome) {
    return std::any_of(c.result.verdicts.begin(), c.result.verdicts.end(),
                       [&](const Verdict& v) { return v.outcome == outcome; });
  };
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
  return fmt::format("{}: {} satisfied, {} violated, {} unknown, {} unreadable",
                     counted(files(), "history", "histories"), grouped(satisfied_),
                     grouped(violated_), grouped(unknown_), grouped(unreadable_));
}

}  // namespace assay::internal
