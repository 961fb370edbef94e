#include "record/history_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "assay/format.h"
#include "formats/temporary_folder.h"
#include "record/joined_history.h"

namespace assay::internal::record {
namespace {

// Two rows, of which one is deleted, put back, and deleted; and a read of a version of another.
constexpr const char* kTrace =
    R"x({"trace":1,"bound":100,"meta":{"tool":"x"}}
{"table":"t","oid":1,"logged":"public.t","key":["id"]}
{"row":"t","key":["1"],"xmin":90,"is":{"id":1,"v":10}}
{"q":1,"kind":"select","sql":"SELECT","reads":true,"from":[["t",3]],"where":["\"v\" = 5"]}
{"log":"BEGIN 101"}
{"log":"table public.t: UPDATE: id[integer]:1 v[integer]:5"}
{"log":"table public.t: DELETE: id[integer]:2"}
{"log":"table public.t: INSERT: id[integer]:2 v[integer]:7"}
{"log":"table public.t: DELETE: id[integer]:2"}
{"log":"COMMIT 101"}
{"s":1,"q":1,"t":[20,21],"tag":"SELECT 1","rows":["(1,101,1)"],"p":[]}
{"s":1,"idle":22}
{"end":30}
)x";

std::string as_hist(const History& history) {
  std::string text;
  EXPECT_TRUE(write_history_text(history, "hist", text).ok());
  return text;
}

TEST(HistoryFile, HoldsWhatAHistoryInMemoryDoes) {
  const formats::TemporaryFolder folder;
  const std::string path = folder.path("app.jsonl");
  auto input = formats::Input::memory(kTrace, "x", nullptr);
  const auto written = join_to_file(*input, path);
  ASSERT_TRUE(written.ok()) << written.error().to_string();
  const auto read = read_history(path, {});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  auto again = formats::Input::memory(kTrace, "x", nullptr);
  const auto joined = join_in_memory(*again);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(as_hist(read->history), as_hist(joined->history));
  EXPECT_EQ(read->history.meta(), joined->history.meta());
  EXPECT_EQ(read->history.orders_complete_to(), 30);
  // The file without a name is gone.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(HistoryFile, WhereNoneCanBe) {
  auto input = formats::Input::memory(kTrace, "x", nullptr);
  const auto joined = join_to_file(*input, "/nonexistent/app.jsonl");
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().kind, ErrorKind::io);
}

}  // namespace
}  // namespace assay::internal::record
