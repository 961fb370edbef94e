#include "report/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "assay/check.h"
#include "assay/format.h"
#include "base/json.h"
#include "explain/explain.h"
#include "places.h"
#include "report/figures.h"
#include "report/markup.h"
#include "report/page_data.h"
#include "report/script.h"
#include "report/svg.h"

namespace assay::internal {
namespace {

Audit checked(std::string_view text, std::vector<LevelId> levels = {},
              const char* format = "hist") {
  Audit c;
  auto read = read_history_text(text, "test", {format});
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().to_string());
  c.file = "h.hist";
  c.format = "hist";
  c.history = std::move(read->history);
  c.requested = levels;
  CheckOptions options;
  options.levels = std::move(levels);
  c.result = check(c.history, options);
  c.explanations = explain(c.history, c.result);
  c.stages = {{"read", 0.5, 0}, {"check", 0.25, 0}};
  return c;
}

constexpr std::string_view kLostUpdate =
    "initial 0\ns1: @[0,5] { w(x,1) }\ns2: @[10,30] { r(x,1) w(x,2) }\ns3: @[12,31] { r(x,1) "
    "w(x,3) }\n";
// Names that every report must escape.
constexpr std::string_view kNasty =
    "initial 0\n\"<s&1>\": \"T\\\"1\" { w(\"<x>\",\"a&b\") }!\n\"s'2\": { r(\"<x>\",\"a&b\") }\n";

nlohmann::json json_of(const Audit& c) {
  return nlohmann::json::parse(whole_report(start_json({}), {&c, 1}));
}

TEST(JunitReport, SaysWhatKeptItFromAVerdict) {
  const auto types = [](const Audit& c) {
    const std::string xml = whole_report(start_junit({}), {&c, 1});
    static const std::regex kType("<error type=\"([a-z-]*)\"");
    std::string found;
    for (auto i = std::sregex_iterator(xml.begin(), xml.end(), kType); i != std::sregex_iterator();
         ++i)
      found += (found.empty() ? "" : " ") + (*i)[1].str();
    return found;
  };
  Audit unread;
  unread.file = "h.hist";
  unread.error =
      Error{ErrorKind::budget, "the time limit of 1 s was reached while reading", {}, 0, 0};
  EXPECT_EQ(types(unread), "budget");
  unread.error = bad_input("what is this");
  EXPECT_EQ(types(unread), "bad-input");
  unread.error = io_error("gone");
  EXPECT_EQ(types(unread), "io");
  Audit c = checked(kLostUpdate, {LevelId::read_committed, LevelId::strict_serializable});
  c.result.verdicts = {
      {LevelId::read_committed, Outcome::unknown, kNone, "", UnknownCause::vacuous},
      {LevelId::strict_serializable, Outcome::unknown, kNone, "", UnknownCause::time}};
  EXPECT_EQ(types(c), "vacuous time");
  EXPECT_EQ(json_of(c)["levels"]["read-committed"]["cause"], "vacuous");
  EXPECT_EQ(types(checked("s1: { w(x,1) }\n", {LevelId::strict_serializable})), "lacks-times");
}

TEST(JsonReport, HasTheFieldsOfTheContract) {
  const nlohmann::json j = json_of(checked(kLostUpdate));
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["file"], "h.hist");
  EXPECT_EQ(j["history"]["transactions"], 3);
  EXPECT_EQ(j["history"]["operations"], 5);
  EXPECT_EQ(j["history"]["sessions"], 3);
  EXPECT_EQ(j["strongest"], nlohmann::json::array({"prefix"}));
  EXPECT_EQ(j["seconds"]["read"], 0.5);
  EXPECT_EQ(j["levels"].size(), default_levels().size());
  for (const auto& [name, level] : j["levels"].items()) {
    ASSERT_TRUE(find_level(name)) << name;
    const std::string verdict = level["verdict"];
    ASSERT_TRUE(level.contains("certificate")) << name;
    if (verdict == "violated") {
      EXPECT_EQ(level["anomaly"], "lost-update") << name;
      EXPECT_EQ(level["transactions"], nlohmann::json::array({"s1-0", "s2-0", "s3-0"}));
      EXPECT_EQ(level["certificate"]["kind"], "proof");
      EXPECT_EQ(level["certificate"]["verified"], true);
    } else if (verdict == "satisfied") {
      EXPECT_EQ(level["certificate"]["kind"], "order");
      EXPECT_FALSE(level.contains("anomaly"));
    } else {
      EXPECT_EQ(verdict, "unknown");
      EXPECT_TRUE(level["certificate"].is_null());
      EXPECT_NE(level["reason"], "");
    }
  }
}

