#include "history/mini_transactions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::make_history;
using sample::SampleOp;

std::vector<SampleOp> operations(const std::string& shape) {
  std::vector<SampleOp> ops;
  for (size_t i = 0; i < shape.size(); i += 2) {
    const std::string key(1, shape[i + 1]);
    const auto value = static_cast<int64_t>(i);
    ops.push_back(shape[i] == 'r' ? sample::r(key, sample::kNull) : sample::w(key, value));
  }
  return ops;
}

std::string shape_of(const std::string& letters) {
  return std::string(mini_shape(make_history({{1, operations(letters)}}), 0));
}

// All transactions of at most four operations on at most three keys: exactly those are
// mini-transactions that the definition says, and their shapes are the twenty.
TEST(MiniTransactions, AreWhatTheDefinitionSays) {
  std::set<std::string> found;
  std::vector<std::string> all = {""};
  for (size_t at = 0; at < all.size(); ++at) {
    const std::string letters = all[at];
    if (letters.size() < 8) {
      for (const char kind : {'r', 'w'})
        for (const char key : {'x', 'y', 'z'}) all.push_back(letters + kind + key);
    }
    int reads = 0, writes = 0;
    std::set<char> read, keys;
    bool each_after_its_read = true;
    for (size_t i = 0; i < letters.size(); i += 2) {
      keys.insert(letters[i + 1]);
      if (letters[i] == 'r') {
        ++reads;
        read.insert(letters[i + 1]);
      } else {
        ++writes;
        each_after_its_read &= read.contains(letters[i + 1]);
      }
    }
    const bool mini = reads >= 1 && reads <= 2 && writes <= 2 && each_after_its_read;
    const std::string shape = letters.empty() ? "" : shape_of(letters);
    EXPECT_EQ(!shape.empty(), mini) << letters;
    if (mini) found.insert(shape);
  }
  EXPECT_EQ(found.size(), 20u);
  EXPECT_EQ(mini_shapes().size(), 20u);
}

TEST(MiniTransactions, HaveNoOtherOperations) {
  EXPECT_EQ(mini_shape(make_history({{1, {sample::ins("x", 1, true)}}}), 0), "");
  EXPECT_EQ(mini_shape(make_history({{1, {}}}), 0), "");
}

}  // namespace
}  // namespace assay::internal
