// One self-contained page that loads nothing. It is complete without script; the script (report.js)
// adds the run on a time axis, dependencies that can be clicked, and a filter. Its size is capped:
// it shows what an explanation names, never the whole history.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "explain/names.h"
#include "report/expected_order.h"
#include "report/figures.h"
#include "report/html_style.h"
#include "report/markup.h"
#include "report/page_data.h"
#include "report/report.h"
#include "report/script.h"
#include "report/stakes.h"
#include "report/summary.h"
#include "report/svg.h"

namespace assay::internal {
namespace {

// The maximum size of sections and data together, which keeps the page with its scripts below 5 MB;
// further files are omitted, with a note.
constexpr size_t kMostBytes = 4'500'000;
constexpr size_t kMostTransactions = 40;

// Returns for the requested levels: "Violated: serializable. Satisfied: causal."
std::string answer_sentence(const Audit& c) {
  std::string out;
  for (const auto& [outcome, word] : {std::pair(Outcome::violated, "Violated"),
                                      {Outcome::satisfied, "Satisfied"},
                                      {Outcome::unknown, "Unknown"}}) {
    std::vector<LevelId> levels;
    for (const Verdict& v : c.result.verdicts)
      if (v.outcome == outcome && is_requested(c, v.level)) levels.push_back(v.level);
    if (levels.empty()) continue;
    out += fmt::format("{}{}: <strong>{}</strong>.", out.empty() ? "" : " ", word,
                       escape(level_names(levels)));
  }
  return out;
}

std::string summary_sentence(const Audit& c) {
  if (!c.requested.empty()) return answer_sentence(c);
  const std::vector<LevelId> best = strongest_satisfied(c.result);
  if (best.empty()) return "No level is known to be satisfied.";
  return fmt::format("{} satisfied: <strong>{}</strong>.",
                     best.size() == 1 ? "Strongest level" : "Strongest levels",
                     escape(level_names(best)));
}

std::string verdict_table(const Audit& c) {
  std::string out =
      "<table><thead><tr><th>level</th><th>verdict</th><th></th></tr></thead><tbody>\n";
  for (const Verdict& v : c.result.verdicts) {
    const LevelInfo& level = level_info(v.level);
    std::string detail = escape(v.reason);
    if (v.outcome == Outcome::violated) detail = violation_in_words(c, v.level);
    const std::string levels =
        v.outcome == Outcome::unknown ? levels_unknown_alike(c.result, v) : std::string(level.name);
    if (levels.empty()) continue;
    out += fmt::format(
        "<tr><td title=\"{}\"{}>{}</td><td><span class=\"chip "
        "{}\">{}</span></td><td>{}</td></tr>\n",
        escape(level.summary), levels == level.name ? "" : " class=\"levels\"", levels,
        v.outcome == Outcome::violated && held_beside(c, v.level) ? "unknown"
                                                                  : outcome_name(v.outcome),
        outcome_name(v.outcome), detail);
  }
  return out + "</tbody></table>\n";
}

std::string transaction_table(const History& h, const Explanation& e) {
  std::string out =
      "<div class=\"scroll\"><table "
      "class=\"wide\"><thead><tr><th>transaction</th><th>session</th><th>line</th>"
      "<th>outcome</th><th>operations</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < e.transactions.size() && i < kMostTransactions; ++i) {
    const TxnId t = e.transactions[i];
    const char* const status[] = {"committed", "aborted", "unknown"};
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code>{}</td></tr>\n",
        escape(display_txn(h, t)), escape(display_session(h, h.session(t))),
        h.line(t) ? std::to_string(h.line(t)) : std::string("–"),
        status[static_cast<size_t>(h.status(t))], escape(display_ops(h, t, e.operations)),
        h.meta(t).empty() ? std::string()
                          : fmt::format("<br><small>{}</small>", escape(display(h.meta(t), 300))));
  }
  out += "</tbody></table></div>\n";
  if (e.transactions.size() > kMostTransactions)
    out +=
        fmt::format("<p>and {} more transactions</p>\n", e.transactions.size() - kMostTransactions);
  return out;
}

