#include "lake/parquet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/ignored_pipe_signals.h"
#include "formats/facts.h"

namespace assay::internal::lake {
namespace {

using formats::FactColumn;
using Command = std::vector<std::string>;

enum class Type { integer, boolean, text };

// Types of columns: a column with only integers gets an integer type, which engines compare fast.
class Types {
 public:
  explicit Types(const History& h) {
    for (SessionId s = 0; s < h.session_count(); ++s) widen(session_, h.session_name(s));
    for (KeyId k = 0; k < h.key_count(); ++k) widen(item_, h.key(k));
    for (VersionId v = 0; v < h.version_count(); ++v) widen(value_, h.version_value(v));
  }

  Type of(FactColumn column) const {
    switch (column) {
      case FactColumn::txn:
        return Type::text;
      case FactColumn::session_id:
        return session_;
      case FactColumn::item:
        return item_;
      case FactColumn::seen:
      case FactColumn::written:
      case FactColumn::expected:
      case FactColumn::instead:
        return value_;
      case FactColumn::unknown:
      case FactColumn::reads:
      case FactColumn::writes:
      case FactColumn::contradicts:
        return Type::boolean;
      default:
        return Type::integer;
    }
  }

 private:
  static void widen(Type& type, const ValueView& v) {
    if (v.type != ValueView::Type::integer && !v.is_null()) type = Type::text;
  }

  Type session_ = Type::integer, item_ = Type::integer, value_ = Type::integer;
};

// NAME: TYPE, … for all columns that are written.
std::string columns(const Types& types, const std::array<std::string_view, 3>& names) {
  std::string all;
  for (size_t i = 0; i < formats::kWholeFactColumns; ++i) {
    const auto column = static_cast<FactColumn>(i);
    all += fmt::format("{}'{}': {}", all.empty() ? "" : ", ", fact_column_name(column),
                       names[static_cast<size_t>(types.of(column))]);
  }
  return all;
}

std::string duckdb_query(const Types& types, const std::string& path) {
  std::string quoted;
  for (const char c : path) quoted += c == '\'' ? "''" : std::string(1, c);
  return fmt::format(
      "COPY (FROM read_csv('/dev/stdin', header = true, auto_detect = false, delim = ',', quote = "
      "'\"', escape = '\"', "
      "columns = {{{}}})) TO '{}' (FORMAT parquet, COMPRESSION zstd)",
      columns(types, {"'BIGINT'", "'BOOLEAN'", "'VARCHAR'"}), quoted);
}

// A program for pyarrow, whose first argument is the path.
std::string pyarrow_program(const Types& types) {
  return fmt::format(
      "import sys, pyarrow as pa, pyarrow.csv as csv, pyarrow.parquet as pq\n"
      "rows = csv.open_csv(sys.stdin.buffer, "
      "parse_options=csv.ParseOptions(newlines_in_values=True), "
      "convert_options=csv.ConvertOptions(strings_can_be_null=True, "
      "quoted_strings_can_be_null=False, column_types={{{}}}))\n"
      "with pq.ParquetWriter(sys.argv[1], rows.schema, compression='zstd') as out:\n"
      "    for batch in rows: out.write_batch(batch)\n",
      columns(types, {"pa.int64()", "pa.bool_()", "pa.string()"}));
}

struct Program {
  std::string_view name;
  Command present;  // succeeds if it is installed
  Command write;
};

std::vector<Program> programs(const History& history, const std::string& path) {
  const Types types(history);
  const std::string query = duckdb_query(types, path);
  return {{"duckdb", {"duckdb", "-c", "SELECT 1"}, {"duckdb", "-c", query}},
          {"DuckDB's package of Python",
           {"python3", "-c", "import duckdb"},
           {"python3", "-c", "import sys, duckdb; duckdb.execute(sys.argv[1])", query}},
          {"pyarrow",
           {"python3", "-c", "import pyarrow"},
           {"python3", "-c", pyarrow_program(types), path}}};
}

// Starts the command with `input` as its standard input; its standard output is discarded, and its
// errors too if `quiet`.
std::optional<pid_t> start(const Command& command, int input, bool quiet) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (quiet) posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  return pid;
}

bool ends_well(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_installed(const Program& program) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto pid = start(program.present, nothing, /*quiet=*/true);
  close(nothing);
  return pid && ends_well(*pid);
}

// Writes the facts to a pipe, whose writing end has a path like any other file.
Result<std::vector<Loss>> write_with(const Program& program, const History& history,
                                     const std::string& path) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return io_error(fmt::format("cannot make a pipe: {}", strerror(errno)));
  const auto pid = start(program.write, ends[0], /*quiet=*/false);
  close(ends[0]);
  if (!pid) {
    close(ends[1]);
    return io_error(fmt::format("cannot start {}", program.name), path);
  }
  auto losses = write_history(history, fmt::format("/proc/self/fd/{}", ends[1]), "facts");
  close(ends[1]);
  if (!ends_well(*pid)) return io_error(fmt::format("{} could not write it", program.name), path);
  return losses;
}

}  // namespace

Result<std::vector<Loss>> write_parquet(const History& history, const std::string& path) {
  const IgnoredPipeSignals ignored;
  const std::string part = path + ".part";
  for (const Program& program : programs(history, part)) {
    if (!is_installed(program)) continue;
    auto losses = write_with(program, history, part);
    if (losses.ok() && rename(part.c_str(), path.c_str()) != 0)
      losses = io_error(strerror(errno), path);
    if (!losses.ok()) unlink(part.c_str());
    return losses;
  }
  return io_error(
      "writing Parquet needs DuckDB or pyarrow, and neither is installed: pip install duckdb",
      path);
}

}  // namespace assay::internal::lake
