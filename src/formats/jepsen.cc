// Jepsen EDN and Elle JSON: detection and reading of records. Pairing and workloads: jepsen_history.cc.
#include "formats/jepsen.h"

#include <algorithm>
#include <string>

#include "formats/edn.h"
#include "formats/jepsen_history.h"
#include "formats/jepsen_write.h"
#include "formats/json_text.h"

namespace assay::formats {
namespace {

// A map that has :type, after blanks, comments and the brackets or the tag in front of it.
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
  auto fields = first_json_fields(source.head());
  auto has = [&](std::string_view name) {
    return std::find(fields.begin(), fields.end(), name) != fields.end();
  };
  return has("type") && (has("value") || has("f") || has("process"));
}

class Reader {
 public:
  Reader(Input& input, bool json, Notes& notes)
      : input_(input), records_(input, json), notes_(notes) {}

  Result<History> run() {
    DatumTree tree;
    for (;;) {
      auto more = records_.next(tree);
      if (!more.ok()) return more.error();
      if (!*more) break;
      JepsenRecord record;
      if (auto s = read_record(tree, record); !s.ok()) return s.error();
      if (!history_.add(record, tree, records_.text()))
        return records_.error(history_.fault().at, history_.fault().message);
    }
    auto history = std::move(history_).finish(notes_);
    if (!history.ok()) return input_.located(history.error());
    return history;
  }

 private:
  Status read_record(const DatumTree& tree, JepsenRecord& to) {
    const Datum& map = tree.root();
    if (map.kind != Datum::Kind::map)
      return records_.error(0, "expected an operation, a map with :type, :process, :f and :value");
    to.line = records_.line();
    const Datum* type = tree.field(map, "type");
    const std::string_view name = type ? type->text : std::string_view();
    if (name == "invoke")
      to.type = JepsenType::invoke;
    else if (name == "ok")
      to.type = JepsenType::ok;
    else if (name == "fail")
      to.type = JepsenType::fail;
    else if (name == "info")
      to.type = JepsenType::info;
    else
      return records_.error(type ? type->at : 0,
                            "expected :type, one of :invoke, :ok, :fail, :info");
    if (const Datum* f = tree.field(map, "f")) to.f = f->text;
    to.value = tree.field(map, "value");
    to.key = tree.field(map, "key");
    if (const Datum* time = tree.field(map, "time"); time && time->kind != Datum::Kind::nil) {
      if (time->kind != Datum::Kind::integer)
        return records_.error(time->at, "expected :time in nanoseconds, an integer");
      to.time = time->integer;
    }
    const Datum* process = tree.field(map, "process");
    if (!process || process->kind == Datum::Kind::nil) return Ok{};
    if (process->kind == Datum::Kind::integer)
      to.process = OwnedValue{ValueView::Type::integer, process->integer, {}};
    else
      to.process = OwnedValue{ValueView::Type::string, 0, std::string(process->text)};
    return Ok{};
  }

  Input& input_;
  EdnRecords records_;
  JepsenHistory history_;
  Notes& notes_;
};

Result<History> read_jepsen(Source& source, Notes& notes) {
  return Reader(*source.input, false, notes).run();
}
Result<History> read_elle_json(Source& source, Notes& notes) {
  return Reader(*source.input, true, notes).run();
}

void write_edn(const History& history, Output& out, Losses& losses) {
  write_jepsen(history, false, out, losses);
}
void write_json(const History& history, Output& out, Losses& losses) {
  write_jepsen(history, true, out, losses);
}

}  // namespace

constexpr Format kJepsen = {
    .info = {.name = "jepsen",
             .summary = "Jepsen's and Elle's EDN histories",
             .reads = true,
             .writes = true},
    .detect = detect_jepsen,
    .read = read_jepsen,
    .write = write_edn,
};

constexpr Format kElleJson = {
    .info = {.name = "elle-json",
             .summary = "Jepsen's histories in JSON, as elle-cli reads them",
             .reads = true,
             .writes = true},
    .detect = detect_elle_json,
    .read = read_elle_json,
    .write = write_json,
};

}  // namespace assay::formats
