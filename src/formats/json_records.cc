#include "formats/json_records.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace assay::internal::formats {

Error JsonRecords::error(std::span<const JsonStep> path, std::string message) const {
  return error(locate_json(text(), path), std::move(message));
}

Result<bool> JsonRecords::next(simdjson::dom::element& record) {
  auto more = RecordText::next();
  if (!more.ok() || !*more) return more;
  if (parser_.max_depth() != kMaxJsonDepth &&
      parser_.allocate(size_t{1} << 12, kMaxJsonDepth) != simdjson::SUCCESS)
    return error(0, "not enough memory");
  // The window of the input is padded, so nothing needs to be copied.
  if (parser_.parse(text().data(), text().size(), false).get(record) == simdjson::SUCCESS)
    return true;
  const auto fault = find_json_fault(text());
  if (!fault) return error(0, "not valid JSON: a number is out of range");
  return error(fault->offset, "not valid JSON: " + fault->message);
}

bool json_value(simdjson::dom::element e, ValueView& to) {
  switch (e.type()) {
    case simdjson::dom::element_type::INT64:
      to = ValueView::of(e.get_int64().value_unsafe());
      return true;
    case simdjson::dom::element_type::STRING:
      to = ValueView::of(e.get_string().value_unsafe());
      return true;
    default:
      return false;
  }
}

bool json_integer(simdjson::dom::element e, int64_t& to) {
  std::string_view text;
  if (e.get_int64().get(to) == simdjson::SUCCESS) return true;
  if (e.get_string().get(text) != simdjson::SUCCESS) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

bool json_field(simdjson::dom::object object, std::string_view name, simdjson::dom::element& to) {
  return object.at_key(name).get(to) == simdjson::SUCCESS;
}

}  // namespace assay::internal::formats
