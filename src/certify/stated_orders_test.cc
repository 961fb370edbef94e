#include "certify/stated_orders.h"

#include <gtest/gtest.h>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

History lines(std::string_view text) {
  Result<ReadResult> read = read_history_text(text, "test", {.from = "assay"});
  if (!read.ok()) ADD_FAILURE() << read.error().to_string();
  return read.ok() ? std::move(read->history) : History();
}

// The transactions that each line names, `-` for none: "0 1, -".
std::string named(const History& history) {
  const Writes writes(history);
  const StatedOrders orders(writes);
  std::string text;
  for (size_t line = 0; line < orders.lines(); ++line) {
    if (line > 0) text += ",";
    for (const TxnId t : orders.named(line))
      text += (text.empty() ? "" : " ") + (t == kNone ? "-" : std::to_string(t));
  }
  return text;
}

std::string contradiction(const History& history) {
  const Writes writes(history);
  return StatedOrders(writes).contradiction();
}

// A has transaction 0, B 1, C 2; all write x = 1 but B, which writes 2.
constexpr std::string_view kThree =
    "{\"session\":1,\"txn\":\"A\",\"end\":10,\"ops\":[[\"w\",\"x\",1]]}\n"
    "{\"session\":2,\"txn\":\"B\",\"end\":20,\"ops\":[[\"w\",\"x\",2]]}\n"
    "{\"session\":3,\"txn\":\"C\",\"end\":30,\"ops\":[[\"w\",\"x\",1]]}\n";

std::string three(std::string_view orders) { return std::string(kThree) + std::string(orders); }

TEST(StatedOrders, nameWritersByValueWhereThereIsOne) {
  EXPECT_EQ(named(hist("s1: { w(x,1) }\ns2: { w(x,2) }?\norder x: 2 1\n")), "1 0");
  EXPECT_EQ(named(lines(three("{\"key\":\"x\",\"order\":[1,2]}\n"))), "- 1");
  EXPECT_EQ(named(hist("s1: { w(x,1) d(x,t) }\norder x: null 1 null\n")), "- 0 -");
  EXPECT_EQ(named(hist("s1: { w(x,1) }\n")), "");
  EXPECT_EQ(contradiction(hist("s1: { w(x,1) }!\norder x: null 1\n")),
            "the stated order of x names 1, which no transaction installed there");
}

TEST(StatedOrders, nameTransactionsThatWroteTheValue) {
  const History h =
      lines(three("{\"key\":\"x\",\"order\":[{\"txn\":\"C\",\"value\":1},{\"txn\":\"B\"},"
                  "{\"txn\":\"A\",\"value\":1}]}\n"));
  EXPECT_EQ(named(h), "2 1 0");
  EXPECT_EQ(contradiction(h), "");
  EXPECT_EQ(
      contradiction(lines(three("{\"key\":\"x\",\"order\":[{\"txn\":\"B\",\"value\":1}]}\n"))),
      "a stated order names 1 of transaction B, which cannot have installed it there");
}

TEST(StatedOrders, oppositeOrdersSayNothingOfTheirKey) {
  const std::string_view kOpposite = "the stated orders of x put two versions in opposite orders";
  const std::string_view txns = "s1: { w(x,1) w(y,1) }\ns2: { w(x,2) w(y,2) }\ns3: { w(x,3) }\n";
  const auto with = [&](std::string_view orders) {
    return hist(std::string(txns) + std::string(orders));
  };
  EXPECT_EQ(contradiction(with("order x: 1 2\norder y: 2 1\norder x: 1 3\n")), "");
  EXPECT_EQ(contradiction(with("order x: 1 2\norder x: 2 3\norder x: 1 3\n")), "");
  EXPECT_EQ(contradiction(with("order x: 1 2\norder x: 2 1\n")), kOpposite);
  EXPECT_EQ(contradiction(with("order x: 1 1\n")), kOpposite);
  EXPECT_EQ(contradiction(with("order x: 1 2 1\n")), kOpposite);
  const History by_way_of_others = with("order x: 1 2\norder y: 1 2\norder x: 2 3\norder x: 3 1\n");
  EXPECT_EQ(contradiction(by_way_of_others), kOpposite);
  EXPECT_EQ(named(by_way_of_others), "- -, 0 1, - -, - -");
}

// One transaction that wrote the value more than once is no version, and cannot be in its own way.
TEST(StatedOrders, whatWasWrittenTwiceIsNoVersion) {
  EXPECT_EQ(contradiction(hist("s1: { w(x,1) w(x,2) w(x,1) }\norder x: 1 2 1\n")), "");
}

TEST(StatedOrders, completeOrdersHoldWhatWasAcknowledged) {
  const std::string_view complete = "{\"event\":\"complete\",\"at\":25}\n";
  const auto with = [&](std::string_view order) {
    return contradiction(lines(three(std::string(order) + std::string(complete))));
  };
  EXPECT_EQ(with("{\"key\":\"x\",\"order\":[{\"txn\":\"A\",\"value\":1},2]}\n"), "");
  EXPECT_EQ(with("{\"key\":\"x\",\"order\":[1,2]}\n"), "");
  EXPECT_EQ(with("{\"key\":\"x\",\"order\":[{\"txn\":\"C\",\"value\":1},2]}\n"),
            "lost-commit: the complete orders lack 1 of transaction A");
  EXPECT_EQ(with("{\"key\":\"x\",\"order\":[1]}\n"),
            "lost-commit: the complete orders lack 2 of transaction B");
}

}  // namespace
}  // namespace assay::internal::certify
