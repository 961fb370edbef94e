// Plays a permutation as PostgreSQL's tester does, so that what its specifications expect comes
// about:
//
//   the tables are set up, then each session; then each step is sent to its session in turn. If
//   that session still waits in an earlier step, it is waited for first. A step is over when it is
//   answered, or when it waits for another session (Player) or a marker holds it back; before the
//   next is sent, those that waited are looked at once more.
//
//   s1: UPDATE …   s2: UPDATE … <waiting>   s1: COMMIT   s2: <completed>
//
// Each permutation has a place of its own: a schema, a database, or SQLite's temporary file, made
// before and removed afterwards. What of the observed versions satisfies the conditions of queries
// is asked of the database itself at the end, when no session has anything open: each version is
// put into its table by itself, the condition asked, and all of it rolled back. So operators, types
// and collations mean what they mean there.
//
// Cost: the statements, a look at the locks for each that is not answered within milliseconds, and
// at the end one message for each version and table that was not asked about in an earlier
// permutation. Source: README of src/test/isolation, PostgreSQL.
#include "collect/schedule/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "collect/client.h"
#include "collect/player.h"
#include "collect/run_id.h"

namespace assay::internal::collect::schedule {
namespace {

constexpr size_t kMostVersions = 200;  // of a table whose conditions are asked

class OpenStage : public Stage {
 public:
  OpenStage(const File& file, const Options& options, std::unique_ptr<Driver> driver,
            Observer observer)
      : file_(file),
        options_(options),
        driver_(std::move(driver)),
        observer_(std::move(observer)),
        player_(driver_->lock_view()) {}
  ~OpenStage() override {
    std::vector<Spoken> ignored;
    if (!has_place_) return;
    static_cast<void>(control_->speak(observer_.end_place(), ignored));
    static_cast<void>(control_->speak(observer_.drop_functions(), ignored));
    static_cast<void>(driver_->mark_finished());
  }

  Status connect() {
    auto control = driver_->connect();
    if (!control.ok()) return control.error();
    control_ = std::move(*control);
    if (Status s = observer_.spare(*control_); !s.ok()) return s;
    has_place_ = true;
    if (Status s = must(observer_.make_functions(), "cannot make the functions that tell of rows");
        !s.ok())
      return s;
    for (size_t i = 0; i < file_.sessions.size(); ++i) {
      auto session = driver_->connect();
      if (!session.ok()) return session.error();
      sessions_.push_back(std::move(*session));
      player_.add(sessions_.back()->backend());
    }
    return Ok{};
  }

  const Driver& driver() const override { return *driver_; }

  Result<Performance> play(const Permutation& permutation) override {
    now_ = {};
    turns_.clear();
    notices_.assign(sessions_.size(), 0);
    permutation_ = &permutation;
    if (Status s = set_up(); !s.ok()) return s.error();
    if (Status s = take_turns(); !s.ok()) return s.error();
    if (Status s = tear_down(); !s.ok()) return s.error();
    return std::move(now_);
  }

 private:
  struct Running {
    std::vector<size_t> statements;  // in now_
    std::vector<uint64_t> wanted_notices;
  };

  // On the one connection that sets up.
  Status must(const std::vector<std::string>& sql, std::string_view what) {
    std::vector<Spoken> answers;
    if (Status s = control_->speak(sql, answers); !s.ok()) return s;
    if (!answers.empty() && !answers.back().error.empty())
      return io_error(fmt::format("{}: {}", what, answers.back().error));
    return Ok{};
  }
  Status each(DriverSession& session, const std::vector<std::string>& sql) {
    std::vector<Spoken> answers;
    for (const std::string& s : sql)
      if (Status spoken = session.speak({&s, 1}, answers); !spoken.ok()) return spoken;
    for (const Spoken& a : answers)
      if (!a.error.empty()) return io_error("cannot prepare the place to play in: " + a.error);
    return Ok{};
  }
  static std::vector<std::string> texts(std::string_view sql) {
    const std::vector<std::string_view> views = statements_of(sql);
    return {views.begin(), views.end()};
  }
  // What a setup or teardown is sent as, and the rows that it returned last.
  Status tell_setup(const std::string& sql, bool must_succeed) {
    std::vector<Spoken> answers;
    const std::vector<std::string> all = texts(sql);
    if (all.empty()) return Ok{};
    if (Status s = control_->speak(all, answers); !s.ok()) return s;
    if (must_succeed && !answers.back().error.empty())
      return bad_input("the setup fails: " + answers.back().error);
    if (!answers.back().columns.empty())
      now_.told.push_back({.what = Told::What::result, .result = answers.back()});
    return Ok{};
  }

