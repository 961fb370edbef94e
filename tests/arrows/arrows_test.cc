// Fails when a room looks where it must not: when the link lists of src/CMakeLists.txt differ from
// the table below, or when a source includes a header of a room that its own room may not see. The
// table is the design; changing an arrow means changing it here, on purpose, and in the figure that
// docs/architecture.md shows of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "places.h"

namespace {

namespace fs = std::filesystem;
using Arrows = std::map<std::string, std::set<std::string>>;

const Arrows kDesign = {
    {"base", {}},
    {"history", {"base"}},
    {"formats", {"history", "base"}},
    {"graph", {"base"}},
    {"infer", {"history", "graph", "base"}},
    {"solver", {"graph", "base"}},
    {"prefix_search", {"infer", "history", "base"}},
    {"levels", {"prefix_search", "solver", "infer", "history", "graph", "base"}},
    {"certify", {"formats", "history", "base"}},
    {"oracle", {"history", "base"}},
    {"explain", {"levels", "certify", "infer", "history", "base"}},
    {"audit", {"explain", "levels", "certify", "infer", "formats", "history", "base"}},
    {"watch", {"audit", "explain", "levels", "certify", "formats", "history", "base"}},
    {"lake", {"audit", "levels", "formats", "history", "base"}},
    {"predict", {"certify", "history", "base"}},
    {"report", {"audit", "explain", "levels", "certify", "history", "base"}},
    {"c_api", {"report", "watch", "audit", "explain", "certify", "formats", "history", "base"}},
    {"collect", {"formats", "history", "base"}},
    {"evidence", {"collect", "formats", "history", "base"}},
    {"record", {"evidence", "collect", "formats", "history", "base"}},
};

// The command line sees every room.
const std::string kTop = "cli";

// Which room stands behind a public header. Data that several rooms share belongs to `history`.
const std::map<std::string, std::string> kPublicHeaders = {
    {"anomaly.h", "history"},     {"assay_c.h", "c_api"},       {"audit.h", "audit"},
    {"budget.h", "base"},         {"certificate.h", "history"}, {"check.h", "levels"},
    {"explanation.h", "explain"}, {"format.h", "formats"},      {"history.h", "history"},
    {"level.h", "history"},       {"result.h", "base"},         {"verify.h", "certify"},
};

// "levels: solver infer" per line, as the build linked them.
Arrows read_linked(const fs::path& path) {
  Arrows arrows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream rooms(line.substr(colon + 1));
    std::set<std::string>& seen = arrows[line.substr(0, colon)];
    for (std::string room; rooms >> room;) seen.insert(room);
  }
  return arrows;
}

// The rooms that a table of Markdown lists in its first column, in order.
std::vector<std::string> listed_rooms(const std::string& page) {
  static const std::regex kRow("^\\| `([a-z_]+)` \\|");
  std::vector<std::string> rooms;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kRow)) rooms.push_back(match[1]);
  }
  return rooms;
}

// The figure of a page: a row for each room, "    infer   ● ● · ● ■". Columns are in the order of
//                                                         the
// rows; ● means that the room of the row sees the room of the column, ■ is the room itself.
Arrows read_figure(const std::string& page) {
  static const std::regex kRow("^    ([a-z_]+) +((?:(?:●|·) )*)■$");
  Arrows arrows;
  std::vector<std::string> columns;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, kRow)) continue;
    std::set<std::string>& seen = arrows[match[1]];
    std::istringstream marks(match[2]);
    size_t column = 0;
    for (std::string mark; marks >> mark; ++column)
      if (column < columns.size() && mark == "●") seen.insert(columns[column]);
    if (column != columns.size()) seen.insert("a row of the wrong length");
    columns.push_back(match[1]);
  }
  return arrows;
}

// What the figure must show: the design, and the command line on top of it.
Arrows drawn_design() {
  Arrows arrows = kDesign;
  for (const auto& [room, seen] : kDesign) arrows[kTop].insert(room);
  return arrows;
}

