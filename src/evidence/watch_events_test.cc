#include "evidence/watch_events.h"

#include <gtest/gtest.h>

#include "collect/drivers/base64.h"
#include "evidence/changes_as_text.h"

namespace assay::internal::evidence {
namespace {

std::string event(const std::string& key, const std::string& value, int revision,
                  bool deleted = false) {
  const std::string kv = R"({"key":")" + collect::to_base64(key) + R"(","mod_revision":")" +
                         std::to_string(revision) + R"(","value":")" + collect::to_base64(value) +
                         R"("})";
  return std::string(deleted ? R"({"type":"DELETE",)" : "{") + R"("kv":)" + kv + "}";
}

std::string line(const std::string& events) {
  return R"({"result":{"header":{"revision":"9"},"events":[)" + events + "]}}\n";
}

using Texts = std::vector<std::string>;

TEST(WatchEvents, TransactionsAreRevisions) {
  const std::string answer =
      R"({"result":{"header":{"revision":"9"},"created":true}})"
      "\n" +
      line(event("assay-txn", "3-17", 7) + "," + event("assay/kv/1:1", "42", 7)) +
      line(event("assay/kv/1:2", "5", 7) + "," + event("assay/kv/1:1", "43", 8) + "," +
           event("assay/kv/1:1", "", 9, true)) +
      line(event("assay/end", "end", 10));
  for (const size_t block : {size_t{1}, answer.size()}) {
    WatchEvents events;
    Texts txns;
    const auto take = [&](const LoggedTxn& t) { txns.push_back(as_text(t)); };
    for (size_t at = 0; at < answer.size(); at += block)
      EXPECT_TRUE(events.feed(std::string_view(answer).substr(at, block), take));
    events.finish(take);
    EXPECT_EQ(txns, (Texts{"3-17: 1=42 2=5", ": 1=43", ": 1=null"}));
    EXPECT_EQ(events.revision(), 10);
  }
}

TEST(WatchEvents, SaysWhyItEnds) {
  WatchEvents events;
  EXPECT_FALSE(events.feed(
      R"({"result":{"canceled":true,"compact_revision":"5","cancel_reason":"compacted"}})"
      "\n",
      [](const LoggedTxn&) {}));
  EXPECT_NE(events.why().find("compacted"), std::string::npos);
}

}  // namespace
}  // namespace assay::internal::evidence
