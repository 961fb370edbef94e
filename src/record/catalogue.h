// What the database knows of tables and functions, as far as a statement that is sent to it can be
// understood by that.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/result.h"
#include "evidence/postgresql_slot.h"

namespace assay::internal::record {

struct Relation {
  uint32_t oid = 0;
  std::string name;  // by which the history calls its rows; of a partition that of the whole table
  std::string logged;  // by which the log does
  std::vector<std::string> key;
  // Columns of which a condition is as true for the database as it is here: whole numbers, and
  // texts that are equal by their bytes.
  std::vector<std::string> numbers, texts;
  bool whole =
      false;  // a query of it finds all rows of that name: it is no partition, and hides no rows
  bool fires = false;   // triggers or rules of the user's, when it is changed
  int64_t file = 0;     // where it lies: another if it was written anew
  std::string refusal;  // why its rows have no identity, or are not in the log
};

class Catalogue {
 public:
  static Result<Catalogue> read(evidence::PostgresqlSlot& connection);

  // Another text whenever something was defined that bears on it.
  static Result<std::string> state(evidence::PostgresqlSlot& connection);

  const std::vector<Relation>& relations() const { return relations_; }
  // By the name that a statement has; the schema may be empty. Null: there is none, or there are
  // several in different schemas.
  const Relation* find(std::string_view schema, std::string_view name) const;
  bool is_aggregate(std::string_view function) const;
  // Whether it is not one of the system's functions: its effects are unknown.
  bool is_users_function(std::string_view function) const;

  // Which relations the user may read as a whole, with their hidden columns.
  static Result<std::set<uint32_t>> readable(evidence::PostgresqlSlot& connection,
                                             std::string_view user);

 private:
  std::vector<Relation> relations_;
  std::unordered_multimap<std::string, size_t> by_name_;       // in relations_
  std::unordered_map<std::string, size_t> by_qualified_name_;  // schema, a zero byte, name
  std::set<std::string, std::less<>> aggregates_, functions_;
};

}  // namespace assay::internal::record
