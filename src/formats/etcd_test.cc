#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

constexpr std::string_view kOperations =
    R"({"ClientId":1,"Input":{"Type":"txn","Txn":{"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"k","Value":{"Value":"7"}}}]}},"Call":10,"Output":{"Txn":{"Results":[{}]},"Revision":2},"Return":20}
{"ClientId":2,"Input":{"Type":"range","Range":{"Start":"k"}},"Call":30,"Output":{"Range":{"KVs":[{"Key":"k","Value":{"Value":"7"},"ModRevision":2}],"Count":1},"Revision":2},"Return":40}
{"ClientId":2,"Input":{"Type":"txn","Txn":{"Conditions":[{"Key":"k","ExpectedRevision":2}],"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"k","Value":{"Hash":99}}},{"Type":"delete-operation","Delete":{"Key":"j"}}]}},"Call":50,"Output":{"Txn":{"Results":[{},{"Deleted":0}]},"Revision":3},"Return":60}
{"ClientId":1,"Input":{"Type":"txn","Txn":{"Conditions":[{"Key":"k","ExpectedRevision":3}],"OperationsOnSuccess":[{"Type":"delete-operation","Delete":{"Key":"k"}}],"OperationsOnFailure":[{"Type":"range-operation","Range":{"Start":"k"}}]}},"Call":70,"Output":{"Error":"timeout"},"Return":80}
{"ClientId":2,"Input":{"Type":"range","Range":{"Start":"a","End":"z"}},"Call":90,"Output":{"Range":{"KVs":[{"Key":"k","Value":{"Hash":99},"ModRevision":3}],"Count":1},"Revision":3},"Return":95}
{"ClientId":2,"Input":{"Type":"defragment"},"Call":96,"Output":{"Revision":0},"Return":97}
)";

// Reads, writes and conditions, an answer that never came, a range without its end, and revisions
// as an order of versions.
TEST(Etcd, OperationsWithRevisions) {
  formats::expect_same_history(
      "etcd", kOperations,
      "1: 1-0@[10~20,10~20] { w(k,\"7\") }\n"
      "2: 2-0@[30~40,30~40] { r(k,\"7\") } 2-1@[50~60,50~60] { r(k,\"7\") w(k,99) r(j,null) }\n"
      "1: 1-1@[70~_,_] { d(k,\"deleted by 1-1\") }?\n"
      "2: 2-2@[90~95,90~95] { range(j..k,[k=99]) }\n"
      "order k: 1-0=\"7\" 2-1=99\n");
  auto found = read_history_text(kOperations, "f");
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(found->format, "etcd");
  ASSERT_EQ(found->notes.size(), 1u);
}

TEST(Etcd, RefusesWhatItCannotTell) {
  const auto refuse = [](const std::string& input, const std::string& output, uint64_t column,
                         const std::string& part) {
    formats::expect_bad_input("etcd",
                              "{\"ClientId\":1,\"Input\":" + input +
                                  ",\"Call\":1,\"Output\":" + output + ",\"Return\":2}",
                              1, column, part);
  };
  const auto txn = [](const std::string& operations) {
    return "{\"Type\":\"txn\",\"Txn\":{" + operations + "}}";
  };
  refuse(txn(R"("OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"k","LeaseID":5}}])"),
         R"({"Txn":{"Results":[{}]},"Revision":2})", 43, "puts without leases");
  refuse(txn(R"("Conditions":[{"Key":"k"}],"OperationsOnFailure":[{"Type":"delete-operation"}])"),
         R"({"Error":"timeout"})", 93, "either part may have written");
  refuse(txn(R"("OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"k"}}])"),
         R"({"Txn":{},"Revision":2})", 138, "a result for each operation");
  refuse(R"({"Type":"txn"})", R"({"Revision":2})", 23, "an object");
  refuse("{}", "{}", 23, "the type of a request");
  formats::expect_bad_input("etcd", R"({"ClientId":1,"Input":{},"Output":{},"Call":"x"})", 1, 45,
                            "a time in nanoseconds");
  formats::expect_bad_input("etcd", R"({"ClientId":1})", 1, 1, "an operation with ClientId");
}

}  // namespace
}  // namespace assay::internal
