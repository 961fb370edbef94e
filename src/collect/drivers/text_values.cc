#include "collect/drivers/text_values.h"

#include <fmt/format.h>

#include <charconv>

namespace assay::collect {
namespace {

// Added to an integer so that the order of the unsigned sums is that of the integers.
constexpr uint64_t kBias = uint64_t{1} << 63;

}  // namespace

std::string encode_value(const Value& v) {
  return v.is_integer() ? std::to_string(v.integer) : '"' + v.text;
}

Value decode_value(std::string_view text) {
  if (text.starts_with('"')) return Value::of(std::string(text.substr(1)));
  int64_t integer = 0;
  std::from_chars(text.data(), text.data() + text.size(), integer);
  return Value::of(integer);
}

std::string encode_key(const Value& key) {
  if (!key.is_integer()) return 's' + key.text;
  return fmt::format("i{:020}", static_cast<uint64_t>(key.integer) + kBias);
}

Value decode_key(std::string_view text) {
  if (!text.starts_with('i')) return Value::of(std::string(text.substr(1)));
  uint64_t biased = 0;
  std::from_chars(text.data() + 1, text.data() + text.size(), biased);
  return Value::of(static_cast<int64_t>(biased - kBias));
}

std::string encode_element(const Value& element) {
  std::string escaped;
  for (const char c : encode_value(element)) {
    if (c == ',')
      escaped += "%c";
    else if (c == '%')
      escaped += "%%";
    else
      escaped += c;
  }
  return escaped;
}

std::vector<Value> decode_list(std::string_view text) {
  std::vector<Value> list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string plain;
    const std::string_view element = text.substr(0, comma);
    for (size_t i = 0; i < element.size(); ++i) {
      const bool escape = element[i] == '%' && i + 1 < element.size();
      plain += !escape ? element[i] : element[++i] == 'c' ? ',' : '%';
    }
    list.push_back(decode_value(plain));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return list;
}

}  // namespace assay::collect
