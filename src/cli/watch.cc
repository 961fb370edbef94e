#include <fmt/format.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/format.h"
#include "assay/verify.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/interrupts.h"
#include "cli/watch_flags.h"
#include "cli/whole_file.h"
#include "formats/assay_jsonl_chunks.h"
#include "formats/input.h"
#include "report/report.h"
#include "report/summary.h"
#include "watch/watcher.h"

namespace assay::internal::cli {
namespace {

using watch::Progress;
using watch::Undecided;
using Steady = std::chrono::steady_clock;

// How long new lines are waited for before what has come is decided, and how often a line tells how far watching is.
constexpr double kSecondsOfWaiting = 0.2;
constexpr double kSecondsBetweenLines = 10;
constexpr int kMillisecondsOfSleep = 10;

struct WatchState {
  std::string file = "-";
  LevelFlags level;
  watch::WatchOptions options;
  bool follow = false;
  bool json = false;
  bool fail_fast = false;
  std::string alarms;
  std::string metrics;
};

double seconds_since(Steady::time_point t) {
  return std::chrono::duration<double>(Steady::now() - t).count();
}

Status print_json(const nlohmann::ordered_json& line) {
  using Json = nlohmann::ordered_json;
  return print(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

// Tells of alarms and of what stays undecided, as they come.
class Announcer : public watch::WatchListener {
 public:
  explicit Announcer(const WatchState& s) : s_(s) {}

  void alarm(Audit&& violation, const std::string& left_out) override {
    ++alarms_;
    const std::string name = fmt::format("alarm-{}", alarms_);
    std::string history, certificate;
    if (!s_.alarms.empty()) {
      history = s_.alarms + "/" + name + ".jsonl";
      certificate = s_.alarms + "/" + name + ".cert.json";
      if (Status s = write(violation, history, certificate); !s.ok()) failure_ = s.error();
    }
    keep(s_.json ? alarm_as_json(violation, left_out, history, certificate)
                 : alarm_as_text(violation, left_out, history));
  }

  void undecided(const Undecided& what) override {
    if (s_.json) {
      keep(print_json({{"unknown", what.about},
                       {"reason", what.reason},
                       {"at", what.at},
                       {"resumed", what.resumed}}));
    } else {
      keep(print(fmt::format(
          "unknown: {}: {}; {}\n", what.about, what.reason,
          what.resumed ? "they are dropped, and watching begins anew" : "it is left out")));
    }
  }

  uint64_t alarms() const { return alarms_; }
  // Of the first output that could not be written.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void keep(const Status& s) {
    if (!s.ok() && !failure_) failure_ = s.error();
  }

  static Status write(const Audit& violation, const std::string& history,
                      const std::string& certificate) {
    if (const auto losses = write_history(violation.history, history, "assay"); !losses.ok())
      return losses.error();
    return write_file(certificate,
                      write_certificates(certificates_of(violation), violation.history));
  }

  Status alarm_as_json(const Audit& violation, const std::string& left_out,
                       const std::string& history, const std::string& certificate) const {
    const Explanation& e = violation.explanations[0];
    nlohmann::ordered_json line = {{"alarm", alarms_},
                                   {"level", level_info(s_.options.level).name},
                                   {"anomaly", anomaly_info(e.anomaly).name},
                                   {"transactions", nlohmann::ordered_json::array()},
                                   {"left_out", left_out},
                                   {"explanation", e.sentences}};
    for (const TxnId t : e.transactions) line["transactions"].push_back(violation.history.name(t));
    if (!history.empty()) line["history"] = history;
    if (!certificate.empty()) line["certificate"] = certificate;
    return print_json(line);
  }

  Status alarm_as_text(const Audit& violation, const std::string& left_out,
                       const std::string& history) const {
    std::string text =
        fmt::format("alarm {}: {} is violated, {}\n", alarms_, level_info(s_.options.level).name,
                    anomaly_info(violation.explanations[0].anomaly).name);
    for (const std::string& sentence : violation.explanations[0].sentences)
      text += "  " + sentence + "\n";
    if (!history.empty()) text += fmt::format("  history and certificate: {}\n", history);
    return print(text + fmt::format("  {} is left out, and watching goes on\n", left_out));
  }

  const WatchState& s_;
  uint64_t alarms_ = 0;
  std::optional<Error> failure_;
};

// For Prometheus.
std::string metrics_text(const Progress& p) {
  struct Metric {
    std::string_view name, type, help;
    double value;
  };
  const double behind = p.now == Interval::kUnknown || p.mark == Interval::kUnknown
                            ? 0
                            : static_cast<double>(p.now - std::min(p.now, p.mark)) / 1e9;
  const Metric metrics[] = {
      {"assay_transactions_total", "counter", "transactions reported",
       static_cast<double>(p.transactions)},
      {"assay_decided_total", "counter", "transactions decided", static_cast<double>(p.decided)},
      {"assay_alarms_total", "counter", "violations", static_cast<double>(p.alarms)},
      {"assay_unknown_total", "counter", "stretches that could not be decided",
       static_cast<double>(p.undecided)},
      {"assay_buffered_transactions", "gauge", "transactions not yet decided",
       static_cast<double>(p.buffered)},
      {"assay_kept_transactions", "gauge", "decided transactions that are kept",
       static_cast<double>(p.kept)},
      {"assay_live_keys", "gauge", "keys that were written", static_cast<double>(p.live_keys)},
      {"assay_mark_behind_seconds", "gauge", "from the mark to the latest time reported", behind},
  };
  std::string text;
  for (const Metric& m : metrics)
    text +=
        fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n{0} {3}\n", m.name, m.type, m.help, m.value);
  return text;
}

class Watch {
 public:
  explicit Watch(const WatchState& s) : s_(s), announcer_(s), watcher_(s.options, announcer_) {
    reading_.heed_interrupts();
  }

  Exit run() {
    auto input = s_.follow ? formats::Input::follow(s_.file, &reading_)
                           : formats::Input::open(s_.file, &reading_);
    if (!input.ok()) return interrupted(input.error()) ? end() : fail(input.error());
    if (const Status s = read(*input); !s.ok() && !interrupted(s.error())) {
      if (!stopped_) return fail(input->located(s.error()));
    }
    if (announcer_.failure()) return fail(*announcer_.failure());
    return end();
  }

 private:
  static bool interrupted(const Error& e) { return e.kind == ErrorKind::budget; }
  bool is_enough() {
    stopped_ = announcer_.failure() || (s_.fail_fast && announcer_.alarms() > 0);
    return stopped_;
  }

  Status read(formats::Input& input) {
    std::vector<ReadNote> notes;
    formats::JsonlChunks chunks(input, notes);
    for (bool at_end = false; !at_end && !is_enough();) {
      if (Status s = wait(input); !s.ok()) return s;
      auto chunk = chunks.next(s_.options.window);
      if (!chunk.ok()) return interrupted(chunk.error()) ? watcher_.decide_sealed() : chunk.error();
      at_end = chunk->end;
      if (Status s = watcher_.add(std::make_shared<const History>(std::move(chunk->history)));
          !s.ok())
        return s;
      if (Status s = chunks.settle(watcher_.overdue()); !s.ok()) return s;
      for (const ReadNote& n : notes) note(n.message);
      notes.clear();
      if (at_end && !is_enough()) return watcher_.finish();
      if (Status s = tell(false); !s.ok()) return s;
    }
    return Ok{};
  }

  // For lines. What has come is decided when none follow.
  Status wait(const formats::Input& input) {
    const auto since = Steady::now();
    bool decided = false;
    while (input.would_wait() && !Budget::interrupted() && !is_enough()) {
      if (!decided && seconds_since(since) > kSecondsOfWaiting) {
        if (Status s = watcher_.decide_sealed(); !s.ok()) return s;
        if (Status s = tell(false); !s.ok()) return s;
        decided = true;
      }
      poll(nullptr, 0, kMillisecondsOfSleep);
    }
    return Ok{};
  }

  Status tell(bool last) {
    if (!last && seconds_since(told_) < (s_.metrics.empty() ? kSecondsBetweenLines : 1))
      return Ok{};
    told_ = Steady::now();
    const Progress& p = watcher_.progress();
    if (!s_.metrics.empty()) {
      WholeFile file(s_.metrics);
      if (Status s = file.write(metrics_text(p)); !s.ok()) return s;
      if (Status s = file.close(); !s.ok()) return s;
    }
    if (s_.json) return print_json(as_json(p, last));
    if (last) return print(sentence(p));
    if (seconds_since(line_) < kSecondsBetweenLines) return Ok{};
    line_ = Steady::now();
    return print(sentence(p));
  }

  static nlohmann::ordered_json as_json(const Progress& p, bool last) {
    return {{last ? "end" : "window", p.decided},
            {"transactions", p.transactions},
            {"alarms", p.alarms},
            {"unknown", p.undecided},
            {"buffered", p.buffered},
            {"kept", p.kept},
            {"live_keys", p.live_keys}};
  }

  std::string sentence(const Progress& p) const {
    return fmt::format("{}: {} decided, {}, {} unknown; {} not yet decided, {} live keys\n",
                       level_info(s_.options.level).name,
                       counted(p.decided, "transaction", "transactions"),
                       counted(p.alarms, "alarm", "alarms"), p.undecided, p.buffered, p.live_keys);
  }

  Exit end() {
    if (Status s = tell(true); !s.ok()) return fail(s.error());
    const Progress& p = watcher_.progress();
    if (p.alarms > 0) return Exit::violated;
    return p.undecided > 0 ? Exit::unknown : Exit::satisfied;
  }

  const WatchState& s_;
  Announcer announcer_;
  watch::Watcher watcher_;
  Budget reading_;
  bool stopped_ = false;
  Steady::time_point told_ = Steady::now();
  Steady::time_point line_ = Steady::now();
};

Exit watch_history(WatchState& s) {
  if (s.level.levels.size() > 1) return fail(usage_error("--level: expected one level"));
  if (!s.level.levels.empty()) s.options.level = s.level.levels[0];
  if (Status can = watch::can_watch(s.options.level); !can.ok()) return fail(can.error());
  if (s.follow && s.file == "-")
    return fail(usage_error("--follow takes a file; standard input is read until it ends"));
  if (!s.alarms.empty()) {
    std::error_code error;
    std::filesystem::create_directories(s.alarms, error);
    if (error) return fail(io_error(error.message(), s.alarms));
  }
  stop_checking_when_interrupted();
  return Watch(s).run();
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
  app.add_option("--alarms", s->alarms,
                 "folder for the history and the certificate of each alarm, alarm-1.jsonl and "
                 "alarm-1.cert.json")
      ->type_name("FOLDER");
  app.add_option("--metrics", s->metrics, "write numbers for Prometheus there, once a second")
      ->type_name("FILE");
  app.add_flag("--fail-fast", s->fail_fast, "end at the first alarm");
  app.add_flag("--json", s->json, "one line of JSON for each alarm, unknown stretch and window");
  return [s] { return watch_history(*s); };
}

}  // namespace assay::internal::cli
