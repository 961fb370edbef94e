// `run --until-violation`: one run after the other, each with other parameters drawn from the seed and longer than
// the one before, until a level is violated or the time is up. Where nearly everything waits or aborts, the next runs
// have fewer sessions and more keys.
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
