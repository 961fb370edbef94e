#include "cli/announcer.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "assay/format.h"
#include "assay/verify.h"
#include "base/json.h"
#include "cli/console.h"
#include "collect/run_meta.h"
#include "report/expected_order.h"
#include "report/report.h"

namespace assay::internal::cli {

using watch::Undecided;

Status print_json(const Json& line) { return print(line.dump() + "\n"); }

namespace {

std::string time_of_day() { return collect::iso_8601(std::chrono::system_clock::now()); }

Status write_alarm(const Audit& violation, const std::string& history,
                   const std::string& certificate) {
  if (const auto losses = write_history(violation.history, history, "assay"); !losses.ok())
    return losses.error();
  return write_file(certificate, write_certificates(certificates_of(violation), violation.history));
}

}  // namespace

void Announcer::alarm(Audit&& violation, const std::string& left_out) {
  ++alarms_;
  if (on_alarm_) on_alarm_(violation);
  const std::string name = fmt::format("alarm-{}", alarms_);
  std::string history, certificate;
  if (!output_.alarms.empty()) {
    history = output_.alarms + "/" + name + ".jsonl";
    certificate = output_.alarms + "/" + name + ".cert.json";
    if (Status s = write_alarm(violation, history, certificate); !s.ok()) failure_ = s.error();
  }
  keep(output_.json ? alarm_as_json(violation, left_out, history, certificate)
                    : alarm_as_text(violation, left_out, history));
}

void Announcer::unexplained(watch::Unexplained&& what) {
  ++alarms_;
  std::string history;
  if (!output_.alarms.empty() && what.part) {
    history = fmt::format("{}/alarm-{}.jsonl", output_.alarms, alarms_);
    const auto losses = write_history(*what.part, history, "assay");
    if (!losses.ok()) failure_ = losses.error();
  }
  keep(output_.json ? unexplained_as_json(what, history) : unexplained_as_text(what, history));
}

Status Announcer::unexplained_as_json(const watch::Unexplained& what,
                                      const std::string& history) const {
  Json line = {{"alarm", alarms_},
               {"told_at", time_of_day()},
               {"level", level_info(level_).name},
               {"order", "commit_ts"},
               {"fault", order_fault_name(what.fault)},
               {"transactions", Json::array()},
               {"explanation", {what.sentence + "."}}};
  line["transactions"].push_back(what.transaction);
  if (!what.other.empty() && what.other != what.transaction)
    line["transactions"].push_back(what.other);
  if (!history.empty()) line["history"] = history;
  return print_json(line);
}

Status Announcer::unexplained_as_text(const watch::Unexplained& what,
                                      const std::string& history) const {
  std::string text = fmt::format(
      "alarm {}: the expected order (commit_ts) does not explain the history at {}\n  {}.\n"
      "  raised at {}\n",
      alarms_, level_info(level_).name, what.sentence, time_of_day());
  if (!history.empty()) text += fmt::format("  history: {}\n", history);
  return print(text);
}

void Announcer::undecided(const Undecided& what) {
  if (output_.json) {
    keep(print_json({{"unknown", what.about},
                     {"reason", what.reason},
                     {"at", what.at},
                     {"resumed", what.resumed}}));
  } else {
    keep(print(
        fmt::format("unknown: {}: {}; {}\n", what.about, what.reason,
                    what.resumed ? "they are dropped; watching starts again" : "it is left out")));
  }
}

Status Announcer::alarm_as_json(const Audit& violation, const std::string& left_out,
                                const std::string& history, const std::string& certificate) const {
  const Explanation& e = violation.explanations[0];
  Json line = {{"alarm", alarms_},
               {"told_at", time_of_day()},
               {"level", level_info(level_).name},
               {"anomaly", anomaly_info(e.anomaly).name},
               {"transactions", Json::array()},
               {"left_out", left_out},
               {"explanation", e.sentences}};
  for (const TxnId t : e.transactions) line["transactions"].push_back(violation.history.name(t));
  if (!history.empty()) line["history"] = history;
  if (!certificate.empty()) line["certificate"] = certificate;
  return print_json(line);
}

Status Announcer::alarm_as_text(const Audit& violation, const std::string& left_out,
                                const std::string& history) const {
  std::string text = fmt::format("alarm {}: {} is violated, {}\n", alarms_, level_info(level_).name,
                                 anomaly_info(violation.explanations[0].anomaly).name);
  for (const std::string& sentence : violation.explanations[0].sentences)
    text += "  " + sentence + "\n";
  text += "  raised at " + time_of_day() + "\n";
  if (!history.empty()) text += fmt::format("  history and certificate: {}\n", history);
  if (output_.fail_fast) return print(text);
  return print(text + fmt::format("  {} is left out; watching continues\n", left_out));
}

}  // namespace assay::internal::cli
