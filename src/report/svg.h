// The few SVG elements the figures need. Colours and fonts come from classes.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

struct Point {
  double x = 0;
  double y = 0;
};

// A drawing and its size in pixels.
struct Figure {
  std::string text;
  double width = 0, height = 0;
  bool empty() const { return text.empty(); }
};

class Svg {
 public:
  // `label` is what a screen reader reads out.
  Svg(Point corner, double width, double height, std::string_view label);

  void line(Point a, Point b, std::string_view style);
  // Draws a curve from a to b, bent sideways by `bend` pixels at its middle; with an arrow head if
  // `arrow`.
  void curve(Point a, Point b, double bend, std::string_view style, bool arrow);
  void box(Point corner, double width, double height, std::string_view style,
           std::string_view tooltip = {});
  void circle(Point centre, double radius, std::string_view style, std::string_view tooltip = {});
  // `anchor`: start, middle or end.
  void text(Point at, std::string_view words, std::string_view style,
            std::string_view anchor = "middle");
  Figure finish();

 private:
  std::string out_;
  double width_, height_;
};

// The marker at which arrows end; needed once per page.
std::string arrow_heads();

// Returns where the middle of such a curve lies, for its label.
Point curve_middle(Point a, Point b, double bend);

// Returns roughly the width of a text at the font size `size`, by default that of the figures.
double text_width(std::string_view text, double size = 12);

}  // namespace assay::internal
