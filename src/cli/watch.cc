#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/interrupts.h"
#include "cli/kept_watch.h"
#include "cli/line_server.h"
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
  std::string state, certificate;  // files
  std::string listen;              // an address
};

// Waits for the file: the process that writes it may be started after the watcher, and creates it
// then.
Status await_file(const std::string& file, Budget& reading) {
  if (std::filesystem::exists(file)) return Ok{};
  note(fmt::format("waiting for {}, which does not exist yet", file));
  while (!std::filesystem::exists(file)) {
    if (reading.exhausted_now()) return formats::budget_error(reading);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Ok{};
}

Result<formats::Input> open_input(const WatchState& s, const KeptWatch& kept, Budget& reading) {
  if (!s.follow) return formats::Input::open(s.file, &reading);
  if (!kept.goes_on()) {
    if (Status there = await_file(s.file, reading); !there.ok()) return there.error();
    return formats::Input::follow(s.file, &reading);
  }
  const FilePlace& place = kept.place();
  return formats::Input::follow_from(s.file, &reading, place.offset, place.line);
}

// Refuses what cannot be kept. Decisions at the end of a file, which assume that no lines follow,
// may be wrong when some do.
Status can_keep(const WatchState& s) {
  if (s.options.by_timestamps && !(s.state.empty() && s.certificate.empty()))
    return usage_error(fmt::format("{} cannot be used with --expected-order",
                                   s.state.empty() ? "--certificate" : "--state"));
  if (!s.options.fence.empty() && !s.state.empty())
    return usage_error("--state cannot be used with --fence");
  if (!s.state.empty() && !s.follow && s.file != "-")
    return usage_error("--state needs --follow: without it the file is read to its end in one run");
  if (!s.state.empty() && s.file != "-" && std::filesystem::exists(s.file) &&
      !std::filesystem::is_regular_file(s.file))
    return usage_error("--state needs a file that can be read again, or standard input");
  if (!s.state.empty() && !s.certificate.empty() && s.file == "-")
    return usage_error(
        "--certificate with --state needs a file: a chain names transactions by line number, and "
        "standard input is numbered anew after a restart");
  if (s.certificate.ends_with(".gz") || s.certificate.ends_with(".zst"))
    return usage_error("watch does not compress its --certificate; expected another extension");
  return Ok{};
}

Exit watch_input(const WatchState& s) {
  const std::vector<std::string> outputs = {s.state, s.certificate, s.output.metrics};
  if (const Status spared = spare_inputs(outputs, std::array{s.file}); !spared.ok())
    return fail(spared.error());
  Budget reading;
  reading.stop_on_interrupt();
  KeptWatch kept(s.file, s.state, s.certificate, s.options);
  if (Status opened = kept.open(); !opened.ok()) return fail(opened.error());
  Watching watching(s.options, s.output);
  if (!s.state.empty() || !s.certificate.empty()) watching.keep(kept);
  if (s.follow) watching.end_with_sessions();
  auto input = open_input(s, kept, reading);
  if (!input.ok()) return interrupted(input.error()) ? watching.end() : fail(input.error());
  if (input->is_compressed() && !s.state.empty())
    return fail(usage_error("--state needs a file that is not compressed"));
  const Result<bool> whole = watching.read(*input);
  if (!whole.ok() && !interrupted(whole.error())) {
    const Error failure = input->located(whole.error());
    if (failure.kind == ErrorKind::bad_input && failure.line == 1)
      note("watch reads assay JSON Lines; 'assay convert' converts other formats");
    return fail(failure);
  }
  if (whole.ok() && *whole)
    if (Status over = watching.finish(); !over.ok()) return fail(input->located(over.error()));
  return watching.end();
}

Status can_listen(const WatchState& s) {
  if (s.listen.empty()) return Ok{};
  if (s.file != "-" || s.follow)
    return usage_error("--listen takes no file: recorders connect and send the lines");
  if (!s.state.empty() || !s.certificate.empty())
    return usage_error("--listen takes neither --state nor --certificate, which need a file");
  if (s.options.by_timestamps || !s.options.fence.empty())
    return usage_error(
        fmt::format("--listen does not take {}: after a lost connection nothing could be decided",
                    s.options.by_timestamps ? "--expected-order" : "--fence"));
  return Ok{};
}

Exit watch_recorders(WatchState& s) {
  auto server = LineServer::open(s.listen);
  if (!server.ok()) return fail(server.error());
  s.options.many_inputs = true;
  Watching watching(s.options, s.output);
  note("listening on " + server->address());
  if (Status over = watching.listen(*server); !over.ok()) return fail(over.error());
  return watching.end();
}

Exit watch_history(WatchState& s, const CLI::App& app) {
  if (Status can = can_have_together(app, s.options); !can.ok()) return fail(can.error());
  if (Status can = take_level(s.level, s.options); !can.ok()) return fail(can.error());
  if (s.follow && s.file == "-")
    return fail(usage_error("--follow takes a file; standard input is always read until it ends"));
  if (Status keep = can_keep(s); !keep.ok()) return fail(keep.error());
  if (Status listen = can_listen(s); !listen.ok()) return fail(listen.error());
  if (Status made = make_folder(s.output.alarms); !made.ok()) return fail(made.error());
  stop_checking_when_interrupted();
  return s.listen.empty() ? watch_input(s) : watch_recorders(s);
}

}  // namespace

Action add_watch(CLI::App& app) {
  auto s = std::make_shared<WatchState>();
  app.add_option("FILE", s->file, "lines of history (assay JSON Lines); - is standard input")
      ->capture_default_str()
      ->type_name("");
  s->level.add(app,
               "the level to watch: strict-serializable (the default) or linearizable; strong-si "
               "or session-si with --expected-order; session-serializable with --fence; others "
               "only within a --horizon, because they depend on the whole history");
  app.add_flag(
      "--follow", s->follow,
      "wait for more lines at the end of the file, and for the file if it does not exist yet, "
      "until all of --sessions have ended");
  app.add_option("--listen", s->listen,
                 "wait for recorders that connect to HOST:PORT or unix:PATH and send lines; each "
                 "session uses one connection")
      ->type_name("ADDRESS");
  const std::string group = app.option_defaults()->get_group();  // the group of all other flags
  add_watch_flags(app, s->options, group);
  add_timestamp_order(app, s->options);
  add_fence(app, s->options);
  add_watch_output(app, s->output, group);
  app.add_option("--certificate", s->certificate,
                 "write the chain of certificates of all that is decided, which grows as the "
                 "history does; 'assay verify' checks it")
      ->type_name("FILE");
  app.add_option("--state", s->state,
                 "file with what is needed to continue after the process has ended or was killed; "
                 "if it exists, continue from it")
      ->type_name("FILE");
  add_horizon(app, s->options, group);
  app.add_flag("--json", s->output.json,
               "one line of JSON for each alarm, unknown stretch and window");
  put_under(app, "Windows", {"--lateness", "--settle", "--window", "--keep"});
  return [s, &app] { return watch_history(*s, app); };
}

}  // namespace assay::internal::cli
