#include "formats/assay_jsonl_chunks.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::internal::formats {
namespace {

// The names and outcomes of each piece of so many lines.
std::string pieces(const std::string& text, size_t lines, int64_t settled = Interval::kUnknown) {
  Result<Input> input = Input::memory(text, "test", nullptr);
  std::vector<ReadNote> notes;
  JsonlChunks chunks(*input, notes);
  std::string out;
  for (bool end = false; !end;) {
    auto chunk = chunks.next(lines);
    if (!chunk.ok()) return out + chunk.error().to_string();
    end = chunk->end;
    const History& h = chunk->history;
    for (TxnId t = 0; t < h.txn_count(); ++t)
      out += h.name(t) + (h.status(t) == TxnStatus::unknown ? "? " : " ");
    out += "| ";
    EXPECT_TRUE(chunks.give_up_before(settled).ok());
  }
  return out;
}

TEST(JsonlChunks, NamesGoOnFromPieceToPiece) {
  const std::string line = R"({"session":1,"ops":[["w","x",1]]})"
                           "\n";
  EXPECT_EQ(pieces(line + line + line, 2), "1-0 1-1 | 1-2 | ");
  EXPECT_EQ(pieces(line + line, 1), "1-0 | 1-1 | | ");
}

TEST(JsonlChunks, TheHeaderHoldsForEachPiece) {
  Result<Input> input = Input::memory(
      "{\"assay\":1,\"initial\":7}\n{\"session\":1,\"ops\":[]}\n{\"session\":1,\"ops\":[]}\n",
      "test", nullptr);
  std::vector<ReadNote> notes;
  JsonlChunks chunks(*input, notes);
  for (int i = 0; i < 3; ++i) {
    auto chunk = chunks.next(1);
    ASSERT_TRUE(chunk.ok());
    EXPECT_EQ(chunk->history.initial(), ValueView::of(int64_t{7}));
  }
}

TEST(JsonlChunks, PendingLinesWaitForTheirOutcome) {
  const std::string pending =
      R"({"session":1,"txn":"a","status":"pending","begin":5,"ops":[["w","x",1]]})"
      "\n";
  const std::string other = R"({"session":2,"txn":"b","begin":6,"end":7,"ops":[]})"
                            "\n";
  const std::string outcome = R"({"session":1,"txn":"a","begin":5,"end":9,"ops":[["w","x",1]]})"
                              "\n";
  EXPECT_EQ(pieces(pending + other + outcome, 1), "| b | a | | ");
  EXPECT_EQ(pieces(pending + other, 1), "| b | a? | ");
  EXPECT_EQ(pieces(pending + other + other, 1, 6), "| a? b | b | | ");
  EXPECT_EQ(pieces(pending + other + other, 1, 5), "| b | b | a? | ");
}

// The event knows those of its own piece.
TEST(JsonlChunks, ASettledEventHoldsInItsPiece) {
  const std::string unknown = R"({"session":1,"status":"unknown","begin":5,"ops":[["w","x",1]]})"
                              "\n";
  const std::string event = R"({"event":"settled","at":9,"aborted":["1-0"]})"
                            "\n";
  EXPECT_EQ(pieces(unknown + event, 9), "1-0 | ");
  EXPECT_EQ(pieces(unknown + event + unknown, 1), "1-0? | | 1-1? | | ");
}

TEST(JsonlChunks, ErrorsSayTheLine) {
  EXPECT_EQ(pieces("{\"session\":1,\"ops\":[]}\n\n{\"session\":1}\n", 1),
            "1-0 | | test:3:1: expected a transaction (session, ops), an event, or a key with its "
            "order or initial value");
}

}  // namespace
}  // namespace assay::internal::formats
