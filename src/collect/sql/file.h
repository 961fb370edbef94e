// A file of transactions that a user wrote as plain SQL: its tables with their initial rows, and
// named transactions, each a list of actions. Grammar: docs/sql-files.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "collect/schema.h"
#include "history/condition.h"
#include "history/value.h"

namespace assay::internal::collect::sql {

// Line and column in the file, from 1.
struct Place {
  uint64_t line = 0, column = 0;
};

enum class Type : uint8_t { integer, text };

// An expression in place of a value: a constant, a parameter, a column of the row that is updated,
// or a sum of these.
struct Expression {
  enum class Kind : uint8_t {
    constant,
    parameter,
    column,
    add,
    subtract,
    multiply,
    modulo,
    negate
  };
  Kind kind = Kind::constant;
  Value constant = {};
  size_t index = 0;  // index of the parameter in its transaction, or of the column in its table
  std::vector<Expression> parts = {};

  bool uses_columns() const;
};

// The WHERE clause: a condition like those of the history (history/condition.h), but its constants
// are still expressions.
struct Where {
  Condition::Kind kind = Condition::Kind::all;
  std::vector<Where> parts = {};
  size_t column = 0;
  std::vector<Expression> values = {};
};

struct Column {
  std::string name;
  Type type = Type::integer;
  bool not_null = false;
};

struct Table {
  std::string name;
  std::vector<Column> columns;
  size_t key = 0;                             // the column that is the primary key
  std::vector<std::vector<size_t>> indexes;   // columns of each further index
  std::vector<std::vector<Value>> rows = {};  // the initial ones
};

enum class Lock : uint8_t { none, update, share };
enum class Locked : uint8_t {
  wait,
  skip,
  refuse
};  // what to do about rows that others have locked

struct Statement {
  enum class Kind : uint8_t { select, insert, update, remove };
  Kind kind = Kind::select;
  Place place = {};
  size_t table = 0;
  Where where = {};  // for all except insert
  // insert and update: columns and the values they are set to.
  std::vector<std::pair<size_t, Expression>> values = {};
  // The next members are for select.
  std::vector<std::pair<size_t, bool>> order = {};  // columns; descending
  std::vector<Expression> limit = {};               // at most one
  Lock lock = Lock::none;
  Locked locked = Locked::wait;
  std::optional<AggregateFunction> aggregate = {};
  size_t column = 0;          // sum, min, max: of which column
  bool without_rows = false;  // the file asks for the aggregate without the rows
};

enum class Comparison : uint8_t { equal, not_equal, less, at_most, more, at_least };

struct Action {
  enum class Kind : uint8_t {
    statement,
    draw,     // `parameter` from the range between two values
    choose,   // `parameter` from a list
    compute,  // `parameter` is a value
    fresh,    // `parameter` is an integer that was never there before
    take,     // `parameter` is a column of one of the rows selected last
    count,    // … their number
    sum,      // … the sum of a column of theirs
    least,
    most,    // … its least and greatest value
    result,  // … the aggregate that was selected last
    require  // the transaction goes on only if a comparison of two values is true
  };
  Kind kind = Kind::statement;
  Place place = {};
  size_t parameter = 0;
  size_t column = 0;
  std::vector<Expression> values = {};
  Comparison comparison = Comparison::equal;
  Statement statement = {};
};

struct Transaction {
  std::string name;
  Place place;  // where its name is
  uint64_t weight = 1;
  std::vector<std::string> parameters;
  std::vector<Action> actions;
};

struct File {
  std::string path;
  std::vector<Table> tables;
  std::vector<Transaction> transactions;
};

}  // namespace assay::internal::collect::sql
