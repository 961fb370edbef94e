// A small history as the SQL that repeats it: the schedule that its times give, for people to run
// by hand in a connection for each session, and for the program to play by itself.
#pragma once

#include <string>

#include "assay/history.h"
#include "assay/result.h"
#include "collect/interleaving.h"

namespace assay::internal::collect {

// The transactions of `history` as they ran: begins, operations and ends in the order of their
// times; operations without times lie evenly between begin and end. Without any times all begin,
// then take turns, then end. If possible, each read comes when its version was the last committed
// one. Bad input where an operation is no read, write, insert, removal or compare-and-set, or where
// a text of it cannot be quoted in every dialect.
Result<Interleaving> interleaving_of(const History& history);

// Its interleaving as text; names are comments in it. `isolation`: as the database spells it;
// empty: not stated. The rows exist before it begins.
std::string sql_script(const History& history, const Interleaving& play,
                       const std::string& isolation);

}  // namespace assay::internal::collect
