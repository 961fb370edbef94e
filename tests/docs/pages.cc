#include "pages.h"

#include <regex>
#include <sstream>

namespace assay::internal::docs {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The lines between ```language and ```; `at` ends up on the closing fence.
std::string block(const std::vector<std::string>& lines, size_t& at) {
  std::string text;
  for (++at; at < lines.size() && lines[at] != "```"; ++at) text += lines[at] + "\n";
  return text;
}

std::vector<Claim> claims(const std::string& paragraph) {
  static const std::regex kClaim(
      "`([a-z0-9.+-]+)` (satisfied|violated|unknown)(?: \\(`([a-z0-9-]+)`\\))?");
  std::vector<Claim> found;
  for (auto it = std::sregex_iterator(paragraph.begin(), paragraph.end(), kClaim);
       it != std::sregex_iterator(); ++it)
    found.push_back({(*it)[1], (*it)[2], (*it)[3]});
  // "violated: `a`, `b`"
  static const std::regex kLevels("(satisfied|violated|unknown):((?: `[a-z0-9.+-]+`,?)+)");
  static const std::regex kLevel("`([a-z0-9.+-]+)`");
  for (auto it = std::sregex_iterator(paragraph.begin(), paragraph.end(), kLevels);
       it != std::sregex_iterator(); ++it) {
    const std::string levels = (*it)[2];
    for (auto level = std::sregex_iterator(levels.begin(), levels.end(), kLevel);
         level != std::sregex_iterator(); ++level)
      found.push_back({(*level)[1], (*it)[1], ""});
  }
  return found;
}

// A line without what differs from run to run.
std::string steady(const std::string& line) {
  static const std::regex kDuration("[0-9]+([.][0-9]+)? (ns|µs|ms|s|min|KiB|MiB|GiB|KB|MB|GB)\\b");
  static const std::regex kFraction("[0-9]+[.][0-9]+(e-?[0-9]+)?");
  static const std::regex kBlanks(" +");
  std::string text = std::regex_replace(line, kDuration, "# $2");
  text = std::regex_replace(text, kFraction, "#");
  return std::regex_replace(text, kBlanks, " ");
}

bool matches_from(const std::vector<std::string>& shown, size_t i,
                  const std::vector<std::string>& actual, size_t j) {
  for (; i < shown.size(); ++i, ++j) {
    if (shown[i] == "…") {
      for (size_t k = j; k <= actual.size(); ++k)
        if (matches_from(shown, i + 1, actual, k)) return true;
      return false;
    }
    if (j >= actual.size() || steady(shown[i]) != steady(actual[j])) return false;
  }
  return j == actual.size();
}

// A line of a block, or what goes on from the last. Returns whether the next one goes on from it.
bool add_typed_line(Command line, bool goes_on, std::vector<Command>& found) {
  // Programs as users type them: ours, scripts of this tree, and what one installs, builds and runs
  // with.
  static const std::regex kCalls(
      "^(?:[A-Z_]+=\\S+ "
      ")*(?:(?:assay|apt|apt-get|bash|c\\+\\+|cargo|cc|cd|cmake|cp|cpack|ctest|curl|"
      "docker|dpkg|export|for|g\\+\\+|git|go|gradle|java|javac|make|mkdir|mvn|my-[a-z-]+|ninja|"
      "node|npm|"
      "npx|pip|pip3|podman|psql|python|python3|sh|sqlite3|sudo|tar|uv|wget) |(?:dev|bench|examples|"
      "\\.ci|\\.)/).*");
  static const std::regex kRemark("( +# .*|  +[^'\"]*)$");
  if (goes_on) line.text.erase(0, line.text.find_first_not_of(' '));
  line.text = std::regex_replace(line.text, kRemark, "");
  if (!goes_on && !std::regex_match(line.text, kCalls)) return false;
  if (goes_on)
    found.back().text += " " + line.text;
  else
    found.push_back(std::move(line));
  std::string& text = found.back().text;
  if (text.ends_with("|")) return true;
  if (!text.ends_with(" \\")) return false;
  text.resize(text.size() - 2);
  return true;
}

void add_typed_between_backticks(const std::string& line, int number, std::vector<Command>& found) {
  static const std::regex kTyped(
      "`(assay [^ `]+ [^ `]+ [^`]+|(?:dev|bench|examples)/[^ `]+ [^`]+)`");
  static const std::regex kForm(" [A-Z]{2,}\\b|…|<|\\|");  // something is to be filled in
  for (auto it = std::sregex_iterator(line.begin(), line.end(), kTyped);
       it != std::sregex_iterator(); ++it)
    if (!std::regex_search((*it)[1].str(), kForm)) found.push_back({number, (*it)[1].str()});
}

}  // namespace

