// A separate connection to PostgreSQL with a slot of its log: from the slot's creation on, the
// server keeps its log, and returns whole transactions in the order of their commits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"

namespace assay::internal::evidence {

class PostgresqlSlot {
 public:
  struct Options {
    std::string url;
    std::string name;        // of the slot
    bool permanent = false;  // outlives the connection, and the server
  };
  // Connects. Fails if the database only implements PostgreSQL's protocol, or this program was
  // built without its client.
  static Result<std::unique_ptr<PostgresqlSlot>> open(Options options);
  virtual ~PostgresqlSlot() = default;

  // Creates the slot, and drops slots that killed runs have left.
  virtual Status start() = 0;
  // Reuses a permanent slot that such a run has left.
  virtual Status resume() = 0;
  // The unread part of the log in the form of test_decoding: the position, and a line. When `take`
  // returns false, only the rest of what was already fetched follows: while others keep writing,
  // the log has no end.
  virtual Status read(
      const std::function<bool(std::string_view position, std::string_view line)>& take) = 0;
  // Logs a message, and returns its text: everything committed before the call is logged before it.
  virtual Result<std::string> mark() = 0;

  // The rows of an answer, with NULL as an empty text.
  using Rows = std::vector<std::vector<std::string>>;
  virtual Result<Rows> ask(const std::string& sql) = 0;
  // Reconnects if the connection was lost; a temporary slot is lost with it.
  virtual Status reconnect() = 0;

  // The server of the connection; a host that begins with '/' is a folder of sockets.
  virtual std::string host() const = 0;
  virtual uint16_t port() const = 0;
  virtual std::string database() const = 0;
  // The value of a parameter of the client, such as sslmode; empty if it is not set.
  virtual std::string setting(std::string_view word) const = 0;
  virtual bool encrypted() const = 0;
};

}  // namespace assay::internal::evidence
