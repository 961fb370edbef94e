// Everything a user of the library needs:
//
//   const assay::Audit audit = assay::audit(path);
//   if (audit.error) return fail(audit.error->to_string());
//   for (const assay::Verdict& verdict : audit.result.verdicts)
//     std::cout << assay::level_info(verdict.level).name << " "
//               << assay::outcome_name(verdict.outcome) << "\n";
//   for (const assay::Explanation& e : audit.explanations)
//     std::cout << assay::anomaly_info(e.anomaly).name << ": " << e.sentences.front() << "\n";
//
// No verdict is returned unverified. examples/library/main.cc is a whole program with these lines.
#pragma once

#include "assay/anomaly.h"
#include "assay/audit.h"
#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/check.h"
#include "assay/explanation.h"
#include "assay/format.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "assay/verify.h"
