#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "assay/audit.h"
#include "assay/format.h"
#include "base/json.h"
#include "base/wrap.h"
#include "certify/predictions.h"
#include "certify/schedule_verifier.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/predicted_boundary.h"
#include "cli/predicted_files.h"
#include "cli/predicted_play.h"
#include "cli/suggestion.h"
#include "collect/schedule/row_history.h"
#include "explain/names.h"
#include "history/accesses.h"
#include "predict/execution.h"
#include "predict/prediction.h"
#include "predict/txn_meta.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

using predict::Isolation;
using predict::Predicted;
using predict::Prediction;
using predict::Program;
using Answer = Prediction::Answer;

constexpr size_t kMostPlayed = 5;  // per program and isolation, until one goes as predicted

constexpr size_t kMostName = 80;

struct PredictState {
  PredictedFiles files;
  std::vector<std::string> at;
  bool plays = false;
  std::vector<std::string> databases;
  PlayTarget target;
  bool json = false;
  ReadFlags reading;
  BudgetFlags budget;
};

// What a schedule results in, as an audited history.
struct Execution {
  Audit audit;
  bool seen_by_reads = true;         // violated even without the orders that it states
  std::string history, certificate;  // files, if they were written
  std::vector<Played> played;        // the schedules of the prediction, until one went as predicted
};

std::vector<Isolation> isolations_of(const std::vector<std::string>& names) {
  std::vector<Isolation> isolations;
  for (const std::string& name : names) {
    const auto found = certify::find_isolation(name);
    if (!found) {
      std::vector<std::string> all;
      for (size_t i = 0; i < certify::kIsolationCount; ++i)
        all.emplace_back(certify::isolation_name(static_cast<Isolation>(i)));
      for (std::string& weak : weak_level_names()) all.push_back(std::move(weak));
      bad_flag("--at", fmt::format("unknown isolation '{}'{}; expected {}", name,
                                   did_you_mean(name, all), fmt::join(all, ", ")));
    }
    isolations.push_back(*found);
  }
  return isolations;
}

// The weak levels, if the question is about these.
std::vector<LevelId> weak_levels_of(const PredictState& s) {
  std::vector<LevelId> levels;
  for (const std::string& name : s.at)
    if (const auto level = find_weak_level(name)) levels.push_back(*level);
  if (!levels.empty() && levels.size() < s.at.size())
    bad_flag("--at", fmt::format("{} are levels with other sources of reads, the others isolations "
                                 "of a database; expected only one kind",
                                 fmt::join(weak_level_names(), " and ")));
  if (!levels.empty() && s.plays)
    bad_flag("--play", "an execution at a weak level cannot be played");
  return levels;
}

std::string_view word_of(Answer answer) {
  switch (answer) {
    case Answer::holds:
      return "holds";
    case Answer::breaks:
      return "breaks";
    case Answer::unknown:
      break;
  }
  return "unknown";
}

Result<Audit> audit_schedule(const certify::Schedule& schedule, const History& history,
                             bool states_orders) {
  auto predicted = predict::predicted_history(schedule, history, states_orders);
  if (!predicted.ok()) return predicted.error();
  AuditOptions options;
  options.check.levels = {LevelId::serializable};
  return audit(std::move(*predicted), "predicted", options);
}

bool is_violated(const Audit& a) {
  const Verdict* verdict = a.result.find(LevelId::serializable);
  return verdict != nullptr && verdict->outcome == Outcome::violated;
}

Result<Execution> execute(const certify::Schedule& schedule, const History& history) {
  auto audit = audit_schedule(schedule, history, true);
  if (!audit.ok()) return audit.error();
  Execution e;
  e.audit = std::move(*audit);
  const auto by_reads = audit_schedule(schedule, history, false);
  if (!by_reads.ok()) return by_reads.error();
  e.seen_by_reads = is_violated(*by_reads);
  return e;
}

// Plays one schedule after the other until one is violated, which is then reported instead of the
// first.
Status play(const PredictState& s, Prediction& p, const History& history, Execution& e) {
  std::vector<Played> tried;
  for (size_t i = 0; i < p.schedules.size(); ++i) {
    auto execution = execute(p.schedules[i], history);
    if (!execution.ok()) return execution.error();
    auto played = play_schedule(p.schedules[i], history, execution->audit.history, s.target);
    if (!played.ok()) return played.error();
    tried.push_back(std::move(*played));
    if (tried.back().came != Played::Came::violated) continue;
    e = std::move(*execution);
    std::swap(p.schedules.front(), p.schedules[i]);
    break;
  }
  e.played = std::move(tried);
  return Ok{};
}

