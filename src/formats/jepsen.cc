// Jepsen EDN and Elle JSON: detection and reading of records. Pairing and workloads:
// jepsen_history.cc.
#include <algorithm>
#include <string>

#include "formats/edn.h"
#include "formats/jepsen_history.h"
#include "formats/jepsen_write.h"
#include "formats/json_text.h"
#include "formats/registry.h"

namespace assay::internal::formats {
namespace {

// Whether there is a map that has :type, after blanks, comments, and brackets or a tag before it.
bool detect_jepsen(const Source& source) {
  std::string_view head = source.head();
  size_t at = 0;
  bool comment = false;
  for (; at < head.size() && (comment || head[at] != '{'); ++at) {
    const char c = head[at];
    if (c == ';') comment = true;
    if (c == '\n') comment = false;
    if (!comment && c == '"') return false;
  }
  const size_t end = std::min(head.find('}', at), head.size());
  return at < head.size() && head.substr(at, end - at).find(":type") != head.npos &&
         head.substr(at, end - at).find("\":type") == head.npos;
}

bool detect_elle_json(const Source& source) {
  const JsonFields fields = first_json_fields(source.head());
  return fields.has("type") && (fields.has("value") || fields.has("f") || fields.has("process"));
}

Result<History> read_jepsen(Source& source, Notes& notes) {
  return read_jepsen_history(JepsenRecords(*source.input, false), source, notes);
}

Result<History> read_elle_json(Source& source, Notes& notes) {
  return read_jepsen_history(JepsenRecords(*source.input, true), source, notes);
}

void write_edn(const History& history, Output& out, Losses& losses) {
  write_jepsen(history, false, out, losses);
}
void write_json(const History& history, Output& out, Losses& losses) {
  write_jepsen(history, true, out, losses);
}

}  // namespace

constexpr Format kJepsen = {
    .name = "jepsen",
    .summary = "Jepsen's and Elle's EDN histories",
    .detect = detect_jepsen,
    .read = read_jepsen,
    .write = write_edn,
};

constexpr Format kElleJson = {
    .name = "elle-json",
    .summary = "Jepsen's histories in JSON, as elle-cli reads them",
    .detect = detect_elle_json,
    .read = read_elle_json,
    .write = write_json,
};

}  // namespace assay::internal::formats
