#include "report/markup.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::internal {
namespace {

TEST(Markup, NothingEndsATextOrAnAttribute) {
  EXPECT_EQ(escape("<b title=\"a\" id='b'>&amp;"),
            "&lt;b title=&quot;a&quot; id=&#39;b&#39;&gt;&amp;amp;");
  EXPECT_EQ(escape("plain ä\n\t"), "plain ä\n\t");
}

TEST(Markup, WhatNoDocumentMayHoldIsReplaced) {
  EXPECT_EQ(escape("a\x01\x1b"), "a\\x01\\x1b");
  EXPECT_EQ(escape("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(escape("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(escape(std::string(1, '\0')), "\\x00");
  EXPECT_EQ(escape("\uFFFE\u202e"), "\\ufffe\\u202e");
}

}  // namespace
}  // namespace assay::internal