// Returns the name of the files about a program; a number distinguishes programs whose names differ
// only in other characters.
std::string name_of_files(const Program& program, std::set<std::string>& taken) {
  std::string name = program.name.empty() ? "transactions" : program.name;
  const auto is_left_out = [](unsigned char c) { return !std::isalnum(c) && c != '_'; };
  std::ranges::replace_if(name, is_left_out, '-');
  std::string free = name;
  for (int n = 2; !taken.insert(free).second; ++n) free = fmt::format("{}-{}", name, n);
  return free;
}

Status write_execution(const PredictState& s, const std::string& name, const Prediction& p,
                       const History& history, Execution& e) {
  auto certificate = s.files.certificate(name, {{p.schedules.front()}, {}}, history);
  if (!certificate.ok()) return certificate.error();
  e.certificate = std::move(*certificate);
  auto written = s.files.history(name, e.audit.history);
  if (!written.ok()) return written.error();
  e.history = std::move(*written);
  return Ok{};
}

// "`SELECT v FROM t WHERE id = $1` of 7 (app.py:12)"
std::string in_words(const predict::SentStatement& sent) {
  constexpr size_t kMostStatement = 90, kMostValue = 40;
  std::string values;
  for (const Json& value : sent.values)
    values +=
        (values.empty() ? " of " : ", ") + (value.is_string() ? display(value.text(), kMostValue)
                                            : value.is_null() ? "null"
                                                              : "?");
  return fmt::format("`{}`{}{}",
                     display(collect::schedule::in_one_line(sent.text, kMostStatement), 200),
                     values, sent.place.empty() ? "" : fmt::format(" ({})", sent.place));
}

// Returns a line for what one transaction does until the turn of another; if its statements are
// known, one line for each.
std::string steps_in_words(const certify::Schedule& schedule, const History& recorded,
                           const History& predicted) {
  using What = certify::Schedule::What;
  std::string text;
  std::vector<size_t> next(schedule.members.size(), 0);
  std::vector<predict::TxnMeta> metas;
  for (const certify::Schedule::Member& m : schedule.members)
    metas.push_back(predict::meta_of(recorded.meta(m.txn)));
  uint32_t turn = kNone;
  for (const auto& [what, member] : schedule.events) {
    const bool first = std::exchange(turn, member) != member;
    const std::string name = first ? display_txn(predicted, member) : "";
    const auto begin = [&](bool line) {
      if (first || line) text += fmt::format("{}    {:<8}", text.empty() ? "" : "\n", name);
    };
    const bool has_sql = !metas[member].statements.empty();
    if (what != What::step) {
      begin(has_sql);
      text += what == What::commit ? " COMMIT" : " takes its snapshot";
      continue;
    }
    const TxnId t = schedule.members[member].txn;
    const certify::Step step = certify::steps_of(recorded, t)[next[member]++];
    if (step.part == certify::Step::Part::unlocked && !first)
      continue;  // shown with the rest of its statement
    const predict::SentStatement* const sent =
        predict::statement_at(metas[member], recorded.op_time(step.first));
    begin(sent != nullptr);
    if (sent != nullptr) text += " " + in_words(*sent);
    if (step.part == certify::Step::Part::unlocked) continue;
    text += sent == nullptr ? " " : fmt::format("\n{:15}", "");
    const OpId at = predicted.first_op(member) - recorded.first_op(t);
    std::string done;
    for (OpId i = step.first; i < step.end; ++i) {
      // The rows of a range are separate reads.
      if (sent != nullptr && observation_of(predicted, at + i).accepts == Accepts::rows &&
          i + 1 < step.end)
        continue;
      done += (done.empty() ? "" : " ") + display_op(predicted, at + i);
    }
    text += done;
  }
  return text + "\n";
}