// Returns the text as HTML in which a name such as s1-0 is not broken at its hyphen.
std::string unbroken(std::string_view text) {
  std::string out;
  for (bool first = true; !text.empty(); first = false) {
    const std::string_view word = text.substr(0, text.find(' '));
    const bool breaks = word.find('-') != std::string_view::npos && word.size() < 40;
    out += (first ? "" : " ") +
           (breaks ? "<span class=\"word\">" + escape(word) + "</span>" : escape(word));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return out;
}

// Returns a case and its subcases as a folded list.
std::string case_list(const Explanation& e, const Case& a) {
  std::string out;
  for (const uint32_t place : a.branches) {
    const Case& branch = e.cases[place];
    const std::string supposed = "Suppose that " + unbroken(branch.supposed);
    if (branch.branches.empty() && branch.then.empty())
      out += "<li>" + supposed + ": more cases, which are not shown</li>\n";
    else if (branch.branches.empty())
      out += "<li>" + supposed + ". Then " + unbroken(branch.then) + ".</li>\n";
    else
      out += "<li>" + supposed + ".\n" + case_list(e, branch) + "</li>\n";
  }
  return "<ol class=\"cases\">\n" + out + "</ol>\n";
}

std::string cases(const Explanation& e) {
  if (e.cases.empty()) return "";
  return fmt::format("<details class=\"cases\"><summary>All {} cases</summary>\n{}</details>\n",
                     grouped(e.case_count), case_list(e, e.cases[0]));
}

// `id` is the anchor that links to it use.
std::string explanation(const Audit& c, const Explanation& e, const std::string& id) {
  const History& h = c.history;
  const AnomalyInfo& a = anomaly_info(e.anomaly);
  std::string out = fmt::format(
      "<section id=\"{}\"><h3><span class=\"chip violated\">{}</span> Why not {}</h3>\n<p "
      "class=\"quiet\">{}</p>\n",
      id, a.name, escape(level_names(e.levels)), escape(a.summary));
  out += "<p class=\"story\">";
  for (const std::string& s : e.sentences) out += unbroken(s) + " ";
  out += "</p>\n<p class=\"meaning\">";
  for (const std::string& s : meaning(c, e)) out += unbroken(s) + " ";
  out += "</p>\n";
  out += cases(e);
  if (!e.self_proving) out += fmt::format("<p class=\"quiet\">{}</p>\n", what_is_left_out(e));
  if (const std::string_view hint = rule_out_first(c, e); !hint.empty())
    out += fmt::format("<p class=\"hint\">To rule out first: {}</p>\n", escape(hint));
  const Figure cycle = cycle_figure(h, e), timeline = timeline_figure(h, e);
  if (!cycle.empty())
    out += "<figure class=\"dependencies\">" + cycle.text + "<figcaption>" +
           std::string(e.cases.empty() ? "Each" : "In the first case, each") +
           " solid arrow says that its transaction must come before the next; together they close "
           "a cycle. The solid arrows rest on the dashed ones.</figcaption></figure>\n";
  if (!e.arrows.empty()) {
    out += "<ul>\n";
    for (const Arrow& arrow : e.arrows)
      out += fmt::format("<li{}>{} → {}{}: {}</li>\n", arrow.in_cycle ? "" : " class=\"quiet\"",
                         escape(display_txn(h, arrow.from)), escape(display_txn(h, arrow.to)),
                         arrow.refuted ? " (refuted)" : "", unbroken(arrow.because));
    out += "</ul>\n";
  }
  out += transaction_table(h, e);
  if (!timeline.empty())
    out += "<figure class=\"drawn\">" + timeline.text +
           "<figcaption>On the clients' clock.</figcaption></figure>\n";
  return out + "</section>\n";
}

std::string facts(const Audit& c) {
  std::string out = "<table><tbody>\n";
  const auto row = [&](std::string_view name, const std::string& value) {
    out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, escape(value));
  };
  row("history", history_line(c.history));
  row("observations", grouped(c.observations));
  std::string stakes;
  for (const std::string& s : stakes_in_sentences(c)) stakes += (stakes.empty() ? "" : " ") + s;
  if (!stakes.empty()) row("at stake", stakes.substr(stakes.find(": ") + 2));
  if (c.aborted_reads) row("readers that did not commit", grouped(*c.aborted_reads));
  if (!c.format.empty()) row("format", c.format);
  row("keys", grouped(c.history.key_count()));
  row("content hash", c.history.content_hash());
  if (!c.certificate_file.empty()) row("certificates", c.certificate_file);
  for (const StageTime& s : c.stages) row(s.stage, fmt::format("{:.3f} s", s.seconds));
  if (!c.history.meta().empty()) row("recorded with", display(c.history.meta(), 2000));
  for (const std::string& n : c.notes) row("note", n);
  return out + "</tbody></table>\n";
}

// Returns the anomalies, one line each; details are further down.
std::string conflicts(const Audit& c) {
  std::string out;
  for (const Explanation& e : c.explanations)
    out += fmt::format("<li><span class=\"chip violated\">{}</span> Not {}: {}</li>\n",
                       anomaly_info(e.anomaly).name, escape(level_names(e.weakest)),
                       e.sentences.empty() ? std::string() : unbroken(e.sentences.front()));
  return out.empty() ? out : "<ul class=\"conflicts\">\n" + out + "</ul>\n";
}

