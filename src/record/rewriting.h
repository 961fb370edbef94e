// What a text that a client sends to PostgreSQL is, statement by statement, and the text that is
// sent instead: a SELECT of plain tables has one more column, which says of each row by which
// transaction it was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "record/catalogue.h"

namespace assay::internal::record {

// The name of the column.
inline constexpr std::string_view kColumn = "assay_rows";

struct Plan;

struct Part {
  enum class Kind : uint8_t {
    other,
    select,
    insert,
    update,
    remove,
    merge,
    begin,
    commit,
    rollback,
    rollback_to,
    prepare,     // PREPARE TRANSACTION
    definition,  // changes the catalogue, or the user
    name,        // a statement, by PREPARE, or a cursor
    execute,     // what a PREPARE has named
    fetch,       // rows of a cursor
    forget,      // a name
  };
  Kind kind = Kind::other;
  std::string sql;          // of the client
  bool reads = false;       // tables that are no system's
  bool tells = false;       // its last column is ours
  bool aggregated = false;  // and has many rows in one
  // The relations of the column's values, and how many values each has there.
  std::vector<std::pair<std::string, size_t>> from;
  // It returns every row of `from` that satisfies this, in pieces: texts, and [n, "number" or
  // "text"] for the client's value n. Null: that is not known.
  Json where;
  std::string missed;               // why not all of its reads are recorded; empty: they are
  std::vector<std::string> tables;  // which it reads or changes; "*": nobody knows which
  // It names one row of its table by the whole key, or inserts rows: whatever it does not find, it
  // looks at no other row.
  bool keyed = false;
  // "update" or "share": it names one row by the key and nothing else, and locks it.
  std::string locks;
  bool fires = false;  // a trigger or a rule of the user's
  bool may_write = false;
  std::string changed;           // the relation that it changes
  bool depends_on_rows = false;  // its writes depend on more than the keys of the existing rows
  std::string isolation;         // that it sets
  bool for_session = false;      // for all transactions to come
  std::vector<std::string> temporary;  // tables of this session that it makes
  bool changes_user = false;           // SET ROLE
  bool is_late = false;  // locks rows, and so returns them as they are when they are fetched
  // What this names, executes, fetches from or forgets; empty: all.
  std::string called;
  bool of_cursor = false;            // that is a cursor's name
  std::shared_ptr<Plan> named = {};  // the statement behind it, whose rows tell
  bool outlives = false;             // a cursor WITH HOLD
  Json values;                       // of EXECUTE, as a client sends them with Bind
  // How many of the next rows FETCH asks for; nullopt if it skips rows or returns some again.
  std::optional<uint64_t> next_rows;
  std::string plainly;  // a prepared statement that this needs without additions
};

// A whole text of a client.
struct Plan {
  uint64_t number = 0;  // distinguishes them
  std::vector<Part> parts;
  std::string sql;  // as it is sent; empty: as it came
  // In that: where something was put in, and how much.
  std::vector<std::pair<size_t, size_t>> added = {};
};

class Rewriter {
 public:
  // Whether this program has PostgreSQL's parser.
  static bool is_possible();
  // Statements of newer versions than this do not parse.
  static std::string_view grammar();

  Rewriter(std::shared_ptr<const Catalogue> catalogue, std::set<uint32_t> readable)
      : catalogue_(std::move(catalogue)), readable_(std::move(readable)) {}

  std::shared_ptr<const Plan> plan(std::string_view sql);
  // Whether a temporary table of this name hides one that the catalogue has.
  bool hides(const std::string& name) const;

 private:
  std::shared_ptr<const Plan> kept(std::string_view sql);
  static std::shared_ptr<const Plan> too_long(std::string_view sql);

  std::shared_ptr<const Catalogue> catalogue_;
  std::set<uint32_t> readable_;
  std::unordered_map<std::string, std::shared_ptr<const Plan>> plans_;
  size_t bytes_ = 0;  // of their texts
  static inline uint64_t made_ = 0;
};

// Only ASCII has the same bytes in every encoding of a client.
bool is_ascii(std::string_view text);

// The place of a statement in the code of its user, as its comments say: /*file='views.py:42'*/;
// empty if they do not.
std::string place_in_code(std::string_view sql);

}  // namespace assay::internal::record
