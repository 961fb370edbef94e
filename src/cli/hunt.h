// `run --until-violation`: one run after the other, each with other parameters drawn from the seed and longer than
// the one before, until a level is violated or the time is up.
#pragma once

#include "cli/checking.h"
#include "cli/exit_code.h"
#include "collect/run.h"

namespace assay::cli {

// `vary_workload`: the workload is drawn, too. `flags` name the levels.
Exit hunt(collect::RunOptions options, bool vary_workload, double seconds, const CheckFlags& flags);

}  // namespace assay::cli
