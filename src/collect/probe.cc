#include "collect/probe.h"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "collect/driver.h"
#include "collect/run_id.h"
#include "collect/sql/parser.h"
#include "collect/sql/program.h"

namespace assay::internal::collect {
namespace {

// What scenarios with conditions play: of the transaction `lettered`, which each ends with its own
// statements, the first is a, the second b, and so on. A scenario is left out on databases that
// cannot run one of them.
constexpr std::string_view kTwoRows = R"(
create table test (id integer primary key, value integer not null);
transaction before;
  insert into test (id, value) values (1, 10);
  insert into test (id, value) values (2, 20);
end;
transaction lettered;
)";
constexpr std::string_view kInserts = R"(
  select * from test where value between 30 and 49;
  insert into test (id, value) values (3, 30);
  insert into test (id, value) values (4, 42);
)";
constexpr std::string_view kDelete = R"(
  update test set value = value + 10;
  select * from test where value = 20;
  delete from test where value = 20;
)";

constexpr uint32_t kTxns = 5;  // number 0 writes x and y before the script begins

constexpr Scenario kScenarios[] = {
    {"G0", Anomaly::g0, LevelId::read_atomic, "b1 b2 w1x w2x w1y c1 w2y c2 b3 r3x r3y c3",
     "dirty write: of two writes to two keys, each transaction's survives once"},
    {"G1a", Anomaly::aborted_read, LevelId::read_committed, "b1 b2 w1x r2x a1 r2x c2",
     "aborted read: a write is read and then rolled back"},
    {"G1b", Anomaly::intermediate_read, LevelId::read_committed, "b1 b2 w1x r2x w1x c1 r2x c2",
     "intermediate read: what was read is overwritten by its own writer"},
    {"G1c", Anomaly::g1c, LevelId::read_committed, "b1 b2 w1x w2y r1y r2x c1 c2",
     "circular information flow: each reads what the other wrote"},
    {"OTV", Anomaly::non_monotonic_read, LevelId::read_committed,
     "b1 b2 b3 w1x w1y w2x c1 r3x r3y w2y r3y c2 r3x r3y c3",
     "observed transaction vanishes: its writes are seen, and later missing"},
    {"non-repeatable", Anomaly::non_repeatable_read, LevelId::read_atomic,
     "b1 b2 r1x w2x c2 r1x c1", "two reads of one key differ"},
    {"PMP", Anomaly::g_single, LevelId::read_atomic, "b1 b2 s1a s2b c2 s1a c1",
     "predicate-many-preceders: what a query finds changes while its transaction goes on",
     kInserts},
    {"PMP write", Anomaly::g_single, LevelId::read_atomic, "b1 b2 s1a s2b s2c c1 s2b c2",
     "predicate-many-preceders: a delete matches other rows than the query before it", kDelete},
    {"G-single", Anomaly::fractured_read, LevelId::read_atomic,
     "b1 b2 r1x r2x r2y w2x w2y c2 r1y c1", "read skew: half of a transaction is seen"},
    {"P4", Anomaly::lost_update, LevelId::adya_si, "b1 b2 r1x r2x w1x w2x c1 c2",
     "lost update: both overwrite the version that both read"},
    {"long fork", Anomaly::long_fork, LevelId::prefix,
     "b1 b2 b3 b4 r3x r4y w1x w2y c1 c2 r3y r4x c3 c4",
     "two readers see two writes in different orders"},
    {"G2-item", Anomaly::write_skew, LevelId::serializable, "b1 b2 r1x r1y r2x r2y w1x w2y c1 c2",
     "write skew: each writes what the other read"},
    {"G2", Anomaly::g2, LevelId::serializable, "b1 b2 s1a s2a s1b s2c c1 c2",
     "write skew on absent rows: each inserts what the other looked for", kInserts},
    {"read-only", Anomaly::g2_item, LevelId::serializable,
     "b1 r1x r1y b2 r2y w2y c2 b3 r3x r3y c3 w1x c1",
     "write skew that only a reader makes visible"},
    {"stale read", Anomaly::real_time_violation, LevelId::strong_si, "b1 w1x c1 b2 r2x c2",
     "what was acknowledged is not seen"},
};

std::shared_ptr<sql::Program> program_of(const Scenario& scenario) {
  Result<sql::File> file =
      sql::parse_file(fmt::format("{}{}end;\n", kTwoRows, scenario.sql), "the scenario");
  return std::make_shared<sql::Program>(std::move(*file));
}

// The steps of a script; each operation of a transaction has a value of its own.
template <class Lettered>
std::vector<PlayedStep> steps_of(std::string_view script, Lettered lettered) {
  std::array<int64_t, kTxns> operations = {};
  std::vector<PlayedStep> steps;
  for (size_t at = 0; at + 1 < script.size(); ++at) {
    if (script[at] == ' ') continue;
    const char what = script[at];
    PlayedStep step{.txn = static_cast<uint32_t>(script[at + 1] - '0')};
    ++at;
    if (what == 'c') step.what = PlayedStep::What::commit;
    if (what == 'a') step.what = PlayedStep::What::abort;
    if (what == 'r' || what == 'w') {
      step.what = PlayedStep::What::operation;
      step.request = {.kind = what == 'r' ? OpKind::read : OpKind::write,
                      .key = Value::of(int64_t{script[++at] - 'x'})};
      const int64_t value = step.txn + 1 + kTxns * operations[step.txn]++;
      if (what == 'w') step.request.value = Value::of(value);
    }
    if (what == 's') {
      step.what = PlayedStep::What::operation;
      step.request.statement = lettered(script[++at]);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::span<const Scenario> all_scenarios() { return kScenarios; }

Result<bool> is_played(const Scenario& scenario, const PlayOptions& options) {
  if (scenario.sql.empty()) return true;
  if (options.databases.empty()) return usage_error("there is no database; expected a URL");
  auto driver = open_driver({.url = options.databases.front(),
                             .isolation = options.isolation,
                             .timeout = options.timeout,
                             .seed = options.seed,
                             .tables = {},
                             .run = draw_run_id()});
  if (!driver.ok()) return driver.error();
  if (Status s = (*driver)->prepare(); !s.ok()) return s.error();
  const Status made = program_of(scenario)->set_up(**driver);
  static_cast<void>((*driver)->mark_finished());
  if (!made.ok() && made.error().kind == ErrorKind::io) return made.error();
  return made.ok();
}

Result<Played> play(const Scenario& scenario, const PlayOptions& options) {
  Interleaving interleaving;
  for (uint32_t i = 0; i < kTxns; ++i)
    interleaving.txns.push_back({.session = i, .endpoint = i == 0 ? 0 : i - 1});
  const std::shared_ptr<sql::Program> statements =
      scenario.sql.empty() ? nullptr : program_of(scenario);
  const auto of = [&](size_t transaction) {
    return [&statements, transaction](char letter) {
      return statements->statement(transaction, static_cast<size_t>(letter - 'a'));
    };
  };
  interleaving.before = steps_of(scenario.sql.empty() ? "b0 w0x w0y c0" : "b0 s0a s0b c0", of(0));
  interleaving.steps = steps_of(scenario.script, of(1));
  if (statements) interleaving.set_up = [&](Driver& driver) { return statements->set_up(driver); };
  return play(interleaving, options);
}

}  // namespace assay::internal::collect
