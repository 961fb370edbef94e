#include "certify/blocks.h"

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

// Transactions 0 to 2 append, 3 reads operation 3 and 4 operation 4.
constexpr std::string_view kLists =
    "s1: { a(l,1) }\n"
    "s2: { a(l,1) }\n"
    "s3: { a(l,2) }\n"
    "s4: { r(l,[1,2]) }\n"
    "s5: { r(l,[1]) }\n";
constexpr OpId kList = 3;

class BlocksTest : public ::testing::Test {
 protected:
  explicit BlocksTest(std::string_view text = kLists)
      : history_(hist(text)), lookups_(history_), counting_(lookups_), blocks_(lookups_.writes()) {}

  Literal at(TxnId writer, uint32_t element, OpId list = kList) const {
    return Literal::block(history_.txn_of(list), history_.op(list).key, list, writer, element);
  }
  bool holds(const ProofStep& step) { return blocks_.check(step, counting_).ok(); }

  History history_;
  Lookups lookups_;
  Counting counting_;
  Blocks blocks_;
};

TEST_F(BlocksTest, AnElementIsOfOneOfThoseWhoFit) {
  EXPECT_TRUE(holds(blocks(kList, {at(0, 0), at(1, 0)}, 0)));
  EXPECT_TRUE(holds(blocks(kList, {at(2, 1)}, 1)));
  EXPECT_FALSE(holds(blocks(kList, {at(0, 0)}, 0)));        // or transaction 1
  EXPECT_FALSE(holds(blocks(kList, {}, 1)));                // transaction 2
  EXPECT_FALSE(holds(blocks(kList, {at(2, 1)}, 2)));        // no such element
  EXPECT_FALSE(holds(blocks(0, {at(0, 0), at(1, 0)}, 0)));  // no list
  EXPECT_FALSE(holds(blocks(4, {at(0, 0), at(1, 0)}, 0)));  // another list
}

TEST_F(BlocksTest, ABlockIsSomewhere) {
  EXPECT_TRUE(holds(blocks(kList, {at(0, 0), at(0, 2)})));
  EXPECT_FALSE(holds(blocks(kList, {at(0, 0)})));  // or later
  EXPECT_FALSE(holds(blocks(kList, {at(0, 2)})));
  EXPECT_FALSE(holds(blocks(kList, {at(3, 2)})));  // appends nothing
}

TEST_F(BlocksTest, TwoBlocksExcludeOrFollowEachOther) {
  EXPECT_TRUE(holds(blocks(kList, {!at(0, 0), !at(1, 0)})));
  EXPECT_TRUE(holds(blocks(kList, {!at(0, 0), !at(0, 2)})));
  EXPECT_FALSE(holds(blocks(kList, {!at(0, 0), !at(2, 1)})));
  EXPECT_FALSE(holds(blocks(kList, {!at(0, 2), !at(1, 2)})));  // both may come later
  EXPECT_TRUE(holds(blocks(kList, {!at(0, 0), !at(2, 1), Literal::order(0, 2)})));
  EXPECT_TRUE(holds(blocks(kList, {!at(1, 2), !at(0, 0), Literal::order(0, 1)})));
  EXPECT_FALSE(holds(blocks(kList, {!at(0, 0), !at(2, 1), Literal::order(2, 0)})));
  EXPECT_FALSE(holds(blocks(kList, {!at(0, 2), !at(1, 2), Literal::order(0, 1)})));
  EXPECT_FALSE(holds(blocks(kList, {!at(0, 0), at(2, 1), Literal::order(0, 2)})));
}

TEST_F(BlocksTest, WhoAppendedTheLastElementWasRead) {
  EXPECT_TRUE(blocks_.ends(at(2, 1), kList));
  EXPECT_TRUE(blocks_.ends(at(0, 0), 4));
  EXPECT_FALSE(blocks_.ends(at(0, 0), kList));
  EXPECT_FALSE(blocks_.ends(at(2, 1), 4));
  EXPECT_FALSE(blocks_.ends(at(0, 2), kList));
}

class LongBlocksTest : public BlocksTest {
 protected:
  LongBlocksTest()
      : BlocksTest(
            "s1: { a(l,1) a(l,1) }\n"
            "s2: { a(l,1) }?\n"
            "s3: { r(l,[1]) a(l,2) }\n"
            "s4: { r(l,[1,1]) }\n") {}
  static constexpr OpId kWhole = 5, kPart = 3;
};

TEST_F(LongBlocksTest, AShorterListCutsNoBlock) {
  EXPECT_TRUE(holds(blocks(kPart, {!at(0, 0, kWhole)})));
  EXPECT_FALSE(holds(blocks(kWhole, {!at(0, 0, kWhole)})));
  EXPECT_FALSE(holds(blocks(kPart, {!at(1, 0, kWhole)})));
}

TEST_F(LongBlocksTest, WhoNeedNotHaveTakenEffectIsExcused) {
  EXPECT_FALSE(holds(blocks(kWhole, {at(1, 0, kWhole), at(1, 1, kWhole), at(1, 2, kWhole)})));
  EXPECT_TRUE(holds(
      blocks(kWhole, {at(1, 0, kWhole), at(1, 1, kWhole), at(1, 2, kWhole), !Literal::effect(1)})));
  EXPECT_TRUE(holds(blocks(kWhole, {!at(1, 0, kWhole), Literal::effect(1)})));
}

TEST_F(LongBlocksTest, ABlockFitsAsAWhole) {
  // Transaction 0 appends 1 twice, and the list shows it once.
  EXPECT_TRUE(holds(blocks(kPart, {at(1, 0, kPart)}, 0)));
}

TEST(BlocksInProofs, AListThatNobodyCanHaveMade) {
  const History h = hist("s1: { a(l,1) }\ns2: { a(l,2) }\ns3: { r(l,[1,1]) }\n");
  const Literal first = Literal::block(2, key(h, "l"), 2, 0, 0),
                second = Literal::block(2, key(h, "l"), 2, 0, 1);
  Certificate c;
  c.levels = levels("rc ser");
  c.kind = Certificate::Kind::proof;
  c.proof.steps = {blocks(2, {first}, 0), blocks(2, {second}, 1), blocks(2, {!first, !second}),
                   derived({}, {0, 1, 2})};
  EXPECT_TRUE(verifies(c, h));
  const std::string text = write_certificates({h.content_hash(), {c}}, h);
  const Result<CertificateFile> back = read_certificates(text, h, "c.json");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(back->certificates[0].proof.steps[2].clause, c.proof.steps[2].clause);
  EXPECT_TRUE(verifies(back->certificates[0], h));
  c.proof.steps[1] = c.proof.steps[0];
  EXPECT_TRUE(refused(c, h, "hint"));
}

}  // namespace
}  // namespace assay::internal::certify
