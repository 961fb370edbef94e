// Everything a user of the library needs:
//
//   auto read = assay::read_history("history.jsonl");
//   assay::CheckResult result = assay::check(read->history, {});
//   for (const assay::Verdict& v : result.verdicts)
//     if (v.outcome != assay::Outcome::unknown)
//       assert(assay::verify(result.certificates[v.certificate], read->history).ok());
#pragma once

#include "assay/anomaly.h"
#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/check.h"
#include "assay/format.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "assay/verify.h"
