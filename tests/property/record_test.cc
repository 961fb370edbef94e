// Recorded traffic of a correct database is never called violated: random executions of a simulated
// PostgreSQL, one transaction after the other or at snapshot isolation, of which some sessions are
// recorded, others only in its log, with functions whose subtransactions at most a commit names,
// numbers that are not known, commits that got no answer, and numbers that go round.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "base/rng.h"
#include "cases.h"
#include "record/joined_history.h"
#include "record/watchable.h"
#include "watch/horizon_watcher.h"
#include "watch/watcher.h"

namespace assay::internal {
namespace {

enum class Kind : uint8_t { serial, snapshot, read_committed };

const std::string kStatements =
    R"x({"table":"t","oid":1,"logged":"public.t","key":["id"]}
{"q":1,"kind":"begin","sql":"BEGIN"}
{"q":2,"kind":"select","sql":"SELECT","reads":true,"from":[["t",3]],"where":["\"id\" = ",[1,"number"]]}
{"q":3,"kind":"select","sql":"SELECT count","reads":true,"aggregated":true,"from":[["t",3]],"where":[]}
{"q":4,"kind":"update","sql":"UPDATE","reads":true,"writes":true,"changed":"t","depends":true}
{"q":5,"kind":"update","sql":"UPDATE","reads":true,"writes":true,"changed":"t"}
{"q":6,"kind":"delete","sql":"DELETE","reads":true,"writes":true,"changed":"t","depends":true}
{"q":7,"kind":"insert","sql":"INSERT","reads":true,"writes":true,"changed":"t"}
{"q":8,"kind":"select","sql":"SELECT f()","reads":true,"writes":true,"missed":"a user-defined function"}
{"q":9,"kind":"commit","sql":"COMMIT"}
{"q":10,"kind":"select","sql":"DECLARE","reads":true,"from":[["t",3]],"where":[]}
)x";

struct Version {
  uint64_t number = 0;  // that the row shows: perhaps a subtransaction's
  bool present = false;
  int value = 0;
};
using State = std::map<int, Version>;

class Database {
 public:
  // `points`: now and then the log is read meanwhile.
  Database(uint64_t seed, Kind kind, bool points)
      : rng_(seed),
        when_(seed + 1),
        cursors_(seed + 2),
        kind_(kind),
        points_(points),
        lists_(seed % 3 == 0) {}

  // The trace of an execution.
  std::string run() {
    const uint64_t first = rng_.below(3) == 0 ? (uint64_t{1} << 32) - 4 : 100;
    next_ = first;
    trace_ =
        fmt::format("{{\"trace\":1,\"at\":0,\"bound\":{}}}\n", first & 0xFFFFFFFF) + kStatements;
    for (int key = 1; key <= 3; ++key) {
      if (rng_.below(2) == 0) continue;
      committed_[key] = {first - 7, true, 0};
      if (rng_.below(2) == 0)
        trace_ += fmt::format(
            "{{\"row\":\"t\",\"key\":[\"{0}\"],\"xmin\":{1},\"is\":{{\"id\":{0},\"v\":0}}}}\n", key,
            (first - 7) & 0xFFFFFFFF);
    }
    sessions_.resize(3 + rng_.below(2));
    for (size_t s = 0; s < sessions_.size(); ++s) {
      sessions_[s].recorded = s == 0 || (s + 1 < sessions_.size() && rng_.below(3) > 0);
      sessions_[s].left = 1 + static_cast<int>(rng_.below(3));
    }
    while (step())
      if (points_ && when_.below(4) == 0) note_point();
    if (points_) note_point();
    return trace_ + log_ + "{\"end\":1000000}\n";
  }

 private:
  void note_point() {
    now_ += 10;
    std::string going_on;
    uint64_t oldest = next_;
    for (const Session& t : sessions_) {
      if (!t.open || !t.number) continue;
      oldest = std::min(oldest, *t.number);
      going_on += fmt::format("{}{}", going_on.empty() ? "" : ",", *t.number);
    }
    trace_ += std::exchange(log_, {});
    trace_ += fmt::format(
        "{{\"marked\":true}}\n{{\"logged\":{0},\"seen\":{1},\"snapshot\":\"{2}:{3}:{4}\"}}\n", now_,
        now_ + 2, oldest, next_, going_on);
    if (when_.below(3) > 0) trace_ += fmt::format("{{\"answered\":{}}}\n", now_ + 5);
  }

  struct Session {
    bool recorded = false, open = false, gone = false;
    int left = 0, steps = 0;
    std::optional<uint64_t> number;
    State sees, wrote;
    size_t since = 0;  // commits before its snapshot
    std::string log, below;
    // Rows of an open cursor, of which some were fetched.
    uint64_t cursor = 0;
    bool outlives = false;
    std::vector<std::string> rows = {};
  };

