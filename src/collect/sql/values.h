// Values and conditions in a file of SQL: expressions of the right type, and what a WHERE may
// compare.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/sql/cursor.h"
#include "collect/sql/file.h"

namespace assay::internal::collect::sql {

inline constexpr size_t kMostText = 1000;  // bytes; columns of texts are declared with this length

// The type of a value; nullopt for null.
using MaybeType = std::optional<Type>;

class Values : public Cursor {
 public:
  using Cursor::Cursor;

  // Parses VALUE: a sum of products of constants, parameters, brackets and, in an update, columns.
  Expression expression(MaybeType& type);
  // The same for a value of this column.
  Expression typed(const Column& column);
  // Parses COLUMN = VALUE, of the right type; `of_row`: VALUE may contain columns of the row.
  std::pair<size_t, Expression> assignment(const Table& t, bool of_row);
  // Parses CONDITION, in which and binds closer than or.
  Where condition(const Table& t);
  Comparison comparison();

  // The parameters that may be used from here on, by number.
  const std::vector<std::string>& parameters() const { return parameters_; }
  void set_parameters(std::vector<std::string> names, std::vector<MaybeType> types);
  // Adds a parameter that is known from here on, and gives its number; false if it was of another
  // type before.
  bool add_parameter(const std::string& name, MaybeType type, size_t& number);

 private:
  struct Deeper;  // limits the depth of the recursion

  Expression product(MaybeType& type);
  Expression operation(Expression::Kind kind, Expression left, MaybeType& type,
                       Expression (Values::*operand)(MaybeType&));
  Expression factor(MaybeType& type);
  Expression parameter(MaybeType& type);
  Where negation(const Table& t);
  Where comparison_with(const Table& t);
  Where compared_by_sign(Where w, const Column& column);
  Expression compared(Column column);

  std::vector<std::string> parameters_;
  std::vector<MaybeType> types_;
  const Table* row_ = nullptr;  // the table whose columns an expression may contain
  int depth_ = 0;
};

}  // namespace assay::internal::collect::sql
