// The words of a file of SQL: names and keywords in lower case, integers, texts, parameters and
// signs, each with its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "collect/sql/file.h"

namespace assay::internal::collect::sql {

struct Token {
  enum class Kind : uint8_t { word, integer, text, parameter, sign, end };
  Kind kind = Kind::end;
  std::string text;  // a text without its quotes, a parameter without its colon
  Place place;

  bool is(std::string_view sign_or_word) const {
    return (kind == Kind::word || kind == Kind::sign) && text == sign_or_word;
  }
  // The token as messages show it.
  std::string shown() const;
};

// The tokens; the last one is an `end`.
Result<std::vector<Token>> tokens_of(std::string_view text);

}  // namespace assay::internal::collect::sql
