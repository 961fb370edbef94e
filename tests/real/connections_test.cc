// How a run gets to a server, and what it says of it: TLS whose certificate is checked, passwords
// that stand on no command line, and by which number the server knows each session.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "collect/driver.h"
#include "collect/url.h"
#include "measure.h"

namespace assay::internal {
namespace {

Status connects(const std::string& url) {
  collect::DriverOptions options;
  options.url = url;
  options.timeout = std::chrono::milliseconds(2000);
  auto driver = collect::open_driver(options);
  if (!driver.ok()) return driver.error();
  if (Status s = (*driver)->prepare(); !s.ok()) return s;
  auto session = (*driver)->connect();
  if (!session.ok()) return session.error();
  collect::Reply reply;
  const collect::Request read{.kind = OpKind::read, .key = Value::of(1)};
  const collect::CallResult result = (*session)->call(read, reply);
  if (!result.ok()) return io_error(result.message);
  return Ok{};
}

void expect_checked_tls(const std::string& name) {
  const std::string url = dev_db_line("tls " + name);
  const Status trusted = connects(url);
  EXPECT_TRUE(trusted.ok()) << trusted.error().to_string();
  std::string other = url;
  other.replace(other.find("ca.pem"), 0, "other-");
  const Status refused = connects(other);
  ASSERT_FALSE(refused.ok()) << "an authority that has not signed the certificate";
  EXPECT_EQ(refused.error().kind, ErrorKind::io);
  const Status misspelt = connects(url + "&ssl-nonsense=1");
  ASSERT_FALSE(misspelt.ok());
  EXPECT_EQ(misspelt.error().kind, ErrorKind::usage) << misspelt.error().to_string();
}

TEST(Mariadb, TlsIsChecked) {
  ASSAY_SERVER(urls, "mariadb");
  expect_checked_tls("mariadb");
}

TEST(Redis, TlsIsChecked) {
  ASSAY_SERVER(urls, "redis");
  expect_checked_tls("redis");
}

TEST(Etcd, TlsIsChecked) {
  ASSAY_SERVER(urls, "etcd");
  expect_checked_tls("etcd");
}

TEST(Redis, RunsThroughTls) {
  ASSAY_SERVER(urls, "redis");
  const Measured m =
      measure(contended({dev_db_line("tls redis")}, "watch", "general"), {LevelId::serializable});
  EXPECT_EQ(m.outcome(LevelId::serializable), Outcome::satisfied);
}

TEST(Mariadb, PasswordsComeFromTheEnvironmentOrAFile) {
  ASSAY_SERVER(urls, "mariadb");
  const auto url = collect::Url::parse(urls.front());
  ASSERT_TRUE(url.ok());
  const std::string port = std::to_string(url->port);
  ASSERT_EQ(system(("mariadb --no-defaults -uroot -h127.0.0.1 -P" + port +
                    " -e \"CREATE OR REPLACE USER bob@'%' IDENTIFIED BY 's3cret'; GRANT ALL ON "
                    "assay.* TO bob@'%'\"")
                       .c_str()),
            0);
  const std::string address = "127.0.0.1:" + port + "/assay";
  EXPECT_FALSE(connects("mysql://bob@" + address).ok());
  EXPECT_TRUE(connects("mysql://bob:s3cret@" + address).ok());
  setenv("MYSQL_PWD", "s3cret", 1);
  EXPECT_TRUE(connects("mysql://bob@" + address).ok());
  unsetenv("MYSQL_PWD");
  const std::string file =
      (std::filesystem::temp_directory_path() / ("assay-my-" + std::to_string(getpid()) + ".cnf"))
          .string();
  std::ofstream(file) << "[client]\nuser=bob\npassword=s3cret\n";
  EXPECT_TRUE(connects("mysql://" + address + "?defaults-file=" + file).ok());
  std::filesystem::remove(file);
}

// Each session, at least once.
void expect_backends(const History& h, uint32_t sessions) {
  std::map<uint64_t, uint64_t> backends;
  for (const Event& event : h.events()) {
    const auto e = nlohmann::json::parse(event.json);
    if (e["event"] == "connect") backends[e["session"]] = e["backend"];
  }
  EXPECT_EQ(backends.size(), sessions);
  std::set<uint64_t> distinct;
  for (const auto& [session, backend] : backends) distinct.insert(backend);
  EXPECT_EQ(distinct.size(), sessions);
}

TEST(Postgresql, SessionsAreKnownByTheirBackends) {
  ASSAY_SERVER(urls, "postgres");
  const auto options = contended(urls, "serializable", "general");
  const Measured m = measure(options, {LevelId::serializable});
  expect_backends(m.history, options.sessions);
}

TEST(Mariadb, SessionsAreKnownByTheirConnections) {
  ASSAY_SERVER(urls, "mariadb");
  const auto options = contended(urls, "serializable", "general");
  const Measured m = measure(options, {LevelId::serializable});
  expect_backends(m.history, options.sessions);
}

}  // namespace
}  // namespace assay::internal
