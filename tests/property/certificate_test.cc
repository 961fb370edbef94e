// Whatever a certificate says, once the verifier accepts it, it is true.
//
// The oracle judges small random histories. The certificates are those that the checker gives, the
// same changed at random, as data and as text, and others made up from nothing: orders that are any
// permutation, refutations whose edges are any edges.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/verify.h"
#include "base/rng.h"
#include "cases.h"
#include "certificate_edits.h"
#include "levels/walk.h"
#include "made_up_certificates.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

int random_cases(int usual) { return static_cast<int>(scaled(static_cast<uint64_t>(usual), 200)); }

struct Judged {
  History history;
  Draft draft;
  std::array<Outcome, kLevelCount> truth;
};

std::optional<Judged> random_case(Rng& rng) {
  RandomShape shape;
  shape.rich = 0.25;
  shape.predicates = 0.3;
  shape.aggregates = 0.5;
  shape.duplicates = 0.4;
  Draft draft = random_draft(rng, shape);
  Result<History> history = draft.history();
  if (!history.ok() || history->op_count() == 0) return std::nullopt;
  const auto truth = oracle::decide_all(*history, all_levels());
  return Judged{std::move(*history), std::move(draft), truth};
}

// A level for which the certificate says the opposite of the oracle.
std::string lie(const Certificate& c, const Judged& judged) {
  for (LevelId level : c.levels) {
    const Outcome truth = judged.truth[static_cast<size_t>(level)];
    if (truth == Outcome::unknown || truth == c.outcome()) continue;
    const CertificateFile file{judged.history.content_hash(), {c}};
    return std::string(level_info(level).name) + " is " + std::string(outcome_name(truth)) + "\n" +
           judged.draft.text() + write_certificates(file, judged.history);
  }
  return {};
}

// Verifies the certificate level by level, so that one refusal does not hide another acceptance.
int accepted_levels(const Certificate& c, const Judged& judged) {
  int accepted = 0;
  Certificate one = c;
  for (LevelId level : c.levels) {
    one.levels = {level};
    if (!verify(one, judged.history).ok()) continue;
    ++accepted;
    EXPECT_EQ(lie(one, judged), "");
  }
  return accepted;
}

TEST(Certificates, OfTheCheckerSurviveTheFile) {
  Rng rng(rotated(11));
  std::map<Certificate::Kind, int> kinds;
  const int cases = random_cases(1500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    CertificateFile file{judged->history.content_hash(),
                         decide_levels(judged->history, {}).certificates};
    const std::string text = write_certificates(file, judged->history);
    const Result<CertificateFile> back = read_certificates(text, judged->history, "test");
    ASSERT_TRUE(back.ok()) << back.error().to_string() << "\n" << text;
    ASSERT_EQ(write_certificates(*back, judged->history), text);
    for (size_t c = 0; c < file.certificates.size(); ++c) {
      ++kinds[file.certificates[c].kind];
      ASSERT_EQ(verify(back->certificates[c], judged->history).ok(),
                verify(file.certificates[c], judged->history).ok());
    }
  }
  for (const auto kind :
       {Certificate::Kind::order, Certificate::Kind::bad_read, Certificate::Kind::proof})
    EXPECT_GT(kinds[kind], cases / 15);
}

TEST(Certificates, ChangedAtRandomAreRefusedOrTrue) {
  Rng rng(rotated(12));
  int edits = 0, accepted = 0;
  const int cases = random_cases(2500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    for (const Certificate& original : decide_levels(judged->history, {}).certificates) {
      for (int e = 0; e < 12; ++e) {
        Certificate changed = original;
        for (uint64_t times = 1 + rng.below(3); times > 0; --times)
          edit(rng, judged->history, changed);
        if (rng.chance(0.5)) changed.levels = every_level();
        ++edits;
        accepted += accepted_levels(changed, *judged) > 0;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(edits, 12 * cases);
  EXPECT_GT(accepted, edits / 100);
  EXPECT_LT(accepted, edits / 2);
}

TEST(Certificates, ChangedAsTextAreRefusedOrTrue) {
  Rng rng(rotated(13));
  int edits = 0, read = 0, accepted = 0;
  const int cases = random_cases(1000);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    const CertificateFile file{judged->history.content_hash(),
                               decide_levels(judged->history, {}).certificates};
    const std::string text = write_certificates(file, judged->history);
    for (int e = 0; e < 12; ++e) {
      const auto changed = read_certificates(edit_text(rng, text), judged->history, "test");
      ++edits;
      if (!changed.ok()) continue;
      ++read;
      for (const Certificate& c : changed->certificates)
        accepted += accepted_levels(c, *judged) > 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(edits, 5 * cases);
  EXPECT_GT(read, cases);
  EXPECT_GT(accepted, cases);
}

TEST(Certificates, OfOtherHistoriesAreRefusedOrTrue) {
  Rng rng(rotated(14));
  std::vector<Certificate> previous;
  int accepted = 0;
  const int cases = random_cases(2000);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    for (Certificate& c : previous) {
      c.levels = every_level();
      accepted += accepted_levels(c, *judged) > 0;
    }
    if (HasFailure()) return;
    previous = decide_levels(judged->history, {}).certificates;
  }
  EXPECT_GT(accepted, 0);
}

TEST(Certificates, AnyOrderIsRefusedOrTrue) {
  Rng rng(rotated(15));
  int accepted = 0;
  const int cases = random_cases(2000);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    for (int k = 0; k < 20; ++k)
      accepted += accepted_levels(any_order(rng, judged->history), *judged) > 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, cases / 2);
}

TEST(Certificates, AnyRefutationIsRefusedOrTrue) {
  Rng rng(rotated(16));
  int accepted = 0;
  const int cases = random_cases(1500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged || judged->history.txn_count() < 2) continue;
    for (const Certificate& made : any_refutations(rng, judged->history, 240))
      accepted += accepted_levels(made, *judged) > 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, cases / 8);
}

TEST(Certificates, AnyBadReadIsRefusedOrTrue) {
  Rng rng(rotated(17));
  int accepted = 0;
  const int cases = random_cases(1500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    const History& h = judged->history;
    Certificate c;
    c.kind = Certificate::Kind::bad_read;
    c.levels = every_level();
    for (c.bad_read.read = 0; c.bad_read.read < h.op_count(); ++c.bad_read.read) {
      // Most histories have no bad read at all.
      const bool bad =
          judged->truth[static_cast<size_t>(LevelId::read_committed)] == Outcome::violated;
      for (int k = bad ? 30 : 2; k > 0; --k) {
        c.bad_read.anomaly = static_cast<Anomaly>(1 + rng.below(7));
        c.bad_read.other = rng.chance(0.2) ? kNone : below(rng, h.op_count());
        accepted += accepted_levels(c, *judged) > 0;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, cases / 30);
}

}  // namespace
}  // namespace assay::internal