  Status set_up() {
    // On PostgreSQL in one transaction, as each of them would sync the disk.
    if (Status s = must(observer_.begin_place(), "cannot make the place to play in"); !s.ok())
      return s;
    for (const std::string& sql : file_.setup)
      if (Status s = tell_setup(sql, true); !s.ok()) return s;
    if (Status s = observer_.look(*control_); !s.ok()) return s;
    for (const Turn& turn : permutation_->turns)
      for (const std::string_view statement : statements_of(file_.steps[turn.step].sql))
        observer_.leave_out_altered(statement);
    if (Status s = observer_.watch(*control_, now_.first_rows); !s.ok()) return s;
    now_.tables = observer_.tables();
    for (size_t i = 0; i < sessions_.size(); ++i) {
      std::vector<std::string> sql = observer_.enter();
      // The others have set it when they connected.
      if (observer_.kin() == Kin::postgresql && !options_.isolation.empty() &&
          options_.isolation != "default")
        sql.push_back("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " +
                      options_.isolation);
      for (std::string& s : observer_.follow()) sql.push_back(std::move(s));
      if (Status s = each(*sessions_[i], sql); !s.ok()) return s;
      if (Status s = beside(i, file_.sessions[i].setup, true); !s.ok()) return s;
    }
    return Ok{};
  }

  // The setup or teardown of a session.
  Status beside(size_t session, const std::string& sql, bool must_succeed) {
    if (sql.empty()) return Ok{};
    const size_t before = now_.statements.size();
    speak(session, SIZE_MAX, sql);
    if (now_.statements.size() == before) return Ok{};
    const Spoken& last = now_.statements.back().answer;
    if (must_succeed && !last.error.empty())
      return bad_input(fmt::format("the setup of session '{}' fails: {}",
                                   file_.sessions[session].name, last.error));
    if (!last.columns.empty()) now_.told.push_back({.what = Told::What::result, .result = last});
    return Ok{};
  }

  // Called by the lane of the session.
  void speak(size_t session, size_t step, const std::string& sql) {
    std::vector<Asked> asked;
    for (const std::string_view s : statements_of(sql)) asked.push_back(observer_.ask(s));
    const bool together = observer_.kin() == Kin::postgresql;
    for (size_t first = 0; first < asked.size();) {
      const size_t end = together ? asked.size() : first + 1;
      if (!speak_some(session, step,
                      {asked.begin() + static_cast<ptrdiff_t>(first),
                       asked.begin() + static_cast<ptrdiff_t>(end)}))
        return;
      first = end;
    }
  }

