#include "collect/schedule/transcript.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::internal::collect::schedule {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE -+") == text.npos &&
         text.front() != 'e' && text.front() != 'E';
}

void add_rows(std::string& out, const Spoken& answer) {
  const size_t columns = answer.columns.size();
  std::vector<size_t> width(columns);
  std::vector<bool> numbers(columns, true);
  for (size_t c = 0; c < columns; ++c) {
    width[c] = answer.columns[c].size();
    for (const auto& row : answer.rows) {
      width[c] = std::max(width[c], row[c] ? row[c]->size() : 0);
      if (row[c] && !row[c]->empty()) numbers[c] = numbers[c] && is_number(*row[c]);
    }
  }
  const auto line = [&](const auto& cell, char between) {
    std::string text;
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) text += between;
      text += cell(c);
    }
    out += text + '\n';
  };
  const auto padded = [&](const std::string& text, size_t c) {
    return numbers[c] ? fmt::format("{:>{}}", text, width[c])
                      : fmt::format("{:<{}}", text, width[c]);
  };
  line([&](size_t c) { return padded(answer.columns[c], c); }, '|');
  line([&](size_t c) { return std::string(width[c], '-'); }, '+');
  for (const auto& row : answer.rows)
    line([&](size_t c) { return padded(row[c].value_or(""), c); }, '|');
  out += answer.rows.size() == 1 ? "(1 row)\n\n" : fmt::format("({} rows)\n\n", answer.rows.size());
}

void add_answer(std::string& out, const Spoken& answer) {
  if (!answer.columns.empty()) add_rows(out, answer);
  if (answer.error.empty()) return;
  // PostgreSQL's error code, five letters and digits, is not printed by the tester.
  out += "ERROR:  " + answer.error.substr(answer.error.find(' ') == 5 ? 6 : 0) + '\n';
}

}  // namespace

std::string transcript(const File& file, const Permutation& permutation,
                       const Performance& played) {
  std::string out = "starting permutation:";
  for (const Turn& turn : permutation.turns) out += ' ' + file.steps[turn.step].name;
  out += '\n';
  for (const Told& told : played.told) {
    if (told.what == Told::What::result) {
      add_answer(out, told.result);
      continue;
    }
    const Step& step = file.steps[told.step];
    for (const size_t i : told.statements)
      for (const std::string& notice : played.statements[i].answer.notices)
        out += fmt::format("{}: {}\n", file.sessions[step.session].name, notice);
    out += fmt::format("step {}: {}\n", step.name,
                       told.what == Told::What::completed ? "<... completed>"
                       : told.what == Told::What::waiting ? step.sql + " <waiting ...>"
                                                          : step.sql);
    for (const size_t i : told.statements) add_answer(out, played.statements[i].answer);
  }
  return out;
}

std::vector<std::string> lines_to_compare(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else if (c != ' ' && c != '\t' && c != '\r')
      lines.back() += c;
  }
  std::erase(lines, "");
  return lines;
}

}  // namespace assay::internal::collect::schedule
