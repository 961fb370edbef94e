#include "evidence/aof.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "evidence/changes_as_text.h"

namespace assay::internal::evidence {
namespace {

std::string command(std::initializer_list<std::string> words) {
  std::string text = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) text += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return text;
}

using Texts = std::vector<std::string>;

Texts read(Aof& aof, std::string_view text, size_t block, bool* readable = nullptr) {
  Texts txns;
  bool good = true;
  for (size_t at = 0; at < text.size(); at += block)
    good = aof.feed(text.substr(at, block), [&](const LoggedTxn& t) {
      txns.push_back(as_text(t));
    }) && good;
  if (readable != nullptr) *readable = good;
  return txns;
}

TEST(AppendOnlyFile, TransactionsInWhateverPieces) {
  const std::string file =
      command({"SELECT", "0"}) + "#TS:1700000000\r\n" + command({"MULTI"}) +
      command({"SET", "assay-txn", "3-17"}) + command({"SET", "assay:kv/1:7", "42"}) +
      command({"DEL", "assay:kv/1:8"}) + command({"EXEC"}) +
      command({"SET", "assay:kv/1:7", "43"}) + command({"SET", "elsewhere", "1"}) +
      command({"set", "assay:end", "run"}) + "*3\r\n$3\r\nSE";
  for (const size_t block : {size_t{1}, size_t{7}, file.size()}) {
    Aof aof("0");
    EXPECT_EQ(read(aof, file, block), (Texts{"3-17: 7=42 8=null", ": 7=43"})) << block;
    EXPECT_EQ(aof.end(), "run");
  }
}

TEST(AppendOnlyFile, SaysWhereATransactionBegins) {
  const std::string before = command({"SELECT", "0"});
  const std::string one =
      command({"MULTI"}) + command({"SET", "assay:kv/1:7", "42"}) + command({"EXEC"});
  const std::string file = before + one + command({"SET", "assay:kv/1:7", "43"});
  for (const size_t block : {size_t{1}, file.size()}) {
    Aof aof("0", 1000);
    Texts positions;
    for (size_t at = 0; at < file.size(); at += block)
      aof.feed(std::string_view(file).substr(at, block),
               [&](const LoggedTxn& t) { positions.push_back(t.position); });
    EXPECT_EQ(positions, (Texts{fmt::format("byte {}", 1000 + before.size()),
                                fmt::format("byte {}", 1000 + before.size() + one.size())}));
  }
}

TEST(AppendOnlyFile, OtherDatabasesOfTheServer) {
  Aof aof("2");
  EXPECT_EQ(read(aof,
                 command({"SET", "assay:kv/1:7", "1"}) + command({"SELECT", "2"}) +
                     command({"SET", "assay:list/1:7", "5,6"}) + command({"SELECT", "0"}) +
                     command({"SET", "assay:kv/1:7", "3"}),
                 1000),
            (Texts{": 7=5 7=6"}));
}

// A list that was written by two who had not seen each other loses an element, and shares its
// beginning.
TEST(AppendOnlyFile, ListsThatLoseElements) {
  Aof aof("0");
  EXPECT_EQ(
      read(aof,
           command({"SET", "assay:list/1:7", "5,6"}) + command({"SET", "assay:list/1:7", "5,8"}),
           1000),
      (Texts{": 7=5 7=6", ": 7=8"}));
}

TEST(AppendOnlyFile, RefusesWhatIsNone) {
  for (const char* bad : {"REDIS0011\r\n", "*x\r\n", "*1\r\n:3\r\n", "*1\r\n$99999999999\r\n"}) {
    Aof aof("0");
    bool readable = true;
    read(aof, bad, 1000, &readable);
    EXPECT_FALSE(readable) << bad;
  }
}

}  // namespace
}  // namespace assay::internal::evidence
