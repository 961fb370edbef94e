// Messages between a client of PostgreSQL and its server: version 3 of the protocol. Each is a byte
// for its kind, a length of four bytes that counts itself, and a body; the first that a client
// sends has no such byte. Numbers are big-endian, and texts end with a zero byte.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::internal::record {

// The fields of a body, one by one. A truncated or malformed one yields zeros from there on, and is
// not ok.
class Fields {
 public:
  explicit Fields(std::string_view body) : rest_(body) {}

  uint16_t int16() { return static_cast<uint16_t>(number(2)); }
  uint32_t int32() { return static_cast<uint32_t>(number(4)); }
  std::string_view text();  // without its zero byte
  std::string_view bytes(size_t n);
  // A value with its length before it; nothing for NULL.
  std::optional<std::string_view> cell();

  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  uint64_t number(size_t bytes);

  std::string_view rest_;
  bool ok_ = true;
};

void put_int16(std::string& to, uint16_t n);
void put_int32(std::string& to, uint32_t n);
void put_text(std::string& to, std::string_view text);  // with its zero byte
void put_message(std::string& to, char type, std::string_view body);

// The request for TLS, which a client sends instead of a version.
inline constexpr uint32_t kSslRequest = 80877103;

// The first message of a client.
struct Startup {
  enum class Kind : uint8_t { start, cancel, tls, gss, other };
  Kind kind = Kind::other;
  std::string user, database, program;
  bool replicates = false;
  size_t size = 0;  // of the message
};
// Nothing as long as it is not whole; not more than 10,000 bytes, as the server has it.
inline constexpr size_t kMostStartupBytes = 10'000;
std::optional<Startup> read_startup(std::string_view bytes);

struct BindMessage {
  std::string_view portal, statement;
  std::vector<std::optional<std::string_view>> values;
  std::vector<bool> binary;  // of the values
  // The body with one more column, as text, in the results.
  std::string one_more;
};
std::optional<BindMessage> read_bind(std::string_view body);

// RowDescription and DataRow without their last column; nothing if there is none.
std::optional<std::string> without_last_field(std::string_view description);
// Its name; empty if there is none.
std::string_view last_field(std::string_view description);
struct ShorterRow {
  std::string body;
  std::optional<std::string> last;  // nothing for NULL
};
std::optional<ShorterRow> without_last_cell(std::string_view row);
// The first cell of a DataRow and the second, empty for NULL and missing ones.
std::vector<std::string> cells_of(std::string_view row);

// Of what the server says about authentication: without the ways that are bound to the channel, as
// the client has another one.
std::string without_channel_binding(std::string_view body);

// Of an ErrorResponse: the field of this type, such as 'C' for the code; empty if there is none.
std::string_view error_field(std::string_view body, char field);
// The same error with its position in the statement, in characters from 1, moved back by this many
// if it is behind a place.
std::string with_position_moved(std::string_view body, size_t behind, size_t back);

// Cuts what comes from one side into messages.
class Cutter {
 public:
  // PostgreSQL has none that is longer.
  static constexpr uint32_t kMostBytes = 1u << 30;

  // A message that is wanted is taken as a whole; another goes to `out` as it comes. False: this is
  // not the protocol.
  bool feed(std::string_view bytes, std::string& out, const std::function<bool(char)>& wants,
            const std::function<bool(char, std::string_view)>& take);

 private:
  std::string begun_;     // of a message that is wanted, or of the first five bytes of any
  uint64_t passing_ = 0;  // bytes still to come of one that is not
};

}  // namespace assay::internal::record
