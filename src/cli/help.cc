#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/console.h"

namespace assay::internal::cli {

Action add_help(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("COMMAND", *name, "the command to explain; by default all")->type_name("");
  return [name, all = app.get_parent()] {
    if (!name->empty() && !is_command(*name)) return fail(usage_error(no_command(*name)));
    return ended(print((name->empty() ? all : all->get_subcommand(*name))->help()));
  };
}

}  // namespace assay::internal::cli