  // False if one failed.
  bool speak_some(size_t session, size_t step, std::span<Asked> asked) {
    std::vector<std::string> sql;
    for (const Asked& a : asked) sql.push_back(a.sql);
    std::vector<Spoken> answers;
    const int64_t request = clock_.now();
    const Status spoken = sessions_[session]->speak(sql, answers);
    const int64_t response = clock_.now();
    if (!spoken.ok()) {
      answers.resize(std::min(answers.size() + 1, asked.size()));
      answers.back().error = spoken.error().message;
    }
    bool fine = spoken.ok();
    for (size_t i = 0; i < std::min(answers.size(), asked.size()); ++i) {
      Statement s;
      s.session = session;
      s.step = step;
      s.asked = asked[i].statement;
      s.sql = asked[i].sql;
      s.time = {request, response};
      s.answer = std::move(answers[i]);
      s.sight = asked[i].sight;
      observer_.take(asked[i], s.answer, s.sight);
      fine = fine && s.answer.error.empty();
      if (s.sight.kind == Sight::Kind::write || !s.answer.error.empty()) ask_what_changed(s);
      const std::lock_guard lock(mutex_);
      s.place = now_.statements.size();
      if (!spoken.ok()) now_.lost = true;
      notices_[session] += s.answer.notices.size();
      if (step != SIZE_MAX) turns_[step_turn_[session]].statements.push_back(s.place);
      now_.statements.push_back(std::move(s));
    }
    return fine;
  }

  void ask_what_changed(Statement& s) {
    const std::vector<std::string> questions = observer_.told_afterwards();
    std::vector<Spoken> told;
    if (questions.empty() || !sessions_[s.session]->speak(questions, told).ok()) return;
    // What a statement that failed had changed is undone.
    if (s.answer.error.empty() && !told.empty()) Observer::take_told(told.front(), s.sight);
  }

  Status take_turns() {
    turns_.assign(permutation_->turns.size(), {});
    step_turn_.assign(sessions_.size(), SIZE_MAX);
    active_.assign(sessions_.size(), SIZE_MAX);
    std::vector<size_t> waiting;
    for (size_t i = 0; i < permutation_->turns.size(); ++i) {
      const Turn& turn = permutation_->turns[i];
      const size_t session = file_.steps[turn.step].session;
      if (active_[session] != SIZE_MAX)
        if (Status s = finish(session, waiting); !s.ok()) return s;
      {
        const std::lock_guard lock(mutex_);
        step_turn_[session] = i;
        for (const Marker& m : turn.markers)
          turns_[i].wanted_notices.push_back(m.notices + notices_[file_.steps[m.step].session]);
      }
      active_[session] = i;
      player_.tell(session, [this, session, step = turn.step] {
        speak(session, step, file_.steps[step].sql);
      });
      const bool completed = complete(i, false, true);
      complete_some(waiting, true);
      if (!completed) waiting.push_back(i);
    }
    while (!waiting.empty()) {
      const size_t before = waiting.size();
      complete_some(waiting, false);
      // Steps that markers hold back for each other are told all the same.
      if (waiting.size() == before)
        for (const size_t i : std::exchange(waiting, {})) tell_completed(i);
    }
    return Ok{};
  }

  // Waits for the step that the session is in.
  Status finish(size_t session, std::vector<size_t>& waiting) {
    const size_t i = active_[session];
    if (!player_.wait(session, options_.timeout * 10))
      return io_error(fmt::format("step '{}' is not answered", name_of(i)));
    for (int looks = 0; active_[session] != SIZE_MAX && looks < 100; ++looks) {
      if (complete(i, true, false)) std::erase(waiting, i);
      complete_some(waiting, true);
    }
    if (active_[session] == SIZE_MAX) return Ok{};
    tell_completed(i);
    std::erase(waiting, i);
    return Ok{};
  }

  const std::string& name_of(size_t turn) const {
    return file_.steps[permutation_->turns[turn].step].name;
  }

  // `again`: it was told to be waiting. `may_wait`: for a lock. True once it is over.
  bool complete(size_t i, bool again, bool may_wait) {
    const Turn& turn = permutation_->turns[i];
    const size_t session = file_.steps[turn.step].session;
    const bool held = !again && std::ranges::any_of(turn.markers, [](const Marker& m) {
      return m.kind == Marker::Kind::launched;
    });
    bool over = !held;
    if (over)
      over = may_wait ? player_.settle(session) : player_.wait(session, options_.timeout * 10);
    over = over && !is_held_back(i);
    if (!over && !again) now_.told.push_back({.what = Told::What::waiting, .step = turn.step});
    if (over) tell_completed(i, again ? Told::What::completed : Told::What::done);
    return over;
  }

