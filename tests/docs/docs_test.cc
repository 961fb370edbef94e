// Runs what the documentation shows: each ```hist block is checked, and its verdicts compared with
// the paragraph under it; each command of a ```console block is run, and its output compared with
// what is printed there; the neighbours that a level's page names are those of the lattice.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "assay/certificate.h"
#include "assay/format.h"
#include "assay/level.h"
#include "oracle/oracle.h"
#include "pages.h"
#include "places.h"
#include "workplace.h"

namespace assay::internal::docs {
namespace {

namespace fs = std::filesystem;

// What the checker says to a claim: "satisfied", or "violated (lost-update)" if the claim names
// one.
std::string answer(const nlohmann::json& report, const Claim& claim) {
  const auto levels = report.find("levels");
  if (levels == report.end() || !levels->contains(claim.level)) return "no such level";
  const nlohmann::json& level = (*levels)[claim.level];
  std::string text = level.value("verdict", "nothing");
  if (!claim.anomaly.empty()) text += " (" + level.value("anomaly", "unnamed") + ")";
  return text;
}

std::string promise(const Claim& claim) {
  return claim.verdict + (claim.anomaly.empty() ? "" : " (" + claim.anomaly + ")");
}

// Levels that are decided on request only must be asked for, and then so must the others.
std::string levels_asked_for(const Example& example) {
  std::string flags;
  for (const Claim& claim : example.claims) {
    const auto level = find_level(claim.level);
    if (level && level_info(*level).on_request()) flags += " --level " + claim.level;
  }
  if (flags.empty()) return flags;
  for (const LevelInfo& level : default_levels()) flags += " --level " + std::string(level.name);
  return flags;
}

TEST(Docs, HistoriesHaveTheVerdictsShown) {
  const Workplace workplace;
  int count = 0;
  for (const fs::path& page : pages()) {
    for (const Example& example : examples(read_file(page))) {
      SCOPED_TRACE(where(page, example.line));
      std::ofstream(workplace.folder() / "shown.hist") << example.history;
      const std::string output =
          workplace.run("assay check --json --allow-empty shown.hist" + levels_asked_for(example));
      const auto report = nlohmann::json::parse(output, nullptr, false);
      if (report.is_discarded()) {
        ADD_FAILURE() << output;
        continue;
      }
      for (const Claim& claim : example.claims)
        EXPECT_EQ(answer(report, claim), promise(claim)) << claim.level << "\n" << example.history;
      count += static_cast<int>(example.claims.size());
    }
  }
  EXPECT_GT(count, 50);
}

// The same claims, decided by brute force from the definitions.
TEST(Docs, TheOracleAgreesWithTheVerdictsShown) {
  for (const fs::path& page : pages()) {
    for (const Example& example : examples(read_file(page))) {
      SCOPED_TRACE(where(page, example.line));
      const auto read = read_history_text(example.history, "shown", {"hist"});
      if (!read.ok()) {
        ADD_FAILURE() << read.error().to_string();
        continue;
      }
      for (const Claim& claim : example.claims) {
        const auto level = find_level(claim.level);
        ASSERT_TRUE(level) << claim.level;
        EXPECT_EQ(outcome_name(oracle::decide(read->history, *level)), claim.verdict)
            << claim.level << "\n"
            << example.history;
      }
    }
  }
}

TEST(Docs, EveryLevelShowsAHistoryAndARival) {
  for (const LevelInfo& level : all_levels()) {
    const fs::path page =
        fs::path(places::kSource) / "docs" / "levels" / (std::string(level.name) + ".md");
    bool violated = false;
    for (const Example& example : examples(read_file(page)))
      for (const Claim& claim : example.claims)
        violated = violated || (claim.level == level.name && claim.verdict == "violated");
    EXPECT_TRUE(violated) << page << " shows no history that violates the level";
    EXPECT_NE(read_file(page).find("## Who means something else"), std::string::npos) << page;
  }
}

// "Below it: [`a`](a.md), [`b`](b.md); above: …" in the first paragraph of a level's page.
std::set<std::string> neighbours(const std::string& page, const std::string& word) {
  static const std::regex kLink("\\[`([a-z0-9.+-]+)`\\]");
  const size_t begin = page.find(word);
  if (begin == std::string::npos) return {};
  const std::string part = page.substr(begin, page.find("\n\n", begin) - begin);
  const std::string own = word == "Below it:" ? part.substr(0, part.find("; above")) : part;
  std::set<std::string> names;
  for (auto it = std::sregex_iterator(own.begin(), own.end(), kLink); it != std::sregex_iterator();
       ++it)
    names.insert((*it)[1]);
  return names;
}

TEST(Docs, PagesNameTheNeighboursInTheLattice) {
  for (const LevelInfo& level : all_levels()) {
    const std::string page = read_file(fs::path(places::kSource) / "docs" / "levels" /
                                       (std::string(level.name) + ".md"));
    std::set<std::string> below, above;
    for (LevelId weaker : next_weaker(level.id)) below.emplace(level_info(weaker).name);
    for (const LevelInfo& other : all_levels())
      for (LevelId weaker : next_weaker(other.id))
        if (weaker == level.id) above.emplace(other.name);
    EXPECT_EQ(neighbours(page, "Below it:"), below) << level.name;
    EXPECT_EQ(neighbours(page, "above:"), above) << level.name;
  }
}

// The tables of levels: "| [`level`](level.md) | in one line | `weaker`, `weaker` | … |".
TEST(Docs, TheTablesShowTheLattice) {
  static const std::regex kName("`([a-z0-9.+-]+)`");
  std::map<std::string, std::set<std::string>> shown;
  std::istringstream lines(read_file(fs::path(places::kSource) / "docs" / "levels" / "README.md"));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> names;
    for (auto it = std::sregex_iterator(line.begin(), line.end(), kName);
         it != std::sregex_iterator(); ++it)
      names.push_back((*it)[1]);
    if (line.starts_with("| [`") && find_level(names[0]))
      shown[names[0]] = {names.begin() + 1, names.end()};
  }
  for (const LevelInfo& level : all_levels()) {
    std::set<std::string> below;
    for (LevelId weaker : next_weaker(level.id)) below.emplace(level_info(weaker).name);
    EXPECT_EQ(shown[std::string(level.name)], below) << level.name;
  }
}

TEST(Docs, TablesSayWhatTheRowsOfTheLevelsSay) {
  const fs::path root(places::kSource);
  const std::string pages_of_levels = read_file(root / "docs" / "levels" / "README.md");
  for (const LevelInfo& level : all_levels()) {
    const std::string name(level.name), summary = " | " + std::string(level.summary) + " |";
    EXPECT_NE(pages_of_levels.find("| [`" + name + "`](" + name + ".md)" + summary),
              std::string::npos)
        << name;
  }
}

// The lines that the public header shows are lines of the example program, which tests/install
// builds and runs.
TEST(Docs, TheHeaderShowsTheExampleProgram) {
  const fs::path root(places::kSource);
  const std::string program = read_file(root / "examples" / "library" / "main.cc");
  std::istringstream header(read_file(root / "include" / "assay" / "assay.h"));
  size_t at = 0;
  int shown = 0;
  for (std::string line; std::getline(header, line);) {
    if (!line.starts_with("//   ")) continue;
    at = program.find("\n  " + line.substr(5) + "\n", at);
    ASSERT_NE(at, std::string::npos) << line;
    ++shown;
  }
  EXPECT_GT(shown, 3);
}

TEST(Docs, CommandsPrintWhatIsShown) {
  for (const fs::path& page : pages()) {
    if (!needs(read_file(page)).empty()) continue;
    const Workplace workplace;  // the commands of one page build on each other
    workplace.expect_what_is_shown(page);
  }
}

// What is wrong with a command that is shown and not run; empty if its command, its script and its
// flags exist.
std::string complaint(const Workplace& workplace, const std::string& text) {
  static const std::regex kFlag("(?:^|[\\s\\[])(--[a-z][a-z-]*)");
  static const std::regex kEnd("`|\\||&&|;|#|  |<\\(| -- ");  // where another command, a comment or
                                                              // another program's flags begin
  std::smatch end;
  const std::string command = std::regex_search(text, end, kEnd) ? end.prefix().str() : text;
  std::istringstream words(command);
  std::string program, subcommand, known;
  words >> program >> subcommand;
  if (program == "assay") {
    static std::map<std::string, std::string> helps;
    if (subcommand.empty() || subcommand.starts_with("-") ||
        !std::regex_match(subcommand, std::regex("[a-z]+")))
      subcommand = "";
    const auto [help, added] = helps.try_emplace(subcommand);
    if (added) help->second = workplace.run("assay " + subcommand + " --help-all");
    known = help->second;
    if (known.find("Usage: assay") == std::string::npos) return "there is no command " + subcommand;
  } else {
    const fs::path script = fs::path(places::kSource) / program;
    if (!fs::exists(script)) return "there is no " + program;
    if (fs::is_directory(script)) return "";
    known = read_file(script);
    if (known.find("further flags go to `assay run`") != std::string::npos)
      known += workplace.run("assay run --help-all");
  }
  for (auto it = std::sregex_iterator(command.begin(), command.end(), kFlag);
       it != std::sregex_iterator(); ++it)
    if (!std::regex_search(known, std::regex((*it)[1].str() + "(?![a-z-])")))
      return program + " " + subcommand + " has no " + (*it)[1].str();
  return "";
}

TEST(Docs, CommandsThatAreNotRunExistWithTheirFlags) {
  const Workplace workplace;
  int count = 0;
  for (const fs::path& page : pages()) {
    for (const Command& command : commands(read_file(page))) {
      EXPECT_EQ(complaint(workplace, command.text), "")
          << where(page, command.line) << ": " << command.text;
      ++count;
    }
  }
  EXPECT_GT(count, 150);
}

// "| `G0` | `s1: …` `s2: …` | `pl-1` | `g0` |": the history violates the level, under the name in
// the last column.
TEST(Docs, EllesNamesAreOurs) {
  static const std::regex kCode("`([^`]*)`");
  const Workplace workplace;
  std::istringstream lines(read_file(fs::path(places::kSource) / "docs" / "coming-from.md"));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string history;
    std::vector<std::string> words;
    for (auto it = std::sregex_iterator(line.begin(), line.end(), kCode);
         it != std::sregex_iterator(); ++it) {
      const std::string word = (*it)[1];
      if (std::regex_search(word, std::regex("^s[0-9]: "))) history += word + "\n";
      if (!word.starts_with("s") || word.find(": ") == std::string::npos) words.push_back(word);
    }
    if (!line.starts_with("| ") || history.empty()) continue;
    ASSERT_GE(words.size(), 2u) << line;
    std::ofstream(workplace.folder() / "elle.hist") << history;
    const Claim claim{words[words.size() - 2], "violated", words.back()};
    const auto report = nlohmann::json::parse(
        workplace.run("assay check --json --allow-empty elle.hist --level " + claim.level), nullptr,
        false);
    EXPECT_EQ(answer(report, claim), promise(claim)) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 22);
}

