// The programs of exec: and exec+unix:, and the lines sent to them and back.
// docs/formats/exec-protocol.md.
//
//   exec:COMMAND             a process for each session; lines on its standard input and output
//   exec+unix:PATH           a connection to the socket at PATH for each session: one process
//                            serves them all
//   exec+unix:PATH COMMAND   the same; COMMAND is started first, and again when it has ended
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
// it, and it does not get our interrupts. When this object is destroyed, its input ends, and if it
// goes on for half a second, it is killed.
class ExecProcess {
 public:
  // `answers`: its standard output is read; otherwise it goes to standard error.
  static Result<std::unique_ptr<ExecProcess>> start(const std::string& command, bool answers);
  ~ExecProcess();
  ExecProcess(const ExecProcess&) = delete;
  ExecProcess& operator=(const ExecProcess&) = delete;

  int socket() const { return socket_; }
  // Whether it has ended; waits for this at most `limit`.
  bool ended(std::chrono::milliseconds limit = {});
  // Kills it like kill -9, with everything that it has started.
  void kill();

 private:
  ExecProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  pid_t pid_;
  int socket_;  // its standard input, and its standard output if that is read
  bool ended_ = false;
};

// The dialogue of one session. Destroying it closes our side, which tells the program to undo an
// open transaction.
class ExecChannel {
 public:
  explicit ExecChannel(std::unique_ptr<ExecProcess> process);  // serves only this session
  explicit ExecChannel(int socket) : socket_(socket) {}        // a connection, closed by this
  ~ExecChannel();
  ExecChannel(const ExecChannel&) = delete;
  ExecChannel& operator=(const ExecChannel&) = delete;

  bool send(const Json& message);
  // The next line as JSON; discarded if there is none in time or it is not an object.
  Json receive(std::chrono::milliseconds limit);
  // Announces that nothing more will be sent.
  void end_input();
  // Whether the other side closes; waits for this at most `limit`, and drops remaining output.
  bool ended(std::chrono::milliseconds limit);
  // The process that serves only this session; null for a connection.
  ExecProcess* process() { return process_.get(); }

 private:
  bool read_more(std::chrono::steady_clock::time_point deadline);

  std::unique_ptr<ExecProcess> process_;
  int socket_;
  std::string input_;
  bool closed_ = false;  // closed by the other side
};

// The program that the URL of a database names. `connect` may be called from several threads at
// once.
class ExecProgram {
 public:
  static Result<std::unique_ptr<ExecProgram>> of(std::string_view url);
  ~ExecProgram();
  ExecProgram(const ExecProgram&) = delete;
  ExecProgram& operator=(const ExecProgram&) = delete;

  Result<std::unique_ptr<ExecChannel>> connect();
  // The name for messages: the command, or the path where the program listens.
  const std::string& name() const { return command_.empty() ? path_ : command_; }
  // Whether we started the process that serves a session.
  bool can_be_killed() const { return !command_.empty(); }
  // Kills the process that serves the session, and with it every session that it serves.
  void kill(ExecChannel& channel);

 private:
  ExecProgram(std::string path, std::string command)
      : path_(std::move(path)), command_(std::move(command)) {}
  Result<int> dial() const;
  Result<int> dial_own();

  std::string path_;     // path of the socket; empty: there is a process for each session
  std::string command_;  // empty: the program was not started by us
  std::mutex mutex_;     // guards what follows
  std::unique_ptr<ExecProcess> shared_;
};

}  // namespace assay::internal::collect
