// JUnit XML: one suite per file, one test case per level. A level that was asked for with --level
// and is violated is a failure, unless a baseline knows it; of the other levels, the satisfied ones
// are passed cases and the rest are skipped, with the result as the message. An expected order is
// one more case.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "explain/explain.h"
#include "explain/names.h"
#include "report/expected_order.h"
#include "report/markup.h"
#include "report/report.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

struct Suite {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string cases;
};

void add_case(Suite& s, const Audit& c, const Verdict& v) {
  ++s.tests;
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escape(c.file),
                                       level_info(v.level).name);
  std::string message, story, type;
  if (v.outcome == Outcome::violated) {
    const Explanation* e = find_explanation(c.explanations, v.level);
    type = e ? anomaly_info(e->anomaly).name : "violated";
    message = (c.is_known(v.level) ? "violated, known: " : "violated: ") + type;
    if (e)
      for (const std::string& line : e->sentences) story += line + "\n";
  } else if (v.outcome == Outcome::unknown) {
    type = unknown_cause_name(v.cause);
    message = "unknown: " + v.reason;
  } else {
    s.cases += head + "/>\n";
    return;
  }
  std::string_view element = "skipped";
  if (!is_requested(c, v.level) || c.is_known(v.level)) {
    ++s.skipped;
  } else if (v.outcome == Outcome::violated) {
    ++s.failures;
    element = "failure";
  } else {
    ++s.errors;
    element = "error";
  }
  const std::string attribute =
      element == "skipped" ? std::string() : fmt::format(" type=\"{}\"", escape(type));
  s.cases += fmt::format("{}>\n      <{}{} message=\"{}\">{}</{}>\n    </testcase>\n", head,
                         element, attribute, escape(message), escape(story), element);
}

// An expected order that explains the history at none of the levels it was replayed at is a
// failure, as it is for the exit code.
void add_expected_order(Suite& s, const Audit& c) {
  if (!c.result.expected_order) return;
  const ExpectedOrderResult& expected = *c.result.expected_order;
  ++s.tests;
  s.cases += fmt::format("    <testcase classname=\"{}\" name=\"expected order ({})\"",
                         escape(c.file), escape(display(expected.title, 200)));
  if (expected.explains()) {
    s.cases += "/>\n";
    return;
  }
  const bool failure = expected.obstacle.empty();
  ++(failure ? s.failures : s.errors);
  s.cases += fmt::format(
      ">\n      <{0} type=\"expected-order\" message=\"{1}\"/>\n    </testcase>\n",
      failure ? "failure" : "error",
      escape(fmt::format("{}", fmt::join(expected_order_sentences(c.history, c.result), " "))));
}

// Returns, as the type of an error, what kept the file from being read.
std::string_view error_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return "bad-input";
    case ErrorKind::budget:
      return "budget";
    case ErrorKind::io:
      return "io";
    case ErrorKind::usage:
      break;
  }
  return "usage";
}

std::string suite(const Audit& c) {
  Suite s;
  if (c.error) {
    s.tests = s.errors = 1;
    s.cases = fmt::format(
        "    <testcase classname=\"{}\" name=\"read\">\n      <error type=\"{}\" "
        "message=\"{}\"/>\n    </testcase>\n",
        escape(c.file), error_type(c.error->kind), escape(c.error->to_string()));
  } else {
    for (const Verdict& v : c.result.verdicts) add_case(s, c, v);
    add_expected_order(s, c);
  }
  double seconds = 0;
  for (const StageTime& stage : c.stages) seconds += stage.seconds;
  const std::string run = in_words(recorded_on(c.history));
  const std::string properties = run.empty()
                                     ? run
                                     : fmt::format(
                                           "    <properties>\n      <property name=\"recorded on\" "
                                           "value=\"{}\"/>\n    </properties>\n",
                                           escape(run));
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n{}{}  </testsuite>\n",
      escape(c.file), s.tests, s.failures, s.errors, s.skipped, seconds, properties, s.cases);
}

class JunitReport : public ReportWriter {
 public:
  std::string section(const Audit& c) override { return head() + suite(c); }
  std::string end() override { return head() + "</testsuites>\n"; }

 private:
  std::string head() {
    if (std::exchange(begun_, true)) return {};
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\">\n";
  }
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<ReportWriter> start_junit(const ReportOptions&) {
  return std::make_unique<JunitReport>();
}

}  // namespace assay::internal