// The room a quoted include belongs to; empty for headers that are nobody's, such as test helpers.
std::string room_of_include(const std::string& include) {
  const size_t slash = include.find('/');
  if (slash == std::string::npos) return {};
  const std::string first = include.substr(0, slash);
  if (first != "assay") return first;
  const std::string header = include.substr(slash + 1);
  if (header == "assay.h") return kTop;  // the umbrella sees all, so only the top may use it
  const auto found = kPublicHeaders.find(header);
  return found == kPublicHeaders.end() ? "unlisted public header " + header : found->second;
}

std::vector<std::string> broken_includes(const std::string& room, const std::string& text,
                                         const Arrows& arrows) {
  static const std::regex kInclude("^[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\"");
  std::vector<std::string> broken;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.find("include") == std::string::npos || !std::regex_search(line, match, kInclude))
      continue;
    const std::string target = room_of_include(match[1]);
    if (target.empty() || target == room || room == kTop) continue;
    if (!arrows.at(room).contains(target)) broken.push_back(room + " includes " + match[1].str());
  }
  return broken;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cc" || path.extension() == ".h";
}

TEST(Arrows, LinkListsAreTheDesign) {
  EXPECT_EQ(read_linked(std::string(assay::internal::places::kBuild) + "/arrows.txt"), kDesign);
}

TEST(Arrows, EveryFolderIsARoom) {
  for (const auto& entry :
       fs::directory_iterator(fs::path(assay::internal::places::kSource) / "src")) {
    if (!entry.is_directory()) continue;
    const std::string room = entry.path().filename();
    EXPECT_TRUE(room == kTop || kDesign.contains(room)) << "src/" << room << " has no arrows";
  }
}

TEST(Arrows, IncludesFollowTheDesign) {
  int files = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(assay::internal::places::kSource) / "src")) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const fs::path inside =
        fs::relative(entry.path(), fs::path(assay::internal::places::kSource) / "src");
    ++files;
    Arrows may = kDesign;
    // Tests of every room take their random histories from the judge.
    if (inside.stem().string().ends_with("_test")) may[*inside.begin()].insert("oracle");
    for (const std::string& what : broken_includes(*inside.begin(), read_file(entry.path()), may))
      ADD_FAILURE() << "src/" << inside.string() << ": " << what;
  }
  EXPECT_GT(files, 0);
}

TEST(Arrows, FigureShowsTheDesign) {
  const fs::path page = fs::path(assay::internal::places::kSource) / "docs" / "architecture.md";
  EXPECT_EQ(read_figure(read_file(page)), drawn_design());
}

TEST(Arrows, EveryRoomIsDescribed) {
  std::vector<std::string> rooms =
      listed_rooms(read_file(fs::path(assay::internal::places::kSource) / "src" / "README.md"));
  std::sort(rooms.begin(), rooms.end());
  std::vector<std::string> expected;
  for (const auto& [room, seen] : drawn_design()) expected.push_back(room);
  EXPECT_EQ(rooms, expected);
}

// No chain of arrows leads from the verifier or the oracle to the checker.
TEST(Arrows, VerifierAndOracleCannotShareAFaultWithTheChecker) {
  for (const std::string start : {"certify", "oracle"}) {
    std::set<std::string> seen = {start};
    std::vector<std::string> open = {start};
    while (!open.empty()) {
      const std::string room = open.back();
      open.pop_back();
      for (const std::string& next : kDesign.at(room))
        if (seen.insert(next).second) open.push_back(next);
    }
    for (const char* checker : {"levels", "infer", "solver", "prefix_search", "graph", "explain"})
      EXPECT_FALSE(seen.contains(checker)) << start << " reaches " << checker;
  }
}

// What an operation observes and installs is answered in one place, history/accesses.h. The
// verifier and the oracle answer it for themselves, so that they cannot share a fault with it.
const std::string kAccesses = "history/accesses.h";
const std::set<std::string> kOwnReading = {"certify", "oracle"};
// Where the kinds of operations are known otherwise: where histories are stored, read, written and
// recorded,
const std::set<std::string> kKnowKinds = {"history", "formats", "collect", "oracle"};
// where operations are displayed and counted by kind, and in the one file that tells the verifier
// what they mean.
const std::set<std::string> kTellKinds = {"explain/names.cc", "cli/stats.cc",
                                          "certify/operations.h"};

