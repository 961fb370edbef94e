#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/console.h"

namespace assay::internal::cli {

Action add_version(CLI::App&) {
  return [] {
    const Status s = print("assay " ASSAY_VERSION "\n");
    return s.ok() ? Exit::satisfied : fail(s.error());
  };
}

}  // namespace assay::internal::cli
