// Rows are sessions, bars are transactions from begin to end. A bar whose end is not known runs off
// the right edge. Events (faults) are marks on a row of their own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "explain/names.h"
#include "report/figures.h"
#include "report/run_events.h"
#include "report/svg.h"

namespace assay::internal {
namespace {

constexpr double kLeft = 110, kRight = 770, kLane = 44, kBar = 24;
constexpr size_t kMostBars = 40, kMostMarks = 50;

// Converts nanoseconds to pixels. Uses doubles because differences over the whole range of clocks
// must not overflow.
struct Scale {
  double first = 0, last = 1;
  double x(int64_t t) const {
    const double span = std::max(1.0, last - first);
    return kLeft + (static_cast<double>(t) - first) / span * (kRight - kLeft);
  }
};

struct Bar {
  TxnId txn;
  int64_t begin, end;  // the end may be unknown or open
};

std::string bar_tooltip(const History& h, const Bar& b) {
  std::string s = display_txn(h, b.txn) + ": ";
  s += Interval::is_moment(b.begin) ? fmt::format("from {}", b.begin) : "begin not known";
  s += Interval::is_moment(b.end)
           ? fmt::format(" to {} ns, {}", b.end, duration_between(b.begin, b.end))
           : ", end not known";
  return s;
}

std::vector<Bar> bars_of(const History& h, const Explanation& e) {
  std::vector<Bar> bars;
  for (const TxnId t : e.transactions) {
    const Bar b{t, h.begin_time(t).request, h.end_time(t).response};
    if (Interval::is_moment(b.begin) && bars.size() < kMostBars) bars.push_back(b);
  }
  return bars;
}

Scale scale_of(const std::vector<Bar>& bars) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Bar& b : bars) {
    first = std::min(first, b.begin);
    last = std::max({last, b.begin, Interval::is_moment(b.end) ? b.end : b.begin});
  }
  return {static_cast<double>(first), static_cast<double>(last)};
}

void draw_events(Svg& svg, const History& h, const Scale& scale, double y) {
  size_t shown = 0;
  for (const Event& event : h.events()) {
    const auto at = static_cast<double>(event.at);
    if (at < scale.first || at > scale.last || shown == kMostMarks || !is_drawn(event)) continue;
    ++shown;
    svg.circle({scale.x(event.at), y}, 5, "event", display(event.json, 200));
  }
  if (shown) svg.text({kLeft - 10, y + 4}, "events", "label", "end");
}

}  // namespace

Figure timeline_figure(const History& h, const Explanation& e) {
  const std::vector<Bar> bars = bars_of(h, e);
  if (bars.empty() || bars.size() < e.transactions.size()) return {};
  const Scale scale = scale_of(bars);
  std::map<SessionId, double> rows;
  for (const Bar& b : bars) rows.emplace(h.session(b.txn), 0);
  double y = 20;
  for (auto& [session, top] : rows) {
    top = y;
    y += kLane;
  }
  Svg svg({}, kRight + 30, y + 40, "The transactions on the clock");
  for (const auto& [session, top] : rows) {
    svg.text({kLeft - 10, top + kBar / 2 + 4}, display_session(h, session), "label", "end");
    svg.line({kLeft, top + kBar / 2}, {kRight, top + kBar / 2}, "arrow faint");
  }
  for (const Bar& b : bars) {
    const double top = rows[h.session(b.txn)];
    const double left = scale.x(b.begin),
                 right = Interval::is_moment(b.end) ? scale.x(b.end) : kRight + 20;
    svg.box({left, top}, std::max(4.0, right - left), kBar,
            Interval::is_moment(b.end) ? "txn" : "txn open", bar_tooltip(h, b));
    const std::string name = display_txn(h, b.txn),
                      whole = name + " " + display_ops(h, b.txn, e.operations);
    svg.text({(left + std::max(left + 4, right)) / 2, top + kBar / 2 + 4},
             text_width(whole, 13) < right - left ? whole : name, "name");
  }
  draw_events(svg, h, scale, y + 4);
  svg.line({kLeft, y + 16}, {kRight, y + 16}, "arrow");
  svg.text({kLeft, y + 32}, "0", "label", "start");
  svg.text({kRight, y + 32},
           duration(static_cast<uint64_t>(std::max(0.0, scale.last - scale.first))), "label",
           "end");
  return svg.finish();
}

}  // namespace assay::internal
