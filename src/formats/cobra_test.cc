#include "formats/cobra.h"

#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/mixed_history.h"
#include "formats/shared_data.h"
#include "formats/temporary_folder.h"

namespace assay::internal {
namespace {

constexpr uint64_t kInitial = 0xbebeebee;

std::string record(char kind, std::initializer_list<uint64_t> words) {
  std::string s(1, kind);
  for (uint64_t w : words)
    for (int i = 7; i >= 0; --i) s += static_cast<char>(w >> (8 * i) & 0xFF);
  return s;
}

History from_hist(std::string_view text) {
  auto r = read_history_text(text, "want", {"hist"});
  EXPECT_TRUE(r.ok());
  return std::move(r->history);
}

TEST(Cobra, ReadsSessionsAndReservedIds) {
  formats::TemporaryFolder folder;
  folder.put("T2.log", record('S', {7}) + record('W', {100, 1, 55}) + record('C', {7}) +
                           record('S', {8}) + record('W', {101, 1, 55}) + record('A', {8}) +
                           record('S', {9}) + record('W', {102, 1, 56}));
  folder.put("T10.log", record('S', {3}) + record('R', {7, 100, 1, 55}) +
                            record('R', {kInitial, kInitial, 2, 77}) +
                            record('R', {0xdeadbeef, 0xdeadbeef, 3, 0}) +
                            record('R', {0x23332333, 0x66666666, 4, 0}) + record('C', {3}));
  folder.put("T2.debug", "text");
  folder.put("T2.error", "text");
  auto r = read_history(folder.path());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "cobra");
  History want = from_hist(
      "2: { w(1,100) } { w(1,101) }! { w(1,102) }?\n"
      "10: { r(1,100) r(2,null) r(3,null) }\n");
  EXPECT_EQ(r->history.content_hash(), want.content_hash());
  EXPECT_EQ(r->history.name(3), "3");
  ASSERT_EQ(r->notes.size(), 1u);
  EXPECT_EQ(r->notes[0].message, "left out 1 reads whose writer was collected as garbage");
}

TEST(Cobra, ReadsThatNameNoWriterGoByHash) {
  formats::TemporaryFolder folder;
  folder.put("T0.log", record('S', {1}) + record('W', {100, 1, 55}) + record('C', {1}));
  folder.put("T1.log",
             record('S', {2}) + record('R', {0xabddefee, 0xabddefee, 1, 55}) + record('C', {2}));
  auto r = read_history(folder.path());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->history.content_hash(),
            from_hist("0: { w(1,55) }\n1: { r(1,55) }\n").content_hash());
}

TEST(Cobra, NoticesTimes) {
  formats::TemporaryFolder folder;
  folder.put("T0.log", record('S', {1, 500}) + record('W', {100, 1, 55}) + record('C', {1, 900}));
  auto r = read_history(folder.path());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->history.content_hash(), from_hist("0: @[500,900] { w(1,100) }\n").content_hash());
}

// A record whose `at`th word gives way to a key as text.
std::string text_record(char kind, std::initializer_list<uint64_t> words, size_t at,
                        const std::string& key) {
  std::string s = record(kind, words);
  std::string length(4, '\0');
  for (size_t i = 0; i < 4; ++i) length[i] = static_cast<char>(key.size() >> (24 - 8 * i) & 0xFF);
  return s.replace(1 + 8 * at, 8, length + key);
}

TEST(Cobra, KeysAsText) {
  formats::TemporaryFolder folder;
  folder.put("T0.log", record('S', {1}) + text_record('W', {100, 0, 55}, 1, "user:1") +
                           text_record('W', {101, 0, 55}, 1, "") + record('C', {1}));
  folder.put("T1.log", record('S', {2, 500}) + text_record('R', {1, 100, 0, 55}, 2, "user:1") +
                           text_record('R', {kInitial, kInitial, 0, 5}, 2, "z") +
                           record('C', {2, 900}));
  auto r = read_history(folder.path());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->history.content_hash(), from_hist("0: { w(\"user:1\",100) w(\"\",101) }\n"
                                                 "1: @[500,900] { r(\"user:1\",100) r(z,null) }\n")
                                           .content_hash());
}

