// Every command that a page shows to be typed is run, or tests/docs/shown.jsonl says what runs it
// instead, or why nothing does. A line there:
//
//   {"page":"docs/guide.md","command":"assay run
//   …","run":"postgres","exit":[0,1],"with":{"60s":"5s"},"before":"cp …"}
//   {"page":"docs/lake.md","command":"pip install duckdb","by":"tree.lake.duckdb"}
//   {"page":"README.md","command":"./test","not":"builds for many minutes: .ci/run calls it"}
//
// `run` names the server that it needs, or says "here". `exit` has the codes it may end with, by
// default 0. `with` replaces what stands for something of the reader, and numbers that are there to
// take long. `before` makes what it needs. What follows a file is ended by `followed`
// (tests/cli/bin).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "pages.h"
#include "places.h"
#include "real/server.h"
#include "workplace.h"

namespace assay::internal::docs {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<json> table() {
  std::vector<json> rows;
  std::ifstream in(fs::path(places::kSource) / "tests" / "docs" / "shown.jsonl");
  for (std::string line; std::getline(in, line);) rows.push_back(json::parse(line));
  return rows;
}

using Shown = std::set<std::pair<std::string, std::string>>;  // page and command

std::string name_of(const fs::path& page) { return fs::relative(page, places::kSource).string(); }

// The page of the papers has a test of its own, which runs what it shows.
Shown shown_in_pages() {
  Shown shown;
  for (const fs::path& page : pages()) {
    if (name_of(page) == "docs/papers.md") continue;
    for (const Command& command : shown_to_be_typed(read_file(page)))
      shown.emplace(name_of(page), command.text);
  }
  return shown;
}

std::string difference(const Shown& these, const Shown& those) {
  std::string text;
  for (const auto& one : these)
    if (!those.contains(one))
      text += json{{"page", one.first}, {"command", one.second}}.dump() + "\n";
  return text;
}

TEST(Shown, EveryCommandIsInTheTable) {
  Shown listed;
  for (const json& row : table())
    EXPECT_TRUE(listed.emplace(row.at("page"), row.at("command")).second) << "twice: " << row;
  EXPECT_EQ(difference(shown_in_pages(), listed), "") << "not in tests/docs/shown.jsonl";
  EXPECT_EQ(difference(listed, shown_in_pages()), "")
      << "in tests/docs/shown.jsonl, but in no page";
}

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all = {"here", "postgres", "mariadb", "galera",
                                               "etcd", "redis",    "h2",      "duckdb"};
  return all;
}

TEST(Shown, RowsSayOneThing) {
  for (const json& row : table()) {
    EXPECT_EQ(row.count("run") + row.count("by") + row.count("not"), 1u) << row;
    EXPECT_GT(row.value("not", "a reason in words").size(), 10u) << row;
    EXPECT_NE(std::find(kinds().begin(), kinds().end(), row.value("run", "here")), kinds().end())
        << row;
  }
}

TEST(Shown, TestsThatRunACommandExist) {
  const std::string tests =
      Workplace().run("ctest --test-dir '" + std::string(places::kBuild) + "' -N");
  for (const json& row : table()) {
    if (!row.contains("by")) continue;
    EXPECT_NE(tests.find(": " + row.at("by").get<std::string>() + "\n"), std::string::npos) << row;
  }
}

std::string replaced(std::string text, const json& with) {
  for (const auto& [what, by] : with.items()) {
    size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << "'" << what << "' is not in: " << text;
    const std::string put = by.get<std::string>();
    for (; at != std::string::npos; at = text.find(what, at + put.size()))
      text.replace(at, what.size(), put);
  }
  return text;
}

void expect_to_run(const Workplace& workplace, const json& row) {
  const std::string command = replaced(row.at("command"), row.value("with", json::object()));
  const std::string before = row.value("before", "");
  const std::string output = workplace.run((before.empty() ? "" : before + "\n") + "{ " + command +
                                           "\n} </dev/null; code=$?; echo; echo exit=$code");
  bool expected = false;
  for (const json& code : row.value("exit", json{0}))
    expected = expected || output.ends_with("exit=" + code.dump() + "\n");
  EXPECT_TRUE(expected) << row << "\n" << output;
}

class ShownOn : public testing::TestWithParam<std::string> {};

// The commands of a page in their order, in one folder.
TEST_P(ShownOn, CommandsRun) {
  std::string variables = "SEED=7 SOURCE='" + std::string(places::kSource) + "'";
  if (GetParam() != "here") {
    const std::vector<std::string>& urls = server(GetParam());
    if (urls.empty()) GTEST_SKIP() << "dev/db cannot have '" << GetParam() << "' here";
    for (size_t i = 0; i < urls.size(); ++i)
      variables += " URL" + (i == 0 ? "" : std::to_string(i + 1)) + "='" + urls[i] + "'";
  }
  int count = 0;
  std::string page;
  std::unique_ptr<Workplace> workplace;
  for (const json& row : table()) {
    if (row.value("run", "") != GetParam()) continue;
    if (row.at("page") != page) workplace = std::make_unique<Workplace>(variables);
    page = row.at("page");
    expect_to_run(*workplace, row);
    ++count;
  }
  EXPECT_GT(count, 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, ShownOn, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param; });

TEST(ShownCanary, WhatIsTypedIsFound) {
  const std::vector<Command> found = shown_to_be_typed(
      "Say `assay check a --level x`, or `assay check`.\n\n    assay run --list     what there is\n"
      "    URL=x ./quickstart # builds\n    serializable\n\n```sh\npip install \\\n  "
      "a\n```\n```console\n$ assay x\n```\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].text, "assay check a --level x");
  EXPECT_EQ(found[1].text, "assay run --list");
  EXPECT_EQ(found[2].text, "URL=x ./quickstart");
  EXPECT_EQ(found[3].text, "pip install a");
}

}  // namespace
}  // namespace assay::internal::docs
