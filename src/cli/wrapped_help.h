// The text of --help, wrapped at the width of the terminal. Examples are commands and are not
// wrapped.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/wrap.h"
#include "cli/console.h"
#include "cli/keys.h"

namespace assay::internal::cli {

class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return described(make_option_name(option, is_positional) + make_option_opts(option),
                     make_option_desc(option));
  }
  // A key of a flag is shown as it is given: "keys" for --keys.
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return flag_of_key(*option).empty() ? CLI::Formatter::make_option_name(option, is_positional)
                                        : key_name(*option);
  }
  // Omits the range that the parser puts after a number, "N:INT in [1 - 100]": the error for a
  // number outside of it gives the range.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string opts = CLI::Formatter::make_option_opts(option);
    const size_t range = opts.find(" in [");
    if (range != std::string::npos) {
      const size_t type = opts.rfind(':', range);
      opts.erase(type, opts.find(']', range) + 1 - type);
    }
    return opts;
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return described(command->get_display_name(true), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), columns_of_stdout());
  }

 private:
  // Returns the name and, from a fixed column on, the description.
  std::string described(const std::string& name, const std::string& what) const {
    const size_t column = get_column_width();
    std::string out = "  " + name;
    if (what.empty()) return out + "\n";
    if (columns_of(out) >= column) out += "\n" + std::string(column, ' ');
    out.append(column - std::min(column, columns_of(out.substr(out.rfind('\n') + 1))), ' ');
    return out + wrapped(what, columns_of_stdout(), column, column) + "\n";
  }
};

}  // namespace assay::internal::cli