  bool step() {
    std::vector<size_t> active;
    for (size_t s = 0; s < sessions_.size(); ++s)
      if (!sessions_[s].gone && (sessions_[s].open || sessions_[s].left > 0)) active.push_back(s);
    if (active.empty()) return false;
    const size_t s = active[rng_.below(active.size())];
    Session& t = sessions_[s];
    if (!t.open && t.cursor != 0 && cursors_.below(2) == 0) return fetch(s), true;
    if (!t.open) begin(s);
    do {
      if (kind_ == Kind::read_committed) t.sees = committed_;
      if (t.steps-- > 0)
        act(s);
      else
        commit(s);
    } while (kind_ == Kind::serial && t.open);
    return true;
  }

  void say(size_t s, int q, const std::string& tag, const std::string& rows = "", int value = 0,
           const std::string& more = "") {
    now_ += 10;
    if (!sessions_[s].recorded) return;
    trace_ += fmt::format("{{\"s\":{},\"q\":{},\"t\":[{},{}],\"tag\":\"{}\",\"p\":[\"{}\"]{}{}}}\n",
                          s + 1, q, now_, now_ + 5, tag, value,
                          rows.empty() ? "" : ",\"rows\":[" + rows + "]", more);
  }

  void begin(size_t s) {
    Session& t = sessions_[s];
    t.open = true;
    --t.left;
    t.steps = 1 + static_cast<int>(rng_.below(4));
    t.sees = committed_;
    t.since = commits_.size();
    t.wrote.clear();
    t.number.reset();
    t.log.clear();
    t.below.clear();
    say(s, 1, "BEGIN");
  }

  static const Version* find(const Session& t, int key) {
    const auto own = t.wrote.find(key);
    const auto seen = t.sees.find(key);
    const Version* v = own != t.wrote.end()   ? &own->second
                       : seen != t.sees.end() ? &seen->second
                                              : nullptr;
    return v != nullptr && v->present ? v : nullptr;
  }

  static std::string told(int key, const Version& v) {
    return fmt::format("(1,{},{})", v.number & 0xFFFFFFFF, key);
  }

  void act(size_t s) {
    Session& t = sessions_[s];
    const int key = 1 + static_cast<int>(rng_.below(3));
    const Version* const v = find(t, key);
    const uint64_t what = rng_.below(20);
    if (cursors_.below(5) == 0) return ++t.steps, t.cursor == 0 ? declare(s) : fetch(s);
    if (what < 6) {
      say(s, 2, v != nullptr ? "SELECT 1" : "SELECT 0",
          v != nullptr ? '"' + told(key, *v) + '"' : "", key);
    } else if (what < 10) {
      std::string all;
      for (int k = 1; k <= 3; ++k)
        if (const Version* row = find(t, k))
          all += (all.empty() ? "" : ",") + fmt::format("\\\"{}\\\"", told(k, *row));
      say(s, 3, "SELECT 1", all.empty() ? "" : "\"{" + all + "}\"");
    } else if (what < 12) {
      // A function: its subtransaction has a number of its own, which the commit may list.
      write(s, key, v == nullptr ? 'I' : 'U', true);
      say(s, 8, "SELECT 1");
    } else if (v == nullptr) {
      write(s, key, 'I', false);
      say(s, 7, "INSERT 0 1");
    } else if (what < 18) {
      write(s, key, 'U', false);
      say(s, what < 16 ? 4 : 5, "UPDATE 1");
    } else {
      write(s, key, 'D', false);
      say(s, 6, "DELETE 1");
    }
  }

  // What its snapshot has is decided here, whenever it is fetched.
  void declare(size_t s) {
    Session& t = sessions_[s];
    t.cursor = ++declared_;
    t.outlives = cursors_.below(2) == 0;
    t.rows.clear();
    for (int key = 1; key <= 3; ++key)
      if (const Version* v = find(t, key)) t.rows.push_back('"' + told(key, *v) + '"');
    say(s, 10, "DECLARE CURSOR", "", 0,
        fmt::format(",\"cursor\":{}{}", t.cursor, t.outlives ? ",\"outlives\":true" : ""));
  }
  void fetch(size_t s) {
    Session& t = sessions_[s];
    const bool whole = t.rows.empty();
    std::string row;
    if (!whole) {
      row = std::move(t.rows.back());
      t.rows.pop_back();
    }
    say(s, 10, "FETCH 1", row, 0,
        fmt::format(",\"cursor\":{}{}", t.cursor, whole ? ",\"whole\":true" : ""));
    if (whole) t.cursor = 0;
  }

