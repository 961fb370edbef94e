// Markdown, short enough for the comment on a change: the verdicts are a table, and each violation
// is folded.
#include <fmt/format.h>

#include <algorithm>

#include "explain/names.h"
#include "report/expected_order.h"
#include "report/report.h"
#include "report/stakes.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

constexpr size_t kCommentBytes = 60'000;  // GitHub takes 65,536 characters
constexpr size_t kCommentTransactions = 12;

// Escapes a text from a history: none of it is read as markup, and it stays in its cell and line.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    // Two characters that make a link without brackets around it.
    if ((c == '/' && out.ends_with(':')) || (c == '.' && out.ends_with("www"))) out += '\\';
    if (c == '<') {
      out += "&lt;";
      continue;
    }
    if (c == '&') {
      out += "&amp;";
      continue;
    }
    if (std::string_view("\\`*_{}[]()#+!|~@>").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Returns a block of code; its fence is longer than any in the text.
std::string block(const std::string& text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  return fence + "text\n" + text + fence + "\n";
}

// Escapes a text for a Mermaid drawing, where none of it may be taken for markup.
std::string in_drawing(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\"#<>&;`\\|").find(c) != std::string_view::npos)
      out += fmt::format("#{};", static_cast<int>(c));
    else
      out += c;
  }
  return out;
}

// Returns a drawing of the transactions and what orders them, which GitHub and GitLab display.
std::string drawing(const History& h, const Explanation& e) {
  if (e.arrows.empty() || e.transactions.size() > kCommentTransactions) return {};
  std::string out = "```mermaid\nflowchart LR\n";
  for (const TxnId t : e.transactions)
    out += fmt::format("  t{}[\"{}<br/>{}\"]\n", t, in_drawing(display_txn(h, t)),
                       in_drawing(display_ops(h, t, e.operations)));
  for (const Arrow& a : e.arrows) {
    if (a.refuted) continue;  // a figure states what holds
    std::string label(edge_kind_name(a.kind));
    if (a.key != kNone) label += " (" + display_key(h, a.key) + ")";
    out += fmt::format("  t{} {}|\"{}\"| t{}\n", a.from, a.in_cycle ? "==>" : "-.->",
                       in_drawing(label), a.to);
  }
  return out + "```\n";
}

std::string verdict_row(const Audit& c, const Verdict& v) {
  const std::string detail = v.outcome == Outcome::violated ? violation_in_words(c, v.level)
                                                            : plain(display(v.reason, 300));
  const std::string_view outcome = outcome_name(v.outcome);
  const std::string strong =
      v.outcome == Outcome::violated ? fmt::format("**{}**", outcome) : std::string(outcome);
  const std::string levels = v.outcome == Outcome::unknown
                                 ? levels_unknown_alike(c.result, v)
                                 : "`" + std::string(level_info(v.level).name) + "`";
  if (levels.empty()) return {};
  return fmt::format("| {} | {} | {} |\n", levels, strong, detail);
}

std::string explained(const Audit& c, const Explanation& e) {
  const History& h = c.history;
  std::string out = fmt::format("<details><summary>Why not {}: {}</summary>\n\n",
                                level_names(e.levels), anomaly_info(e.anomaly).name);
  for (const std::string& s : e.sentences) out += plain(s) + "\n";
  std::string shown;
  for (size_t i = 0; i < e.transactions.size() && i < kCommentTransactions; ++i) {
    const TxnId t = e.transactions[i];
    shown += fmt::format("{}  {}", display_txn(h, t), display_ops(h, t, e.operations));
    std::string where = h.line(t) ? fmt::format("line {}", h.line(t)) : "";
    if (const auto level = h.declared_level(t))
      where += fmt::format("{}{}", where.empty() ? "" : ", ", level_info(*level).name);
    shown += where.empty() ? "\n" : fmt::format("  ({})\n", where);
  }
  if (e.transactions.size() > kCommentTransactions)
    shown +=
        fmt::format("and {} more transactions\n", e.transactions.size() - kCommentTransactions);
  out += "\n" + block(shown) + "\n";
  if (const std::string drawn = drawing(h, e); !drawn.empty()) out += drawn + "\n";
  for (const std::string& s : meaning(c, e)) out += plain(s) + "\n";
  if (!e.self_proving) out += "\n" + std::string(what_is_left_out(e)) + "\n";
  if (const std::string_view hint = rule_out_first(c, e); !hint.empty())
    out += "\nTo rule out first: " + plain(hint) + "\n";
  return out + "\n</details>\n\n";
}

std::string in_words(const Audit& c) {
  std::string out = fmt::format("### {}\n\n", plain(file_name(c)));
  if (c.error) return out + "Cannot be read: " + plain(display(c.error->to_string(), 400)) + "\n\n";
  out += plain(history_line(c.history)) + ".\n\n| level | verdict | |\n|---|---|---|\n";
  for (const Verdict& v : c.result.verdicts) out += verdict_row(c, v);
  out += "\n";
  for (const std::string& s : expected_order_sentences(c.history, c.result))
    out += plain(s) + "\n\n";
  for (const Explanation& e : c.explanations) out += explained(c, e);
  if (count_decided(c) == 0) return out + "Nothing was decided.\n\n";
  out += fmt::format(
      "The decided verdicts were re-checked by the independent verifier; they rest on {}.\n\n",
      counted(c.observations, "observation", "observations"));
  for (const std::string& s : stakes_in_sentences(c)) out += s + "\n";
  return out + "\n";
}

class MarkdownReport : public ReportWriter {
 public:
  std::string section(const Audit& c) override {
    totals_.add(c);
    std::string text = in_words(c);
    if (size_ + text.size() > kCommentBytes) {
      ++left_out_;
      return {};
    }
    size_ += text.size();
    return text;
  }
  std::string end() override {
    std::string out;
    if (left_out_ > 0)
      out += fmt::format("{} left out to keep this short.\n\n",
                         counted(left_out_, "history was", "histories were"));
    if (totals_.files() > 1) out += totals_.sentence() + "\n";
    return out;
  }

 private:
  Totals totals_;
  size_t size_ = 0, left_out_ = 0;
};

}  // namespace

std::unique_ptr<ReportWriter> start_markdown(const ReportOptions&) {
  return std::make_unique<MarkdownReport>();
}

}  // namespace assay::internal
