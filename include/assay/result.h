// Errors as values. A function that can fail for a reason that its user must be told returns
// Result<T>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace assay {

// What went wrong decides the exit code of the command line: bad_input 3, everything else 4;
// budget 2 (the question stays open).
enum class ErrorKind { bad_input, io, usage, budget };

// A failure and the place where it was seen. `line` and `column` are 1-based; 0 means not
// applicable. `message` states the fault and the expected input, without the position.
struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;
  std::string file;
  uint64_t line = 0;
  uint64_t column = 0;

  // The same error with the name of its file.
  Error in(std::string name) && {
    file = std::move(name);
    return std::move(*this);
  }
  // "file:line:column: message" on one line, without unknown parts; unprintable characters are
  // escaped.
  std::string to_string() const;
};

Error bad_input(std::string message, uint64_t line = 0, uint64_t column = 0);
Error io_error(std::string message, std::string file = {});
Error usage_error(std::string message);

namespace internal {

// An Error or none. Not part of the template below, so it is compiled once and not for each T.
class PossibleError {
 public:
  PossibleError() = default;
  PossibleError(Error&& error);
  PossibleError(PossibleError&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  PossibleError(const PossibleError& other);
  PossibleError& operator=(PossibleError other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~PossibleError() {
    if (error_ != nullptr) discard();
  }

  Error& get() const {
    if (error_ == nullptr) wrong_side();
    return *error_;
  }
  [[noreturn]] static void wrong_side();

 private:
  void discard() noexcept;

  Error* error_ = nullptr;
};

}  // namespace internal

// Either a T or an Error. Accessing the wrong side is a programming error and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& value() & {
    if (!ok()) internal::PossibleError::wrong_side();
    return *value_;
  }
  const T& value() const& {
    if (!ok()) internal::PossibleError::wrong_side();
    return *value_;
  }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return error_.get(); }
  Error& error() { return error_.get(); }

 private:
  std::optional<T> value_;
  internal::PossibleError error_;
};

// The result of an action without a value: `return Ok{};`.
struct Ok {};
using Status = Result<Ok>;

}  // namespace assay
