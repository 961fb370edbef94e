// One history and its audits, by several threads and in any order of freeing. tests/c_library has
// the functions one by one.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "assay/assay_c.h"

namespace assay::internal::c_api {
namespace {

constexpr std::string_view kLostUpdate =
    "initial 0\ns1: { r(x,0) w(x,1) }\ns2: { r(x,0) w(x,2) }\n";

assay_history* read() {
  assay_history* history = nullptr;
  EXPECT_EQ(assay_history_read_text(kLostUpdate.data(), kLostUpdate.size(), "lost-update", nullptr,
                                    &history, nullptr),
            ASSAY_OK);
  return history;
}

assay_audit* check(assay_history* history, int64_t drift = 0) {
  assay_options* options = assay_options_new();
  assay_options_clock_drift(options, drift);
  assay_audit* audit = nullptr;
  EXPECT_EQ(assay_check(history, options, &audit, nullptr), ASSAY_OK);
  assay_options_free(options);
  return audit;
}

std::string report(const assay_audit* audit, const char* kind) {
  assay_bytes* bytes = nullptr;
  EXPECT_EQ(assay_report(audit, kind, &bytes, nullptr), ASSAY_OK);
  const std::string text(assay_bytes_data(bytes), assay_bytes_size(bytes));
  assay_bytes_free(bytes);
  return text;
}

TEST(Sharing, AuditsKeepTheirHistory) {
  assay_history* history = read();
  assay_audit* audit = check(history);
  const std::string before = report(audit, "json");
  assay_history_free(history);
  EXPECT_EQ(report(audit, "json"), before);
  EXPECT_NE(before.find("lost-update"), std::string::npos);
  assay_audit_free(audit);
}

TEST(Sharing, EachAuditHasItsOwnDrift) {
  assay_history* history = read();
  assay_audit* exact = check(history);
  assay_audit* adrift = check(history, 7);
  EXPECT_EQ(report(exact, "json").find("clock_drift"), std::string::npos);
  EXPECT_NE(report(adrift, "json").find("\"clock_drift\":7"), std::string::npos);
  EXPECT_EQ(report(exact, "json").find("clock_drift"), std::string::npos);
  assay_audit_free(exact);
  assay_audit_free(adrift);
  assay_history_free(history);
}

TEST(Sharing, ThreadsMayShareAHistory) {
  assay_history* history = read();
  const assay_audit* first = check(history);
  const std::string expected = report(first, "dot");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        assay_audit* audit = check(history, i);
        EXPECT_EQ(report(audit, "dot"), expected);
        EXPECT_EQ(report(first, "dot"), expected);
        EXPECT_EQ(assay_history_transactions(history), 2u);
        assay_audit_free(audit);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  assay_history_free(history);
  assay_audit_free(const_cast<assay_audit*>(first));
}

}  // namespace
}  // namespace assay::internal::c_api
