// A line means the same whether it is scanned or parsed: one that begins with a blank is always
// left to the parser, so each text is read with and without such blanks, and both must give the
// same history, or the same error.
#include "formats/assay_jsonl_scan.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "assay/format.h"
#include "base/rng.h"

namespace assay::internal::formats {
namespace {

Result<ReadResult> read_lines(const std::string& text) {
  return read_history_text(text, "file", {.from = "assay", .threads = 1});
}

std::string left_to_the_parser(const std::string& text) {
  std::string to = " ";
  for (const char c : text) {
    to += c;
    if (c == '\n') to += ' ';
  }
  if (text.ends_with('\n')) to.pop_back();
  return to;
}

std::string with_ids(const History& h) {
  std::ostringstream to;
  EXPECT_TRUE([&] {
    std::string text;
    const bool written = write_history_text(h, "assay", text).ok();
    to << text;
    return written;
  }());
  for (OpId i = 0; i < h.op_count(); ++i) to << h.op(i).key << ':' << h.op(i).version << ' ';
  for (TxnId t = 0; t < h.txn_count(); ++t) to << h.line(t) << ' ';
  return to.str();
}

// Whether the text is a history.
bool expect_same_both_ways(const std::string& text) {
  const auto scanned = read_lines(text), parsed = read_lines(left_to_the_parser(text));
  EXPECT_EQ(scanned.ok(), parsed.ok()) << text << "\n"
                                       << (scanned.ok() ? parsed : scanned).error().to_string();
  if (scanned.ok() != parsed.ok()) return false;
  if (scanned.ok()) {
    EXPECT_EQ(with_ids(scanned->history), with_ids(parsed->history)) << text;
    EXPECT_EQ(scanned->notes.size(), parsed->notes.size()) << text;
    return true;
  }
  const Error &a = scanned.error(), &b = parsed.error();
  EXPECT_EQ(a.message, b.message) << text;
  EXPECT_EQ(a.line, b.line) << text;
  EXPECT_EQ(a.column + (b.column > 0 ? 1 : 0), b.column) << text;
  return false;
}

bool scans(const std::string& line) {
  const std::string padded = line + "\n" + std::string(64, '\0');
  LineScan scan;
  TxnHeader header;
  TxnBatch batch;
  if (!scan.header(std::string_view(padded).substr(0, line.size()), header)) return false;
  batch.begin_txn(header);
  return scan.operations(batch);
}

constexpr const char* kHeader = R"({"assay":1})"
                                "\n";

TEST(AssayJsonlScan, TakesTheUsualShapeDown) {
  EXPECT_TRUE(scans(R"({"session":1,"ops":[]})"));
  EXPECT_TRUE(scans(R"({"session":"a","txn":"a-0","status":"committed","ops":[["r","x",null]]})"));
  EXPECT_TRUE(scans(R"({"txn":"a","session":1,"end":[8,9],"begin":7,"ops":[["w",1,"two"]]})"));
  EXPECT_TRUE(
      scans(R"({"session": 1, "status": "aborted", "ops": [["r", "x", 1], ["w", "x", 2]]})"));
  EXPECT_TRUE(scans(R"({"session":1,"start_ts":-3,"commit_ts":4,"ops":[["w",-1,0]]})"));
  EXPECT_TRUE(scans(R"({"session":1,"ops":[["append","x",1],["r","x",[1, 2]],["r","x",[]]]})"));
  EXPECT_FALSE(scans(R"({"session":1,"ops":[["cas","x",1,2,true]]})"));
  EXPECT_FALSE(scans(R"({"session":1,"ops":[["r","x",1]],"end":1})"));
  EXPECT_FALSE(scans(R"({"session":1,"session":2,"ops":[]})"));
}

TEST(AssayJsonlScan, AgreesWithTheParserOnNumbers) {
  for (const char* number : {"0",
                             "-0",
                             "00",
                             "01",
                             "-1",
                             "-01",
                             "7",
                             "12345678",
                             "123456789",
                             "1234567812345678",
                             "+1",
                             "12345678123456789",
                             "999999999999999999",
                             "1000000000000000000",
                             "9223372036854775807",
                             "9223372036854775808",
                             "-9223372036854775808",
                             "-9223372036854775809",
                             "18446744073709551615",
                             "18446744073709551616",
                             "99999999999999999999",
                             "123456789012345678901234567890",
                             "1.0",
                             "1e3",
                             "1 ",
                             "1a",
                             "-",
                             "",
                             "0x1",
                             "1_0",
                             "\"1\"",
                             "true"}) {
    const std::string n = number;
    expect_same_both_ways(kHeader + (R"({"session":1,"ops":[["w","x",)" + n) + "]]}\n");
    expect_same_both_ways(kHeader + (R"({"session":1,"ops":[["r",)" + n) + ",3]]}\n");
    expect_same_both_ways(kHeader + (R"({"session":1,"begin":)" + n) +
                          R"(,"ops":[]})"
                          "\n");
    expect_same_both_ways(kHeader + (R"({"session":1,"end":[3,)" + n) +
                          R"(],"ops":[]})"
                          "\n");
    expect_same_both_ways(kHeader + (R"({"session":1,"commit_ts":)" + n) +
                          R"(,"ops":[]})"
                          "\n");
  }
}

TEST(AssayJsonlScan, AgreesWithTheParserOnTexts) {
  for (const char* text : {"", "a", "1234567", "12345678", "123456789", "1234567812345678",
                           "a\\\"b", "a\\\\", "a\\u0041", "\xC3\xA4", "1234567\xC3\xA4", "\xFF",
                           "\x80", "a\x01", "\x7F", "a b", "a/b", "a]b", "a\tb"}) {
    const std::string t = std::string("\"") + text + "\"";
    expect_same_both_ways(kHeader + (R"({"session":)" + t) +
                          R"(,"ops":[]})"
                          "\n");
    expect_same_both_ways(kHeader + (R"({"session":1,"txn":)" + t) +
                          R"(,"ops":[["w",1,2]]})"
                          "\n");
    expect_same_both_ways(kHeader + (R"({"session":1,"ops":[["w",)" + t) + "," + t + "]]}\n");
    expect_same_both_ways(kHeader + (R"({"session":1,"status":)" + t) +
                          R"(,"ops":[]})"
                          "\n");
  }
}

TEST(AssayJsonlScan, AgreesWithTheParserOnLines) {
  for (const char* line : {R"({"session":1,"txn":"","txn":"a","ops":[]})",
                           R"({"session":1,"txn":7,"ops":[]})",
                           R"({"session":null,"ops":[]})",
                           R"({"ops":[]})",
                           R"({"session":1,"ops":[],})",
                           R"({"session":1,"ops":[["r","x",1],]})",
                           R"({"session":1,"ops":[["r","x"]]})",
                           R"({"session":1,"ops":[["r","x",1,2]]})",
                           R"({"session":1,"ops":[["w","x",null]]})",
                           R"({"session":1,"ops":[["w",null,1]]})",
                           R"({"session":1,"ops":[["x","x",1]]})",
                           R"({"session":1,"ops":[["r","x",1]])",
                           R"({"session":1,"ops":[["r","x",1]})",
                           R"({"session":1,"begin":[9,5],"ops":[]})",
                           R"({"session":1,"begin":[5,null],"ops":[]})",
                           R"({"session":1,"begin":[5],"ops":[]})",
                           R"({"session":1,"status":"lost","ops":[]})",
                           R"({"session":1,"status":"unknown","begin":1,"ops":[["w",1,1]]})",
                           R"({"session":1,"txn":"p","status":"pending","ops":[["w",1,1]]})",
                           R"({"session":1,"level":"si","ops":[]})",
                           R"({"session":1,"meta":{"a":1},"ops":[]})",
                           R"({"session":1,"other":2,"ops":[["w",1,1]]})",
                           R"({"session":1,"ops":[]} )",
                           R"({"session":1,"ops":[]}x)",
                           R"({"session":1 ,"ops":[]})",
                           R"({"session":1,"ops":[ ]})",
                           R"({"session":1,"ops":[["r","x",[1,]]]})",
                           R"({"session":1,"ops":[["r","x",[1,null]]]})",
                           R"({"session":1,"ops":[["r","x",[[1]]]]})",
                           R"({"session":1,"ops":[["r","x",[1]})",
                           R"({"session":1,"ops":[["w","x",[1]]]})",
                           R"({"session":1,"ops":[["append","x",null]]})",
                           R"({"session":1,"ops":[["appended","x",1]]})",
                           R"({"session":1,"ops":[["r","x",nul]]})",
                           R"({"session":1,"ops":[["r","x",nulls]]})"})
    for (const char* end : {"\n", "\r\n", "", "\n\n"})
      expect_same_both_ways(std::string(kHeader) + line + end);
}

TEST(AssayJsonlScan, AgreesWithTheParserOnDamagedLines) {
  const std::string whole =
      std::string(kHeader) +
      R"({"session":1,"txn":"1-0","status":"committed","begin":7,"end":[8,19],"ops":[["r","x",null],["w","y",2]]}
{"session":"two", "txn": "2-0", "begin": 12345678901, "ops": [["r", "a longer key", 5], ["w", 17, -8]]}
{"session":3,"txn":"3-0","ops":[["append","list",1],["r","list",[1,2]],["r","list",[]]]}
{"session":1,"txn":"1-1","start_ts":4,"commit_ts":5,"ops":[["w",3,"value"],["r",3,"value"]]}
)";
  constexpr std::string_view kBytes = "{}[]\",:rwnul0123456789 -\\\n\t\x80z";
  Rng rng(20);
  size_t histories = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (uint64_t damage = 1 + rng.below(2); damage > 0; --damage) {
      const size_t at = std::string_view(kHeader).size() + rng.below(text.size() - 20);
      const char byte = kBytes[rng.below(kBytes.size())];
      switch (rng.below(3)) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        default:
          text.erase(at, 1);
      }
    }
    histories += expect_same_both_ways(text) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(histories, 2'000u);
}

}  // namespace
}  // namespace assay::internal::formats
