#include "oracle/random_condition.h"

#include <algorithm>
#include <iterator>

namespace assay::internal {
namespace {

constexpr int kDeepest = 3;

class Drawing {
 public:
  Drawing(Rng& rng, const ConditionShape& shape) : rng_(rng), shape_(shape) {}

  std::string condition(int depth) {
    if (depth == kDeepest || rng_.chance(0.5)) return comparison();
    switch (rng_.below(5)) {
      case 0:
      case 1:
        return joined(" and ", depth);
      case 2:
      case 3:
        return joined(" or ", depth);
      default:
        return "not (" + condition(depth + 1) + ")";
    }
  }

 private:
  std::string joined(const char* word, int depth) {
    std::string text = "(" + condition(depth + 1) + ")";
    for (uint64_t more = 1 + rng_.below(2); more > 0; --more)
      text += word + ("(" + condition(depth + 1) + ")");
    return text;
  }

  std::string comparison() {
    constexpr const char* kOperators[] = {" = ", " != ", " <> ", " < ", " <= ", " > ", " >= "};
    const std::string column = shape_.columns[rng_.below(shape_.columns.size())];
    const std::string maybe_not = rng_.chance(0.3) ? " not" : "";
    switch (rng_.below(8)) {
      case 0:
        return column + " is" + maybe_not + " null";
      case 1:
        return column + maybe_not + " between " + constant() + " and " + constant();
      case 2:
        return column + maybe_not + " in (" + constants() + ")";
      case 3:
      case 4:
        return column + maybe_not + " like '" + random_pattern(rng_, plain(shape_.constant())) +
               "'";
      default:
        return column + kOperators[rng_.below(std::size(kOperators))] + constant();
    }
  }

  std::string constant() { return rng_.chance(0.08) ? "null" : shape_.constant(); }
  std::string constants() {
    std::string text = constant();
    for (uint64_t more = rng_.below(3); more > 0; --more) text += ", " + constant();
    return text;
  }

  // Returns the text between quotes, or the digits of a number.
  static std::string plain(std::string text) {
    std::erase(text, '\'');
    return text;
  }

  Rng& rng_;
  const ConditionShape& shape_;
};

}  // namespace

std::string random_condition(Rng& rng, const ConditionShape& shape) {
  return Drawing(rng, shape).condition(0);
}

std::string random_pattern(Rng& rng, std::string text) {
  for (char& c : text)
    if (rng.chance(0.2)) c = '_';
  for (uint64_t stretches = rng.below(3); stretches > 0; --stretches) {
    const size_t at = rng.below(text.size() + 1);
    text.replace(at, std::min<size_t>(rng.below(3), text.size() - at), "%");
  }
  return text;
}

}  // namespace assay::internal
