// Transactions are placed on a ring in the order of the cycle, and its arrows follow the ring;
// transactions that only justify an arrow come after them. A box shows the name and the relevant
// operations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <unordered_map>

#include "explain/names.h"
#include "report/figures.h"
#include "report/svg.h"

namespace assay::internal {
namespace {

constexpr size_t kMostDrawn = 16;
constexpr size_t kMostLines = 5;
constexpr double kLine = 16, kWidest = 320;

// A row may be longer than a sensible width of the box; the title of the box has all of it.
std::string shortened(std::string text) {
  if (text_width(text) + 20 <= kWidest) return text;
  while (!text.empty() && text_width(text) + 28 > kWidest) {
    while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
      text.pop_back();
    text.pop_back();
  }
  return text + "…";
}

struct DrawnTxn {
  TxnId txn = kNone;
  std::vector<std::string> lines;
  double width = 0, height = 0;
  Point centre;
};

// The transactions in the order of the cycle, then the others.
std::vector<TxnId> ring_order(const Explanation& e) {
  std::vector<TxnId> order;
  const auto add = [&](TxnId t) {
    if (std::find(order.begin(), order.end(), t) == order.end()) order.push_back(t);
  };
  for (const Arrow& a : e.arrows)
    if (a.in_cycle) add(a.from);
  // For a contradiction of many cases, only the transactions of the first: the others would have no
  // arrows.
  if (e.cases.empty())
    for (const TxnId t : e.transactions) add(t);
  if (order.size() > kMostDrawn) order.resize(kMostDrawn);
  return order;
}

DrawnTxn make_node(const History& h, const Explanation& e, TxnId t) {
  DrawnTxn n;
  n.txn = t;
  if (const auto level = h.declared_level(t)) n.lines.emplace_back(level_info(*level).name);
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    if (!std::binary_search(e.operations.begin(), e.operations.end(), i)) continue;
    if (n.lines.size() == kMostLines) {
      n.lines.push_back("…");
      break;
    }
    n.lines.push_back(shortened(display_op(h, i)));
  }
  n.width = text_width(display_txn(h, t), 13);
  for (const std::string& l : n.lines) n.width = std::max(n.width, text_width(l));
  n.width = std::min(kWidest, n.width + 20);
  n.height = 24 + kLine * static_cast<double>(n.lines.size());
  return n;
}

// Returns the point where the line from the centre of `n` towards `p` leaves its box.
Point border(const DrawnTxn& n, Point p) {
  const double dx = p.x - n.centre.x, dy = p.y - n.centre.y;
  const double sx = dx == 0 ? 1e9 : (n.width / 2 + 3) / std::abs(dx);
  const double sy = dy == 0 ? 1e9 : (n.height / 2 + 3) / std::abs(dy);
  const double s = std::min({sx, sy, 1.0});
  return {n.centre.x + dx * s, n.centre.y + dy * s};
}

// Whether one line is enough for both: a reader that also wrote the key later than the transaction
// that it read from.
bool joins(const Arrow& read, const Arrow& write) {
  return !read.in_cycle && read.kind == EdgeKind::read_dependency && !write.in_cycle &&
         write.kind == EdgeKind::write_dependency && read.from == write.from &&
         read.to == write.to && read.key == write.key;
}

bool has_own_line(const Explanation& e, const Arrow& a) {
  return !a.refuted && std::none_of(e.arrows.begin(), e.arrows.end(),
                                    [&](const Arrow& read) { return joins(read, a); });
}

std::string arrow_label(const History& h, const Explanation& e, const Arrow& a) {
  std::string label(edge_kind_name(a.kind));
  if (std::any_of(e.arrows.begin(), e.arrows.end(),
                  [&](const Arrow& write) { return joins(a, write); }))
    label = "read- and write-dependency";
  if (a.key != kNone) label += " (" + display_key(h, a.key) + ")";
  return label;
}

struct Curve {
  const Arrow* arrow;
  Point start, end;
  double bend;
};

// Arrows bend to their left; if both directions, or several arrows of one direction, join two
// boxes, they bend more.
std::vector<Curve> curves(const Explanation& e, const std::vector<DrawnTxn>& nodes,
                          const std::unordered_map<TxnId, size_t>& at) {
  constexpr double kBend = 16, kMore = 24;
  std::map<std::pair<TxnId, TxnId>, int> parallel;
  for (const Arrow& a : e.arrows)
    if (has_own_line(e, a)) ++parallel[{a.from, a.to}];
  std::map<std::pair<TxnId, TxnId>, int> drawn;
  std::vector<Curve> out;
  for (const Arrow& a : e.arrows) {
    if (!has_own_line(e, a)) continue;  // a figure states what holds
    const auto from = at.find(a.from), to = at.find(a.to);
    if (from == at.end() || to == at.end() || from == to) continue;
    const DrawnTxn &f = nodes[from->second], &t = nodes[to->second];
    const bool both_ways = parallel.contains({a.to, a.from});
    const double bend = kBend + kMore * (drawn[{a.from, a.to}]++ + both_ways);
    const Point middle = curve_middle(f.centre, t.centre, bend);
    out.push_back({&a, border(f, middle), border(t, middle), bend});
  }
  return out;
}

// A rectangle, given by its centre and half its width and height.
struct Box {
  Point centre;
  double dx, dy;