std::string table_of(const std::vector<Program>& programs) {
  constexpr size_t kLeast = 7;
  size_t width = kLeast;
  for (const Program& p : programs) width = std::max(width, display(p.name, kMostName).size());
  std::string text = fmt::format("  {:<{}}", "", width);
  for (const Prediction& p : programs.front().predictions)
    text += fmt::format("  {:<{}}", certify::isolation_name(p.isolation),
                        std::max(kLeast, certify::isolation_name(p.isolation).size()));
  if (programs.front().needs) text += "  needs";
  text += "\n";
  for (const Program& program : programs) {
    text += fmt::format("  {:<{}}", display(program.name, kMostName), width);
    for (const Prediction& p : program.predictions)
      text += fmt::format("  {:<{}}", word_of(p.answer),
                          std::max(kLeast, certify::isolation_name(p.isolation).size()));
    if (program.needs) text += fmt::format("  {}", certify::isolation_name(*program.needs));
    text += "\n";
  }
  return text;
}

std::string what_of(const Program& program) {
  return program.name.empty() ? "A transaction" : display(program.name, kMostName);
}

bool shares_session(const certify::Schedule& schedule, const History& h) {
  std::set<SessionId> sessions;
  for (const auto& member : schedule.members) sessions.insert(h.session(member.txn));
  return sessions.size() < schedule.members.size();
}

// "2 were refused, such as 2-1 `UPDATE …`: 40001 …"
std::string others_in_words(std::span<const Played> played) {
  using Came = Played::Came;
  std::string text;
  for (const auto& [came, words] :
       {std::pair(Came::serializable, "had a serial order"),
        std::pair(Came::unseen, "had a serial order as far as they were observed"),
        std::pair(Came::refused, "were refused"), std::pair(Came::otherwise, "changed other rows"),
        std::pair(Came::unplayable, "could not be played")}) {
    const auto first = std::ranges::find(played, came, &Played::came);
    if (first == played.end()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ",
                        std::ranges::count(played, came, &Played::came), words);
    if (!first->words.empty())
      text += fmt::format("{} {}", came == Came::unseen ? ", not" : ", such as",
                          display(first->words, 300));
  }
  return text;
}

std::string played_in_words(const std::vector<Played>& played) {
  if (played.empty()) return {};
  const Played& last = played.back();
  const std::string on = last.database.empty() ? "" : " on " + last.database;
  const std::string others = others_in_words(last.came == Played::Came::violated
                                                 ? std::span(played).first(played.size() - 1)
                                                 : std::span(played));
  if (last.came != Played::Came::violated)
    return fmt::format("Of {} played{}, none went wrong: {}.",
                       counted(played.size(), "execution", "executions"), on, others);
  return fmt::format(
      "It was played{} with the statements of the application, and the result has no serial order: "
      "{}.{}",
      on, last.words, others.empty() ? "" : fmt::format(" Of those before, {}.", others));
}

// Describes why a program breaks: the steps, their anomaly, and the file with the details.
std::string break_in_words(const Program& program, const Prediction& p, const Execution& e,
                           const History& recorded) {
  std::string text =
      fmt::format("\n{} breaks at {}", what_of(program), certify::isolation_name(p.isolation));
  const auto& explanations = e.audit.explanations;
  if (!explanations.empty())
    text += fmt::format(": {}", anomaly_info(explanations.front().anomaly).name);
  text += "\n\n" + steps_in_words(p.schedules.front(), recorded, e.audit.history) + "\n";
  const auto tell = [&](std::string_view sentence) {
    text += fmt::format("  {}\n", wrapped(sentence, columns_of_stdout(), 2, 2));
  };
  if (!explanations.empty())
    for (const std::string& sentence : explanations.front().sentences) tell(sentence);
  if (shares_session(p.schedules.front(), recorded))
    tell(
        "Two of them belong to one session, which runs one transaction at a time: different "
        "sessions would have to run them.");
  if (!e.seen_by_reads)
    tell("No read shows it: some serial order returns the same values, but leaves another state.");
  if (const std::string sentence = played_in_words(e.played); !sentence.empty()) tell(sentence);
  if (!e.history.empty()) tell(fmt::format("Written to {} and {}.", e.history, e.certificate));
  return text;
}

std::vector<std::string> assumptions_of(const History& h) {
  std::vector<std::string> all;
  if (!h.has_op_times())
    all.emplace_back(
        "The history does not separate statements, so each operation counts as one: record with "
        "--operation-times.");
  all.emplace_back(
      "Schedules are predicted, not played, unless stated otherwise. Locks without a change (FOR "
      "UPDATE) are known only if they were recorded and lock rows by key. Each transaction is "
      "assumed to continue as recorded whatever it reads: the database may refuse what breaks "
      "here, and the application may take another path.");
  all.emplace_back("What holds, holds only for the recorded transactions.");
  return all;
}

