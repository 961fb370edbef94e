#include "formats/row_json.h"

#include "formats/json_text.h"
#include "history/condition.h"

namespace assay::internal::formats {
namespace {

Cell cell_of(simdjson::dom::element e) {
  switch (e.type()) {
    case simdjson::dom::element_type::NULL_VALUE:
      return {};
    case simdjson::dom::element_type::INT64:
      return {Cell::Type::integer, e.get_int64().value_unsafe(), {}};
    case simdjson::dom::element_type::STRING:
      return {Cell::Type::string, 0, std::string(e.get_string().value_unsafe())};
    default:
      return {Cell::Type::other, 0, simdjson::minify(e)};
  }
}

}  // namespace

std::string row_of_json(simdjson::dom::object object) {
  Row row;
  for (const simdjson::dom::key_value_pair column : object)
    row.emplace_back(std::string(column.key), cell_of(column.value));
  return row_text(std::move(row));
}

std::optional<RowText> row_at(std::string_view text) {
  const size_t length = json_length(text);
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (length == 0 ||
      parser.parse(text.data(), length, true).get_object().get(object) != simdjson::SUCCESS)
    return std::nullopt;
  return RowText{row_of_json(object), length};
}

}  // namespace assay::internal::formats
