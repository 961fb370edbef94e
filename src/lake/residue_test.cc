#include "lake/residue.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace assay::internal::lake {
namespace {

using formats::Fact;

Value number(int64_t v) { return {ValueView::Type::integer, v, {}}; }

// A row about x, of a transaction that is alone in its session.
Fact fact(const std::string& txn, int64_t at, int64_t window_from, int64_t window_to) {
  Fact f;
  f.txn = txn;
  f.session = {ValueView::Type::string, 0, "of " + txn};
  f.serial_at = at;
  f.item = {ValueView::Type::string, 0, "x"};
  f.window_from = window_from;
  f.window_to = window_to;
  return f;
}
Fact reads(Fact f, int64_t seen) {
  f.reads = true;
  f.seen = number(seen);
  return f;
}
Fact writes(Fact f, int64_t written) {
  f.writes = true;
  f.written = number(written);
  return f;
}

Residue decided(std::vector<Fact> facts) {
  ResidueOptions options;
  options.check.levels = {LevelId::serializable};
  std::vector<uint64_t> lines(facts.size(), 1);
  Result<Residue> residue = decide_residue(std::move(facts), std::move(lines), "rows", options);
  EXPECT_TRUE(residue.ok());
  return residue.ok() ? std::move(*residue) : Residue{};
}

const Placed* find(const Residue& residue, const std::string& txn) {
  for (const Placed& p : residue.placed)
    if (p.txn == txn) return &p;
  return nullptr;
}

// Two events need two places.
TEST(LakeResidue, AWindowHoldsWhatItHasPlacesFor) {
  const auto swapped = [](int64_t from, int64_t to) {
    return std::vector<Fact>{reads(fact("r", from, from, to), 5),
                             writes(fact("w", to, from, to), 5)};
  };
  const Residue fits = decided(swapped(10, 11));
  EXPECT_TRUE(fits.stuck.empty());
  ASSERT_TRUE(find(fits, "r") && find(fits, "w"));
  EXPECT_EQ(find(fits, "w")->serial_at, 10);
  EXPECT_EQ(find(fits, "r")->serial_at, 11);
  const Residue full = decided(swapped(10, 10));
  ASSERT_EQ(full.stuck.size(), 1u);
  EXPECT_NE(full.stuck[0].find("it has no room"), std::string::npos) << full.stuck[0];
}

// Who stands at its last place is in the window, and who stands behind that only asks how it ends.
TEST(LakeResidue, AWindowReachesToItsLastPlace) {
  const auto reader_at = [](int64_t at) {
    return decided({writes(fact("w", 10, 10, 30), 5), reads(fact("r", at, 10, 30), 5)});
  };
  EXPECT_NE(find(reader_at(30), "r"), nullptr);
  EXPECT_EQ(find(reader_at(31), "r"), nullptr);
  EXPECT_TRUE(reader_at(31).stuck.empty());
}

// Where a window is stuck, the projection of the history to the windows decides. What somebody
// outside may have written is no fault of theirs.
TEST(LakeResidue, TheProjectionLacksWhatSomebodyOutsideMayHaveWritten) {
  const auto stuck = [](bool outside) {
    Fact r = reads(fact("r", 10, 10, 10), 7);
    r.explained_outside = outside;
    return decided({r, writes(fact("w", 10, 10, 10), 5)});
  };
  ASSERT_EQ(stuck(false).stuck.size(), 1u);
  EXPECT_EQ(stuck(false).projection.result.verdicts.at(0).outcome, Outcome::violated);
  EXPECT_NE(stuck(true).projection.result.verdicts.at(0).outcome, Outcome::violated);
}

}  // namespace
}  // namespace assay::internal::lake
