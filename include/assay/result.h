// Errors as values. A function that can fail for a reason its user must hear returns Result<T>.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace assay {

// What went wrong decides the exit code of the command line: bad_input 3, everything else 4;
// budget 2 (the question stays open).
enum class ErrorKind { bad_input, io, usage, budget };

// A failure with the place it was seen. `line` and `column` are 1-based; 0 means not applicable.
// `message` says what is wrong and what was expected, without the position.
struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;
  std::string file;
  uint64_t line = 0;
  uint64_t column = 0;

  // "file:line:column: message", leaving out what is not known.
  std::string to_string() const;
};

Error bad_input(std::string message, uint64_t line = 0, uint64_t column = 0);
Error io_error(std::string message, std::string file = {});
Error usage_error(std::string message);

// Either a T or an Error. Accessing the wrong side is a programming error and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }
  Error& error() { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// The result of an action without a value: `return Ok{};`.
struct Ok {};
using Status = Result<Ok>;

}  // namespace assay
