#include "explain/sentence_table.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

std::string in_brackets(std::string_view word) {
  if (word == "never") ADD_FAILURE() << "a word of a row that does not apply";
  return "<" + std::string(word) + ">";
}

TEST(SentenceRow, TheFirstRowThatAppliesIsTold) {
  const SentenceRow rows[] = {{Anomaly::g0, true, "{never}"},
                              {Anomaly::g1c, false, "{never}"},
                              {Anomaly::g1c, true, "{a} saw {b c}.\nAnd {a}"},
                              {Anomaly::none, true, "none"}};
  EXPECT_EQ(sentences_for(rows, Anomaly::g1c, in_brackets),
            (std::vector<std::string>{"<a> saw <b c>.", "And <a>"}));
  EXPECT_EQ(sentences_for(rows, Anomaly::g2, in_brackets), std::vector<std::string>{"none"});
  EXPECT_TRUE(sentences_for({rows, 2}, Anomaly::g1c, in_brackets).empty());
}

}  // namespace
}  // namespace assay::internal