  bool overlaps(const Box& o) const {
    return std::abs(centre.x - o.centre.x) < dx + o.dx &&
           std::abs(centre.y - o.centre.y) < dy + o.dy;
  }
};

Box label_box(const History& h, const Explanation& e, const Curve& c) {
  return {curve_middle(c.start, c.end, c.bend), text_width(arrow_label(h, e, *c.arrow)) / 2 + 6,
          11};
}

std::vector<Box> boxes_of(const History& h, const Explanation& e,
                          const std::vector<DrawnTxn>& nodes, const std::vector<Curve>& arrows) {
  std::vector<Box> out;
  for (const DrawnTxn& n : nodes) out.push_back({n.centre, n.width / 2, n.height / 2});
  for (const Curve& c : arrows) out.push_back(label_box(h, e, c));
  return out;
}

bool any_overlap(const std::vector<Box>& boxes) {
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t j = i + 1; j < boxes.size(); ++j)
      if (boxes[i].overlaps(boxes[j])) return true;
  return false;
}

void place_on_ring(std::vector<DrawnTxn>& nodes, double rx, double ry) {
  const auto n = static_cast<double>(nodes.size());
  // Two boxes are side by side; more begin at the top.
  const double start = nodes.size() == 2 ? std::numbers::pi : -std::numbers::pi / 2;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const double angle = start + 2 * std::numbers::pi * static_cast<double>(i) / n;
    nodes[i].centre = {rx * std::cos(angle), ry * std::sin(angle)};
  }
}

// Tries rings of increasing size and takes the smallest on which boxes and labels do not overlap;
// if there is none, the widest.
std::vector<Curve> lay_out(const History& h, const Explanation& e, std::vector<DrawnTxn>& nodes,
                           const std::unordered_map<TxnId, size_t>& at) {
  constexpr double kGrow = 1.1, kLargest = 3;
  double widest = 0, tallest = 0;
  for (const DrawnTxn& n : nodes) {
    widest = std::max(widest, n.width);
    tallest = std::max(tallest, n.height);
  }
  const auto n = static_cast<double>(nodes.size());
  const double rx = std::max(170.0, n * (widest + 50) / (2 * std::numbers::pi));
  const double ry = std::max(110.0, n * (tallest + 40) / (2 * std::numbers::pi));
  std::vector<Curve> arrows;
  for (double scale = 1; scale < kLargest; scale *= kGrow) {
    place_on_ring(nodes, rx * scale, ry * scale);
    arrows = curves(e, nodes, at);
    if (!any_overlap(boxes_of(h, e, nodes, arrows))) break;
  }
  return arrows;
}

struct Extent {
  double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
  void include(const Box& b) {
    constexpr double kMargin = 8;
    left = std::min(left, b.centre.x - b.dx - kMargin);
    right = std::max(right, b.centre.x + b.dx + kMargin);
    top = std::min(top, b.centre.y - b.dy - kMargin);
    bottom = std::max(bottom, b.centre.y + b.dy + kMargin);
  }
};

}  // namespace

Figure cycle_figure(const History& h, const Explanation& e) {
  if (e.arrows.empty()) return {};
  std::vector<DrawnTxn> nodes;
  std::unordered_map<TxnId, size_t> at;
  for (const TxnId t : ring_order(e)) {
    at.emplace(t, nodes.size());
    nodes.push_back(make_node(h, e, t));
  }
  const std::vector<Curve> arrows = lay_out(h, e, nodes, at);
  Extent extent;
  for (const Box& b : boxes_of(h, e, nodes, arrows)) extent.include(b);
  Svg svg({extent.left, extent.top}, extent.right - extent.left, extent.bottom - extent.top,
          "Dependencies between the transactions");
  for (const Curve& c : arrows)
    svg.curve(c.start, c.end, c.bend,
              fmt::format("arrow {}{}", edge_kind_name(c.arrow->kind),
                          c.arrow->in_cycle ? " strong" : " dashed"),
              true);
  for (const Curve& c : arrows) {
    const Point label = curve_middle(c.start, c.end, c.bend);
    svg.text({label.x, label.y + 4}, arrow_label(h, e, *c.arrow), "label");
  }
  for (const DrawnTxn& node : nodes) {
    const Point corner{node.centre.x - node.width / 2, node.centre.y - node.height / 2};
    svg.box(corner, node.width, node.height, "txn", display_ops(h, node.txn, e.operations));
    svg.text({node.centre.x, corner.y + 17}, display_txn(h, node.txn), "name");
    for (size_t i = 0; i < node.lines.size(); ++i)
      svg.text({node.centre.x, corner.y + 33 + kLine * static_cast<double>(i)}, node.lines[i],
               "op");
  }
  return svg.finish();
}

}  // namespace assay::internal
