#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "assay/history.h"
#include "collect/faults/injector.h"

namespace assay::internal::collect {
namespace {

TEST(FaultSchedule, FaultsFollowEachOtherAndTheSeedDecides) {
  const std::vector<FaultKind> kinds(all_faults().begin(), all_faults().end());
  FaultSchedule one(kinds, 3, 2.0, 1), same(kinds, 3, 2.0, 1), other(kinds, 3, 2.0, 2);
  double free_from = 0;
  bool differs = false;
  for (int i = 0; i < 200; ++i) {
    const Fault a = one.next(), b = same.next(), c = other.next();
    EXPECT_EQ(a.begin, b.begin);
    EXPECT_EQ(a.kind, b.kind);
    differs = differs || a.begin != c.begin;
    EXPECT_GE(a.begin, free_from + 1.0);
    EXPECT_GE(a.end, a.begin);
    EXPECT_LT(a.node, 3u);
    EXPECT_TRUE(a.kind != FaultKind::restart || a.end == a.begin);
    free_from = a.end;
  }
  EXPECT_TRUE(differs);
}

TEST(FaultSchedule, NamesAreFoundAgain) {
  for (const FaultKind kind : all_faults()) EXPECT_EQ(find_fault(fault_name(kind)), kind);
  EXPECT_FALSE(find_fault("flood"));
}

// Sends back what it gets, one connection at a time.
class EchoServer {
 public:
  EchoServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 5), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      const int fd = accept(listener_, nullptr, nullptr);
      char buffer[100];
      for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
        EXPECT_EQ(send(fd, buffer, static_cast<size_t>(n), 0), n);
      close(fd);
    });
  }
  ~EchoServer() {
    thread_.join();
    close(listener_);
  }
  uint16_t port = 0;

 private:
  int listener_;
  std::thread thread_;
};

class ProxyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto proxy = Proxy::start("127.0.0.1", server_.port);
    ASSERT_TRUE(proxy.ok());
    proxy_ = std::move(*proxy);
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(proxy_->port());
    ASSERT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  void TearDown() override { close(fd_); }

  static constexpr int kMinutes = 600'000;  // milliseconds

  // What comes back within the time.
  std::string receive(int milliseconds) const {
    const timeval limit{milliseconds / 1000, milliseconds % 1000 * 1000};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char buffer[100];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    return {buffer, static_cast<size_t>(std::max<ssize_t>(n, 0))};
  }

  EchoServer server_;
  std::unique_ptr<Proxy> proxy_;
  int fd_ = -1;
};

TEST_F(ProxyTest, PassesOnHoldsBackAndGoesOn) {
  ASSERT_EQ(send(fd_, "one", 3, 0), 3);
  EXPECT_EQ(receive(kMinutes), "one");
  proxy_->set_silent(true);
  ASSERT_EQ(send(fd_, "two", 3, 0), 3);
  EXPECT_EQ(receive(150), "");
  proxy_->set_silent(false);
  EXPECT_EQ(receive(kMinutes), "two") << "nothing is lost";
}

TEST_F(ProxyTest, Delays) {
  proxy_->set_delay(std::chrono::milliseconds(60));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(send(fd_, "one", 3, 0), 3);
  EXPECT_EQ(receive(kMinutes), "one");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(110)) << "each way";
}

struct Injected {
  Status healed;
  History history;
};

// Counts the events.
class CountingSink : public HistorySink {
 public:
  Status event(int64_t at, std::string_view json) override {
    Status taken = HistorySink::event(at, json);
    ++events_;
    events_.notify_all();
    return taken;
  }
  void wait_for(int events) const {
    for (int seen = events_; seen < events; seen = events_) events_.wait(seen);
  }

 private:
  std::atomic<int> events_{0};
};

// Without other load, until this many faults and heals have happened.
Injected inject(const FaultOptions& options, int events,
                std::vector<std::unique_ptr<Proxy>> proxies = {}) {
  CountingSink sink;
  RunClock clock;
  FaultInjector injector(options, 1, 1, std::move(proxies));
  injector.start(sink, clock);
  sink.wait_for(events);
  Status healed = injector.stop();
  auto history = sink.take();
  EXPECT_TRUE(history.ok());
  return {std::move(healed), std::move(*history)};
}

TEST(FaultInjector, WritesWhatItDoesAndHealsAtTheEnd) {
  auto proxy = Proxy::start("127.0.0.1", 1);
  ASSERT_TRUE(proxy.ok());
  std::vector<std::unique_ptr<Proxy>> proxies;
  proxies.push_back(std::move(*proxy));
  FaultOptions options;
  options.kinds = {FaultKind::partition, FaultKind::kill};
  options.interval = 0.02;
  options.node_command = "true";
  const Injected done = inject(options, 5, std::move(proxies));
  EXPECT_TRUE(done.healed.ok());
  const auto events = done.history.events();
  ASSERT_GT(events.size(), 4u);
  EXPECT_EQ(events.size() % 2, 0u) << "each fault is healed";
  for (size_t i = 0; i < events.size(); ++i)
    EXPECT_NE(events[i].json.find(i % 2 == 0 ? "\"fault\"" : "\"heal\""), std::string::npos);
}

int64_t number_after(const std::string& json, const std::string& name) {
  return std::stoll(json.substr(json.find("\"" + name + "\":") + name.size() + 3));
}

TEST(FaultInjector, RestsAfterAHealThatTookLong) {
  FaultOptions options;
  options.kinds = {FaultKind::kill};
  options.interval = 0.1;
  options.node_command = "sleep 0.15; true";
  const Injected done = inject(options, 5);
  EXPECT_TRUE(done.healed.ok());
  const auto events = done.history.events();
  ASSERT_GE(events.size(), 4u);
  for (size_t i = 2; i < events.size(); i += 2)
    EXPECT_GE(number_after(events[i].json, "at") - number_after(events[i - 1].json, "until"),
              50'000'000)
        << "half of the interval";
}

TEST(FaultInjector, ACommandThatFailsIsTold) {
  FaultOptions options;
  options.kinds = {FaultKind::pause};
  options.interval = 0.01;
  options.node_command = "false";
  EXPECT_FALSE(inject(options, 1).healed.ok());
}

}  // namespace
}  // namespace assay::internal::collect
