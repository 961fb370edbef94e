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
  // `label` is what a screen reader says.
  Svg(Point corner, double width, double height, std::string_view label);

  void line(Point a, Point b, std::string_view style);
  // From a to b, bent sideways by `bend` pixels at its middle; with an arrow head if `arrow`.
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

// The marker that arrows end in; once per page.
std::string arrow_heads();

// Where the middle of such a curve lies, for its label.
Point curve_middle(Point a, Point b, double bend);

// Roughly the width of a text of `bytes` bytes at the figures' font size.
double text_width(std::string_view text, double size = 12);

}  // namespace assay::internal