  void tell_completed(size_t i, Told::What what = Told::What::completed) {
    const size_t session = file_.steps[permutation_->turns[i].step].session;
    active_[session] = SIZE_MAX;
    const std::lock_guard lock(mutex_);
    now_.told.push_back(
        {.what = what, .step = permutation_->turns[i].step, .statements = turns_[i].statements});
  }

  bool is_held_back(size_t i) {
    const Turn& turn = permutation_->turns[i];
    const std::lock_guard lock(mutex_);
    for (size_t m = 0; m < turn.markers.size(); ++m) {
      const Marker& marker = turn.markers[m];
      const size_t other = file_.steps[marker.step].session;
      if (marker.kind == Marker::Kind::step && active_[other] != SIZE_MAX &&
          permutation_->turns[active_[other]].step == marker.step)
        return true;
      if (marker.kind == Marker::Kind::notices && notices_[other] < turns_[i].wanted_notices[m] &&
          active_[other] != SIZE_MAX)
        return true;
    }
    return false;
  }

  void complete_some(std::vector<size_t>& waiting, bool may_wait) {
    bool marked = false;
    size_t before = 0;
    do {
      before = waiting.size();
      marked = false;
      for (size_t w = 0; w < waiting.size();) {
        if (complete(waiting[w], true, may_wait)) {
          waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(w));
        } else {
          marked = marked || !permutation_->turns[waiting[w]].markers.empty();
          ++w;
        }
      }
    } while (marked && waiting.size() < before);
  }

  Status tear_down() {
    for (size_t i = 0; i < sessions_.size(); ++i) {
      if (now_.lost) {
        // A session of its own again for the next permutation.
        auto session = driver_->connect();
        if (!session.ok()) return session.error();
        sessions_[i] = std::move(*session);
        player_.connected_anew(i, sessions_[i]->backend());
        continue;
      }
      if (Status s = beside(i, file_.sessions[i].teardown, false); !s.ok()) return s;
      std::vector<Spoken> ignored;
      const std::vector<std::string> roll_back = {"ROLLBACK"};
      if (Status s = sessions_[i]->speak(roll_back, ignored); !s.ok()) return s;
    }
    if (Status s = ask_conditions(); !s.ok()) return s;
    // What is left goes before the next permutation.
    return tell_setup(file_.teardown, false);
  }

  // Of each table with conditions, which of its versions satisfy them.
  Status ask_conditions() {
    std::map<std::string, std::vector<Query>> queries;
    for (const Statement& s : now_.statements) {
      // A key that is asked for by itself needs no condition.
      if (!s.sight.query || s.sight.query->where.empty() || !s.sight.query->key.empty() ||
          !s.answer.error.empty())
        continue;
      auto& of = queries[s.sight.query->table];
      if (std::ranges::none_of(of, [&](const Query& q) {
            return q.where == s.sight.query->where && q.name == s.sight.query->name;
          }))
        of.push_back(*s.sight.query);
    }
    if (queries.empty()) return Ok{};
    std::map<std::string, std::set<std::string>> versions;
    const auto note = [&](const Version& v) {
      if (!v.table.empty()) versions[v.table].insert(v.row);
    };
    for (const Version& v : now_.first_rows) note(v);
    for (const Statement& s : now_.statements) {
      for (const Version& v : s.sight.rows) note(v);
      for (const Change& c : s.sight.changes) {
        note(c.before);
        note(c.after);
      }
    }
    for (const auto& [name, of] : queries)
      for (const Query& query : of)
        if (Status s = ask_condition(query, versions[name]); !s.ok()) return s;
    return Ok{};
  }

