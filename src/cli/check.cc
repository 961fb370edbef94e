#include <CLI/CLI.hpp>
#include <memory>

#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/watch_flags.h"

namespace assay::internal::cli {

Action add_check(CLI::App& app) {
  struct State {
    std::vector<std::string> files;
    CheckFlags flags;
    bool together = false;
  };
  auto s = std::make_shared<State>();
  app.add_option("FILE", s->files, "histories, or directories of histories; - is standard input")
      ->required()
      ->type_name("");
  s->flags.levels.aborted_reads = &s->flags.aborted_reads;
  s->flags.levels.definition = &s->flags.definition;
  s->flags.levels.add(app,
                      "a level to decide, by id or alias; repeatable. The exit code is then the "
                      "verdict. Without it all levels except Adya's and the session guarantees are "
                      "decided, and the strongest are reported; 'adya', 'session-guarantees' and "
                      "'all' each name several; FILE.toml names the one it defines");
  s->flags.output.add(app);
  s->flags.budget.add(app);
  s->flags.reading.add(app);
  add_aborted_reads(app, s->flags.aborted_reads);
  add_clock_drift(app, s->flags.clock_drift);
  add_expected_order(app, s->flags.expected_order);
  add_allow_empty(app, s->flags.allow_empty);
  add_require_contention(app, s->flags.require_contention);
  app.add_flag("--together", s->together,
               "treat all files as one history, recorded by several processes of one run");
  constexpr char kSlices[] = "Slices (--slices)";
  app.add_flag("--slices", s->flags.slices.on,
               "decide strict-serializable or linearizable in slices of time while the history is "
               "read, in bounded memory; the default if the history would not fit into --memory")
      ->group(kSlices);
  add_watch_flags(app, s->flags.slices.options, kSlices);
  add_engine(app, s->flags.engine);
  app.add_option("--threads", s->flags.threads,
                 "threads for reading, for matching reads with writes, for replaying, for parts of "
                 "the history that can be decided independently, and for verifying; 0 is one per "
                 "core")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  add_without(app, s->flags.speed_ups);
  return [s] {
    if (const Status d = take_definition(s->flags); !d.ok()) return fail(d.error());
    return check_files(s->files, s->flags, s->together);
  };
}

}  // namespace assay::internal::cli
