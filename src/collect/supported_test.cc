#include "collect/supported.h"

#include <gtest/gtest.h>

#include <string>

#include "collect/workloads/registry.h"

namespace assay::internal::collect {
namespace {

// A program that says that it can do these kinds.
std::string program(const std::string& kinds) {
  return R"(exec:while read -r line; do echo '{"ok":true,"kinds":[)" + kinds + R"(]}'; done)";
}

std::string supported(const std::vector<std::string>& databases, WorkloadOptions options = {}) {
  const auto found = supported_workloads(databases, "", options);
  if (!found.ok()) return found.error().message;
  std::string names;
  for (const SupportedWorkload& workload : *found)
    names += std::string(workload.info->name) + (workload.with_tombstones ? "* " : " ");
  return names;
}

bool removes(const WorkloadInfo& info) {
  return info.name.starts_with("v-range") || info.name == "tpcc";
}

TEST(SupportedWorkloads, AreAllWhereTheDriverLacksNothing) {
  const auto found = supported_workloads({"simulated:serializable"}, "", {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), kWorkloadCount);
  for (const SupportedWorkload& workload : *found)
    EXPECT_EQ(workload.with_tombstones, removes(*workload.info)) << workload.info->name;
}

TEST(SupportedWorkloads, NeedNothingThatADriverLacks) {
  EXPECT_EQ(supported({program(R"("append","list")")}), "list-append ");
  EXPECT_EQ(supported({program(R"("r","cas","insert")")}), "lwt ");
  EXPECT_EQ(supported({program(R"("r","w")")}),
            "general baseline mini increment write-skew long-fork bank blindw-rw blindw-rm rubis "
            "twitter ");
}

TEST(SupportedWorkloads, CanDeleteWithoutTombstonesWhereCompareAndSetIsMissing) {
  const std::string names = supported({program(R"("r","w","d","range","insert")")});
  EXPECT_NE(names.find("v-range-b "), std::string::npos) << names;
}

TEST(SupportedWorkloads, AreThoseOfEveryEndpoint) {
  EXPECT_EQ(supported({"simulated:serializable", program(R"("append","list")")}), "list-append ");
}

TEST(SupportedWorkloads, SayWhyThereAreNone) {
  EXPECT_NE(supported({program("")}).find("needs operations"), std::string::npos);
  EXPECT_NE(supported({"simulated:serializable"}, {.keys = 0}).find("at least one key"),
            std::string::npos);
  EXPECT_NE(supported({"martian:x"}).find("martian"), std::string::npos);
}

}  // namespace
}  // namespace assay::internal::collect
