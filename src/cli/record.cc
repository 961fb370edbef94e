#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/record_watch.h"
#include "cli/shrinking.h"
#include "formats/input.h"
#include "record/history_file.h"
#include "record/join.h"
#include "record/recording.h"
#include "record/rewriting.h"
#include "report/report.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

// Gives the same result on every machine, and takes seconds on most.
constexpr uint64_t kShrinkEffort = 20'000'000;

struct RecordState {
  record::RecordingOptions options;
  std::string history, from;
  std::vector<std::string> command;
  bool overwrite = false, until_input_ends = false, watch = false;
  CheckFlags check;
};

// "a sub-select 12, UNION 3"
std::string reasons(const std::map<std::string, uint64_t>& missed) {
  std::vector<std::pair<uint64_t, std::string>> most;
  for (const auto& [why, times] : missed) most.emplace_back(times, why);
  std::sort(most.rbegin(), most.rend());
  std::string out;
  for (const auto& [times, why] : most)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", why, grouped(times));
  return out;
}

std::string_view level_of(std::string_view isolation) {
  if (isolation == "serializable") return "serializable";
  if (isolation == "repeatable read") return "adya-si";
  return "read-committed";
}

std::string summary_of(const record::Joined& j, const std::string& path, bool checked) {
  const uint64_t all = j.committed + j.aborted + j.unknown;
  std::string out =
      fmt::format("{}: {} of the application: {} committed, {} aborted, {} of unknown outcome\n",
                  path, counted(all, "transaction", "transactions"), grouped(j.committed),
                  grouped(j.aborted), grouped(j.unknown));
  if (j.settled > 0)
    out += fmt::format("  {} settled by the log\n", counted(j.settled, "outcome", "outcomes"));
  out += fmt::format("  {} by others, from the log\n",
                     counted(j.foreign, "transaction", "transactions"));
  if (j.unnumbered > 0)
    out += fmt::format(
        "  {} of the application changed rows, but it is unknown which: those changes count as "
        "made by others\n",
        counted(j.unnumbered, "transaction", "transactions"));
  out += fmt::format("  statements on tables: {} recorded in full, {} in part, {} not\n",
                     grouped(j.full), grouped(j.partly), grouped(j.unread));
  if (!j.missed.empty()) out += fmt::format("    why: {}\n", reasons(j.missed));
  out += fmt::format("  versions read: {}", grouped(j.reads));
  if (j.unattributed > 0)
    out += fmt::format("; {} left out, because their writer is unknown", grouped(j.unattributed));
  out += "\n";
  std::string level = "serializable";
  for (const auto& [isolation, times] : j.isolations) {
    out += fmt::format("  {} that wrote at {}\n", counted(times, "transaction", "transactions"),
                       isolation);
    if (j.isolations.size() == 1) level = level_of(isolation);
  }
  if (!j.log_ended)
    out += "  the recording was cut off: what others wrote near its end is unknown\n";
  if (checked) return out;
  if (all + j.foreign == 0)
    return out + "nothing was recorded: did the application connect to the recorder?\n";
  return out + fmt::format("next: assay check {} --level serializable{}\n", path,
                           level == "serializable" ? "" : fmt::format(" --level {}", level));
}

// Reports the verdict and, for a violation, the few transactions that show it.
Exit check_recorded(const RecordState& s) {
  Audit c = check_file(s.history, s.check);
  const Exit verdict = deliver(c, s.check);
  if (verdict != Exit::violated || s.check.output.json) return verdict;
  // If the output is that of a test, no other step would write them.
  if (std::getenv("GITHUB_ACTIONS") != nullptr && !s.options.test.empty())
    if (const Status said = print("\n" + start_github({})->add(c)); !said.ok())
      return fail(said.error());
  CheckFlags shrinking = s.check;
  if (shrinking.budget.effort == 0) shrinking.budget.effort = kShrinkEffort;
  for (const Verdict& v : c.result.verdicts) {
    if (v.outcome != Outcome::violated) continue;
    const Status said = print(
        fmt::format("\nThe smallest part that still violates {}:\n", level_info(v.level).name));
    if (!said.ok()) return fail(said.error());
    if (write_smallest(c, v.level, shrinking, "-", "hist") != Exit::satisfied)
      note(fmt::format("not shrunk; the history is in {}", s.history));
  }
  return verdict;
}

Result<record::Joined> join_file(const std::string& trace, const std::string& history) {
  auto input = formats::Input::open(trace, nullptr);
  if (!input.ok()) return input.error();
  return record::join_to_file(*input, history);
}