std::string file_section(const Audit& c, size_t number) {
  std::string out = fmt::format("<article id=\"f{}\"><h2>{}</h2>\n", number, escape(file_name(c)));
  if (c.error) {
    return out + fmt::format("<p class=\"hint\">Cannot be read: {}</p></article>\n",
                             escape(display(c.error->to_string(), 400)));
  }
  out += fmt::format("<p class=\"lead\">{}</p>\n<p>{}.</p>\n", summary_sentence(c),
                     escape(history_line(c.history)));
  std::string explanations;
  for (size_t i = 0; i < c.explanations.size(); ++i)
    explanations += explanation(c, c.explanations[i], fmt::format("f{}e{}", number, i));
  // If a level was asked for, its explanation comes first; if none was, the levels that hold come
  // first.
  out += c.requested.empty() ? conflicts(c) : explanations;
  out += "<div class=\"side\"><figure>" + lattice_figure(c).text +
         "<figcaption>Stronger levels are above; a line leads to what a level implies."
         "</figcaption></figure>" +
         verdict_table(c) + "</div>\n";
  for (const std::string& s : expected_order_sentences(c.history, c.result))
    out += fmt::format("<p>{}</p>\n", escape(s));
  if (c.requested.empty()) out += explanations;
  out += "<div class=\"run\"></div>\n";
  out +=
      "<details><summary>About this history and what the verdicts rest on</summary>\n" + facts(c) +
      "<p>Every verdict shown as satisfied or violated was re-checked by a verifier that shares no "
      "code with the checker. It trusts the recording: outcomes honestly recorded as committed, "
      "aborted or unknown, operations in program order, and, for levels with real time, one clock."
      "</p></details></article>\n";
  return out;
}

// Returns a script's hash as a Content-Security-Policy gives it: base64 of the bytes that `sha256`
// gives in hexadecimal digits.
std::string source_hash(std::string_view sha256) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto nibble = [&](size_t i) {
    const char c = i < sha256.size() ? sha256[i] : '0';
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  std::string out = "'sha256-";
  // Three hexadecimal digits give two of base64; the last of the 64 digits is left alone.
  for (size_t i = 0; i < sha256.size(); i += 3) {
    const unsigned bits = nibble(i) << 8 | nibble(i + 1) << 4 | nibble(i + 2);
    out += kDigits[bits >> 6];
    out += kDigits[bits & 63];
  }
  out.back() = '=';
  return out + "'";
}

// Nothing may be loaded, and no script may run except the two of this page.
std::string security_policy() {
  return fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {} "
      "{}; "
      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">",
      source_hash(kLayoutScript.sha256), source_hash(kReportScript.sha256));
}

// The title says how many histories there are, so the page is put together at the end; it is small.
class HtmlReport : public ReportWriter {
 public:
  HtmlReport() : ReportWriter(true) {}
  std::string section(const Audit& c) override {
    if (++files_ == 1) only_ = escape(file_name(c));
    std::string section = file_section(c, files_ - 1);
    std::string data = c.error ? "null" : as_script_text(page_data(c));
    // A file whose data are left out has only its section.
    if (size() + section.size() + data.size() > kMostBytes) data = "null";
    if (size() + section.size() + data.size() > kMostBytes) {
      ++left_out_;
    } else {
      sections_ += section;
    }
    data_ += (files_ == 1 ? "" : ",\n") + data;
    return {};
  }

  std::string end() override {
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">{}"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<title>assay: {}</title>\n<style>{}</style></head><body>\n<header>assay <span>which "
        "isolation "
        "level did the clients really get?</span></header>\n{}<main>\n",
        security_policy(), files_ == 1 ? only_ : fmt::format("{} histories", files_),
        std::string(kFigureStyle) + kHtmlStyle, arrow_heads());
    out += sections_;
    if (left_out_)
      out += fmt::format("<p class=\"hint\">{} left out to keep this page small.</p>\n",
                         counted(left_out_, "history was", "histories were"));
    out +=
        "</main>\n<script type=\"application/json\" id=\"assay-data\">[" + data_ + "]</script>\n";
    for (const Script& script : {kLayoutScript, kReportScript})
      out += fmt::format("<script>{}</script>\n", script.text);
    return out + "</body></html>\n";
  }

 private:
  size_t size() const { return sections_.size() + data_.size(); }

  size_t files_ = 0, left_out_ = 0;
  std::string only_, sections_, data_;
};

}  // namespace

std::unique_ptr<ReportWriter> start_html(const ReportOptions&) {
  return std::make_unique<HtmlReport>();
}

}  // namespace assay::internal
