// Plays a schedule with the player of `assay play`: each transaction is a session, each statement a
// step, and the steps come in the order of the schedule.
//
//   2-1 step, 3-1 step, 3-1 commit, 2-1 step, 2-1 commit
//   2-1: BEGIN ISOLATION LEVEL READ COMMITTED   2-1: SELECT …
//   3-1: BEGIN …   3-1: UPDATE …   3-1: COMMIT   2-1: UPDATE …   2-1: COMMIT
//
// The initial state is made in a separate schema: the tables of the database are copied with their
// rows, indexes, sequences and checks; then each row in the history gets the value that it had when
// the first of the transactions began; then foreign keys and triggers are added, without a check of
// the existing rows. The tables of the application are only read: names in the sessions refer only
// to the copies (collect/schedule/observing.cc), and SQL that could reach beyond them by itself is
// refused.
//
// The observations are judged like any history. Cost: the rows of the database, once for each
// schedule.
#include "cli/predicted_play.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "assay/audit.h"
#include "base/json.h"
#include "certify/schedule_verifier.h"
#include "cli/console.h"
#include "collect/schedule/assemble.h"
#include "collect/schedule/observing.h"
#include "collect/schedule/play.h"
#include "collect/schedule/row_history.h"
#include "collect/schedule/statements.h"
#include "explain/names.h"
#include "history/accesses.h"
#include "predict/txn_meta.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

namespace schedule = collect::schedule;
using certify::Isolation;
using predict::SentStatement;

constexpr uint64_t kMostSetupBytes = 100 << 20;
constexpr std::chrono::milliseconds kMostWait(60'000);  // per statement; the setup copies tables
constexpr std::string_view kLockTimeout = "SET lock_timeout = '1s'";
constexpr size_t kMostStatement = 70;  // bytes in a message

// Copies the tables of the schema public, with their rows and the sequences that number them. A
// column that the copy generates is left out of the rows.
constexpr std::string_view kCopy = R"(DO $copy$ DECLARE t record; c record; s text; BEGIN
FOR t IN SELECT k.oid, k.relname FROM pg_class k WHERE k.relnamespace = 'public'::regnamespace AND k.relkind IN ('r', 'p') AND NOT
    k.relispartition ORDER BY k.oid LOOP
  EXECUTE format('CREATE TABLE assay_play.%1$I (LIKE public.%1$I INCLUDING ALL)', t.relname);
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO s FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum >
    0 AND NOT a.attisdropped AND a.attgenerated = '';
  IF s IS NOT NULL THEN
    EXECUTE format('INSERT INTO assay_play.%1$I (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM public.%1$I', t.relname, s);
  END IF;
  FOR c IN SELECT a.attname, a.attidentity, q.relname AS sequence FROM pg_attribute a CROSS JOIN LATERAL
      (SELECT pg_get_serial_sequence(format('public.%I', t.relname), a.attname) AS name) n JOIN pg_class q ON q.oid = n.name::regclass
      WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped LOOP
    IF c.attidentity = '' THEN
      EXECUTE format('CREATE SEQUENCE assay_play.%I', c.sequence);
      EXECUTE format('ALTER TABLE assay_play.%I ALTER %I SET DEFAULT nextval(%L)', t.relname, c.attname, format('assay_play.%I',
        c.sequence));
      EXECUTE format('ALTER SEQUENCE assay_play.%I OWNED BY assay_play.%I.%I', c.sequence, t.relname, c.attname);
    END IF;
    EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), last_value, is_called) FROM public.%I', format('assay_play.%I',
      t.relname), c.attname, c.sequence) ;
  END LOOP;
