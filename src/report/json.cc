// One line of JSON per file, for programs. Fields may be added but never change their meaning;
// docs/guide.md shows them.
#include "base/json.h"

#include <algorithm>

#include "audit/candidates.h"
#include "explain/explain.h"
#include "history/level_words.h"
#include "report/expected_order.h"
#include "report/report.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

Json error_json(const Error& e) {
  Json j;
  j["message"] = e.message;
  if (e.line) j["line"] = e.line;
  if (e.column) j["column"] = e.column;
  return j;
}

Json history_json(const Audit& c) {
  const History& h = c.history;
  const Counts counts = count_outcomes(h);
  Json j;
  j["transactions"] = h.txn_count();
  j["operations"] = h.op_count();
  j["sessions"] = h.session_count();
  j["keys"] = h.key_count();
  j["committed"] = counts.committed;
  j["aborted"] = counts.aborted;
  j["unknown"] = counts.unknown;
  j["observations"] = c.observations;
  j["format"] = c.format;
  if (const RecordedOn run = recorded_on(h); !run.database.empty()) {
    j["database"] = run.database;
    if (!run.isolation.empty()) j["isolation"] = run.isolation;
    if (!run.permutation.empty()) j["permutation"] = run.permutation;
    if (!run.outcome.empty()) j["outcome"] = run.outcome;
  }
  j["hash"] = h.content_hash();
  if (h.clock_drift() > 0) j["clock_drift"] = h.clock_drift();
  if (h.defined_level()) j["defined"] = level_definition(*h.defined_level());
  if (c.aborted_reads) j["aborted_reads"] = *c.aborted_reads;
  return j;
}

std::string_view certificate_kind(Certificate::Kind kind) {
  switch (kind) {
    case Certificate::Kind::order:
      return "order";
    case Certificate::Kind::bad_read:
      return "bad-read";
    case Certificate::Kind::proof:
      return "proof";
    case Certificate::Kind::exhausted:
      return "exhausted";
  }
  return "";
}

Json meaning_json(const Audit& c, const Explanation& e) {
  const AnomalyInfo& a = anomaly_info(e.anomaly);
  Json j;
  j["adya"] = a.adya;
  j["ansi"] = a.ansi;
  j["sql"] = a.sql;
  j["harm"] = a.harm;
  j["weakest_broken"] = Json::array();
  for (const LevelId level : e.weakest) j["weakest_broken"].push_back(level_info(level).name);
  if (const std::string_view hint = rule_out_first(c, e); !hint.empty()) j["rule_out_first"] = hint;
  return j;
}

Json verdict_json(const Audit& c, const Verdict& v) {
  Json j;
  j["verdict"] = outcome_name(v.outcome);
  if (v.outcome == Outcome::violated) {
    if (const Explanation* e = find_explanation(c.explanations, v.level)) {
      j["anomaly"] = anomaly_info(e->anomaly).name;
      Json names = Json::array();
      for (const TxnId t : e->transactions) names.push_back(c.history.name(t));
      j["transactions"] = std::move(names);
      std::string story;
      for (const std::string& s : e->sentences) story += (story.empty() ? "" : " ") + s;
      j["explanation"] = story;
      j["self_proving"] = e->self_proving;
      j["minimal"] = e->minimal;
      if (e->case_count > 0) j["cases"] = e->case_count;
      if (c.history.states_versions())
        j["clients_suffice"] = std::find(e->need_statements.begin(), e->need_statements.end(),
                                         v.level) == e->need_statements.end();
      j["meaning"] = meaning_json(c, *e);
      if (const std::optional<LevelId> held = held_beside(c, v.level))
        j["not_implied_by"] = level_info(*held).name;
    }
    if (c.known) j["known"] = c.is_known(v.level);
  }
  if (v.outcome == Outcome::unknown) {
    j["reason"] = v.reason;
    j["cause"] = unknown_cause_name(v.cause);
    j["certificate"] = nullptr;
    return j;
  }
  Json certificate;
  certificate["kind"] = certificate_kind(c.result.certificates[v.certificate].kind);
  certificate["verified"] = true;  // what was refused is unknown by now
  if (!c.certificate_file.empty()) certificate["file"] = c.certificate_file;
  j["certificate"] = std::move(certificate);
  return j;
}

Json expected_order_json(const History& h, const ExpectedOrderResult& expected) {
  Json j;
  j["order"] = expected.title;
  if (!expected.obstacle.empty()) {
    j["obstacle"] = expected.obstacle;
    return j;
  }
  Json levels = Json::object();
  for (const OrderReplay& r : expected.replays) {
    Json replay;
    const bool explains = r.fault == OrderReplay::Fault::none;
    replay["explains"] = explains;
    if (!explains) {
      replay["fault"] = order_fault_name(r.fault);
      replay["transaction"] = h.name(r.txn);
      if (r.op != kNone) replay["operation"] = r.op - h.first_op(r.txn);
      replay["other"] = r.other == kNone ? Json() : Json(h.name(r.other));
    }
    levels[std::string(level_info(r.level).name)] = std::move(replay);
  }
  j["levels"] = std::move(levels);
  return j;
}

Json anomalies_json(const AnomalySet& set) {
  Json names = Json::array();
  for (const Anomaly a : anomalies_with_candidates())
    if (set[static_cast<size_t>(a)]) names.push_back(anomaly_info(a).name);
  return names;
}

Json stakes_json(const Stakes& s) {
  Json j;
  j["write_write"] = s.write_write;
  j["write_read"] = s.write_read;
  j["read_write"] = s.read_write;
  j["transactions"] = s.transactions;
  j["looked_at"] = s.looked_at;
  j["timed"] = s.timed;
  j["could_show_overlapping"] = anomalies_json(s.could_show_overlapping);
  j["could_show_apart"] = anomalies_json(s.could_show & ~s.could_show_overlapping);
  j["no_candidate"] = anomalies_json(~s.could_show);
  return j;
}

std::string line(const Audit& c) {
  Json j;
  j["schema"] = 1;
  j["file"] = c.file;
  if (c.error) {
    j["error"] = error_json(*c.error);
  } else {
    j["history"] = history_json(c);
    Json levels = Json::object();
    for (const Verdict& v : c.result.verdicts)
      levels[std::string(level_info(v.level).name)] = verdict_json(c, v);
    j["levels"] = std::move(levels);
    Json best = Json::array();
    for (const LevelId id : strongest_satisfied(c.result)) best.push_back(level_info(id).name);
    j["strongest"] = std::move(best);
    if (c.stakes) j["stakes"] = stakes_json(*c.stakes);
    if (const auto& expected = c.result.expected_order)
      j["expected_order"] = expected_order_json(c.history, *expected);
    Json seconds = Json::object();
    for (const StageTime& s : c.stages) seconds[s.stage] = s.seconds;
    j["seconds"] = std::move(seconds);
  }
  // Names and values may hold bytes that are not UTF-8.
  return j.dump() + "\n";
}

class JsonReport : public ReportWriter {
 public:
  std::string section(const Audit& c) override { return line(c); }
  std::string end() override { return {}; }
};

}  // namespace

std::unique_ptr<ReportWriter> start_json(const ReportOptions&) {
  return std::make_unique<JsonReport>();
}

}  // namespace assay::internal
