#include "assay/result.h"

#include <cstdlib>
#include <utility>

#include "base/printable.h"

namespace assay {

std::string Error::to_string() const {
  std::string out = file;
  if (line != 0) out += (out.empty() ? "line " : ":") + std::to_string(line);
  if (line != 0 && column != 0) out += ":" + std::to_string(column);
  if (!out.empty()) out += ": ";
  return internal::printable(out + message);
}

Error bad_input(std::string message, uint64_t line, uint64_t column) {
  return {ErrorKind::bad_input, std::move(message), {}, line, column};
}

Error io_error(std::string message, std::string file) {
  return {ErrorKind::io, std::move(message), std::move(file), 0, 0};
}

Error usage_error(std::string message) { return {ErrorKind::usage, std::move(message), {}, 0, 0}; }

namespace internal {

PossibleError::PossibleError(Error&& error) : error_(new Error(std::move(error))) {}
PossibleError::PossibleError(const PossibleError& other)
    : error_(other.error_ == nullptr ? nullptr : new Error(*other.error_)) {}
void PossibleError::discard() noexcept { delete error_; }
void PossibleError::wrong_side() { std::abort(); }

}  // namespace internal
}  // namespace assay