END LOOP; END $copy$)";
// Refuses what would reach beyond the copies: a function of a trigger that names a schema, or may
// do so without showing it, and a default that takes numbers from a sequence of the application.
constexpr std::string_view kRefuse = R"(DO $refuse$ DECLARE f record; BEGIN
FOR f IN SELECT k.relname, g.tgname, p.proconfig, l.lanname, lower(regexp_replace(p.prosrc, '[[:space:]"]', '', 'g')) AS source
    FROM pg_trigger g JOIN pg_class k ON k.oid = g.tgrelid JOIN pg_proc p ON p.oid = g.tgfoid JOIN pg_language l ON l.oid = p.prolang
    WHERE NOT g.tgisinternal AND k.relnamespace = 'public'::regnamespace AND g.tgname <> 'zz_assay' LOOP
  IF f.lanname NOT IN ('plpgsql', 'sql') OR f.proconfig IS NOT NULL OR f.source ~ 'execute|search_path' OR EXISTS
      (SELECT 1 FROM pg_namespace WHERE nspname NOT LIKE 'pg\_%' AND strpos(f.source, lower(nspname) || '.') > 0) THEN
    RAISE EXCEPTION 'the trigger % of % may write outside of the copies; expected --setup with tables of your own', f.tgname, f.relname;
  END IF;
END LOOP;
FOR f IN SELECT k.relname, q.relname AS sequence FROM pg_depend d JOIN pg_attrdef x ON d.classid = 'pg_attrdef'::regclass AND d.objid =
    x.oid JOIN pg_class k ON k.oid = x.adrelid JOIN pg_class q ON d.refclassid = 'pg_class'::regclass AND d.refobjid = q.oid
    WHERE k.relnamespace = 'assay_play'::regnamespace AND q.relkind = 'S' AND q.relnamespace <> k.relnamespace LOOP
  RAISE EXCEPTION 'the rows of % are numbered by the sequence %, which no column owns; expected --setup with tables of your own',
    f.relname, f.sequence;
END LOOP; END $refuse$)";
constexpr std::string_view kGuard = R"(DO $guard$ DECLARE f record; BEGIN
FOR f IN SELECT k.relname, o.conname, o.oid FROM pg_constraint o JOIN pg_class k ON k.oid = o.conrelid WHERE o.contype = 'f' AND
    o.connamespace = 'public'::regnamespace AND o.conparentid = 0 ORDER BY o.oid LOOP
  EXECUTE format('ALTER TABLE assay_play.%I ADD CONSTRAINT %I %s NOT VALID', f.relname, f.conname,
    replace(pg_get_constraintdef(f.oid), 'REFERENCES public.', 'REFERENCES assay_play.'));
END LOOP;
FOR f IN SELECT k.relname, g.oid FROM pg_trigger g JOIN pg_class k ON k.oid = g.tgrelid WHERE NOT g.tgisinternal AND k.relnamespace =
    'public'::regnamespace AND g.tgname <> 'zz_assay' ORDER BY g.oid LOOP
  EXECUTE replace(pg_get_triggerdef(g.oid), format(' ON public.%I ', f.relname), format(' ON assay_play.%I ', f.relname)) FROM
    pg_trigger g WHERE g.oid = f.oid;
END LOOP; END $guard$)";
// Replaces a row by this one, or removes it if that is null. `parts`: the columns of its primary
// key, as texts.
constexpr std::string_view kPut =
    R"(CREATE FUNCTION assay_play.assay_put(name text, parts text[], held jsonb) RETURNS void
LANGUAGE plpgsql AS $put$ DECLARE t regclass := ('assay_play.' || quote_ident(name))::regclass; k text; c text; n text; hits int; BEGIN
SELECT string_agg(format('x.%I::text = $1[%s]', a.attname, array_position(i.indkey::int2[], a.attnum) + 1), ' AND ') INTO k
  FROM pg_index i JOIN pg_attribute a ON a.attrelid = t AND a.attnum = ANY (i.indkey) WHERE i.indrelid = t AND i.indisprimary;
