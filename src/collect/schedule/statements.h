// SQL of any dialect, cut into statements and words: nothing is refused, and unknown syntax is left
// unchanged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace assay::internal::collect::schedule {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct Word {
  enum class Kind : uint8_t { word, quoted, text, number, sign };
  Kind kind = Kind::sign;
  std::string text;  // a word in lower case; a quoted name without its quotes
  size_t at = 0;     // offset in the statement
  size_t end = 0;
  int depth = 0;  // depth of the brackets around it

  // Whether this is the keyword, outside of brackets.
  bool is(std::string_view keyword) const {
    return depth == 0 && kind == Kind::word && text == keyword;
  }
  bool is_name() const { return kind == Kind::word || kind == Kind::quoted; }
};

// The words, without blanks and comments.
std::vector<Word> words_of(std::string_view sql);
// The first word in lower case; empty if there is none.
inline std::string first_word(std::string_view sql) {
  const std::vector<Word> words = words_of(sql);
  return words.empty() ? std::string() : words[0].text;
}

struct Comment {
  size_t at = 0, end = 0;
  bool to_end_of_line = false;
};
// The comments, in their order.
std::vector<Comment> comments_of(std::string_view sql);

// Cuts at semicolons, which are left out; a body between BEGIN and END in a CREATE stays whole.
// Statements without a word are left out; comments before a statement belong to it.
std::vector<std::string_view> statements_of(std::string_view sql);

}  // namespace assay::internal::collect::schedule
