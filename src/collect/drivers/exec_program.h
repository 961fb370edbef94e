// The programs behind exec: and exec+unix:, and the lines that go to them and come back.
// docs/formats/exec-protocol.md.
//
//   exec:COMMAND             a process for each session; lines on its standard input and output
//   exec+unix:PATH           a connection to the socket at PATH for each session: one process
//                            serves them all
//   exec+unix:PATH COMMAND   the same; COMMAND is started first, and again where it has ended
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "assay/result.h"
#include "base/json.h"

namespace assay::internal::collect {

// A process that was started through the shell, in a separate process group: its children end with
// it, and it does not get our interrupts. When this is destroyed its input ends, and a process that
// goes on for half a second is killed.
class ExecProcess {
 public:
  // `answers`: its standard output is read. Otherwise it goes to standard error.
  static Result<std::unique_ptr<ExecProcess>> start(const std::string& command, bool answers);
  ~ExecProcess();
  ExecProcess(const ExecProcess&) = delete;
  ExecProcess& operator=(const ExecProcess&) = delete;

  int socket() const { return socket_; }
  // Whether it has ended, at the latest after `limit`.
  bool ended(std::chrono::milliseconds limit = {});
  // As kill -9 does, with all that it has started.
  void kill();

 private:
  ExecProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  pid_t pid_;
  int socket_;  // its standard input, and its standard output if that is read
  bool ended_ = false;
};

// The dialogue of one session. Its destruction closes our side, which is the sign to undo an open
// transaction.
class ExecChannel {
 public:
  explicit ExecChannel(std::unique_ptr<ExecProcess> process);  // of this session alone
  explicit ExecChannel(int socket) : socket_(socket) {}        // a connection, closed by this
  ~ExecChannel();
  ExecChannel(const ExecChannel&) = delete;
  ExecChannel& operator=(const ExecChannel&) = delete;

  bool send(const Json& message);
  // The next line as JSON; discarded if there is none in time or it is no object.
  Json receive(std::chrono::milliseconds limit);
  // Says that nothing more will be sent.
  void end_input();
  // Whether the other side closes, at the latest after `limit`; remaining output is dropped.
  bool ended(std::chrono::milliseconds limit);
  // Of this session alone; null for a connection.
  ExecProcess* process() { return process_.get(); }

 private:
  bool read_more(std::chrono::steady_clock::time_point deadline);

  std::unique_ptr<ExecProcess> process_;
  int socket_;
  std::string input_;
  bool closed_ = false;  // by the other side
};

// What the URL of a database names. `connect` may be called from several threads at once.
class ExecProgram {
 public:
  static Result<std::unique_ptr<ExecProgram>> of(std::string_view url);
  ~ExecProgram();
  ExecProgram(const ExecProgram&) = delete;
  ExecProgram& operator=(const ExecProgram&) = delete;

  Result<std::unique_ptr<ExecChannel>> connect();
  // For messages: the command, or where it listens.
  const std::string& name() const { return command_.empty() ? path_ : command_; }
  // Whether the process that serves a session was started by us.
  bool can_be_killed() const { return !command_.empty(); }
  // Kills the process that serves the session, and with it every session that it serves.
  void kill(ExecChannel& channel);

 private:
  ExecProgram(std::string path, std::string command)
      : path_(std::move(path)), command_(std::move(command)) {}
  Result<int> dial() const;
  Result<int> dial_own();

  std::string path_;     // of the socket; empty: a process for each session
  std::string command_;  // empty: the program was started elsewhere
  std::mutex mutex_;     // of what follows
  std::unique_ptr<ExecProcess> shared_;
};

}  // namespace assay::internal::collect
