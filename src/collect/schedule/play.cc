// Plays a permutation as PostgreSQL's tester does, so it gives the results that the tester's
// specifications expect:
//
//   the tables are set up, then each session; then each step is sent to its session in turn. If
//   that session still waits in an earlier step, it is waited for first, or the step queues. A step
//   is over when it is answered, or when it waits for another session (Player) or a marker holds it
//   back; before the next is sent, those that waited are examined once more.
//
//   s1: UPDATE …   s2: UPDATE … <waiting>   s1: COMMIT   s2: <completed>
//
// Each permutation has a separate place: a schema, a database, or SQLite's temporary file, created
// before and removed afterwards. The database itself is asked which of the observed versions
// satisfy the conditions of queries, at the end, when no session has anything open: each version is
// put into its table by itself, the condition is evaluated, and all of this is rolled back. So
// operators, types and collations have the database's own meaning.
//
// Cost: the statements, a look at the locks for each that is not answered within milliseconds, and
// at the end one message for each version and table that was not asked about in an earlier
// permutation. Source: README of src/test/isolation, PostgreSQL.
#include "collect/schedule/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "collect/client.h"
#include "collect/player.h"
#include "collect/run_id.h"
#include "collect/schedule/keys.h"
#include "collect/url.h"
#include "history/condition.h"

namespace assay::internal::collect::schedule {
namespace {

constexpr size_t kMostVersions = 200;  // versions of a table whose conditions are evaluated

constexpr auto kConnectFor = std::chrono::seconds(3);
constexpr auto kReplicaFor = std::chrono::milliseconds(300);

class OpenStage : public Stage {
 public:
  OpenStage(const File& file, const Options& options) : file_(file), options_(options) {}
  ~OpenStage() override {
    std::vector<Spoken> ignored;
    if (!has_place_ || !control_) return;
    static_cast<void>(control_->speak(observer_.end_place(), ignored));
    static_cast<void>(control_->speak(observer_.drop_functions(), ignored));
    static_cast<void>(drivers_[0]->mark_finished());
  }

  Status open() {
    const uint64_t run = draw_run_id();
    for (const std::string& url : options_.databases) {
      auto driver = open_driver({.url = url,
                                 .isolation = options_.isolation,
                                 .timeout = options_.timeout,
                                 .seed = options_.seed,
                                 .tables = {},
                                 .run = run});
      if (!driver.ok()) return driver.error();
      drivers_.push_back(std::move(*driver));
    }
    if (drivers_.empty()) return usage_error("no database to play on; expected a URL");
    if (Status s = drivers_[0]->prepare(); !s.ok()) return s;
    if (kin_of(*drivers_[0]) == Kin::keys) {
      auto table = key_table(file_, *drivers_[0]);
      if (!table.ok()) return table.error();
      keys_ = std::move(*table);
      observer_ = Observer(std::vector<Table>{
          {.name = keys_.name, .columns = {keys_.key, keys_.value}, .key = {keys_.key}}});
    } else {
      observer_ = Observer(*drivers_[0]);
    }
    return connect();
  }

  const Driver& driver() const override { return *drivers_[0]; }

  Result<Performance> play(const Permutation& permutation) override {
    if (is_used_)
      if (Status s = begin_anew(); !s.ok()) return s.error();
    is_used_ = observer_.kin() == Kin::keys;
    now_ = {.permutation = permutation.name};
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
    std::vector<size_t> statements;  // indices into now_
    std::vector<uint64_t> wanted_notices;
    bool answered = false;
  };