// What is wrong with where a source, by its path inside src, gets the meaning of operations from;
// empty if nothing.
std::string misread_operations(const fs::path& inside, const std::string& text) {
  const std::string room = *inside.begin();
  if (kOwnReading.contains(room) && text.find(kAccesses) != std::string::npos)
    return "has to read operations by itself, not through " + kAccesses;
  const bool may = kKnowKinds.contains(room) || kTellKinds.contains(inside.generic_string());
  if (!may && text.find("OpKind") != std::string::npos)
    return "names OpKind; what operations mean is told by " + kAccesses;
  return {};
}

TEST(Arrows, OperationsAreReadInOnePlace) {
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(assay::internal::places::kSource) / "src")) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const fs::path inside =
        fs::relative(entry.path(), fs::path(assay::internal::places::kSource) / "src");
    if (inside.stem().string().ends_with("_test")) continue;
    EXPECT_EQ(misread_operations(inside, read_file(entry.path())), "") << "src/" << inside.string();
  }
}

// Canaries: the checks above must be able to fail.
TEST(ArrowsCanary, MisreadOperationsAreFound) {
  const std::string kind = "op.kind == OpKind::cas", accesses = "#include \"history/accesses.h\"\n";
  EXPECT_NE(misread_operations("levels/walk.cc", kind), "");
  EXPECT_NE(misread_operations("explain/clauses.cc", kind), "");
  EXPECT_EQ(misread_operations("explain/names.cc", kind), "");
  EXPECT_EQ(misread_operations("certify/operations.h", kind), "");
  EXPECT_NE(misread_operations("certify/replay.cc", kind), "");
  EXPECT_NE(misread_operations("certify/operations.h", accesses), "");
  EXPECT_NE(misread_operations("oracle/footprint.cc", accesses), "");
  EXPECT_EQ(misread_operations("levels/walk.cc", accesses), "");
}

TEST(ArrowsCanary, BadIncludesAreFound) {
  EXPECT_EQ(broken_includes("certify", "#include \"levels/walk.h\"\n", kDesign).size(), 1u);
  EXPECT_EQ(broken_includes("oracle", "# include \"assay/check.h\"\n", kDesign).size(), 1u);
  EXPECT_EQ(broken_includes("graph", "#include \"assay/history.h\"\n", kDesign).size(), 1u);
  EXPECT_EQ(broken_includes("levels", "#include \"assay/assay.h\"\n", kDesign).size(), 1u);
  EXPECT_EQ(broken_includes("base", "#include \"assay/unheard_of.h\"\n", kDesign).size(), 1u);
  EXPECT_TRUE(broken_includes("levels", "#include \"infer/saturation.h\"\n", kDesign).empty());
  EXPECT_TRUE(broken_includes("cli", "#include \"oracle/selftest.h\"\n", kDesign).empty());
}

TEST(ArrowsCanary, AChangedFigureIsFound) {
  const std::string figure =
      "    base     ■\n"
      "    history  ● ■\n"
      "    graph    ● · ■\n";
  const Arrows drawn = {{"base", {}}, {"history", {"base"}}, {"graph", {"base"}}};
  EXPECT_EQ(read_figure(figure), drawn);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"● · ■", "● ● ■"},
                                 {"● · ■", "· · ■"},
                                 {"● · ■", "● ■"},
                                 {"    history  ● ■\n", ""},
                                 {"graph", "graphs"}}) {
    std::string changed = figure;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_NE(read_figure(changed), drawn) << changed;
  }
  EXPECT_EQ(listed_rooms("| room | what |\n| `b` | x |\n| `a` | `c` |\n"),
            (std::vector<std::string>{"b", "a"}));
}

TEST(ArrowsCanary, AChangedLinkListIsFound) {
  const fs::path path = testing::TempDir() + std::to_string(getpid()) + "-arrows.txt";
  std::string text = read_file(std::string(assay::internal::places::kBuild) + "/arrows.txt");
  ASSERT_NE(text.find("oracle:"), std::string::npos);
  text.replace(text.find("oracle:"), 7, "oracle:levels ");
  std::ofstream(path) << text;
  EXPECT_NE(read_linked(path), kDesign);
  fs::remove(path);
}

}  // namespace
