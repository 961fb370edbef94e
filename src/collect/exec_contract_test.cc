#include "collect/exec_contract.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "places.h"

namespace assay::internal::collect {
namespace {

// Only a program that hangs takes minutes; and a check that is about waiting for too long takes the
// seconds.
constexpr int kContractMinutes = 600'000;
constexpr int kContractSeconds = 5'000;

ContractOptions contract_at(const std::string& url, int milliseconds = kContractMinutes) {
  ContractOptions options;
  options.url = url;
  options.timeout = std::chrono::milliseconds(milliseconds);
  return options;
}

class ExecContract : public testing::Test {
 protected:
  void SetUp() override {
    if (system("command -v python3 >/dev/null") != 0) GTEST_SKIP() << "no python3 here";
    folder_ = testing::TempDir() + "assay-contract-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  // What each check came to, in their order, up to the first that is not kept.
  std::vector<ContractResult> results(const std::string& url, int milliseconds = kContractMinutes) {
    std::vector<ContractResult> all;
    const Status tried =
        check_exec_contract(contract_at(url, milliseconds), [&](const ContractResult& result) {
          all.push_back(result);
          return result.kept != Kept::no;
        });
    EXPECT_TRUE(tried.ok()) << tried.error().to_string();
    return all;
  }
  std::string program() const {
    return std::string("exec python3 -SE ") + places::kSource + "/tests/exec/faulty.py '" +
           folder_ + "'";
  }
  // One process for all sessions.
  std::string faulty(std::string_view fault) const {
    const std::string path = folder_ + "/socket";
    return "exec+unix:" + path + " " + program() + " '" + std::string(fault) + "' '" + path + "'";
  }
  std::string folder_;
};

void expect_kept(const std::vector<ContractResult>& results,
                 const std::map<std::string_view, std::string_view>& skipped) {
  EXPECT_EQ(results.size(), contract_checks().size());
  for (const ContractResult& result : results) {
    const auto it = skipped.find(result.name);
    EXPECT_EQ(result.kept, it == skipped.end() ? Kept::yes : Kept::skipped)
        << result.name << ": " << result.why;
    if (it != skipped.end()) {
      EXPECT_EQ(result.why, it->second);
    }
  }
}

TEST_F(ExecContract, IsKeptWhereNothingIsWrong) {
  expect_kept(results("exec:" + program()), {});
  expect_kept(results(faulty("")), {});
}

TEST_F(ExecContract, IsKeptByTheExamples) {
  const std::string drivers = std::string(places::kSource) + "/examples/drivers/";
  expect_kept(
      results("exec:python3 '" + drivers + "sqlite.py' '" + folder_ + "/x.db'", kContractSeconds),
      {{"batch", "hello does not name it"}});
  expect_kept(
      results("exec:'" + drivers + "files.sh' '" + folder_ + "/files'", kContractSeconds),
      {{"batch", "hello does not name it"}, {"operations", "it names no kinds except r and w"}});
}

TEST_F(ExecContract, AProgramThatDoesNotSayHelloIsBadInput) {
  const Status tried = check_exec_contract(contract_at("exec:exit 0"), [](const ContractResult&) {
    ADD_FAILURE();
    return true;
  });
  ASSERT_FALSE(tried.ok());
  EXPECT_EQ(tried.error().kind, ErrorKind::bad_input);
}

class ExecFault : public ExecContract, public testing::WithParamInterface<ContractCheck> {};

TEST_P(ExecFault, FailsAtItsCheckAndNotBefore) {
  const std::string_view name = GetParam().name;
  const bool waits = name == "wait" || name == "end-of-input";
  const auto all = results(faulty(name), waits ? kContractSeconds : kContractMinutes);
  for (const ContractResult& result : all) EXPECT_NE(result.kept, Kept::skipped) << result.name;
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back().kept, Kept::no) << "the fault was not seen";
  EXPECT_EQ(all.back().name, GetParam().name) << all.back().why;
  EXPECT_NE(all.back().why.find("expected "), std::string::npos) << all.back().why;
}

INSTANTIATE_TEST_SUITE_P(Each, ExecFault,
                         testing::ValuesIn(contract_checks().begin(), contract_checks().end()),
                         [](const auto& param) {
                           std::string name(param.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace assay::internal::collect
