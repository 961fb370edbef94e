#include "collect/schedule/play.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <set>

#include "assay/format.h"
#include "base/progress.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "collect/schedule/assemble.h"
#include "collect/schedule/transcript.h"
#include "explain/names.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

namespace schedule = collect::schedule;

constexpr uint64_t kMostFileBytes = 16 << 20;
constexpr uint64_t kMostUnasked = 1000;  // interleavings, if --permutations gives no number
constexpr uint64_t kMostAtAll = 1'000'000;

struct PlayState {
  std::string file;
  schedule::Options options;  // options of each database
  std::vector<std::string> databases, isolations;
  std::string permutations;  // "all", or a number; empty: those in the file
  std::string history, expect;
  CheckFlags check;
};

// Returns its name in the file, or else its steps.
std::string name_of(const schedule::File& file, const schedule::Permutation& p) {
  if (!p.name.empty()) return p.name;
  std::string out;
  for (const schedule::Turn& turn : p.turns)
    out += (out.empty() ? "" : " ") + file.steps[turn.step].name;
  return out;
}

// Gives the verdicts at the requested levels, or else the strongest that hold with the anomaly of
// the weakest that does not. Missing observations could only show more anomalies.
std::string verdict_of(const Audit& c, bool all_observed) {
  std::string text, wrong;
  for (const Verdict& v : c.result.verdicts) {
    const std::string_view level = level_info(v.level).name;
    const bool violated = v.outcome == Outcome::violated;
    if (violated && wrong.empty()) wrong = violation_in_words(c, v.level);
    if (c.requested.empty()) continue;
    text += text.empty() ? "" : ", ";
    text += violated ? fmt::format("{} violated ({})", level, violation_in_words(c, v.level))
            : v.outcome == Outcome::satisfied
                ? fmt::format("{} satisfied", level)
                : fmt::format("{} unknown: {}", level, display(v.reason, 200));
  }
  if (c.requested.empty()) {
    const std::vector<LevelId> strongest = strongest_satisfied(c.result);
    text = strongest.empty() ? "no level decided" : level_names(strongest);
    if (!wrong.empty()) text += "; " + wrong;
  }
  return all_observed ? text : text + ", as far as it was observed";
}

class Play {
 public:
  explicit Play(const PlayState& s) : s_(s) {}

  Exit run() {
    const auto text = read_file(s_.file, kMostFileBytes);
    if (!text.ok()) return fail(text.error());
    auto file = schedule::parse(*text, s_.file);
    if (!file.ok()) return fail(file.error());
    file_ = std::move(*file);
    if (Status s = choose(); !s.ok()) return fail(s.error());
    if (Status s = open_stages(); !s.ok()) return fail(s.error());
    const bool one = chosen_.size() == 1 && stages_.size() == 1;
    if (one && s_.expect.empty()) return play_one();
    const OutputFlags& output = s_.check.output;
    if (!output.reports.empty() || !output.certificate.empty() || !output.write_baseline.empty())
      return fail(
          usage_error("a report or certificate covers one permutation on one database; expected "
                      "--permutations NAME, or --history and then check"));
    if (stages_.size() > 1 && (output.json || !s_.history.empty() || transcribes()))
      return fail(
          usage_error("only the table compares several databases; expected one --database"));
    return play_all();
  }

 private:
  Status open_stages() {
    if (s_.isolations.size() > 1 && s_.isolations.size() != s_.databases.size())
      return usage_error("expected one --isolation, or one for each --database");
    for (size_t i = 0; i < s_.databases.size(); ++i) {
      schedule::Options options = s_.options;
      options.databases = {s_.databases[i]};
      if (!s_.isolations.empty())
        options.isolation = s_.isolations[s_.isolations.size() > 1 ? i : 0];
      auto stage = schedule::Stage::open(file_, options);
      if (!stage.ok()) return stage.error();
      stages_.push_back(std::move(*stage));
    }
    return Ok{};
  }
  bool transcribes() const { return s_.expect.ends_with(".out"); }