// Whether a command of the page ends by itself, without a server.
bool can_run_here(const std::string& command) {
  if (!command.starts_with("assay ")) return false;
  if (!command.starts_with("assay run")) return true;
  return std::regex_search(command, std::regex("--(list|duration|time|sql|txns)\\b"));
}

// What a command of the page of the papers is to show: expressions, each for a line of its output,
// or of a file that it writes.
std::map<std::string, nlohmann::json> shown_of_papers() {
  std::map<std::string, nlohmann::json> shown;
  std::ifstream rows(fs::path(places::kSource) / "tests" / "docs" / "papers.jsonl");
  for (std::string row; std::getline(rows, row);) {
    const auto read = nlohmann::json::parse(row);
    shown.emplace(read.at("command"), read);
  }
  return shown;
}

bool has_line(const std::string& text, const std::string& expression) {
  const std::regex looked_for(expression);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line.substr(0, 4096), looked_for)) return true;
  return false;
}

// The page of the papers says that each of its commands shows something.
TEST(Docs, CommandsOfThePapersShowWhatTheySay) {
  const Workplace workplace;
  const std::string page = read_file(fs::path(places::kSource) / "docs" / "papers.md");
  const auto shown = shown_of_papers();
  std::set<std::string> run;
  for (const Session& session : sessions(page)) workplace.run(session.command);
  for (const Command& command : commands(page)) {
    if (!can_run_here(command.text) || !run.insert(command.text).second) continue;
    SCOPED_TRACE("line " + std::to_string(command.line) + ": " + command.text);
    std::string output = workplace.run(command.text + "; echo exit=$?");
    const auto wanted = shown.find(command.text);
    if (wanted == shown.end()) {
      EXPECT_TRUE(output.ends_with("exit=0\n") || output.ends_with("exit=1\n")) << output;
      continue;
    }
    if (wanted->second.contains("file"))
      output = read_file(workplace.folder() / wanted->second["file"].get<std::string>());
    for (const std::string expression : wanted->second.at("shows"))
      EXPECT_TRUE(has_line(output, expression)) << expression << "\n" << output.substr(0, 4000);
  }
  for (const auto& [command, row] : shown) EXPECT_TRUE(run.contains(command)) << command;
}

