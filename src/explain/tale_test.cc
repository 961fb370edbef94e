#include "explain/tale.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

std::string in_brackets(std::string_view word) {
  if (word == "never") ADD_FAILURE() << "a word of a row that does not apply";
  return "<" + std::string(word) + ">";
}

TEST(Tale, TheFirstRowThatAppliesIsTold) {
  const Tale tales[] = {{Anomaly::g0, true, "{never}"},
                        {Anomaly::g1c, false, "{never}"},
                        {Anomaly::g1c, true, "{a} saw {b c}.\nAnd {a}"},
                        {Anomaly::none, true, "none"}};
  EXPECT_EQ(told_by(tales, Anomaly::g1c, in_brackets),
            (std::vector<std::string>{"<a> saw <b c>.", "And <a>"}));
  EXPECT_EQ(told_by(tales, Anomaly::g2, in_brackets), std::vector<std::string>{"none"});
  EXPECT_TRUE(told_by({tales, 2}, Anomaly::g1c, in_brackets).empty());
}

}  // namespace
}  // namespace assay::internal