  Status choose() {
    chosen_ = file_.permutations;
    const std::string& wanted = s_.permutations;
    if (wanted.empty() && !chosen_.empty()) return Ok{};
    uint64_t most = kMostUnasked;
    if (wanted == "all") {
      most = kMostAtAll;
    } else if (!wanted.empty()) {
      const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), most);
      if (error != std::errc() || end != wanted.data() + wanted.size()) return choose_named();
      if (most == 0 || most > kMostAtAll)
        return usage_error(
            fmt::format("--permutations: expected a number from 1 to {}", kMostAtAll));
    }
    if (chosen_.size() > 1 && !chosen_[0].name.empty())
      return usage_error(
          "--permutations: the file has several scenarios; expected the name of one, or a file "
          "with one scenario");
    chosen_ = schedule::interleavings(file_, most, s_.options.seed);
    // The chosen permutations do not ensure that a session can go on where it has to.
    for (schedule::Permutation& p : chosen_) p.queues = !wanted.empty();
    if (chosen_.size() == most && most > 1)
      note(fmt::format("{} interleavings are played; there may be more", grouped(most)));
    return Ok{};
  }

  Status choose_named() {
    std::erase_if(chosen_, [&](const schedule::Permutation& p) {
      return !name_of(file_, p).starts_with(s_.permutations);
    });
    if (!chosen_.empty()) return Ok{};
    return usage_error(
        fmt::format("--permutations: no permutation begins with '{}'; expected all, a number, or "
                    "the name or steps of one in the file",
                    s_.permutations));
  }

  // Plays and assembles; adds the observations to the totals.
  Result<schedule::Assembled> play(schedule::Stage& stage, const schedule::Permutation& p,
                                   schedule::Performance& played) {
    auto performance = stage.play(p);
    if (!performance.ok()) {
      if (performance.error().kind == ErrorKind::bad_input) performance.error().file = s_.file;
      return performance.error();
    }
    played = std::move(*performance);
    auto assembled = schedule::assemble(file_, played, stage.driver().describe());
    if (!assembled.ok()) return assembled.error();
    on_ = in_words(recorded_on(assembled->history));
    reads_ += assembled->reads;
    reads_observed_ += assembled->reads_observed;
    writes_ += assembled->writes;
    writes_observed_ += assembled->writes_observed;
    for (const std::string& missed : assembled->missed) ++missed_[missed];
    return assembled;
  }

  std::string observed() const {
    std::string out = fmt::format("observed{}: {} of {} reads, {} of {} writes",
                                  stages_.size() > 1 ? "" : " on " + on_, reads_observed_, reads_,
                                  writes_observed_, writes_);
    for (const auto& [missed, times] : missed_)
      out += fmt::format("; not {}{}", missed,
                         times > 1 ? fmt::format(" ({} times)", grouped(times)) : "");
    return out;
  }

  Status keep_history(const History& history, size_t number) const {
    if (s_.history.empty()) return Ok{};
    std::string path = s_.history;
    if (chosen_.size() > 1) {
      const size_t dot = path.find('.', path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
      path.insert(std::min(dot, path.size()), fmt::format(".{:04}", number + 1));
    }
    if (Status s = spare_inputs({&path, 1}, std::array{s_.file, s_.expect}); !s.ok()) return s;
    const auto losses = write_history(history, path, "assay");
    return losses.ok() ? Status(Ok{}) : losses.error();
  }

  Exit play_one() {
    schedule::Performance played;
    auto assembled = play(*stages_[0], chosen_[0], played);
    if (!assembled.ok()) return fail(assembled.error());
    if (Status s = keep_history(assembled->history, 0); !s.ok()) return fail(s.error());
    if (!s_.check.output.json)
      if (Status s = print(schedule::transcript(file_, chosen_[0], played) + "\n"); !s.ok())
        return fail(s.error());
    note(observed());
    Audit c = check_history(std::move(assembled->history), s_.file, s_.check);
    return deliver(c, s_.check);
  }

  Exit play_all() {
    std::map<std::string, std::pair<uint64_t, size_t>> folded;  // by result: how many, the first
    std::string text = fmt::format("Parsed test spec with {} sessions\n", file_.sessions.size());
    for (const std::string& name : unused_steps()) text += "unused step name: " + name + "\n";
    ProgressLine progress("play");
    for (size_t i = 0; i < chosen_.size(); ++i) {
      progress.update(static_cast<double>(i) / static_cast<double>(chosen_.size()),
                      fmt::format("{} of {} permutations", i, chosen_.size()));
      std::string came = chosen_[i].name + "\n";
      for (const auto& stage : stages_) {
        schedule::Performance played;
        auto assembled = play(*stage, chosen_[i], played);
        progress.clear();
        if (!assembled.ok()) return fail(assembled.error());
        if (transcribes()) {
          text += "\n" + schedule::transcript(file_, chosen_[i], played);
          continue;
        }
        if (Status s = judge(*assembled, played, i, came); !s.ok()) return fail(s.error());
      }
      auto& [times, first] = folded[came];
      if (times++ == 0) first = i;
    }
    note(observed());
    if (s_.check.output.json) return worst_;
    if (!transcribes()) text = table(folded);
    if (!s_.expect.empty()) return compare(text);
    const Status printed = print(text);
    return printed.ok() ? worst_ : fail(printed.error());
  }

  // Judges the result of one permutation on one database, and adds the verdict to its description.
  Status judge(schedule::Assembled& assembled, const schedule::Performance& played, size_t number,
               std::string& came) {
    if (Status s = keep_history(assembled.history, number); !s.ok()) return s;
    Audit c = check_history(std::move(assembled.history), fmt::format("{}#{}", s_.file, number + 1),
                            s_.check);
    if (s_.check.output.json) {
      worst_ = worse(worst_, deliver(c, s_.check));
      return Ok{};
    }
    worst_ = worse(worst_, exit_code(c));
    const bool several = stages_.size() > 1;
    came += fmt::format("  {}{}\n  {}{}\n", several ? on_ + ": " : "",
                        verdict_of(c, assembled.missed.empty()), several ? "  " : "",
                        schedule::outcome(file_, played));
    return Ok{};
  }

  std::vector<std::string> unused_steps() const {
    std::set<std::string> names;
    for (const schedule::Step& step : file_.steps) names.insert(step.name);
    for (const schedule::Permutation& p : chosen_)
      for (const schedule::Turn& turn : p.turns) names.erase(file_.steps[turn.step].name);
    return {names.begin(), names.end()};
  }

  // Permutations with the same result are one row, in the order in which the results first
  // occurred.
  std::string table(const std::map<std::string, std::pair<uint64_t, size_t>>& folded) const {
    std::vector<std::tuple<size_t, uint64_t, std::string>> rows;
    for (const auto& [came, times] : folded) rows.emplace_back(times.second, times.first, came);
    std::sort(rows.begin(), rows.end());
    std::string out = fmt::format("{}: {}\n", s_.file.substr(s_.file.rfind('/') + 1),
                                  counted(chosen_.size(), "permutation", "permutations"));
    for (const auto& [first, times, came] : rows)
      out += fmt::format("\n{}{}\n{}", name_of(file_, chosen_[first]),
                         times > 1 ? fmt::format(", and {} more", grouped(times - 1)) : "",
                         came.substr(came.find('\n') + 1));
    return out;
  }

  Exit compare(const std::string& text) const {
    const auto expected = read_file(s_.expect, kMostFileBytes);
    if (!expected.ok()) return fail(expected.error());
    const std::vector<std::string> wanted = schedule::lines_to_compare(*expected);
    const std::vector<std::string> got = schedule::lines_to_compare(text);
    if (wanted == got) {
      return ended(print(fmt::format("{}: as expected\n", s_.file)));
    }
    const auto [w, g] = std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end());
    return ended(print(fmt::format("{}\n{}: differs from {}: its line '{}' is '{}' here\n", text,
                                   s_.file, s_.expect, w == wanted.end() ? "(the end)" : *w,
                                   g == got.end() ? "(the end)" : *g)),
                 Exit::violated);
  }

  const PlayState& s_;
  schedule::File file_;
  std::vector<schedule::Permutation> chosen_;
  std::vector<std::unique_ptr<schedule::Stage>> stages_;  // one for each database
  Exit worst_ = Exit::satisfied;
  uint64_t reads_ = 0, reads_observed_ = 0, writes_ = 0, writes_observed_ = 0;
  std::map<std::string, uint64_t> missed_;
  std::string on_;  // the database played on last, and its isolation
};

}  // namespace

