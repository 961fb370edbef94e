#include "collect/parts_recorder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace assay::internal::collect {
namespace {

namespace fs = std::filesystem;

struct Heard : PartListener {
  std::string what;
  void opened(const std::string& path) override {
    what += "+" + fs::path(path).filename().string() + " ";
  }
  void closed(const std::string& path) override {
    what += "-" + fs::path(path).filename().string() + " ";
  }
};

class PartsRecorderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/parts-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name = "h.jsonl") const { return folder_ + "/" + name; }
  // The transactions of a file, one after the other, a pending line with a question mark.
  std::string names(const std::string& name) const {
    std::ifstream in(path(name));
    std::string out;
    for (std::string line; std::getline(in, line);) {
      const size_t at = line.find("\"txn\":\"");
      if (at == std::string::npos) continue;
      out += line.substr(at + 7, line.find('"', at + 7) - at - 7);
      out += line.find("pending") != std::string::npos ? "? " : " ";
    }
    return out;
  }
  std::string first_line(const std::string& name) const {
    std::ifstream in(path(name));
    std::string line;
    std::getline(in, line);
    return line;
  }

  Heard heard_;
  std::string folder_;
};

TxnRecord txn(uint32_t session, uint64_t number, bool pending = false) {
  TxnRecord record;
  record.session = session;
  record.number = number;
  record.pending = pending;
  record.status = pending ? TxnStatus::unknown : TxnStatus::committed;
  return record;
}

TEST_F(PartsRecorderTest, NamesOfParts) {
  EXPECT_EQ(part_path("h.jsonl", 1), "h.0001.jsonl");
  EXPECT_EQ(part_path("a.b/h.x.jsonl", 12345), "a.b/h.x.12345.jsonl");
  EXPECT_EQ(part_path("h", 2), "h.0002");
}

TEST_F(PartsRecorderTest, EachTransactionStandsInOneFileWhole) {
  auto r = PartsRecorder::create(path(), {}, 1, &heard_);
  ASSERT_TRUE(r.ok());
  Sink& sink = **r;
  ASSERT_TRUE(sink.header(R"({"run":"r"})").ok());
  ASSERT_TRUE(sink.transaction(txn(0, 0, true)).ok());
  ASSERT_TRUE(sink.transaction(txn(1, 0)).ok());
  ASSERT_TRUE(sink.transaction(txn(0, 0)).ok());
  ASSERT_TRUE(sink.transaction(txn(0, 1)).ok());
  ASSERT_TRUE(sink.finish().ok());
  EXPECT_EQ(names("h.0001.jsonl"), "0-0? 0-0 ");
  EXPECT_EQ(names("h.0002.jsonl"), "1-0 ");
  EXPECT_EQ(names("h.0003.jsonl"), "0-1 ");
  EXPECT_EQ(first_line("h.0002.jsonl"), R"({"assay":1,"meta":{"run":"r","part":2}})");
  // The second is over before the first.
  EXPECT_EQ(heard_.what,
            "+h.0001.jsonl +h.0002.jsonl +h.0003.jsonl -h.0002.jsonl -h.0001.jsonl "
            "+h.0004.jsonl -h.0003.jsonl -h.0004.jsonl ");
}

TEST_F(PartsRecorderTest, OneFileWithoutALimit) {
  auto r = PartsRecorder::create(path(), {}, 0, &heard_);
  ASSERT_TRUE(r.ok());
  ASSERT_TRUE((*r)->header(R"({"run":"r"})").ok());
  ASSERT_TRUE((*r)->transaction(txn(0, 0)).ok());
  ASSERT_TRUE((*r)->finish().ok());
  EXPECT_EQ(first_line("h.jsonl"), R"({"assay":1,"meta":{"run":"r"}})");
  EXPECT_EQ(heard_.what, "+h.jsonl -h.jsonl ");
}

TEST_F(PartsRecorderTest, PartsOfAnotherHistoryAreNotMixedWithThese) {
  std::ofstream(path("h.0002.jsonl")) << "old";
  std::ofstream(path("h.0002.other.jsonl")) << "another";
  const auto refused = PartsRecorder::create(path(), {}, 100, nullptr);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find("h.0002.jsonl"), std::string::npos);
  auto r = PartsRecorder::create(path(), {.overwrite = true}, 100, nullptr);
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(fs::exists(path("h.0002.jsonl"))) << "before there is a header";
  ASSERT_TRUE((*r)->header("{}").ok());
  EXPECT_FALSE(fs::exists(path("h.0002.jsonl")));
  EXPECT_TRUE(fs::exists(path("h.0002.other.jsonl")));
}

}  // namespace
}  // namespace assay::internal::collect
