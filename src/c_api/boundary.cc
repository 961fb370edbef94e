#include "c_api/boundary.h"

#include <utility>

namespace assay::internal::c_api {
namespace {

// When this error is needed, there is no memory to make it.
assay_error* no_memory() {
  static assay_error error{ASSAY_NO_MEMORY, {}, "out of memory"};
  return &error;
}
// So it is made early.
[[maybe_unused]] const assay_error* const kMadeEarly = no_memory();

}  // namespace

assay_status out_of_memory(assay_error** out) noexcept {
  if (out != nullptr) *out = no_memory();
  return ASSAY_NO_MEMORY;
}

assay_status fail(assay_error** out, assay_status status, Error error) noexcept {
  if (out == nullptr) return status;
  try {
    std::string message = error.to_string();
    *out = new assay_error{status, std::move(error), std::move(message)};
    return status;
  } catch (...) {
    return out_of_memory(out);
  }
}

assay_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return ASSAY_BAD_INPUT;
    case ErrorKind::io:
      return ASSAY_IO;
    case ErrorKind::usage:
      return ASSAY_USAGE;
    case ErrorKind::budget:
      return ASSAY_BUDGET;
  }
  return ASSAY_INTERNAL;
}

}  // namespace assay::internal::c_api

extern "C" {

assay_status assay_error_status(const assay_error* error) { return error->status; }
const char* assay_error_message(const assay_error* error) { return error->message.c_str(); }
const char* assay_error_file(const assay_error* error) { return error->what.file.c_str(); }
uint64_t assay_error_line(const assay_error* error) { return error->what.line; }
uint64_t assay_error_column(const assay_error* error) { return error->what.column; }
void assay_error_free(assay_error* error) {
  if (error != assay::internal::c_api::no_memory()) delete error;
}

const char* assay_bytes_data(const assay_bytes* bytes) { return bytes->text.c_str(); }
size_t assay_bytes_size(const assay_bytes* bytes) { return bytes->text.size(); }
void assay_bytes_free(assay_bytes* bytes) { delete bytes; }

}  // extern "C"
