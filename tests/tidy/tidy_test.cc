// Rules of the tree that no compiler knows. Each rule is a function from a file's text to what is
// wrong with it, and each has a canary: a sample that it must refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/anomaly.h"
#include "assay/format.h"
#include "assay/level.h"
#include "places.h"

namespace {

namespace fs = std::filesystem;
using Faults = std::vector<std::string>;

constexpr size_t kMaxPublicHeaders = 12;  // for C++, and assay_c.h
constexpr size_t kEssayLines = 5;

const fs::path& root() {
  static const fs::path kRoot = assay::internal::places::kSource;
  return kRoot;
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> extensions) {
  return std::ranges::any_of(extensions, [&](std::string_view e) { return path.extension() == e; });
}

bool is_code(const fs::path& path) {
  return has_extension(path, {".cc", ".h", ".js", ".py", ".cmake", ".sh"});
}

// Every file that people wrote: build trees and dot folders are left out.
std::vector<fs::path> tree() {
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(root()); it != fs::end(it); ++it) {
    const std::string name = it->path().filename();
    if (it->is_directory() && (name == "build" || (name[0] == '.' && name != ".ci")))
      it.disable_recursion_pending();
    else if (it->is_regular_file() && name != "LICENSE" && name != ".git")
      files.push_back(it->path());
  }
  return files;
}

std::string shown(const fs::path& path) { return fs::relative(path, root()); }

// --- the rules

// What no line may match. A line is searched, which is slow, only if it holds one of the needles.
struct Ban {
  std::vector<std::string> needles;
  std::regex pattern;
  std::string what;
};

Faults banned(const std::vector<Ban>& bans, const std::string& text) {
  Faults faults;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    for (const auto& [needles, pattern, what] : bans) {
      std::smatch match;
      if (std::ranges::any_of(
              needles, [&](const std::string& n) { return line.find(n) != std::string::npos; }) &&
          std::regex_search(line, match, pattern))
        faults.push_back(what + ": " + match.str());
    }
  }
  return faults;
}

// Written in pieces, so that this file does not find itself.
Faults banned_words(const std::string& text) {
  const std::string slash = "/", fix = "FIX", to = "TO", x = "X";
  static const std::vector<Ban> kBans = {
      {{slash + "work/", slash + "home/", slash + "root/", slash + "Users/"},
       std::regex(std::string("(^|[^A-Za-z0-9_.])/") + "(work|home|root|Users)/"),
       "a path of one machine"},
      {{fix + "ME", x + "XX"},
       std::regex(std::string("\\b") + "(FIX" + "ME|X" + "XX)\\b"),
       "a note to nobody"},
      {{to + "DO"},
       std::regex(std::string("\\b") + "TO" + "DO\\b(?!\\([a-z-]+\\): \\w+ \\w+)"),
       "a to-do without topic and text"},
  };
  return banned(kBans, text);
}

Faults banned_in_headers(const std::string& text) {
  Faults faults;
  if (text.find("#pragma once") == std::string::npos) faults.push_back("no #pragma once");
  static const std::vector<Ban> kBans = {
      {{"using namespace"}, std::regex("^\\s*using namespace"), "using namespace"}};
  if (!banned(kBans, text).empty()) faults.push_back("using namespace in a header");
  if (text.find("#include <iostream>") != std::string::npos)
    faults.push_back("<iostream> in a header; <iosfwd> will do");
  return faults;
}

Faults banned_in_code(const std::string& text) {
  static const std::vector<Ban> kBans = {{{"rand(", "strcpy(", "sprintf(", "gets("},
                                          std::regex("\\b(s?rand|strcpy|sprintf|gets)\\("),
                                          "a C function with a better relative in base/"},
                                         {{std::string("std::en") + "dl"},
                                          std::regex(std::string("std::en") + "dl"),
                                          "flushes at every line; write a newline"}};
  return banned(kBans, text);
}

// The name that a line at the margin of a namespace declares; empty if it declares none.
std::string declared_name(const std::string& line) {
  static const std::regex kType("^(?:class|struct|enum class|enum|using) ([A-Za-z_]\\w*)");
  static const std::regex kFunction("([A-Za-z_]\\w*)(?:::[~\\w]+)*?(?:(?:::| )operator[^(]*)?\\(");
  static const std::regex kVariable("([A-Za-z_]\\w*)(?:\\[.*\\])?(?: =.*|\\{.*|;)$");
  if (line.empty() || (std::isalpha(static_cast<unsigned char>(line[0])) == 0 && line[0] != '_'))
    return {};
  if (line.starts_with("namespace ") || line.starts_with("template <")) return {};
  std::smatch match;
  for (const std::regex* declaration : {&kType, &kFunction, &kVariable})
    if (std::regex_search(line, match, *declaration)) return match[1];
  return "what cannot be read: " + line;
}

