#include <fmt/format.h>
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

#include "assay/format.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "record/join.h"
#include "record/recording.h"
#include "record/rewriting.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

struct RecordState {
  record::RecordingOptions options;
  std::string history, from;
  std::vector<std::string> command;
  bool overwrite = false;
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

std::string summary_of(const record::Joined& j, const std::string& path) {
  const uint64_t all = j.committed + j.aborted + j.unknown;
  std::string out =
      fmt::format("{}: {} of the application: {} committed, {} aborted, {} of unknown outcome\n",
                  path, counted(all, "transaction", "transactions"), grouped(j.committed),
                  grouped(j.aborted), grouped(j.unknown));
  if (j.settled > 0)
    out += fmt::format("  {} settled by the log\n", counted(j.settled, "outcome", "outcomes"));
  out += fmt::format("  {} of others, from the log\n",
                     counted(j.foreign, "transaction", "transactions"));
  out += fmt::format("  statements on tables: {} recorded in full, {} in part, {} not\n",
                     grouped(j.full), grouped(j.partly), grouped(j.unread));
  if (!j.missed.empty()) out += fmt::format("    why: {}\n", reasons(j.missed));
  out += fmt::format("  versions read: {}", grouped(j.reads));
  if (j.nobodys > 0)
    out += fmt::format("; {} left out, as their writer is not known", grouped(j.nobodys));
  out += "\n";
  std::string level = "serializable";
  for (const auto& [isolation, times] : j.isolations) {
    out += fmt::format("  {} that wrote at {}\n", counted(times, "transaction", "transactions"),
                       isolation);
    if (j.isolations.size() == 1) level = level_of(isolation);
  }
  if (!j.log_ended)
    out += "  the recording was cut off: what others wrote near its end is not known\n";
  return out + fmt::format("next: assay check {} --level serializable{}\n", path,
                           level == "serializable" ? "" : fmt::format(" --level {}", level));
}

Exit join_and_tell(const std::string& trace, const std::string& path) {
  const auto text = read_file(trace, UINT64_MAX);
  if (!text.ok()) return fail(text.error());
  const auto joined = record::join(*text, trace);
  if (!joined.ok()) return fail(joined.error());
  const auto losses = write_history(joined->history, path, "assay");
  if (!losses.ok()) return fail(losses.error());
  const Status printed = print(summary_of(*joined, path));
  return printed.ok() ? Exit::satisfied : fail(printed.error());
}

// The application, as a process whose end ends the recording. It finds the way by the variables of PostgreSQL's clients.
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
  // How it ended, where that is worth a word.
  std::string ended() {
    if (!waiting_.joinable()) return {};
    waiting_.join();
    if (WIFSIGNALED(status_)) return fmt::format("it was ended by signal {}", WTERMSIG(status_));
    if (WEXITSTATUS(status_) == 0) return {};
    return fmt::format("it ended with exit code {}", WEXITSTATUS(status_));
  }

 private:
  pid_t process_ = 0;
  int status_ = 0;
  std::thread waiting_;
};

Exit record_application(RecordState& s) {
  if (!s.overwrite && access(s.history.c_str(), F_OK) == 0)
    return fail(
        usage_error(fmt::format("{} exists; expected another --history, or --force", s.history)));
  if (!s.from.empty()) {
    if (Status spared = spare_inputs({&s.history, 1}, {&s.from, 1}); !spared.ok())
      return fail(spared.error());
    return join_and_tell(s.from, s.history);
  }
  if (s.options.database.empty())
    return fail(usage_error("expected --database, or ASSAY_DATABASE_URL in the environment"));
  if (Status can = can_write(s.history); !can.ok()) return fail(can.error());
  s.options.trace = s.history + ".trace";
  if (!s.overwrite && access(s.options.trace.c_str(), F_OK) == 0)
    return fail(usage_error(fmt::format(
        "{0} exists, and may be all that is left of a recording that was cut off; expected --from "
        "{0} to make its history, another --history, or --force",
        s.options.trace)));
  const std::atomic<bool>& stop = stop_driving_when_interrupted();
  auto recording = record::Recording::open(s.options);
  if (!recording.ok()) return fail(recording.error());
  if (s.command.empty())
    note(fmt::format(
        "listening: connect the application to {}, with its own user and password, without TLS "
        "(sslmode=disable, channel_binding=disable); Ctrl-C ends the recording",
        (*recording)->url()));
  Application application;
  if (Status started = application.start(s.command, **recording); !started.ok()) {
    std::remove(s.options.trace.c_str());  // nothing was seen
    return fail(started.error());
  }
  if (Status ran = (*recording)->run(stop); !ran.ok()) {
    note(fmt::format("what was seen is in {}", s.options.trace));
    return fail(ran.error());
  }
  if (const std::string how = application.ended(); !how.empty()) note(s.command[0] + ": " + how);
  note(fmt::format("{} recorded; statements are understood by the grammar of PostgreSQL {}",
                   counted((*recording)->connections(), "connection", "connections"),
                   record::Rewriter::grammar()));
  return join_and_tell(s.options.trace, s.history);
}

}  // namespace

Action add_record(CLI::App& app) {
  auto s = std::make_shared<RecordState>();
  app.add_option(
         "--database", s->options.database,
         "the database of the application, and a user who may read its log (REPLICATION); by "
         "default ASSAY_DATABASE_URL")
      ->type_name("URL");
  app.add_option(
         "--listen", s->options.listen,
         "where the application connects: HOST:PORT or unix:PATH; port 0 is any that is free")
      ->capture_default_str()
      ->type_name("ADDRESS");
  app.add_option("--history", s->history,
                 "write the history here; what is seen goes meanwhile into FILE.trace")
      ->required()
      ->type_name("FILE");
  app.add_option(
         "--first-rows", s->options.first_rows,
         "read so many rows before anybody changes them, of tables that have no more, so that "
         "explanations show what they held")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--from", s->from,
                 "make the history of the trace of an earlier recording, one that was killed, say")
      ->type_name("FILE");
  app.add_option(
         "COMMAND", s->command,
         "the application, behind --; PGHOST, PGPORT and the like tell it where to connect, and "
         "its end ends the recording")
      ->type_name("");
  app.add_flag("--force", s->overwrite, "replace the --history file and its trace if they exist");
  return [s] {
    if (s->options.database.empty()) {
      std::vector<std::string> databases;
      take_databases_from_environment(databases);
      if (!databases.empty()) s->options.database = databases.front();
    }
    return record_application(*s);
  };
}

}  // namespace assay::internal::cli
