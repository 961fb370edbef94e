#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>

#include "assay/format.h"
#include "base/memory.h"
#include "base/rng.h"
#include "cli/console.h"
#include "cli/keys.h"
#include "cli/suggestion.h"
#include "cli/units.h"
#include "collect/url.h"
#include "history/level_name.h"
#include "report/report.h"

namespace assay::internal::cli {
namespace {

constexpr Distribution kDistributions[] = {Distribution::uniform, Distribution::zipfian,
                                           Distribution::hotspot, Distribution::exponential};

// Names to which users of SQL give different meanings.
struct SqlName {
  std::string_view name;
  std::string_view meaning;
};
constexpr SqlName kSqlNames[] = {
    {"repeatable-read",
     "most databases use that name for snapshot isolation; Adya's repeatable read is pl-2.99"},
    {"read-uncommitted", "Adya's definition, in which only the order of writes counts"},
};

LevelId level_of(const std::string& flag, const std::string& name) {
  const auto id = find_level(name);
  if (!id) {
    const std::vector<std::string> names = names_of(named_levels(), &LevelInfo::name);
    const std::string asked = flag.substr(0, flag.find(','));
    if (internal::is_neighbour(name)) bad_flag(asked, internal::no_level(name));
    bad_flag(asked,
             fmt::format("{}{}; expected one of {}, or one of the groups all, adya, "
                         "session-guarantees",
                         internal::no_level(name), did_you_mean(name, names), listed(names)));
  }
  for (const SqlName& sql : kSqlNames)
    if (internal::plain_level_name(name) == sql.name)
      note(fmt::format("'{}' is taken to mean {}: {}", name, level_info(*id).name, sql.meaning));
  return *id;
}

// Adds an option whose text `parse` converts to an amount for `take`.
template <class Amount>
CLI::Option* add_amount(CLI::App& app, const std::string& flag,
                        Result<Amount> (*parse)(std::string_view),
                        const std::function<void(Amount)>& take, const std::string& help) {
  const auto read = [flag, parse, take](const std::string& text) {
    const Result<Amount> amount = parse(text);
    if (!amount.ok()) bad_flag(flag, amount.error().message);
    take(*amount);
  };
  return app.add_option_function<std::string>(flag, read, help);
}

void expect_one_of(const std::vector<std::string>& names, const std::string& flag,
                   const std::string& what, const std::string& name) {
  if (std::ranges::find(names, name) == names.end())
    bad_flag(flag, fmt::format("unknown {} '{}'{}; expected one of {}", what, name,
                               did_you_mean(name, names), listed(names)));
}

}  // namespace

void bad_flag(const std::string& flag, const std::string& message) {
  throw CLI::ValidationError(flag, message);
}

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

CLI::Option* add_choice(CLI::App& app, const std::string& flag, const std::string& what,
                        const std::vector<std::string>& names,
                        const std::function<void(const std::string&)>& take,
                        const std::string& help) {
  const auto read = [=](const std::string& name) {
    expect_one_of(names, flag, what, name);
    take(name);
  };
  return app.add_option_function<std::string>(flag, read, help);
}

CLI::Option* add_choices(CLI::App& app, const std::string& flag, const std::string& what,
                         const std::vector<std::string>& names,
                         const std::function<void(const std::string&)>& take,
                         const std::string& help) {
  const auto read = [=](const std::vector<std::string>& chosen) {
    for (const std::string& name : chosen) {
      expect_one_of(names, flag, what, name);
      take(name);
    }
  };
  return app.add_option_function<std::vector<std::string>>(flag, read, help)
      ->delimiter(',')
      ->allow_extra_args(false);
}

CLI::Option* add_seconds(CLI::App& app, const std::string& flag, double& seconds,
                         const std::string& help) {
  const auto take = [&seconds](double amount) { seconds = amount; };
  return add_amount<double>(app, flag, parse_seconds, take, help)->type_name("TIME");
}

CLI::Option* add_nanoseconds(CLI::App& app, const std::string& flag, int64_t& nanoseconds,
                             const std::string& help) {
  const auto take = [flag, &nanoseconds](double amount) {
    if (amount * 1e9 > 9e18) bad_flag(flag, "expected at most 285 years");
    nanoseconds = std::llround(amount * 1e9);
  };
  return add_amount<double>(app, flag, parse_seconds, take, help)->type_name("TIME");
}

CLI::Option* add_bytes(CLI::App& app, const std::string& flag, uint64_t& bytes,
                       const std::string& help) {
  const auto take = [&bytes](uint64_t amount) { bytes = amount; };
  return add_amount<uint64_t>(app, flag, parse_bytes, take, help)->type_name("SIZE");
}

void add_share(CLI::App& app, const std::string& flag, double& share, const std::string& help) {
  app.add_option(flag, share, help)
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("0…1")
      ->group(keys_of("--workload"));
}

Status refuse_flags(const CLI::App& app, std::initializer_list<const char*> flags,
                    std::string_view why) {
  for (const char* flag : flags) {
    const CLI::Option* option = app.get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0)
      return usage_error(fmt::format("{} {}", flag, why));
  }
  return Ok{};
}