std::vector<Example> examples(const std::string& page) {
  const std::vector<std::string> lines = lines_of(page);
  std::vector<Example> found;
  for (size_t at = 0; at < lines.size(); ++at) {
    if (lines[at] != "```hist") continue;
    Example example;
    example.line = static_cast<int>(at) + 1;
    example.history = block(lines, at);
    std::string paragraph;
    for (size_t i = at + 1; i < lines.size() && !lines[i].empty(); ++i) paragraph += lines[i] + " ";
    if (paragraph.starts_with("Verdicts:")) example.claims = claims(paragraph);
    found.push_back(std::move(example));
  }
  return found;
}

std::vector<Session> sessions(const std::string& page) {
  const std::vector<std::string> lines = lines_of(page);
  std::vector<Session> found;
  for (size_t at = 0; at < lines.size(); ++at) {
    if (lines[at] != "```console") continue;
    const int first = static_cast<int>(at) + 2;
    const std::vector<std::string> shown = lines_of(block(lines, at));
    for (size_t i = 0; i < shown.size(); ++i) {
      if (shown[i].starts_with("$ "))
        found.push_back({first + static_cast<int>(i), shown[i].substr(2), ""});
      else if (!found.empty())
        found.back().output += shown[i] + "\n";
    }
  }
  return found;
}

std::vector<Command> commands(const std::string& page) {
  static const std::regex kInline("`((?:assay |dev/|bench/|examples/|\\./)[^`]*)`");
  static const std::regex kWhole(
      "^(?:\\$ )?(?:[A-Z_]+=\\S+ )*((?:assay |dev/|bench/|examples/|\\./).*)");
  std::vector<Command> found;
  std::string fence;  // what opened the block, or nothing outside of one
  const std::vector<std::string> lines = lines_of(page);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const int number = static_cast<int>(i) + 1;
    if (line.starts_with("```")) {
      fence = fence.empty() ? line : "";
      continue;
    }
    const bool shell = fence == "```sh" || fence == "```bash" || fence == "```shell";
    std::smatch match;
    const std::string whole = fence.empty() && line.starts_with("    ") ? line.substr(4)
                              : shell                                   ? line
                                                                        : "";
    if (std::regex_match(whole, match, kWhole)) found.push_back({number, match[1].str()});
    if (!fence.empty()) continue;
    for (auto it = std::sregex_iterator(line.begin(), line.end(), kInline);
         it != std::sregex_iterator(); ++it)
      found.push_back({number, (*it)[1].str()});
  }
  return found;
}

std::vector<Command> shown_to_be_typed(const std::string& page) {
  std::vector<Command> found;
  std::string fence;
  bool goes_on = false;
  int number = 0;
  for (const std::string& line : lines_of(page)) {
    ++number;
    const bool shell = fence == "```sh" || fence == "```bash" || fence == "```shell";
    if (line.starts_with("```")) {
      fence = fence.empty() ? line : "";
    } else if (shell || (fence.empty() && line.starts_with("    "))) {
      goes_on = add_typed_line({number, shell ? line : line.substr(4)}, goes_on, found);
      continue;
    } else if (fence.empty()) {
      add_typed_between_backticks(line, number, found);
    }
    goes_on = false;
  }
  return found;
}

std::string needs(const std::string& page) {
  static const std::regex kNeeds("(?:^|\n)<!-- commands run with: ([a-z]+) -->\n");
  std::smatch found;
  return std::regex_search(page, found, kNeeds) ? found[1].str() : "";
}

bool matches(const std::string& shown, const std::string& actual) {
  return matches_from(lines_of(shown), 0, lines_of(actual), 0);
}

}  // namespace assay::internal::docs
