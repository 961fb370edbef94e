#include <gtest/gtest.h>

#include <numeric>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

constexpr uint32_t kTxns = 700;  // several blocks

// Each transaction in a session of its own reads what the one before wrote. The last one reads also x, which the first
// one and transaction `second` wrote, from the first one.
std::string chain(uint32_t second) {
  std::string text;
  for (uint32_t i = 0; i < kTxns; ++i) {
    text += "s" + std::to_string(i) + ": {";
    if (i > 0) text += " r(k" + std::to_string(i - 1) + "," + std::to_string(i) + ")";
    if (i + 1 == kTxns) text += " r(x,1)";
    if (i == 0) text += " w(x,1)";
    if (i == second) text += " w(x,2)";
    text += " w(k" + std::to_string(i) + "," + std::to_string(i + 1) + ") }\n";
  }
  return text + "other: { w(y,1) }\n";
}

TEST(SeenWriters, WhatWasSeenThroughManyOthersCounts) {
  std::vector<uint32_t> order(kTxns + 1);
  std::iota(order.begin(), order.end(), 0u);
  EXPECT_TRUE(verifies(single_order("causal", order), hist(chain(kTxns))));
  for (const uint32_t second : {1u, 255u, 256u, kTxns - 2})
    EXPECT_TRUE(refused(single_order("causal", order), hist(chain(second)), "saw transaction"));
}

TEST(SeenWriters, WhoeverWasNotSeenMayStandInBetween) {
  const std::string text =
      "s1: { w(x,1) }\ns2: { w(x,2) }\ns3: { r(x,1) w(y,1) }\ns4: { r(y,1) r(x,2) }\n";
  EXPECT_TRUE(verifies(single_order("causal", {0, 1, 2, 3}), hist(text)));
  EXPECT_TRUE(refused(single_order("causal", {1, 0, 2, 3}), hist(text), "saw transaction"));
}

}  // namespace
}  // namespace assay::internal::certify
