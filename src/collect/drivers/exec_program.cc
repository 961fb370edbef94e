#include "collect/drivers/exec_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/json.h"
#include "collect/write_all.h"

extern char** environ;  // NOLINT: POSIX

namespace assay::internal::collect {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::string_view kExecScheme = "exec:";
constexpr std::string_view kUnixScheme = "exec+unix:";
constexpr auto kListenTime = std::chrono::seconds(30);
constexpr auto kEndTime = std::chrono::milliseconds(500);
constexpr size_t kMaxLine = size_t{16} << 20;

Error system_error(std::string_view what) {
  return io_error(fmt::format("exec: {}: {}", what, std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<ExecProcess>> ExecProcess::start(const std::string& command, bool answers) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("cannot start a program");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers ? ends[1] : STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const char* arguments[] = {"sh", "-c", command.c_str(), nullptr};
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, "/bin/sh", &actions, &attributes,
                                 const_cast<char* const*>(arguments), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return io_error(std::string("exec: ") + std::strerror(failed));
  }
  return std::unique_ptr<ExecProcess>(new ExecProcess(pid, ends[0]));
}

ExecProcess::~ExecProcess() {
  shutdown(socket_, SHUT_WR);
  if (!ended(kEndTime)) kill();
  close(socket_);
}

bool ExecProcess::ended(std::chrono::milliseconds limit) {
  const auto deadline = Steady::now() + limit;
  for (int tries = 0; !ended_; ++tries) {
    ended_ = waitpid(pid_, nullptr, WNOHANG) != 0;
    if (ended_ || Steady::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(tries < 20 ? 1 : 5));
  }
  return ended_;
}

void ExecProcess::kill() {
  if (ended_) return;
  ::kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  ended_ = true;
}

ExecChannel::ExecChannel(std::unique_ptr<ExecProcess> process)
    : process_(std::move(process)), socket_(process_->socket()) {}

ExecChannel::~ExecChannel() {
  if (!process_) close(socket_);
}

bool ExecChannel::send(const Json& message) {
  const std::string line = message.dump() + '\n';
  for (size_t at = 0; at < line.size();) {
    const ssize_t n = ::send(socket_, line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) at += static_cast<size_t>(n);
  }
  return true;
}

// Returns false if nothing more comes in time.
bool ExecChannel::read_more(Steady::time_point deadline) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
    pollfd ready{socket_, POLLIN, 0};
    if (left <= 0) return false;
    if (poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[4096];
    const ssize_t n = read(socket_, buffer, sizeof buffer);
    if (n > 0) input_.append(buffer, static_cast<size_t>(n));
    closed_ = n <= 0;
    return !closed_;
  }
}

Json ExecChannel::receive(std::chrono::milliseconds limit) {
  const auto deadline = Steady::now() + limit;
  size_t end = 0;
  while ((end = input_.find('\n')) == std::string::npos)
    if (input_.size() > kMaxLine || !read_more(deadline)) return Json::discarded();
  Json answer = Json::parse(input_.substr(0, end));
  input_.erase(0, end + 1);
  return answer.is_object() ? answer : Json::discarded();
}

void ExecChannel::end_input() { shutdown(socket_, SHUT_WR); }

bool ExecChannel::ended(std::chrono::milliseconds limit) {
  const auto deadline = Steady::now() + limit;
  while (read_more(deadline)) input_.clear();
  return closed_;
}

Result<std::unique_ptr<ExecProgram>> ExecProgram::of(std::string_view url) {
  if (!url.starts_with(kUnixScheme)) {
    const std::string_view command = url.substr(kExecScheme.size());
    if (command.empty()) return usage_error("exec: needs a command, as in exec:python3 driver.py");
    return std::unique_ptr<ExecProgram>(new ExecProgram({}, std::string(command)));
  }
  const std::string_view rest = url.substr(kUnixScheme.size());
  const size_t blank = rest.find(' ');
  const std::string_view path = rest.substr(0, blank);
  const size_t command = rest.find_first_not_of(' ', path.size());
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path))
    return usage_error(
        fmt::format("exec+unix: needs the path of a socket, of at most {} bytes, as in "
                    "exec+unix:/tmp/store.sock",
                    sizeof(sockaddr_un::sun_path) - 1));
  return std::unique_ptr<ExecProgram>(
      new ExecProgram(std::string(path),
                      std::string(command == std::string_view::npos ? "" : rest.substr(command))));
}

ExecProgram::~ExecProgram() {
  if (!shared_) return;
  shared_.reset();
  std::error_code ec;
  if (std::filesystem::is_socket(std::filesystem::symlink_status(path_, ec)))
    ::unlink(path_.c_str());
}

Result<int> ExecProgram::dial() const {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return system_error("cannot connect");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  Error e = system_error("cannot connect to the socket '" + path_ + "'");
  close(socket);
  return e;
}

// Connects to the process that we start, which first has to listen.
Result<int> ExecProgram::dial_own() {
  const std::lock_guard lock(mutex_);
  if (!shared_ || shared_->ended()) {
    if (const Result<int> other = dial(); other.ok()) {
      close(*other);
      return usage_error(
          fmt::format("exec+unix: another program listens at '{0}'; to drive it, give no command: "
                      "exec+unix:{0}",
                      path_));
    }
    auto started = ExecProcess::start(command_, false);
    if (!started.ok()) return started.error();
    shared_ = std::move(*started);
  }
  const auto deadline = Steady::now() + kListenTime;
  while (true) {
    Result<int> socket = dial();
    if (socket.ok() || Steady::now() >= deadline) return socket;
    if (shared_->ended(std::chrono::milliseconds(5)))
      return io_error(fmt::format("exec: '{}' ended before it listened at '{}'", command_, path_));
  }
}

Result<std::unique_ptr<ExecChannel>> ExecProgram::connect() {
  if (path_.empty()) {
    auto process = ExecProcess::start(command_, true);
    if (!process.ok()) return process.error();
    return std::make_unique<ExecChannel>(std::move(*process));
  }
  const Result<int> socket = command_.empty() ? dial() : dial_own();
  if (!socket.ok()) return socket.error();
  return std::make_unique<ExecChannel>(*socket);
}

void ExecProgram::kill(ExecChannel& channel) {
  if (channel.process() != nullptr) return channel.process()->kill();
  const std::lock_guard lock(mutex_);
  if (shared_) shared_->kill();
}

}  // namespace assay::internal::collect
