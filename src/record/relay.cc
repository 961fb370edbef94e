#include "record/relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/ignored_pipe_signals.h"
#include "collect/sockets.h"

namespace assay::internal::record {
namespace {

constexpr size_t kPiece = 256 << 10;
// What one side has not taken yet, before the other is no longer listened to.
constexpr size_t kMostWaiting = 1 << 20;
constexpr size_t kMostTraceWaiting = 64 << 10;
constexpr auto kTraceFlushed = std::chrono::milliseconds(50);
constexpr auto kTicked = std::chrono::seconds(1);
constexpr int kPollTick = 20;  // milliseconds
constexpr uint64_t kListener = 0;

using Clock = std::chrono::steady_clock;

}  // namespace

Result<std::unique_ptr<Relay>> Relay::open(const std::string& listen, Server server,
                                           Encryption encryption, Surroundings& surroundings) {
  const Result<int> listener = collect::listen_on(listen);
  if (!listener.ok()) return listener.error();
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kListener}};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, *listener, &event) != 0) {
    const Error error = io_error(fmt::format("cannot wait for connections: {}", strerror(errno)));
    ::close(*listener);
    if (epoll >= 0) ::close(epoll);
    return error;
  }
  return std::unique_ptr<Relay>(new Relay(epoll, *listener, collect::address_of(*listener, listen),
                                          std::move(server), std::move(encryption), surroundings));
}

Relay::~Relay() {
  const IgnoredPipeSignals ignored;
  while (!links_.empty()) end(links_.begin()->first);
  close(listener_);
  close(epoll_);
  if (address_.starts_with("unix:")) unlink(address_.substr(5).c_str());
}

void Relay::accept_all() {
  for (;;) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    const int server = collect::connect_to(server_.host, server_.port);
    if (server < 0) {  // as the server would refuse it
      close(client);
      continue;
    }
    fcntl(server, F_SETFL, fcntl(server, F_GETFL) | O_NONBLOCK);
    collect::send_at_once(client);
    collect::send_at_once(server);
    const uint64_t number = ++accepted_;
    auto link = std::make_unique<Link>(number, client, server, around_);
    if (encryption_.to_server) link->server.ask_to_encrypt(*encryption_.to_server);
    wait_for(*link, number);
    links_.emplace(number, std::move(link));
  }
}

void Relay::wait_for(Link& link, uint64_t number) {
  const auto set = [&](int fd, uint32_t& before, uint32_t now, uint64_t tag) {
    if (before == now) return;
    epoll_event event{.events = now, .data = {.u64 = tag}};
    epoll_ctl(epoll_,
              before == 0 ? EPOLL_CTL_ADD
              : now == 0  ? EPOLL_CTL_DEL
                          : EPOLL_CTL_MOD,
              fd, &event);
    before = now;
  };
  const Conversation& talk = link.talk;
  const auto events = [](const Stream& here, size_t waiting_there, bool waiting_here) {
    return here.events(!here.over() && waiting_there < kMostWaiting, !here.over() && waiting_here);
  };
  set(link.client.fd(), link.client_events,
      events(link.client, talk.to_server.size(), !talk.to_client.empty()), 2 * number);
  set(link.server.fd(), link.server_events,
      events(link.server, talk.to_client.size(), !talk.to_server.empty()), 2 * number + 1);
}

// False: the connection is over.
bool Relay::receive(Link& link, bool of_server) {
  buffer_.resize(kPiece);
  const size_t n = (of_server ? link.server : link.client).read(buffer_.data(), buffer_.size());
  if (n == 0) return true;
  const std::string_view bytes(buffer_.data(), n);
  return of_server ? link.talk.from_server(bytes) : link.talk.from_client(bytes);
}

// False: both are to be closed.
bool Relay::serve(Link& link, bool of_server, uint32_t events) {
  if ((of_server ? link.server : link.client).can_read(events) && !receive(link, of_server))
    return false;
  link.server.write(link.talk.to_server);
  link.client.write(link.talk.to_client);
  if (link.client.over()) link.talk.to_client.clear();
  if (link.talk.encrypts()) {  // what follows the answer is encrypted
    if (!link.talk.to_client.empty()) return false;
    link.client.encrypt(*encryption_.to_clients);
  }
  if (link.server.over()) return !link.client.over() && !link.talk.to_client.empty();
  // The client is gone; its requests are still answered, above all a COMMIT.
  if (link.client.over())
    return link.talk.is_recorded() && (!link.talk.answered() || !link.talk.to_server.empty());
  return true;
}

void Relay::end(uint64_t number) {
  const auto at = links_.find(number);
  at->second->talk.over();
  links_.erase(at);
}

void Relay::note_answered() {
  if (around_.trace->answer_awaited() == Interval::kUnknown) return;
  int64_t before = around_.now(), since = before;
  for (const auto& [number, link] : links_) {
    before = std::min(before, link->talk.commits_since().value_or(before));
    since = std::min(since, link->talk.waits_since().value_or(since));
  }
  around_.trace->answered(before, since);
}

Status Relay::run(const std::atomic<bool>& stop, const std::function<void()>& tick) {
  const IgnoredPipeSignals ignored;
  std::array<epoll_event, 64> events{};
  Clock::time_point flushed = Clock::now(), ticked = flushed;
  while (!stop) {
    const int n = epoll_wait(epoll_, events.data(), events.size(), kPollTick);
    for (int i = 0; i < n; ++i) {
      const uint64_t tag = events[static_cast<size_t>(i)].data.u64;
      if (tag == kListener) {
        accept_all();
        continue;
      }
      const auto at = links_.find(tag / 2);
      if (at == links_.end()) continue;
      if (serve(*at->second, tag % 2 == 1, events[static_cast<size_t>(i)].events))
        wait_for(*at->second, at->first);
      else
        end(at->first);
    }
    const auto now = Clock::now();
    if (now - ticked > kTicked) {
      ticked = now;
      tick();
    }
    if (now - flushed > kTraceFlushed) note_answered();
    if (now - flushed > kTraceFlushed || around_.trace->pending() > kMostTraceWaiting) {
      flushed = now;
      if (Status s = around_.trace->flush(); !s.ok()) return s;
    }
  }
  while (!links_.empty()) end(links_.begin()->first);
  return around_.trace->flush();
}

}  // namespace assay::internal::record
