// Lines are parsed side by side: the history, its notes and its errors are the same for every
// number of threads.
#include <gtest/gtest.h>

#include <string>

#include "assay/format.h"
#include "formats/mixed_history.h"

namespace assay::internal {
namespace {

constexpr unsigned kThreads[] = {1, 2, 5};

Result<ReadResult> read_threaded(std::string_view text, unsigned threads) {
  ReadOptions options;
  options.from = "assay";
  options.threads = threads;
  return read_history_text(text, "file", options);
}

std::string written(const History& h) {
  std::string text;
  EXPECT_TRUE(write_history_text(h, "assay", text).ok());
  return text;
}

void expect_same_ids(const History& a, const History& b) {
  ASSERT_EQ(a.key_count(), b.key_count());
  for (KeyId k = 0; k < a.key_count(); ++k) ASSERT_EQ(a.key(k), b.key(k)) << k;
  ASSERT_EQ(a.version_count(), b.version_count());
  for (VersionId v = 0; v < a.version_count(); ++v) {
    ASSERT_EQ(a.version_key(v), b.version_key(v)) << v;
    ASSERT_EQ(a.version_value(v), b.version_value(v)) << v;
  }
  ASSERT_EQ(a.txn_count(), b.txn_count());
  for (TxnId t = 0; t < a.txn_count(); ++t) ASSERT_EQ(a.line(t), b.line(t)) << t;
}

void expect_same_for_every_number_of_threads(std::string_view text) {
  const auto alone = read_threaded(text, 1);
  ASSERT_TRUE(alone.ok()) << alone.error().to_string();
  const std::string want = written(alone->history);
  for (const unsigned threads : kThreads) {
    const auto together = read_threaded(text, threads);
    ASSERT_TRUE(together.ok()) << together.error().to_string();
    EXPECT_EQ(written(together->history), want);
    EXPECT_EQ(together->history.content_hash(), alone->history.content_hash());
    EXPECT_EQ(together->notes.size(), alone->notes.size());
    expect_same_ids(together->history, alone->history);
  }
}

// A transaction in every form, as its n-th.
std::string lines_of(int n) {
  const std::string i = std::to_string(n), at = std::to_string(10 * n),
                    end = std::to_string(10 * n + 5);
  std::string text = R"({"session":1,"txn":"a)" + i + R"(","begin":)" + at + R"(,"end":)" + end +
                     R"(,"ops":[["w","k\n)" + i + R"(",)" + i + R"(],["w","row",{"v":)" + i +
                     R"(}],["append","list",)" + i + R"(],["range","a",null,[["b)" + i +
                     R"(",4]]]],"meta":{"n":)" + i + "}}\n";
  text += R"({"session":2,"txn":")" + i + R"(","status":"pending","ops":[]})" + "\n";
  text += R"({"session":3,"ops":[["r","k\n)" + i + R"(",)" + i + R"(,{"from":"a)" + i +
          R"("}],["pred","v >= )" + std::to_string(n % 7) + R"(",[]],["r","list",[1,)" + i +
          R"(]],["cas","z",null,)" + i + ",false]]}\n";
  text += R"({"event":"note","at":)" + at + "}\n";
  if (n > 0)
    text += R"({"session":2,"txn":")" + std::to_string(n - 1) +
            R"(","status":"committed","ops":[["d","gone","t)" + i + R"("]]})" + "\n";
  text += R"({"key":"k\n)" + i + R"(","order":[)" + i + R"(,{"txn":"a)" + i + R"("}]})" + "\n";
  return text;
}

std::string many_lines(int count) {
  std::string text = R"({"assay":1,"meta":{"run":"r"},"initial":"nothing"})"
                     "\n";
  for (int n = 0; n < count; ++n) text += lines_of(n);
  return text;
}

TEST(AssayJsonlParallel, EveryKindOfLineInManyBlocks) {
  const std::string text = many_lines(3000);
  ASSERT_GT(text.size(), size_t{1} << 20);
  expect_same_for_every_number_of_threads(text);
  expect_same_for_every_number_of_threads(text.substr(text.find('\n') + 1));  // without a header
  expect_same_for_every_number_of_threads(text + R"({"session":1,"txn":"cut)");
}

TEST(AssayJsonlParallel, RandomHistories) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    formats::MixedHistoryOptions options;
    options.txns = 4000;
    expect_same_for_every_number_of_threads(written(formats::MixedHistory(seed, options).build()));
  }
}

TEST(AssayJsonlParallel, ALineLongerThanABlock) {
  const std::string text = many_lines(2) + R"({"session":1,"ops":[["w","big",")" +
                           std::string(700'000, 'x') +
                           R"("]]})"
                           "\n" +
                           R"({"session":1,"ops":[["w","y",1]]})";
  expect_same_for_every_number_of_threads(text);
}

TEST(AssayJsonlParallel, TheFirstFaultIsReported) {
  std::string text = many_lines(3000);
  const size_t first = text.find(R"("list",[1,1700])"), second = text.find(R"("list",[1,2900])");
  text.replace(first, 6, "false,");
  text.replace(second, 6, "false,");
  for (const unsigned threads : kThreads) {
    const auto got = read_threaded(text, threads);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().to_string(), read_threaded(text, 1).error().to_string());
    EXPECT_EQ(got.error().line,
              1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(first), '\n'));
  }
}

TEST(AssayJsonlParallel, AHeaderInALaterBlockIsRefused) {
  const std::string again = R"({"assay":1,"meta":{"run":"r"}})"
                            "\n",
                    other = R"({"assay":1,"meta":{"run":"s"}})"
                            "\n";
  for (const unsigned threads : kThreads) {
    const auto first = read_threaded(many_lines(3000) + other, threads);
    ASSERT_FALSE(first.ok());
    EXPECT_NE(first.error().message.find("the file holds two runs, 'r' and from here on 's'"),
              std::string::npos);
    const auto second = read_threaded(many_lines(3000) + again, threads);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().message.find("a header may only be the first line"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace assay::internal
