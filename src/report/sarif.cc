// SARIF 2.1.0 (OASIS, 2020), which code hosts show as annotations: a rule for each anomaly that was
// found, a result for each explanation, placed in the file of the repository that it belongs to, or
// else at the lines of its transactions. Levels that stayed unknown are results of kind "open"; a
// file that could not be read is a notification.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "explain/explain.h"
#include "explain/names.h"
#include "report/report.h"
#include "report/source_place.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

// Escapes brackets in a message, because a history could otherwise hold `[a](b)`, a link that a
// stranger chose: an escaped bracket does not end the text of a link.
std::string without_links(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '(' && out.ends_with(']')) out.insert(out.size() - 1, 1, '\\');
    out += c;
  }
  return out;
}

// Returns an array of one element. (Braces alone are an array for one compiler and the element
// itself for another.)
Json one(Json element) {
  Json array = Json::array();
  array.push_back(std::move(element));
  return array;
}

// Returns the URI of a relative or absolute path, or of standard input.
std::string uri_of(const std::string& file) {
  if (file == "-") return "stdin";
  std::string out = file.starts_with('/') ? "file://" : "";
  for (const char c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c)
                 : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

Json location(const std::string& file, uint64_t line, const std::string& message) {
  Json j;
  j["physicalLocation"]["artifactLocation"]["uri"] = uri_of(file);
  if (line > 0) j["physicalLocation"]["region"]["startLine"] = line;
  if (!message.empty()) j["message"]["text"] = without_links(message);
  return j;
}

class SarifReport : public ReportWriter {
 public:
  std::string section(const Audit& c) override {
    if (c.error) {
      Json failure;
      failure["level"] = "error";
      failure["message"]["text"] = without_links(c.error->to_string());
      failure["locations"] = one(location(c.file, c.error->line, ""));
      failures_.push_back(std::move(failure));
      return {};
    }
    for (const Explanation& e : c.explanations) add_violation(c, e);
    for (const Verdict& v : c.result.verdicts)
      if (v.outcome == Outcome::unknown && is_requested(c, v.level)) add_unknown(c, v);
    return {};
  }

  std::string end() override {
    Json run;
    Json& driver = run["tool"]["driver"];
    driver["name"] = "assay";
    driver["semanticVersion"] = ASSAY_VERSION;
    driver["rules"] = Json::array();
    for (const Anomaly a : rules_) {
      Json rule;
      rule["id"] = anomaly_info(a).name;
      rule["shortDescription"]["text"] = anomaly_info(a).summary;
      rule["fullDescription"]["text"] = anomaly_info(a).harm;
      if (const std::string names = other_names(anomaly_info(a)); !names.empty())
        rule["help"]["text"] = "Also called " + names + ".";
      driver["rules"].push_back(std::move(rule));
    }
    Json invocation;
    invocation["executionSuccessful"] = failures_.empty();
    if (!failures_.empty()) invocation["toolExecutionNotifications"] = std::move(failures_);
    run["invocations"] = one(std::move(invocation));
    run["results"] = std::move(results_);
    Json all;
    all["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
    all["version"] = "2.1.0";
    all["runs"] = one(std::move(run));
    return all.dump(1) + "\n";
  }

 private:
  void add_violation(const Audit& c, const Explanation& e) {
    const History& h = c.history;
    const auto asked = [&](LevelId level) { return is_requested(c, level); };
    const bool failure = std::any_of(e.levels.begin(), e.levels.end(), [&](LevelId level) {
      return asked(level) && !c.is_known(level);
    });
    Json result;
    result["ruleId"] = anomaly_info(e.anomaly).name;
    result["ruleIndex"] = rule(e.anomaly);
    result["kind"] = "fail";
    result["level"] = failure ? "error" : "note";
    result["message"]["text"] = without_links(fmt::format(
        "Not {}{}. {}", level_names(e.levels), on_database(c), fmt::join(e.sentences, " ")));
    const TxnId first = e.transactions.empty() ? kNone : e.transactions.front();
    const std::optional<SourcePlace> place = source_place(c, e);
    result["locations"] = one(place ? location(place->file, place->line, "")
                                    : location(c.file, first == kNone ? 0 : h.line(first), ""));
    Json related = Json::array();
    for (const TxnId t : e.transactions)
      related.push_back(
          location(c.file, h.line(t), display_txn(h, t) + " " + display_ops(h, t, e.operations)));
    result["relatedLocations"] = std::move(related);
    // The same kind of violation in another run counts as the same finding.
    result["partialFingerprints"]["violation/v1"] =
        fmt::format("{}:{}", level_info(e.level).name, anomaly_info(e.anomaly).name);
    if (c.known) {
      const bool known = std::all_of(e.levels.begin(), e.levels.end(),
                                     [&](LevelId level) { return c.is_known(level); });
      result["baselineState"] = known ? "unchanged" : "new";
    }
    results_.push_back(std::move(result));
  }

  void add_unknown(const Audit& c, const Verdict& v) {
    Json result;
    result["ruleId"] = "unknown";
    result["kind"] = "open";
    result["level"] = "none";
    result["message"]["text"] =
        without_links(fmt::format("{} is unknown: {}", level_info(v.level).name, v.reason));
    result["locations"] = one(location(c.file, 0, ""));
    results_.push_back(std::move(result));
  }

  size_t rule(Anomaly a) {
    const auto it = std::find(rules_.begin(), rules_.end(), a);
    if (it != rules_.end()) return static_cast<size_t>(it - rules_.begin());
    rules_.push_back(a);
    return rules_.size() - 1;
  }

  std::vector<Anomaly> rules_;  // the rules that results name
  Json results_ = Json::array();
  Json failures_ = Json::array();
};

}  // namespace

std::unique_ptr<ReportWriter> start_sarif(const ReportOptions&) {
  return std::make_unique<SarifReport>();
}

}  // namespace assay::internal