Exit exit_of(const std::vector<Program>& programs) {
  Exit exit = Exit::satisfied;
  for (const Program& program : programs)
    for (const Prediction& p : program.predictions)
      exit = worse(exit, p.answer == Answer::breaks    ? Exit::violated
                         : p.answer == Answer::unknown ? Exit::unknown
                                                       : Exit::satisfied);
  return exit;
}

Json as_json(const Prediction& p, const Execution* e) {
  Json j = {{"isolation", certify::isolation_name(p.isolation)}, {"verdict", word_of(p.answer)}};
  if (!p.reason.empty()) j["reason"] = p.reason;
  if (e == nullptr) return j;
  if (!e->audit.explanations.empty())
    j["anomaly"] = anomaly_info(e->audit.explanations.front().anomaly).name;
  Json names = Json::array();
  for (TxnId t = 0; t < e->audit.history.txn_count(); ++t)
    names.push_back(e->audit.history.name(t));
  j["transactions"] = std::move(names);
  j["seen_by_reads"] = e->seen_by_reads;
  for (const Played& played : e->played) {
    Json one = {{"outcome", word_of(played.came)}};
    if (!played.words.empty()) one["why"] = played.words;
    j["played"].push_back(std::move(one));
  }
  j["grade"] = !e->played.empty() && e->played.back().came == Played::Came::violated
                   ? "played as recorded"
                   : "predicted";
  if (!e->history.empty()) j["history"] = e->history;
  if (!e->certificate.empty()) j["certificate"] = e->certificate;
  return j;
}

bool is_same(const certify::Schedule& a, const certify::Schedule& b) {
  const auto txn = [](const certify::Schedule::Member& m) { return m.txn; };
  const auto event = [](const certify::Schedule::Event& e) { return std::pair(e.what, e.member); };
  return std::ranges::equal(a.members, b.members, {}, txn, txn) &&
         std::ranges::equal(a.events, b.events, {}, event, event);
}

// Whether the program breaks by the same schedule at an isolation before this one.
bool is_shown(const Program& program, const Prediction& p) {
  for (const Prediction& before : program.predictions) {
    if (&before == &p) return false;
    if (before.answer == Answer::breaks && is_same(before.schedules.front(), p.schedules.front()))
      return true;
  }
  return false;
}

// Describes all programs at all isolations, as text or as JSON.
Result<std::string> in_words(const PredictState& s, const History& h, Predicted& predicted) {
  std::vector<Program>& programs = predicted.programs;
  std::string breaks;
  Json all = Json::array();
  uint64_t txns = 0;
  std::set<std::string> taken;
  for (Program& program : programs) {
    txns += program.txns.size();
    const std::string files = name_of_files(program, taken);
    Json answers = Json::array();
    for (Prediction& p : program.predictions) {
      const std::string name = fmt::format("{}-{}", files, certify::isolation_name(p.isolation));
      if (p.answer != Answer::breaks) {
        Json answer = as_json(p, nullptr);
        if (p.proof && s.files.wanted()) {
          const auto file = s.files.certificate(name, {{}, {*p.proof}}, h);
          if (!file.ok()) return file.error();
          answer["certificate"] = *file;
        }
        answers.push_back(std::move(answer));
        if (p.answer == Answer::unknown)
          breaks += fmt::format("\n{} is unknown at {}: {}\n", what_of(program),
                                certify::isolation_name(p.isolation), display(p.reason, 300));
        continue;
      }
      auto e = execute(p.schedules.front(), h);
      if (!e.ok()) return e.error();
      if (s.plays)
        if (Status played = play(s, p, h, *e); !played.ok()) return played.error();
      if (s.files.wanted())
        if (Status w = write_execution(s, name, p, h, *e); !w.ok()) return w.error();
      answers.push_back(as_json(p, &*e));
      if (!is_shown(program, p)) {
        breaks += break_in_words(program, p, *e, h);
        continue;
      }
      breaks += fmt::format("\n{} breaks at {} by the same schedule.\n", what_of(program),
                            certify::isolation_name(p.isolation));
      if (const std::string sentence = played_in_words(e->played); !sentence.empty())
        breaks += fmt::format("  {}\n", wrapped(sentence, columns_of_stdout(), 2, 2));
    }
    Json one = {
        {"name", program.name}, {"transactions", program.txns.size()}, {"isolations", answers}};
    if (program.needs) one["needs"] = certify::isolation_name(*program.needs);
    all.push_back(std::move(one));
  }
  std::string needs;  // the file that proves the needed isolations
  if (predicted.allocation && s.files.wanted()) {
    auto file = s.files.certificate("needs", {{}, {*predicted.allocation}}, h);
    if (!file.ok()) return file.error();
    needs = std::move(*file);
  }
  const std::string where = in_words(recorded_on(h));
  if (s.json) {
    Json j = {
        {"schema", 1}, {"file", s.files.inputs.front()}, {"transactions", txns}, {"programs", all}};
    if (!needs.empty()) j["certificate"] = needs;
    j["assumptions"] = Json(assumptions_of(h));
    return j.dump() + "\n";
  }
  std::string text = fmt::format("{}: {} of {}{}{}\n\n", display(s.files.inputs.front(), 200),
                                 counted(txns, "transaction", "transactions"),
                                 counted(programs.size(), "program", "programs"),
                                 where.empty() ? "" : ", recorded on ", where);
  text += table_of(programs) + breaks + "\n";
  for (const std::string& sentence : assumptions_of(h))
    text += wrapped(sentence, columns_of_stdout()) + "\n";
  return text;
}