TEST(Cobra, RefusesBadRecordsAtTheirByte) {
  auto refuse = [](const std::string& bytes, const std::string& message) {
    auto r = formats::read_cobra_log(bytes, "T0.log");
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(r.error().file, "T0.log");
    EXPECT_EQ(r.error().message.substr(0, message.size()), message);
  };
  const std::string begin = record('S', {1});
  refuse("X", "byte 0: expected a record S, C, A, W or R");
  refuse(begin + "\1" + std::string(20, '\0'), "byte 9: expected a record");
  refuse(begin + begin, "byte 9: expected the end of the transaction");
  refuse(record('C', {1}), "byte 0: expected the begin of a transaction, S, before its end");
  refuse(record('W', {1, 2, 3}), "byte 0: expected the begin of a transaction, S, before a write");
  refuse(record('R', {1, 2, 3, 4}),
         "byte 0: expected the begin of a transaction, S, before a read");
  refuse(begin + record('C', {2}), "byte 9: expected the end of transaction 1");
  const std::string whole =
      begin + record('R', {1, 2, 3, 4}) + record('W', {1, 2, 3}) + record('C', {1});
  for (size_t n = 1; n < whole.size(); ++n) {
    if (n == 9 || n == 9 + 33 || n == 9 + 33 + 25) continue;  // whole records: an open transaction
    refuse(whole.substr(0, n), "byte " + std::to_string(n) + ": the file ends within");
  }
}

TEST(Cobra, RoundTripKeepsWhoReadWhat) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    // So many that one session has no number: then all are numbered in their order.
    formats::MixedHistoryOptions plain{
        .txns = 40, .registers_only = true, .times = false, .aborted = false, .unknown = false};
    History h = formats::MixedHistory(seed, plain).build();
    formats::TemporaryFolder folder;
    ASSERT_TRUE(write_history(h, folder.path("log"), "cobra").ok());
    auto again = read_history(folder.path("log"));
    if (h.txn_count() == 0) continue;
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    ASSERT_EQ(again->history.txn_count(), h.txn_count());
    // Transactions now stand session by session; compare them there.
    for (SessionId s = 0; s < h.session_count(); ++s) {
      auto a = h.session_txns(s), b = again->history.session_txns(s);
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) {
        OpId x = h.first_op(a[i]), y = again->history.first_op(b[i]);
        ASSERT_EQ(h.end_op(a[i]) - x, again->history.end_op(b[i]) - y);
        for (; x < h.end_op(a[i]); ++x, ++y) {
          ASSERT_EQ(h.op(x).kind, again->history.op(y).kind);
          if (h.op(x).kind == OpKind::read) {
            ASSERT_EQ(h.is_initial(h.op(x).version),
                      again->history.is_initial(again->history.op(y).version));
          }
        }
      }
    }
  }
}

TEST(Cobra, WritesOnlyIntoAnEmptyDirectory) {
  formats::TemporaryFolder folder;
  folder.put("T0.log", "");
  auto r = write_history(History{}, folder.path(), "cobra");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().kind, ErrorKind::io);
}

TEST(Cobra, ReadsRealDirectories) {
  const auto data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  const std::pair<const char*, std::pair<uint32_t, uint32_t>> kWant[] = {
      {"polysi/rubis-10000/hist-00000", {9358, 35770 + 11257}},
      {"polysi/tpcc-10000/hist-00000", {13870, 256711 + 63506}},
      {"polysi/twitter-10000/hist-00000", {9571, 34384 + 15433}},
      {"viper/blindw-rw-1000/log", {962, 3976 + 3720}},
  };
  for (const auto& [name, count] : kWant) {
    auto r = read_history((data / name).string());
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->format, "cobra");
    EXPECT_EQ(r->history.txn_count(), count.first);
    EXPECT_EQ(r->history.op_count(), count.second);
  }
}

}  // namespace
}  // namespace assay::internal