void put_under(CLI::App& app, const std::string& heading,
               std::initializer_list<const char*> flags) {
  for (const char* flag : flags) app.get_option(flag)->group(heading);
}

void LevelFlags::add(CLI::App& app, const std::string& help, bool required) {
  add_as(app, "--level,-l", help)->required(required);
}

CLI::Option* LevelFlags::add_as(CLI::App& app, const std::string& flag, const std::string& help) {
  return app
      .add_option_function<std::vector<std::string>>(
          flag,
          [this, flag](const std::vector<std::string>& names) {
            for (const std::string& name : names) {
              const std::vector<LevelId> group = level_group(name);
              levels.insert(levels.end(), group.begin(), group.end());
              if (!group.empty()) continue;
              if (aborted_reads != nullptr && internal::plain_level_name(name) == "opacity") {
                *aborted_reads = true;
                levels.push_back(LevelId::strict_serializable);
                note("'opacity' means strict-serializable with --aborted-reads");
              } else if (definition != nullptr && name.ends_with(".toml")) {
                if (!std::exchange(*definition, name).empty())
                  bad_flag(flag, "expected one level file");
                levels.push_back(LevelId::defined);
              } else {
                levels.push_back(level_of(flag, name));
              }
            }
          },
          help)
      ->type_name("LEVEL")
      ->allow_extra_args(false)
      ->delimiter(',');
}

void BudgetFlags::add(CLI::App& app) {
  add_seconds(app, "--time", seconds,
              "time limit: 60s, 2m, 1h; verdicts reached by then are reported");
  add_bytes(app, "--memory", memory_bytes,
            "memory limit for the whole process: 4G, 512M; by default nine tenths of the free "
            "memory");
  app.add_option(
         "--effort", effort,
         "limit on the work, in transactions, edges and decisions examined; the same in every run")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62))
      ->type_name("N");
  put_under(app, kLimits, {"--time", "--memory", "--effort"});
}

// A process that the system kills because of its memory prints no message: the budget's limit ends
// it before that.
Budget BudgetFlags::budget() const {
  if (memory_bytes > 0) return_large_blocks();
  const uint64_t most = memory_bytes > 0 ? memory_bytes : available_memory_bytes() / 10 * 9;
  Budget budget(seconds, most, effort);
  budget.stop_on_interrupt();
  return budget;
}

void add_without(CLI::App& app, SpeedUps& speed_ups) {
  std::string help = "decide without these speed-ups, which changes no verdict. ";
  for (const SpeedUpInfo& info : all_speed_ups())
    help += fmt::format("{}: {}; ", info.name, info.summary);
  help.resize(help.size() - 2);
  add_choices(
      app, "--without", "speed-up", names_of(all_speed_ups(), &SpeedUpInfo::name),
      [&speed_ups](const std::string& name) { speed_ups.leave_out(*find_speed_up(name)); }, help)
      ->type_name("NAME,...")
      ->group(kSpeedUpsGroup);
}

void add_engine(CLI::App& app, EngineId& engine) {
  add_choice(
      app, "--engine", "engine", {"graph", "dbcop"},
      [&engine](const std::string& name) {
        engine = name == "graph" ? EngineId::graph : EngineId::dbcop;
      },
      "how strong levels are decided: graph, or dbcop for dbcop's search over prefixes, which "
      "suits few sessions and short histories")
      ->default_str("graph")
      ->type_name("NAME");
}

void add_seed(CLI::App& app, uint64_t& seed) {
  app.add_option("--seed", seed, "seed of the random numbers")
      ->capture_default_str()
      ->type_name("N");
}

void add_statement_timeout(CLI::App& app, std::chrono::milliseconds& timeout) {
  const auto take = [&timeout](double seconds) {
    timeout = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  };
  add_amount<double>(app, "--statement-timeout", parse_seconds, take, "time limit of one statement")
      ->default_str(fmt::format("{}s", timeout.count() / 1000))
      ->type_name("TIME");
}

std::vector<std::string> formats_that(bool FormatInfo::*can) {
  std::vector<std::string> names;
  for (const FormatInfo& f : all_formats())
    if (f.*can) names.emplace_back(f.name);
  return names;
}

