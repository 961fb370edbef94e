// A scanner that knows only those parts of SQL that are the same everywhere, or harmless: names,
// texts, numbers, brackets, comments.
//
// Texts are between ' (doubled inside), names between " or ` or [ ] of one word, PostgreSQL's texts
// between $tag$. A text without an end reaches to the end of the input. The meaning of the
// statement is left to the database.
//
//   select "a b" from t where x = $$it's$$ -- why      select, "a b", from, t, where, x, =,
//                                                      $$it's$$
//
// Cost: one pass.
#include "collect/schedule/statements.h"

#include <algorithm>
#include <cctype>

namespace assay::internal::collect::schedule {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Scanner {
 public:
  explicit Scanner(std::string_view sql) : sql_(sql) {}

  void run() {
    while (at_ < sql_.size()) step();
  }

  std::vector<Word> words;
  std::vector<Comment> comments;
  std::vector<size_t> semicolons;  // those that end statements

 private:
  char ahead(size_t n) const { return at_ + n < sql_.size() ? sql_[at_ + n] : '\0'; }

  void step() {
    const char c = sql_[at_];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (c == '-' && ahead(1) == '-') {
      comment(sql_.find('\n', at_), 0, true);
    } else if (c == '/' && ahead(1) == '*') {
      comment(sql_.find("*/", at_ + 2), 2, false);
    } else if (c == '\'') {
      quoted('\'', Word::Kind::text);
    } else if (c == '"' || c == '`') {
      quoted(c, Word::Kind::quoted);
    } else if (c == '$' && dollar_quoted()) {
    } else if (is_letter(c)) {
      add(Word::Kind::word, length([](char d) { return is_letter(d) || is_digit(d) || d == '$'; }));
    } else if (is_digit(c)) {
      add(Word::Kind::number, length([](char d) { return is_digit(d) || d == '.'; }));
    } else {
      sign(c);
    }
  }

  void comment(size_t end, size_t mark, bool to_end_of_line) {
    end = end == std::string_view::npos ? sql_.size() : end + mark;
    comments.push_back({at_, end, to_end_of_line});
    at_ = end;
  }

  template <class Is>
  size_t length(Is is) const {
    size_t n = 1;
    while (at_ + n < sql_.size() && is(sql_[at_ + n])) ++n;
    return n;
  }

  void add(Word::Kind kind, size_t size) {
    Word w{kind, std::string(sql_.substr(at_, size)), at_, at_ + size, depth_};
    if (kind == Word::Kind::word)
      for (char& c : w.text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (kind == Word::Kind::word) follow_bodies(w.text);
    words.push_back(std::move(w));
    at_ += size;
    fresh_ = false;
  }

  void quoted(char quote, Word::Kind kind) {
    size_t end = at_ + 1;
    std::string text;
    for (; end < sql_.size(); ++end) {
      if (sql_[end] == quote) {
        if (end + 1 >= sql_.size() || sql_[end + 1] != quote) break;
        ++end;
      }
      text += sql_[end];
    }
    end = std::min(end + 1, sql_.size());
    words.push_back({kind, std::move(text), at_, end, depth_});
    at_ = end;
    fresh_ = false;
  }

  bool dollar_quoted() {
    size_t end = at_ + 1;
    while (end < sql_.size() && (is_letter(sql_[end]) || is_digit(sql_[end]))) ++end;
    if (end >= sql_.size() || sql_[end] != '$' || is_digit(ahead(1))) return false;
    const std::string_view tag = sql_.substr(at_, end + 1 - at_);
    const size_t close = sql_.find(tag, end + 1);
    const size_t after = close == std::string_view::npos ? sql_.size() : close + tag.size();
    words.push_back(
        {Word::Kind::text, std::string(sql_.substr(at_, after - at_)), at_, after, depth_});
    at_ = after;
    return true;
  }

  void sign(char c) {
    if (c == ')') depth_ = std::max(0, depth_ - 1);
    if (c == ';' && body_ == 0) {
      semicolons.push_back(at_++);
      depth_ = 0;
      fresh_ = true;
      creating_ = false;
      return;
    }
    add(Word::Kind::sign, 1);
    if (c == '(') ++depth_;
  }

  // Follows the body in CREATE TRIGGER … BEGIN …; …; END.
  void follow_bodies(std::string_view word) {
    if (fresh_) creating_ = word == "create";
    if (!creating_) return;
    const bool behind_end = !words.empty() && words.back().text == "end";
    if (word == "begin" || (body_ > 0 && word == "case")) ++body_;
    if (word == "end" && body_ > 0) --body_;
    if (behind_end && (word == "if" || word == "loop")) ++body_;  // that END did not close a BEGIN
  }

  std::string_view sql_;
  size_t at_ = 0;
  int depth_ = 0;
  bool fresh_ = true;  // whether this is the beginning of a statement
  bool creating_ = false;
  int body_ = 0;
};

}  // namespace

std::vector<Word> words_of(std::string_view sql) {
  Scanner scanner(sql);
  scanner.run();
  return std::move(scanner.words);
}

std::vector<Comment> comments_of(std::string_view sql) {
  Scanner scanner(sql);
  scanner.run();
  return std::move(scanner.comments);
}

std::vector<std::string_view> statements_of(std::string_view sql) {
  Scanner scanner(sql);
  scanner.run();
  scanner.semicolons.push_back(sql.size());
  std::vector<std::string_view> statements;
  size_t begin = 0, word = 0;
  for (const size_t end : scanner.semicolons) {
    const size_t first = word;
    while (word < scanner.words.size() && scanner.words[word].at < end) ++word;
    if (word > first) {
      std::string_view statement = sql.substr(begin, end - begin);
      const size_t blank = statement.find_first_not_of(" \t\r\n");
      statement.remove_prefix(blank);
      statements.push_back(statement.substr(0, statement.find_last_not_of(" \t\r\n") + 1));
    }
    begin = end + 1;
  }
  return statements;
}

}  // namespace assay::internal::collect::schedule