  Status connect() {
    auto control = connect_to(0);
    if (!control.ok()) return control.error();
    control_ = std::move(*control);
    if (Status s = observer_.spare(*control_); !s.ok()) return s;
    has_place_ = true;
    if (Status s = must(observer_.make_functions(), "cannot create the functions that report rows");
        !s.ok())
      return s;
    // The locks of one endpoint say nothing about the others.
    auto locks = drivers_.size() == 1 ? drivers_[0]->lock_view() : nullptr;
    sees_locks_ = locks != nullptr;
    player_.emplace(std::move(locks));
    for (size_t i = 0; i < file_.sessions.size(); ++i) {
      auto session = connect_to(i);
      if (!session.ok()) return session.error();
      sessions_.push_back(std::move(*session));
      player_->add(sessions_.back()->backend());
    }
    return Ok{};
  }
  // Begins anew if the present content cannot be removed by SQL.
  Status begin_anew() {
    player_.reset();
    sessions_.clear();
    control_.reset();
    drivers_.clear();
    return open();
  }
  // Tries repeatedly, because a replica may soon have what it lacks now.
  Result<std::unique_ptr<DriverSession>> connect_to(size_t endpoint) {
    Driver& driver = *drivers_[endpoint % drivers_.size()];
    const auto deadline = std::chrono::steady_clock::now() + kConnectFor;
    auto session = driver.connect();
    while (!session.ok() && drivers_.size() > 1 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      session = driver.connect();
    }
    if (session.ok() && observer_.kin() == Kin::keys)
      return speaking(std::move(*session), keys_, driver);
    return session;
  }

  // Executes statements that must succeed on the one connection that sets up.
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
  // Sends a setup or teardown, and reports the rows that it returned last.
  Status tell_setup(const std::string& sql, bool must_succeed) {
    std::vector<Spoken> answers;
    const std::vector<std::string> all = texts(sql);
    if (all.empty()) return Ok{};
    if (Status s = control_->speak(all, answers); !s.ok()) return s;
    if (must_succeed && !answers.back().error.empty())
      return bad_input("the setup failed: " + answers.back().error);
    if (observer_.kin() == Kin::keys) note_first_rows(all, answers);
    if (!answers.back().columns.empty())
      now_.told.push_back({.what = Told::What::result, .result = answers.back()});
    return Ok{};
  }

  void note_first_rows(const std::vector<std::string>& sql, std::vector<Spoken>& answers) {
    for (size_t i = 0; i < answers.size(); ++i) {
      Sight sight;
      observer_.take(observer_.ask(sql[i]), answers[i], sight);
      for (Change& c : sight.changes) now_.first_rows.push_back(std::move(c.after));
    }
  }

