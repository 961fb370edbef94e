#include "cli/watch_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/flags.h"
#include "cli/units.h"

namespace assay::internal::cli {
namespace {

CLI::Option* add_time(CLI::App& app, const std::string& flag, int64_t& nanoseconds,
                      const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [flag, &nanoseconds](const std::string& text) {
            const auto amount = parse_seconds(text);
            if (!amount.ok()) bad_flag(flag, amount.error().message);
            if (*amount * 1e9 > 9e18) bad_flag(flag, "expected at most 285 years");
            nanoseconds = std::llround(*amount * 1e9);
          },
          help)
      ->default_str(fmt::format("{}s", nanoseconds / 1'000'000'000))
      ->type_name("TIME");
}

}  // namespace

void add_watch_flags(CLI::App& app, watch::WatchOptions& options, const std::string& group) {
  add_time(app, "--lateness", options.lateness,
           "a transaction is reported at most so much later than it began, by the times of the "
           "history")
      ->group(group);
  app.add_option("--sessions", options.sessions,
                 "how many sessions there are; once each was heard of, what all of them have left "
                 "behind is decided without waiting for --lateness")
      ->group(group)
      ->type_name("N");
  add_time(app, "--settle", options.settle,
           "after so long a transaction of unknown outcome that nobody read from is taken to have "
           "had no effect")
      ->group(group);
  app.add_option("--window", options.window, "transactions that are checked together")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_option(
         "--keep", options.keep,
         "decided transactions that are kept, to change their order and to prove violations")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
}

}  // namespace assay::internal::cli
