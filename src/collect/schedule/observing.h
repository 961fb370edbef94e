// What users' statements are seen to read and write.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "collect/driver.h"
#include "collect/schedule/statements.h"

namespace assay::internal::collect::schedule {

// keys: statements become calls of the driver, which report what they did (keys.h).
enum class Kin : uint8_t { postgresql, mysql, sqlite, duckdb, h2, keys };

struct Table {
  std::string name;
  std::string parent = {};  // the table of which it is a partition
  std::vector<std::string> columns = {}, key = {};
  std::string refusal = {};  // why it is not observed; empty if it is
};

// A version of a row.
struct Version {
  std::string table;       // empty: there is none
  std::string row;         // its columns as JSON
  std::string writer;      // the number of the transaction that wrote it, if the database tells
  std::string place = {};  // where it is stored, if rows without keys are told apart by that
};

struct Change {
  Version before, after;
};

// A query of one table, or the condition of an UPDATE or DELETE. It saw each row that satisfies the
// condition, in one state of the table.
struct Query {
  std::string table;
  std::string name;   // the table's name in the condition
  std::string where;  // empty: all rows
  std::string key;    // set if the condition asks for this key alone: the texts of its columns
};

// What a statement did.
struct Sight {
  enum class Kind : uint8_t { other, read, write };
  Kind kind = Kind::other;
  std::string missed;                    // why it is not observed; empty if it is
  std::optional<std::string> elsewhere;  // if a change reads with a SELECT: why that is not
                                         // observed
  bool told_later = false;               // prepared before: executing it may tell what it read
  std::optional<Query> query;
  std::vector<Version> rows;
  std::vector<Change> changes;
  std::vector<Version> left_alone;  // rows that a change found and left unchanged
  bool depends_on_rows =
      false;  // whether what it wrote depends on more than the keys of the rows that were there
};

// A statement as it is sent, and how to read its answer.
struct Asked {
  std::string statement;  // the user's statement
  std::string sql;
  bool has_rows = false;  // whether the last column tells which rows it read
  Sight sight;
};

Kin kin_of(const Driver& driver);

class Observer {
 public:
  explicit Observer(const Driver& driver);
  // Serves a database that is driven by keys: it has one table.
  explicit Observer(std::vector<Table> keys) : tables_(std::move(keys)) {}

  Kin kin() const { return kin_; }
  const std::vector<Table>& tables() const { return tables_; }
  const Table* table(std::string_view name) const;

  // Statements that create what reports rows, once, and statements that remove it.
  std::vector<std::string> make_functions() const;
  std::vector<std::string> drop_functions() const;
  // Fails if the place for permutations holds something that was not made for them, as it would be
  // removed; or if another run plays there. The connection keeps others out until it ends.
  Status spare(DriverSession& control);
  // Statements that create a separate place for a permutation, and that remove it; for the one
  // connection that sets up.
  std::vector<std::string> begin_place() const;
  std::vector<std::string> end_place() const;
  // Learns which tables there are; from then on it is known which of them a statement is about.
  Status look(DriverSession& control);
  // Has changes of the tables reported, unless rows are compared.
  Status watch(DriverSession& control) const;
  // Collects the rows of all tables, as the session sees them.
  Status see_rows(DriverSession& session, std::vector<Version>& rows) const;
  // Whether the rows that a session sees before and after a change are compared, as there are no
  // triggers. Only where reads neither lock nor count.
  bool compares_rows() const { return compares_ != Compares::nothing; }
  // Whether a change finds the newest version of a row, whatever version its transaction's snapshot
  // has.
  bool changes_newest() const { return compares_ == Compares::newest; }
  void take_difference(const std::vector<Version>& before, const std::vector<Version>& after,
                       Sight& sight) const;
  // The same for a statement within a transaction, if changes find the newest versions.
  // `committed`: what others see after the statement. `own`: what its transaction has left so far.
  // A row that it changed is locked until it ends, so `committed` has the version that it found.
  void take_difference(const std::vector<Version>& before, const std::vector<Version>& after,
                       const std::vector<Version>& committed, const std::vector<Version>& own,
                       Sight& sight) const;
  // Statements for each connection, to be sent first, and once the tables are there.
  std::vector<std::string> enter() const;
  std::vector<std::string> follow() const;
  // Stops observing a table whose form later statements change.
  void leave_out_altered(std::string_view statement);
  // Notes triggers, rules and policies of the user, which may keep a change from rows that its
  // condition found.
  void note_made(std::string_view statement);

  Asked ask(std::string_view statement) const;
  // Removes from the answer the additions to the question.
  void take(const Asked& asked, Spoken& answer, Sight& sight) const;
  // Returns the statements that report changes afterwards, if they are not reported with the
  // answer.
  std::vector<std::string> told_afterwards() const;
  static void take_told(const Spoken& told, Sight& sight);

 private:
  // A table in a FROM, and the name by which the statement refers to it, in quotes.
  struct Relation {
    const Table* table;
    std::string name;
  };

  std::vector<std::string> triggers(const Table& table) const;
  std::string row_of(const Table& table, std::string_view name) const;
  std::string version_of(const Table& table, std::string_view name) const;
  Asked ask_select(std::string_view statement, const std::vector<Word>& words) const;
  void look_at_change(std::string_view statement, const std::vector<Word>& words,
                      Sight& sight) const;
  void look_at_condition_of_change(std::string_view statement, const std::vector<Word>& words,
                                   const Table& of, Sight& sight) const;
  std::optional<std::string> ask_everywhere(std::string_view statement,
                                            const std::vector<Word>& words, Asked& asked) const;
  std::optional<std::vector<Relation>> relations(const std::vector<Word>& words, size_t from,
                                                 size_t end) const;
  void look_at_condition(std::string_view statement, const std::vector<Word>& words,
                         const Relation& relation, size_t from, size_t end, Sight& sight) const;

  // The rows that are compared: none, as triggers report changes; the rows of the transaction's
  // snapshot, which changes also find; the same, but changes find the newest versions.
  enum class Compares : uint8_t { nothing, snapshot, newest };
  static Compares compares(const Driver& driver);

  Kin kin_ = Kin::keys;
  Compares compares_ = Compares::nothing;
  std::vector<Table> tables_;
  bool changes_tell_conditions_ = true;
};

// A name or a text in quotes.
std::string in_quotes(std::string_view text, char quote);
// The values of a row's columns as SQL literals, in the order of `columns`; nullopt if one cannot
// be written as a literal.
std::optional<std::string> literals_of(const Version& version, const Table& table);
// The values of the key; nullopt if the row lacks one.
std::optional<std::vector<std::string>> key_of(const Version& version, const Table& table);

}  // namespace assay::internal::collect::schedule