IF held ? 'written_by' THEN held := held || jsonb_build_object('assay_version', held->'written_by'); END IF;
IF held IS NULL THEN EXECUTE format('DELETE FROM %s x WHERE %s', t, k) USING parts; RETURN; END IF;
SELECT string_agg(quote_ident(a.attname), ', '), string_agg('n.' || quote_ident(a.attname), ', ') INTO c, n FROM pg_attribute a
  WHERE a.attrelid = t AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND held ? a.attname;
EXECUTE format('UPDATE %1$s x SET (%2$s) = ROW(%3$s) FROM jsonb_populate_record(NULL::%1$s, $2) n WHERE %4$s', t, c, n, k)
  USING parts, held;
GET DIAGNOSTICS hits = ROW_COUNT;
IF hits = 0 THEN EXECUTE format('INSERT INTO %1$s (%2$s) OVERRIDING SYSTEM VALUE SELECT %3$s FROM
  jsonb_populate_record(NULL::%1$s, $1) n', t, c, n) USING held; END IF;
END $put$)";

// Gives the next row of a table that is numbered by a sequence this number, as it had in the run:
// later statements name it.
constexpr std::string_view kNext =
    R"(CREATE FUNCTION assay_play.assay_next(name text, key bigint) RETURNS void LANGUAGE plpgsql AS $next$
DECLARE c record; BEGIN
FOR c IN SELECT pg_get_serial_sequence('assay_play.' || quote_ident(name), a.attname) AS sequence FROM pg_attribute a JOIN pg_index i ON
  a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = ('assay_play.' || quote_ident(name))::regclass AND
  i.indisprimary LOOP
  IF c.sequence IS NOT NULL THEN PERFORM setval(c.sequence, key, false); END IF;
END LOOP; END $next$)";

std::string_view in_sql(Isolation isolation) {
  switch (isolation) {
    case Isolation::read_committed:
      return "READ COMMITTED";
    case Isolation::snapshot:
      return "REPEATABLE READ";
    case Isolation::ssi:
      return "SERIALIZABLE";
    case Isolation::innodb_repeatable_read:
    case Isolation::prefix:
      break;
  }
  return {};
}

std::string literal(std::string_view text) { return schedule::in_quotes(text, '\''); }

class Playing {
 public:
  Playing(const certify::Schedule& schedule, const History& recorded, const History& predicted,
          const PlayTarget& target)
      : schedule_(schedule), h_(recorded), predicted_(predicted), target_(target) {
    for (const certify::Schedule::Member& m : schedule.members)
      metas_.push_back(predict::meta_of(recorded.meta(m.txn)));
  }

  Result<Played> run() {
    if (const std::string why = make_steps(); !why.empty())
      return Played{Played::Came::unplayable, why, {}};
    if (Status s = make_setup(); !s.ok()) return s.error();
    schedule::Options options;
    options.databases = {target_.database};
    options.timeout = kMostWait;
    auto stage = schedule::Stage::open(file_, options);
    if (!stage.ok()) return stage.error();
    auto played = (*stage)->play(file_.permutations.front());
    if (!played.ok()) return played.error();
    auto assembled = schedule::assemble(file_, *played, (*stage)->driver().describe());
    if (!assembled.ok()) return assembled.error();
    return judge(*played, std::move(*assembled));
  }

