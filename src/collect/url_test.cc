#include "collect/url.h"

#include <gtest/gtest.h>

namespace assay::collect {
namespace {

TEST(Url, AllParts) {
  const auto url = Url::parse("mysql://me:p%40ss@db.example:3306/app?a=1&b=x%20y");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "mysql");
  EXPECT_EQ(url->user, "me");
  EXPECT_EQ(url->password, "p@ss");
  EXPECT_EQ(url->host, "db.example");
  EXPECT_EQ(url->port, 3306);
  EXPECT_EQ(url->path, "app");
  using Query = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(url->query, (Query{{"a", "1"}, {"b", "x y"}}));
}

TEST(Url, OnlyAHost) {
  const auto url = Url::parse("etcd://127.0.0.1");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_EQ(url->port, 0);
  EXPECT_TRUE(url->path.empty() && url->user.empty());
  EXPECT_EQ(Url::parse("redis://[::1]:7/0")->host, "::1");
}

TEST(Url, WhatIsNone) {
  for (const char* text : {"", "sqlite:x.db", "mysql://", "mysql://h:x", "mysql://h:99999"})
    EXPECT_FALSE(Url::parse(text).ok()) << text;
}

TEST(Url, AnotherEndpoint) {
  EXPECT_EQ(*with_endpoint("postgresql://u:p@h:1/db?a=b", "127.0.0.1", 99),
            "postgresql://u:p@127.0.0.1:99/db?a=b");
  EXPECT_EQ(*with_endpoint("etcd://h", "127.0.0.1", 99), "etcd://127.0.0.1:99");
  EXPECT_FALSE(with_endpoint("sqlite:x.db", "h", 1).ok());
}

}  // namespace
}  // namespace assay::collect
