// What is drawn of every built-in history and of the cases that PolySI published: a golden file
// each, and of the published cases the arrows of the paper's own final drawings.
// ASSAY_UPDATE_DRAWINGS=1 writes the files anew; look at them then.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "assay/audit.h"
#include "assay/format.h"
#include "cli/demo_histories.h"
#include "places.h"
#include "report/report.h"

namespace assay::internal {
namespace {

const std::filesystem::path kTests = std::filesystem::path(places::kSource) / "tests";

Audit checked_case(const std::string& path) {
  Audit checked = audit((kTests / "corpus" / (path + ".hist")).string());
  checked.file = path;  // a golden file does not say where it was made
  return checked;
}

std::string content(const std::filesystem::path& path) {
  std::stringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

void expect_drawn(const Audit& checked, const std::string& name) {
  const auto golden =
      kTests / "cli" / "drawings" / (std::filesystem::path(name).filename().string() + ".dot");
  const std::string drawn = whole_report(start_dot({}), {&checked, 1});
  if (std::getenv("ASSAY_UPDATE_DRAWINGS")) std::ofstream(golden) << drawn;
  EXPECT_EQ(drawn, content(golden)) << golden;
}

TEST(Drawings, BuiltInHistories) {
  for (const cli::DemoHistory& demo : cli::demo_histories()) {
    const std::string name(anomaly_info(demo.anomaly).name);
    auto read = read_history_text(demo.text, name, {"hist"});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    expect_drawn(audit(std::move(read->history), name), name);
  }
}

// "4,172 -ww(656)-> 10,471", of what is said to hold.
std::set<std::string> arrows_of(const Audit& checked) {
  const History& h = checked.history;
  std::set<std::string> all;
  for (const Arrow& a : checked.explanations.at(0).arrows) {
    if (a.refuted) continue;
    std::string label = a.kind == EdgeKind::session            ? "so"
                        : a.kind == EdgeKind::read_dependency  ? "wr"
                        : a.kind == EdgeKind::write_dependency ? "ww"
                                                               : "rw";
    if (a.key != kNone) label += "(" + h.key(a.key).to_string() + ")";
    all.insert(h.name(a.from) + " -" + label + "-> " + h.name(a.to));
  }
  return all;
}

void expect_arrows(const std::string& path, const std::set<std::string>& expected) {
  const Audit checked = checked_case(path);
  ASSERT_EQ(checked.explanations.size(), 1u);
  EXPECT_EQ(arrows_of(checked), expected);
  EXPECT_TRUE(checked.explanations[0].minimal);
  expect_drawn(checked, path);
}

TEST(Drawings, PolysisLongFork) {
  expect_arrows("causal/polysi-long-fork",
                {"T0 -wr(y)-> T3", "T0 -wr(x)-> T4", "T0 -ww(x)-> T1", "T0 -ww(y)-> T2",
                 "T1 -wr(x)-> T3", "T3 -rw(y)-> T2", "T2 -wr(y)-> T4", "T4 -rw(x)-> T1"});
}

// The paper's solver begins with both orders of the two updates, and its final drawing leaves both
// out.
TEST(Drawings, PolysisLostUpdateInGalera) {
  expect_arrows("prefix/polysi-galera",
                {"1,4 -wr(0)-> 1,5", "1,4 -wr(0)-> 2,13", "1,4 -ww(0)-> 1,5", "1,4 -ww(0)-> 2,13",
                 "1,5 -rw(0)-> 2,13", "2,13 -rw(0)-> 1,5"});
}

// The four transactions of the paper. It draws the order that the later read forces, 0,7 before
// 1,15, and the way back; here the way back orders them, and the later read contradicts.
TEST(Drawings, PolysisCausalityViolationInYugabyte) {
  expect_arrows("serializable/polysi-yugabyte",
                {"1,15 -wr(13)-> 0,6", "0,6 -so-> 0,7", "1,15 -ww(10)-> 0,7", "1,15 -wr(10)-> 0,9",
                 "0,7 -so-> 0,9", "0,9 -rw(10)-> 0,7"});
}

// The eight transactions of the paper. Its cycle goes through the order of the two writes of key
// 402, for which it needs the same way through 8,380 and 9,423 that closes the cycle here.
TEST(Drawings, PolysisCausalityViolationInDgraph) {
  expect_arrows("read-atomic/polysi-dgraph",
                {"4,172 -wr(753)-> 10,467", "10,467 -so-> 10,471", "4,172 -ww(656)-> 10,471",
                 "4,172 -wr(656)-> 9,428", "10,471 -so-> 10,472", "10,472 -wr(443)-> 8,380",
                 "8,380 -so-> 8,383", "8,383 -wr(248)-> 9,423", "9,423 -so-> 9,428",
                 "9,428 -rw(656)-> 10,471"});
}

}  // namespace
}  // namespace assay::internal
