// What a builder keeps and forgets. tests/c_library has the functions one by one.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "assay/assay_c.h"

namespace assay::internal::c_api {
namespace {

std::string taken(assay_bytes* bytes) {
  std::string text(assay_bytes_data(bytes), assay_bytes_size(bytes));
  assay_bytes_free(bytes);
  return text;
}

// Of a history that is built, which is freed.
std::string text_of(assay_builder* builder) {
  assay_history* history = nullptr;
  EXPECT_EQ(assay_builder_finish(builder, &history, nullptr), ASSAY_OK);
  assay_builder_free(builder);
  assay_bytes* text = nullptr;
  EXPECT_EQ(assay_history_text(history, "hist", &text, nullptr), ASSAY_OK);
  assay_history_free(history);
  return taken(text);
}

TEST(Builder, KeepsTextsThatTheCallerForgets) {
  assay_builder* b = assay_builder_new();
  std::string key = "kept";
  ASSERT_EQ(assay_begin(b, assay_integer(1), nullptr), ASSAY_OK);
  ASSERT_EQ(assay_write(b, assay_text(key.c_str()), assay_integer(1), nullptr), ASSAY_OK);
  key.assign("lost");
  ASSERT_EQ(assay_commit(b, nullptr), ASSAY_OK);
  EXPECT_NE(text_of(b).find("w(kept,1)"), std::string::npos);
}

TEST(Builder, EachTransactionDoesItsOwnOperations) {
  assay_builder* b = assay_builder_new();
  for (int64_t i = 1; i <= 2; ++i) {
    ASSERT_EQ(assay_begin(b, assay_integer(1), nullptr), ASSAY_OK);
    ASSERT_EQ(assay_write(b, assay_text("x"), assay_integer(i), nullptr), ASSAY_OK);
    ASSERT_EQ(assay_commit(b, nullptr), ASSAY_OK);
  }
  EXPECT_NE(text_of(b).find("{ w(x,1) } { w(x,2) }"), std::string::npos);
}

TEST(Builder, ATransactionHasToEnd) {
  assay_builder* b = assay_builder_new();
  ASSERT_EQ(assay_begin(b, assay_integer(1), nullptr), ASSAY_OK);
  assay_history* history = nullptr;
  EXPECT_EQ(assay_builder_finish(b, &history, nullptr), ASSAY_USAGE);
  EXPECT_EQ(history, nullptr);
  assay_history_free(history);
  assay_builder_free(b);
}

assay_history* read(std::string_view text) {
  assay_history* history = nullptr;
  EXPECT_EQ(assay_history_read_text(text.data(), text.size(), "lines", nullptr, &history, nullptr),
            ASSAY_OK);
  return history;
}

TEST(Verify, RefusesWhatTheVerifierRefuses) {
  assay_history* history = read("initial 0\ns1: { r(x,0) w(x,1) }\ns2: { r(x,0) w(x,2) }\n");
  assay_audit* audit = nullptr;
  ASSERT_EQ(assay_check(history, nullptr, &audit, nullptr), ASSAY_OK);
  assay_bytes* bytes = nullptr;
  ASSERT_EQ(assay_certificates(audit, &bytes, nullptr), ASSAY_OK);
  std::string text = taken(bytes);
  EXPECT_EQ(assay_verify(history, text.data(), text.size(), nullptr), ASSAY_OK);
  const std::string of = "\"session-si\"";
  const size_t at = text.find(of);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, of.size(), "\"read-committed\"");  // which lost updates do not violate
  EXPECT_EQ(assay_verify(history, text.data(), text.size(), nullptr), ASSAY_REFUSED);
  assay_audit_free(audit);
  assay_history_free(history);
}

}  // namespace
}  // namespace assay::internal::c_api
