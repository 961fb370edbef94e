// What of SQL a database has, as far as the statements of users need it.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal::collect::sql {

struct Dialect {
  std::string_view database = {};  // its name
  std::string_view integer = {};   // types of columns: of 64 bits,
  std::string_view text = {};      // texts that are compared byte by byte,
  std::string_view key_text = {};  // and those of keys and indexes
  char quote = '"';                // around names
  bool update_returns = false;     // UPDATE … RETURNING
  bool delete_returns = false;     // DELETE … RETURNING
  bool row_locks = true;           // FOR UPDATE; without, one transaction writes at a time
  std::string_view share = " FOR SHARE";
  // Statements that lock rows re-examine them in versions newer than those that they were found in.
  bool looks_again = true;
  // Why none of this is possible; empty: it is.
  std::string refusal = {};
};

}  // namespace assay::internal::collect::sql