std::set<std::string> words_of(const std::string& code) {
  std::set<std::string> words;
  std::string word;
  for (const char c : code + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

// What a file outside of include/assay puts into the namespace of the users. A source may define there what a public
// header declares; `public_words` are those of these headers without their comments.
Faults declared_for_users(const fs::path& path, const std::string& text,
                          const std::set<std::string>& public_words) {
  static const std::regex kOpens("^namespace assay(::(\\w+)[\\w:]*)? \\{");
  Faults faults;
  bool open = false, hidden = false;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (line.starts_with("namespace assay") && std::regex_search(line, match, kOpens)) {
      open = match[2] != "internal";
      if (open && (match[2].matched || path.extension() == ".h"))
        faults.push_back("opens namespace assay" + match[1].str() + ", expected assay::internal");
    }
    if (line == "namespace {") hidden = true;
    if (line == "}  // namespace") hidden = false;
    if (line.starts_with("}  // namespace assay")) open = false;
    const std::string name = open && !hidden ? declared_name(line) : "";
    if (!name.empty() && !public_words.contains(name))
      faults.push_back("declares " + name + " in namespace assay, expected assay::internal");
  }
  return faults;
}

// Comment lines at the top of a file.
size_t essay_lines(const std::string& text) {
  size_t lines = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line) && line.starts_with("//");) ++lines;
  return lines;
}

// Relative links of a Markdown page that lead nowhere.
Faults dead_links(const fs::path& page, const std::string& text) {
  static const std::regex kLink("\\]\\(([^)#: ]+)(#[^)]*)?\\)");
  Faults faults;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), kLink);
       it != std::sregex_iterator(); ++it)
    if (!fs::exists(page.parent_path() / (*it)[1].str()))
      faults.push_back("dead link " + (*it)[1].str());
  return faults;
}

Faults missing_pages(const fs::path& folder, const std::vector<std::string>& names) {
  Faults faults;
  for (const std::string& name : names)
    if (!fs::exists(folder / (name + ".md"))) faults.push_back("no page for " + name);
  return faults;
}

Faults missing_words(const std::string& text, const std::vector<std::string>& words) {
  Faults faults;
  for (const std::string& word : words)
    if (text.find("`" + word + "`") == std::string::npos) faults.push_back("nothing on " + word);
  return faults;
}

template <class Rule>
void expect_clean(bool (*applies)(const fs::path&), Rule rule) {
  int files = 0;
  for (const fs::path& path : tree()) {
    if (!applies(path)) continue;
    ++files;
    for (const std::string& fault : rule(path)) ADD_FAILURE() << shown(path) << ": " << fault;
  }
  EXPECT_GT(files, 0);
}

// --- the tree keeps them

TEST(Tidy, NoBannedWords) {
  expect_clean(
      [](const fs::path& p) {
        return is_code(p) || has_extension(p, {".md", ".txt", ".json", ".hist", ""});
      },
      [](const fs::path& p) { return banned_words(content_of(p)); });
}

TEST(Tidy, HeadersKeepToThemselves) {
  expect_clean([](const fs::path& p) { return p.extension() == ".h"; },
               [](const fs::path& p) { return banned_in_headers(content_of(p)); });
}

TEST(Tidy, CodeUsesTheHouseTools) {
  expect_clean(
      [](const fs::path& p) {
        return has_extension(p, {".cc", ".h"});
      },
      [](const fs::path& p) { return banned_in_code(content_of(p)); });
}

TEST(Tidy, OnlyPublicHeadersDeclareForUsers) {
  std::string public_code;
  for (const auto& entry : fs::directory_iterator(root() / "include" / "assay"))
    public_code += std::regex_replace(content_of(entry.path()), std::regex("//[^\n]*"), "");
  const std::set<std::string> public_words = words_of(public_code);
  for (const char* folder : {"src", "tests", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
      const fs::path& path = entry.path();
      if (!has_extension(path, {".cc", ".h"}) || path.filename() == "tidy_test.cc") continue;
      for (const std::string& fault : declared_for_users(path, content_of(path), public_words))
        ADD_FAILURE() << shown(path) << ": " << fault;
    }
  }
}

// An algorithm is explained at the head of its source or of its header.
TEST(Tidy, AlgorithmsOpenWithAnEssay) {
  for (const char* room : {"graph", "infer", "solver", "prefix_search", "levels"}) {
    if (!fs::exists(root() / "src" / room)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root() / "src" / room)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".cc" || path.stem().string().ends_with("_test") ||
          path.stem().string().ends_with("_fuzz"))
        continue;
      fs::path header = path;
      header.replace_extension(".h");
      EXPECT_GE(std::max(essay_lines(content_of(path)), essay_lines(content_of(header))),
                kEssayLines)
          << shown(path) << " opens without an essay";
    }
  }
}

TEST(Tidy, FewPublicHeaders) {
  const auto headers =
      std::distance(fs::directory_iterator(root() / "include" / "assay"), fs::directory_iterator());
  EXPECT_LE(static_cast<size_t>(headers), kMaxPublicHeaders + 1);
}