Action add_play(CLI::App& app) {
  auto s = std::make_shared<PlayState>();
  app.add_option(
         "FILE", s->file,
         "the schedule: a spec file of PostgreSQL's isolation tester, SQL with comments that say "
         "which session each statement belongs to, or Markdown; see docs/playing.md")
      ->required()
      ->type_name("");
  app.add_option(
         "--database", s->databases,
         "the database to play on; by default ASSAY_DATABASE_URL or, if that is not set, an "
         "embedded SQLite database. Several are compared, each with its --isolation")
      ->allow_extra_args(false)
      ->type_name("URL");
  app.add_option("--isolation", s->isolations,
                 "the isolation of transactions that do not set one, as the database spells it")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--permutations", s->permutations,
                 "play every interleaving of the sessions, N of them drawn with the seed, or those "
                 "in the file whose name or steps begin with NAME; by default all in the file")
      ->type_name("all|N|NAME");
  add_seed(app, s->options.seed);
  add_statement_timeout(app, s->options.timeout);
  app.add_option("--history", s->history,
                 "write the observed history; with several permutations, one numbered file each")
      ->type_name("FILE");
  app.add_option("--expect", s->expect,
                 "exit with 1 unless the result is as in this file: a table printed earlier, or "
                 "what PostgreSQL's tester expects (NAME.out)")
      ->type_name("FILE");
  s->check.levels.add(app, "a level to decide; the exit code is then the verdict");
  s->check.output.add(app);
  s->check.budget.add(app);
  add_allow_empty(app, s->check.allow_empty);
  return [s] {
    take_databases_from_environment(s->databases);
    if (s->databases.empty()) s->databases = {"sqlite:"};
    return Play(*s).run();
  };
}

}  // namespace assay::internal::cli
