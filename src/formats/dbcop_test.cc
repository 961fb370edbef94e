#include <gtest/gtest.h>

#include <filesystem>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/mixed_history.h"
#include "formats/shared_data.h"

namespace assay::internal {
namespace {

void put(std::string& s, uint64_t v) {
  for (int i = 0; i < 8; ++i) s += static_cast<char>(v >> (8 * i) & 0xFF);
}
void put_event(std::string& s, bool write, uint64_t key, uint64_t value, bool success) {
  s += static_cast<char>(write);
  put(s, key);
  put(s, value);
  s += static_cast<char>(success);
}

// One session: a committed transaction with a failed write and a failed read, and an aborted one.
std::string sample() {
  std::string s;
  for (uint64_t v : {7, 1, 2, 2, 4}) put(s, v);
  for (std::string_view text : {"Galera", "2020-01-01T00:00:00Z", ""}) {
    put(s, text.size());
    s += text;
  }
  put(s, 1);
  put(s, 2);
  put(s, 4);
  put_event(s, false, 1, 0, true);
  put_event(s, true, 2, 5, true);
  put_event(s, true, 2, 6, false);
  put_event(s, false, 1, 0, false);
  s += '\1';
  put(s, 1);
  put_event(s, true, 1, 9, true);
  s += '\0';
  return s;
}

TEST(Dbcop, KeepsFailedWritesAsAbortedOnes) {
  auto r = read_history_text(sample(), "file");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "dbcop");
  auto want = read_history_text("initial 0\n0: { r(1,0) w(2,5) } { w(2,6) }! { w(1,9) }!\n", "want",
                                {"hist"});
  ASSERT_TRUE(want.ok());
  EXPECT_EQ(r->history.content_hash(), want->history.content_hash());
  EXPECT_EQ(r->history.meta(), R"({"info":"Galera","start":"2020-01-01T00:00:00Z","end":""})");
  ASSERT_EQ(r->notes.size(), 2u);
  EXPECT_EQ(r->notes[0].message, "left out 1 reads that failed");
}

TEST(Dbcop, RefusesACutAnywhere) {
  const std::string whole = sample();
  for (size_t n = 0; n < whole.size(); ++n)
    formats::expect_bad_input("dbcop", whole.substr(0, n), 0, 0,
                              "byte " + std::to_string(n) + ": the file ends within");
}

TEST(Dbcop, RefusesWrongBytesAtTheirPlace) {
  const std::string whole = sample();
  auto broken = [&](size_t at, char c, const std::string& part) {
    std::string s = whole;
    s[at] = c;
    formats::expect_bad_input("dbcop", s, 0, 0, "byte " + std::to_string(at) + ": " + part);
  };
  const size_t texts = 40 + 3 * 8 + 26;
  const size_t event = texts + 24;
  broken(event, 2, "expected 0 for a read, 1 for a write");
  broken(event + 17, 2, "expected 0 or 1, whether it succeeded");
  broken(event + 4 * 18, 2, "expected 0 or 1, whether it committed");
  std::string big = whole;
  big[event + 8] = '\x80';
  const auto large_key = read_history_text(big, "file", {"dbcop"});
  ASSERT_TRUE(large_key.ok()) << large_key.error().to_string();
  EXPECT_GT(large_key->history.key(large_key->history.op(0).key).to_string(),
            "9223372036854775807");
  big = whole;
  big[event + 16] = '\x80';
  formats::expect_bad_input("dbcop", big, 0, 0,
                            "byte " + std::to_string(event + 9) + ": expected a value below 2^63");
  big = whole;
  big[47] = 1;
  formats::expect_bad_input("dbcop", big, 0, 0, "byte 40: expected the length of a text");
  big = whole;
  big[48] = '\xFF';
  formats::expect_bad_input("dbcop", big, 0, 0, "byte 48: expected UTF-8");
  formats::expect_bad_input("dbcop", whole + "x", 0, 0,
                            "byte " + std::to_string(whole.size()) + ": expected the end");
}

TEST(Dbcop, RoundTripOfRegisterHistories) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    formats::MixedHistoryOptions plain{
        .strings = false, .registers_only = true, .times = false, .unknown = false};
    History h = formats::MixedHistory(seed, plain).build();
    std::string text, second;
    ASSERT_TRUE(write_history_text(h, "dbcop", text).ok());
    auto again = read_history_text(text, "x", {"dbcop"});
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    ASSERT_EQ(again->history.op_count(), h.op_count());
    ASSERT_TRUE(write_history_text(again->history, "dbcop", second).ok());
    EXPECT_EQ(text, second);
  }
}

TEST(Dbcop, CountsWhatItCannotHold) {
  auto r = read_history_text(
      "a: t1@[0,1] { w(x,-1) a(l,1) r(l,[1]) range(..,[]) cas(x,1,2) cas(x,1,2)! d(x,t) }\n"
      "b: { w(x,7) }? { w(x,8) }?\n"
      "c: { r(x,7) }\n"
      "order x: 7 8\n",
      "x", {"hist"});
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  std::string text;
  auto losses = write_history_text(r->history, "dbcop", text);
  ASSERT_TRUE(losses.ok());
  std::string list;
  for (const Loss& l : *losses) list += std::to_string(l.count) + " " + l.what + "\n";
  EXPECT_EQ(list,
            "1 appends to lists\n"
            "1 compare-and-sets without effect\n"
            "1 compare-and-sets, written as a read and a write\n"
            "1 deletes, written as writes of their tombstones\n"
            "2 keys, replaced by numbers\n"
            "1 known version orders\n"
            "3 names of sessions\n"
            "1 names of transactions\n"
            "1 range reads\n"
            "1 reads of lists\n"
            "1 times of transactions\n"
            "1 transactions of unknown outcome that nothing read\n"
            "1 transactions of unknown outcome that were read, written as committed ones\n"
            "7 values, replaced by numbers\n");
  auto again = read_history_text(text, "x", {"dbcop"});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->history.txn_count(), 3u);
  EXPECT_EQ(again->history.session_count(), 3u);
}

TEST(Dbcop, ReadsRealFiles) {
  namespace fs = std::filesystem;
  const fs::path data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (entry.path().filename() != "history.bincode") continue;
    ++files;
    auto r = read_history(entry.path().string());
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->format, "dbcop");
    EXPECT_GT(r->history.op_count(), 1000u) << entry.path();
  }
  EXPECT_EQ(files, 19);
}

}  // namespace
}  // namespace assay::internal