TEST(Tidy, NoRoomForOddments) {
  expect_clean(
      [](const fs::path& p) {
        return has_extension(p, {".cc", ".h"});
      },
      [](const fs::path& p) -> Faults {
        static const std::regex kOddments("^(utils?|helpers?|misc|common)(_test)?$");
        if (!std::regex_match(p.stem().string(), kOddments)) return {};
        return {"is named after nothing"};
      });
}

TEST(Tidy, LinksLeadSomewhere) {
  expect_clean([](const fs::path& p) { return p.extension() == ".md"; },
               [](const fs::path& p) { return dead_links(p, content_of(p)); });
}

TEST(Tidy, EveryLevelHasAPage) {
  std::vector<std::string> names;
  for (const assay::LevelInfo& level : assay::all_levels()) names.emplace_back(level.name);
  EXPECT_EQ(missing_pages(root() / "docs" / "levels", names), Faults{});
  EXPECT_EQ(missing_words(content_of(root() / "README.md"), names), Faults{});
}

TEST(Tidy, EveryFormatHasAPage) {
  std::vector<std::string> names;
  for (const assay::FormatInfo& format : assay::all_formats()) names.emplace_back(format.name);
  EXPECT_EQ(missing_pages(root() / "docs" / "formats", names), Faults{});
  const std::string index = content_of(root() / "docs" / "formats" / "README.md");
  for (const std::string& name : names)
    EXPECT_NE(index.find("[" + name + "](" + name + ".md)"), std::string::npos) << name;
}

TEST(Tidy, EveryAnomalyIsInTheGlossary) {
  std::vector<std::string> names;
  for (const assay::AnomalyInfo& a : assay::all_anomalies()) names.emplace_back(a.name);
  EXPECT_EQ(missing_words(content_of(root() / "docs" / "glossary.md"), names), Faults{});
}

// --- canaries: every rule must be able to fail

TEST(TidyCanary, EveryRuleRefusesItsSample) {
  for (const std::string bad : {"see /ho"
                                "me/me/x",
                                "// FIX"
                                "ME",
                                "// TO"
                                "DO",
                                "// TO"
                                "DO: later",
                                "X"
                                "XX here"})
    EXPECT_FALSE(banned_words(bad).empty()) << bad;
  EXPECT_TRUE(banned_words("// TO"
                           "DO(ranges): support open bounds")
                  .empty());
  EXPECT_TRUE(banned_words("mkstemp X"
                           "XXXXX, docs/ho"
                           "me/x")
                  .empty());
  EXPECT_FALSE(banned_in_headers("int x;").empty());
  EXPECT_FALSE(banned_in_headers("#pragma once\nusing namespace std;\n").empty());
  EXPECT_FALSE(banned_in_headers("#pragma once\n#include <iostream>\n").empty());
  EXPECT_TRUE(banned_in_headers("#pragma once\nusing std::string;\n").empty());
  EXPECT_FALSE(banned_in_code(std::string("int i = ra") + "nd();").empty());
  EXPECT_FALSE(banned_in_code(std::string("out << std::en") + "dl;").empty());
  EXPECT_EQ(essay_lines("#include <x>\n// late\n"), 0u);
  EXPECT_EQ(essay_lines("// one\n// two\n\n// three\n"), 2u);
  EXPECT_EQ(dead_links(root() / "README.md", "[a](no/such/page.md) [b](LICENSE) [c](https://x.y)"),
            Faults{"dead link no/such/page.md"});
  EXPECT_EQ(missing_pages(root() / "docs", {"no-such-level"}), Faults{"no page for no-such-level"});
  EXPECT_EQ(missing_words("`a` only", {"a", "b"}), Faults{"nothing on b"});
}

TEST(TidyCanary, WhatIsDeclaredForUsersIsFound) {
  const std::set<std::string> public_words =
      words_of("class History { Status load(); };\nStatus check(const History& h);\n");
  const auto in_assay = [](const std::string& code) {
    return "namespace assay {\n" + code + "}  // namespace assay\n";
  };
  for (const std::string code :
       {"Status decide(int a,\n              int b) {\n}\n", "struct Node {\n};\n",
        "template <class T>\nT load_all();\n", "constexpr int kMost = 4;\n", "using Nodes = int;\n",
        "std::vector<int> list{1, 2};\n", "namespace {\nint f();\n}  // namespace\nint g();\n"})
    EXPECT_EQ(declared_for_users("a.cc", in_assay(code), public_words).size(), 1u) << code;
  for (const std::string code :
       {"Status check(const History& h) {\n  int decide();\n}\n", "Status History::load() {\n}\n",
        "namespace {\nint f();\nstruct Node {};\n}  // namespace\n",
        "namespace formats = internal::formats;\n"})
    EXPECT_EQ(declared_for_users("a.cc", in_assay(code), public_words), Faults{}) << code;
  EXPECT_EQ(declared_for_users("a.h", in_assay(""), public_words).size(), 1u);
  EXPECT_EQ(declared_for_users("a.cc", "namespace assay::formats {\n}\n", public_words).size(), 1u);
  EXPECT_EQ(declared_for_users("a.h", "namespace assay::internal::formats {\nint g();\n}\n",
                               public_words),
            Faults{});
}

}  // namespace
