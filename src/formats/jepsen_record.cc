#include "formats/jepsen_record.h"

namespace assay::internal::formats {

Status read_jepsen_record(const EdnRecords& records, const DatumTree& tree, JepsenRecord& to) {
  const Datum& map = tree.root();
  if (map.kind != Datum::Kind::map)
    return records.error(0, "expected an operation, a map with :type, :process, :f and :value");
  to.line = records.line();
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
    return records.error(type ? type->at : 0, "expected :type, one of :invoke, :ok, :fail, :info");
  if (const Datum* f = tree.field(map, "f")) to.f = f->text;
  to.value = tree.field(map, "value");
  to.key = tree.field(map, "key");
  if (const Datum* time = tree.field(map, "time"); time && time->kind != Datum::Kind::nil) {
    if (time->kind != Datum::Kind::integer)
      return records.error(time->at, "expected :time in nanoseconds, an integer");
    to.time = time->integer;
  }
  const Datum* process = tree.field(map, "process");
  if (!process || process->kind == Datum::Kind::nil) return Ok{};
  if (process->kind == Datum::Kind::integer)
    to.process = Value::of(process->integer);
  else
    to.process = Value::of(std::string(process->text));
  return Ok{};
}

}  // namespace assay::internal::formats
