#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/interrupts.h"
#include "cli/watch_flags.h"
#include "cli/watching.h"
#include "formats/input.h"
#include "watch/watcher.h"

namespace assay::internal::cli {
namespace {

struct WatchState {
  std::string file = "-";
  LevelFlags level;
  watch::WatchOptions options;
  WatchOutput output;
  bool follow = false;
};

Exit watch_input(const WatchState& s) {
  Budget reading;
  reading.heed_interrupts();
  Watching watching(s.options, s.output);
  auto input =
      s.follow ? formats::Input::follow(s.file, &reading) : formats::Input::open(s.file, &reading);
  if (!input.ok()) return interrupted(input.error()) ? watching.end() : fail(input.error());
  const Result<bool> whole = watching.read(*input);
  if (!whole.ok() && !interrupted(whole.error())) return fail(input->located(whole.error()));
  if (whole.ok() && *whole)
    if (Status over = watching.finish(); !over.ok()) return fail(input->located(over.error()));
  return watching.end();
}

Exit watch_history(WatchState& s) {
  if (Status can = take_level(s.level, s.options); !can.ok()) return fail(can.error());
  if (s.follow && s.file == "-")
    return fail(usage_error("--follow takes a file; standard input is read until it ends"));
  if (Status made = make_folder(s.output.alarms); !made.ok()) return fail(made.error());
  stop_checking_when_interrupted();
  return watch_input(s);
}

}  // namespace

Action add_watch(CLI::App& app) {
  auto s = std::make_shared<WatchState>();
  app.add_option("FILE", s->file, "lines of history (assay JSON Lines); - is standard input")
      ->capture_default_str()
      ->type_name("");
  s->level.add(app,
               "the level to watch: strict-serializable, the default, or linearizable; others "
               "cannot be decided without the whole history");
  app.add_flag("--follow", s->follow, "wait for more lines at the end of the file");
  add_watch_flags(app, s->options, "");
  add_watch_output(app, s->output, "");
  app.add_flag("--json", s->output.json,
               "one line of JSON for each alarm, unknown stretch and window");
  return [s] { return watch_history(*s); };
}

}  // namespace assay::internal::cli
