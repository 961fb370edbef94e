#include <gtest/gtest.h>

#include <filesystem>

#include "assay/format.h"
#include "formats/compression.h"
#include "formats/mixed_history.h"
#include "formats/temporary_folder.h"

namespace assay::internal {
namespace {

namespace fs = std::filesystem;

class ReadWrite : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  formats::TemporaryFolder folder_;
};

TEST_F(ReadWrite, CompressionByEndingAndByMagic) {
  History h = formats::MixedHistory(7, {.txns = 3000}).build();
  for (std::string ending : {"", ".gz", ".zst"}) {
    std::string file = path("h.jsonl" + ending);
    ASSERT_TRUE(write_history(h, file, "assay").ok());
    fs::rename(file, path("plain-name"));  // the content decides, not the name
    auto r = read_history(path("plain-name"));
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->format, "assay");
    EXPECT_EQ(r->history.content_hash(), h.content_hash());
  }
}

TEST_F(ReadWrite, ConcatenatedCompressedPartsAreOneFile) {
  History a = formats::MixedHistory(1, {}).build();
  for (std::string ending : {".gz", ".zst"}) {
    std::string one = path("one" + ending);
    ASSERT_TRUE(write_history(a, one, "hist").ok());
    std::string bytes = folder_.get("one" + ending);
    folder_.put("two", bytes + bytes);
    auto once = read_history(one, {"hist"});
    ASSERT_TRUE(once.ok());
    std::string text;
    ASSERT_TRUE(write_history_text(a, "hist", text).ok());
    auto twice = read_history(path("two"), {"hist"});
    auto want = read_history_text(text + text, "two", {"hist"});
    ASSERT_EQ(twice.ok(), want.ok());
    if (want.ok()) {
      EXPECT_EQ(twice->history.content_hash(), want->history.content_hash());
    }
  }
}

TEST_F(ReadWrite, CutOffOrBrokenCompressionIsBadInput) {
  History h = formats::MixedHistory(7, {.txns = 500}).build();
  for (std::string ending : {".gz", ".zst"}) {
    std::string file = path("h" + ending);
    ASSERT_TRUE(write_history(h, file, "hist").ok());
    std::string bytes = folder_.get("h" + ending);
    folder_.put("h" + ending, bytes.substr(0, bytes.size() / 2));
    auto cut = read_history(file);
    ASSERT_FALSE(cut.ok());
    EXPECT_EQ(cut.error().kind, ErrorKind::bad_input);
    EXPECT_NE(cut.error().message.find("cut off"), std::string::npos) << cut.error().message;
    EXPECT_EQ(cut.error().file, file);
    for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 40; ++i) bytes[i] ^= 0x55;
    folder_.put("h" + ending, bytes);
    auto broken = read_history(file);
    ASSERT_FALSE(broken.ok());
    EXPECT_EQ(broken.error().kind, ErrorKind::bad_input);
  }
}

// As a recorder leaves it that was killed: whole frames, and the beginning of one.
TEST_F(ReadWrite, ACutOffJsonLinesFileIsItsBeginning) {
  for (const auto kind : {formats::Compression::gzip, formats::Compression::zstd}) {
    std::string bytes;
    size_t whole = 0;
    for (int txn = 0; txn < 3; ++txn) {
      const std::string value = std::to_string(txn);
      whole = bytes.size();
      ASSERT_TRUE(formats::compress_frame(kind,
                                          R"({"session":1,"txn":"1-)" + value +
                                              R"(","ops":[["w","x",)" + value + "]]}\n",
                                          bytes)
                      .ok());
    }
    folder_.put("cut", bytes.substr(0, whole + 6));
    const auto cut = read_history(path("cut"));
    ASSERT_TRUE(cut.ok()) << cut.error().to_string();
    EXPECT_EQ(cut->history.txn_count(), 2u);
    ASSERT_EQ(cut->notes.size(), 1u);
    EXPECT_EQ(cut->notes[0].message, "the compressed data is cut off here");
    folder_.put("cut", bytes.substr(0, 8));
    EXPECT_FALSE(read_history(path("cut")).ok()) << "nothing of it is whole";
  }
}

TEST_F(ReadWrite, WhatCannotBeOpenedIsAnIoError) {
  auto missing = read_history(path("missing"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::io);
  EXPECT_EQ(missing.error().file, path("missing"));
  auto unwritable = write_history(History{}, path("no/such/folder"), "assay");
  ASSERT_FALSE(unwritable.ok());
  EXPECT_EQ(unwritable.error().kind, ErrorKind::io);
}

TEST_F(ReadWrite, ANearlyFullDiskIsNoticed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto r = write_history(formats::MixedHistory(1, {}).build(), "/dev/full", "assay");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().kind, ErrorKind::io);
}

TEST_F(ReadWrite, UnknownContentAndUnknownNames) {
  auto odd = read_history_text("What is this?\n", "odd");
  ASSERT_FALSE(odd.ok());
  EXPECT_EQ(odd.error().kind, ErrorKind::bad_input);
  EXPECT_NE(odd.error().message.find("not recognised"), std::string::npos);
  auto empty = read_history_text("", "empty");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().kind, ErrorKind::bad_input);
  auto nameless = read_history_text("s: {}", "x", {"nonsense"});
  ASSERT_FALSE(nameless.ok());
  EXPECT_EQ(nameless.error().kind, ErrorKind::usage);
  auto nowhere = write_history(History{}, path("x"), "nonsense");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::usage);
  auto folder = read_history(folder_.path());
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::bad_input);
  auto as_file = read_history(folder_.path(), {"assay"});
  ASSERT_FALSE(as_file.ok());
  EXPECT_EQ(as_file.error().kind, ErrorKind::usage);
}

TEST_F(ReadWrite, EveryWritableTextFormatIsDetectedFromItsOwnOutput) {
  for (const FormatInfo& format : all_formats()) {
    EXPECT_FALSE(format.summary.empty()) << format.name;
    if (!format.writes || format.directory) continue;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      formats::MixedHistoryOptions plain{.strings = false, .registers_only = true, .times = false};
      History h = formats::MixedHistory(seed, plain).build();
      std::string text;
      const auto written = write_history_text(h, format.name, text);
      if (!written.ok() && format.name == "veristrong") continue;  // lists only
      ASSERT_TRUE(written.ok()) << written.error().to_string();
      auto again = read_history_text(text, "x");
      ASSERT_TRUE(again.ok()) << format.name << ": " << again.error().to_string() << "\n" << text;
      EXPECT_EQ(again->format, format.name) << text;
    }
  }
}

}  // namespace
}  // namespace assay::internal