  void write(size_t s, int key, char kind, bool hidden) {
    Session& t = sessions_[s];
    if (!t.number) t.number = fresh();
    const Version after = {hidden ? fresh() : *t.number, kind != 'D',
                           static_cast<int>(rng_.below(4))};
    if (hidden) t.below += fmt::format(" {}", after.number & 0xFFFFFFFF);
    t.wrote[key] = after;
    const std::string row = fmt::format("id[integer]:{}", key);
    t.log += kind == 'D' ? fmt::format("{{\"log\":\"table public.t: DELETE: {}\"}}\n", row)
                         : fmt::format("{{\"log\":\"table public.t: {}: {} v[integer]:{}\"}}\n",
                                       kind == 'I' ? "INSERT" : "UPDATE", row, after.value);
  }
  uint64_t fresh() {
    uint64_t number = next_++;
    while ((number & 0xFFFFFFFF) < 3) number = next_++;
    return number;
  }

  bool conflicts(const Session& t) const {
    for (size_t i = t.since; i < commits_.size(); ++i)
      for (const auto& [key, v] : t.wrote)
        if (commits_[i].contains(key)) return true;
    return false;
  }

  void commit(size_t s) {
    Session& t = sessions_[s];
    t.open = false;
    if (kind_ == Kind::snapshot && conflicts(t)) {
      say(s, 9, "ROLLBACK");
      t.cursor = 0;
      return idle(s);
    }
    const bool knows = rng_.below(8) > 0, lost = rng_.below(10) == 0;
    if (t.number && t.recorded && knows)
      trace_ += fmt::format("{{\"s\":{},\"xid\":\"{}\",\"isolation\":\"x\"}}\n", s + 1, *t.number);
    const bool done = !lost || rng_.below(2) == 0;
    if (done && !t.wrote.empty()) {
      for (const auto& [key, v] : t.wrote) committed_[key] = v;
      commits_.push_back(t.wrote);
      log_ += fmt::format("{{\"log\":\"BEGIN {0}\"}}\n{1}{{\"log\":\"COMMIT {0}\"}}\n",
                          *t.number & 0xFFFFFFFF, t.log);
      if (lists_ && !t.below.empty())
        log_ += fmt::format("{{\"xid\":{},\"below\":\"{}\"}}\n", *t.number & 0xFFFFFFFF, t.below);
    }
    if (lost) {
      t.gone = true;
      if (t.recorded)
        trace_ += fmt::format("{{\"s\":{},\"close\":{},\"in_flight\":true}}\n", s + 1, now_);
      return;
    }
    say(s, 9, "COMMIT");
    if (!t.outlives) t.cursor = 0;
    idle(s);
  }
  void idle(size_t s) {
    if (sessions_[s].recorded) trace_ += fmt::format("{{\"s\":{},\"idle\":{}}}\n", s + 1, now_ + 6);
  }

  Rng rng_, when_, cursors_;
  uint64_t declared_ = 0;
  Kind kind_;
  bool points_, lists_;
  uint64_t next_ = 0;
  int64_t now_ = 0;
  std::string trace_, log_;
  State committed_;
  std::vector<State> commits_;
  std::vector<Session> sessions_;
};

Result<record::JoinedHistory> join_text(const std::string& trace,
                                        record::JoinListener* listener = nullptr) {
  auto input = formats::Input::memory(trace, "trace", nullptr);
  return record::join_in_memory(*input, listener);
}

CheckResult checked_at(const History& h, const std::vector<LevelId>& levels) {
  CheckOptions options;
  options.levels = levels;
  options.threads = 1;
  return check(h, std::move(options));
}

// How many of the levels' verdicts are of each outcome.
std::map<Outcome, uint64_t> outcomes(Kind kind, uint64_t seed, const std::vector<LevelId>& levels) {
  const std::string trace = Database(seed, kind, seed % 2 == 0).run();
  auto joined = join_text(trace);
  EXPECT_TRUE(joined.ok()) << joined.error().to_string() << "\n" << trace;
  std::map<Outcome, uint64_t> all;
  if (!joined.ok()) return all;
  const CheckResult result = checked_at(joined->history, levels);
  for (const Verdict& v : result.verdicts) {
    ++all[v.outcome];
    if (v.outcome == Outcome::violated && kind != Kind::read_committed)
      ADD_FAILURE() << level_info(v.level).name << ", seed " << seed << "\n" << trace;
  }
  return all;
}

void expect_never_violated(Kind kind, const std::vector<LevelId>& levels) {
  std::map<Outcome, uint64_t> all;
  const uint64_t executions = scaled(1000);
  for (uint64_t seed = 1; seed <= executions && !testing::Test::HasFailure(); ++seed)
    for (const auto& [outcome, times] : outcomes(kind, seed, levels)) all[outcome] += times;
  EXPECT_EQ(all[Outcome::violated], 0u);
  // Nothing is open here.
  EXPECT_EQ(all[Outcome::unknown], 0u);
}

TEST(RecordedTraffic, ASerialDatabaseIsNeverViolated) {
  expect_never_violated(
      Kind::serial, {LevelId::serializable, LevelId::adya_si, LevelId::causal, LevelId::read_atomic,
                     LevelId::read_committed, LevelId::pl_3});
}

TEST(RecordedTraffic, SnapshotsAreNeverViolated) {
  expect_never_violated(Kind::snapshot, {LevelId::adya_si, LevelId::causal, LevelId::read_atomic,
                                         LevelId::read_committed, LevelId::pl_2, LevelId::pl_1});
}

// Else the two above might say nothing.
TEST(RecordedTraffic, ReadCommittedIsFoundOut) {
  uint64_t violated = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed)
    violated += outcomes(Kind::read_committed, seed, {LevelId::serializable})[Outcome::violated];
  EXPECT_GT(violated, 50u);
  uint64_t skewed = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto joined = join_text(Database(seed, Kind::snapshot, false).run());
    ASSERT_TRUE(joined.ok());
    skewed += checked_at(joined->history, {LevelId::serializable}).verdicts[0].outcome ==
              Outcome::violated;
  }
  EXPECT_GT(skewed, 5u);
}

