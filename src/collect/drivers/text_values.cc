#include "collect/drivers/text_values.h"

#include <fmt/format.h>

#include <charconv>

namespace assay::internal::collect {
namespace {

constexpr std::string_view kCounts = "0123456789abcdefghij";
constexpr size_t kMostDigits = 19;

// The digits of a negative number, complemented: the smaller number has the smaller text.
std::string complement(std::string_view digits) {
  std::string out;
  for (const char c : digits) out += static_cast<char>('0' + '9' - c);
  return out;
}

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
  const std::string number = std::to_string(key.integer);
  if (key.integer >= 0) return fmt::format("{}:{}", kCounts[number.size()], number);
  const std::string_view digits = std::string_view(number).substr(1);
  return fmt::format("-{}:{}:{}", kCounts[kMostDigits - digits.size()], complement(digits), number);
}

Value decode_key(std::string_view text) {
  if (text.starts_with('s')) return Value::of(std::string(text.substr(1)));
  const std::string_view number = text.substr(text.rfind(':') + 1);
  int64_t integer = 0;
  std::from_chars(number.data(), number.data() + number.size(), integer);
  return Value::of(integer);
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

}  // namespace assay::internal::collect
