// Reads SQL in which each statement says which session it belongs to, in one of the usual ways:
//
//   /* t1 */ BEGIN;  /* t2 */ BEGIN;      a comment of one word in front; it applies until the next
//   /* c1: c1-0 */ COMMIT;                as `shrink --sql` writes it: the part before the colon
//   -- session 1                          a line of its own; it applies until the next
//   COMMIT; -- T1. This unblocks T2       a comment after it, as in Hermitage; it applies to that
//                                         line alone
//   T1> COMMIT;      T1: COMMIT;          a prompt in front
//   | T1 | T2 |                           in Markdown a table with a column for each session; other
//                                         columns are skipped
//
// What comes before the first label creates the tables. In Markdown only blocks of code and tables
// are read; each block with labels is a separate permutation, named by the heading above it, and
// the last block that created tables sets up all.
//
// Unless it is a single word in a comment in front, a label is a name and a number in one of the
// usual spellings: T1, s2, session 1, conn-2, txn A. Anything else is a remark. Cost: one pass.
#include "collect/schedule/labelled.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "collect/schedule/statements.h"

namespace assay::internal::collect::schedule {
namespace {

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

constexpr std::array kOfSessions = {"session", "connection", "conn",   "client",   "transaction",
                                    "trx",     "txn",        "tx",     "terminal", "worker",
                                    "thread",  "user",       "process"};

// The length of a label at the beginning of the text, such as "T1" or "session 2"; 0 if there is
// none.
size_t label_length(std::string_view text) {
  size_t letters = 0;
  while (letters < text.size() && std::isalpha(static_cast<unsigned char>(text[letters])) != 0)
    ++letters;
  if (letters == 0) return 0;
  const std::string word = lowered(text.substr(0, letters));
  const bool spelled = std::find(kOfSessions.begin(), kOfSessions.end(), word) != kOfSessions.end();
  size_t at = letters;
  if (spelled)
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '#' || text[at] == '-' || text[at] == '_'))
      ++at;
  if (!spelled && letters > 2) return 0;
  const size_t number = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == number && spelled && at < text.size() &&
      std::isupper(static_cast<unsigned char>(text[at])) != 0)
    ++at;  // as in "transaction A"
  if (at == number || (at < text.size() && is_in_name(text[at]) && text[at] != '.')) return 0;
  return at;
}

// The name of a label: "session 1" and "Session 1" are one.
std::string label_name(std::string_view label) {
  std::string name;
  for (const char c : label) {
    if (c == ' ' && name.ends_with(' ')) continue;
    name += c == '#' || c == '_' ? ' ' : c;
  }
  return lowered(name);
}

class LabelledReader {
 public:
  explicit LabelledReader(std::string_view text) : text_(text) {}

  Result<File> run() {
    if (is_markdown())
      read_markdown();
    else
      read_sql(text_, 1);
    end_permutation();
    if (file_.steps.empty())
      return bad_input(
          "no statement names its session; expected a specification of PostgreSQL's, or SQL with "
          "/* t1 */ before the statements of a session, -- session 1 above them, or -- T1 after "
          "them",
          1, 1);
    return std::move(file_);
  }

 private:
  bool is_markdown() const {
    return text_.starts_with("```") || text_.find("\n```") != text_.npos ||
           text_.starts_with("|") || text_.find("\n|") != text_.npos;
  }