 private:
  // Returns why it cannot be played; empty: it can.
  std::string make_steps() {
    schedule::Permutation order;
    std::vector<size_t> next_step(schedule_.members.size(), 0);  // of each member
    std::vector<size_t> sent(schedule_.members.size(), 0);       // statements, of each member
    for (uint32_t m = 0; m < schedule_.members.size(); ++m) {
      if (metas_[m].statements.empty()) return "the history lacks its statements";
      if (in_sql(schedule_.members[m].isolation).empty())
        return fmt::format("{} is not PostgreSQL's",
                           certify::isolation_name(schedule_.members[m].isolation));
      file_.sessions.push_back(
          {.name = h_.name(schedule_.members[m].txn), .setup = std::string(kLockTimeout)});
    }
    for (size_t e = 0; e < schedule_.events.size(); ++e) {
      const auto& [what, m] = schedule_.events[e];
      const TxnId t = schedule_.members[m].txn;
      if (what == certify::Schedule::What::begin) {
        add_turn(m, "SELECT 1", order);  // which takes the snapshot
        continue;
      }
      const bool ends = what == certify::Schedule::What::commit;
      size_t until = metas_[m].statements.size();
      if (!ends) {
        const certify::Step step = certify::steps_of(h_, t)[next_step[m]++];
        const bool cut = step.part == certify::Step::Part::unlocked &&
                         (e + 1 == schedule_.events.size() || schedule_.events[e + 1].member != m);
        if (cut) return "it interrupts a statement that does not wait for a lock";
        until = statement_of(m, step.first, sent[m]);
      }
      for (; sent[m] < until; ++sent[m])
        if (std::string why = add_step(m, metas_[m].statements[sent[m]], order); !why.empty())
          return why;
      if (ends) add_turn(m, "COMMIT", order);
    }
    file_.permutations.push_back(std::move(order));
    return {};
  }

  // Returns the index after the statement of an operation. A statement without operations goes with
  // the next one.
  size_t statement_of(uint32_t m, OpId op, size_t at_least) const {
    const SentStatement* const s = predict::statement_at(metas_[m], h_.op_time(op));
    return s == nullptr
               ? at_least
               : std::max(at_least, static_cast<size_t>(s - metas_[m].statements.data()) + 1);
  }

  std::string add_step(uint32_t m, const SentStatement& s, schedule::Permutation& order) {
    std::string sql;
    size_t done = 0;
    const std::vector<schedule::Word> words = schedule::words_of(s.text);
    for (size_t i = 0; i < words.size(); ++i) {
      const bool names_schema =
          words[i].is_name() && i + 1 < words.size() && words[i + 1].text == ".";
      if ((names_schema && words[i].text == "public") || words[i].text == "search_path")
        return fmt::format("`{}` names a schema, and would be played outside of the copy",
                           schedule::in_one_line(s.text, kMostStatement));
      if (words[i].text != "$" || i + 1 == words.size() || words[i + 1].at != words[i].end)
        continue;
      const size_t n = std::strtoull(words[i + 1].text.c_str(), nullptr, 10);
      if (n == 0 || n > s.values.size() ||
          (!s.values[n - 1].is_string() && !s.values[n - 1].is_null()))
        return fmt::format("a value of `{}` was not recorded",
                           schedule::in_one_line(s.text, kMostStatement));
      sql += s.text.substr(done, words[i].at - done);
      sql += s.values[n - 1].is_null() ? "NULL" : literal(s.values[n - 1].text());
      done = words[i + 1].end;
    }
    const bool inserts = !words.empty() && words[0].is("insert");
    if (const auto row = inserts ? first_row_of(m, s) : std::nullopt)
      add_turn(
          m, fmt::format("SELECT assay_play.assay_next({}, {})", literal(row->first), row->second),
          order);
    add_turn(m, sql + s.text.substr(done), order);
    sent_of_step_.back() = s.sent;
    return {};
  }