// Every row of the tables says whether it is there, and what shows it; of a ✓ with commands that
// run here, one is looked at.
TEST(Docs, PapersSayWhetherAndWhere) {
  std::istringstream lines(read_file(fs::path(places::kSource) / "docs" / "papers.md"));
  const auto shown = shown_of_papers();
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| point of the paper")) continue;
    static const std::regex kRow(R"(^\| [^|]+ \| (✓|\*part\*|\*\*no\*\*) \| [^|]+ \|$)");
    EXPECT_TRUE(std::regex_match(line, kRow)) << line;
    ++rows;
    if (line.find("| ✓ |") == std::string::npos) continue;
    bool runs = false, looked_at = false;
    for (const Command& command : commands(line)) {
      runs = runs || can_run_here(command.text);
      looked_at = looked_at || shown.contains(command.text);
    }
    EXPECT_EQ(runs, looked_at) << line;
  }
  EXPECT_GT(rows, 120);
}

TEST(DocsCanary, AMissingFlagIsFound) {
  const Workplace workplace;
  const std::vector<Command> found = commands(
      "Say `assay check --levle x`.\n\n    dev/db upp --sideways\n    assay chek a\n    assay "
      "check a --level si\n");
  ASSERT_EQ(found.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_NE(complaint(workplace, found[i].text), "") << found[i].text;
  EXPECT_EQ(complaint(workplace, found[3].text), "");
}

TEST(DocsCanary, AWrongClaimIsFound) {
  const std::string page =
      "```hist\ns1: { w(x,1) }\n```\nVerdicts: `causal` violated (`long-fork`), "
      "`prefix`\nsatisfied.\n";
  const std::vector<Example> found = examples(page);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].claims.size(), 2u);
  const auto report = nlohmann::json::parse(
      R"({"levels":{"causal":{"verdict":"satisfied"},"prefix":{"verdict":"satisfied"}}})");
  EXPECT_NE(answer(report, found[0].claims[0]), promise(found[0].claims[0]));
  EXPECT_EQ(answer(report, found[0].claims[1]), promise(found[0].claims[1]));
}

TEST(DocsCanary, WrongOutputIsFound) {
  EXPECT_TRUE(matches("a\n…\nin 1.5 s\n", "a\nb\nc\nin 0.25 s\n"));
  EXPECT_TRUE(matches("…\n", ""));
  EXPECT_TRUE(matches("{\"read\":7.1e-05}\n", "{\"read\":0.25}\n"));
  EXPECT_FALSE(matches("a\n", "b\n"));
  EXPECT_FALSE(matches("a\n", "a\nb\n"));
  EXPECT_FALSE(matches("a\n…\nd\n", "a\nb\nc\n"));
  EXPECT_FALSE(matches("3 transactions\n", "4 transactions\n"));
}

TEST(Docs, PicturesAreWhatTheProgramDraws) {
  const Workplace workplace;
  workplace.run(
      "assay check examples/lost-update-postgresql.jsonl --level session-si --report drawn.svg");
  EXPECT_EQ(read_file(workplace.folder() / "drawn.svg"),
            read_file(fs::path(places::kSource) / "docs" / "pictures" / "lost-update.svg"))
      << "draw docs/pictures/lost-update.svg anew, and look at it";
}

}  // namespace
}  // namespace assay::internal::docs