TEST(JsonReport, AFileThatCannotBeReadHasAnError) {
  Audit c;
  c.file = "h.hist";
  c.error = Error{ErrorKind::bad_input, "expected a brace", "h.hist", 3, 7};
  const nlohmann::json j = json_of(c);
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["error"]["line"], 3);
  EXPECT_EQ(j["error"]["column"], 7);
  EXPECT_FALSE(j.contains("levels"));
}

TEST(JsonReport, IsOneLinePerFile) {
  std::vector<Audit> files;
  files.push_back(checked(kLostUpdate));
  files.push_back(checked(kNasty));
  const std::string out = whole_report(start_json({}), files);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2);
}

TEST(TextReport, ColoursOnlyWhenAsked) {
  const Audit c = checked(kLostUpdate);
  EXPECT_EQ(whole_report(start_text({}), {&c, 1}).find('\x1b'), std::string::npos);
  EXPECT_NE(whole_report(start_text({true}), {&c, 1}).find('\x1b'), std::string::npos);
}

TEST(TextReport, TheSameInputGivesTheSameBytes) {
  EXPECT_EQ(whole_report(start_text({}), std::vector<Audit>{}), "");
  const Audit a = checked(kLostUpdate);
  Audit b = checked(kLostUpdate);
  b.stages = {{"read", 99, 0}};
  EXPECT_EQ(whole_report(start_text({}), {&a, 1}), whole_report(start_text({}), {&b, 1}));
}

