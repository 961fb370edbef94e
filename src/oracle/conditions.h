// Whether a value satisfies a condition: the oracle's own answer, from the definition
// (docs/formats/assay.md) and the condition as it was read, without anything that evaluates it
// elsewhere.
//
//   value > 5 and name like 'a%'      of {"value":7,"name":"abc"}: yes      of {"value":7}: open,
//                                                                           the name is not known
//
// A comparison is true, false or null, as in SQL, or left open: then it may be any of them,
// whatever other comparisons are. So a condition may have several of the three results. If it can
// only be true, the value satisfies it; if it cannot be true, the value does not; otherwise that is
// open, never guessed.
//
// Cost: the length of the condition, plus its patterns times the texts.
#pragma once

#include "assay/history.h"
#include "history/condition.h"

namespace assay::internal::oracle {

Match condition_match(const Condition& condition, const ValueView& value);

}  // namespace assay::internal::oracle
