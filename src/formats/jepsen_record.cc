#include "formats/jepsen_record.h"

namespace assay::internal::formats {

std::optional<JepsenType> jepsen_type(std::string_view name) {
  if (name == "invoke") return JepsenType::invoke;
  if (name == "ok") return JepsenType::ok;
  if (name == "fail") return JepsenType::fail;
  if (name == "info") return JepsenType::info;
  return std::nullopt;
}

Result<bool> JepsenRecords::next(DatumTree& tree, JepsenRecord& to) {
  auto more = EdnRecords::next(tree);
  if (!more.ok() || !*more) return more;
  const Datum& map = tree.root();
  if (map.kind != Datum::Kind::map)
    return error(0, "expected an operation, a map with :type, :process, :f and :value");
  to.line = line();
  const Datum* type = tree.field(map, "type");
  const auto known = jepsen_type(type ? type->text : std::string_view());
  if (!known)
    return error(type ? type->at : 0, "expected :type, one of :invoke, :ok, :fail, :info");
  to.type = *known;
  if (const Datum* f = tree.field(map, "f")) to.f = f->text;
  to.value = tree.field(map, "value");
  to.key = tree.field(map, "key");
  if (const Datum* time = tree.field(map, "time"); time && time->kind != Datum::Kind::nil) {
    if (time->kind != Datum::Kind::integer)
      return error(time->at, "expected :time in nanoseconds, an integer");
    to.time = time->integer;
  }
  const Datum* process = tree.field(map, "process");
  if (!process || process->kind == Datum::Kind::nil) return true;
  if (process->kind == Datum::Kind::integer)
    to.process = Value::of(process->integer);
  else
    to.process = Value::of(std::string(process->text));
  return true;
}

}  // namespace assay::internal::formats
