#include "audit/notes.h"

#include <fmt/format.h>

#include "explain/names.h"

namespace assay::internal {

std::string placed_note(const std::string& file, const ReadNote& note) {
  const std::string where = note.line > 0 ? fmt::format("{}:{}", file, note.line) : file;
  return where + ": " + display(note.message, 300);
}

}  // namespace assay::internal
