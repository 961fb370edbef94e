#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

constexpr std::string_view kStream =
    R"({"event":{"Start":{"Append":{"num_records":2,"record_hashes":[11,22],"set_fencing_token":null,"fencing_token":null,"match_seq_num":0}}},"client_id":2,"op_id":1}
{"event":{"Start":"CheckTail"},"client_id":3,"op_id":2}
{"event":{"Finish":{"AppendSuccess":{"tail":2}}},"client_id":2,"op_id":1}
{"event":{"Finish":{"CheckTailSuccess":{"tail":2}}},"client_id":3,"op_id":2}
{"event":{"Start":{"Append":{"num_records":3,"fencing_token":"f","match_seq_num":2}}},"client_id":2,"op_id":3}
{"event":{"Finish":"AppendIndefiniteFailure"},"client_id":2,"op_id":3}
{"event":{"Start":{"Append":{"num_records":1}}},"client_id":4,"op_id":4}
{"event":{"Finish":"AppendDefiniteFailure"},"client_id":4,"op_id":4}
{"event":{"Start":"Read"},"client_id":3,"op_id":5}
{"event":{"Finish":{"ReadSuccess":{"tail":5,"xxh3":7}}},"client_id":3,"op_id":5}
)";

TEST(S2, TheTailOfAStream) {
  formats::expect_same_history(
      "s2", kStream,
      "initial 0\n2: @[1~3,1~3] { cas(tail,0,2) }\n3: @[2~4,2~4] { r(tail,2) }\n"
      "2: @[5~_,_] { cas(tail,2,5) }?\n3: @[9~10,9~10] { r(tail,5) }\n");
  auto found = read_history_text(kStream, "f");
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(found->format, "s2");
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_NE(found->notes[0].message.find("2 hashes and fencing tokens"), std::string::npos);
}

// It demanded another tail than it found.
TEST(S2, AnAppendElsewhere) {
  formats::expect_same_history(
      "s2",
      "{\"event\":{\"Start\":{\"Append\":{\"num_records\":1,\"match_seq_num\":4}}},\"client_id\":1,"
      "\"op_id\":1}\n"
      "{\"event\":{\"Finish\":{\"AppendSuccess\":{\"tail\":3}}},\"client_id\":1,\"op_id\":1}\n",
      "initial 0\n1: @[1~2,1~2] { r(tail,4) cas(tail,2,3) }\n");
}

TEST(S2, RefusesWhatItCannotTell) {
  const auto refuse = [](const std::string& text, uint64_t line, uint64_t column,
                         const std::string& part) {
    formats::expect_bad_input("s2", text, line, column, part);
  };
  const std::string call = R"(,"client_id":1,"op_id":1})";
  const std::string append = R"({"event":{"Start":{"Append":{"num_records":1}}})" + call + "\n";
  refuse(append + R"({"event":{"Finish":"AppendIndefiniteFailure"})" + call, 1, 0, "match_seq_num");
  refuse(append, 1, 0, "match_seq_num");
  refuse(R"({"event":{"Start":{"Append":{}}})" + call, 1, 29, "num_records");
  refuse(R"({"event":{"Finish":"ReadFailure"})" + call, 1, 57, "has begun");
  refuse(append + R"({"event":{"Finish":{"AppendSuccess":{}}})" + call, 2, 20, "its tail");
  refuse(R"({"event":{"Begin":1})" + call, 1, 10, "Start or Finish");
  refuse(R"({"event":5})", 1, 1, "an event with");
}

}  // namespace
}  // namespace assay::internal
