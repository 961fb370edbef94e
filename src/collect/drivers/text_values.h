// Keys, values and lists as text, for databases that keep text. A value is its digits, or a string
// after a quotation mark. Keys sort as the history says: integers by value, then strings by their
// bytes. The key 9 is the text "1:9", 10 is "2:10": how many digits (a to j: 10 to 19), then the
// number. A negative number begins with what sorts it: -9 is "-i:0:-9". A string follows an s.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "history/value.h"

namespace assay::internal::collect {

std::string encode_value(const Value& value);
Value decode_value(std::string_view text);

std::string encode_key(const Value& key);
Value decode_key(std::string_view text);
// Texts before and after every key.
inline constexpr std::string_view kFirstKey = "";
inline constexpr std::string_view kLastKey = "~";

// Elements are joined by commas: appending one is appending text.
std::string encode_element(const Value& element);
std::vector<Value> decode_list(std::string_view text);

}  // namespace assay::internal::collect