class Alarms : public watch::WatchListener {
 public:
  void alarm(Audit&& violation, const std::string&) override {
    ++alarms;
    for (const Explanation& e : violation.explanations)
      for (const std::string& sentence : e.sentences) said += sentence + "\n";
  }
  void undecided(const watch::Undecided&) override {}
  uint64_t alarms = 0;
  std::string said;
};

// How many alarms a watch of what is joined meanwhile raises.
uint64_t alarms(Kind kind, uint64_t seed, LevelId level, size_t horizon) {
  Alarms heard;
  watch::WatchOptions options;
  options.level = level;
  options.horizon = horizon;
  options.many_inputs = horizon == 0;
  options.lateness = 60;
  std::unique_ptr<watch::Watch> watch;
  if (horizon == 0)
    watch = std::make_unique<watch::Watcher>(options, heard);
  else
    watch = std::make_unique<watch::HorizonWatcher>(options, heard);
  record::Watchable pieces([&](const std::shared_ptr<const History>& piece) {
    if (Status s = watch->add(piece); !s.ok()) return s;
    return watch->decide_sealed();
  });
  const std::string trace = Database(seed, kind, true).run();
  const auto joined = join_text(trace, &pieces);
  EXPECT_TRUE(joined.ok()) << joined.error().to_string() << "\n" << trace;
  const Status finished = watch->finish();
  EXPECT_TRUE(finished.ok()) << finished.error().to_string();
  if (heard.alarms > 0 && kind != Kind::read_committed)
    ADD_FAILURE() << level_info(level).name << ", seed " << seed << "\n" << heard.said << trace;
  return heard.alarms;
}

// While it is recorded, and with the times between which others committed.
TEST(WatchedTraffic, ASerialDatabaseRaisesNoAlarm) {
  const uint64_t executions = scaled(1000);
  for (uint64_t seed = 1; seed <= executions && !testing::Test::HasFailure(); ++seed) {
    alarms(Kind::serial, seed, LevelId::strict_serializable, 0);
    alarms(Kind::serial, seed, LevelId::serializable, 4);
    alarms(Kind::snapshot, seed, LevelId::adya_si, 4);
    outcomes(Kind::serial, 2 * seed, {LevelId::strict_serializable});  // which has points
  }
}

TEST(WatchedTraffic, ReadCommittedIsFoundOut) {
  uint64_t strict = 0, within = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    strict += alarms(Kind::read_committed, seed, LevelId::strict_serializable, 0);
    within += alarms(Kind::read_committed, seed, LevelId::serializable, 100);
  }
  EXPECT_GT(strict, 40u);
  EXPECT_GT(within, 40u);
}

// What is joined meanwhile is what is joined in the end.
TEST(WatchedTraffic, PointsOfTheLogChangeNothing) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto with = join_text(Database(seed, Kind::snapshot, true).run());
    const auto without = join_text(Database(seed, Kind::snapshot, false).run());
    ASSERT_TRUE(with.ok() && without.ok());
    EXPECT_EQ(with->committed, without->committed);
    EXPECT_EQ(with->foreign, without->foreign);
    EXPECT_EQ(with->reads, without->reads);
    EXPECT_EQ(with->unattributed, without->unattributed);
    EXPECT_EQ(with->history.op_count(), without->history.op_count());
  }
}

}  // namespace
}  // namespace assay::internal
