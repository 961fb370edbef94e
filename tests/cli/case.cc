#include "case.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace assay::internal::cli_cases {
namespace {

bool take(const std::string& line, const std::string& word, std::string& rest) {
  if (line != word && !line.starts_with(word + " ")) return false;
  rest = line.size() > word.size() ? line.substr(word.size() + 1) : "";
  return true;
}

void expect_text(const std::string& rest, std::vector<std::string>& wanted, bool& nothing) {
  if (rest.empty())
    nothing = true;
  else
    wanted.push_back(rest);
}

// Lines of `text` that contain the wanted ones, in order.
void find_in_order(const std::string& text, const std::vector<std::string>& wanted,
                   const std::string& where, std::vector<std::string>& faults) {
  std::istringstream lines(text);
  std::string line;
  for (const std::string& w : wanted) {
    bool found = false;
    while (!found && std::getline(lines, line)) found = line.find(w) != std::string::npos;
    if (!found) {
      faults.push_back(where + " lacks (in this order): " + w);
      return;
    }
  }
}

std::string look_up(const std::string& text, const std::string& path) {
  const auto document = nlohmann::json::parse(text.substr(0, text.find('\n')), nullptr, false);
  if (document.is_discarded()) return "(no JSON)";
  const nlohmann::json* at = &document;
  std::istringstream keys(path);
  for (std::string key; std::getline(keys, key, '.');) {
    if (at->is_array() && !key.empty() && key.size() < 6 &&
        key.find_first_not_of("0123456789") == std::string::npos && std::stoul(key) < at->size())
      at = &(*at)[std::stoul(key)];
    else if (at->is_object() && at->contains(key))
      at = &(*at)[key];
    else
      return "(no " + key + ")";
  }
  return at->dump();
}

}  // namespace

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Case parse_case(const std::string& name, const std::string& text) {
  Case c;
  c.name = name;
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (take(line, "$", rest)) {
      c.steps.emplace_back();
      c.steps.back().command = rest;
      continue;
    }
    if (c.steps.empty()) {
      c.mistake = "before the first command: " + line;
      return c;
    }
    Step& s = c.steps.back();
    if (take(line, "<", rest))
      s.input += rest + "\n";
    else if (take(line, "exit", rest))
      s.exit = std::stoi(rest);
    else if (take(line, "out!", rest))
      s.not_out.push_back(rest);
    else if (take(line, "err!", rest))
      s.not_err.push_back(rest);
    else if (take(line, "out", rest))
      expect_text(rest, s.out, s.no_out);
    else if (take(line, "err", rest))
      expect_text(rest, s.err, s.no_err);
    else if (take(line, "json", rest))
      s.json.emplace_back(rest.substr(0, rest.find(' ')), rest.substr(rest.find(' ') + 1));
    else
      c.mistake = "not understood: " + line;
  }
  if (c.steps.empty()) c.mistake = "no command";
  return c;
}

std::vector<std::string> faults(const Step& step, const Outcome& o) {
  std::vector<std::string> found;
  if (o.exit != step.exit)
    found.push_back("exit code " + std::to_string(o.exit) + " instead of " +
                    std::to_string(step.exit));
  find_in_order(o.out, step.out, "standard output", found);
  find_in_order(o.err, step.err, "standard error", found);
  for (const std::string& w : step.not_out)
    if (o.out.find(w) != std::string::npos) found.push_back("standard output has: " + w);
  for (const std::string& w : step.not_err)
    if (o.err.find(w) != std::string::npos) found.push_back("standard error has: " + w);
  if (step.no_out && !o.out.empty()) found.push_back("standard output is not empty");
  if (step.no_err && !o.err.empty()) found.push_back("standard error is not empty");
  for (const auto& [path, value] : step.json) {
    const std::string actual = look_up(o.out, path);
    const bool any = value == "*" && !actual.starts_with("(no");
    if (actual != value && !any)
      found.push_back("JSON " + path + " is " + actual + ", not " + value);
  }
  return found;
}

}  // namespace assay::internal::cli_cases
