// Rows, and conditions on the columns of a row as SQL writes them after WHERE.
//
//   v >= 10 and v < 20        name like 'ab%'        not (a = 1 or b in (2, 3))        c is null
//
// A row is an object of named columns, {"a":1,"name":"abc"}; a value that is not an object is a row
// with the single column `value`. A comparison with null is neither true nor false, as in SQL, and
// a condition is satisfied only if it is true. Integers are compared with integers, and strings
// with strings, byte by byte; the result of any other comparison (other types, columns that were
// not recorded) is unknown, since databases differ in it.
//
// Cost: evaluating a condition takes time linear in its text and in that of the row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

// What a column of a row holds.
struct Cell {
  enum class Type : uint8_t { null, integer, string, other };  // other: not compared here
  Type type = Type::null;
  int64_t integer = 0;
  std::string text = {};  // other: its JSON text

  friend bool operator==(const Cell&, const Cell&) = default;
};

// The columns of a row, by name.
using Row = std::vector<std::pair<std::string, Cell>>;

// The row as JSON without blanks, columns by name: two rows are equal if their texts are.
std::string row_text(Row row);
// The columns of a value that is not null and, if it is a row, was made by row_text.
Row row_of(const ValueView& value);

// What the value of a condition may be: a set of true, false and null.
class Truth {
 public:
  static constexpr uint8_t kTrue = 1, kFalse = 2, kNull = 4;
  constexpr explicit Truth(uint8_t set) : set_(set) {}

  constexpr bool certainly_true() const { return set_ == kTrue; }
  constexpr bool may_be_true() const { return (set_ & kTrue) != 0; }
  constexpr bool certainly_false() const { return set_ == kFalse; }
  constexpr Truth operator!() const {
    return Truth(static_cast<uint8_t>((set_ & kNull) | (may_be_true() ? kFalse : 0) |
                                      ((set_ & kFalse) != 0 ? kTrue : 0)));
  }
  // False if either side is, and null if one side is and the other is not false.
  constexpr Truth operator&&(Truth other) const {
    const bool null = ((set_ & kNull) != 0 && (other.set_ & (kNull | kTrue)) != 0) ||
                      ((other.set_ & kNull) != 0 && may_be_true());
    return Truth(static_cast<uint8_t>((set_ & other.set_ & kTrue) | ((set_ | other.set_) & kFalse) |
                                      (null ? kNull : 0)));
  }

 private:
  uint8_t set_;
};

struct Condition {
  enum class Kind : uint8_t {
    all,
    any,
    negation,
    equal,
    less,
    at_most,
    between,
    in,
    like,
    is_null
  };
  Kind kind = Kind::all;
  std::vector<Condition> parts = {};  // all, any, negation
  std::string column = {};            // other kinds
  std::vector<Cell> constants = {};   // the values to compare with; like: a pattern with % and _

  Truth holds(const Row& row) const;
  // The text of the condition, normalized: blanks, letter case and brackets do not matter.
  std::string to_string() const;
};

// Parses a condition; an error's column is the place in the text, from 1.
Result<Condition> parse_condition(std::string_view text);

}  // namespace assay::internal
