// `run --until-violation`: one run after the other, until a level is violated or the time is over.
// Which workload is run, and on how few keys, follows from the prior of the workloads and the
// results of the earlier runs (collect/arms.h); its other parameters are drawn from the seed. Runs
// are short at first and grow with the elapsed time, so a violation is noticed not much later than
// it happens. If nearly everything waits or aborts, the next runs have fewer sessions and more
// keys.
#pragma once

#include "cli/checking.h"
#include "cli/exit_code.h"
#include "collect/run.h"

namespace CLI {
class App;
}

namespace assay::internal::cli {

// Parameters that were given to `app` on the command line are not drawn. `flags` name the levels.
Exit hunt(collect::RunOptions options, const CLI::App& app, double seconds,
          const CheckFlags& flags);

}  // namespace assay::internal::cli
