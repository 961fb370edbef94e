// `run --until-violation`: one run after the other, until a level is violated or the time is up.
// Which workload is run, and on how few keys, follows from the prior of the workloads and the
// results of the earlier runs (collect/arms.h); its other parameters are drawn from the seed. Runs
// are short at first and grow with the elapsed time: a violation is noticed not much later than it
// happens. Where nearly everything waits or aborts, the next runs have fewer sessions and more
// keys.
#pragma once

#include "cli/checking.h"
#include "cli/exit_code.h"
#include "collect/run.h"

namespace CLI {
class App;
}

namespace assay::internal::cli {

// What `app` was given on the command line is not drawn. `flags` name the levels.
Exit hunt(collect::RunOptions options, const CLI::App& app, double seconds,
          const CheckFlags& flags);

}  // namespace assay::internal::cli