// `watch`: what has watched the recording so far; null if nothing has.
Exit join_and_tell(const RecordState& s, const std::string& trace, RecordWatch* watch) {
  const auto joined = watch != nullptr ? watch->finish() : join_file(trace, s.history);
  if (!joined.ok()) return fail(joined.error());
  const bool checked = !s.check.levels.levels.empty();
  const std::string summary = summary_of(*joined, s.history, checked);
  const Status printed = s.check.output.json ? Status(Ok{}) : print(summary);
  if (!printed.ok()) return fail(printed.error());
  if (watch != nullptr) return watch->end();
  return checked ? check_recorded(s) : Exit::satisfied;
}

// Standard input: the process that started the recording ends it by closing this, or by ending.
class Input {
 public:
  void end_with_it() {
    waiting_ = std::jthread([](const std::stop_token& over) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      char ignored[256];
      while (!over.stop_requested())
        if (poll(&input, 1, kLook) > 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0)
          return stop_driving_now();
    });
  }

 private:
  static constexpr int kLook = 100;  // milliseconds between two checks for the end
  std::jthread waiting_;
};

// The application, as a process whose end ends the recording. It finds the recorder by the
// variables of PostgreSQL's clients.
class Application {
 public:
  Status start(const std::vector<std::string>& command, const record::Recording& recording) {
    if (command.empty()) return Ok{};
    for (const auto& [name, value] : recording.environment())
      setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    if (const int failed =
            posix_spawnp(&process_, words[0], nullptr, nullptr, words.data(), environ))
      return usage_error(fmt::format("{}: {}", command[0], strerror(failed)));
    waiting_ = std::thread([this] {
      waitpid(process_, &status_, 0);
      stop_driving_now();
    });
    return Ok{};
  }
  ~Application() {
    if (waiting_.joinable()) waiting_.join();
  }
  // Says how it ended, if that is worth a word.
  std::string ended() {
    if (!waiting_.joinable()) return {};
    waiting_.join();
    if (WIFSIGNALED(status_)) return fmt::format("was ended by signal {}", WTERMSIG(status_));
    if (WEXITSTATUS(status_) == 0) return {};
    return fmt::format("ended with exit code {}", WEXITSTATUS(status_));
  }

 private:
  pid_t process_ = 0;
  int status_ = 0;
  std::thread waiting_;
};

// Flags about a verdict need a verdict.
Status can_check(const RecordState& s, const CLI::App& app) {
  if (!s.check.levels.levels.empty()) return outputs_writable(s.check.output, {&s.history, 1});
  return refuse_flags(app,
                      {"--json", "--stats", "--report", "--certificate", "--baseline",
                       "--write-baseline", "--require-contention"},
                      "needs a verdict; expected --level with it");
}

// Returns null without --watch.
Result<std::unique_ptr<RecordWatch>> begin_watch(const RecordState& s, const std::string& trace) {
  std::unique_ptr<RecordWatch> watch;
  if (!s.watch) return watch;
  auto options = watch_of_recording(s.check.levels);
  if (!options.ok()) return options.error();
  WatchOutput output;
  output.json = s.check.output.json;
  watch = std::make_unique<RecordWatch>(*options, output, trace, s.history);
  return watch;
}

Status can_watch_recording(const RecordState& s, const CLI::App& app) {
  if (!s.watch) return Ok{};
  Status can = refuse_flags(app,
                            {"--stats", "--report", "--certificate", "--baseline",
                             "--write-baseline", "--require-contention"},
                            "needs a history that has ended; expected --watch without it");
  if (!can.ok()) return can;
  const auto options = watch_of_recording(s.check.levels);
  return options.ok() ? Status(Ok{}) : Status(options.error());
}

