#include "certify/chain_verifier.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/format.h"

namespace assay::internal::certify {
namespace {

std::string line(int session, int64_t begin, int64_t end, const std::string& ops,
                 const std::string& status = "committed") {
  return R"({"session":)" + std::to_string(session) + R"(,"status":")" + status + R"(","begin":)" +
         std::to_string(begin) + R"(,"end":)" + std::to_string(end) + R"(,"ops":[)" + ops + "]}\n";
}

// What the verifier says of the lines and the segments; empty if it agrees.
std::string refusal(const std::vector<std::string>& lines, const std::vector<Segment>& segments,
                    LevelId level = LevelId::strict_serializable) {
  std::string text;
  for (const std::string& l : lines) text += l;
  Result<ReadResult> read = read_history_text(text, "test", {.from = "assay"});
  EXPECT_TRUE(read.ok());
  Result<ChainVerifier> verifier = ChainVerifier::of(level);
  EXPECT_TRUE(verifier.ok());
  Status s = verifier->read(std::make_shared<const History>(std::move(read->history)));
  for (const Segment& segment : segments)
    if (s.ok()) s = verifier->accept(segment);
  if (s.ok()) s = verifier->end({lines.size()});
  return s.ok() ? "" : s.error().message;
}

#define EXPECT_REFUSED(said, why) \
  EXPECT_NE((said).find(why), std::string::npos) << "it said: " << (said)

TEST(ChainVerifier, ReplaysTheOrdersOneAfterTheOther) {
  const std::vector<std::string> lines = {line(1, 0, 10, R"(["w","x",1])"),
                                          line(2, 0, 10, R"(["r","x",1],["w","x",2])"),
                                          line(3, 5, 15, R"(["r","x",1])")};
  EXPECT_EQ(refusal(lines, {{{1}}, {{3, 2}}}), "");
  EXPECT_REFUSED(refusal(lines, {{{1, 2, 3}}}), "its read of x");
  EXPECT_REFUSED(refusal(lines, {{{1, 3}}}), "no segment names line 2");
  EXPECT_REFUSED(refusal(lines, {{{1, 3, 2}}, {{2}}}), "named before");
}

TEST(ChainVerifier, HeedsTimeSessionsAndOutcomes) {
  EXPECT_REFUSED(
      refusal({line(1, 0, 10, R"(["w","x",1])"), line(2, 11, 20, R"(["w","y",1])")}, {{{2, 1}}}),
      "ended before an earlier one");
  const std::vector<std::string> concurrent = {line(1, 0, 10, R"(["w","x",1])"),
                                               line(2, 10, 20, R"(["w","y",1])")};
  EXPECT_EQ(refusal(concurrent, {{{2, 1}}}), "");
  EXPECT_REFUSED(
      refusal({line(1, 0, 10, R"(["w","x",1])"), line(1, 10, 20, R"(["w","y",1])")}, {{{2, 1}}}),
      "it precedes in its session");
  EXPECT_REFUSED(refusal({line(1, 0, 10, R"(["w","x",1])", "aborted")}, {{{1}}}), "aborted");
  Segment dropped{{2}};
  dropped.without_effect = {1};
  EXPECT_REFUSED(refusal(concurrent, {dropped}), "committed");
}

TEST(ChainVerifier, HeedsSessionsAloneWhereTheLevelDoes) {
  const LevelId level = LevelId::session_serializable;
  EXPECT_EQ(refusal({line(1, 0, 10, R"(["w","x",1])"), line(2, 11, 20, R"(["r","x",null])")},
                    {{{2, 1}}}, level),
            "");
  const std::vector<std::string> of_one = {line(1, 0, 10, R"(["w","x",1])"),
                                           line(1, 10, 20, R"(["w","y",1])")};
  EXPECT_EQ(refusal(of_one, {{{1, 2}}}, level), "");
  EXPECT_REFUSED(refusal(of_one, {{{2, 1}}}, level), "it precedes in its session");
  // Whoever may stand elsewhere may do so whatever the clocks say.
  const std::vector<std::string> blind = {line(1, 0, 10, R"(["w","x",1])"),
                                          line(2, 11, 20, R"(["w","x",2])"),
                                          line(3, 30, 40, R"(["r","x",1])")};
  EXPECT_EQ(refusal(blind, {{{1, 2}, {{1, 2}}}, {{3}}}, level), "");
  EXPECT_NE(refusal(blind, {{{1, 2}, {{1, 2}}}, {{3}}}), "");
}

// Whoever reads x chooses.
TEST(ChainVerifier, KnowsWhoMayStandElsewhere) {
  const std::vector<std::string> writers = {line(1, 0, 10, R"(["w","x",1],["w","z",1])"),
                                            line(2, 0, 10, R"(["w","x",2])")};
  Segment open{{1, 2}};
  open.rivals = {{1, 2}};
  for (const char* read : {R"(["r","x",1])", R"(["r","x",2])"}) {
    std::vector<std::string> lines = writers;
    lines.push_back(line(3, 20, 30, read));
    EXPECT_EQ(refusal(lines, {open, {{3}}}), "") << read;
  }
  std::vector<std::string> lines = writers;
  lines.push_back(line(3, 20, 30, R"(["r","x",1])"));
  EXPECT_REFUSED(refusal(lines, {{{1, 2}}, {{3}}}), "its read of x");
  // Both cannot be.
  lines.push_back(line(3, 40, 50, R"(["r","x",2])"));
  EXPECT_REFUSED(refusal(lines, {open, {{3, 4}}}), "its read of x");
  // One of the two ended before the other began; they share another key; somebody has looked.
  lines = {line(1, 0, 10, R"(["w","x",1])"), line(2, 11, 20, R"(["w","x",2])")};
  EXPECT_REFUSED(refusal(lines, {open}), "cannot be moved");
  lines = {line(1, 0, 10, R"(["w","x",1],["w","z",1])"),
           line(2, 0, 10, R"(["w","x",2],["w","z",2])")};
  EXPECT_REFUSED(refusal(lines, {open}), "cannot be moved");
  lines = {writers[0], writers[1], line(3, 0, 10, R"(["r","x",2])")};
  Segment seen{{1, 2, 3}};
  seen.rivals = {{1, 2}};
  EXPECT_REFUSED(refusal(lines, {seen}), "or read since");
  // s1 is before s3, which overwrote what it read: x = 1 and y = 1 exclude each other.
  lines = {line(1, 0, 10, R"(["r","z",null],["w","x",1])"),
           line(2, 0, 10, R"(["w","x",2],["w","y",1])"),
           line(3, 0, 10, R"(["w","z",1],["w","y",2])")};
  Segment both{{1, 2, 3}};
  both.rivals = {{1, 2}, {2, 3}};
  EXPECT_REFUSED(refusal(lines, {both}), "used in another");
}

TEST(ChainVerifier, KnowsWhereAnEffectStandsThatIsSeenLater) {
  const std::vector<std::string> lines = {
      line(1, 0, 10, R"(["w","y",1])"), line(2, 0, 10, R"(["r","y",1],["w","x",5])", "unknown"),
      line(1, 20, 30, R"(["w","y",2])"), line(3, 40, 50, R"(["r","x",5])")};
  Segment told{{1, 3}};
  told.late = {{2, 1}};
  Segment took{{4}};
  took.took_effect = {2};
  EXPECT_EQ(refusal(lines, {told, took}), "");
  EXPECT_REFUSED(refusal(lines, {{{1, 3}}, took}), "has no place");
  EXPECT_REFUSED(refusal(lines, {told, {{4}}}), "its read of x");
  // What it saw is gone.
  told.late = {{2, 3}};
  EXPECT_REFUSED(refusal(lines, {told, took}), "its read of y");
  told.late = {{2, 4}};
  EXPECT_REFUSED(refusal(lines, {told, took}), "which it does not contain");
  // Somebody has looked at what it wrote, and it was not there.
  std::vector<std::string> looked = lines;
  looked[2] = line(1, 20, 30, R"(["w","y",2],["r","x",null])");
  told.late = {{2, 1}};
  EXPECT_REFUSED(refusal(looked, {told, took}), "has no place");
  // The one before it in its session is not over.
  std::vector<std::string> session = lines;
  session[1] = line(3, 0, 10, R"(["w","v",1])");
  session.push_back(line(3, 60, 70, R"(["w","x",6])", "unknown"));
  Segment early{{1, 3}};
  early.late = {{5, 1}};
  EXPECT_REFUSED(refusal(session, {early, {{2, 4}}}), "its session did line 2");
}

// s2 wrote x and y, and waits; s1 overwrites x without a look.
TEST(ChainVerifier, WhoOverwritesWithoutALookLeavesTheRest) {
  const std::vector<std::string> lines = {
      line(1, 0, 10, R"(["w","v",1])"), line(2, 0, 10, R"(["w","x",5],["w","y",6])", "unknown"),
      line(1, 20, 30, R"(["w","x",1])"), line(3, 40, 50, R"(["r","y",6],["r","x",1])")};
  Segment told{{1}};
  told.late = {{2, 1}};
  Segment took{{4}};
  took.took_effect = {2};
  EXPECT_EQ(refusal(lines, {told, {{3}}, took}), "");
  // x is 1 by then.
  std::vector<std::string> other = lines;
  other[3] = line(3, 40, 50, R"(["r","y",6],["r","x",5])");
  EXPECT_REFUSED(refusal(other, {told, {{3}}, took}), "its read of x");
  other[2] = line(1, 20, 30, R"(["r","x",null],["w","x",1])");
  EXPECT_REFUSED(refusal(other, {told, {{3}}, took}), "has no place");
  other[2] = line(1, 20, 30, R"(["w","x",1],["w","y",2])");
  EXPECT_REFUSED(refusal(other, {told, {{3}}, took}), "has no place");
}

// s2 and s4 both wrote x, and wait.
TEST(ChainVerifier, SeveralMayWaitWithWritesOfOneKey) {
  const auto lines = [](const std::string& reads) {
    return std::vector<std::string>{
        line(1, 0, 10, R"(["w","v",1])"), line(2, 0, 10, R"(["w","x",5],["w","y",6])", "unknown"),
        line(4, 0, 10, R"(["w","x",7],["w","z",8])", "unknown"), line(3, 40, 50, reads)};
  };
  Segment told{{1}};
  told.late = {{2, 1}, {3, 1}};
  const auto took = [](std::vector<uint64_t> who) {
    Segment s{{4}};
    s.took_effect = std::move(who);
    return s;
  };
  EXPECT_EQ(refusal(lines(R"(["r","x",5])"), {told, took({2})}), "");
  EXPECT_EQ(refusal(lines(R"(["r","x",7],["r","z",8])"), {told, took({3})}), "");
  // In the order of their places, whatever is told first.
  for (const std::vector<uint64_t>& both : {std::vector<uint64_t>{2, 3}, {3, 2}}) {
    EXPECT_EQ(refusal(lines(R"(["r","x",7],["r","y",6])"), {told, took(both)}), "");
    EXPECT_REFUSED(refusal(lines(R"(["r","x",5],["r","z",8])"), {told, took(both)}),
                   "its read of x");
  }
  // Who saw x without the first one's write ends that, where he stands behind it.
  std::vector<std::string> saw = lines(R"(["r","z",8])");
  saw[2] = line(4, 0, 10, R"(["r","x",null],["w","z",8])", "unknown");
  EXPECT_EQ(refusal(saw, {told, took({3})}), "");
  EXPECT_REFUSED(refusal(saw, {told, took({2, 3})}), "has no place");
}

// s1 ended before s3 began, who is of unknown outcome and stands between s1 and s2.
TEST(ChainVerifier, WhoeverMayBeMovedPassesNobodyWhoHasToComeLater) {
  const std::vector<std::string> lines = {
      line(1, 0, 10, R"(["w","x",1])"), line(2, 0, 40, R"(["w","x",2])"),
      line(3, 20, 30, R"(["w","z",1])", "unknown"), line(4, 50, 60, R"(["r","x",1],["r","z",1])")};
  Segment both{{1, 2}};
  both.rivals = {{1, 2}};
  both.late = {{3, 1}};
  Segment took{{4}};
  took.took_effect = {3};
  EXPECT_REFUSED(refusal(lines, {both, took}), "may take effect in between");
  both.late = {{3, 2}};
  EXPECT_EQ(refusal(lines, {both, took}), "");
}

TEST(ChainReader, TheLinesHangTogether) {
  ChainWriter writer(LevelId::strict_serializable);
  std::vector<std::string> lines;
  for (std::string text : {writer.header(), writer.segment({{1, 2}}), writer.end(2)}) {
    text.pop_back();
    lines.push_back(text);
  }
  const auto read = [](const std::vector<std::string>& all) {
    ChainReader reader;
    if (!reader.header(all[0]).ok()) return false;
    for (size_t i = 1; i < all.size(); ++i)
      if (!reader.next(all[i]).ok()) return false;
    return true;
  };
  EXPECT_TRUE(read(lines));
  EXPECT_FALSE(read({lines[0], lines[2]}));
  std::vector<std::string> changed = lines;
  changed[1].replace(changed[1].find("[1,2]"), 5, "[2,1]");
  EXPECT_FALSE(read(changed));
  changed = lines;
  changed[0].replace(changed[0].find("strict-serializable"), 19, "linearizable");
  EXPECT_FALSE(read(changed));
  for (const char* bad :
       {"", "{}", R"({"segment":1})", R"({"segment":1,"previous":"","order":[0]})",
        R"({"segment":-1,"previous":"","order":[]})"})
    EXPECT_FALSE(read({lines[0], bad})) << bad;
}

TEST(LineNumbers, GoOnWhereTheNumberOfAHistoryGoesRound) {
  LineNumbers lines;
  EXPECT_EQ(lines.of(4'000'000'000), 4'000'000'000u);
  EXPECT_EQ(lines.of(5), (uint64_t{1} << 32) + 5);
  EXPECT_EQ(lines.of(4'294'967'290), 4'294'967'290u);
}

}  // namespace
}  // namespace assay::internal::certify
