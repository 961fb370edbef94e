#include "formats/time_order.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/rng.h"
#include "formats/temporary_folder.h"

namespace assay::internal::formats {
namespace {

std::string sorted(const std::string& text, uint64_t memory, const std::string& folder) {
  Result<Input> input = Input::memory(text, "test", nullptr);
  auto source = in_order_of_time(*input, {.memory = memory, .folder = folder});
  EXPECT_TRUE(source.ok()) << source.error().to_string();
  std::string all;
  for (;;) {
    char part[100];
    const auto n = (*source)->read(part, sizeof part);
    EXPECT_TRUE(n.ok());
    if (!n.ok() || *n == 0) return all;
    all.append(part, *n);
  }
}

TEST(TimeOrder, LinesStandByTheirBegins) {
  const std::string text =
      "{\"assay\":1}\n"
      "{\"session\":1,\"begin\":9}\n"
      "{\"session\":1,\"ops\":[]}\n"
      "{\"session\":\"a\",\"begin\":[3,4]}\n"
      "{\"event\":\"end\",\"session\":1}\n"
      "{\"session\":2,\"begin\":5}";
  const std::string expected =
      "{\"assay\":1}\n"
      "{\"session\":\"a\",\"begin\":[3,4]}\n"
      "{\"session\":2,\"begin\":5}\n"
      "{\"session\":1,\"begin\":9}\n"
      "{\"session\":1,\"ops\":[]}\n"
      "{\"event\":\"end\",\"session\":1}\n";
  const TemporaryFolder folder;
  EXPECT_EQ(sorted(text, uint64_t{1} << 20, folder.path()), expected);
  EXPECT_EQ(sorted(text, 1, folder.path()), expected);
}

TEST(TimeOrder, HoweverLittleMemoryThereIs) {
  Rng rng(1);
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "{\"session\":" + std::to_string(i) + ",\"begin\":" + std::to_string(rng.below(500)) +
            "}\n";
  const TemporaryFolder folder;
  const std::string all = sorted(text, uint64_t{1} << 30, folder.path());
  for (const uint64_t memory : {5'000, 20'000, 100'000})
    EXPECT_EQ(sorted(text, memory, folder.path()), all);
  EXPECT_EQ(all.size(), text.size());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TimeOrder, AFolderThatIsNotThereIsSaid) {
  Result<Input> input = Input::memory("{}\n{}\n{}\n", "test", nullptr);
  const auto source = in_order_of_time(*input, {.memory = 1, .folder = "/nowhere/at/all"});
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().to_string().find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace assay::internal::formats
