// Whatever the bytes: no crash, and the statements of what is accepted can be written for a
// database.
#include "collect/sql/parser.h"
#include "collect/sql/prepared.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::internal::collect::sql;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = parse_file(text, "fuzz.sql");
  if (!file.ok()) return 0;
  const Dialect dialect = {
      .database = "none", .integer = "bigint", .text = "text", .key_text = "text"};
  static_cast<void>(schema_of(*file, dialect));
  for (const Transaction& t : file->transactions)
    for (const Action& action : t.actions)
      if (action.kind == Action::Kind::statement)
        static_cast<void>(Prepared::make(*file, action.statement, dialect, t.name));
  return 0;
}