// Tags close in order, attributes are quoted, nothing is left unescaped.
void expect_well_formed(const std::string& markup) {
  static const std::regex kTag(
      "<(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*?)(/?)>|<!doctype html>|<\\?xml[^>]*\\?>");
  std::vector<std::string> open;
  size_t end = 0;
  for (auto it = std::sregex_iterator(markup.begin(), markup.end(), kTag);
       it != std::sregex_iterator(); ++it) {
    const std::string between = markup.substr(end, static_cast<size_t>(it->position()) - end);
    EXPECT_EQ(between.find('<'), std::string::npos) << between;
    end = static_cast<size_t>(it->position() + it->length());
    const std::string name = (*it)[2];
    if (name.empty() || name == "meta" || name == "br" || (*it)[4].length()) continue;
    if (!(*it)[1].length()) {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << name;
    EXPECT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty()) << open.back();
}

// The page and, taken out of it, what stands in its script elements.
struct Split {
  std::string page;
  std::vector<std::string> scripts;
};

Split split_scripts(std::string html) {
  Split split;
  constexpr std::string_view kEnd = "</script>";
  for (size_t open = html.find("<script"); open != std::string::npos; open = html.find("<script")) {
    const size_t begin = html.find('>', open) + 1, end = html.find(kEnd, begin);
    EXPECT_NE(end, std::string::npos);
    split.scripts.push_back(html.substr(begin, end - begin));
    html.erase(open, end + kEnd.size() - open);
  }
  split.page = std::move(html);
  return split;
}

// Whether a browser runs the scripts, and asks for nothing, is seen in tests/report.
TEST(HtmlReport, StandsAlone) {
  const Audit c = checked(kLostUpdate);
  const std::string html = whole_report(start_html({}), {&c, 1});
  const auto& [page, scripts] = split_scripts(html);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("href="), std::string::npos);
  EXPECT_EQ(page.find("@import"), std::string::npos);
  for (size_t at = page.find("url("); at != std::string::npos; at = page.find("url(", at + 1))
    EXPECT_EQ(page.substr(at, 6), "url(#h");  // the heads of arrows
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(page.find("lost-update"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_LT(page.size(), 64u << 10);
  expect_well_formed(page);
  ASSERT_EQ(scripts.size(), 3u);
  EXPECT_TRUE(nlohmann::json::parse(scripts[0]).is_array());
  EXPECT_EQ(scripts[1], kLayoutScript.text);
  EXPECT_EQ(scripts[2], kReportScript.text);
  EXPECT_NE(html.find("Permission is hereby granted"), std::string::npos);
}

TEST(HtmlReport, OpensWithWhatWasAsked) {
  const auto lead = [](std::vector<LevelId> levels) {
    const Audit c = checked(kLostUpdate, std::move(levels));
    const std::string html = whole_report(start_html({}), {&c, 1});
    const size_t begin = html.find("<p class=\"lead\">") + 16;
    return html.substr(begin, html.find("</p>", begin) - begin);
  };
  EXPECT_EQ(lead({LevelId::serializable}), "Violated: <strong>serializable</strong>.");
  EXPECT_EQ(lead({LevelId::causal, LevelId::serializable}),
            "Violated: <strong>serializable</strong>. Satisfied: <strong>causal</strong>.");
  EXPECT_EQ(lead({}), "Strongest level satisfied: <strong>prefix</strong>.");
}

// Who asked for a level sees first what is wrong with it; who did not, above the lattice what is
// wrong with which.
TEST(HtmlReport, BeginsWithTheConflict) {
  const auto page = [](std::vector<LevelId> levels) {
    const Audit c = checked(kLostUpdate, std::move(levels));
    return whole_report(start_html({}), {&c, 1});
  };
  const std::string asked = page({LevelId::session_si});
  EXPECT_LT(asked.find("class=\"story\""), asked.find("class=\"side\""));
  const std::string all = page({});
  const size_t named = all.find("<ul class=\"conflicts\">");
  ASSERT_NE(named, std::string::npos);
  EXPECT_LT(named, all.find("class=\"side\""));
  EXPECT_NE(all.find("Not adya-si: ", named), std::string::npos);
  EXPECT_LT(all.find("class=\"side\""), all.find("class=\"story\""));
}

// A row that is longer than a box is worth being wide is cut there, and whole in the title.
TEST(HtmlReport, ALongRowDoesNotWidenItsBox) {
  std::string rows;
  for (int i = 0; i < 8; ++i) rows += (i ? ",k" : "k") + std::to_string(i) + "=1";
  std::string text = "initial 0\ns0: { w(x,1)";
  for (int i = 0; i < 8; ++i) text += " w(k" + std::to_string(i) + ",1)";
  text += " }\ns1: { range(k0..k8,[" + rows + "]) r(x,1) w(x,2) }\ns2: { range(k0..k8,[" + rows +
          "]) r(x,1) w(x,3) w(k1,2) }\ns3: { r(k1,2) }\n";
  const Audit c = checked(text, {LevelId::serializable});
  ASSERT_FALSE(c.explanations.empty());
  const Figure figure = cycle_figure(c.history, c.explanations[0]);
  EXPECT_LT(figure.width, 1200);
}

TEST(AllReports, SayWhereARunWasRecorded) {
  auto read = read_history_text(
      R"x({"assay":1,"meta":{"database":{"name":"PostgreSQL","version":"PostgreSQL 15.7 (Debian)","isolation":"read committed"}}}
{"session":1,"ops":[["w","x",1]]}
{"session":2,"ops":[["r","x",1],["w","x",2]]}
{"session":3,"ops":[["r","x",1],["w","x",3]]}
)x",
      "test", {"assay"});
  ASSERT_TRUE(read.ok());
  Audit c;
  c.file = "h.jsonl";
  c.history = std::move(read->history);
  c.requested = {LevelId::session_si};
  CheckOptions options;
  options.levels = c.requested;
  c.result = check(c.history, options);
  c.explanations = explain(c.history, c.result);
  for (const ReportInfo& report : all_reports()) {
    if (report.name == "json") continue;
    auto writer = report.start({});
    std::string whole = writer->add(c);
    whole += writer->finish();
    whole = std::regex_replace(whole, std::regex("\\s+"), " ");
    EXPECT_NE(whole.find("PostgreSQL 15.7 at read committed"), std::string::npos) << report.name;
  }
  EXPECT_EQ(json_of(c)["history"]["database"], "PostgreSQL 15.7");
  EXPECT_EQ(json_of(c)["history"]["isolation"], "read committed");
}

TEST(GithubReport, ALineAViolationThatNothingEndsEarly) {
  Audit c = checked(kLostUpdate, {LevelId::session_si, LevelId::linearizable});
  c.explanations[0].sentences = {"100 % of\nit, it is said: ::error::"};
  auto writer = start_github({});
  std::string text = writer->add(c);
  text += writer->finish();
  EXPECT_TRUE(
      text.starts_with("::error title=lost-update%3A not session-si::100 %25 of%0Ait, it is "
                       "said: ::error::\n::warning title=unknown%3A linearizable::"))
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  c.known = std::vector<LevelId>{LevelId::session_si};
  EXPECT_TRUE(start_github({})->add(c).starts_with("::notice title=lost-update"));
}

// A file of the repository, wherever the job is in it; a file of another place is none.
TEST(GithubReport, TheFileThatAViolationBelongsTo) {
  const std::string root = std::filesystem::canonical(places::kSource);
  setenv("GITHUB_WORKSPACE", root.c_str(), 1);
  const auto told = [](const std::string& meta, const std::string& of_txn) {
    const std::string history =
        "{\"assay\":1,\"meta\":" + meta + "}\n" +
        R"({"session":1,"txn":"a","ops":[["r","x",null],["w","x",1]],"meta":)" + of_txn + "}\n" +
        R"({"session":2,"txn":"b","ops":[["r","x",null],["w","x",2]]})"
        "\n";
    const Audit c = checked(history, {LevelId::session_si}, "assay");
    const std::string line = start_github({})->add(c);
    const auto run = nlohmann::json::parse(whole_report(start_sarif({}), {&c, 1}))["runs"][0];
    const auto at = run["results"][0]["locations"][0]["physicalLocation"];
    return line.substr(0, line.find("title")) + at["artifactLocation"]["uri"].get<std::string>();
  };
  const std::string here = root + "/CMakeLists.txt";
  EXPECT_EQ(told("{}", "{}"), "::error h.hist");
  EXPECT_EQ(told(R"({"test":")" + here + R"(:7"})", "{}"),
            "::error file=CMakeLists.txt,line=7,CMakeLists.txt");
  EXPECT_EQ(told(R"({"sql":")" + here + R"("})", "{}"),
            "::error file=CMakeLists.txt,CMakeLists.txt");
  EXPECT_EQ(told(R"({"test":")" + here + R"(:7"})",
                 R"({"sql":[{"place":"gone.py:1"},7,{"place":")" + root + R"(/README.md:2"}]})"),
            "::error file=README.md,line=2,README.md");
  EXPECT_EQ(told(R"({"test":"/etc/passwd:1","sql":"..","played":7})", R"({"sql":"x"})"),
            "::error h.hist");
  unsetenv("GITHUB_WORKSPACE");
}

TEST(HtmlReport, DataCannotEndItsElement) {
  const Audit c = checked(
      "\"</script><!--\": \"</script>\" { w(\"</ScRiPt>\",\"<!--<script\") }!\n"
      "s2: { r(\"</ScRiPt>\",\"<!--<script\") }\n");
  const auto& [page, scripts] = split_scripts(whole_report(start_html({}), {&c, 1}));
  ASSERT_EQ(scripts.size(), 3u);
  EXPECT_EQ(scripts[0].find('<'), std::string::npos);
  EXPECT_TRUE(std::all_of(scripts[0].begin(), scripts[0].end(), [](char letter) {
    return letter == '\n' || (letter >= ' ' && letter < 127);
  }));
  const nlohmann::json data = nlohmann::json::parse(scripts[0]);
  EXPECT_EQ(data[0]["txns"][0]["ops"][0]["key"], "</ScRiPt>");
  EXPECT_EQ(data[0]["txns"][0]["ops"][0]["value"], "<!--<script");
  expect_well_formed(page);
}

// An explanation that names everything there is.
TEST(HtmlReport, DataIsBounded) {
  std::string text = "initial 0\n";
  for (int t = 0; t < 600; ++t) {
    text += "s" + std::to_string(t) + ": { ";
    for (int i = 0; i < 60; ++i)
      text += "w(" + std::to_string(i) + "," + std::to_string(t * 60 + i + 1) + ") ";
    text += "}\n";
  }
  Audit c = checked(text, {LevelId::read_committed});
  Explanation all;
  all.anomaly = Anomaly::g0;
  all.levels = {LevelId::read_committed};
  for (TxnId t = 0; t < c.history.txn_count(); ++t) all.transactions.push_back(t);
  for (OpId op = 0; op < c.history.op_count(); ++op) all.operations.push_back(op);
  c.explanations = {all};
  const Json data = page_data(c);
  EXPECT_EQ(data["count"], 600);
  EXPECT_LE(data["txns"].size(), 550u);
  for (const auto& t : data["txns"]) EXPECT_LE(t["ops"].size(), 40u);
  EXPECT_LT(as_script_text(data).size(), 4u << 20);
  std::vector<Audit> many;
  for (int i = 0; i < 6; ++i) {
    many.push_back(checked(text, {LevelId::read_committed}));
    many.back().explanations = {all};
  }
  EXPECT_LT(whole_report(start_html({}), many).size(), 5'000'000u);
}

TEST(HtmlReport, RefutedAlternativesAreShownAsRefuted) {
  const Audit c = checked(
      "s1: T0 { w(x,0) w(y,0) } T5 { w(x,5) }\ns2: T1 { w(x,1) }\ns3: T2 { w(y,2) }\n"
      "s4: T3 { r(x,1) r(y,0) }\ns5: T4 { r(x,0) r(y,2) }\n",
      {LevelId::prefix});
  ASSERT_EQ(c.explanations.size(), 1u);
  const Explanation& e = c.explanations[0];
  std::vector<const Arrow*> refuted;
  for (const Arrow& a : e.arrows)
    if (a.refuted) refuted.push_back(&a);
  ASSERT_EQ(refuted.size(), 2u);
  for (const Arrow* a : refuted) {
    EXPECT_FALSE(a->in_cycle);
    ASSERT_EQ(a->supports.size(), 1u);
    EXPECT_TRUE(e.arrows[a->supports[0]].in_cycle);
    EXPECT_TRUE(a->because.starts_with("it cannot be that ")) << a->because;
  }
  EXPECT_NE(whole_report(start_html({}), {&c, 1}).find("(refuted): it cannot be that"),
            std::string::npos);
  const auto count = [](const std::string& text, std::string_view what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  // Figures state what holds.
  EXPECT_EQ(count(whole_report(start_dot({}), {&c, 1}), " -> "), e.arrows.size() - 2);
  EXPECT_EQ(count(cycle_figure(c.history, e).text, "marker-end"), e.arrows.size() - 2);
}

TEST(HtmlReport, EveryAnomalyDraws) {
  for (const std::string_view text :
       {"initial 0\ns1: { r(x,0) r(y,0) w(x,1) }\ns2: { r(x,0) r(y,0) w(y,1) }\n",
        "initial 0\ns1: { r(x,0) w(y,1) }\ns2: { r(y,0) w(z,1) }\ns3: { r(z,0) w(x,1) }\n",
        "initial 0\nevent {\"event\":\"fault\",\"at\":15}\ns1: @[0,10] { w(x,1) }\ns2: @[20,30] { "
        "r(x,0) }\n"}) {
    const Audit c = checked(text);
    const std::string html = split_scripts(whole_report(start_html({}), {&c, 1})).page;
    expect_well_formed(html);
    EXPECT_EQ(html.find("nan"), std::string::npos);
    EXPECT_EQ(html.find("inf\""), std::string::npos);
  }
}

TEST(HtmlReport, ArrowsAreLabelledBesideTheBoxes) {
  struct Box {
    double left, top, right, bottom;
  };
  const Audit c = checked(
      "initial 0\ns1: { r(x,0) w(y,1) }\ns2: { r(y,0) w(z,1) }\ns3: { r(z,0) w(\"a key with a long "
      "name\",1) }\ns4: { r(\"a key with a long name\",0) w(v,1) }\ns5: { r(v,0) w(x,1) }\n",
      {LevelId::serializable});
  ASSERT_EQ(c.explanations.size(), 1u);
  ASSERT_EQ(c.explanations[0].arrows.size(), 5u);
  const std::string svg = cycle_figure(c.history, c.explanations[0]).text;
  std::vector<Box> boxes;
  const std::regex rect(
      R"re(<rect x="([-.0-9]+)" y="([-.0-9]+)" width="([.0-9]+)" height="([.0-9]+)")re");
  for (std::sregex_iterator i(svg.begin(), svg.end(), rect), end; i != end; ++i) {
    const double x = std::stod((*i)[1]), y = std::stod((*i)[2]);
    boxes.push_back({x, y, x + std::stod((*i)[3]), y + std::stod((*i)[4])});
  }
  ASSERT_EQ(boxes.size(), 5u);
  const std::regex label(R"re(<text x="([-.0-9]+)" y="([-.0-9]+)" class="label"[^>]*>([^<]*)<)re");
  for (std::sregex_iterator i(svg.begin(), svg.end(), label), end; i != end; ++i) {
    const double x = std::stod((*i)[1]), y = std::stod((*i)[2]);
    const double half = text_width((*i)[3].str()) / 2;
    boxes.push_back({x - half, y - 10, x + half, y + 2});
  }
  ASSERT_EQ(boxes.size(), 10u);
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t j = i + 1; j < boxes.size(); ++j)
      EXPECT_FALSE(boxes[i].left < boxes[j].right && boxes[j].left < boxes[i].right &&
                   boxes[i].top < boxes[j].bottom && boxes[j].top < boxes[i].bottom)
          << i << " and " << j << " overlap";
}

TEST(HtmlReport, IsCapped) {
  std::vector<Audit> files;
  for (int i = 0; i < 40; ++i) {
    files.push_back(checked(kNasty));
    files.back().notes.assign(3000, std::string(100, 'n'));
  }
  const std::string html = whole_report(start_html({}), files);
  EXPECT_LT(html.size(), 6u << 20);
  EXPECT_NE(html.find("left out"), std::string::npos);
}

TEST(Markup, EscapesWhatIsNoText) {
  EXPECT_EQ(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escape("\x01"), "\\x01");
  EXPECT_EQ(escape("\xC3\x28"), "\\xc3(");
  EXPECT_EQ(escape("\xC3\xA4"), "\xC3\xA4");
}

TEST(AllReports, SurviveNastyNames) {
  Audit c = checked(kNasty, {LevelId::causal});
  c.file = "<&\">.hist";
  EXPECT_FALSE(json_of(c).empty());
  expect_well_formed(split_scripts(whole_report(start_html({}), {&c, 1})).page);
  const std::string junit = whole_report(start_junit({}), {&c, 1});
  expect_well_formed(junit);
  EXPECT_NE(junit.find("<failure type=\"aborted-read\""), std::string::npos);
}

TEST(JunitReport, OnlyLevelsAskedForCanFail) {
  const Audit asked = checked(kLostUpdate, {LevelId::session_si, LevelId::prefix});
  const std::string a = whole_report(start_junit({}), {&asked, 1});
  EXPECT_NE(a.find("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), std::string::npos)
      << a;
  const Audit all = checked(kLostUpdate);
  const std::string b = whole_report(start_junit({}), {&all, 1});
  EXPECT_NE(b.find("failures=\"0\" errors=\"0\" skipped=\"9\""), std::string::npos) << b;
}

TEST(JunitReport, AKnownViolationIsSkipped) {
  Audit c = checked(kLostUpdate, {LevelId::session_si});
  c.known = {LevelId::session_si};
  const std::string known = whole_report(start_junit({}), {&c, 1});
  EXPECT_NE(known.find("failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos) << known;
  EXPECT_NE(known.find("violated, known: lost-update"), std::string::npos) << known;
}

TEST(SarifReport, AFileHasAnAddress) {
  Audit c = checked(kLostUpdate, {LevelId::session_si});
  const auto address = [&](const char* file) {
    c.file = file;
    const auto run = nlohmann::json::parse(whole_report(start_sarif({}), {&c, 1}))["runs"][0];
    return run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        .get<std::string>();
  };
  EXPECT_EQ(address("runs/a-1.hist"), "runs/a-1.hist");
  EXPECT_EQ(address("/tmp/a b#.hist"), "file:///tmp/a%20b%23.hist");
  EXPECT_EQ(address("ä%"), "%C3%A4%25");
  EXPECT_EQ(address("-"), "stdin");
}

// By these times B stands between A and C, so C should have seen what B left.
Audit replayed_by_times(std::string_view times_of_b) {
  Audit c;
  auto read = read_history_text(
      R"({"session":1,"txn":"A","start_ts":1,"commit_ts":2,"ops":[["w","x",1]]})"
      "\n"
      R"({"session":2,"txn":"B",)" +
          std::string(times_of_b) +
          R"("ops":[["w","y",2]]})"
          "\n"
          R"({"session":3,"txn":"C","start_ts":5,"commit_ts":6,"ops":[["r","x",1],["r","y",null]]})"
          "\n",
      "test", {});
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().to_string());
  c.file = "h.jsonl";
  c.history = std::move(read->history);
  CheckOptions options;
  options.levels = c.requested = {LevelId::serializable};
  options.expected_order = ExpectedOrder{};
  c.result = check(c.history, options);
  return c;
}

TEST(JunitReport, AnExpectedOrderIsACase) {
  const auto junit = [](std::string_view times) {
    const Audit c = replayed_by_times(times);
    return whole_report(start_junit({}), {&c, 1});
  };
  const std::string refuted = junit(R"("start_ts":3,"commit_ts":4,)");
  expect_well_formed(refuted);
  EXPECT_NE(refuted.find("tests=\"2\" failures=\"1\" errors=\"0\""), std::string::npos) << refuted;
  EXPECT_NE(refuted.find("<failure type=\"expected-order\" message=\"The expected order"),
            std::string::npos)
      << refuted;
  const std::string explains = junit(R"("start_ts":7,"commit_ts":8,)");
  EXPECT_NE(explains.find("tests=\"2\" failures=\"0\" errors=\"0\""), std::string::npos)
      << explains;
  const std::string obstacle = junit("");
  EXPECT_NE(obstacle.find("tests=\"2\" failures=\"0\" errors=\"1\""), std::string::npos)
      << obstacle;
}

TEST(HtmlReport, SaysWhatAnExpectedOrderCameTo) {
  const Audit c = replayed_by_times(R"("start_ts":3,"commit_ts":4,)");
  const std::string html = split_scripts(whole_report(start_html({}), {&c, 1})).page;
  expect_well_formed(html);
  EXPECT_NE(html.find("The expected order (commit_ts) does not explain the history"),
            std::string::npos);
}

TEST(MarkdownReport, NothingOfAHistoryIsMarkup) {
  Audit c = checked("initial 0\ns1: \"a|b <i>\" { w(x,\"`u`\") }!\n\"s'2\": { r(x,\"`u`\") }\n",
                    {LevelId::causal});
  c.file = "a*b.hist";
  const std::string text = whole_report(start_markdown({}), {&c, 1});
  EXPECT_NE(text.find("### a\\*b.hist"), std::string::npos) << text;
  EXPECT_NE(text.find("| `causal` | **violated** | aborted-read |"), std::string::npos) << text;
  const std::string prose = std::regex_replace(text, std::regex("```text\n[\\s\\S]*?\n```\n"), "");
  EXPECT_LT(prose.size(), text.size());
  EXPECT_EQ(prose.find("<i>"), std::string::npos) << prose;
  EXPECT_EQ(prose.find("a|b"), std::string::npos) << prose;
}

TEST(MarkdownReport, SaysOnlyOfWhatWasDecidedThatItWasVerified) {
  const Audit decided = checked(kLostUpdate, {LevelId::session_si});
  EXPECT_NE(whole_report(start_markdown({}), {&decided, 1}).find("re-checked"), std::string::npos);
  const Audit undecided = checked(kLostUpdate, {LevelId::linearizable});
  const std::string text = whole_report(start_markdown({}), {&undecided, 1});
  EXPECT_EQ(text.find("re-checked"), std::string::npos) << text;
  EXPECT_NE(text.find("Nothing was decided."), std::string::npos) << text;
}

TEST(MarkdownReport, DrawsWhatOrdersTheTransactions) {
  const Audit c = checked("initial 0\ns1: \"a\\\"b\" { r(x,0) w(x,1) }\ns2: { r(x,0) w(x,2) }\n",
                          {LevelId::session_si});
  const std::string text = whole_report(start_markdown({}), {&c, 1});
  EXPECT_NE(text.find("```mermaid\nflowchart LR\n  t0[\"a#34;b<br/>{ r(x,0) w(x,1) }\"]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  t0 ==>|\"anti-dependency (x)\"| t1\n"), std::string::npos) << text;
}

TEST(MarkdownReport, StaysShort) {
  const Audit c = checked(kLostUpdate);
  const std::unique_ptr<ReportWriter> report = find_report("markdown")->start({});
  std::string text;
  for (int i = 0; i < 200; ++i) text += report->add(c);
  text += report->finish();
  EXPECT_LT(text.size(), 65'536u);
  EXPECT_NE(text.find("left out to keep this short"), std::string::npos);
}

TEST(SarifReport, AResultAViolationAtItsLines) {
  const Audit c = checked(kLostUpdate, {LevelId::session_si, LevelId::linearizable});
  const auto run = nlohmann::json::parse(whole_report(start_sarif({}), {&c, 1}))["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "lost-update");
  ASSERT_EQ(run["results"].size(), 2u);
  const auto& violated = run["results"][0];
  EXPECT_EQ(violated["ruleId"], "lost-update");
  EXPECT_EQ(violated["level"], "error");
  const auto& first = violated["locations"][0]["physicalLocation"];
  EXPECT_EQ(first["artifactLocation"]["uri"], "h.hist");
  EXPECT_EQ(first["region"]["startLine"], 2);
  EXPECT_EQ(violated["relatedLocations"].size(), 3u);
  EXPECT_EQ(violated["partialFingerprints"]["violation/v1"], "adya-si:lost-update");
  EXPECT_EQ(run["results"][1]["kind"], "open");
}

TEST(SarifReport, SaysWhatCouldNotBeRead) {
  Audit c;
  c.file = "a b.hist";
  c.error = Error{ErrorKind::bad_input, "expected '}'", "a b.hist", 3, 7};
  const auto run = nlohmann::json::parse(whole_report(start_sarif({}), {&c, 1}))["runs"][0];
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
  const auto& told = run["invocations"][0]["toolExecutionNotifications"][0];
  EXPECT_EQ(told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b.hist");
  EXPECT_EQ(told["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
}

TEST(DotReport, QuotesNames) {
  const Audit c = checked("initial 0\ns1: \"a\\\"b\" { r(x,0) w(x,1) }\ns2: { r(x,0) w(x,2) }\n");
  const std::string dot = whole_report(start_dot({}), {&c, 1});
  EXPECT_NE(dot.find("digraph anomaly_1"), std::string::npos);
  EXPECT_NE(dot.find("a\\\"b"), std::string::npos);
}

TEST(Registry, EndingsChooseReports) {
  EXPECT_EQ(find_report_for("a/b.html")->name, "html");
  EXPECT_EQ(find_report_for("r.xml")->name, "junit");
  EXPECT_EQ(find_report_for("r.pdf"), nullptr);
}

}  // namespace
}  // namespace assay::internal