  // Returns the table of the rows that the statement wrote and the least number among them.
  std::optional<std::pair<std::string, int64_t>> first_row_of(uint32_t m,
                                                              const SentStatement& s) const {
    std::optional<std::pair<std::string, int64_t>> least;
    const TxnId t = schedule_.members[m].txn;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (!installs_version(h_.op(i)) || h_.op_time(i).request != s.sent) continue;
      const auto row = schedule::row_name(h_.key(install_of(h_, i).key).to_string());
      int64_t number = 0;
      if (!row || row->key.size() != 1) return std::nullopt;
      const std::string& text = row->key[0];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size() || number < 1)
        return std::nullopt;
      if (!least || number < least->second) least = {row->table, number};
    }
    return least;
  }

  void add_turn(uint32_t m, const std::string& sql, schedule::Permutation& order) {
    schedule::Session& session = file_.sessions[m];
    if (session.steps.empty() && !sql.starts_with("BEGIN "))
      add_turn(m, fmt::format("BEGIN ISOLATION LEVEL {}", in_sql(schedule_.members[m].isolation)),
               order);
    schedule::Step step;
    step.name = fmt::format("{}.{}", session.name, session.steps.size() + 1);
    step.session = m;
    step.sql = sql;
    session.steps.push_back(file_.steps.size());
    order.turns.push_back({.step = file_.steps.size()});
    file_.steps.push_back(std::move(step));
    sent_of_step_.push_back(Interval::kUnknown);
  }

  Status make_setup() {
    if (target_.setup.empty()) {
      file_.setup.emplace_back(kCopy);
      file_.setup.emplace_back(kRefuse);
    } else {
      auto text = read_file(target_.setup, kMostSetupBytes);
      if (!text.ok()) return text.error();
      file_.setup.push_back(std::move(*text));
    }
    file_.setup.emplace_back(kPut);
    std::string puts;
    const auto state = state_before();
    // `assay run --sql` has another name for its tables, and names the versions of their rows.
    const std::string prefix =
        std::ranges::any_of(state,
                            [](const auto& of) {
                              return of.second &&
                                     of.second->find("\"written_by\":") != std::string::npos;
                            })
            ? "assay_"
            : "";
    for (const auto& [key, row] : state) {
      const auto name = schedule::row_name(key);
      if (!name) continue;
      if (name->table.find('.') != std::string::npos)
        return usage_error(fmt::format(
            "the table {} is not in the schema public; expected the tables to play on there",
            name->table));
      std::string parts;
      for (const std::string& part : name->key)
        parts += (parts.empty() ? "" : ", ") + literal(part);
      puts += fmt::format("SELECT assay_play.assay_put({}, ARRAY[{}], {});\n",
                          literal(prefix + name->table), parts, row ? literal(*row) : "NULL");
    }
    if (!puts.empty()) file_.setup.push_back(std::move(puts));
    file_.setup.emplace_back("DROP FUNCTION assay_play.assay_put");
    file_.setup.emplace_back(kNext);
    if (target_.setup.empty()) file_.setup.emplace_back(kGuard);
    return Ok{};
  }

  // Returns the value of each row in the history when the schedule begins: JSON, or nullopt if it
  // was absent.
  std::map<std::string, std::optional<std::string>> state_before() const {
    std::map<std::string, std::optional<std::string>> state;
    const auto put = [&](const ValueView& key, const ValueView& value) {
      // The first value of a row may not have been recorded: then it is as in the database.
      const std::string row = value.is_null() ? "" : value.to_string();
      if (row == schedule::kUnseenRow) return;
      state[key.to_string()] = row.empty() ? std::nullopt : std::optional(row);
    };
    for (KeyId k = 0; k < h_.key_count(); ++k) put(h_.key(k), h_.initial(k));
    std::vector<TxnId> before;
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (h_.status(t) == TxnStatus::committed && h_.end_time(t).known() && ended_before(t))
        before.push_back(t);
    std::ranges::stable_sort(before, {}, [&](TxnId t) { return h_.end_time(t).request; });
    for (const TxnId t : before)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (installs_version(h_.op(i))) {
          const Install left = install_of(h_, i);
          put(h_.key(left.key), left.removes ? ValueView::null() : h_.version_value(left.version));
        }
    // For rows that the transactions themselves touch, the prediction says what they held.
    for (KeyId k = 0; k < predicted_.key_count(); ++k)
      if (!predicted_.initial(k).is_null()) put(predicted_.key(k), predicted_.initial(k));
    return state;
  }
  bool ended_before(TxnId t) const {
    return std::ranges::all_of(schedule_.members, [&](const certify::Schedule::Member& m) {
      return t != m.txn && h_.end_time(t).response < h_.begin_time(m.txn).request;
    });
  }

  Result<Played> judge(const schedule::Performance& played, schedule::Assembled assembled) const {
    Played result;
    AuditOptions options;
    options.check.levels = {LevelId::serializable};
    const Audit audit = assay::audit(std::move(assembled.history), "played", options);
    RecordedOn on = recorded_on(audit.history);
    on.isolation.clear();  // each transaction sets its own
    result.database = in_words(on);
    const std::string changed = other_changes(played);
    const Verdict* const v = audit.result.find(LevelId::serializable);
    if (std::string refused = refusal(played); !refused.empty()) {
      result.came = Played::Came::refused;
      result.words = std::move(refused);
    } else if (!changed.empty()) {
      result.came = Played::Came::otherwise;
      result.words = changed;
    } else if (v != nullptr && v->outcome == Outcome::violated) {
      result.came = Played::Came::violated;
      result.words = audit.explanations.empty()
                         ? ""
                         : std::string(anomaly_info(audit.explanations.front().anomaly).name);
    } else if (v != nullptr && v->outcome == Outcome::satisfied && assembled.missed.empty()) {
      result.came = Played::Came::serializable;
    } else {
      result.came = Played::Came::unseen;
      if (!assembled.missed.empty()) result.words = assembled.missed.front();
    }
    return result;
  }

  // Returns the first statement that failed or waited.
  std::string refusal(const schedule::Performance& played) const {
    for (const schedule::Told& told : played.told) {
      if (told.step == SIZE_MAX) continue;
      const std::string which =
          fmt::format("{} `{}`", file_.sessions[file_.steps[told.step].session].name,
                      schedule::in_one_line(file_.steps[told.step].sql, kMostStatement));
      for (const size_t i : told.statements)
        if (const std::string& error = played.statements[i].answer.error; !error.empty())
          return fmt::format("{}: {}", which, error);
      if (told.what == schedule::Told::What::waiting) return which + " waits for a lock";
    }
    return {};
  }

  // Returns a statement that changed more or fewer rows than in the run.
  std::string other_changes(const schedule::Performance& played) const {
    for (const schedule::Statement& s : played.statements) {
      if (s.step == SIZE_MAX || sent_of_step_[s.step] == Interval::kUnknown ||
          s.sight.kind != schedule::Sight::Kind::write)
        continue;
      const TxnId t = schedule_.members[s.session].txn;
      std::set<KeyId> then;
      bool known = true;
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        if (!installs_version(h_.op(i))) continue;
        known = known && h_.op_time(i).known();
        if (h_.op_time(i).request == sent_of_step_[s.step]) then.insert(install_of(h_, i).key);
      }
      if (known && then.size() != s.sight.changes.size())
        return fmt::format("`{}` changed {}, and {} in the run",
                           schedule::in_one_line(s.asked, kMostStatement),
                           counted(s.sight.changes.size(), "row", "rows"), then.size());
    }
    return {};
  }

  const certify::Schedule& schedule_;
  const History& h_;
  const History& predicted_;
  const PlayTarget& target_;
  std::vector<predict::TxnMeta> metas_;  // per member
  schedule::File file_;
  std::vector<int64_t> sent_of_step_;  // indexed by step: when its statement was sent in the run
};

}  // namespace

std::string_view word_of(Played::Came came) {
  switch (came) {
    case Played::Came::violated:
      return "as predicted";
    case Played::Came::serializable:
      return "serializable";
    case Played::Came::unseen:
      return "not observed";
    case Played::Came::refused:
      return "refused";
    case Played::Came::otherwise:
      return "other changes";
    case Played::Came::unplayable:
      break;
  }
  return "not played";
}

Result<Played> play_schedule(const certify::Schedule& schedule, const History& recorded,
                             const History& predicted, const PlayTarget& target) {
  return Playing(schedule, recorded, predicted, target).run();
}

}  // namespace assay::internal::cli
