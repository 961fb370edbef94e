#include "formats/viper.h"

#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_same_history.h"
#include "formats/shared_data.h"
#include "formats/temporary_folder.h"

namespace assay::internal {
namespace {

void expect_viper_is(const History& a, std::string_view hist) {
  auto b = read_history_text(hist, "want", {"hist"});
  ASSERT_TRUE(b.ok()) << b.error().to_string();
  std::string text;
  ASSERT_TRUE(write_history_text(a, "hist", text).ok());
  EXPECT_EQ(a.content_hash(), b->history.content_hash()) << text;
}

TEST(Viper, EveryOperation) {
  formats::TemporaryFolder folder;
  folder.put("J3.log", R"({"value":[["w",1,10,true],["w",1,11,false],["r",2,"nil",false],["r",2,0]]}
{"value":[["i",5,50,"nil",false,true],["d",1,12,10,false,true],["i",1,13,12,true,false]]})");
  folder.put(
      "J20.log",
      R"({"preBeginTS":1,"postBeginTS":2,"preCommitTS":5,"postCommitTS":9,"value":[["range","nil",9,[{"id":5,"sk":5,"val":50}],[{"id":1,"val":12},{"id":2,"val":0}]],["range",1,"nil",[]]]})");
  folder.put("notes.txt", "");
  auto r = read_history(folder.path());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "viper");
  EXPECT_TRUE(r->notes.empty());
  expect_viper_is(
      r->history,
      "3: { w(1,10) r(2,null) r(2,null) } { w(1,11) }!\n"
      "3: { r(5,null) w(5,50) r(1,10) w(1,12) r(1,12) } { w(1,13) }!\n"
      "20: @[1000000~2000000,5000000~9000000] { range(..9,[5=50,1=12]) range(1..,[]) }\n");
}

// The same operations, as Viper's Jepsen logger and its other forms have them.
TEST(Viper, Edn) {
  formats::TemporaryFolder folder;
  folder.put("Jep3.log", R"({:value: [[:w, 1, 10, true], [:w, 1, 11, false], [:r, 2, nil, false]]}
{:type :ok :f :txn :value [[:i 5 50 nil false true], [:d, 1, 12, 10, false, true] [:r k -7]]})");
  folder.put(
      "Jep20.log",
      R"({:value: [[:range, nil, 9, [{"id": 5, "sk": 5, "val": 50}], [{:id 1, :val 12}], false]
 [:range nil nil [{:id 5 :val 50}] true]]})");
  auto r = read_history(folder.path());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "viper-edn");
  expect_viper_is(r->history,
                  "3: { w(1,10) r(2,null) } { w(1,11) }!\n"
                  "3: { r(5,null) w(5,50) r(1,10) w(1,12) r(k,null) }\n"
                  "20: { range(..9,[5=50,1=12]) range(..,[5=50]) }\n");
}

TEST(Viper, NamedFields) {
  auto r = formats::read_viper_log(
      R"({"value":[{"opType": "w", "key": 1, "value": 10, "succ": true, "reqTS": 1, "resTS": 2},
{"opType":"r","key":1,"value":10,"isDead":false},
{"opType":"i","key":2,"value":20,"readValue":0,"isDead":false,"succ":true},
{"opType":"d","key":2,"value":21,"readValue":20,"isDead":false,"succ":true},
{"opType":"range","key1":-9223372036854775808,"key2":5,"liveKVs":[{"id":1,"sk":1,"val":10}],"deadKVs":[]}]})",
      "J0.log");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  expect_viper_is(*r,
                  "0: { w(1,10) r(1,10) r(2,null) w(2,20) r(2,20) w(2,21) range(..5,[1=10]) }\n");
}

TEST(Viper, AValueThatNobodyWroteIsTheInitialOneOnce) {
  auto r = formats::read_viper_log(
      "{\"value\":[[\"r\",1,77,false],[\"r\",1,77,false],[\"r\",1,78,false],[\"w\",1,5,true],["
      "\"r\",1,5,false]]}\n",
      "J0.log");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  expect_viper_is(*r, "0: { r(1,null) r(1,null) r(1,78) w(1,5) r(1,5) }\n");
}

TEST(Viper, AnInitialTransactionIsTheInitialState) {
  auto r = formats::read_viper_log(
      "{\"isInitial\":true,\"value\":[[\"w\",1,77,true]]}\n"
      "{\"value\":[[\"r\",1,77,false],[\"r\",2,9,false]]}\n",
      "J0.log");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  expect_viper_is(*r, "0: { r(1,null) r(2,9) }\n");
}

TEST(Viper, RefusesBadInputAtItsPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    auto r = formats::read_viper_log(text, "J0.log");
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_EQ(r.error().file, "J0.log");
    EXPECT_EQ(r.error().line, line) << text;
    EXPECT_EQ(r.error().column, column) << text << r.error().message;
    EXPECT_NE(r.error().message.find(part), std::string::npos) << r.error().message;
  };
  refuse("{\"value\":[]}\n{\"values\":[]}\n", 2, 1, "a field \"value\"");
  refuse("{\"value\":[5]}\n", 1, 11, "an operation like");
  refuse("{\"value\":[[\"x\",1,2]]}\n", 1, 12, "one of r, w, i, d, range");
  refuse("{\"value\":[[\"r\",1]]}\n", 1, 11, "[\"r\", key, value, dead]");
  refuse("{\"value\":[[\"r\",null,1]]}\n", 1, 16, "64 bits");
  refuse("{\"value\":[[\"w\",1,\"nil\",true]]}\n", 1, 18, "64 bits");
  refuse("{\"value\":[[\"w\",1,2,3]]}\n", 1, 20, "true or false");
  refuse("{\"value\":[[\"i\",1,2]]}\n", 1, 11, "read value, dead, ok");
  refuse("{\"value\":[[\"d\",1,2,{},true,true]]}\n", 1, 20, "64 bits");
  refuse("{\"value\":[[\"range\",1]]}\n", 1, 11, "[\"range\", low, high");
  refuse("{\"value\":[[\"range\",1,{},[],[]]]}\n", 1, 22, "a key or \"nil\"");
  refuse("{\"value\":[[\"range\",1,2,[{\"id\":1}],[]]]}\n", 1, 25, "{\"id\":key");
  refuse("{\"value\":[{\"key\":1}]}\n", 1, 11, "an operation like");
  refuse("{\"value\":[{\"opType\":\"x\"}]}\n", 1, 21, "one of r, w, i, d, range");
  refuse("{\"value\":[{\"opType\":\"r\",\"key\":{},\"value\":1}]}\n", 1, 31, "64 bits");
  refuse("{\"value\":[{\"opType\":\"i\",\"key\":1,\"value\":1}]}\n", 1, 11, "read value, dead, ok");
  refuse("{:value [[:r 1]]}\n{:value [[:r 1 2 true]]}", 1, 10, "[\"r\", key, value, dead]");
  refuse("{:value [[:r 1 2 true]]}\n{:value: [[:r 1 2 true][:w 1 []]]}", 2, 30, "64 bits");
  refuse("{:value [[:w 1 2 3]]}", 1, 18, "true or false");
  refuse("{:type :fail :value []}", 1, 8, "only what committed");
  refuse("{:value", 1, 8, "unexpected end");
  refuse("{\"isInitial\":1,\"value\":[]}\n", 1, 14, "true or false");
  refuse("{\"preBeginTS\":5,\"postBeginTS\":4,\"value\":[]}\n", 1, 31, "not before");
}

TEST(Viper, RoundTripKeepsRegisterHistories) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    formats::MixedHistoryOptions plain{.strings = false,
                                       .registers_only = true,
                                       .times = false,
                                       .aborted = false,
                                       .unknown = false};
    History h = formats::MixedHistory(seed, plain).build();
    formats::TemporaryFolder folder;
    const char* format = seed % 2 == 0 ? "viper" : "viper-edn";
    ASSERT_TRUE(write_history(h, folder.path("a"), format).ok());
    auto once = read_history(folder.path("a"));
    ASSERT_TRUE(once.ok()) << once.error().to_string();
    EXPECT_EQ(once->format, format);
    ASSERT_EQ(once->history.op_count(), h.op_count());
    ASSERT_TRUE(write_history(once->history, folder.path("b"), format).ok());
    auto twice = read_history(folder.path("b"));
    ASSERT_TRUE(twice.ok());
    EXPECT_EQ(once->history.content_hash(), twice->history.content_hash());
  }
}

TEST(Viper, TheRealJsonAndCobraLogsOfOneRunAgree) {
  const auto data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  auto json = read_history((data / "viper/blindw-rw-1000/json").string());
  auto cobra = read_history((data / "viper/blindw-rw-1000/log").string());
  ASSERT_TRUE(json.ok()) << json.error().to_string();
  ASSERT_TRUE(cobra.ok()) << cobra.error().to_string();
  const History& a = json->history;
  const History& b = cobra->history;
  ASSERT_EQ(a.txn_count(), b.txn_count());
  ASSERT_EQ(a.op_count(), b.op_count());
  ASSERT_EQ(a.session_count(), b.session_count());
  // Versions correspond one to one.
  std::vector<VersionId> image(a.version_count(), kNone);
  for (OpId i = 0; i < a.op_count(); ++i) {
    ASSERT_EQ(a.op(i).kind, b.op(i).kind) << i;
    VersionId& seen = image[a.op(i).version];
    if (seen == kNone) seen = b.op(i).version;
    ASSERT_EQ(seen, b.op(i).version) << i;
    ASSERT_EQ(a.is_initial(a.op(i).version), b.is_initial(b.op(i).version)) << i;
  }
}

}  // namespace
}  // namespace assay::internal