  Status ask_condition(const Query& query, const std::set<std::string>& rows) {
    const Table* const table = observer_.table(query.table);
    if (table == nullptr || rows.size() > kMostVersions) return Ok{};
    std::vector<std::pair<std::string, bool>> truths;
    for (const std::string& row : rows) {
      const std::string question =
          query.table + '\n' + query.name + '\n' + query.where + '\n' + row;
      auto known = answers_.find(question);
      if (known == answers_.end()) {
        const auto asked = ask_row(*table, query, row);
        if (!asked.ok()) return asked.error();
        known = answers_.emplace(question, *asked).first;
      }
      if (!known->second) return Ok{};  // the database does not say
      truths.emplace_back(row, *known->second);
    }
    now_.conditions.emplace_back(query, std::move(truths));
    return Ok{};
  }

  Result<std::optional<bool>> ask_row(const Table& table, const Query& query,
                                      const std::string& row) {
    const auto values = literals_of({table.name, row, {}, {}}, table);
    if (!values) return std::optional<bool>();
    const char quote = observer_.kin() == Kin::mysql ? '`' : '"';
    const std::string name = fmt::format("{0}{1}{0}", quote, table.name);
    std::string columns;
    for (const std::string& c : table.columns)
      columns += fmt::format("{0}{1}{2}{1}", columns.empty() ? "" : ", ", quote, c);
    std::vector<std::string> sql = {
        "BEGIN", "DELETE FROM " + name,
        fmt::format("INSERT INTO {} ({}) VALUES ({})", name, columns, *values),
        fmt::format("SELECT 1 FROM {} AS {} WHERE {}", name, query.name, query.where), "ROLLBACK"};
    std::vector<Spoken> answers;
    if (Status s = control_->speak(sql, answers); !s.ok()) return s.error();
    if (answers.size() == sql.size()) return std::optional<bool>(!answers[3].rows.empty());
    sql = {"ROLLBACK"};
    if (Status s = control_->speak(sql, answers); !s.ok()) return s.error();
    return std::optional<bool>();
  }

  const File& file_;
  const Options options_;
  std::unique_ptr<Driver> driver_;
  Observer observer_;
  std::unique_ptr<DriverSession> control_;
  bool has_place_ = false;  // what is there was made here, and goes at the end
  std::vector<std::unique_ptr<DriverSession>> sessions_;
  RunClock clock_;
  const Permutation* permutation_ = nullptr;
  std::vector<size_t> active_;  // the turn that each session is in; SIZE_MAX: none
  std::map<std::string, std::optional<bool>> answers_;  // of conditions, for all permutations
  std::mutex mutex_;                                    // of what follows, while lanes work
  Performance now_;
  std::vector<Running> turns_;
  std::vector<size_t> step_turn_;  // the turn that the lane of each session works on
  std::vector<uint64_t> notices_;  // of each session
  Player player_;                  // ends first
};

}  // namespace

Result<std::unique_ptr<Stage>> Stage::open(const File& file, const Options& asked) {
  Options options = asked;
  if (options.database.starts_with("sqlite:")) {
    if (!options.isolation.empty() && options.isolation != "deferred")
      return usage_error(
          "on SQLite the BEGIN of the schedule says how it begins; expected no --isolation, or "
          "BEGIN IMMEDIATE there");
    options.isolation = "deferred";
  }
  auto driver = open_driver({.url = options.database,
                             .isolation = options.isolation,
                             .timeout = options.timeout,
                             .seed = options.seed,
                             .tables = {},
                             .run = draw_run_id()});
  if (!driver.ok()) return driver.error();
  if (Status s = (*driver)->prepare(); !s.ok()) return s.error();
  auto observer = Observer::of(**driver);
  if (!observer.ok()) return observer.error();
  auto stage = std::make_unique<OpenStage>(file, options, std::move(*driver), std::move(*observer));
  if (Status s = stage->connect(); !s.ok()) return s.error();
  return std::unique_ptr<Stage>(std::move(stage));
}

}  // namespace assay::internal::collect::schedule