void ReadFlags::add(CLI::App& app) {
  add_choice(
      app, "--from", "format", formats_that(&FormatInfo::reads),
      [this](const std::string& name) { from = name; },
      "the format of the history; detected from the content by default")
      ->type_name("FORMAT");
  app.add_option(
         "--initial", initial,
         "the initial value of every key, an integer or a string, if the format cannot state it")
      ->type_name("VALUE");
  app.add_flag("--unique-values", unique_values,
               "refuse a history in which some value was written to the same key twice");
  add_amount<double>(
      app, "--use-order", parse_share, [this](double share) { order_share = share; },
      "share of the stated version orders to use: 0%, 50%; entries are drawn at random, the same "
      "in every run")
      ->default_str("100%")
      ->type_name("SHARE");
  put_under(app, kReading, {"--initial", "--unique-values", "--use-order"});
}

ReadOptions ReadFlags::options() const {
  ReadOptions options;
  options.from = from;
  options.unique_values = unique_values;
  options.order_share = order_share;
  if (initial.empty()) return options;
  int64_t number = 0;
  const char* end = initial.data() + initial.size();
  const auto [stop, error] = std::from_chars(initial.data(), end, number);
  const bool integer = error == std::errc{} && stop == end;
  options.initial = integer ? ValueView::of(number) : ValueView::of(std::string_view(initial));
  return options;
}

void add_allow_empty(CLI::App& app, bool& allow) {
  app.add_flag(
         "--allow-empty", allow,
         "report satisfied, not unknown, for a history in which no transaction observed anything")
      ->configurable(false);
  put_under(app, kJudging, {"--allow-empty"});
}

void add_require_contention(CLI::App& app, bool& require) {
  app.add_flag("--require-contention", require,
               "report unknown, not satisfied, if no transactions that overlapped in time could "
               "have shown an anomaly that the level rules out");
  put_under(app, kJudging, {"--require-contention"});
}

void add_expected_order(CLI::App& app, std::optional<ExpectedOrder>& order) {
  using By = ExpectedOrder::By;
  app.add_option_function<std::string>(
         "--expected-order",
         [&order](const std::string& text) {
           constexpr uint64_t kMostBytes = uint64_t{1} << 32;
           order = ExpectedOrder{};
           order->title = text;
           for (const auto& [name, by] :
                {std::pair("commit_ts", By::commit_ts), std::pair("start_ts", By::start_ts),
                 std::pair("log", By::log)}) {
             order->by = by;
             if (text == name) return;
           }
           order->by = By::listed;
           const Result<std::string> file = read_file(text, kMostBytes);
           if (!file.ok())
             bad_flag(
                 "--expected-order",
                 "expected commit_ts, start_ts, log, or a file with the name of a transaction on "
                 "each line; " +
                     file.error().to_string());
           std::istringstream lines(*file);
           for (std::string name; std::getline(lines, name);)
             if (!name.empty()) order->names.push_back(name);
         },
         "replay this order of the transactions and say whether it explains their reads: commit_ts "
         "or start_ts (the database's own timestamps), log (their places in the database's log), "
         "or a file with the name of a transaction on each line")
      ->type_name("commit_ts|start_ts|log|FILE");
}

void add_aborted_reads(CLI::App& app, bool& count) {
  app.add_flag("--aborted-reads", count,
               "also check the reads of transactions that did not commit; strict-serializable is "
               "then opacity, a name that --level accepts");
  put_under(app, kJudging, {"--aborted-reads"});
}

void add_clock_drift(CLI::App& app, int64_t& drift) {
  add_nanoseconds(
      app, "--clock-drift", drift,
      "how far the clocks of two sessions may differ: real time orders transactions of different "
      "sessions only if they are at least this far apart; 5ms, 200us");
  put_under(app, kJudging, {"--clock-drift"});
}

