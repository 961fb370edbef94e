// The page on the certificate file shows a certificate that verifies.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "assay/format.h"
#include "assay/verify.h"
#include "places.h"

namespace assay::internal {
namespace {

// What stands between the first such fence and the next one.
std::string block(const std::string& page, const std::string& fence) {
  const size_t begin = page.find("\n" + fence + "\n");
  if (begin == std::string::npos) return {};
  const size_t start = begin + fence.size() + 2;
  return page.substr(start, page.find("\n```", start) + 1 - start);
}

TEST(CertificatePage, ShowsACertificateThatVerifies) {
  std::ifstream in(std::string(places::kSource) + "/docs/formats/certificate.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const Result<ReadResult> read =
      read_history_text(block(page, "```"), "certificate.md", {.from = "hist"});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  const std::string text = block(page, "```json");
  const auto file = read_certificates(text, read->history, "certificate.md");
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_EQ(file->certificates.size(), 3u);
  for (const Certificate& c : file->certificates) {
    const Status s = verify(c, read->history);
    EXPECT_TRUE(s.ok()) << s.error().to_string();
  }
  EXPECT_EQ(write_certificates(*file, read->history), text);
}

}  // namespace
}  // namespace assay::internal
