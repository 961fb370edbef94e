// The report for readers. The same input gives the same bytes: it holds no times and only the paths
// that the user gave.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/wrap.h"
#include "explain/names.h"
#include "history/level_words.h"
#include "report/expected_order.h"
#include "report/report.h"
#include "report/stakes.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

class Text {
 public:
  explicit Text(const ReportOptions& options) : colour_(options.colour), width_(options.width) {}

  void file(const Audit& c) {
    if (c.error) {
      line("{}: {}", bold(file_name(c)), red("cannot be read"));
      line("  {}", wrapped(display(c.error->to_string(), 400), 2, 2));
      return;
    }
    line("{}: {}", bold(file_name(c)),
         wrapped(history_line(c.history), columns_of(file_name(c)) + 2, 2));
    line("");
    headline(c);
    verdicts(c);
    expected_order(c);
    for (const Explanation& e : c.explanations) explanation(c, e);
    duplicates(c);
    closing(c);
  }

  std::string take() { return std::exchange(out_, {}); }
  void separator() { line(""); }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::string paint(std::string_view code, std::string_view s) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, s) : std::string(s);
  }
  std::string bold(std::string_view s) const { return paint("1", s); }
  std::string green(std::string_view s) const { return paint("32", s); }
  std::string red(std::string_view s) const { return paint("31", s); }
  std::string yellow(std::string_view s) const { return paint("33", s); }
  std::string dim(std::string_view s) const { return paint("2", s); }

  static std::string in_one_line(const LevelInfo& row) {
    std::string text = level_definition(row);
    text.pop_back();
    for (size_t end; (end = text.find('\n')) != text.npos;) text.replace(end, 1, "; ");
    return text;
  }

  // The first line begins after `used` columns; the others begin with `indent` blanks.
  std::string wrapped(std::string_view text, size_t used, size_t indent) const {
    return internal::wrapped(printable(text), width_, used, indent);
  }

  void headline(const Audit& c) {
    if (!c.requested.empty()) return;
    const std::vector<LevelId> best = strongest_satisfied(c.result);
    if (best.empty()) {
      line("{}", red("No level is known to be satisfied."));
    } else {
      line("{} {}", best.size() == 1 ? "Strongest level satisfied:" : "Strongest levels satisfied:",
           paint("1;32", wrapped(level_names(best), 27, 2)));
    }
    line("");
  }

  void verdicts(const Audit& c) {
    for (const Verdict& v : c.result.verdicts) {
      const std::string_view name = level_info(v.level).name;
      switch (v.outcome) {
        case Outcome::satisfied:
          line("  {}  {}", green("satisfied"), name);
          break;
        case Outcome::violated: {
          const std::string what = violation_in_words(c, v.level);
          line("  {}   {}{}", held_beside(c, v.level) ? yellow("violated") : red("violated"), name,
               what.empty() ? what : wrapped(fmt::format("  ({})", what), 13 + name.size(), 13));
          break;
        }
        case Outcome::unknown: {
          const std::string levels = levels_unknown_alike(c.result, v);
          if (levels.empty()) break;
          line("  {}    {}", yellow("unknown"),
               wrapped(levels + ": " + display(v.reason, 300), 13, 13));
          break;
        }
      }
    }
  }

  void expected_order(const Audit& c) {
    const std::vector<std::string> sentences = expected_order_sentences(c.history, c.result);
    if (!sentences.empty()) line("");
    for (const std::string& s : sentences) line("{}", wrapped(s, 0, 2));
  }

  void explanation(const Audit& c, const Explanation& e) {
    const History& h = c.history;
    line("");
    line("{}", bold(wrapped(fmt::format("Why not {}:", level_names(e.levels)), 0, 2)));
    line("  {}", paint("1;31", anomaly_info(e.anomaly).name));
    for (const std::string& s : e.sentences) line("  {}", wrapped(s, 2, 2));
    if (!sentences_give_cycle(c, e)) {
      line("");
      for (const Arrow& a : e.arrows)
        if (a.in_cycle) arrow(h, a);
    }
    line("");
    transactions(h, e);
    line("");
    for (const std::string& s : meaning(c, e)) line("  {}", wrapped(s, 2, 2));
    if (const std::string_view more = what_is_left_out(e); !more.empty()) {
      line("");
      line("  {}", wrapped(more, 2, 2));
    }
    if (const std::string_view hint = rule_out_first(c, e); !hint.empty()) {
      line("");
      line("  {} {}", yellow("To rule out first:"), wrapped(hint, 21, 2));
    }
  }

  void arrow(const History& h, const Arrow& a) {
    const std::string ends =
        fmt::format("  {} → {}  ", display_txn(h, a.from), display_txn(h, a.to));
    line("{}{}", ends, dim(wrapped(a.because, columns_of(ends), 6)));
  }

  void transactions(const History& h, const Explanation& e) {
    constexpr size_t kMost = 20;
    size_t width = 0;
    for (const TxnId t : e.transactions) width = std::max(width, display_txn(h, t).size());
    for (size_t i = 0; i < e.transactions.size() && i < kMost; ++i) {
      const TxnId t = e.transactions[i];
      std::string where = display_session(h, h.session(t));
      if (h.line(t)) where += fmt::format(", line {}", h.line(t));
      if (const auto level = h.declared_level(t))
        where += fmt::format(", {}", level_info(*level).name);
      if (h.status(t) == TxnStatus::aborted) where += ", aborted";
      if (h.status(t) == TxnStatus::unknown) where += ", unknown outcome";
      const size_t indent = width + 4;
      const std::string ops = wrapped(display_ops(h, t, e.operations), indent, indent);
      const size_t last = ops.rfind('\n');
      const size_t used = last == std::string::npos
                              ? indent + columns_of(ops)
                              : columns_of(std::string_view(ops).substr(last + 1));
      const bool fits = used + columns_of(where) + 4 <= width_;
      line("  {:<{}}  {}{}{}", display_txn(h, t), width, ops,
           fits ? "  " : "\n" + std::string(indent, ' '), dim(fmt::format("({})", where)));
    }
    if (e.transactions.size() > kMost)
      line("  and {} more transactions", e.transactions.size() - kMost);
  }

  // Prints one of the duplicates, and the number of the others.
  void duplicates(const Audit& c) {
    const History& h = c.history;
    const auto is_read = [](const DuplicateWrite& d) { return d.read; };
    const auto& all = c.result.duplicates;
    const auto first = std::find_if(all.begin(), all.end(), is_read);
    if (first == all.end()) return;
    const auto more = static_cast<size_t>(std::count_if(first, all.end(), is_read)) - 1;
    const std::string writer = display_txn(h, h.txn_of(first->second));
    const std::string version = display_version(h, h.op(first->second).version);
    const std::string wrote =
        first->first == kNone
            ? fmt::format("{} wrote {}, the initial value", writer, version)
            : fmt::format("{} and {} both wrote {}", display_txn(h, h.txn_of(first->first)), writer,
                          version);
    line("");
    line("{} {}", yellow("Duplicate value:"),
         wrapped(
             wrote + "; it is unknown which of the two was read" +
                 (more == 0 ? "."
                            : fmt::format(", as with {} more.", counted(more, "value", "values"))),
             17, 2));
  }

  void closing(const Audit& c) {
    const size_t decided = count_decided(c);
    line("");
    if (decided == 0) {
      line("{}", dim("Nothing was decided."));
      return;
    }
    line("{}",
         dim(wrapped(fmt::format("{} re-checked by the independent verifier{}.",
                                 decided == 1 ? "The verdict was" : "Every verdict was",
                                 c.certificate_file.empty()
                                     ? std::string()
                                     : "; certificates in " + display(c.certificate_file, 200)),
                     0, 2)));
    if (const auto& row = c.history.defined_level())
      line("{}", dim(wrapped(fmt::format("'defined' is {}.", in_one_line(*row)), 0, 2)));
    const int64_t drift = c.history.clock_drift();
    line("{}",
         dim(wrapped(
             fmt::format("{} on {}{}{}.", decided == 1 ? "It rests" : "They rest",
                         counted(c.observations, "observation", "observations"),
                         c.aborted_reads
                             ? fmt::format(", with those of {} that did not commit",
                                           counted(*c.aborted_reads, "transaction", "transactions"))
                             : std::string(),
                         drift == 0 ? std::string()
                                    : fmt::format(", and on clocks that differ by at most {}",
                                                  duration(static_cast<uint64_t>(drift)))),
             0, 2)));
    for (const std::string& s : stakes_in_sentences(c)) line("{}", dim(wrapped(s, 0, 2)));
  }

  bool colour_;
  size_t width_;
  std::string out_;
};

class TextReport : public ReportWriter {
 public:
  explicit TextReport(const ReportOptions& options)
      : ReportWriter(options.colour), text_(options) {}

  std::string section(const Audit& c) override {
    if (totals_.files() > 0) text_.separator();
    totals_.add(c);
    text_.file(c);
    return text_.take();
  }
  std::string end() override {
    return totals_.files() > 1 ? "\n" + totals_.sentence() + "\n" : std::string();
  }

 private:
  Text text_;
  Totals totals_;
};

}  // namespace

std::unique_ptr<ReportWriter> start_text(const ReportOptions& options) {
  return std::make_unique<TextReport>(options);
}

}  // namespace assay::internal