void WorkloadFlags::add(CLI::App& app) {
  const std::string keys = keys_of("--workload");
  const auto positive = CLI::Range(uint64_t{1}, uint64_t{1} << 40);
  const auto number = [&](const char* flag, auto& to, const CLI::Validator& range,
                          const char* help) {
    return app.add_option(flag, to, help)->check(range)->type_name("N")->group(keys);
  };
  const std::vector<std::string> workloads =
      names_of(collect::all_workloads(), &collect::WorkloadInfo::name);
  add_choice(
      app, "--workload", "workload", workloads,
      [this](const std::string& name) { workload = name; },
      "what the transactions do: " + listed(workloads))
      ->default_str(workload)
      ->type_name("WORKLOAD");
  app.add_option("--sessions", sessions, "clients that run at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  app.add_option("--txns", txns, "committed transactions per session")
      ->capture_default_str()
      ->check(positive)
      ->type_name("N");
  number("--ops", options.ops, CLI::Range(1, 1'000'000), "operations per transaction")
      ->capture_default_str();
  add_share(app, "--read-share", options.read_share, "share of reads among the operations");
  number("--long-ops", options.long_ops, CLI::Range(1, 1'000'000),
         "operations per long transaction; long ones are mixed with the others (workload general)");
  add_share(app, "--long-share", options.long_share, "share of the transactions that are long");
  app.add_flag("--own-writes", options.own_writes,
               "each session writes only its own keys, and reads all (workload general)")
      ->group(keys);
  add_share(app, "--query-share", options.query_share,
            "share of queries among the operations (workload predicates)");
  add_share(app, "--query-width", options.query_width,
            "share of the values that satisfy a query's condition (workload predicates)");
  add_share(app, "--update-share", options.update_share,
            "share of the queries that overwrite each row they find (workload predicates)");
  add_share(app, "--increment-share", options.increment_share,
            "share of the writes that read the key first (workloads general and predicates)");
  number("--keys", options.keys, positive, "number of keys")->capture_default_str();
  number("--keys-alive", options.keys_alive, positive,
         "number of keys in use at a time; keys are replaced one by one, so new ones keep "
         "appearing (workloads general and mini)");
  number("--values", options.values, CLI::Range(uint64_t{1}, uint64_t{1} << 32),
         "how many different values are written to each key; by default each value is written "
         "once");
  app.add_flag("--tombstones", options.tombstones,
               "delete by writing a unique tombstone: every read then identifies its writer; for "
               "histories with deletions that take too long to decide")
      ->group(keys);
  number("--fences", options.fences, positive,
         "every Nth transaction of a session reads and writes the shared key -1: for watch "
         "--fence=-1");
  const std::vector<std::string> distributions = names_of(kDistributions, distribution_name);
  add_choice(
      app, "--distribution", "distribution", distributions,
      [this](const std::string& name) { options.distribution = *find_distribution(name); },
      "how keys are chosen: " + listed(distributions))
      ->default_str(std::string(distribution_name(options.distribution)))
      ->type_name("NAME")
      ->group(keys);
}

void take_databases_from_environment(std::vector<std::string>& databases) {
  const char* urls = std::getenv("ASSAY_DATABASE_URL");
  if (!databases.empty() || urls == nullptr) return;
  std::string_view rest = urls;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    if (rest.empty()) return;
    const size_t end = collect::holds_a_command(rest) ? rest.npos : rest.find_first_of(" \n");
    databases.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end, rest.size()));
  }
}

void add_colour_flag(CLI::App& app, Colour& colour) {
  static const std::map<std::string, Colour> kNames = {
      {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};
  app.add_option_function<std::string>(
         "--color", [&colour](const std::string& name) { colour = kNames.at(name); },
         "colours on standard output: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->type_name("WHEN")
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void OutputFlags::add(CLI::App& app) {
  add_colour_flag(app, colour);
  app.add_flag("--json", json, "one line of JSON per history on standard output");
  app.add_flag("--stats", stats, "time, memory and counters of each stage on standard error");
  std::string endings;
  for (const ReportInfo& r : all_reports())
    endings += fmt::format("{}{} {}", endings.empty() ? "" : ", ", r.ending, r.summary);
  app.add_option_function<std::vector<std::string>>(
         "--report",
         [this](const std::vector<std::string>& paths) {
           for (const std::string& path : paths)
             if (find_report_for(path) == nullptr)
               bad_flag("--report",
                        fmt::format("no report has the extension of '{}'; expected one of {}", path,
                                    listed(names_of(all_reports(), &ReportInfo::ending))));
           reports = paths;
         },
         "also write a report; the extension selects its form: " + endings)
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--certificate", certificate, "write the certificates of the verdicts")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--baseline",
         [this](const std::string& path) {
           constexpr uint64_t kMostBytes = 16 << 20;
           const Result<std::string> text = read_file(path, kMostBytes);
           if (!text.ok()) bad_flag("--baseline", text.error().to_string());
           auto known = parse_baseline(*text, path);
           if (!known.ok()) bad_flag("--baseline", known.error().to_string());
           baseline = std::move(*known);
         },
         "known violations, each a level and an anomaly; only other violations affect the exit "
         "code")
      ->configurable(false)
      ->type_name("FILE");
  app.add_option("--write-baseline", write_baseline, "write the violations found as a baseline")
      ->configurable(false)
      ->type_name("FILE");
  put_under(app, kReports, {"--color", "--stats", "--baseline", "--write-baseline"});
}

}  // namespace assay::internal::cli