  void read_markdown() {
    size_t at = 0;
    int line = 0;
    std::optional<size_t> code;  // where a block began
    int code_line = 0;
    while (at < text_.size()) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      const std::string_view whole = text_.substr(at, end - at);
      ++line;
      if (whole.starts_with("```")) {
        if (code) {
          read_sql(text_.substr(*code, at - *code), code_line);
          end_permutation();
          code.reset();
        } else {
          code = std::min(end + 1, text_.size());
          code_line = line + 1;
        }
      } else if (!code) {
        read_prose(whole, line);
      }
      at = end + 1;
    }
    if (code) read_sql(text_.substr(*code), code_line);
  }

  void read_prose(std::string_view line, int number) {
    if (line.starts_with('|')) return read_table_row(line, number);
    if (!columns_.empty()) end_permutation();
    columns_.clear();
    if (line.starts_with('#'))
      heading_ = without_blanks(line.substr(std::min(line.find_first_not_of('#'), line.size())));
  }

  static std::vector<std::string> cells_of(std::string_view row) {
    std::vector<std::string> cells;
    std::string cell;
    for (size_t i = 1; i < row.size(); ++i) {
      if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
        cell += row[++i];
      } else if (row[i] == '|') {
        cells.emplace_back(without_blanks(std::exchange(cell, {})));
      } else if (row[i] != '`') {
        cell += row[i];
      }
    }
    if (!without_blanks(cell).empty()) cells.emplace_back(without_blanks(cell));
    return cells;
  }

  void read_table_row(std::string_view row, int line) {
    const std::vector<std::string> cells = cells_of(row);
    if (columns_.empty()) {
      columns_.resize(cells.size());
      for (size_t i = 0; i < cells.size(); ++i)
        if (!cells[i].empty() && label_length(cells[i]) == cells[i].size())
          columns_[i] = label_name(cells[i]);
      return;
    }
    if (row.find_first_not_of("|-: \t\r") == row.npos) return;
    for (size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i)
      if (!columns_[i].empty())
        for (const std::string_view statement : statements_of(cells[i]))
          add_step(columns_[i], statement, line);
  }

  // Reads a whole script: its statements one after the other, each with its label.
  void read_sql(std::string_view sql, int line) {
    const std::string without_prompts = label_prompts(sql);
    sql = without_prompts;
    const std::vector<Comment> comments = comments_of(sql);
    std::string label;
    std::string setup;
    size_t comment = 0, counted = 0;  // how far comments and lines have been handled
    for (const std::string_view statement : statements_of(sql)) {
      const auto begin = static_cast<size_t>(statement.data() - sql.data());
      const std::vector<Word> words = words_of(statement);
      const size_t first_word = begin + words.front().at;
      for (; comment < comments.size() && comments[comment].at < first_word; ++comment)
        take_label(sql, comments[comment], label);
      for (; counted < first_word; ++counted) line += sql[counted] == '\n' ? 1 : 0;
      const std::string own = label_behind(sql, begin + statement.size(), comments, comment);
      const std::string& of = own.empty() ? label : own;
      const std::string_view text = statement.substr(words.front().at);
      if (!of.empty())
        add_step(of, text, line);
      else
        setup += std::string(text) + ";\n";
    }
    if (!setup.empty()) file_.setup = {std::move(setup)};
  }

  // Turns "T1> SELECT" and "T1: SELECT" into "/* T1 */ SELECT".
  static std::string label_prompts(std::string_view sql) {
    std::string out;
    size_t at = 0;
    while (at < sql.size()) {
      const size_t end = std::min(sql.find('\n', at), sql.size() - 1) + 1;
      const std::string_view line = sql.substr(at, end - at);
      const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
      const std::string_view rest = line.substr(begin);
      const size_t label = label_length(rest);
      if (label > 0 && label < rest.size() && (rest[label] == '>' || rest[label] == ':'))
        out += fmt::format("/* {} */{}", rest.substr(0, label), rest.substr(label + 1));
      else
        out += line;
      at = end;
    }
    return out;
  }

  static void take_label(std::string_view sql, const Comment& c, std::string& label) {
    std::string_view inside = sql.substr(c.at + 2, c.end - c.at - 2);
    if (!c.to_end_of_line) {
      if (inside.ends_with("*/")) inside.remove_suffix(2);
      inside = without_blanks(inside);
      const std::string_view word = without_blanks(inside.substr(0, inside.find(':')));
      const bool one_word = !word.empty() && std::all_of(word.begin(), word.end(), is_in_name);
      if (one_word || (label_length(word) == word.size() && !word.empty()))
        label = one_word ? std::string(word) : label_name(word);
      return;
    }
    // A remark after a statement belongs to that statement.
    const size_t line = sql.rfind('\n', c.at);
    const std::string_view before =
        sql.substr(line == sql.npos ? 0 : line + 1, c.at - (line == sql.npos ? 0 : line + 1));
    inside = without_blanks(inside);
    inside = without_blanks(inside.substr(0, inside.find_last_not_of(":.-= ") + 1));
    if (without_blanks(before).empty() && !inside.empty() && label_length(inside) == inside.size())
      label = label_name(inside);
  }

  // "… ; -- T1, BLOCKS": the comment that begins on the line on which the statement ends.
  static std::string label_behind(std::string_view sql, size_t end,
                                  const std::vector<Comment>& comments, size_t from) {
    const size_t line_end = std::min(sql.find('\n', end), sql.size());
    for (size_t i = from; i < comments.size() && comments[i].at < line_end; ++i) {
      if (comments[i].at < end || !comments[i].to_end_of_line) continue;
      const std::string_view inside =
          without_blanks(sql.substr(comments[i].at + 2, comments[i].end - comments[i].at - 2));
      if (const size_t label = label_length(inside); label > 0)
        return label_name(inside.substr(0, label));
    }
    return {};
  }

  void add_step(const std::string& label, std::string_view sql, int line) {
    size_t session = 0;
    while (session < file_.sessions.size() && file_.sessions[session].name != label) ++session;
    if (session == file_.sessions.size()) file_.sessions.push_back({.name = label});
    if (!open_) {
      file_.permutations.push_back({.name = heading_, .turns = {}, .queues = true});
      numbers_.clear();
      open_ = true;
    }
    file_.sessions[session].steps.push_back(file_.steps.size());
    file_.permutations.back().turns.push_back({file_.steps.size(), {}});
    file_.steps.push_back({.name = fmt::format("{}.{}", label, ++numbers_[label]),
                           .session = session,
                           .sql = std::string(sql),
                           .line = line});
  }
  void end_permutation() { open_ = false; }

  std::string_view text_;
  File file_;
  std::map<std::string, size_t> numbers_;  // number of steps in the permutation, by session
  bool open_ = false;                      // whether a permutation is open
  std::string heading_;                    // in Markdown
  std::vector<std::string> columns_;       // columns of the table; empty: not of a session
};

}  // namespace

Result<File> parse_labelled(std::string_view text) { return LabelledReader(text).run(); }

}  // namespace assay::internal::collect::schedule
