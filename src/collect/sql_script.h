// A small history as SQL that repeats it: the schedule according to its times, for people to run by
// hand with a connection per session, and for `assay play`.
#pragma once

#include <string>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::collect {

// The transactions of `history` as they ran: begins, operations and ends in the order of their
// times; operations without times are spread evenly between begin and end. Without any times all
// begin, then take turns, then end. If possible, each read comes when its version was the last
// committed one. Names are comments; `isolation`: as the database spells it; empty: not stated. The
// rows exist before the schedule begins. Bad input if an operation is not a read, write, insert,
// removal or compare-and-set, or if a text in it cannot be quoted in every dialect.
Result<std::string> sql_script(const History& history, const std::string& isolation);

}  // namespace assay::internal::collect
