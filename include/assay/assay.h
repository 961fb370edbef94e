// Everything a user of the library needs:
//
//   assay::Result<assay::ReadResult> read = assay::read_history("history.jsonl");
//   if (!read.ok()) return fail(read.error().to_string());
//   const assay::CheckResult result = assay::check(read->history, {});
//   for (const assay::Verdict& v : result.verdicts) {
//     if (v.outcome == assay::Outcome::unknown) continue;
//     const assay::Status verified = assay::verify(result.certificates[v.certificate], read->history);
//     if (!verified.ok()) return fail(verified.error().to_string());
//   }
//
// examples/library/main.cc is a whole program.
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