  Status set_up() {
    // On PostgreSQL in one transaction, since otherwise each statement would sync the disk.
    if (Status s = must(observer_.begin_place(), "cannot create the place to play in"); !s.ok())
      return s;
    for (const std::string& sql : file_.setup)
      if (Status s = tell_setup(sql, true); !s.ok()) return s;
    if (Status s = observer_.look(*control_); !s.ok()) return s;
    for (const Turn& turn : permutation_->turns)
      for (const std::string_view statement : statements_of(file_.steps[turn.step].sql))
        observer_.leave_out_altered(statement);
    for (const std::string& setup : file_.setup)
      for (const std::string_view statement : statements_of(setup)) observer_.note_made(statement);
    if (Status s = observer_.see_rows(*control_, now_.first_rows); !s.ok()) return s;
    if (Status s = observer_.watch(*control_); !s.ok()) return s;
    now_.tables = observer_.tables();
    // A replica may need a moment; what it shows later is due to the schedule.
    if (drivers_.size() > 1) std::this_thread::sleep_for(kReplicaFor);
    for (size_t i = 0; i < sessions_.size(); ++i) {
      std::vector<std::string> sql = observer_.enter();
      // On other databases it was set when connecting.
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

  // Executes the setup or teardown of a session.
  Status beside(size_t session, const std::string& sql, bool must_succeed) {
    if (sql.empty()) return Ok{};
    const size_t before = now_.statements.size();
    speak(session, SIZE_MAX, sql);
    if (now_.statements.size() == before) return Ok{};
    const Spoken& last = now_.statements.back().answer;
    if (must_succeed && !last.error.empty())
      return bad_input(fmt::format("the setup of session '{}' failed: {}",
                                   file_.sessions[session].name, last.error));
    if (!last.columns.empty()) now_.told.push_back({.what = Told::What::result, .result = last});
    return Ok{};
  }

  // Called by the lane of the session. `turn`: none for a setup or teardown.
  void speak(size_t session, size_t turn, const std::string& sql) {
    std::vector<Asked> asked;
    for (const std::string_view s : statements_of(sql)) asked.push_back(observer_.ask(s));
    const bool together = observer_.kin() == Kin::postgresql;
    for (size_t first = 0; first < asked.size();) {
      const size_t end = together ? asked.size() : first + 1;
      if (!speak_some(session, turn,
                      {asked.begin() + static_cast<ptrdiff_t>(first),
                       asked.begin() + static_cast<ptrdiff_t>(end)}))
        return;
      first = end;
    }
  }

  // Returns false if one of them failed.
  bool speak_some(size_t session, size_t turn, std::span<Asked> asked) {
    std::vector<std::string> sql;
    for (const Asked& a : asked) sql.push_back(a.sql);
    std::vector<Spoken> answers;
    const bool compares = observer_.compares_rows() && asked[0].sight.kind == Sight::Kind::write;
    std::vector<Version> before;
    if (compares) static_cast<void>(observer_.see_rows(*sessions_[session], before));
    const size_t answered = statements_answered();
    const int64_t request = clock_.now();
    const Status spoken = sessions_[session]->speak(sql, answers);
    const int64_t response = clock_.now();
    if (compares && spoken.ok() && answers[0].error.empty())
      compare_rows(session, before, answered, answers[0].open, asked[0].sight);
    if (!spoken.ok()) {
      answers.resize(std::min(answers.size() + 1, asked.size()));
      answers.back().error = spoken.error().message;
    }
    bool fine = spoken.ok();
    for (size_t i = 0; i < std::min(answers.size(), asked.size()); ++i) {
      Statement s;
      s.session = session;
      if (turn != SIZE_MAX) s.step = permutation_->turns[turn].step;
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
      if (turn != SIZE_MAX) turns_[turn].statements.push_back(s.place);
      now_.statements.push_back(std::move(s));
    }
    return fine;
  }

  size_t statements_answered() {
    const std::lock_guard lock(mutex_);
    return now_.statements.size();
  }

  // `answered`: how many statements had been answered when this one was sent. `open`: its
  // transaction is open.
  void compare_rows(size_t session, const std::vector<Version>& before, size_t answered, bool open,
                    Sight& sight) {
    std::vector<Version> after, committed;
    if (!observer_.see_rows(*sessions_[session], after).ok()) return;
    if (!observer_.changes_newest()) return observer_.take_difference(before, after, sight);
    const std::lock_guard lock(mutex_);
    // Others' rows may have changed meanwhile, and cannot be told from the session's own.
    if (!open && now_.statements.size() != answered) {
      sight.missed = "a change outside of a transaction that waited";
      return;
    }
    if (!open) return observer_.take_difference(before, after, sight);
    if (!observer_.see_rows(*control_, committed).ok()) return;
    observer_.take_difference(before, after, committed, left_by_transaction(session), sight);
  }

  // The rows that the open transaction of a session has left so far.
  std::vector<Version> left_by_transaction(size_t session) const {
    std::vector<Version> left;
    for (size_t i = now_.statements.size(); i-- > 0;) {
      const Statement& s = now_.statements[i];
      if (s.session != session) continue;
      if (!s.answer.open) break;
      for (const Change& c : s.sight.changes) left.push_back(c.after);
    }
    return left;
  }

  void ask_what_changed(Statement& s) {
    const std::vector<std::string> questions = observer_.told_afterwards();
    std::vector<Spoken> told;
    if (questions.empty() || !sessions_[s.session]->speak(questions, told).ok()) return;
    // The changes of a failed statement are undone.
    if (s.answer.error.empty() && !told.empty()) Observer::take_told(told.front(), s.sight);
  }

  Status take_turns() {
    turns_.assign(permutation_->turns.size(), {});
    active_.assign(sessions_.size(), SIZE_MAX);
    seen_waiting_.assign(sessions_.size(), SIZE_MAX);
    std::vector<size_t> waiting;
    for (size_t i = 0; i < permutation_->turns.size(); ++i) {
      const Turn& turn = permutation_->turns[i];
      const size_t session = file_.steps[turn.step].session;
      const bool queued = permutation_->queues && active_[session] != SIZE_MAX;
      if (active_[session] != SIZE_MAX && !queued)
        if (Status s = finish(session, waiting); !s.ok()) return s;
      {
        const std::lock_guard lock(mutex_);
        for (const Marker& m : turn.markers)
          turns_[i].wanted_notices.push_back(m.notices + notices_[file_.steps[m.step].session]);
      }
      active_[session] = i;
      player_->tell(session, [this, session, i, step = turn.step] {
        speak(session, i, file_.steps[step].sql);
        const std::lock_guard lock(mutex_);
        turns_[i].answered = true;
      });
      const bool completed = complete(i, false, true);
      complete_some(waiting, true);
      if (!completed) waiting.push_back(i);
    }
    while (!waiting.empty()) {
      const size_t before = waiting.size();
      complete_some(waiting, false);
      // Steps that markers hold back for each other are reported nevertheless.
      if (waiting.size() == before)
        for (const size_t i : std::exchange(waiting, {})) tell_completed(i);
    }
    return Ok{};
  }

  // Waits for the step in which the session is.
  Status finish(size_t session, std::vector<size_t>& waiting) {
    const size_t i = active_[session];
    if (!player_->wait(session, options_.timeout * 10))
      return io_error(fmt::format("step '{}' got no answer", name_of(i)));
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

  // `again`: the step was already reported as waiting. `may_wait`: it may wait for a lock. True
  // once it is over.
  bool complete(size_t i, bool again, bool may_wait) {
    const Turn& turn = permutation_->turns[i];
    const size_t session = file_.steps[turn.step].session;
    const bool held = !again && std::ranges::any_of(turn.markers, [](const Marker& m) {
      return m.kind == Marker::Kind::launched;
    });
    bool over = !held;
    if (over && may_wait) look(session);
    if (over && !may_wait) player_->wait(session, options_.timeout * 10);
    over = over && is_answered(i) && !is_held_back(i);
    if (!over && !again) now_.told.push_back({.what = Told::What::waiting, .step = turn.step});
    if (over) tell_completed(i, again ? Told::What::completed : Told::What::done);
    return over;
  }

  // Looks at a session: a waiting one waits until a transaction ends. A server that says who waits
  // is asked again nevertheless.
  void look(size_t session) {
    if (!sees_locks_ && seen_waiting_[session] == ended_) return;
    if (!player_->settle(session)) seen_waiting_[session] = ended_;
  }

  void tell_completed(size_t i, Told::What what = Told::What::completed) {
    const size_t session = file_.steps[permutation_->turns[i].step].session;
    if (active_[session] == i) active_[session] = SIZE_MAX;
    const std::lock_guard lock(mutex_);
    const std::vector<size_t>& done = turns_[i].statements;
    if (!done.empty() && !now_.statements[done.back()].answer.open) ++ended_;
    now_.told.push_back(
        {.what = what, .step = permutation_->turns[i].step, .statements = turns_[i].statements});
  }

  bool is_answered(size_t i) {
    const std::lock_guard lock(mutex_);
    return turns_[i].answered;
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
        // Replaces the session for the next permutation.
        auto session = connect_to(i);
        if (!session.ok()) return session.error();
        sessions_[i] = std::move(*session);
        player_->connected_anew(i, sessions_[i]->backend());
        continue;
      }
      if (Status s = beside(i, file_.sessions[i].teardown, false); !s.ok()) return s;
      std::vector<Spoken> ignored;
      const std::vector<std::string> roll_back = {"ROLLBACK"};
      if (Status s = sessions_[i]->speak(roll_back, ignored); !s.ok()) return s;
    }
    now_.compared = observer_.compares_rows();
    now_.changes_newest = observer_.changes_newest();
    if (now_.compared)
      if (Status s = observer_.see_rows(*control_, now_.last_rows); !s.ok()) return s;
    if (Status s = ask_conditions(); !s.ok()) return s;
    // The rest is removed before the next permutation.
    return tell_setup(file_.teardown, false);
  }

  // Asks, for each table with conditions, which of its versions satisfy them.
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
      for (const Version& v : s.sight.left_alone) note(v);
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
    if (observer_.kin() == Kin::keys) {
      const auto condition = parse_condition(query.where);
      if (!condition.ok()) return std::optional<bool>();
      const Truth truth = condition->holds(row_of(ValueView::row(row)));
      return truth.certainly_true() || truth.certainly_false()
                 ? std::optional(truth.certainly_true())
                 : std::optional<bool>();
    }
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
  std::vector<std::unique_ptr<Driver>> drivers_;  // for the endpoints
  KeyTable keys_;
  Observer observer_ = Observer(std::vector<Table>());
  bool is_used_ = false;  // the next permutation needs everything anew
  std::unique_ptr<DriverSession> control_;
  bool has_place_ = false;  // the place was created here, and is removed at the end
  std::vector<std::unique_ptr<DriverSession>> sessions_;
  RunClock clock_;
  const Permutation* permutation_ = nullptr;
  std::vector<size_t> active_;  // the turn in which each session is; SIZE_MAX: none
  bool sees_locks_ = false;
  uint64_t ended_ = 0;                  // number of transactions
  std::vector<uint64_t> seen_waiting_;  // by session: how many had ended when it was seen to wait
  std::map<std::string, std::optional<bool>> answers_;  // about conditions, for all permutations
  std::mutex mutex_;                                    // guards what follows, while lanes work
  Performance now_;
  std::vector<Running> turns_;
  std::vector<uint64_t> notices_;  // by session
  std::optional<Player> player_;   // is destroyed first
};

}  // namespace

std::vector<std::string> refusals(const Performance& played) {
  std::vector<std::string> all;
  std::set<size_t> refused;  // sessions whose transaction was refused
  for (const Statement& s : played.statements) {
    if (s.answer.error.empty() || !s.answer.open) refused.erase(s.session);
    if (!s.answer.error.empty() && (!s.answer.open || refused.insert(s.session).second))
      all.push_back(s.answer.error);
  }
  return all;
}

std::string outcome(const File& file, const Performance& played) {
  std::string out;
  const auto add = [&](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
  for (const Told& told : played.told) {
    if (told.step == SIZE_MAX) continue;
    const std::string& name = file.steps[told.step].name;
    if (told.what == Told::What::waiting) add(name + " waited");
    for (const size_t i : told.statements)
      if (const std::string& error = played.statements[i].answer.error; !error.empty())
        add(name + ": " + error.substr(0, error.find_first_of(" :")));
  }
  return out.empty() ? "nothing refused" : out;
}

Result<std::unique_ptr<Stage>> Stage::open(const File& file, const Options& asked) {
  Options options = asked;
  // With the default of `run` some transactions begin differently than in the schedule.
  if (options.isolation.empty() && !options.databases.empty() &&
      options.databases[0].starts_with("sqlite:"))
    options.isolation = "deferred";
  auto stage = std::make_unique<OpenStage>(file, options);
  if (Status s = stage->open(); !s.ok()) {
    Error error = s.error();
    error.message = redacted(error.message);
    return error;
  }
  return std::unique_ptr<Stage>(std::move(stage));
}

}  // namespace assay::internal::collect::schedule