Exit record_application(RecordState& s, const CLI::App& app) {
  if (Status can = can_check(s, app); !can.ok()) return fail(can.error());
  if (Status can = can_watch_recording(s, app); !can.ok()) return fail(can.error());
  if (!s.overwrite && access(s.history.c_str(), F_OK) == 0)
    return fail(
        usage_error(fmt::format("{} exists; expected another --history, or --force", s.history)));
  if (!s.from.empty()) {
    if (Status spared = spare_inputs({&s.history, 1}, {&s.from, 1}); !spared.ok())
      return fail(spared.error());
    const auto watch = begin_watch(s, s.from);
    return watch.ok() ? join_and_tell(s, s.from, watch->get()) : fail(watch.error());
  }
  if (s.options.database.empty())
    return fail(usage_error("expected --database, or ASSAY_DATABASE_URL in the environment"));
  if (Status can = can_write(s.history); !can.ok()) return fail(can.error());
  s.options.trace = s.history + ".trace";
  if (!s.overwrite && access(s.options.trace.c_str(), F_OK) == 0)
    return fail(usage_error(
        fmt::format("{0} exists and may be the trace of a recording that was cut off; expected "
                    "--from {0} to make its history, another --history, or --force",
                    s.options.trace)));
  const std::atomic<bool>& stop = stop_driving_when_interrupted();
  auto recording = record::Recording::open(s.options);
  if (!recording.ok()) return fail(recording.error());
  if (s.command.empty())
    note(
        fmt::format("listening: connect the application to {}, with its own user and password and "
                    "channel_binding=disable; Ctrl-C ends the recording",
                    (*recording)->url()));
  Input input;
  if (s.until_input_ends) input.end_with_it();
  Application application;
  if (Status started = application.start(s.command, **recording); !started.ok()) {
    std::remove(s.options.trace.c_str());  // nothing was seen
    return fail(started.error());
  }
  const auto watch = begin_watch(s, s.options.trace);
  if (!watch.ok()) return fail(watch.error());
  if (Status ran = (*recording)->run(stop); !ran.ok()) {
    note(fmt::format("the trace is in {}", s.options.trace));
    return fail(ran.error());
  }
  const std::string how = application.ended();
  if (!how.empty()) note(s.command[0] + " " + how);
  note(fmt::format("{} recorded; statements are parsed with the grammar of PostgreSQL {}",
                   counted((*recording)->connections(), "connection", "connections"),
                   record::Rewriter::grammar()));
  // A test suite that failed is not a success, whatever its transactions were.
  const Exit verdict = join_and_tell(s, s.options.trace, watch->get());
  return how.empty() || verdict != Exit::satisfied ? verdict : Exit::usage;
}

}  // namespace

Action add_record(CLI::App& app) {
  auto s = std::make_shared<RecordState>();
  app.add_option("--database", s->options.database,
                 "the application's database, with a user who may read its log (REPLICATION); by "
                 "default ASSAY_DATABASE_URL")
      ->type_name("URL");
  app.add_option("--listen", s->options.listen,
                 "where the application connects: HOST:PORT or unix:PATH; port 0 picks a free one")
      ->capture_default_str()
      ->type_name("ADDRESS");
  CLI::Option* const certificate =
      app.add_option("--tls-cert", s->options.tls_certificate,
                     "the certificate for clients that connect with TLS (PEM); by default a "
                     "self-signed one is made")
          ->type_name("FILE");
  CLI::Option* const key =
      app.add_option("--tls-key", s->options.tls_key, "its private key (PEM, without a password)")
          ->needs(certificate)
          ->type_name("FILE");
  certificate->needs(key);
  app.add_option(
         "--history", s->history,
         "write the history here; during the recording, what is observed goes to FILE.trace")
      ->required()
      ->type_name("FILE");
  app.add_option("--first-rows", s->options.first_rows,
                 "at the start, read the rows of tables that have at most N in all, so that "
                 "explanations show what rows held before they were changed")
      ->capture_default_str()
      ->type_name("N");
  CLI::Option* const no_values =
      app.add_flag("--no-values", s->options.no_values,
                   "keep the database's values out of the files: each is replaced by a number, and "
                   "constants are removed from statements");
  app.add_option("--from", s->from,
                 "make the history from the trace of an earlier recording, such as a killed one")
      ->excludes(no_values)
      ->type_name("FILE");
  app.add_option("COMMAND", s->command,
                 "the application's command, after --; PGHOST, PGPORT and the like set where it "
                 "connects, and the recording ends when it does")
      ->type_name("");
  app.add_option("--test", s->options.test,
                 "the test that starts the recording, named in annotations of a change")
      ->type_name("FILE:LINE");
  app.add_flag("--until-input-ends", s->until_input_ends,
               "also end the recording when standard input ends: for a program that starts it");
  app.add_flag("--watch", s->watch,
               "check the recording as it grows, as watch does, at --level or strict-serializable");
  s->check.levels.add(app,
                      "a level to decide once the recording has ended; the exit code is then the "
                      "verdict, and the smallest part of a violation is shown");
  s->check.output.add(app);
  s->check.budget.add(app);
  add_require_contention(app, s->check.require_contention);
  put_under(app, kReports, {"--certificate"});
  app.add_flag("--force", s->overwrite, "replace the --history file and its trace if they exist");
  return [s, &app] {
    if (s->options.database.empty()) {
      std::vector<std::string> databases;
      take_databases_from_environment(databases);
      if (!databases.empty()) s->options.database = databases.front();
    }
    return record_application(*s, app);
  };
}

}  // namespace assay::internal::cli