// Finds the database to play on.
void find_target(PredictState& s) {
  if (!s.plays) return;
  take_databases_from_environment(s.databases);
  if (s.databases.size() != 1 || !s.databases[0].starts_with("postgresql:"))
    bad_flag("--play", "expected --database with the URL of a PostgreSQL database");
  s.target.database = s.databases[0];
}

Exit run_predict(PredictState& s) {
  find_target(s);
  const std::vector<LevelId> weak = weak_levels_of(s);
  const std::vector<Isolation> isolations =
      weak.empty() ? isolations_of(s.at) : std::vector<Isolation>();
  Budget budget = s.budget.budget();
  auto read = read_together(s.files.inputs, s.reading.options());
  if (!read.ok()) return fail(read.error());
  if (!weak.empty()) {
    const auto exit = predict_at_weak_levels(read->history, weak, s.files, s.json, budget);
    return exit.ok() ? *exit : fail(exit.error());
  }
  auto predicted =
      predict::predict(read->history, {isolations, true, s.plays ? kMostPlayed : 1}, budget);
  if (!predicted.ok()) return fail(predicted.error());
  if (predicted->programs.empty()) {
    note("no transaction committed: there is nothing to predict from");
    return Exit::unknown;
  }
  const auto text = in_words(s, read->history, *predicted);
  if (!text.ok()) return fail(text.error());
  return ended(print(*text), exit_of(predicted->programs));
}

}  // namespace

Action add_predict(CLI::App& app) {
  auto s = std::make_shared<PredictState>();
  s->at = {"read-committed", "snapshot-isolation"};
  app.add_option("HISTORY", s->files.inputs,
                 "a recorded history, all its files if there are several")
      ->required()
      ->type_name("");
  app.add_option("--at", s->at,
                 "the isolations to ask about: read-committed (statement snapshots, as in "
                 "PostgreSQL and Oracle), snapshot-isolation "
                 "(PostgreSQL's repeatable read), ssi (PostgreSQL's serializable), "
                 "innodb-repeatable-read, prefix; or the weak levels causal, "
                 "axiomatic-read-committed, where reads may have other sources")
      ->delimiter(',')
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--output", s->files.folder,
                 "a folder for the certificates (for assay verify) and for the executions that go "
                 "wrong, each a history (for assay check and explain)")
      ->type_name("FOLDER");
  CLI::Option* const play = app.add_flag("--play", s->plays,
                                         "play what breaks on --database, on copies of its tables "
                                         "and with the statements of the application");
  app.add_option("--database", s->databases,
                 "the PostgreSQL database to play on, in the state before the recording; by "
                 "default ASSAY_DATABASE_URL")
      ->allow_extra_args(false)
      ->needs(play)
      ->type_name("URL");
  app.add_option("--setup", s->target.setup,
                 "SQL that creates the tables to play on, instead of copies of the database's")
      ->needs(play)
      ->type_name("FILE");
  app.add_flag("--json", s->json, "print JSON");
  s->budget.add(app);
  s->reading.add(app);
  return [s] { return run_predict(*s); };
}

}  // namespace assay::internal::cli
