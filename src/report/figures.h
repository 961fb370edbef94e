// The figures of the HTML report, as SVG that takes its colours from the page's style.
#pragma once

#include <string>

#include "report/report.h"

namespace assay::internal {

// The lattice of levels, each coloured by its verdict; levels not asked for are grey.
std::string lattice_figure(const Audit& c);

// The transactions of an explanation in a ring, with the cycle and what it rests on.
std::string cycle_figure(const History& h, const Explanation& e);

// The transactions of an explanation on the clock, a row per session, with the events of the
// history in that span. Empty if they have no times.
std::string timeline_figure(const History& h, const Explanation& e);

}  // namespace assay::internal
