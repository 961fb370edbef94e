// Hostile input: whatever a file says of lengths, depths and counts, reading stops at the limits of
// docs/formats/README.md, with a message and without the memory that the file asks for.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

#include "assay/format.h"
#include "base/memory.h"
#include "formats/cobra.h"
#include "formats/output.h"
#include "formats/temporary_folder.h"
#include "formats/viper.h"

namespace assay::internal {
namespace {

constexpr size_t kTooLong = (size_t{1} << 24) + 100'000;

long peak_kib() {
  if (kSanitizerMemory) return 0;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

struct Shape {
  const char* format;
  const char* start;  // of a line or record that could go on
};
constexpr Shape kTexts[] = {
    {"assay", R"({"session":1,"ops":[["w","x",")"},
    {"hist", "s: { w(x,\""},
    {"polysi", "w(1,1,1,1"},
    {"awdit", "w 1 1"},
    {"veristrong", "1"},
    {"csv", "session,op,key"},
    {"dbcop-text", "[x:=1 y==2"},
    {"jepsen-log", "INFO  jepsen.util - 1\t:invoke\t:write\t"},
    {"jepsen", "{:type :ok :value \""},
    {"elle-json", R"({"type":"ok","value":")"},
    {"timekiller", R"([{"sid":")"},
    {"json-trace", R"({"session":")"},
};

TEST(Limits, NoLineOrRecordIsLongerThan16MiB) {
  for (const Shape& shape : kTexts) {
    std::string text = shape.start;
    text.append(kTooLong, '1');
    const long before = peak_kib();
    auto read = read_history_text(text, "long", {shape.format});
    ASSERT_FALSE(read.ok()) << shape.format;
    EXPECT_EQ(read.error().kind, ErrorKind::bad_input) << shape.format;
    EXPECT_NE(read.error().message.find("longer than 16 MiB"), std::string::npos)
        << shape.format << ": " << read.error().message;
    EXPECT_LT(peak_kib() - before, 256 << 10) << shape.format;
  }
}

TEST(Limits, NothingNestsMoreThan64Deep) {
  for (const char* format :
       {"assay", "jepsen", "elle-json", "timekiller", "dbcop-json", "json-trace"}) {
    for (const char* bracket : {"[", "{\"a\":"}) {
      std::string text = "{\"session\":";
      if (std::string_view(format) == "dbcop-json") text = "{\"data\":";
      for (int i = 0; i < 100'000; ++i) text += bracket;
      auto read = read_history_text(text, "deep", {format});
      ASSERT_FALSE(read.ok()) << format;
      EXPECT_EQ(read.error().kind, ErrorKind::bad_input) << format;
    }
  }
  auto edn = read_history_text(std::string(200, '[') + std::string(200, ']'), "deep", {"jepsen"});
  ASSERT_FALSE(edn.ok());
  EXPECT_NE(edn.error().message.find("64 deep"), std::string::npos) << edn.error().message;
  auto viper = formats::read_viper_log(
      "{:value " + std::string(200, '[') + std::string(200, ']') + "}", "J1.log");
  ASSERT_FALSE(viper.ok());
  EXPECT_NE(viper.error().message.find("64 deep"), std::string::npos) << viper.error().message;
}

std::string little(uint64_t v) {
  std::string s;
  for (int i = 0; i < 8; ++i) s += static_cast<char>(v >> (8 * i) & 0xFF);
  return s;
}

TEST(Limits, DeclaredSizesAreNotBelieved) {
  const std::string counts = little(1) + little(1) + little(1) + little(1) + little(1);
  const std::string texts = little(0) + little(0) + little(0);
  const uint64_t huge = uint64_t{1} << 62;
  for (const std::string& bytes :
       {counts + little(huge) + "x", counts + texts + little(huge),
        counts + texts + little(1) + little(huge),
        counts + texts + little(1) + little(1) + little(huge),
        counts + texts + little(1) + little(1) + little(uint64_t{1} << 31)}) {
    const long before = peak_kib();
    auto read = read_history_text(bytes, "declared", {"dbcop"});
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::bad_input);
    EXPECT_LT(peak_kib() - before, 64 << 10);
  }
  // A key of Cobra's that claims 4 GiB.
  auto cobra = formats::read_cobra_log(
      std::string("S") + std::string(8, '\0') + "W" + std::string(8, '\0') + "\xFF\xFF\xFF\xFFkey",
      "T1.log");
  ASSERT_FALSE(cobra.ok());
  EXPECT_EQ(cobra.error().kind, ErrorKind::bad_input);
  auto lists = read_history_text("1\n1 1 R 5 4000000000 1 2\n", "declared", {"veristrong"});
  ASSERT_FALSE(lists.ok());
  EXPECT_EQ(lists.error().kind, ErrorKind::bad_input);
}

// A line that never ends, a thousand times smaller on disk.
TEST(Limits, CompressedBombsStopAtTheFirstLine) {
  formats::TemporaryFolder folder;
  const std::string text = "w(1,1,1,1" + std::string(size_t{40} << 20, '1');
  for (const char* ending : {".gz", ".zst"}) {
    const std::string path = folder.path("bomb.txt") + ending;
    auto out = formats::Output::open(path);
    ASSERT_TRUE(out.ok());
    out->write(text);
    ASSERT_TRUE(out->close().ok());
    const long before = peak_kib();
    auto read = read_history(path);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::bad_input);
    EXPECT_LT(peak_kib() - before, 64 << 10) << ending;
  }
}

// Small on disk, and every line is kept. In a process of its own, whose peak nothing else has set.
TEST(Limits, MemoryIsRespectedWhileColumnsGrow) {
  if (kSanitizerMemory) GTEST_SKIP() << "the peak means little with this allocator";
  formats::TemporaryFolder folder;
  const std::string path = folder.path("bomb.jsonl.zst");
  auto out = formats::Output::open(path);
  ASSERT_TRUE(out.ok());
  out->write("{\"assay\":1}\n");
  for (int i = 0; i < 3'000'000; ++i)
    out->write("{\"session\":1,\"ops\":[[\"w\",\"x\"," + std::to_string(i) + "]]}\n");
  ASSERT_TRUE(out->close().ok());
  for (const uint64_t limit : {uint64_t{100} << 20, uint64_t{150} << 20, uint64_t{210} << 20}) {
    const auto read = [&] {
      Budget budget(0, limit);
      ReadOptions options;
      options.budget = &budget;
      const auto history = read_history(path, options);
      if (history.ok() || history.error().kind != ErrorKind::budget) return 1;
      return static_cast<uint64_t>(peak_kib()) * 1024 * 100 > limit * 105 ? 2 : 0;
    };
    EXPECT_EXIT(std::_Exit(read()), testing::ExitedWithCode(0), "") << limit;
  }
}

}  // namespace
}  // namespace assay::internal
