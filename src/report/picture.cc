// One self-contained picture: the first violation, its transactions and what orders them, and below
// them the same on a time axis. For a page, a ticket or a slide; the HTML report has the rest.
#include <fmt/format.h>

#include <algorithm>

#include "report/figures.h"
#include "report/html_style.h"
#include "report/markup.h"
#include "report/report.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

constexpr double kMargin = 12, kTitle = 30;

// A column of drawings on a common background.
class Sheet {
 public:
  void title(std::string_view words) {
    body_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"name\">{}</text>\n", kMargin,
                         y_ + 20, escape(words));
    width_ = std::max(width_, text_width(words, 13));
    y_ += kTitle;
  }
  void figure(const Figure& f) {
    if (f.empty()) return;
    body_ +=
        fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n", kMargin, y_, f.text);
    width_ = std::max(width_, f.width);
    y_ += f.height + kMargin;
  }
  std::string finish() {
    const double width = width_ + 2 * kMargin;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "font-family=\"system-ui,sans-serif\">\n<style>{2}</style>\n{3}<rect "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" style=\"fill:var(--card)\"/>\n{4}</svg>\n",
        width, y_ + kMargin, kFigureStyle, arrow_heads(), body_);
  }

 private:
  std::string body_;
  double width_ = 0, y_ = 0;
};

class Picture : public ReportWriter {
 public:
  std::string section(const Audit& c) override {
    if (drawn_ || c.explanations.empty()) return {};
    drawn_ = true;
    const Explanation& e = c.explanations.front();
    sheet_.title(fmt::format("{}: not {}{}", anomaly_info(e.anomaly).name, level_names(e.levels),
                             on_database(c)));
    sheet_.figure(cycle_figure(c.history, e));
    sheet_.figure(timeline_figure(c.history, e));
    return {};
  }
  std::string end() override {
    if (!drawn_) sheet_.title("No violation was found.");
    return sheet_.finish();
  }

 private:
  Sheet sheet_;
  bool drawn_ = false;
};

}  // namespace

std::unique_ptr<ReportWriter> start_picture(const ReportOptions&) {
  return std::make_unique<Picture>();
}

}  // namespace assay::internal
