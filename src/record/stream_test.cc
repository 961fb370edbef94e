#include "record/stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "base/ignored_pipe_signals.h"

namespace assay::internal::record {
namespace {

using namespace std::string_literals;

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Tls::server("", "");
    if (!made.ok()) GTEST_SKIP() << made.error().to_string();
    server_tls_ = std::move(*made);
  }
  // Two ends of a connection that do not block.
  static std::array<int, 2> connected() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    return ends;
  }
  static std::string read_from(Stream& stream) {
    std::string bytes(256 << 10, '\0');
    bytes.resize(stream.read(bytes.data(), bytes.size()));
    return bytes;
  }
  static std::unique_ptr<Tls> client_of(const Tls::Trust& trust) {
    auto made = Tls::client(trust);
    EXPECT_TRUE(made.ok()) << made.error().to_string();
    return std::move(*made);
  }
  // A server of PostgreSQL that agrees to TLS.
  static std::unique_ptr<Stream> agreed(int fd, const Tls& tls) {
    std::array<char, 8> question{};
    EXPECT_EQ(recv(fd, question.data(), question.size(), 0), 8);
    EXPECT_EQ(std::string_view(question.data(), 8), "\0\0\0\x08\x04\xd2\x16\x2f"s);
    EXPECT_EQ(send(fd, "S", 1, 0), 1);
    auto stream = std::make_unique<Stream>(fd);
    stream->encrypt(tls);
    return stream;
  }
  // Both sides go on until nothing moves any more.
  static std::string moved(Stream& from, Stream& to, std::string bytes) {
    std::string nothing, all;
    for (size_t still = 0; still < 3 && !from.over() && !to.over(); ++still) {
      from.write(bytes);
      static_cast<void>(read_from(from));
      to.write(nothing);
      const std::string more = read_from(to);
      if (!more.empty()) still = 0;
      all += more;
    }
    return all;
  }

  std::unique_ptr<Tls> server_tls_;
  const IgnoredPipeSignals ignored_;
};

TEST_F(Streams, BytesGoThroughTlsBothWays) {
  const auto [here, there] = connected();
  const auto tls = client_of({.host = "localhost"});
  Stream client(here);
  client.ask_to_encrypt(*tls);
  EXPECT_EQ(client.events(true, true), uint32_t{EPOLLIN} | EPOLLOUT);
  const auto server = agreed(there, *server_tls_);
  std::string large(3 << 20, 'x');
  large += "end";
  EXPECT_EQ(moved(client, *server, "hello"), "hello");
  EXPECT_EQ(moved(*server, client, large), large);
  EXPECT_EQ(moved(client, *server, large), large);
  EXPECT_FALSE(client.over());
}

TEST_F(Streams, NothingIsSentBeforeTheServerAgrees) {
  const auto [here, there] = connected();
  const auto tls = client_of({.host = "localhost"});
  Stream client(here);
  client.ask_to_encrypt(*tls);
  std::string secret = "password";
  client.write(secret);
  EXPECT_EQ(secret, "password");
  EXPECT_EQ(client.events(false, true), uint32_t{EPOLLIN}) << "no busy waiting";
  std::array<char, 64> seen{};
  EXPECT_EQ(recv(there, seen.data(), seen.size(), 0), 8);
  EXPECT_EQ(send(there, "N", 1, 0), 1);
  EXPECT_EQ(read_from(client), "");
  EXPECT_TRUE(client.over());
  close(there);
}

TEST_F(Streams, WhatStandsBehindTheAgreementIsNotTakenForTheServers) {
  const auto [here, there] = connected();
  const auto tls = client_of({.host = "localhost"});
  Stream client(here);
  client.ask_to_encrypt(*tls);
  EXPECT_EQ(send(there, "SZ\0\0\0\5I", 7, 0), 7);
  std::string hello = "hello";
  EXPECT_EQ(read_from(client), "");
  client.write(hello);
  EXPECT_EQ(read_from(client), "");
  EXPECT_TRUE(client.over());
  close(there);
}

TEST_F(Streams, ACertificateForWhichNobodyVouchesIsNotVerified) {
  const auto [here, there] = connected();
  const auto tls =
      client_of({.host = "localhost", .verified = true, .named = false, .authorities = "system"});
  Stream client(here);
  client.ask_to_encrypt(*tls);
  const auto server = agreed(there, *server_tls_);
  EXPECT_EQ(moved(client, *server, "secret"), "");
  EXPECT_TRUE(client.over());
}

// One who begins a handshake and says no more, and one who says nonsense.
TEST_F(Streams, AHandshakeThatIsNotFinishedIsWaitedForWithoutBlocking) {
  const auto [here, there] = connected();
  Stream server(there);
  server.encrypt(*server_tls_);
  EXPECT_EQ(send(here, "\x16\x03\x01\x02\x00", 5, 0), 5);
  EXPECT_EQ(read_from(server), "");
  std::string answer = "x";
  server.write(answer);
  EXPECT_FALSE(server.over());
  EXPECT_EQ(server.events(true, true), uint32_t{EPOLLIN}) << "no busy waiting";
  EXPECT_EQ(send(here, std::string(600, 'y').data(), 600, 0), 600);
  EXPECT_EQ(read_from(server), "");
  EXPECT_TRUE(server.over());
  close(here);
}

TEST_F(Streams, FilesThatAreNoCertificateAreNamed) {
  const std::string path = "/dev/null";
  const auto made = Tls::server(path, path);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().to_string().find(path), std::string::npos);
}

}  // namespace
}  // namespace assay::internal::record
