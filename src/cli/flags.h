// The flags that several commands share: a flag means the same in every command.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/budget.h"
#include "assay/check.h"
#include "assay/format.h"
#include "assay/level.h"
#include "audit/baseline.h"
#include "cli/console.h"
#include "collect/workload.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay::internal::cli {

// Returns the name of each element, which `name` gives: a member of it, or a function.
template <class Range, class Name>
std::vector<std::string> names_of(const Range& range, Name name) {
  std::vector<std::string> names;
  for (const auto& one : range) names.emplace_back(std::invoke(name, one));
  return names;
}
// "a, b, c"
std::string listed(const std::vector<std::string>& names);

// A flag that takes one of `names` and refuses others; `what` says what a name denotes.
CLI::Option* add_choice(CLI::App& app, const std::string& flag, const std::string& what,
                        const std::vector<std::string>& names,
                        const std::function<void(const std::string&)>& take,
                        const std::string& help);
// The same for a flag that takes several names, separated by commas.
CLI::Option* add_choices(CLI::App& app, const std::string& flag, const std::string& what,
                         const std::vector<std::string>& names,
                         const std::function<void(const std::string&)>& take,
                         const std::string& help);
// Flags that take an amount with its unit: a time, which is stored in seconds or in nanoseconds, or
// a size.
CLI::Option* add_seconds(CLI::App& app, const std::string& flag, double& seconds,
                         const std::string& help);
CLI::Option* add_nanoseconds(CLI::App& app, const std::string& flag, int64_t& nanoseconds,
                             const std::string& help);
CLI::Option* add_bytes(CLI::App& app, const std::string& flag, uint64_t& bytes,
                       const std::string& help);
// Adds a key of --workload that is a share.
void add_share(CLI::App& app, const std::string& flag, double& share, const std::string& help);

// --level L, repeated or separated by commas; ids and aliases.
struct LevelFlags {
  std::vector<LevelId> levels;
  // Set if a level may be defined by a file: receives the file, or stays empty.
  std::string* definition = nullptr;
  // Set if `opacity` is a level: receives true if it was named. It is strict-serializable with
  // this.
  bool* aborted_reads = nullptr;
  void add(CLI::App& app, const std::string& help, bool required = false);
  // Adds the flag under another name.
  CLI::Option* add_as(CLI::App& app, const std::string& flag, const std::string& help);
};

// --time 60s --memory 4G --effort 1000000
struct BudgetFlags {
  double seconds = 0;
  uint64_t memory_bytes = 0;
  uint64_t effort = 0;
  void add(CLI::App& app);
  // Returns a new budget, which ends on interrupts.
  Budget budget() const;
};

// Headings of help: --help shows the flags without a heading, --help-all shows all.
inline constexpr char kRecording[] = "Recording";
inline constexpr char kReading[] = "Reading";
inline constexpr char kJudging[] = "Judging";
inline constexpr char kReports[] = "Reports";
inline constexpr char kLimits[] = "Limits";
void put_under(CLI::App& app, const std::string& heading, std::initializer_list<const char*> flags);

// --without NAME,…: leaves out speed-ups.
inline constexpr char kSpeedUpsGroup[] = "Speed-ups (the verdicts are the same without them)";
void add_without(CLI::App& app, SpeedUps& speed_ups);

// --engine graph|dbcop
void add_engine(CLI::App& app, EngineId& engine);
// --seed N
void add_seed(CLI::App& app, uint64_t& seed);
// --statement-timeout TIME
void add_statement_timeout(CLI::App& app, std::chrono::milliseconds& timeout);
// Returns the names of the formats that can be read, or written.
std::vector<std::string> formats_that(bool FormatInfo::*can);
// --from FORMAT, --initial VALUE, --unique-values: what a file does not say about itself.
// --use-order SHARE: the share of its stated orders that is used.
struct ReadFlags {
  std::string from;
  std::string initial;
  bool unique_values = false;
  double order_share = 1;
  void add(CLI::App& app);
  // The result views into the flags.
  ReadOptions options() const;
};
// --allow-empty
void add_allow_empty(CLI::App& app, bool& allow);
// --require-contention
void add_require_contention(CLI::App& app, bool& require);
// --expected-order commit_ts|start_ts|log|FILE
void add_expected_order(CLI::App& app, std::optional<ExpectedOrder>& order);
// --aborted-reads
void add_aborted_reads(CLI::App& app, bool& count);
// --clock-drift TIME, in nanoseconds.
void add_clock_drift(CLI::App& app, int64_t& drift);

// --workload with its keys, --sessions, --txns
struct WorkloadFlags {
  std::string workload = "general";
  collect::WorkloadOptions options;
  uint32_t sessions = 10;
  uint64_t txns = 1000;  // of each session
  void add(CLI::App& app);
};

// How the verdicts are reported: --json, --report, --certificate, --stats, --baseline,
// --write-baseline --color
void add_colour_flag(CLI::App& app, Colour& colour);

struct OutputFlags {
  bool json = false;
  Colour colour = Colour::automatic;
  bool stats = false;
  std::vector<std::string> reports;
  std::string certificate;
  std::optional<std::vector<KnownViolation>> baseline;
  std::string write_baseline;
  void add(CLI::App& app);
};

// Takes the URLs from ASSAY_DATABASE_URL if none was given: they are separated by blanks, but a URL
// that begins with exec: or exec+unix: may hold a command and extends to the end. A password in
// this variable does not show in a list of processes.
void take_databases_from_environment(std::vector<std::string>& databases);

// Fails, with `why`, if one of the flags was given.
Status refuse_flags(const CLI::App& app, std::initializer_list<const char*> flags,
                    std::string_view why);
// Ends the parsing of the command line with exit code 4.
[[noreturn]] void bad_flag(const std::string& flag, const std::string& message);

}  // namespace assay::internal::cli
