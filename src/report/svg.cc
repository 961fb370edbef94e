#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/markup.h"

namespace assay::internal {
namespace {

// Returns the point `bend` away from the middle of a–b, at a right angle to it.
Point control(Point a, Point b, double bend) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = std::max(1.0, std::hypot(dx, dy));
  return {(a.x + b.x) / 2 - dy / length * bend, (a.y + b.y) / 2 + dx / length * bend};
}

std::string title(std::string_view tooltip) {
  return tooltip.empty() ? std::string() : "<title>" + escape(tooltip) + "</title>";
}

}  // namespace

std::string arrow_heads() {
  return "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
         "<marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" "
         "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 10 5 0 10z\" class=\"head\"/></marker>"
         "</defs></svg>\n";
}

Svg::Svg(Point corner, double width, double height, std::string_view label)
    : width_(width), height_(height) {
  out_ = fmt::format(
      "<svg viewBox=\"{:.0f} {:.0f} {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
      "role=\"img\" "
      "aria-label=\"{}\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      corner.x, corner.y, width, height, width, height, escape(label));
}

void Svg::line(Point a, Point b, std::string_view style) {
  out_ += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" class=\"{}\"/>\n", a.x, a.y, b.x,
                      b.y, style);
}

void Svg::curve(Point a, Point b, double bend, std::string_view style, bool arrow) {
  // A quadratic curve passes at half the distance of its control point from the chord.
  const Point c = control(a, b, 2 * bend);
  out_ +=
      fmt::format("<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" class=\"{}\"{}/>\n", a.x,
                  a.y, c.x, c.y, b.x, b.y, style, arrow ? " marker-end=\"url(#head)\"" : "");
}

void Svg::box(Point corner, double width, double height, std::string_view style,
              std::string_view tooltip) {
  out_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"5\" "
      "class=\"{}\">{}</rect>\n",
      corner.x, corner.y, width, height, style, title(tooltip));
}

void Svg::circle(Point centre, double radius, std::string_view style, std::string_view tooltip) {
  out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\">{}</circle>\n",
                      centre.x, centre.y, radius, style, title(tooltip));
}

void Svg::text(Point at, std::string_view words, std::string_view style, std::string_view anchor) {
  out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                      at.x, at.y, style, anchor, escape(words));
}

Figure Svg::finish() { return {std::move(out_) + "</svg>\n", width_, height_}; }

Point curve_middle(Point a, Point b, double bend) { return control(a, b, bend); }

double text_width(std::string_view text, double size) {
  size_t letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return static_cast<double>(letters) * size * 0.62;
}

}  // namespace assay::internal
