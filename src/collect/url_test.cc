#include "collect/url.h"

#include <gtest/gtest.h>

namespace assay::internal::collect {
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

TEST(Url, PasswordsAreNotShown) {
  const std::pair<std::string, std::string> cases[] = {
      {"postgresql://bob:s3cret@host:5432/db", "postgresql://bob:***@host:5432/db"},
      {"cannot open 'mysql://bob:s3cret@h/d' and redis://:s3cret@h",
       "cannot open 'mysql://bob:***@h/d' and redis://:***@h"},
      {"exec:node x.js cassandra://u:s3cret@h:9042 --seed 1",
       "exec:node x.js cassandra://u:***@h:9042 --seed 1"},
      {"postgresql://host/db?user=a&password=s3cret&sslmode=require",
       "postgresql://host/db?user=a&password=***&sslmode=require"},
      {"h2://USER:PASSWORD@HOST:PORT/DATABASE", "h2://USER:PASSWORD@HOST:PORT/DATABASE"},
      {"exec:DB_PASSWORD=s3cret ./driver --token='s3cret'",
       "exec:DB_PASSWORD=*** ./driver --token='***'"},
      {"postgresql://bob:s3/cr@et@host/db", "postgresql://bob:***@host/db"},
      {"postgresql://bob:s3cret@x@host/db", "postgresql://bob:***@host/db"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(redacted(text), shown);
  for (const std::string same : {"postgresql://bob@host:5432/db", "sqlite:/tmp/x.db",
                                 "etcd://127.0.0.1:2379", "postgresql://h:1/db?user=a@b", "k=v"})
    EXPECT_EQ(redacted(same), same);
}

TEST(Url, ALoginIsNotGuessed) {
  EXPECT_TRUE(check_login("postgresql://bob:s3%40cret@host/db").ok());
  EXPECT_TRUE(check_login("postgresql://host:5432/db?user=a@b").ok());
  for (const char* url : {"postgresql://bob:s3/cret@host/db", "redis://:a@b@host"}) {
    const Status refused = check_login(url);
    ASSERT_FALSE(refused.ok()) << url;
    EXPECT_EQ(refused.error().message.find("s3"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::internal::collect
