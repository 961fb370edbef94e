// What a database supports of SQL, as far as users' statements need it.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal::collect::sql {

struct Dialect {
  std::string_view database = {};  // its name
  std::string_view integer = {};   // types of columns: for 64-bit integers,
  std::string_view text = {};      // for texts that are compared byte by byte,
  std::string_view key_text = {};  // and for texts in keys and indexes
  char quote = '"';                // around names
  bool update_returns = false;     // has UPDATE … RETURNING
  bool delete_returns = false;     // has DELETE … RETURNING
  bool row_locks = true;           // has FOR UPDATE; without it, one transaction writes at a time
  std::string_view share = " FOR SHARE";
  // Whether statements that lock rows re-examine them in versions newer than those in which they
  // were found.
  bool looks_again = true;
  // Why users' statements are not possible; empty if they are.
  std::string refusal = {};
};

}  // namespace assay::internal::collect::sql
