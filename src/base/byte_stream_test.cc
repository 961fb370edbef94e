#include "base/byte_stream.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace assay::internal {
namespace {

TEST(ByteStream, GivesBackWhatWasPut) {
  StreamWriter out;
  for (const uint64_t v : {uint64_t{0}, uint64_t{127}, uint64_t{128}, ~uint64_t{0}}) out.number(v);
  for (const int64_t v : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min(),
                          std::numeric_limits<int64_t>::max()})
    out.integer(v);
  out.text("");
  out.text(std::string("a\0b", 3));
  out.flag(true);
  StreamReader in(out.bytes());
  for (const uint64_t v : {uint64_t{0}, uint64_t{127}, uint64_t{128}, ~uint64_t{0}})
    EXPECT_EQ(in.number(), v);
  for (const int64_t v : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min(),
                          std::numeric_limits<int64_t>::max()})
    EXPECT_EQ(in.integer(), v);
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.text(), std::string("a\0b", 3));
  EXPECT_TRUE(in.flag());
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(ByteStream, FailsWhereBytesRunOut) {
  StreamWriter out;
  out.text("four");
  for (size_t size = 0; size < out.bytes().size(); ++size) {
    StreamReader in(std::string_view(out.bytes()).substr(0, size));
    EXPECT_EQ(in.text(), "");
    EXPECT_FALSE(in.ok());
    EXPECT_EQ(in.number(), 0u);
  }
}

TEST(ByteStream, RefusesNumbersThatAreTooLong) {
  StreamReader eleven(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11));
  EXPECT_EQ(eleven.number(), 0u);
  EXPECT_FALSE(eleven.ok());
  // Nine bytes hold 63 bits, so of the tenth only one is left.
  StreamReader most(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10));
  EXPECT_EQ(most.number(), ~uint64_t{0});
  EXPECT_TRUE(most.ok() && most.at_end());
  StreamReader more(std::string_view("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10));
  EXPECT_EQ(more.number(), 0u);
  EXPECT_FALSE(more.ok());
  StreamReader flag("\x02");
  EXPECT_FALSE(flag.flag() || flag.ok());
}

}  // namespace
}  // namespace assay::internal
