// What explanations state of operations holds in the history.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "cases.h"
#include "explain/explain.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"
#include "statements.h"

namespace assay::internal {
namespace {

std::vector<std::string> texts_of(const Explanation& e) {
  std::vector<std::string> texts = e.sentences;
  for (const Arrow& arrow : e.arrows) texts.push_back(arrow.because);
  for (const Case& a : e.cases)
    if (!a.then.empty()) texts.push_back(a.then);
  return texts;
}

TEST(TrueSentences, HoldInTheHistory) {
  const RandomShape shapes[] = {
      {},
      {.duplicates = 1},
      {.lists = 1},
      {.duplicates = 0.3, .lists = 1},
      {.rich = 1},
      {.duplicates = 0.1, .rich = 1},
      {.duplicates = 0.1, .rich = 1, .predicates = 0.6, .texts = 0},
      {.duplicates = 0.5, .list_key = 1, .rich = 1, .predicates = 0.4, .texts = 0},
      {.ordered = 1},
      {.max_txns = 9, .max_keys = 2, .timed = 1, .single_op = 1}};
  Rng rng(rotated(17));
  StatementCheck check;
  size_t explanations = 0;
  for (uint64_t i = 0; i < scaled(5'000, 300); ++i) {
    const Draft draft = random_draft(rng, shapes[i % std::size(shapes)]);
    const Result<History> history = draft.history();
    if (!history.ok()) continue;
    CheckOptions options;
    if (i % 3 == 0) options.levels = {all_levels()[rng.below(all_levels().size())].id};
    const CheckResult result = decide_levels(*history, options);
    for (const Explanation& e : explain(*history, result)) {
      ++explanations;
      check_statements(*history, texts_of(e), check);
      ASSERT_TRUE(check.wrong.empty()) << check.wrong[0] << "\n" << draft.text();
    }
  }
  RecordProperty("explanations", static_cast<int>(explanations));
  RecordProperty("statements", static_cast<int>(check.statements));
  EXPECT_GT(check.statements, 3 * explanations);
}

// The reader of sentences itself: it must refuse what is not so.
TEST(TrueSentences, FalseOnesAreFound) {
  Draft draft;
  draft.txns = {{.session = 1, .ops = {{.kind = OpKind::write, .key = 0, .value = 1}}},
                {.session = 2,
                 .ops = {{.kind = OpKind::read, .key = 0, .value = 1},
                         {.kind = OpKind::remove, .key = 1, .value = 9}}}};
  const Result<History> h = draft.history();
  ASSERT_TRUE(h.ok());
  const std::string a = h->name(0), b = h->name(1);
  const auto wrong = [&](const std::string& sentence) {
    StatementCheck check;
    check_statements(*h, {sentence}, check);
    return !check.wrong.empty();
  };
  EXPECT_FALSE(wrong(b + " read x = 1, which " + a + " wrote."));
  EXPECT_FALSE(wrong(b + " deleted y."));
  for (const std::string& sentence :
       {b + " read x = 2.", b + " read x = 1, the initial value.", a + " wrote x = 2.",
        a + " deleted y.", b + " read x = 1, which " + a + " overwrote with 3.",
        b + " read x = 1, to which " + a + " appended 1.", b + " follows " + a + " in session s2.",
        b + " read x backwards.", b + " found x absent.",
        a + " wrote x = 1 (" + a + " is before " + b + ": " + a + " → " + b + ")."})
    EXPECT_TRUE(wrong(sentence)) << sentence;
}

}  // namespace
}  // namespace assay::internal
