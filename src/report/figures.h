// The figures of reports, as SVG, which takes its colours from a style (html_style.h).
#pragma once

#include "report/report.h"
#include "report/svg.h"

namespace assay::internal {

// Draws the lattice of levels, each coloured by its verdict; levels that were not asked for are
// grey.
Figure lattice_figure(const Audit& c);

// Draws the transactions of an explanation in a ring, with the cycle and the edges it rests on.
Figure cycle_figure(const History& h, const Explanation& e);

// Draws the transactions of an explanation on a time axis, a row per session, with the events of
// the history in that span. Empty if they have no times.
Figure timeline_figure(const History& h, const Explanation& e);

}  // namespace assay::internal
