#include "collect/drivers/text_values.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::internal::collect {
namespace {

TEST(TextValues, AKeyIsFoundByItsNumber) {
  EXPECT_EQ(encode_key(Value::of(9)), "1:9");
  EXPECT_EQ(encode_key(Value::of(123)), "3:123");
  EXPECT_EQ(encode_key(Value::of(-9)), "-i:0:-9");
  EXPECT_EQ(encode_key(Value::of(std::string("9"))), "s9");
}

TEST(TextValues, KeysSortByValueAndComeBack) {
  std::vector<Value> keys;
  for (const int64_t n :
       {INT64_MIN, INT64_MIN + 1, int64_t{-10'000'000'000}, int64_t{-1000}, int64_t{-999},
        int64_t{-998}, int64_t{-10}, int64_t{-9}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{9},
        int64_t{10}, int64_t{99}, int64_t{100}, int64_t{9'999'999'999}, int64_t{10'000'000'000},
        INT64_MAX - 1, INT64_MAX})
    keys.push_back(Value::of(n));
  for (const char* text : {"", "1:9", "a", "b:c", "\xC3\xA9"})
    keys.push_back(Value::of(std::string(text)));
  std::string before(kFirstKey);
  for (const Value& key : keys) {
    const std::string text = encode_key(key);
    EXPECT_LT(before, text) << key.view().to_string();
    EXPECT_EQ(decode_key(text), key) << text;
    before = text;
  }
  EXPECT_LT(before, std::string(kLastKey));
}

}  // namespace
}  // namespace assay::internal::collect
