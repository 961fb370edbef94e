#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/console.h"

namespace assay::internal::cli {

Action add_version(CLI::App&) {
  return [] { return ended(print("assay " ASSAY_VERSION "\n")); };
}

}  // namespace assay::internal::cli
